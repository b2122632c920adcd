//! A data plane that keeps what is written and carries no packets: files of entries are checked by it, and it takes the Writes of a config that
//! is not committed yet.

use crate::plane::{CounterValue, Element, EntryKey, Frame, Outcome, TableCounts};
use crate::{DataPlane, Inverse, Refusal, RefusalKind, Store, Update};
use hlir::{CounterId, Program, RegisterId, TableId};
use num_bigint::BigUint;
use std::collections::HashMap;
use std::sync::Arc;

/// See the module.
pub struct Rehearsal {
    store: Store,
    counters: HashMap<(CounterId, Element), CounterValue>,
    registers: HashMap<(RegisterId, u64), BigUint>,
}

impl Rehearsal {
    pub fn new(program: Arc<Program>) -> Rehearsal {
        Rehearsal { store: Store::new(program), counters: HashMap::new(), registers: HashMap::new() }
    }

    /// The element by which its values are found: an entry has its matches in several forms, of which the store gives one.
    fn named(&self, element: &Element) -> Element {
        match element {
            Element::Entry(key) => match self.store.find(key) {
                Some(stored) => Element::Entry(EntryKey {
                    table: key.table,
                    matches: stored.entry.matches,
                    priority: stored.entry.priority,
                }),
                None => element.clone(),
            },
            Element::Index(_) | Element::Default(_) => element.clone(),
        }
    }
}

impl DataPlane for Rehearsal {
    fn name(&self) -> &str {
        "rehearsal"
    }

    fn store(&self) -> &Store {
        &self.store
    }

    fn store_mut(&mut self) -> &mut Store {
        &mut self.store
    }

    fn apply(&mut self, _: &Update) -> Result<(), Refusal> {
        Ok(())
    }

    /// No packet has inserted an entry.
    fn write_one(&mut self, update: &Update) -> Result<Option<Inverse>, Refusal> {
        if let Update::Delete(key) = update {
            let element = self.named(&Element::Entry(key.clone()));
            self.counters.retain(|(_, of), _| *of != element);
        }
        let missing = || Refusal::new(RefusalKind::Missing, "there is no such entry");
        self.store.apply(update)?.ok_or_else(missing).map(Some)
    }

    fn clear_inserted(&mut self, _: TableId) -> Result<(), Refusal> {
        Ok(())
    }

    fn reset(&mut self) {
        *self = Rehearsal::new(self.store.program().clone());
    }

    fn process(&mut self, _: &[Frame]) -> Result<Outcome, Refusal> {
        Err(Refusal::wrong("it carries no packets"))
    }

    fn set_clock(&mut self, _: u64) {}

    fn set_seed(&mut self, _: u64) {}

    fn table_counts(&self, _: TableId) -> TableCounts {
        TableCounts::default()
    }

    fn take_idle(&mut self) -> Vec<EntryKey> {
        Vec::new()
    }

    fn read_counter(&mut self, counter: CounterId, element: &Element) -> Result<CounterValue, Refusal> {
        self.store.check_counter(counter, element)?;
        Ok(self.counters.get(&(counter, self.named(element))).copied().unwrap_or_default())
    }

    fn write_counter(&mut self, counter: CounterId, element: &Element, value: CounterValue) -> Result<(), Refusal> {
        self.store.check_counter(counter, element)?;
        self.counters.insert((counter, self.named(element)), value);
        Ok(())
    }

    fn read_register(&mut self, register: RegisterId, index: u64) -> Result<BigUint, Refusal> {
        self.store.check_register(register, index, None)?;
        let initial = || self.store.program().registers[register].initial.clone();
        Ok(self.registers.get(&(register, index)).cloned().unwrap_or_else(initial))
    }

    fn write_register(&mut self, register: RegisterId, index: u64, value: &BigUint) -> Result<(), Refusal> {
        self.store.check_register(register, index, Some(value))?;
        self.registers.insert((register, index), value.clone());
        Ok(())
    }

    fn drops(&self) -> Vec<u64> {
        vec![0; self.store.program().drop_reasons().len()]
    }
}
