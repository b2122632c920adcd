//! The control plane's side of a program: what P4Runtime calls things, and what it may write.
//!
//! [`Store`] keeps and checks what a controller writes; [`DataPlane`] is the switch that applies it. [`p4info`] describes a program to
//! controllers, [`interface_of`] reads such a description, [`entries`] lists what the program has in its own tables, and [`format`] writes both
//! as text, JSON or bytes.

pub mod entries;
pub mod facts;
pub mod format;
mod info;
pub mod join;
pub mod message;
pub mod note;
mod number;
pub mod plane;
mod rate;
mod refusal;
mod rehearsal;
mod replication;
mod selection;
pub mod store;
mod subscription;
mod update;

pub use facts::Facts;
pub use info::{interface_of, p4info};
pub use plane::DataPlane;
pub use rate::Rate;
pub use refusal::{Refusal, RefusalKind};
pub use rehearsal::Rehearsal;
pub use store::Store;
pub use update::{Inverse, Record, Update};

/// Nanoseconds of an expiry profile that no controller has set: those of DPDK's learner tables for the first eight, then two minutes.
pub fn default_expiry_ns(profile: u8) -> u64 {
    const SECONDS: [u64; 8] = [10, 30, 60, 120, 300, 43_200, 120, 120];
    SECONDS.get(usize::from(profile)).unwrap_or(&120) * 1_000_000_000
}
