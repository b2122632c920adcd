//! Puts another pipeline in the place of the one that runs, while packets flow.
//!
//! Its new tables are filled from the store before a packet comes to them. So what a controller has written outlives every choice of
//! structure, layout and pass. The store has no entries that packets inserted: these stay only in tables that are equal in both. Nor has it what counters and
//! registers have: see [`super::kept`].

use super::chunk::Chunk;
use super::kept::{Leaving, Registered};
use super::numbers::Numbers;
use super::{Behind, NativeEngine, table_refusal};
use control::join::Joins;
use control::plane::EntryKey;
use control::{Refusal, Store};
use hlir::entry::EntryAction;
use hlir::{Program, TableId};
use runtime::abi::CounterElement;
use runtime::{Counts, Object, Pipeline, SwitchError, Table, WorkerPorts};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// What becomes of what a controller has written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    Forgotten,
    /// It is written to the new pipeline as well, where objects have the same names.
    Kept,
}

impl<L: WorkerPorts> NativeEngine<'_, L> {
    /// Another compilation of the same program. `compiled` is the program as `pipeline` has it.
    pub fn exchange(&mut self, compiled: &Program, pipeline: Arc<Pipeline>) -> Result<(), Refusal> {
        self.replace((self.program.clone(), Arc::new(compiled.clone())), pipeline, Written::Kept)
    }

    /// Has what was written to another switch with this program, in place of all that this one has. No packet has come yet.
    ///
    /// # Errors
    /// A table has less room than the other switch had, or the code is specialised for other contents.
    pub fn restore(&mut self, mut store: Store) -> Result<(), Refusal> {
        self.generalise()?;
        self.clear_joins();
        store.assume(&self.compiled.assumptions);
        self.store = store;
        let restored = self.write_all();
        self.fill_joins();
        restored?;
        self.check_assumptions()
    }

    /// Writes all that the store has.
    fn write_all(&mut self) -> Result<(), Refusal> {
        for (id, _) in self.program.tables.iter() {
            let Some(number) = self.table_number(id) else { continue };
            let reserved = self.switch.tables()[number].reserve(self.store.entry_count(id) as u64);
            reserved.map_err(|error| table_refusal(&self.program.tables[id].name, error))?;
        }
        let tables: Vec<usize> = (0..self.switch.tables().len()).collect();
        self.fill(&tables)?;
        let groups: Vec<u32> = self.store.multicast_groups().map(|(group, _)| group).collect();
        groups.into_iter().for_each(|group| self.write_multicast(group));
        let sessions: Vec<u32> = self.store.sessions().map(|(session, _)| session).collect();
        sessions.into_iter().for_each(|session| self.write_session(session));
        let meters: Vec<_> = self.store.meters().collect();
        for (meter, element, rates) in meters {
            // A meter that nothing uses is not in the pipeline.
            if self.has_meter(meter) {
                self.write_meter(meter, &element, Some(rates))?;
            }
        }
        Ok(())
    }

    /// Any other program, as its user wrote it and as `pipeline` has it.
    ///
    /// # Errors
    /// The running pipeline stays, with all that was written to it.
    pub fn replace(
        &mut self,
        programs: (Arc<Program>, Arc<Program>),
        pipeline: Arc<Pipeline>,
        written: Written,
    ) -> Result<(), Refusal> {
        self.generalise()?;
        self.replace_by(programs, pipeline, Behind::Goes(written))
    }

    pub(super) fn replace_by(
        &mut self,
        programs: (Arc<Program>, Arc<Program>),
        pipeline: Arc<Pipeline>,
        behind: Behind,
    ) -> Result<(), Refusal> {
        // The pipelines may have joint tables in common, made by other recipes. While these are empty, packets look up
        // the sources.
        self.clear_joins();
        // The times of hits in them go to the records of the sources, which the next pipeline may have as well.
        self.age();
        let joint_counts = self.all_joint_counts();
        let before = self.store.assumptions().to_vec();
        let replaced = self.replace_sources(programs, pipeline, behind);
        if replaced.is_err() {
            self.store.assume(&before);
        } else {
            self.joins = Joins::new(self.compiled.clone());
            match behind.written() {
                Written::Kept => self.keep_joint_counts(joint_counts),
                Written::Forgotten => {
                    self.earlier_counts.clear();
                    self.reported.clear();
                }
            }
        }
        self.fill_joins();
        replaced
    }

    /// The same, but for the entries of joint tables.
    fn replace_sources(
        &mut self,
        (program, compiled): (Arc<Program>, Arc<Program>),
        pipeline: Arc<Pipeline>,
        behind: Behind,
    ) -> Result<(), Refusal> {
        let written = behind.written();
        let refused = |error: SwitchError| Refusal::wrong(error.to_string());
        // A store may be large: that of the same program stays where it is.
        let mut other = match written {
            Written::Kept if Arc::ptr_eq(&program, &self.program) => None,
            Written::Kept => Some(self.store.carried_to(program.clone())?),
            Written::Forgotten => Some(self.store.emptied_for(program.clone())),
        };
        let store = other.as_mut().unwrap_or(&mut self.store);
        store.assume(&compiled.assumptions);
        store.check_assumptions()?;
        let tables = self.switch.tables().to_vec();
        let fresh = match written {
            Written::Kept => {
                let alike = |object: Object<'_>| match object {
                    Object::Table(name) => begins_alike(&self.store, &program, name),
                    // What it counts at an index is not the same in another compilation.
                    Object::Counter(name) => !Self::counts_code(&compiled, name),
                };
                self.switch.prepare(pipeline.clone(), alike).map_err(refused)?
            }
            Written::Forgotten => {
                self.switch.prepare_other(pipeline.clone()).map_err(refused)?;
                (0..self.switch.tables().len()).collect()
            }
        };
        let new = (program, compiled, pipeline, other);
        let old = self.swap(new);
        let filled = self.fill(&fresh);
        let registers = match written {
            Written::Kept => self.leaving_registers(&old),
            Written::Forgotten => Registered::new(),
        };
        self.write_registers(&registers);
        let exchanged = filled.and_then(|()| self.switch.change_over_keeping().map_err(refused));
        if exchanged.is_err() {
            self.switch.give_up();
            self.swap(old);
            return exchanged;
        }
        // Edges and tables of another compilation have other numbers.
        self.counted = Counts::default();
        if written == Written::Forgotten {
            self.idle.clear();
            self.stopped = None;
        }
        match behind {
            Behind::Goes(Written::Kept) => {
                self.take_values(&old, (&tables, &fresh), Some(&registers));
                self.keep_hits_in_code(&old);
                drop(self.switch.forget_standby());
            }
            Behind::Goes(Written::Forgotten) => drop(self.switch.forget_standby()),
            Behind::StandsBy => self.take_values(&old, (&tables, &fresh), Some(&registers)),
        }
        self.write_moved_meters(&old.2, &fresh)
    }

    /// Workers go back to the generic pipeline, the standby. The time since `start` at which all have, and the lookups
    /// that they have made since they were called.
    pub(super) fn return_to_generic(&mut self, start: Instant) -> Result<(Duration, u64), Refusal> {
        let joint_counts = self.all_joint_counts();
        let tables = self.switch.tables().to_vec();
        let lookups = self.switch.return_to_standby().map_err(|error| Refusal::wrong(error.to_string()))?;
        let done = (start.elapsed(), lookups);
        let Some(generic) = self.generic.take() else { return Ok(done) };
        let old = self.swap((self.program.clone(), generic.compiled, generic.pipeline, None));
        self.store.assume(&self.compiled.assumptions);
        self.counted = Counts::default();
        let here = self.switch.tables();
        let is_own = |number: &usize| !tables.iter().any(|other| Arc::ptr_eq(other, &here[*number]));
        let own: Vec<usize> = (0..here.len()).filter(is_own).collect();
        self.take_values(&old, (&tables, &own), None);
        self.keep_hits_in_code(&old);
        self.retired.extend(self.switch.forget_standby());
        self.joins = Joins::new(self.compiled.clone());
        self.keep_joint_counts(joint_counts);
        self.fill_joins();
        Ok(done)
    }

    /// Moves here what the standby has in elements of its own, where no packet counts any more; of registers only what has changed since they had the values
    /// before, if these are known.
    fn take_values(
        &mut self,
        old: &Generation,
        (tables, fresh): (&[Arc<Table>], &[usize]),
        before: Option<&Registered>,
    ) {
        self.switch.show_standby();
        let counted = self.leaving_counters(&Leaving { generation: old, tables, fresh });
        for (counter, index) in &counted.from {
            self.switch.set_counter(*counter, *index, CounterElement::default());
        }
        let registers = self.leaving_registers(old);
        self.switch.hide_standby();
        self.add_counters(counted);
        match before {
            Some(before) => self.write_late_registers(before, registers),
            None => self.write_registers(&registers),
        }
    }

    /// Gives what was there before.
    fn swap(&mut self, new: Generation) -> Generation {
        let (program, compiled, pipeline, store) = new;
        self.numbers = Numbers::of((&program, &compiled), pipeline.description());
        (
            std::mem::replace(&mut self.program, program),
            std::mem::replace(&mut self.compiled, compiled),
            std::mem::replace(&mut self.pipeline, pipeline),
            store.map(|store| std::mem::replace(&mut self.store, store)),
        )
    }

    /// Fills tables of the pipeline that was prepared.
    fn fill(&self, fresh: &[usize]) -> Result<(), Refusal> {
        self.begin_aging();
        for (id, _) in self.program.tables.iter() {
            let Some(number) = self.table_number(id).filter(|number| fresh.contains(number)) else { continue };
            self.write_default(id, self.store.default_action(id))?;
            self.write_groups(number, id)?;
            self.rewrite(number, id)?;
        }
        self.program.crcs.iter().for_each(|(crc, _)| self.write_crc(crc));
        for (id, _) in self.program.value_sets.iter() {
            if self.numbers.value_set(id).is_some_and(|number| fresh.contains(&number)) {
                self.write_value_set(id, self.store.value_set(id))?;
            }
        }
        Ok(())
    }

    /// Leaves a table with what the store has.
    pub(super) fn rewrite(&self, number: usize, table: TableId) -> Result<(), Refusal> {
        self.switch.tables()[number].clear();
        self.insert_calls(number, table)?;
        let has_others = self.program.tables[table].profile.is_some();
        if !has_others && self.program.tables[table].idle_timeout.is_none() {
            return Ok(());
        }
        for stored in self.store.entries(table) {
            if !matches!(stored.entry.action, EntryAction::Call(_)) {
                self.write_entry(number, table, &stored.entry)?;
            }
            if stored.idle_timeout_ns > 0 {
                let (matches, priority) = (stored.entry.matches, stored.entry.priority);
                self.start_timer(&EntryKey { table, matches, priority }, stored.idle_timeout_ns)?;
            }
        }
        Ok(())
    }

    /// Writes the entries with actions of their own, many at once.
    fn insert_calls(&self, number: usize, id: TableId) -> Result<(), Refusal> {
        let table = &self.switch.tables()[number];
        self.set_table_clock(id, number);
        let description = table.description();
        let mut chunk = Chunk::new(description);
        let inserted = |chunk: &mut Chunk| {
            let (_, outcome) = chunk.insert(table);
            outcome.map_err(|error| table_refusal(&description.name, error))
        };
        for (key, action, data) in self.store.calls(id) {
            let of_table = self.numbers.action(id, action).ok_or_else(|| self.no_such_action(id, action))?;
            if chunk.add(description, key, (of_table, data)) {
                inserted(&mut chunk)?;
            }
        }
        inserted(&mut chunk)
    }
}

/// Whether a table begins in another program as it does in the store's. Value sets and tables of the compiler's own begin empty.
fn begins_alike(store: &Store, program: &Program, name: &str) -> bool {
    let table = program.tables.iter().find(|(_, table)| table.name == name);
    table.is_none_or(|(id, _)| store.begins_alike(program, id))
}

/// The program as written and as compiled, its pipeline, and what was written to it; none where that is the engine's store.
pub(super) type Generation = (Arc<Program>, Arc<Program>, Arc<Pipeline>, Option<Store>);
