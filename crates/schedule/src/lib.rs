//! The schedule of a hot path: what is computed, stored and counted in which stage, in static single assignment
//! form. It lies between a plan and the C that carries it out.
//!
//! The path is run symbolically, once: each stage, the keys of its lookups and the commit phase are results of
//! one list of values. A stage evaluates what its results need, so the speculative, the vector and the committed
//! form are slices of the same values. Whatever the path cannot do in this form is an [`Obstacle`].

pub mod access;
mod arrival;
mod combine;
mod commit;
mod equal;
mod exits;
mod expression;
mod hash;
pub mod interpret;
mod known;
mod lookup;
mod masks;
mod planned;
mod region;
mod run;
mod select;
mod state;
mod statement;
mod sums;
pub mod text;
mod value;
mod values;
pub mod vector;
pub mod verify;
mod words;

pub use planned::Planned;
pub use run::Reach;
pub use value::{Found, NO_MEMBER, Operation, Sum, Value};
pub use values::{Values, WORD};
pub use vector::{Lanes, LanesExits};

use hlir::{CounterId, DigestId, FieldRef, HeaderId, NodeId, RegisterId, TableId};
use std::borrow::Cow;
use std::collections::BTreeMap;

#[derive(Clone, Debug)]
pub struct Schedule {
    pub values: Values,
    /// Byte offsets of the headers that the path extracts.
    pub headers: BTreeMap<HeaderId, u32>,
    /// By cut of the path.
    pub stages: Vec<Stage>,
    /// The speculative lookups, in the order of the path.
    pub lookups: Vec<Lookup>,
    /// Or what keeps it from being scheduled: then packets commit by the nodes of the plain program, with the
    /// records that the stages found.
    pub commit: Result<Commit, Obstacle>,
    /// The same for packets that hit in every lookup and run the actions that the plan expects; none if it expects
    /// none.
    pub expected: Option<Commit>,
}

/// What a packet does from one cut to the next, before its lookups there.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stage {
    /// Contiguous bytes that a packet must have; others take a side exit.
    pub bytes: u32,
    /// In order: the first whose condition holds is taken.
    pub exits: Vec<SideExit>,
    /// Values of registers, which are read once: commit takes those that the stage has read.
    pub reads: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SideExit {
    pub when: Value,
    /// The node that decides.
    pub node: NodeId,
    /// The outcome, if it is a bulk drop. All others run the plain program from its beginning.
    pub end: Option<BulkDrop>,
}

/// All packets are counted and dropped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BulkDrop {
    pub counted: Vec<CounterIndex>,
    pub reason: String,
}

/// An index of a counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CounterIndex {
    pub counter: CounterId,
    pub index: u64,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// Position on the path.
    pub place: usize,
    pub node: NodeId,
    pub table: TableId,
    /// 64 bits each but the last, least significant first.
    pub key: Vec<Value>,
    /// The stage at whose end it is made for a group; none if a stage makes it at once, packet by packet.
    pub stage: Option<usize>,
}

/// A lookup that commit makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LateLookup {
    pub node: NodeId,
    pub table: TableId,
    /// As in [`Lookup`].
    pub key: Vec<Value>,
    /// The packets that make it. Others find nothing.
    pub when: Value,
}

/// What a packet does after the last lookup, in order of arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// A side exit: the packet runs the plain program from its beginning. Others are among the ends.
    pub exits: Value,
    /// Lookups that no stage makes, in the order of the graph. They do not depend on effects.
    pub lookups: Vec<LateLookup>,
    /// In order, all after the exits. They lie between the ends of packets: each end is that of the packets whose
    /// effects are before it, and the last one that of all that are left.
    pub effects: Vec<Effect>,
    /// Misses of the only lookup, if all they do is to be counted and dropped while the table has its original
    /// default action.
    pub missed: Option<BulkDrop>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Effect {
    pub when: Value,
    pub node: NodeId,
    pub does: Does,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Does {
    /// The packet begins so many bytes earlier, in its headroom, or later if negative: headers before its first byte, or
    /// none of those that were there. Stores that follow write bits of the packet as it is sent.
    Move { bytes: i32 },
    /// Writes bits of the packet from this one on, which begin with a field. Nothing reads them after it.
    Store { bit: u32, value: Value, field: FieldRef },
    /// Counts the packet; an index out of range has no effect.
    Count { counter: CounterId, index: Value },
    /// Counts the packet at the record that a lookup found, or at the default action's.
    CountDirect { counter: CounterId, lookup: NodeId },
    /// The lookup, which was counted for all packets, is not made.
    NotMade { lookup: NodeId },
    /// The lookup missed.
    Miss { lookup: NodeId },
    /// The entry that the lookup found was hit: restarts its idle timer.
    Touch { lookup: NodeId },
    /// The same by the program, perhaps with another profile of timeouts.
    Restart { lookup: NodeId, expiry: Option<Value> },
    /// Commit makes one of its lookups; such lookups are counted one by one.
    Made { lookup: NodeId },
    /// Sends values to the control plane.
    Digest { digest: DigestId, values: Vec<Value> },
    /// Writes an element of a register; an index out of range has no effect.
    Write { register: RegisterId, index: Value, value: Value },
    /// Ends the packet here: a side exit, before anything has happened to it.
    Leave,
    /// Ends the packet: effects behind it happen to others.
    Drop { reason: String },
    /// The same: the packet leaves by a port of at most 16 bits.
    Send { port: Value },
}

/// Why a path has no schedule, or its commit phase has none, and the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    pub node: NodeId,
    pub does: Cow<'static, str>,
}

impl Schedule {
    /// Whether packets may take a side exit at commit, or commit by the nodes of the plain program.
    pub fn may_exit(&self) -> bool {
        let leaves = |effect: &Effect| effect.does == Does::Leave;
        let is_taken =
            |commit: &Commit| self.values.holds(commit.exits) != Some(false) || commit.effects.iter().any(leaves);
        self.commit.as_ref().map_or(true, is_taken)
    }
}

impl Effect {
    /// The values that it needs.
    pub fn operands(&self) -> Vec<Value> {
        self.does.operands().into_iter().chain([self.when]).collect()
    }
}

impl Does {
    /// Whether packets are at their end.
    pub fn is_end(&self) -> bool {
        matches!(self, Does::Leave | Does::Drop { .. } | Does::Send { .. })
    }

    /// Whether it changes the bytes that are sent.
    pub fn is_change(&self) -> bool {
        matches!(self, Does::Move { .. } | Does::Store { .. })
    }

    pub fn operands(&self) -> Vec<Value> {
        match self {
            Does::Store { value: of, .. } | Does::Count { index: of, .. } | Does::Send { port: of } => vec![*of],
            Does::Restart { expiry, .. } => expiry.iter().copied().collect(),
            Does::Digest { values, .. } => values.clone(),
            Does::Write { index, value, .. } => vec![*index, *value],
            Does::Move { .. }
            | Does::Leave
            | Does::CountDirect { .. }
            | Does::NotMade { .. }
            | Does::Miss { .. }
            | Does::Touch { .. }
            | Does::Made { .. }
            | Does::Drop { .. } => Vec::new(),
        }
    }

    /// The same with other values.
    pub fn with(&self, mut to: impl FnMut(Value) -> Value) -> Does {
        match self {
            Does::Store { bit, value, field } => Does::Store { bit: *bit, value: to(*value), field: *field },
            Does::Count { counter, index } => Does::Count { counter: *counter, index: to(*index) },
            Does::Send { port } => Does::Send { port: to(*port) },
            Does::Restart { lookup, expiry } => Does::Restart { lookup: *lookup, expiry: expiry.map(to) },
            Does::Digest { digest, values } => {
                Does::Digest { digest: *digest, values: values.iter().map(|value| to(*value)).collect() }
            }
            Does::Write { register, index, value } => {
                Does::Write { register: *register, index: to(*index), value: to(*value) }
            }
            same @ (Does::Move { .. }
            | Does::Leave
            | Does::CountDirect { .. }
            | Does::NotMade { .. }
            | Does::Miss { .. }
            | Does::Touch { .. }
            | Does::Made { .. }
            | Does::Drop { .. }) => same.clone(),
        }
    }
}
