//! P4_16 text to a checked program and on to HLIR.

pub mod ast;
pub mod check;
pub mod evaluate;
pub mod format;
mod lex;
mod lower;
mod parse;
pub mod preprocess;
mod spelling;
mod stack;

pub mod types;

pub use lower::{lower, lower_interface, refused};
pub use parse::{DEEPEST_NESTING, Parsed, parse};
pub use stack::with_deep_stack;

/// Whether a text can be the name of something declared.
pub fn is_name(text: &str) -> bool {
    let is_part = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let begins = text.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_');
    begins && text.chars().all(is_part) && text != "_" && lex::RESERVED.binary_search(&text).is_err()
}
