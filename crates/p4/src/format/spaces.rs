//! Blanks between two tokens of a line.

use super::brackets::{Role, starts_with_digit};
use super::scan::{Kind, Piece, is_word};
use crate::lex::SYMBOLS;

/// Words with a blank before a parenthesis.
const BEFORE_PARENTHESIS: [&str; 8] = ["if", "switch", "for", "in", "return", "transition", "else", "out"];

/// Operators with two operands, whatever is before them.
const BINARY: [&str; 37] = [
    "|+|=", "|-|=", "&&&", "<<=", "|+|", "|-|", "<<", "<=", ">=", "==", "!=", "&&", "||", "++", "+=", "-=", "*=", "/=",
    "%=", "&=", "|=", "^=", "=", "*", "/", "%", "|", "&", "^", "?", "+", "-", "<", ">", "+:", "..", "...",
];

/// What is between two tokens: none, a blank, or as many as were there, at most one.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Gap {
    None,
    Blank,
    Kept,
}

/// How many blanks precede the piece at an index, which does not begin a line.
pub(super) fn blanks(pieces: &[Piece<'_>], roles: &[Role], at: usize) -> usize {
    let (before, piece) = (&pieces[at - 1], &pieces[at]);
    let kept = usize::from(piece.blanks > 0 || piece.newlines > 0);
    if piece.kind == Kind::LineComment {
        // Comments behind code may be aligned.
        return piece.blanks.max(1);
    }
    if piece.is_comment() || before.is_comment() {
        return kept;
    }
    let wanted = match gap(pieces, roles, at) {
        Gap::None => 0,
        Gap::Blank => 1,
        Gap::Kept => kept,
    };
    if wanted == 0 && kept == 1 && grows_together(before, piece) { 1 } else { wanted }
}

/// Whether two tokens would be read as others without a blank between.
fn grows_together(before: &Piece<'_>, piece: &Piece<'_>) -> bool {
    let ends_as_word = before.text.ends_with(is_word) && before.kind != Kind::String;
    if ends_as_word && piece.text.starts_with(is_word) || piece.kind == Kind::String || before.kind == Kind::String {
        return true;
    }
    let both = format!("{}{}", before.text, piece.text);
    let longest = SYMBOLS.iter().find(|symbol| both.starts_with(**symbol)).map_or(0, |symbol| symbol.len());
    before.kind == Kind::Symbol && (longest > before.text.len() || both.starts_with("//") || both.starts_with("/*"))
        || before.text == ">" && piece.text.starts_with('>')
        || both == "@pragma"
}

fn gap(pieces: &[Piece<'_>], roles: &[Role], at: usize) -> Gap {
    let (before, piece) = (&pieces[at - 1], &pieces[at]);
    let (role_before, role) = (roles[at - 1], roles[at]);
    if is_number_of_the_preprocessor(before, piece) {
        return Gap::Kept;
    }
    match (before.text, piece.text) {
        (_, ";" | ",") => Gap::None,
        ("(" | "[", _) | (_, ")" | "]") => Gap::None,
        ("," | ";", _) => Gap::Blank,
        ("{", _) if role_before.is_inline => Gap::Blank,
        (_, "}") if role.is_inline => Gap::Blank,
        ("{", _) | (_, "}") => Gap::Kept,
        ("..", _) | (_, "..") | ("...", _) | (_, "...") => Gap::Kept,
        (_, "<" | ">") if role.is_angle => Gap::None,
        ("<", _) if role_before.is_angle => Gap::None,
        (">", "(" | "[" | ".") if role_before.is_angle => Gap::None,
        (">", _) if role_before.is_angle => binary_or(piece, Gap::Blank),
        (">", ">" | ">=") => Gap::Kept,
        ("." | "@" | "!" | "~", _) => Gap::None,
        (_, ".") if is_operand_end(before) => Gap::None,
        (_, "[") if is_operand_end(before) => Gap::None,
        (_, "(") if is_after_cast(pieces, at - 1) => Gap::Kept,
        (_, "(") => parenthesis(pieces, at),
        (_, ":") => colon(role),
        (":", _) => {
            if role_before.is_choice || !is_slice(pieces, at) {
                Gap::Blank
            } else {
                Gap::Kept
            }
        }
        (_, "{") => {
            if ["(", "["].contains(&before.text) {
                Gap::None
            } else {
                Gap::Blank
            }
        }
        ("-" | "+", _) if is_unary(pieces, at - 1) => Gap::None,
        ("-" | "+", _) if is_after_cast(pieces, at - 1) => Gap::Kept,
        (_, "-" | "+") if is_after_cast(pieces, at) => Gap::Kept,
        ("_" | "&" | "*", _) if is_unary(pieces, at - 1) && before.text != "_" => Gap::Kept,
        (word, _) if BINARY.contains(&word) => Gap::Blank,
        _ => binary_or(piece, if both_words(before, piece) { Gap::Blank } else { default(before, piece) }),
    }
}

fn both_words(before: &Piece<'_>, piece: &Piece<'_>) -> bool {
    before.kind != Kind::Symbol && piece.kind != Kind::Symbol
}

fn default(before: &Piece<'_>, piece: &Piece<'_>) -> Gap {
    let is_end = ["]", "}"].contains(&before.text);
    if piece.is("@") || is_end && piece.kind == Kind::Word { Gap::Blank } else { Gap::Kept }
}

fn binary_or(piece: &Piece<'_>, other: Gap) -> Gap {
    if piece.kind == Kind::Symbol && BINARY.contains(&piece.text) { Gap::Blank } else { other }
}

/// The preprocessor reads `0x1E+MOST` and `1..MOST` as one number, in which `MOST` is no macro.
fn is_number_of_the_preprocessor(before: &Piece<'_>, piece: &Piece<'_>) -> bool {
    starts_with_digit(before.text)
        && before.text.ends_with(['e', 'E', 'p', 'P'])
        && ["+", "-", "+=", "-=", "++"].contains(&piece.text)
}

fn is_operand_end(piece: &Piece<'_>) -> bool {
    let is_operator = ["return", "in", "transition", "else"].contains(&piece.text);
    piece.kind == Kind::Word && !is_operator || [")", "]"].contains(&piece.text)
}

fn parenthesis(pieces: &[Piece<'_>], at: usize) -> Gap {
    let before = &pieces[at - 1];
    match before.kind {
        Kind::Word if BEFORE_PARENTHESIS.contains(&before.text) => Gap::Blank,
        Kind::Word => Gap::None,
        Kind::Symbol if BINARY.contains(&before.text) && !is_unary(pieces, at - 1) => Gap::Blank,
        Kind::Symbol | Kind::String | Kind::LineComment | Kind::BlockComment | Kind::Directive | Kind::Pragma => {
            if before.text == ":" {
                Gap::Blank
            } else {
                Gap::Kept
            }
        }
    }
}

/// `key: exact`, `a ? b : c`; of a slice as it was.
fn colon(role: Role) -> Gap {
    if role.is_choice { Gap::Blank } else { Gap::None }
}

/// Whether the token behind a colon is in `[7:0]`.
fn is_slice(pieces: &[Piece<'_>], at: usize) -> bool {
    let mut depth = 0;
    for piece in pieces[..at].iter().rev() {
        if piece.closes() {
            depth += 1;
        } else if piece.opens() && depth > 0 {
            depth -= 1;
        } else if piece.opens() {
            return piece.is("[");
        }
    }
    false
}

/// Whether an operator has one operand, by what is before it.
fn is_unary(pieces: &[Piece<'_>], at: usize) -> bool {
    let before = pieces[..at].iter().rev().find(|piece| piece.is_code());
    before.is_none_or(|before| {
        !is_operand_end(before) && before.kind != Kind::String && before.text != "}" && before.text != ">"
    })
}

/// Behind a parenthesis, an operator may have one operand: `(bit<8>)-x`.
fn is_after_cast(pieces: &[Piece<'_>], at: usize) -> bool {
    at > 0
        && pieces[at - 1].is(")")
        && pieces[at].blanks == 0
        && pieces.get(at + 1).is_some_and(|next| next.blanks == 0)
}
