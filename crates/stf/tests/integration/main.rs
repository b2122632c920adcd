//! STF as tests of programs use it: its commands, and its messages about mistakes.

mod docs;
mod mistakes;
mod programs;
