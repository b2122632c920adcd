//! Why a switch cannot be built.

use crate::compile::Descriptor;
use crate::tables::TableError;
use std::ffi::c_int;
use std::fmt;

/// See the module.
#[derive(Debug)]
pub enum SwitchError {
    Descriptor {
        pipeline: Descriptor,
        port: Descriptor,
    },
    Table {
        name: String,
        error: TableError,
    },
    Attach {
        worker: u32,
        status: c_int,
    },
    /// The user's code refuses to make this object.
    Extern {
        name: String,
    },
    /// The workers cannot hand packets over.
    Spread {
        why: String,
    },
    /// The address space has no room for what the program declares.
    NoMemory {
        /// Of what, with its name.
        object: String,
        elements: u64,
        element_bytes: u32,
    },
}

impl SwitchError {
    pub(crate) fn no_memory(kind: &str, name: &str, elements: u64, element_bytes: u32) -> SwitchError {
        SwitchError::NoMemory { object: format!("{kind} `{name}`"), elements, element_bytes }
    }
}

impl fmt::Display for SwitchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SwitchError::Descriptor { pipeline, port } => {
                write!(f, "the pipeline's packets are {pipeline:?}, the port's {port:?}")
            }
            SwitchError::Table { name, error } => write!(f, "table {name} cannot be made: {error}"),
            SwitchError::Extern { name } => write!(f, "the object `{name}` cannot be made: its C function gave NULL"),
            SwitchError::Spread { why } => f.write_str(why),
            SwitchError::NoMemory { object, elements, element_bytes } => {
                let way_out = "declare as many as this machine can hold";
                write!(
                    f,
                    "there is no memory for {object}: {elements} elements of {element_bytes} bytes\nhint: {way_out}"
                )
            }
            SwitchError::Attach { worker, status } => write!(f, "worker {worker} cannot start: status {status}"),
        }
    }
}

impl std::error::Error for SwitchError {}
