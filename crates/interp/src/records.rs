//! Entries of tables by record number, as native code has them: 0 is the default action's record. For engines that are
//! compared with the interpreter packet by packet.

use crate::storage::number;
use crate::switch::Switch;
use control::plane::CounterValue;
use hlir::value::{Bits, Value};
use hlir::{CounterId, RegisterId, TableId};

impl Switch<'_> {
    /// The record of the entry that a key finds, a number per field in the order of the table; 0 if there is none.
    pub fn record(&self, table: TableId, key: &[Bits]) -> u64 {
        self.state.table(table).find(key).map_or(0, |entry| entry as u64 + 1)
    }

    /// The action of a record and its data. None if the action is a profile's.
    pub fn record_action(&self, table: TableId, record: u64) -> Option<(u32, Vec<Value>)> {
        let state = self.state.table(table);
        let invocation = match record.checked_sub(1) {
            None => state.default.clone(),
            Some(entry) => self.state.resolve(table, entry as usize, Vec::new)?,
        };
        Some((invocation.action, invocation.arguments.clone()))
    }

    /// What a direct counter of a table has counted at a record.
    pub fn direct_count(&mut self, counter: CounterId, table: TableId, record: u64) -> CounterValue {
        let place = self.state.direct_counters[number(table)].iter().position(|direct| *direct == counter);
        let direct = self.state.table_mut(table).direct_mut(record);
        place.zip(direct).map_or(CounterValue::default(), |(place, direct)| direct.counters[place])
    }

    /// The indices of a counter that have counted, with what they counted.
    pub fn counted(&self, counter: CounterId) -> Vec<(u64, CounterValue)> {
        let counted = self.state.counters[number(counter)].iter();
        counted.filter(|(_, value)| **value != CounterValue::default()).map(|(index, value)| (*index, *value)).collect()
    }

    /// An element of a register as the program reads it.
    pub fn register_element(&self, register: RegisterId, index: u64) -> Value {
        let declared = &self.program.registers[register];
        let stored = self.state.registers[number(register)].get(&index).filter(|_| index < declared.size);
        stored.map_or(Value::word(0, declared.width), |bits| Value { width: declared.width, bits: bits.clone() })
    }
}
