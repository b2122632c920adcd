//! What passes consult beside the program: the machine, and (with the passes that read it) the traffic.

pub mod machine;

pub use machine::{Access, Machine};

#[derive(Clone, Debug, Default)]
pub struct Inputs {
    pub machine: Machine,
}
