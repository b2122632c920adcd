//! Analyses of a program: where its packets go, and which facts hold there.

pub mod branch_probabilities;
pub mod decided;
pub mod drops;
pub mod facts;
pub mod flow;
pub mod hot_path;
mod lookups;
pub mod origin;
pub mod sharing;
pub mod spread;
pub mod traffic;

pub use traffic::Traffic;
