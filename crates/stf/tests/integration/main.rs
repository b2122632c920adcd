//! STF as tests of programs use it: its commands, its filters, and its messages about mistakes.

mod docs;
mod filters;
mod mistakes;
mod programs;
