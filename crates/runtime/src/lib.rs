//! The switch process: loads pipelines, and owns ports, table memory and state.
//!
//! The only crate with `unsafe`: pipelines and ports are C. It knows nothing of HLIR; a pipeline's descriptors define what it needs.
#![allow(unsafe_code)]

pub mod abi;
pub mod cache;
mod calls;
mod changeover;
pub mod clock;
pub mod compile;
mod control;
pub mod core_isolation;
mod counted;
pub mod counts;
mod crc;
mod dpdk_memory;
mod elements;
mod error;
pub mod events;
mod exchange;
pub mod externs;
mod file_lock;
mod gate;
mod generation;
pub mod interrupt;
pub mod layer;
mod layer_object;
pub mod memory;
pub mod memory_limit;
mod miss_library;
mod objects;
pub mod offload;
pub mod open_files;
pub mod packets;
pub mod pages;
pub mod peer;
pub mod pipeline;
pub mod probe;
pub mod quiescent;
pub mod region;
pub mod rest;
mod ring;
pub mod sampler;
mod selection;
mod standby;
pub mod state;
pub mod switch;
mod table_host;
pub mod tables;
pub mod tap;
pub mod timers;
mod unmap;
mod worker;
mod worker_ports;

pub use cache::Cache;
pub use compile::{Compiler, Descriptor, Effort, Limit, Sanitize, Symbols, UserCode};
pub use core_isolation::Undisturbed;
pub use counted::Object;
pub use counts::{Counts, KeySketch};
pub use crc::CRC_WORDS;
pub use dpdk_memory::DpdkMemoryPort;
pub use error::SwitchError;
pub use events::{Event, Lost, Punted};
pub use externs::ExternLibrary;
pub use layer::{
    Connected, LayerPorts, Link, PortCounts, PortError, PortLayer, PortSettings, RingLimits, SpreadKind, SpreadStep,
    Totals,
};
pub use layer_object::dpdk_version;
pub use memory::{Buffers, MemoryPort, Packet, Trace};
pub use miss_library::MissLibrary;
pub use packets::{InjectError, ResumeError};
pub use peer::{Peer, PeerError};
pub use pipeline::{Description, Pipeline};
pub use probe::{Probe, ProbeError};
pub use ring::Fill;
pub use standby::Left;
pub use state::Group;
pub use switch::{Settings, Switch};
pub use tables::{Table, TableError};
pub use worker_ports::WorkerPorts;
