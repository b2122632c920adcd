//! Whether a join pays: by the model, and by the inequality of BACUS beside it.

use crate::inputs::Access;
use crate::model::structures::shape;
use crate::plan::planned_cycles;
use crate::rewrite::join::{Candidate, is_clear, with_joint_contents};
use crate::{Inputs, Selection, planners};
use hlir::plan::Structure;
use hlir::{Join, NodeKind, Program, TableId};
use std::collections::BTreeSet;

/// The numbers behind a decision.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Profit {
    /// Expected joint entries, and whether those of both tables are known.
    pub entries: u64,
    pub is_known: bool,
    /// Predicted cycles per packet with both lookups, and with the joint table.
    pub separate: f64,
    pub joined: f64,
    /// Bytes of all tables, without and with the join.
    pub working_set: u64,
    pub joined_working_set: u64,
    /// Effective latency of a line in each.
    pub latency: f64,
    pub joined_latency: f64,
}

impl Profit {
    /// Cycles of indexing a table beside its memory access, as BACUS measured them.
    pub const DELTA: f64 = 42.0;

    /// By the model.
    pub fn pays(&self) -> bool {
        is_clear(self.separate, self.joined)
    }

    /// `L_eff(WSS_new, B) <= 2 L_eff(WSS_cur, B) + Δ`.
    pub fn pays_by_bacus(&self) -> bool {
        self.joined_latency <= 2.0 * self.latency + Self::DELTA
    }
}

/// Compares a program, which takes `separate` cycles per packet, with itself after a join.
pub fn profit(before: &Program, candidate: &Candidate, inputs: &Inputs, separate: f64) -> Profit {
    let after = &candidate.joined(before);
    let inputs = &with_joint_contents(after, inputs);
    let known = [candidate.first, candidate.second].map(|table| inputs.occupancy.of(&before.tables[table]).is_known);
    let [working_set, joined_working_set] = [before, after].map(|program| table_bytes(program, inputs));
    let latency = |bytes: u64| inputs.machine.line_cycles(Access::Load, bytes, inputs.machine.parallelism);
    Profit {
        entries: candidate.entries,
        is_known: known == [true, true],
        separate,
        joined: planned_cycles(after, inputs, &planners(&Selection::All)),
        working_set,
        joined_working_set,
        latency: latency(working_set),
        joined_latency: latency(joined_working_set),
    }
}

/// Bytes of all tables that packets look up, in the structures that their keys suggest. The sources of a join
/// are its slow path, but for the first one of a value join.
fn table_bytes(program: &Program, inputs: &Inputs) -> u64 {
    let is_slow = |join: &Join, table: TableId| join.first == table && join.place.is_none() || join.second == table;
    let is_source = |table: TableId| program.joins.iter().any(|join| is_slow(join, table));
    let lookups = program.nodes.values().filter_map(|node| match node.kind {
        NodeKind::Apply { table, .. } => Some(table),
        NodeKind::State { .. }
        | NodeKind::Block { .. }
        | NodeKind::Branch { .. }
        | NodeKind::Deparse { .. }
        | NodeKind::Buffer { .. } => None,
    });
    let tables: BTreeSet<u32> =
        lookups.filter(|table| !is_source(*table)).map(|table| table.into_raw().into_u32()).collect();
    let bytes = |number: u32| {
        let table = TableId::from_raw(la_arena::RawIdx::from_u32(number));
        let content = inputs.occupancy.of(&program.tables[table]);
        let structure = Structure::of_keys(&program.held_keys(table));
        shape(program, table, structure, &content, inputs.machine.vector_bytes()).bytes()
    };
    tables.into_iter().map(bytes).sum()
}
