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
