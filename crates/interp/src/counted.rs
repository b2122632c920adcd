//! What packets do, counted: how many take each edge of the graph, and how many lookups hit.

use hlir::{NodeId, Program, TableId};
use std::collections::HashMap;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// Packets by (from, to); copies are on the edge to where they go on.
    edges: HashMap<(NodeId, NodeId), u64>,
    /// By table: lookups that hit, and that miss.
    lookups: Vec<(u64, u64)>,
}

impl Counted {
    pub fn new(program: &Program) -> Counted {
        Counted { edges: HashMap::new(), lookups: vec![(0, 0); program.tables.len()] }
    }

    pub(crate) fn edge(&mut self, from: NodeId, to: NodeId) {
        *self.edges.entry((from, to)).or_default() += 1;
    }

    pub(crate) fn lookup(&mut self, table: TableId, is_hit: bool) {
        let (hits, misses) = &mut self.lookups[table.into_raw().into_u32() as usize];
        *(if is_hit { hits } else { misses }) += 1;
    }

    /// Each edge that was taken, in no order.
    pub fn edges(&self) -> impl Iterator<Item = ((NodeId, NodeId), u64)> {
        self.edges.iter().map(|(edge, packets)| (*edge, *packets))
    }

    /// Lookups of a table that hit, and that miss.
    pub fn lookups(&self, table: TableId) -> (u64, u64) {
        self.lookups.get(table.into_raw().into_u32() as usize).copied().unwrap_or_default()
    }
}
