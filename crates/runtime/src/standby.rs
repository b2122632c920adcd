//! A pipeline that workers have left and may come back to at the end of one burst.
//!
//! It keeps its tables, counters and objects. What the pipeline that took its place has as well is shared by both, so
//! nothing is made or copied on the way back: the control thread publishes a changeover, and each worker makes it at the
//! end of the burst that it is in. What only the standby has is written and read between [`Switch::show_standby`] and
//! [`Switch::hide_standby`].

use crate::abi;
use crate::changeover::Changeover;
use crate::counted::Moves;
use crate::error::SwitchError;
use crate::generation::Generation;
use crate::state::{Meter, Register};
use crate::switch::Switch;
use crate::worker_ports::WorkerPorts;
use std::sync::Arc;

/// See the module.
pub(crate) struct Standby {
    pub generation: Generation,
    pub registers: Vec<Arc<Register>>,
    pub meters: Vec<Meter>,
    /// What goes on in it of the counts of the pipeline that workers are attached to.
    pub moves: Moves,
    /// Whether [`Switch::tables`] and the others are those of the standby.
    pub is_shown: bool,
}

/// A pipeline that no worker is attached to any more. Dropping it takes its time: the memory of its tables goes.
pub struct Left {
    _generation: Generation,
    _registers: Vec<Arc<Register>>,
    _meters: Vec<Meter>,
}

impl Standby {
    fn retired(self) -> Left {
        Left { _generation: self.generation, _registers: self.registers, _meters: self.meters }
    }
}

impl<L: WorkerPorts> Switch<L> {
    /// As [`Switch::change_over`], but the pipeline that workers leave is the standby then.
    ///
    /// # Errors
    /// A worker does not take the pipeline: all are back at the old one.
    pub fn change_over_keeping(&mut self) -> Result<(), SwitchError> {
        let left = self.leave()?;
        self.standby = left;
        self.bind_shared();
        Ok(())
    }

    pub fn has_standby(&self) -> bool {
        self.standby.is_some()
    }

    /// Lets all workers go back to the standby; returns when each has, with the lookups of the pipeline that
    /// they left since they were called. That one is the standby then.
    ///
    /// # Errors
    /// A worker is not taken: all go on as before.
    pub fn return_to_standby(&mut self) -> Result<u64, SwitchError> {
        self.hide_standby();
        self.give_up();
        self.wait_for_resumed();
        let Some(standby) = self.standby.take() else { return Ok(0) };
        let change = |id| {
            let (from, to) = (self.current.attachment(id), standby.generation.attachment(id));
            Changeover::return_to(from, to, standby.moves.clone())
        };
        let changes: Vec<Changeover> = (0..self.workers.len()).map(change).collect();
        // What is counted behind the call is of bursts that were under way.
        let mut before = 0;
        if let Some((worker, status)) = self.make_all(&changes, &mut |left| before = left.lookups()) {
            self.standby = Some(standby);
            return Err(SwitchError::Attach { worker, status });
        }
        let Standby { generation, registers, meters, moves, .. } = standby;
        self.standby = Some(Standby {
            generation: std::mem::replace(&mut self.current, generation),
            registers: std::mem::replace(&mut self.state.registers, registers),
            meters: std::mem::replace(&mut self.state.meters, meters),
            moves: moves.back(),
            is_shown: false,
        });
        self.exchanges += 1;
        let after = self.standby.as_ref().map_or(0, |left| left.generation.lookups());
        Ok(after.saturating_sub(before))
    }

    /// Lets the standby go.
    pub fn forget_standby(&mut self) -> Option<Left> {
        let standby = self.standby.take()?;
        self.current.bind_tables(&self.state.meters);
        Some(standby.retired())
    }

    /// Until [`Switch::hide_standby`], tables, registers, meters and counts are those of the standby.
    pub fn show_standby(&mut self) {
        self.standby.iter_mut().for_each(|standby| standby.is_shown = true);
    }

    pub fn hide_standby(&mut self) {
        self.standby.iter_mut().for_each(|standby| standby.is_shown = false);
    }

    /// An element of a counter of the standby, by its number there: as [`Switch::counter`].
    pub fn standby_counter(&self, counter: usize, index: u64) -> Option<abi::CounterElement> {
        self.standby.as_ref().and_then(|standby| standby.generation.counter(counter, index))
    }

    /// Packets that the standby has dropped, by reason.
    pub fn standby_drops(&self) -> Vec<u64> {
        let Some(standby) = &self.standby else { return Vec::new() };
        let reasons = standby.generation.pipeline.description().drops.len();
        let of = |reason: usize| standby.generation.counted.iter().filter_map(|one| one.drops.get(reason)).sum();
        (0..reasons).map(of).collect()
    }

    /// Whether both pipelines have the elements of a meter.
    pub fn is_meter_shared(&self, name: &str) -> bool {
        let of =
            |meters: &[Meter]| meters.iter().find(|it| it.description().name == name).map(|it| it.elements.clone());
        let both = self.standby.as_ref().and_then(|standby| of(&self.state.meters).zip(of(&standby.meters)));
        both.is_some_and(|(one, other)| Arc::ptr_eq(&one, &other))
    }

    fn shown(&self) -> Option<&Standby> {
        self.standby.as_ref().filter(|standby| standby.is_shown)
    }

    /// The pipeline whose counts are read: the one that workers are attached to, or a standby that is shown.
    pub(crate) fn read(&self) -> &Generation {
        self.shown().map_or(&self.current, |standby| &standby.generation)
    }

    /// The pipeline that the control plane writes to.
    pub(crate) fn written(&self) -> &Generation {
        let next = || self.next.as_ref().map(|next| &next.generation);
        self.shown().map(|standby| &standby.generation).or_else(next).unwrap_or(&self.current)
    }

    /// In the order of the pipeline that workers are attached to, or of a standby that is shown.
    pub fn registers(&self) -> &[Arc<Register>] {
        self.shown().map_or(&self.state.registers, |standby| &standby.registers)
    }

    /// In the order of the pipeline that the control plane writes to.
    pub fn written_registers(&self) -> &[Arc<Register>] {
        let next = || self.next.as_ref().map(|next| &next.registers);
        self.shown().map(|standby| &standby.registers).or_else(next).unwrap_or(&self.state.registers)
    }

    /// See [`Switch::registers`].
    pub fn meters(&self) -> &[Meter] {
        self.shown().map_or(&self.state.meters, |standby| &standby.meters)
    }

    /// Whether a table of the standby, by its number there, is one that the other pipeline has as well.
    pub fn is_shared(&self, table: usize) -> bool {
        let Some(standby) = &self.standby else { return false };
        let of_standby = &standby.generation.bound.tables[table];
        self.current.bound.tables.iter().any(|other| Arc::ptr_eq(other, of_standby))
    }

    /// A new entry of a table that both pipelines have finds the elements of both empty.
    fn bind_shared(&self) {
        let Some(standby) = &self.standby else { return };
        for (number, table) in standby.generation.bound.tables.iter().enumerate() {
            let place = self.current.bound.tables.iter().position(|other| Arc::ptr_eq(other, table));
            let Some(place) = place else { continue };
            let mut elements = self.current.direct_elements(place, &self.state.meters);
            elements.extend(standby.generation.direct_elements(number, &standby.meters));
            table.bind(elements);
        }
    }
}
