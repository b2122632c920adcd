//! Code that is specialised for what the tables hold, in the place of the generic code, while packets flow.
//!
//! The generic pipeline is the standby, with its tables and counters, most of which both pipelines share. A write that breaks an
//! assumption of the specialised code first puts all workers on generic code, each at the end of a burst; then it is kept,
//! applied and acknowledged. So no packet runs code that takes something false for granted, and no write is refused for
//! that. Writes to tables that only the generic pipeline has reach them while it is the standby, and controllers read there what
//! the specialised pipeline lacks.

use super::numbers::Numbers;
use super::{Behind, NativeEngine};
use control::{Refusal, Update};
use hlir::facts::{Assumption, Fact};
use hlir::{Entry, Program, TableId};
use runtime::{Pipeline, WorkerPorts};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The program as it was compiled for any contents, and its pipeline.
#[derive(Clone)]
pub(super) struct Generic {
    pub compiled: Arc<Program>,
    pub pipeline: Arc<Pipeline>,
    pub numbers: Numbers,
    /// Tables of its own that may differ from the store: a write was refused when it was half done.
    stale: Vec<TableId>,
}

/// A write has broken an assumption.
#[derive(Clone, Debug)]
pub struct Break {
    pub broken: Assumption,
    /// From the decision that the write breaks it until all workers ran generic code.
    pub time: Duration,
    /// Lookups of specialised code in tables between the call of the workers and the changeover of the last.
    pub lookups: u64,
}

impl<L: WorkerPorts> NativeEngine<'_, L> {
    /// Another compilation of the program that runs, specialised for what the tables hold now.
    ///
    /// # Errors
    /// The tables hold something else, or a worker does not take the pipeline: generic code goes on.
    pub fn specialise(&mut self, compiled: &Program, pipeline: Arc<Pipeline>) -> Result<(), Refusal> {
        self.generalise()?;
        let generic = Generic {
            compiled: self.compiled.clone(),
            pipeline: self.pipeline.clone(),
            numbers: self.numbers.clone(),
            stale: Vec::new(),
        };
        let programs = (self.program.clone(), Arc::new(compiled.clone()));
        self.replace_by(programs, pipeline, Behind::StandsBy)?;
        self.generic = Some(generic);
        Ok(())
    }

    /// Back to generic code, where specialised code runs.
    ///
    /// # Errors
    /// A worker does not take the pipeline: the specialised one goes on, with its assumptions.
    pub fn generalise(&mut self) -> Result<(), Refusal> {
        self.leave_at(Instant::now()).map(drop)
    }

    /// The time since `start` at which all workers ran generic code, and the lookups meanwhile.
    fn leave_at(&mut self, start: Instant) -> Result<(Duration, u64), Refusal> {
        let Some(generic) = &self.generic else { return Ok((start.elapsed(), 0)) };
        for table in generic.stale.clone() {
            self.beside(|engine| engine.refill(table)).unwrap_or(Ok(()))?;
        }
        self.return_to_generic(start)
    }

    pub fn is_specialised(&self) -> bool {
        self.generic.is_some()
    }

    /// What writes have broken since the last call. To be called now and then: memory of code that ran before is freed.
    pub fn take_breaks(&mut self) -> Vec<Break> {
        self.retired.clear();
        std::mem::take(&mut self.breaks)
    }

    /// Generic code before an update that breaks an assumption.
    pub(super) fn leave_specialised(&mut self, update: &Update) -> Result<(), Refusal> {
        if self.generic.is_none() {
            return Ok(());
        }
        let start = Instant::now();
        let Some(broken) = self.store.broken_by(update).cloned() else { return Ok(()) };
        let (time, lookups) = self.leave_at(start)?;
        self.breaks.push(Break { broken, time, lookups });
        Ok(())
    }

    /// Does something with the generic pipeline while it is the standby, as if it were the one that runs; none if none does.
    pub(super) fn beside<T>(&mut self, work: impl FnOnce(&mut Self) -> T) -> Option<T> {
        let mut generic = self.generic.take()?;
        self.trade_places(&mut generic);
        self.switch.show_standby();
        let done = work(self);
        self.switch.hide_standby();
        self.trade_places(&mut generic);
        self.generic = Some(generic);
        Some(done)
    }

    fn trade_places(&mut self, generic: &mut Generic) {
        std::mem::swap(&mut self.compiled, &mut generic.compiled);
        std::mem::swap(&mut self.pipeline, &mut generic.pipeline);
        std::mem::swap(&mut self.numbers, &mut generic.numbers);
    }

    /// Applies an update to what packets read, and to what only the generic pipeline has while it is the standby.
    pub(super) fn apply_everywhere(&mut self, update: &Update) -> Result<(), Refusal> {
        if self.generic.is_none() {
            return self.apply_update(update);
        }
        if let Update::SetMeter { meter, .. } = update {
            let name = self.program.meters[*meter].name.clone();
            if !self.switch.is_meter_shared(&name) && self.beside(|engine| engine.has_meter(*meter)) == Some(true) {
                self.beside(|engine| engine.apply_update(update)).unwrap_or(Ok(()))?;
            }
            return if self.has_meter(*meter) { self.apply_update(update) } else { Ok(()) };
        }
        let beside = self.beside(|engine| {
            engine.skips_shared = true;
            let done = engine.apply_update(update);
            engine.skips_shared = false;
            done
        });
        beside.unwrap_or(Ok(()))?;
        let done = self.apply_update(update);
        if done.is_err() {
            let stale = self.program.tables.iter().map(|(table, _)| table).filter(|table| touches(update, *table));
            let stale: Vec<TableId> = stale.collect();
            self.generic.iter_mut().for_each(|generic| generic.stale.extend(&stale));
        }
        done
    }

    /// Leaves a table of the standby's own with what the store has.
    fn refill(&mut self, table: TableId) -> Result<(), Refusal> {
        self.skips_shared = true;
        let number = self.table_number(table);
        self.skips_shared = false;
        let Some(number) = number else { return Ok(()) };
        self.write_default(table, self.store.default_action(table))?;
        self.write_groups(number, table)?;
        self.rewrite(number, table)
    }
}

/// The entries of a table that code compares, in the order of their indices in direct counters.
pub(super) fn compared(compiled: &Program, table: TableId) -> &[Entry] {
    let of_table = compiled.assumptions.iter().filter(|one| one.table == table);
    for one in of_table {
        if let Fact::Entries(entries) = &one.fact {
            return entries;
        }
    }
    &[]
}

/// Whether an update may change a table.
fn touches(update: &Update, of: TableId) -> bool {
    match update {
        Update::Insert { table, .. }
        | Update::Modify { table, .. }
        | Update::SetDefault { table, .. }
        | Update::SetExpiry { table, .. } => *table == of,
        Update::Delete(key) | Update::SetIdleTimeout { key, .. } => key.table == of,
        Update::SetMember { .. }
        | Update::DeleteMember { .. }
        | Update::SetGroup { .. }
        | Update::DeleteGroup { .. }
        | Update::SetPort { .. } => true,
        Update::SetValueSet { .. }
        | Update::SetCrc { .. }
        | Update::SetMulticast { .. }
        | Update::SetSession { .. }
        | Update::SetMeter { .. }
        | Update::Record(_) => false,
    }
}
