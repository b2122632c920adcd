//! What passes consult beside the program: the machine, the traffic, what stands in the tables, and what the ports can do.

pub mod access;
pub mod hints;
pub mod key_overlap;
pub mod machine;
pub mod occupancy;
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
use hlir::plan::Descriptor;

#[derive(Clone, Debug, Default)]
pub struct Inputs {
    pub machine: Machine,
    /// What a run has counted; without it, traffic is guessed from the program.
    pub profile: Option<Profile>,
    pub occupancy: Occupancy,
    pub ports: Ports,
    /// What a person has decided: planners leave that as it is, and plan the rest.
    pub constraints: Plan,
    /// The descriptor, if it is pinned: `pinned` has one in any case.
    pub constrained_descriptor: Option<Descriptor>,
}

/// What the ports that the program will run on can do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Ports {
    /// Whether they take packets in the program's own descriptor, or DPDK's only.
    pub own_descriptor: bool,
    /// Packets that may be taken at once at most; 0 for no limit.
    pub most_burst: u32,
    /// Nanoseconds that a packet may wait for its burst to be worked through; 0 for no limit.
    pub latency_ns: u32,
    /// Packets that come from memory.
    pub stream: Option<Stream>,
}

/// What a port reads packet after packet, and comes back to when it has read it all: packets kept in memory. A NIC needs none of the caches for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stream {
    pub bytes: u64,
    pub packet_bytes: u32,
}
