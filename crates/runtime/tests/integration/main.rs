//! Switches as the driver uses them: pipelines written by hand, in-memory ports, and the control plane's side.
#![allow(clippy::unwrap_used)]

mod dpdk_packets;
mod echo;
mod events;
mod exchange;
mod memory;
mod packets;
