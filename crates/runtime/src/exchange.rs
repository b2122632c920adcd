//! Another pipeline takes the place of the one that runs, while packets flow.
//!
//! `prepare` makes tables and state beside the old ones; the caller fills what is new; then `change_over` lets each worker change at the end of a burst,
//! whenever that is, and frees the old ones when all have. So some workers run the old pipeline while others run the new one, and both may share tables,
//! registers and elements: none of these knows which pipeline reads it.
//! The control thread waits for each worker's next end of a burst, and for packets that are to go
//! on in the old pipeline, which no other understands. Workers wait for nothing. A worker that does not run is
//! changed over by the control thread.

use crate::abi;
use crate::changeover::Changeover;
use crate::control::Bound;
use crate::counted::{Carried, Counted, Moves, Object};
use crate::error::SwitchError;
use crate::generation::{Generation, Next, fill};
use crate::pipeline::Pipeline;
use crate::standby::Standby;
use crate::state::GroupTable;
use crate::switch::Switch;
use crate::tables::Table;
use crate::worker::Worker;
use crate::worker_ports::WorkerPorts;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long the control thread looks for the end of a worker's burst before it sleeps.
const SPIN: Duration = Duration::from_micros(100);

impl<L: WorkerPorts> Switch<L> {
    /// Puts another compilation of the program in the place of this pipeline, while packets flow. Tables, counters, registers and meters with equal
    /// descriptions stay as they are, but tables that share an array, and the elements of entries of new tables. `reload` is given the numbers of the tables
    /// that are new, and fills them before any packet comes to them.
    pub fn exchange(
        &mut self,
        pipeline: Arc<Pipeline>,
        reload: impl FnOnce(&Switch<L>, &[usize]),
    ) -> Result<(), SwitchError> {
        let fresh = self.prepare(pipeline, |_| true)?;
        reload(self, &fresh);
        self.change_over()
    }

    /// Puts another program in the place of this one, while packets flow: as a switch that has just been made, but that ports stay as they are. `load` fills
    /// tables before any packet comes to them.
    pub fn replace(&mut self, pipeline: Arc<Pipeline>, load: impl FnOnce(&Switch<L>)) -> Result<(), SwitchError> {
        self.prepare_other(pipeline)?;
        load(self);
        self.change_over()
    }

    /// The first part of [`Switch::exchange`]. [`Switch::tables`] are those of the new pipeline from now on; the numbers of the new ones are returned.
    /// A table or counter that `keeps` denies is new, even if it is equal.
    pub fn prepare(
        &mut self,
        pipeline: Arc<Pipeline>,
        keeps: impl Fn(Object<'_>) -> bool,
    ) -> Result<Vec<usize>, SwitchError> {
        self.prepare_next(pipeline, Some(&keeps))
    }

    /// The first part of [`Switch::replace`].
    pub fn prepare_other(&mut self, pipeline: Arc<Pipeline>) -> Result<(), SwitchError> {
        self.prepare_next(pipeline, None).map(drop)
    }

    /// Lets go of the pipeline that was prepared.
    pub fn give_up(&mut self) {
        let Some(next) = self.next.take() else { return };
        self.current.bind_tables(&self.state.meters);
        drop(next);
    }

    /// With `keeps`, what is equal stays.
    fn prepare_next(
        &mut self,
        pipeline: Arc<Pipeline>,
        keeps: Option<&dyn Fn(Object<'_>) -> bool>,
    ) -> Result<Vec<usize>, SwitchError> {
        self.give_up();
        let carries = keeps.is_some();
        let keeps = keeps.unwrap_or(&|_| false);
        let (new, old) = (pipeline.description(), self.current.pipeline.description());
        if new.descriptor != old.descriptor {
            return Err(SwitchError::Descriptor { pipeline: new.descriptor, port: old.descriptor });
        }
        pipeline.touch();
        let places = self.equal_tables(&pipeline, keeps);
        let carried = Carried { keeps, tables: &places };
        let carried = carries.then_some(&carried);
        let kept = places.iter().map(|place| place.map(|place| self.current.bound.tables[place].clone())).collect();
        let readers = self.state.readers.clone();
        let tables = fill(&pipeline, kept, &readers)?;
        let objects = self.state.objects(new, carried)?;
        let counted = |(worker, old): (&Worker, &Counted)| {
            Counted::new(new, worker.buffers, carried.map(|carried| (carried, old)))
        };
        let counted = self.workers.iter().zip(&self.current.counted).map(counted).collect::<Result<_, _>>()?;
        let groups = (!carries).then(|| (GroupTable::new(), GroupTable::new()));
        let (groups_of, sessions_of) =
            groups.as_ref().map_or((&self.state.groups, &self.state.sessions), |(groups, sessions)| (groups, sessions));
        let moves = if carries { Moves::between(old, new) } else { Moves::default() };
        let fresh = (0..places.len()).filter(|number| places[*number].is_none()).collect();
        let generation = Generation::new(
            pipeline.clone(),
            Bound { readers, tables },
            (&objects.registers, &objects.meters),
            (groups_of, sessions_of),
            counted,
        )?;
        let next = Next { generation, registers: objects.registers, meters: objects.meters, groups, moves };
        self.bind_both(&next, &places);
        self.next = Some(next);
        Ok(fresh)
    }

    /// For each table of a pipeline, the number of the equal one that is here.
    fn equal_tables(&self, pipeline: &Pipeline, keeps: &dyn Fn(Object<'_>) -> bool) -> Vec<Option<usize>> {
        let equal = |wanted: &crate::pipeline::Table| {
            if !keeps(Object::Table(&wanted.name)) {
                return None;
            }
            self.current.bound.tables.iter().position(|table: &Arc<Table>| {
                let has = table.description();
                let same = has.name == wanted.name && has.part_bits == 0;
                same && crate::pipeline::Table { source: wanted.source, ..has.clone() } == *wanted
            })
        };
        pipeline.description().tables.iter().map(equal).collect()
    }

    /// A new entry of a table that both pipelines have finds the elements of both empty.
    fn bind_both(&self, next: &Next, places: &[Option<usize>]) {
        for (number, place) in places.iter().enumerate() {
            let mut elements = next.generation.direct_elements(number, &next.meters);
            elements.extend(place.iter().flat_map(|old| self.current.direct_elements(*old, &self.state.meters)));
            next.generation.bound.tables[number].bind(elements);
        }
    }

    /// The second part of [`Switch::exchange`] and of [`Switch::replace`]: returns when every worker has changed over to the pipeline that was prepared and the
    /// old one is free. If a worker cannot, all are back at the old one.
    pub fn change_over(&mut self) -> Result<(), SwitchError> {
        // No worker is attached to the old one, and each has driven out what it held: no grace period is needed.
        self.leave().map(drop)
    }

    /// The same, with the pipeline that the workers have left.
    pub(crate) fn leave(&mut self) -> Result<Option<Standby>, SwitchError> {
        self.wait_for_resumed();
        let next = self.next.as_ref().expect("a pipeline was prepared");
        // From here on workers may read the new tables, so writes to them keep grace periods.
        next.generation.bound.tables.iter().for_each(|table| table.open());
        let change =
            |id| Changeover::new(self.current.attachment(id), next.generation.attachment(id), next.moves.clone());
        let changes: Vec<Changeover> = (0..self.workers.len()).map(change).collect();
        if let Some((worker, status)) = self.make_all(&changes, &mut |_| ()) {
            self.give_up();
            return Err(SwitchError::Attach { worker, status });
        }
        let Some(next) = self.next.take() else { return Ok(None) };
        let left = Standby {
            generation: std::mem::replace(&mut self.current, next.generation),
            registers: std::mem::replace(&mut self.state.registers, next.registers),
            meters: std::mem::replace(&mut self.state.meters, next.meters),
            moves: next.moves.back(),
            is_shown: false,
        };
        self.current.bind_tables(&self.state.meters);
        if let Some((groups, sessions)) = next.groups {
            (self.state.groups, self.state.sessions) = (groups, sessions);
        }
        self.exchanges += 1;
        Ok(Some(left))
    }

    /// Lets every worker make its changeover; `called` is called as soon as each knows. If one cannot, which is given with
    /// its status, all are back where they were.
    pub(crate) fn make_all(
        &mut self,
        changes: &[Changeover],
        called: &mut dyn FnMut(&Generation),
    ) -> Option<(u32, i32)> {
        let refused = self.make(&changes.iter().map(Some).collect::<Vec<_>>(), called);
        if refused.is_some() {
            let back: Vec<Option<Changeover>> =
                changes.iter().map(|change| (change.status() == Some(0)).then(|| change.back())).collect();
            let failed = self.make(&back.iter().map(Option::as_ref).collect::<Vec<_>>(), &mut |_| ());
            assert_eq!(failed, None, "a pipeline that has taken a worker takes it again");
        }
        refused
    }

    /// Returns when the workers that run have taken the packets that are to go on in the pipeline that saved them.
    pub(crate) fn wait_for_resumed(&self) {
        for (id, worker) in self.workers.iter().enumerate() {
            while self.state.readers.is_running(id) && !worker.control.resumed.is_empty() {
                std::thread::sleep(Duration::from_micros(10));
            }
        }
    }

    /// Publishes a changeover for each worker that has one, and waits until all were made. The first worker that has refused, and its status.
    fn make(&mut self, changes: &[Option<&Changeover>], called: &mut dyn FnMut(&Generation)) -> Option<(u32, i32)> {
        for (worker, change) in self.workers.iter().zip(changes) {
            if let Some(change) = change {
                worker.control.ask(change);
                worker.host.call();
            }
        }
        called(&self.current);
        let mut refused = None;
        for (id, change) in changes.iter().enumerate() {
            let Some(change) = change else { continue };
            let status = self.wait(id, change);
            if status != 0 {
                refused.get_or_insert((id as u32, status));
            }
        }
        refused
    }

    /// Returns when worker `id` has made its changeover, which this thread makes if the worker does not run.
    fn wait(&mut self, id: usize, change: &Changeover) -> i32 {
        let begun = Instant::now();
        loop {
            if let Some(status) = change.status() {
                return status;
            }
            if self.state.readers.is_running(id) {
                // A burst takes microseconds, and the shortest sleep some sixty.
                match begun.elapsed() < SPIN {
                    true => std::thread::yield_now(),
                    false => std::thread::sleep(Duration::from_micros(10)),
                }
                continue;
            }
            let worker = &mut self.workers[id];
            if worker.control.take().is_some() {
                let raw: *mut abi::Worker = &mut *worker.raw;
                // SAFETY: the worker runs nowhere, so it is this thread's, between two bursts, and attached to the old pipeline.
                let _ = unsafe { change.make(raw, &worker.control) };
            }
        }
    }
}
