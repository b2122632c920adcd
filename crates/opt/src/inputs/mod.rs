//! What passes read besides the program: machine, traffic, table contents, and capabilities of the ports.

pub mod access;
pub mod hints;
pub mod key_overlap;
pub mod machine;
pub mod occupancy;
pub mod port;
pub mod prefix_coverage;
pub mod profile;
pub mod tlb;

pub use access::Access;
pub use key_overlap::KeySketch;
pub use machine::Machine;
pub use occupancy::{Content, Occupancy};
pub use profile::Profile;
pub use tlb::Tlb;

use hlir::Plan;
use hlir::facts::Assumption;
use hlir::plan::{Descriptor, TablePlan};

#[derive(Clone, Debug, Default)]
pub struct Inputs {
    pub machine: Machine,
    /// Counts of an earlier run. Without them, traffic is estimated from the program.
    pub profile: Option<Profile>,
    pub occupancy: Occupancy,
    /// What tables hold, for programs that are run with these contents alone.
    pub facts: Vec<Assumption>,
    pub ports: Ports,
    pub joins: Joins,
    pub cuts: Cuts,
    /// Decisions of the user. Planners keep them and plan the rest.
    pub constraints: Plan,
    /// The descriptor if the user has set it; `constraints` always has one.
    pub constrained_descriptor: Option<Descriptor>,
    /// Structures of code that runs, whose tables are to be shared.
    pub running: Vec<TablePlan>,
}

/// Which tables are joined, where no pin decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Joins {
    #[default]
    None,
    /// Those that the model predicts to pay.
    Chosen,
    /// All that can be.
    All,
}

/// Whether the hot path is cut into stages, where no pin decides.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Cuts {
    /// Where the model predicts that they pay.
    #[default]
    Chosen,
    /// Wherever packets that stay on the path commit by its schedule: for code that is measured beside other code.
    Possible,
}

/// Capabilities of the ports that the program will run on.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Ports {
    /// Whether the ports take packets in the program's own descriptor, or as DPDK mbufs only.
    pub own_descriptor: bool,
    /// Largest burst; 0 for no limit.
    pub most_burst: u32,
    /// Largest latency of a packet within its burst in nanoseconds; 0 for no limit.
    pub latency_ns: u32,
    /// Packets that are read from memory.
    pub stream: Option<Stream>,
}

/// A trace of packets in memory that a port replays in a loop. It occupies cache; packets of a NIC do not.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    pub bytes: u64,
    pub packet_bytes: u32,
}
