//! Table joins: recipes of joint tables, and what makes them legal.
//!
//! A joint table precedes two tables that are looked up one after the other, and does the work of
//! both with one lookup. A hit runs a hidden action: the first table's, what is between, the second
//! table's. On a miss the packet goes on at the first table, as if there were no joint table. So an entry may
//! be missing at any time, and only a stale one would be wrong.
//!
//! Where the first table has keys of other kinds than exact, a missing entry would let a shorter prefix or a lower
//! priority match. There the joint table is *complete*: each entry of the first table has one, if only with the
//! hidden action `slow`, or the joint table is empty.
//!
//! Where the first table's entry decides about all keys of the second, there are also products of entries of the
//! first with the second's default action, for packets that find no entry in the second.
//!
//! A joint table may be a source of another one.
//!
//! A *value join* has no product of entries: its table has one entry of the second table at each *place*, and the
//! first table's record has the place of the key that it gives ([`place`](derive_places)).

mod accesses;
mod closed;
mod derive;
mod follow;
mod place;

pub use accesses::{Accesses, independent};
pub use closed::evaluate;
pub use derive::{Derived, derive, derive_of, node_of, refusal, slow_path, target};
pub use follow::Known;
pub use place::{Placed, between, derive_places, set_place};

use crate::entry::EntryAction;
use crate::{CounterId, Expression, MatchKind, Program, RegisterId, Table, TableId, VariableId};
use std::sync::Arc;

/// How the entries of a joint table are made. For each pair of entries that agree in their common keys there
/// may be one: its key is the first entry's key and the rest of the second's, its action data the data of
/// both. The data of a source with direct counters or meters are followed by its entry's counter index.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Join {
    /// The joint table. Its keys are those of `first`, then the second table's that are its own.
    pub table: TableId,
    pub first: TableId,
    pub second: TableId,
    /// Most entries: past that, the joint table is left empty.
    pub limit: u64,
    /// For each key of the second table.
    pub keys: Vec<SecondKey>,
    /// Actions of the first table whose entries have a part in joint entries.
    pub firsts: Vec<FirstAction>,
    /// Likewise of the second.
    pub seconds: Vec<u32>,
    /// Actions of the second table that may be its default, where entries of the first are in joint entries with
    /// that.
    pub missed: Vec<u32>,
    pub objects: Objects,
    /// Of a value join: the number of the place that the first table's record has, the only key of the joint table; 0
    /// for none.
    pub place: Option<VariableId>,
}

/// Objects of the program that hidden actions of a joint table use on behalf of its sources.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Objects {
    /// Counts packets that miss the second table, if any can.
    pub misses: Option<CounterId>,
    /// The times of the last hits of each source's entries, by their counter index, where these have idle
    /// timeouts.
    pub timers: [Option<RegisterId>; 2],
}

/// Where the value of a key of the second table comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SecondKey {
    /// It is this key of the joint table.
    Joint(u32),
    /// The first table's entry determines it.
    Determined,
}

/// An action of the first table, and the values of the second table's determined keys behind it, in order:
/// expressions over the action's parameters alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FirstAction {
    pub action: u32,
    pub determined: Vec<Expression>,
}

impl Join {
    /// What a joint table does on a miss, and in entries that only keep others from matching: nothing. The hidden
    /// actions follow.
    pub const SLOW: u32 = 0;

    /// Bits of an entry's counter index in hidden action data.
    pub const INDEX_BITS: u32 = 32;

    /// Hidden actions of a joint table at most: each join of a joint table multiplies them.
    pub const MOST_ACTIONS: usize = 1024;

    /// Bits of a place at most: those of an array that is indexed by it.
    pub const MOST_PLACE_BITS: u32 = 20;

    /// Bits of the time of a hit.
    pub const TIME_BITS: u32 = 64;

    /// Times of last hits of a source table's entries, for a joint table of so many entries. An entry whose counter index is a
    /// higher number has no part in joint entries: that many entries do not fit anyway.
    pub fn times(source: &Table, limit: u64) -> u64 {
        let entries = source.capacity().map_or(limit, |capacity| capacity.min(limit));
        entries.saturating_mul(2).checked_next_power_of_two().unwrap_or(u64::MAX).max(1024)
    }

    /// The hidden action that runs `firsts[first]` and then `seconds[second]`.
    pub fn action(&self, first: usize, second: usize) -> u32 {
        1 + (first * (self.seconds.len() + self.missed.len()) + second) as u32
    }

    /// The hidden action that runs `firsts[first]` and then `missed[missed]`.
    pub fn missed_action(&self, first: usize, missed: usize) -> u32 {
        self.action(first, self.seconds.len() + missed)
    }

    /// The hidden action of a value join that runs `seconds[second]`; that of `missed[missed]` is behind all of these.
    pub fn placed_action(second: usize) -> u32 {
        1 + second as u32
    }

    /// The hidden action of a value join that runs `missed[missed]`.
    pub fn placed_miss(&self, missed: usize) -> u32 {
        Join::placed_action(self.seconds.len() + missed)
    }

    /// Whether each entry of the first table has one of the joint table: where not all keys are exact.
    pub fn is_complete(&self, program: &Program) -> bool {
        program.tables[self.table].keys.iter().any(|key| key.kind != MatchKind::Exact)
    }
}

impl Program {
    /// The recipe of a joint table.
    pub fn join_of(&self, table: TableId) -> Option<&Join> {
        self.joins.iter().find(|join| join.table == table)
    }

    /// Counts hits of joint tables that represent a miss in `table`.
    pub fn joint_misses(&self, table: TableId) -> Option<CounterId> {
        self.joins.iter().find(|join| join.second == table)?.objects.misses
    }

    /// The times of the last hits of a table's entries that joint tables represent.
    pub fn joint_timers(&self, table: TableId) -> Option<RegisterId> {
        let of_join = |join: &Join| {
            let sides = [join.first, join.second].into_iter().zip(join.objects.timers);
            sides.filter(|(source, _)| *source == table).find_map(|(_, register)| register)
        };
        self.joins.iter().find_map(of_join)
    }

    /// The value join whose places the records of a table have.
    pub fn places_in(&self, table: TableId) -> Option<&Join> {
        self.joins.iter().find(|join| join.first == table && join.place.is_some())
    }

    /// The program as controllers know it: no action has a place among its data.
    pub fn without_places(&self) -> Program {
        let mut program = self.clone();
        for join in self.joins.iter().filter(|join| join.place.is_some()) {
            let table = &mut program.tables[join.first];
            let is_placed = |action: u32| join.firsts.iter().any(|first| first.action == action);
            let calls = Arc::make_mut(&mut table.entries).iter_mut().filter_map(|entry| match &mut entry.action {
                EntryAction::Call(call) => Some(call),
                EntryAction::Member(_) | EntryAction::Group(_) | EntryAction::Set(_) => None,
            });
            for call in calls.chain([&mut table.default]).filter(|call| is_placed(call.action)) {
                call.arguments.pop();
            }
            for first in &join.firsts {
                table.actions[first.action as usize].parameters.pop();
            }
        }
        program
    }

    /// The joint tables a hit in which represents a hit in `table`, or one that [`Program::joint_misses`] counts for a
    /// miss.
    pub fn joins_over(&self, table: TableId) -> Vec<TableId> {
        let mut over = vec![table];
        for join in &self.joins {
            // The first table of a value join is looked up as always.
            let is_over_first = join.place.is_none() && over.contains(&join.first);
            if is_over_first || over.contains(&join.second) {
                over.push(join.table);
            }
        }
        over.split_off(1)
    }
}
