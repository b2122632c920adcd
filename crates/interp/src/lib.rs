//! What HLIR means: the oracle that every other engine is compared with.
//!
//! It executes a [`hlir::Program`] packet by packet and knows nothing of plans. Clear comes before fast. No files, no clock, no environment: equal
//! inputs give equal answers.

mod aging;
mod bytes;
mod call;
mod choices;
mod content;
mod counted;
mod evaluate;
mod execute;
pub mod externs;
pub mod hash;
mod key_hash;
pub mod meter;
mod packet;
pub mod path;
pub mod pattern;
pub mod random;
mod records;
mod script;
mod state;
mod steps;
mod storage;
mod switch;
mod tables;
mod walk;

pub use choices::{Branch, Outcomes};
pub use control::plane::PORTS;
pub use counted::Counted;
pub use script::{Choice, Chooser};
pub use steps::{Interest, Parsed};
pub use switch::{Punted, Switch};
