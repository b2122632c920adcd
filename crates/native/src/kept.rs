//! What counters and registers have, for a pipeline that has other elements for it: another number of them, or another table whose entries have them.
//!
//! Elements of equal objects stay where they are, and workers go on with them. Those of other counters are read when all workers have changed over, and added
//! to what was counted here meanwhile. Those of other registers are written before, so that the first packet finds them, and again where packets have
//! written them since: the new pipeline's have the last word.

use super::exchange::Generation;
use super::{NativeEngine, compared, translate};
use control::Refusal;
use control::plane::{Element, EntryKey};
use hlir::{Entry, RegisterId, TableId};
use runtime::state::Register;
use runtime::tables::Table;
use runtime::{Pipeline, WorkerPorts, abi};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Values with the numbers of the new pipeline's counters.
#[derive(Default)]
pub(super) struct Counted {
    counters: Vec<(usize, Element, abi::CounterElement)>,
    /// Counters of the old pipeline and their elements from which these are.
    pub from: Vec<(usize, u64)>,
}

/// Values by the numbers of the new pipeline's registers, and by index.
pub(super) type Registered = BTreeMap<(usize, u64), Vec<u64>>;

/// The pipeline that goes: its program and what was written to it, its tables, and the numbers of the new one's tables that do not take over an equal one.
pub(super) struct Leaving<'a> {
    pub generation: &'a Generation,
    pub tables: &'a [Arc<Table>],
    pub fresh: &'a [usize],
}

impl<L: WorkerPorts> NativeEngine<'_, L> {
    /// The registers that packets read or write, in the order of the program.
    pub fn registers(&mut self) -> Vec<(RegisterId, Arc<Register>)> {
        let of = |engine: &Self, id| {
            let number = engine.numbers.register(id)?;
            engine.switch.registers().get(number).cloned()
        };
        let program = self.program.clone();
        let found = program.registers.iter().filter_map(|(id, _)| {
            let beside = |engine: &mut Self| engine.beside(|engine| of(engine, id)).flatten();
            Some((id, of(self, id).or_else(|| beside(self))?))
        });
        found.collect()
    }

    /// The values of counters that the new pipeline has elsewhere.
    pub(super) fn leaving_counters(&self, leaving: &Leaving<'_>) -> Counted {
        let mut values = Counted::default();
        let (program, _, pipeline, _) = leaving.generation;
        let (was, now) = (pipeline.description(), self.pipeline.description());
        for declared in program.counters.values() {
            let [from, to] = [was, now].map(|of| of.counters.iter().position(|counter| counter.name == declared.name));
            let Some((from, to)) = from.zip(to) else { continue };
            let has =
                |index: u64| self.switch.counter(from, index).filter(|value| value.packets > 0 || value.bytes > 0);
            let (old, new) = (was.counters[from].size, now.counters[to].size);
            let elements = match declared.table {
                Some(table) if new == 0 && old == 0 => self.moved_elements(leaving, table),
                Some(table) if old != new => self.folded_elements(leaving, table, old == 0),
                None if old != new => (0..old.min(new)).map(|at| (at, Element::Index(at))).collect(),
                Some(_) | None => Vec::new(),
            };
            for (number, element, value) in
                elements.into_iter().filter_map(|(at, element)| Some((at, element, has(at)?)))
            {
                values.counters.push((to, element, value));
                values.from.push((from, number));
            }
        }
        values
    }

    /// The values of registers that the new pipeline has elsewhere, but for those with which registers begin.
    pub(super) fn leaving_registers(&self, (program, _, pipeline, _): &Generation) -> Registered {
        let mut values = Registered::new();
        let (was, now) = (pipeline.description(), self.pipeline.description());
        for declared in program.registers.values() {
            let [from, to] = [was, now].map(|of| of.registers.iter().position(|one| one.name == declared.name));
            let Some((from, to)) = from.zip(to) else { continue };
            let (old, new) = (&was.registers[from], &now.registers[to]);
            if old == new {
                continue;
            }
            let initial = translate::limbs(&declared.initial, old.width);
            let read = |at: u64| self.switch.registers()[from].read(at).filter(|value| *value != initial);
            let fits = |value: &Vec<u64>| translate::number(value).bits() <= u64::from(new.width);
            let found = (0..old.size.min(new.size)).filter_map(|at| Some(((to, at), read(at).filter(fits)?)));
            values.extend(found);
        }
        values
    }

    /// The elements of a table that has no lookups in one of the two pipelines. There its counters have an index for misses and one for each entry
    /// that is compared in code.
    fn folded_elements(&self, leaving: &Leaving<'_>, table: TableId, had_lookups: bool) -> Vec<(u64, Element)> {
        let (program, compiled, pipeline, _) = leaving.generation;
        let key = |entry: &Entry| EntryKey { table, matches: entry.matches.clone(), priority: entry.priority };
        let mut elements = vec![(hlir::DEFAULT_INDEX, Element::Default(table))];
        if had_lookups {
            let name = &program.tables[table].name;
            let of = pipeline.description().tables.iter().position(|table| table.name == *name);
            let Some(old) = of.map(|number| &leaving.tables[number]) else { return elements };
            let element = |entry: &Entry| {
                let matches = translate::matches(old.description(), &entry.matches, entry.priority).ok()?;
                old.find(&matches).ok().map(|found| u64::from(found.counter_index))
            };
            let entries = (1..).zip(compared(&self.compiled, table));
            elements.extend(entries.filter_map(|(at, entry)| Some((element(entry)?, Element::Index(at)))));
        } else {
            elements.extend((1..).zip(compared(compiled, table)).map(|(at, entry)| (at, Element::Entry(key(entry)))));
        }
        elements
    }

    /// The elements of a table's entries and of its default action, where the new pipeline has them elsewhere: their numbers, and what they are there.
    fn moved_elements(&self, leaving: &Leaving<'_>, table: TableId) -> Vec<(u64, Element)> {
        let (program, _, pipeline, store) = leaving.generation;
        let store = store.as_ref().unwrap_or(&self.store);
        let name = &program.tables[table].name;
        let place = |of: &Pipeline| of.description().tables.iter().position(|table| table.name == *name);
        let Some((from, to)) = place(pipeline).zip(place(&self.pipeline)) else { return Vec::new() };
        let found = self.program.tables.iter().find(|(_, table)| table.name == *name);
        let Some((new, _)) = found.filter(|_| leaving.fresh.contains(&to)) else { return Vec::new() };
        let old = &leaving.tables[from];
        let element = |stored: control::store::Stored| {
            let (matches, priority) = (stored.entry.matches, stored.entry.priority);
            let found = old.find(&translate::matches(old.description(), &matches, priority).ok()?).ok()?;
            let key = store.key_in(&self.program, EntryKey { table, matches, priority })?;
            Some((u64::from(found.counter_index), Element::Entry(key)))
        };
        let entries = store.entries(table).filter_map(element);
        entries.chain([(hlir::DEFAULT_INDEX, Element::Default(new))]).collect()
    }

    /// Adds the values to what the elements have since the workers changed over.
    pub(super) fn add_counters(&self, values: Counted) {
        for (counter, element, value) in values.counters {
            let Ok(index) = self.element_index(&element) else { continue };
            let Some(now) = self.switch.counter(counter, index) else { continue };
            let sum = abi::CounterElement { packets: now.packets + value.packets, bytes: now.bytes + value.bytes };
            self.switch.set_counter(counter, index, sum);
        }
    }

    /// Writes the values to the registers of the pipeline that was prepared, or of the one that runs if none was.
    pub(super) fn write_registers(&self, values: &Registered) {
        for ((number, at), value) in values {
            self.switch.written_registers()[*number].write(*at, value);
        }
    }

    /// Writes what packets have written to registers of the old pipeline since these had the values before, where those of the new one have written nothing.
    pub(super) fn write_late_registers(&self, before: &Registered, values: Registered) {
        for ((number, at), value) in values {
            let register = &self.switch.registers()[number];
            let initial = || {
                let mut initial = register.description().initial.clone();
                initial.resize(value.len(), 0);
                initial
            };
            let began = before.get(&(number, at)).cloned().unwrap_or_else(initial);
            if began != value && register.read(at) == Some(began) {
                register.write(at, &value);
            }
        }
    }

    /// Gives the elements of meters their rates that the new pipeline does not take over with them.
    pub(super) fn write_moved_meters(&mut self, old: &Pipeline, fresh: &[usize]) -> Result<(), Refusal> {
        let described = &self.pipeline.description().meters;
        let stays = |name: &str| {
            let [here, there] = [described, &old.description().meters].map(|of| of.iter().find(|it| it.name == name));
            here.zip(there).is_some_and(|(here, there)| {
                let same = (here.size, here.bytes) == (there.size, there.bytes);
                same && (here.size != 0 || !fresh.contains(&(here.table as usize)))
            })
        };
        let moved: Vec<_> =
            self.store.meters().filter(|(meter, ..)| !stays(&self.program.meters[*meter].name)).collect();
        for (meter, element, rates) in moved {
            if described.iter().any(|it| it.name == self.program.meters[meter].name) {
                self.write_meter(meter, &element, Some(rates))?;
            }
        }
        Ok(())
    }
}
