//! Entries of tables by record number, as native code has them: 0 is the default action's record. For engines that are
//! compared with the interpreter packet by packet.

use crate::storage::number;
use crate::switch::Switch;
use crate::tables::Target;
use control::plane::CounterValue;
use hlir::value::{Bits, Value};
use hlir::{CounterId, RegisterId, TableId};

impl Switch<'_> {
    /// The record of the entry that a key finds, a number per field in the order of the table; 0 if there is none.
    pub fn record(&self, table: TableId, key: &[Bits]) -> u64 {
        self.state.table(table).find(key).map_or(0, |entry| entry as u64 + 1)
    }

    /// The action of a record and its data; of one that leads to a group, those of the member that the hash chooses. None if
    /// there is no such member, or no hash.
    pub fn record_action(&self, table: TableId, record: u64, hash: Option<u64>) -> Option<(u32, Vec<Value>)> {
        let invocation = match record.checked_sub(1) {
            None => self.state.table(table).default.clone(),
            Some(entry) => {
                let entry = entry as usize;
                let leads_to_group =
                    matches!(self.state.table(table).entry(entry).target, Target::Group(_) | Target::Set(_));
                let hash = if leads_to_group { hash? } else { 0 };
                self.state.resolve(table, entry, |_, choices| (hash % choices.len() as u64) as usize)?
            }
        };
        Some((invocation.action, invocation.arguments.clone()))
    }

    /// The indices at which a counter has counted, and what; those of a direct counter are record numbers.
    pub fn counted(&mut self, counter: CounterId) -> Vec<(u64, CounterValue)> {
        let mut counted: Vec<(u64, CounterValue)> = match self.program.counters[counter].table {
            None => self.state.counters[number(counter)].iter().map(|(index, value)| (*index, *value)).collect(),
            Some(table) => {
                let place = self.state.direct_counters[number(table)].iter().position(|direct| *direct == counter);
                let place = place.expect("a table knows its direct counters");
                let entries = self.state.table(table).entry_ids();
                let records = std::iter::once(0).chain(entries.into_iter().map(|entry| entry as u64 + 1));
                let table = self.state.table_mut(table);
                records.filter_map(|record| Some((record, table.direct_mut(record)?.counters[place]))).collect()
            }
        };
        counted.retain(|(_, value)| *value != CounterValue::default());
        counted.sort_by_key(|(index, _)| *index);
        counted
    }

    /// An element of a register; 0 beyond its end.
    pub fn element(&self, register: RegisterId, index: u64) -> Value {
        let width = self.program.registers[register].width;
        self.state.register(register, index).unwrap_or(Value::word(0, width))
    }
}
