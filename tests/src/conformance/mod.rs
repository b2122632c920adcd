//! The conformance runner: which cases a corpus has, how one is run, and what is said at the end.

pub mod cases;
mod message;
pub mod report;
pub mod run;
