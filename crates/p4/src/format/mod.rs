//! Formats a program before the preprocessor: indentation, blanks between tokens, lines of blocks.
//!
//! Tokens, comments and directives stay as they are, in their order, so a formatted program means the same. Lines break where they
//! did, and around the statements of a block that is on several lines. Formatting twice changes nothing.

mod brackets;
mod lines;
mod scan;
mod spaces;

use hlir::diagnostic::Diagnostic;

/// A formatted text; or a comment or string without an end, and a fault of this module, which leaves the text as it is.
pub fn format(text: &str) -> Result<String, Diagnostic> {
    let text = text.replace("\r\n", "\n");
    let pieces = scan::scan(&text)?;
    let formatted = lines::lines(pieces.clone());
    let again = scan::scan(&formatted)?;
    match pieces.iter().zip(&again).find(|(before, after)| !is_same(before, after)) {
        Some((before, _)) => Err(changed(&text, before.text)),
        None if pieces.len() != again.len() => Err(changed(&text, "")),
        None => Ok(formatted),
    }
}

/// Blanks at the beginning and the end of a comment's lines may differ.
fn is_same(before: &scan::Piece<'_>, after: &scan::Piece<'_>) -> bool {
    let lines = |text: &str| text.split('\n').map(|line| line.trim().to_string()).collect::<Vec<String>>();
    before.kind == after.kind
        && (before.text == after.text || before.is_comment() && lines(before.text) == lines(after.text))
}

fn changed(text: &str, piece: &str) -> Diagnostic {
    let start = (piece.as_ptr() as usize).wrapping_sub(text.as_ptr() as usize).min(text.len());
    let span = hlir::source::Span::new(start as u32, (start + piece.len()).min(text.len()) as u32);
    Diagnostic::error("cannot be formatted: the tokens would be others here")
        .label(span, "the file stays as it is")
        .hint("this is a fault of bacus; please report it with the file")
}
