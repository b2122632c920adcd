//! What packets do, counted: how many take each edge of the graph, and how many lookups hit, and which entries.

use hlir::{NodeId, Program, TableId};
use std::collections::HashMap;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// Packets by (from, to); copies are on the edge to where they go on.
    edges: HashMap<(NodeId, NodeId), u64>,
    /// By table: lookups that hit, and that miss.
    lookups: Vec<(u64, u64)>,
    /// Hits by table and number of the entry.
    entries: HashMap<(TableId, usize), u64>,
}

impl Counted {
    pub fn new(program: &Program) -> Counted {
        Counted { lookups: vec![(0, 0); program.tables.len()], ..Counted::default() }
    }

    pub(crate) fn edge(&mut self, from: NodeId, to: NodeId) {
        *self.edges.entry((from, to)).or_default() += 1;
    }

    pub(crate) fn lookup(&mut self, table: TableId, hit: Option<usize>) {
        let (hits, misses) = &mut self.lookups[table.into_raw().into_u32() as usize];
        *(if hit.is_some() { hits } else { misses }) += 1;
        hit.into_iter().for_each(|entry| *self.entries.entry((table, entry)).or_default() += 1);
    }

    /// Hits of a table's entries by their numbers, in no order.
    pub(crate) fn hits(&self, table: TableId) -> impl Iterator<Item = (usize, u64)> {
        let of_table = self.entries.iter().filter(move |((of, _), _)| *of == table);
        of_table.map(|((_, entry), hits)| (*entry, *hits))
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
