//! The conformance runner: which cases a corpus has, how one is run, and the report at the end.

pub mod cases;
pub mod format;
pub mod json;
mod message;
pub mod report;
pub mod run;
mod same;
