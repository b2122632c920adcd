//! What HLIR means: the oracle that every other engine is compared with.
//!
//! It executes a [`hlir::Program`] packet by packet and knows nothing of plans. Clear comes before fast. No files, no clock, no environment: equal
//! inputs give equal answers.

pub mod engine;
pub mod hash;
pub mod meter;
pub mod random;
pub mod value;

pub use engine::Engine;
