//! Which elements of the state there are to compare.

use crate::Switch;
use control::plane::EntryKey;
use hlir::{CounterId, RegisterId, TableId};

impl Switch<'_> {
    /// Elements of a counter that are not as they were at the start, in no order.
    pub fn touched_counters(&self, counter: CounterId) -> impl Iterator<Item = u64> {
        self.state.counter_elements(counter)
    }

    /// Elements of a register that were written, in no order.
    pub fn touched_registers(&self, register: RegisterId) -> impl Iterator<Item = u64> {
        self.state.register_elements(register)
    }

    /// The keys of a table's entries.
    pub fn entry_keys(&self, table: TableId) -> impl Iterator<Item = EntryKey> {
        let state = self.state.table(table);
        let keys = state.entry_ids().into_iter().map(|id| state.key_of(id));
        keys.map(move |(matches, priority)| EntryKey { table, matches, priority })
    }
}
