//! Measuring: the machine (the calibration), a program on the in-memory port by node, and samples that show when the core was shared.

#![deny(clippy::print_stdout)]

pub mod calibrate;
pub mod program;
pub mod samples;
