//! What a table holds, in numbers, as a planner asks before it chooses a data structure; and which elements of the state there are to compare.

use crate::Switch;
use crate::pattern::Pattern;
use crate::tables::Target;
use control::plane::EntryKey;
use hlir::table::action_bit;
use hlir::{CounterId, MatchKind, RegisterId, TableId};
use std::collections::HashSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Content {
    pub entries: u64,
    /// Different actions with different data.
    pub records: u64,
    /// Different combinations of masks.
    pub masks: u64,
    /// Entries whose lpm key has a prefix longer than 24 bits.
    pub long_prefixes: u64,
    /// Actions that entries call: a set of their numbers in the table, as [`action_bit`] has them.
    pub actions: u64,
}

/// Prefixes up to here are found in the first array of DIR-24-8.
const SHORT_BITS: u32 = 24;

impl Switch<'_> {
    pub fn content(&self, table: TableId) -> Content {
        let keys = &self.program.tables[table].keys;
        let lpm = keys.iter().position(|key| key.kind == MatchKind::Lpm);
        let mut records = HashSet::new();
        let mut content = Content::default();
        let mut masks = HashSet::new();
        for entry in self.state.tables[table.into_raw().into_u32() as usize].stored() {
            content.entries += 1;
            records.insert(format!("{:?}", entry.target));
            if let Target::Call(call) = &entry.target {
                content.actions |= action_bit(call.action as usize);
            }
            masks.insert(entry.patterns().iter().map(mask).collect::<Vec<String>>());
            let prefix = lpm.map(|lpm| entry.patterns()[lpm].prefix_bits());
            content.long_prefixes += u64::from(prefix.is_some_and(|bits| bits > SHORT_BITS));
        }
        content.records = records.len() as u64;
        content.masks = masks.len() as u64;
        content
    }

    /// Elements of a counter that are not as they were at the start, in no order.
    pub fn touched_counters(&self, counter: CounterId) -> impl Iterator<Item = u64> {
        self.state.counter_elements(counter)
    }

    /// Elements of a register that were written, in no order.
    pub fn touched_registers(&self, register: RegisterId) -> impl Iterator<Item = u64> {
        self.state.register_cells(register)
    }

    /// The keys of a table's entries.
    pub fn entry_keys(&self, table: TableId) -> impl Iterator<Item = EntryKey> {
        let state = self.state.table(table);
        let keys = state.entry_ids().into_iter().map(|id| state.key_of(id));
        keys.map(move |(matches, priority)| EntryKey { table, matches, priority })
    }

    /// The prefixes of a table whose key is one of up to 32 bits: values, and how many of their bits count.
    pub fn prefixes(&self, table: TableId) -> impl Iterator<Item = (u32, u32)> {
        let stored = self.state.tables[table.into_raw().into_u32() as usize].stored();
        stored.filter_map(|entry| match entry.patterns() {
            [prefix @ Pattern::Masked { value, .. }] => Some((value.to_u64() as u32, prefix.prefix_bits())),
            _ => None,
        })
    }

    /// The keys of a table whose fields are all exact, and of at most 64 bits.
    pub fn keys(&self, table: TableId) -> impl Iterator<Item = impl Iterator<Item = u64>> {
        let stored = self.state.tables[table.into_raw().into_u32() as usize].stored();
        let field = |pattern: &Pattern| match pattern {
            Pattern::Masked { value, .. } => value.to_u64(),
            Pattern::Range { low, .. } => low.to_u64(),
        };
        stored.map(move |entry| entry.patterns().iter().map(field))
    }
}

fn mask(pattern: &Pattern) -> String {
    match pattern {
        Pattern::Masked { mask, .. } => format!("{mask:?}"),
        Pattern::Range { low, high } if low == high => "exact".to_string(),
        Pattern::Range { low, high } => format!("{low:?}..{high:?}"),
    }
}
