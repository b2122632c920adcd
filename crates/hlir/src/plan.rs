//! A plan: how a program is scheduled on a machine. It cannot change what happens to a packet.
//!
//! [`Plan::default`] is the plain program: packet by packet, each table with the structure its keys suggest, nothing prefetched. Nodes and
//! tables are named by their stable names, so that a plan outlives a rewrite that keeps them, and can be pinned by a person.

pub use crate::structure::Structure;
use std::collections::BTreeMap;

/// The schedule. What a list leaves out is done the plain way.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Plan {
    pub descriptor: Descriptor,
    /// Packets taken from a port at once; 0 takes what the port gives.
    pub burst: u32,
    pub layout: Layout,
    /// The way of most packets. With one, the loops are cuts of this way into stages.
    pub hot_path: Option<HotPath>,
    /// Loops over the packets of a batch. Nodes that stand in none run packet by packet with the node before them.
    pub loops: Vec<Loop>,
    pub tables: Vec<TablePlan>,
    pub joints: Vec<JointTables>,
    pub windows: Vec<Window>,
    pub queues: Vec<Queue>,
    pub instrument: Instrument,
}

/// What stands for a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Descriptor {
    /// A `struct rte_mbuf`.
    #[default]
    Mbuf,
    /// Two numbers in arrays of the burst: where the bytes are and how many.
    Own,
}

/// How per-packet metadata lie in memory.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Layout {
    /// A struct a packet, in the order of the program.
    #[default]
    Declared,
    /// A struct a packet, these variables and headers first, in this order.
    Ordered(Vec<String>),
    /// An array a variable.
    Arrays,
}

/// The way that most packets take, run in stages for all packets of a group: what comes before a look-up, the look-up, what comes between it
/// and the next, and so on; last, packet by packet and in order, everything that can be seen from outside. A packet that leaves the way is run
/// from its beginning then, as the plain program has it.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct HotPath {
    /// From the program's entry on, at least to the last cut.
    pub nodes: Vec<String>,
    /// By place on the path: the action that the entries of the table there are expected to run, all of them. As long as they do, no packet of a whole group
    /// is asked which.
    pub actions: BTreeMap<usize, String>,
    pub reason: Option<Reason>,
}

/// Nodes that are run for all packets of a batch before the next loop begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The node where the loop begins; it runs on to the next loop's first node.
    pub node: String,
    /// Packets collected before the loop runs: at least 1.
    pub batch: u32,
    /// Packets whose accesses are issued together: at least 1, at most `batch`.
    pub group: u32,
    /// Packets side by side in vectors ([`crate::vector`]): 1 for scalar code.
    pub vector: u32,
    pub prefetches: Vec<Prefetch>,
    pub reason: Option<Reason>,
}

/// A memory access that is asked for before it is needed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefetch {
    pub access: Access,
    pub placement: Placement,
    /// How many packets (`OwnLoop`) or bursts ([`Placement::is_pipelined`]) ahead of its use.
    pub distance: u32,
    pub hint: Hint,
    pub reason: Option<Reason>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// The first bytes of the packet.
    Packet,
    /// Line number `line` of a look-up in the table, in the order the structure reads them.
    Table { table: String, line: u32 },
    /// The cell of a register, counter or meter.
    Cell { object: String },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    None,
    /// A loop of requests, then the loop of uses.
    OwnLoop,
    /// One request for each line consumed of an older burst.
    WithLookups,
    /// One for each packet of an older burst, in its turn.
    WithCommit,
    /// One for each packet of the burst behind, while its keys are made.
    WithKeys,
}

impl Placement {
    /// Whether a burst waits until the next one has come, and its requests are made with work on others: a core that is asked for many lines at once waits
    /// before it does anything else.
    pub fn is_pipelined(self) -> bool {
        match self {
            Placement::WithLookups | Placement::WithCommit | Placement::WithKeys => true,
            Placement::None | Placement::OwnLoop => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hint {
    /// To all cache levels.
    T0,
    /// To the second level and beyond.
    T1,
    NonTemporal,
}

/// The data structure of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TablePlan {
    pub table: String,
    pub structure: Structure,
    pub reason: Option<Reason>,
}

/// Two tables whose entries stand in one array: a key that both have takes the place of one. What a look-up in it finds is two numbers of records, one for each
/// table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointTables {
    /// The guest, whose number takes the lower bits.
    pub secondary: String,
    /// The owner of the array.
    pub primary: String,
    /// Bits of the guest's number; it has at most 2^bits - 1 different records, and the owner 2^(16 - bits) - 1.
    pub bits: u32,
    pub reason: Option<Reason>,
}

impl JointTables {
    /// Bits of both numbers.
    pub const BITS: u32 = 16;

    /// The bits of a table's number, the owner's or the guest's: the first one, and how many.
    pub fn part(&self, table: &str) -> (u32, u32) {
        if self.secondary == table { (0, self.bits) } else { (self.bits, Self::BITS - self.bits) }
    }
}

/// Bytes of the packet that are loaded once and written back once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The node where the bytes are loaded.
    pub node: String,
    /// First byte, and number of bytes, counted from the front of the packet as it arrived.
    pub offset_bytes: u32,
    pub length_bytes: u32,
    /// Where what has changed is written back.
    pub write_back: Vec<String>,
    pub reason: Option<Reason>,
}

/// Packets that have left the path and wait in front of a node until so many are there, or the first of them has waited long enough.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    pub node: String,
    pub capacity: u32,
    /// Bursts at whose end they go on though they are fewer: 1 is the end of the burst in which the first of them came. A burst of nothing lets all go on.
    pub timeout: u32,
    pub reason: Option<Reason>,
}

/// What the generated code tells about itself; costs nothing when off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Instrument {
    /// Count packets on each edge, and note the keys that tables are asked for: for profiles.
    pub edges: bool,
    /// Sum cycles in each node.
    pub cycles: bool,
    /// Write a line for each node that a packet visits.
    pub trace: bool,
}

/// Why a choice was made: its predicted cost beside that of the alternatives, in tenths of a cycle for each packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    pub cost: u64,
    pub alternatives: Vec<(String, u64)>,
}

impl Plan {
    /// How a table shares an array, if it does.
    pub fn joint_of(&self, table: &str) -> Option<&JointTables> {
        self.joints.iter().find(|share| share.secondary == table || share.primary == table)
    }

    /// The same decisions, without why they were made.
    pub fn without_reasons(mut self) -> Plan {
        self.hot_path.iter_mut().for_each(|path| path.reason = None);
        for stage in &mut self.loops {
            stage.reason = None;
            stage.prefetches.iter_mut().for_each(|request| request.reason = None);
        }
        self.tables.iter_mut().for_each(|table| table.reason = None);
        self.joints.iter_mut().for_each(|share| share.reason = None);
        self.windows.iter_mut().for_each(|window| window.reason = None);
        self.queues.iter_mut().for_each(|queue| queue.reason = None);
        self
    }
}
