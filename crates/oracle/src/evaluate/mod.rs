//! A second meaning of programs: an evaluator that walks the syntax tree, statement by statement.
//!
//! It is written from the P4_16 specification (version 1.2.5), whose clauses the comments name, and from docs/language.md where the
//! specification leaves something open. It uses the parser and nothing behind it: names, types, copies and matches are all worked out here
//! again, so that a mistake of the checker, of lowering or of the interpreter is not made twice. Simple and slow.

// Values, bindings and syntax have many variants, and most questions concern one or two of them.
#![allow(clippy::wildcard_enum_match_arm)]

mod buffer;
mod builtins;
mod call;
mod checksum;
mod convert;
mod custom;
mod environment;
mod expression;
mod externs;
mod instance;
mod machine;
mod operators;
mod packages;
mod parser;
mod place;
mod pna;
mod portable;
mod profile;
mod psa;
mod reentry;
mod statement;
mod table;
mod types;
mod v1model;
mod value;

pub use machine::Machine;
pub use packages::Sent;
pub use profile::Target;
pub use table::{Field, Keys, Table};
pub use value::Value;

use std::rc::Rc;

/// Why evaluation does not go on with the next statement.
#[derive(Clone, Debug, PartialEq)]
pub enum Stop {
    /// `exit` (12.5).
    Exit,
    /// A parser's error (12.8): the parser rejects.
    Error(Rc<str>),
    /// What the evaluator does not know, or a program that is wrong.
    Unsupported(String),
}

pub type Run<T> = Result<T, Stop>;

pub fn unsupported<T>(what: impl Into<String>) -> Run<T> {
    Err(Stop::Unsupported(what.into()))
}
