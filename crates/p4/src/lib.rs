//! P4_16 text to a checked program and on to HLIR.

pub mod ast;
pub mod check;
pub mod evaluate;
pub mod types;
