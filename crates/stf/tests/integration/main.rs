//! STF as tests of programs use it: its commands, its messages about mistakes, and traces on two engines.

mod docs;
mod mistakes;
mod programs;
mod trace;
