//! A plan: how a program is scheduled on a machine. It cannot change what happens to a packet.
//!
//! [`Plan::default`] is the plain program: packet by packet, each table with the structure that its keys
//! suggest, without prefetches. Nodes and tables have stable names, so a plan survives rewrites that keep
//! them, and parts of it can be given by the user.

pub use crate::structure::Structure;
use std::collections::BTreeMap;
use std::sync::Arc;

/// The schedule. Whatever a list leaves out is done as in the plain program.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Plan {
    pub descriptor: Descriptor,
    /// Packets per burst; 0 takes what the port delivers.
    pub burst: u32,
    /// The hot path. With one, loops are cuts of it into stages.
    pub hot_path: Option<HotPath>,
    /// Loops over the packets of a batch. Nodes without a loop run packet by packet with the node before
    /// them.
    pub loops: Vec<Loop>,
    /// Further hot paths, each for packets that leave all before it in the speculative phase.
    pub next_paths: Vec<StagedPath>,
    pub tables: Vec<TablePlan>,
    pub joints: Vec<JointTables>,
    /// Joins of tables: those that were made, or in pins those to make and not to make.
    pub joins: Vec<JoinChoice>,
    pub queues: Vec<Queue>,
    /// None is [`AccessMode::Base`], which a pin can ask for.
    pub accesses: Option<AccessMode>,
    pub instrument: Instrument,
    /// Facts that the decisions rely on.
    pub expectations: Vec<Expectation>,
}

/// The packet descriptor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum Descriptor {
    /// A `struct rte_mbuf`.
    #[default]
    Mbuf,
    /// Address and length of the bytes, in two arrays of the burst.
    Own,
}

/// How the parts of a hot path that run packet by packet access the packet's bytes (PAC, sections 3 and 4).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum AccessMode {
    /// Each field for itself.
    #[default]
    Base,
    /// Neighbouring fields together, as words of at most 64 bits (packet access combining).
    Combined,
    /// Windows of at most 32 bytes, read once, and stored once before the packet leaves (packet caching).
    Cached,
}

/// The path that most packets take. It runs in stages for all packets of a group: the nodes before a lookup,
/// the lookup, the nodes between it and the next one, and so on. All side effects follow in the commit phase,
/// packet by packet and in order. A side exit runs the packet from its beginning, as the plain program does.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct HotPath {
    /// From the program's entry at least to the last cut. Shared: planners compare thousands of plans with one path.
    pub nodes: Arc<[String]>,
    /// By position on the path: the action that all entries of the table there are expected to run. As long
    /// as they do, full groups run code without a dispatch on the action.
    pub actions: Arc<BTreeMap<usize, String>>,
    pub reason: Option<Reason>,
}

/// A further hot path, with the loops that cut it into stages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StagedPath {
    pub path: HotPath,
    pub loops: Vec<Loop>,
}

/// Nodes that run for all packets of a batch before the next loop begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Loop {
    /// The first node of the loop, which extends to the first node of the next one.
    pub node: String,
    /// Packets that are collected before the loop runs: at least 1.
    pub batch: u32,
    /// Packets whose memory accesses are issued together: at least 1, at most `batch`.
    pub group: u32,
    /// Packets per vector ([`crate::vector`]); 1 for scalar code.
    pub vector: u32,
    /// The lookups of a stage: all on the path from its node on, in these tables. That of its own node need not be named.
    pub lookups: Vec<StageLookup>,
    pub prefetches: Vec<Prefetch>,
    pub reason: Option<Reason>,
}

/// A table whose lookups a stage makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StageLookup {
    pub table: String,
    pub reason: Option<Reason>,
}

/// A prefetch: a memory access that is issued before it is needed. It only prefetches: the loop makes the lookup that needs
/// the line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefetch {
    pub access: Access,
    pub placement: Placement,
    /// Packets ([`Placement::OwnLoop`]) or bursts ([`Placement::is_pipelined`]) between the prefetch and the
    /// use.
    pub distance: u32,
    pub hint: Hint,
    pub reason: Option<Reason>,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// The first bytes of the packet.
    Packet,
    /// The line of a lookup in the table that the key determines; for an `lpm_trie`, all nodes on the way.
    Table(String),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Placement {
    /// A loop of prefetches, then the loop of uses.
    OwnLoop,
    /// One prefetch with each lookup of an older burst.
    WithLookups,
    /// One with each packet of an older burst, as it commits.
    WithCommit,
    /// One with each packet of the next burst, as its keys are computed.
    WithKeys,
}

impl Placement {
    /// Whether prefetches are software pipelined: issued one burst ahead, interleaved with work on other
    /// bursts. A core stalls when many are issued at once.
    pub fn is_pipelined(self) -> bool {
        match self {
            Placement::WithLookups | Placement::WithCommit | Placement::WithKeys => true,
            Placement::OwnLoop => false,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Hint {
    /// To all cache levels.
    T0,
    /// To L2 and beyond.
    T1,
}

/// The data structure of one table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TablePlan {
    pub table: String,
    pub structure: Structure,
    pub reason: Option<Reason>,
}

/// Whether two tables are joined ([`crate::Join`]).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JoinChoice {
    pub first: String,
    pub second: String,
    pub kind: JoinKind,
    pub made: bool,
    /// Of a join that the model has chosen.
    pub reason: Option<Reason>,
}

/// How two tables are joined.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default, Hash)]
pub enum JoinKind {
    /// A joint table precedes both.
    #[default]
    Table,
    /// The first table's record has the place of the second's entry.
    Value,
}

/// Joint exact tables: the entries of two tables in one array, where common keys are stored once. A lookup
/// finds a record number for each table.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JointTables {
    /// The secondary table; its record number takes the lower bits.
    pub secondary: String,
    /// The primary table, whose array it is.
    pub primary: String,
    /// Bits of the secondary's number. It has at most 2^bits - 1 records, and the primary 2^(16 - bits) - 1.
    pub bits: u32,
    pub reason: Option<Reason>,
}

impl JointTables {
    /// Bits of both numbers.
    pub const BITS: u32 = 16;

    /// The bits of a table's number: the first, and how many.
    pub fn part(&self, table: &str) -> (u32, u32) {
        if self.secondary == table { (0, self.bits) } else { (self.bits, Self::BITS - self.bits) }
    }
}

/// A queue of packets after a side exit: they wait at a node until it is full, or until the first of them has
/// waited for the timeout.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Queue {
    pub node: String,
    pub capacity: u32,
    /// Bursts until a flush: 1 is the end of the burst in which the first packet arrived. An empty burst
    /// flushes.
    pub timeout: u32,
    pub reason: Option<Reason>,
}

/// What the decisions of a plan expect of tables and traffic. Unlike an assumption of a program ([`crate::facts`]), it may
/// turn out false: then packets are treated in the same way, but another plan may take fewer cycles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Expectation {
    /// The size class of a table: the number of its entries is in this range, both ends included.
    Entries { table: String, least: u64, most: u64 },
    /// At least this share of the lookups in a table that a stage makes hit, in tenths of a percent.
    Hits { table: String, tenths: u64 },
    /// At least this share of the packets follow the hot path to its last stage, in tenths of a percent.
    OnPath { tenths: u64 },
    /// Memory of tables is in pages of this size in bytes.
    Pages { bytes: u64 },
}

/// Instrumentation of the generated code; free when off.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub struct Instrument {
    /// Count packets per edge and distinct keys of lookups, for profiles.
    pub edges: bool,
}

/// The predicted cost of a choice and of its alternatives, in tenths of a cycle per packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reason {
    pub cost: u64,
    /// By increasing cost.
    pub alternatives: Vec<Alternative>,
}

/// What a plan could have had instead, and its cost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Alternative {
    pub choice: Choice,
    pub cost: u64,
}

/// One of the things that a plan decides between.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Choice {
    Structure(Structure),
    Descriptor(Descriptor),
    /// Packets per burst, per group, per vector.
    Burst(u32),
    Group(u32),
    Vector(u32),
    Scalar,
    /// No hot path.
    PacketByPacket,
    /// A lookup in no stage, in one of its own, in the stage at a node.
    Unstaged,
    Stage,
    WithStage(String),
    /// The prefetch of a line; one placement after the other for several lines.
    NoPrefetch,
    Placement(Placement),
    Spread,
    /// Two tables with a lookup and an array of their own each; joined by a table, or by value.
    Separate,
    JointTable,
    ByValue,
    /// The program without what it takes for granted ([`crate::facts`]).
    Unspecialised,
}

impl Loop {
    /// The prefetch of a table's lines, if there is one.
    pub fn prefetch_of(&self, table: &str) -> Option<&Prefetch> {
        self.prefetches.iter().find(|prefetch| matches!(&prefetch.access, Access::Table(name) if name == table))
    }
}

impl Plan {
    /// The joint tables that a table belongs to, if any.
    pub fn joint_of(&self, table: &str) -> Option<&JointTables> {
        self.joints.iter().find(|share| share.secondary == table || share.primary == table)
    }

    /// The same decisions about tables, but packet by packet.
    pub fn packet_by_packet(self) -> Plan {
        Plan { hot_path: None, loops: Vec::new(), next_paths: Vec::new(), ..self }
    }

    /// The plan whose only hot path is the next one of a number, from 0 on.
    pub fn of_next_path(&self, number: usize) -> Plan {
        let StagedPath { path, loops } = self.next_paths[number].clone();
        let (next_paths, queues) = (Vec::new(), Vec::new());
        Plan { hot_path: Some(path), loops, next_paths, queues, ..self.clone() }
    }

    /// The same decisions without reasons, and without what they rely on.
    pub fn without_reasons(mut self) -> Plan {
        self.expectations.clear();
        let next = self.next_paths.iter_mut();
        let (paths, loops): (Vec<_>, Vec<_>) = next.map(|next| (&mut next.path, &mut next.loops)).unzip();
        self.hot_path.iter_mut().chain(paths).for_each(|path| path.reason = None);
        for stage in self.loops.iter_mut().chain(loops.into_iter().flatten()) {
            stage.reason = None;
            stage.lookups.iter_mut().for_each(|lookup| lookup.reason = None);
            stage.prefetches.iter_mut().for_each(|request| request.reason = None);
        }
        self.tables.iter_mut().for_each(|table| table.reason = None);
        self.joints.iter_mut().for_each(|share| share.reason = None);
        self.queues.iter_mut().for_each(|queue| queue.reason = None);
        self
    }
}
