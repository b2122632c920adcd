//! The intermediate representation: what a program does, and the plan of how.

pub mod source;
