//! From text to tokens. The words and symbols of P4 are tokens with a fixed text; the rest is distinguished by its kind.
//!
//! `>` is always a token of its own: whether two of them shift a value or close two lists of type arguments is known to
//! the parser only. Words with a meaning in one place (`key`, `state`, `priority`) are identifiers everywhere.

mod literals;
mod scan;

pub use literals::{integer, string};
pub use scan::{Lexed, lex};

use hlir::source::Span;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenKind {
    Identifier,
    Integer,
    String,
    /// A reserved word or a symbol, with its text.
    Fixed(&'static str),
    /// `@pragma`; the annotation ends with its line, where an `EndPragma` follows.
    Pragma,
    EndPragma,
    /// A character that begins no token. It is allowed in the body of an annotation.
    Unknown,
    /// The end of the text.
    End,
}

/// Words that cannot be names.
#[rustfmt::skip]
pub const RESERVED: &[&str] = &[
    "abstract", "action", "bit", "bool", "break", "const", "continue", "control", "default", "else", "enum", "error", "exit", "extern",
    "false", "for", "header", "header_union", "if", "in", "inout", "int", "match_kind", "out", "package", "parser", "return", "select",
    "string", "struct", "switch", "table", "this", "transition", "true", "tuple", "typedef", "value_set", "varbit", "void",
];

/// Symbols, longest first, so that the first that fits is the right one.
#[rustfmt::skip]
pub const SYMBOLS: &[&str] = &[
    "|+|=", "|-|=",
    "...", "&&&", "<<=", "|+|", "|-|", "{#}",
    "..", "<<", "<=", ">=", "==", "!=", "&&", "||", "++", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "+:",
    "(", ")", "[", "]", "{", "}", "<", ">", "!", ":", ",", "?", ".", "=", ";", "@", "+", "-", "*", "/", "%", "|", "&", "^", "~",
];
