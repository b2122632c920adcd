//! The control plane's side of a program: what P4Runtime calls things, and what it may write.
//!
//! [`p4info`] describes a program to controllers, [`entries`] lists what the program has in its own tables, and [`format`] writes both as
//! text, JSON or bytes.

pub mod entries;
pub mod format;
mod info;
pub mod message;
mod number;

pub use info::p4info;
