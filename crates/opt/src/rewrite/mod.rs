//! Passes that rewrite the program. None changes what a packet sees.

pub mod constants;
pub mod dead;
