//! The schedule of a hot path: what is computed, stored and counted in which stage, in static single assignment
//! form. It lies between a plan and the C that carries it out.
//!
//! The path is run symbolically, once: each stage, the keys of its lookups and the commit phase are results of
//! one list of values. A stage evaluates what its results need, so the speculative, the vector and the committed
//! form are slices of the same values. Whatever the path cannot do in this form is an [`Obstacle`].

mod combine;
mod equal;
mod exits;
mod expected;
mod expression;
pub mod interpret;
mod lanes;
mod lookup;
mod region;
mod run;
mod select;
mod state;
mod statement;
mod sums;
pub mod text;
mod value;
mod values;
pub mod verify;

pub use hlir::vector::{BulkDrop, CounterIndex};
pub use lanes::{Lanes, LanesExits};
pub use value::{Found, Operation, Sum, Value};
pub use values::Values;

use hlir::{CounterId, FieldRef, HeaderId, NodeId, TableId};
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
    pub commit: Commit,
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

/// What a packet does after the last lookup, in order of arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Commit {
    /// A side exit: the packet runs the plain program from its beginning.
    pub exits: Value,
    /// In order, all after the exits.
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
    /// Ends the packet.
    Drop { reason: String },
    /// Ends the packet: it leaves by a port of at most 16 bits.
    Send { port: Value },
}

/// Why a path has no schedule, and the node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Obstacle {
    pub node: NodeId,
    pub does: &'static str,
}

impl Effect {
    /// The values that it needs.
    pub fn operands(&self) -> Vec<Value> {
        let own = match &self.does {
            Does::Store { value, .. } => Some(*value),
            Does::Count { index, .. } => Some(*index),
            Does::Send { port } => Some(*port),
            Does::CountDirect { .. }
            | Does::NotMade { .. }
            | Does::Miss { .. }
            | Does::Touch { .. }
            | Does::Drop { .. } => None,
        };
        own.into_iter().chain([self.when]).collect()
    }
}
