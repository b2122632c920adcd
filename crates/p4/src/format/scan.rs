//! A text before the preprocessor as pieces that are kept as they are: tokens, comments and directives.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use crate::lex::SYMBOLS;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A name, a reserved word or a number.
    Word,
    String,
    Symbol,
    /// `// ...`
    LineComment,
    /// `/* ... */`
    BlockComment,
    /// A line of the preprocessor, with the lines that continue it.
    Directive,
    /// `@pragma`, with the rest of its line.
    Pragma,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Piece<'t> {
    pub kind: Kind,
    pub text: &'t str,
    /// Ends of lines, and blanks behind the last of them, before the piece.
    pub newlines: usize,
    pub blanks: usize,
    /// All that is before it: ends of lines and blanks.
    pub gap: &'t str,
}

impl Piece<'_> {
    pub fn is_comment(&self) -> bool {
        matches!(self.kind, Kind::LineComment | Kind::BlockComment)
    }

    /// Whether it is a token of P4.
    pub fn is_code(&self) -> bool {
        matches!(self.kind, Kind::Word | Kind::String | Kind::Symbol)
    }

    pub fn is(&self, symbol: &str) -> bool {
        self.is_code() && self.kind != Kind::String && self.text == symbol
    }

    pub fn opens(&self) -> bool {
        ["(", "[", "{"].iter().any(|symbol| self.is(symbol))
    }

    pub fn closes(&self) -> bool {
        [")", "]", "}"].iter().any(|symbol| self.is(symbol))
    }
}

/// The pieces of a text whose lines end with `\n`.
pub(super) fn scan(text: &str) -> Result<Vec<Piece<'_>>, Diagnostic> {
    let mut pieces: Vec<Piece<'_>> = Vec::new();
    let (mut at, mut newlines, mut blanks, mut end) = (0, 0, 0, 0);
    let mut is_line_start = true;
    while let Some(first) = text[at..].chars().next() {
        if first == '\n' {
            (newlines, blanks, is_line_start) = (newlines + 1, 0, true);
            at += 1;
            continue;
        }
        if first.is_whitespace() {
            blanks += 1;
            at += first.len_utf8();
            continue;
        }
        let (kind, length) = piece(&text[at..], first, is_line_start).map_err(|message| {
            Diagnostic::error(message).kind("syntax").label(Span::new(at as u32, at as u32 + 1), "begins here")
        })?;
        let gap = &text[end..at];
        pieces.push(Piece { gap, kind, text: text[at..at + length].trim_end_matches([' ', '\t']), newlines, blanks });
        (newlines, blanks, is_line_start) = (0, 0, false);
        at += length;
        end = at;
    }
    Ok(pieces)
}

/// The kind and the length of the piece that a text begins with.
fn piece(rest: &str, first: char, is_line_start: bool) -> Result<(Kind, usize), &'static str> {
    let to_line_end = || rest.find('\n').unwrap_or(rest.len());
    if first == '#' && is_line_start {
        return Ok((Kind::Directive, directive(rest)?));
    }
    if rest.starts_with("//") {
        return Ok((Kind::LineComment, continued(rest, to_line_end())));
    }
    if rest.starts_with("/*") {
        return Ok((Kind::BlockComment, block_comment(rest)?));
    }
    if is_word(first) {
        return Ok((Kind::Word, rest.find(|letter| !is_word(letter)).unwrap_or(rest.len())));
    }
    if first == '"' {
        return Ok((Kind::String, string(rest)?));
    }
    if rest.strip_prefix("@pragma").is_some_and(|rest| !rest.starts_with(is_word)) {
        return Ok((Kind::Pragma, pragma(rest)?));
    }
    let symbol = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol));
    Ok((Kind::Symbol, symbol.map_or(first.len_utf8(), |symbol| symbol.len())))
}

/// A line that ends with a backslash goes on in the next one.
fn continued(text: &str, mut end: usize) -> usize {
    while text[..end].trim_end_matches([' ', '\t', '\r']).ends_with('\\') && end < text.len() {
        end = text[end + 1..].find('\n').map_or(text.len(), |next| end + 1 + next);
    }
    end
}

/// To the end of its line, or of a comment that begins in it.
fn directive(text: &str) -> Result<usize, &'static str> {
    let mut at = 0;
    loop {
        let end = continued(text, text[at..].find('\n').map_or(text.len(), |next| at + next));
        let line = &text[at..end];
        let comment = line.find("/*").filter(|from| !line[..*from].contains("//"));
        match comment {
            Some(from) => at += from + block_comment(&text[at + from..])?,
            None => return Ok(end),
        }
    }
}

/// To the end of its line, or of a string that ends in another.
fn pragma(text: &str) -> Result<usize, &'static str> {
    let mut at = 0;
    while let Some(next) = text[at..].find(['"', '\n', '/']).map(|next| at + next) {
        let rest = &text[next..];
        at = next
            + match rest.as_bytes()[0] {
                b'"' => string(rest)?,
                b'\n' => return Ok(next),
                _ if rest.starts_with("//") => return Ok(rest.find('\n').map_or(text.len(), |end| next + end)),
                _ if rest.starts_with("/*") => block_comment(rest)?,
                _ => 1,
            };
    }
    Ok(text.len())
}

fn block_comment(text: &str) -> Result<usize, &'static str> {
    text[2..].find("*/").map(|length| length + 4).ok_or("a comment that begins here never ends")
}

fn string(text: &str) -> Result<usize, &'static str> {
    let mut is_escaped = true;
    for (at, letter) in text.char_indices() {
        if letter == '"' && !is_escaped {
            return Ok(at + 1);
        }
        // The opening quote counts as escaped.
        is_escaped = letter == '\\' && !is_escaped;
    }
    Err("a string that begins here never ends")
}

pub(super) fn is_word(letter: char) -> bool {
    letter.is_ascii_alphanumeric() || letter == '_'
}
