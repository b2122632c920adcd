//! The Thrift services of BMv2: how `simple_switch_CLI`, p4-utils and other clients of `simple_switch` control a switch.
//!
//! [`Server`] serves them over the same [`p4runtime::Target`] as the P4Runtime server; [`Connection`] and the clients are the other end.

mod client;
mod convert;
pub mod description;
mod device;
mod elements;
mod handler;
mod handles;
mod hashes;
mod learning;
mod multicast;
mod notifications;
mod profiles;
pub mod replication;
mod server;
mod service;
pub mod standard;
mod state;
pub mod state_file;
mod tables;
mod wire;

pub use client::Connection;
pub use device::Settings;
pub use learning::Learning;
pub use server::Server;
pub use service::{CallError, Undeclared};
pub use thrift::Error as ThriftError;
pub use wire::Binary;
