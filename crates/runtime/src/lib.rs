//! The switch process: loads pipelines, and owns ports, table memory and state.
//!
//! The only crate with `unsafe`: pipelines and ports are C. It knows nothing of HLIR; a pipeline says by its descriptors what it needs.
#![allow(unsafe_code)]

pub mod abi;
pub mod cache;
pub mod compile;
pub mod pipeline;
pub mod probe;

pub use cache::Cache;
pub use compile::{Compiler, Descriptor, Sanitize};
pub use pipeline::{Description, Pipeline};
pub use probe::{Probe, ProbeError};
