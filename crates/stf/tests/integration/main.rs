//! STF as tests of programs use it: its commands, what it says of mistakes, and traces on two engines.

mod docs;
mod mistakes;
mod programs;
mod trace;
