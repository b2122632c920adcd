//! Passes that rewrite the program. None changes what happens to a packet.

pub mod constants;
pub mod dead;
mod flow;
pub mod join;
pub mod lookup_counts;
pub mod specialise;
