//! A switch: a pipeline, the state it works on, and workers that carry packets through it.
//!
//! The control thread owns this value and is the one writer. Workers run on threads of their own between [`Switch::start`] and [`Switch::stop`], or on the
//! caller's thread by [`Switch::run`]. A pipeline is exchanged while no worker is inside a burst: ports keep what arrives, so no packet is lost.

use crate::abi;
use crate::compile::Descriptor;
use crate::counts::Counts;
use crate::events::{self, Event};
use crate::objects::Objects;
use crate::pipeline::{Description, Pipeline};
use crate::quiescent::Readers;
use crate::state::{Lacking, Register, State};
use crate::tables::{DirectCells, Table, TableError};
use crate::worker::{CounterCells, Worker};
use std::ffi::{c_int, c_void};
use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;

/// The port side of a worker, as the worker's struct needs it.
pub struct Connection {
    pub descriptor: Descriptor,
    pub port: *mut c_void,
    pub pool: *mut abi::Pool,
    pub flush: unsafe extern "C" fn(worker: *mut abi::Worker),
    /// Where a packet's bytes begin; `None` where the packet is their address.
    pub bytes: Option<unsafe extern "C" fn(packet: *const c_void) -> *const u8>,
}

/// The ports that one worker serves.
pub trait Lane: Send + 'static {
    /// Addresses that stay good as long as the lane lives.
    fn connect(&mut self) -> Connection;

    /// Carries bursts through the pipeline until there is nothing more to come, or `stop` is not 0; counts each end of a burst.
    ///
    /// # Safety
    /// `worker` was made with this lane's connection and is attached to `pipeline`.
    unsafe fn run(&mut self, worker: *mut abi::Worker, pipeline: *const abi::Pipeline, stop: &AtomicU32);
}

/// Why a switch cannot be built.
#[derive(Debug)]
pub enum SwitchError {
    Descriptor {
        pipeline: Descriptor,
        port: Descriptor,
    },
    Table {
        name: String,
        error: TableError,
    },
    Attach {
        worker: u32,
        status: c_int,
    },
    /// The user's code refuses to make this object.
    Extern {
        name: String,
    },
    /// The address space has no room for what the program declares.
    NoMemory {
        /// Of what, with its name.
        object: String,
        cells: u64,
        cell_bytes: u32,
    },
}

impl SwitchError {
    pub(crate) fn no_memory(kind: &str, name: &str, cells: u64, cell_bytes: u32) -> SwitchError {
        SwitchError::NoMemory { object: format!("{kind} `{name}`"), cells, cell_bytes }
    }
}

impl fmt::Display for SwitchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            SwitchError::Descriptor { pipeline, port } => {
                write!(f, "the pipeline's packets are {pipeline:?}, the port's {port:?}")
            }
            SwitchError::Table { name, error } => write!(f, "table {name} cannot be made: {error}"),
            SwitchError::Extern { name } => write!(f, "the object `{name}` cannot be made: its C function gave NULL"),
            SwitchError::NoMemory { object, cells, cell_bytes } => {
                let way_out = "declare as many as this machine can hold";
                write!(f, "there is no memory for {object}: {cells} cells of {cell_bytes} bytes\nhint: {way_out}")
            }
            SwitchError::Attach { worker, status } => write!(f, "worker {worker} cannot start: status {status}"),
        }
    }
}

impl std::error::Error for SwitchError {}

/// What holds for all workers.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Packets to ports from this number on are dropped.
    pub ports: u32,
    pub seed: u64,
}

/// See the module.
pub struct Switch<L: Lane> {
    pipeline: Arc<Pipeline>,
    shared: Box<SharedMemory>,
    objects: Objects,
    tables: Vec<Arc<Table>>,
    pub state: State,
    workers: Vec<Worker>,
    /// A lane is away while a thread runs it.
    lanes: Vec<Option<L>>,
    threads: Vec<JoinHandle<L>>,
    stop: Arc<AtomicU32>,
}

/// `struct shared` and the arrays it points to.
struct SharedMemory {
    raw: abi::Shared,
    _tables: Vec<*const c_void>,
    _registers: Vec<abi::StateArray>,
    _meters: Vec<*mut abi::MeterCell>,
    _selections: Vec<*const abi::Selection>,
}

// SAFETY: the addresses in it belong to the switch, which changes them only while no worker runs.
unsafe impl Send for SharedMemory {}

/// Addresses that a thread needs; they outlive it, since the switch joins its threads.
struct Run {
    worker: *mut abi::Worker,
    pipeline: *const abi::Pipeline,
}

// SAFETY: while the thread runs, nobody else uses the worker but to read its counts.
unsafe impl Send for Run {}

impl<L: Lane> Switch<L> {
    /// A switch with one worker for each lane.
    pub fn new(pipeline: Arc<Pipeline>, mut lanes: Vec<L>, settings: Settings) -> Result<Switch<L>, SwitchError> {
        let readers = Arc::new(Readers::new(lanes.len()));
        let description = pipeline.description();
        let connections: Vec<Connection> = lanes.iter_mut().map(Lane::connect).collect();
        check_descriptors(&pipeline, &connections)?;
        let make = |(id, connection)| Worker::new(id as u32, settings.ports, settings.seed, connection, description);
        let mut workers = connections.iter().enumerate().map(make).collect::<Result<Vec<Worker>, _>>()?;
        for (id, worker) in workers.iter_mut().enumerate() {
            readers.register(id, &mut *worker.raw);
        }
        let tables = fill(&pipeline, vec![None; description.tables.len()], &readers)?;
        let state = State::new(description, readers)?;
        let objects = make_objects(&pipeline)?;
        let shared = SharedMemory::new(&tables, &state, &objects);
        let mut switch = Switch {
            shared,
            objects,
            tables,
            state,
            workers,
            lanes: lanes.into_iter().map(Some).collect(),
            threads: Vec::new(),
            stop: Arc::new(AtomicU32::new(0)),
            pipeline,
        };
        switch.attach()?;
        Ok(switch)
    }

    /// Begins anew with a pipeline, as a switch that has just been made: this one is taken down first, for there may be no room for both.
    pub fn renew(&mut self, pipeline: Arc<Pipeline>, lanes: Vec<L>, settings: Settings) -> Result<(), SwitchError> {
        self.stop();
        self.detach();
        self.workers.clear();
        self.tables.clear();
        (self.state.registers, self.state.meters) = (Vec::new(), Vec::new());
        *self = Switch::new(pipeline, lanes, settings)?;
        Ok(())
    }

    fn attach(&mut self) -> Result<(), SwitchError> {
        self.bind_tables();
        for worker in &mut self.workers {
            worker.raw.shared = &raw const self.shared.raw;
            // SAFETY: the worker is complete and runs nowhere.
            let status = unsafe { (self.pipeline.raw().attach)(&mut *worker.raw) };
            if status != 0 {
                return Err(SwitchError::Attach { worker: worker.raw.id, status });
            }
        }
        Ok(())
    }

    /// Tells each table where its entries' direct counters and meters are, and each worker which tables it may insert into.
    fn bind_tables(&self) {
        for worker in &self.workers {
            worker.events.bind(&self.state.readers, &self.tables);
        }
        for (number, table) in self.tables.iter().enumerate() {
            let number = number as u32;
            let counters = self.workers.iter().flat_map(|worker| &worker.counters);
            let counters =
                counters.filter(|counter| counter.description.size == 0 && counter.description.table == number);
            let counters = counters.map(|counter| DirectCells::of(&counter.cells));
            let meters = self.state.meters.iter();
            let meters = meters.filter(|meter| meter.description().size == 0 && meter.description().table == number);
            table.bind(counters.chain(meters.map(|meter| DirectCells::of(&meter.cells))).collect());
        }
    }

    /// Drives out what the pipeline holds and lets go of it.
    fn detach(&mut self) {
        for worker in &mut self.workers {
            let nothing = std::ptr::null_mut();
            let mut empty = abi::Burst { count: 0, ports: nothing, packets: nothing.cast(), lengths: nothing };
            let flush = worker.raw.flush.expect("a worker is made with its lane's flush");
            // SAFETY: the worker is attached and runs nowhere.
            unsafe {
                (self.pipeline.raw().process)(&mut *worker.raw, &mut empty);
                flush(&mut *worker.raw);
                (self.pipeline.raw().detach)(&mut *worker.raw);
                flush(&mut *worker.raw);
            }
        }
    }

    pub fn pipeline(&self) -> &Arc<Pipeline> {
        &self.pipeline
    }

    /// Tables, then value sets, in the order of the pipeline's description.
    pub fn tables(&self) -> &[Arc<Table>] {
        &self.tables
    }

    pub fn worker_count(&self) -> usize {
        self.workers.len()
    }

    /// The ports of a worker; not while it runs on a thread.
    pub fn lane(&mut self, worker: usize) -> Option<&mut L> {
        self.lanes[worker].as_mut()
    }

    /// The clock of workers whose port has none of its own.
    pub fn set_clock(&mut self, nanoseconds: u64) {
        self.workers.iter_mut().for_each(|worker| worker.raw.clock_ns = nanoseconds);
    }

    /// The clock of the worker that is furthest.
    pub fn clock(&self) -> u64 {
        // SAFETY: the worker lives as long as the switch; its clock is one word, which its thread writes.
        let clock = |worker: &Worker| unsafe { (&raw const worker.raw.clock_ns).read_volatile() };
        self.workers.iter().map(clock).max().unwrap_or(0)
    }

    /// Seeds `random`, and numbers packets from 0 again.
    pub fn set_seed(&mut self, seed: u64) {
        for worker in &mut self.workers {
            (worker.raw.seed, worker.raw.packet_number) = (seed, 0);
        }
    }

    /// Runs one worker on this thread until its port has nothing more to give.
    pub fn run(&mut self, worker: usize) {
        assert!(self.threads.is_empty(), "a worker is run here only while none runs on a thread");
        let lane = self.lanes[worker].as_mut().expect("without threads every lane is here");
        self.state.readers.set_running(worker, true);
        // SAFETY: the worker is attached to this pipeline and connected to this lane.
        unsafe { lane.run(&mut *self.workers[worker].raw, self.pipeline.raw(), &self.stop) };
        self.state.readers.set_running(worker, false);
    }

    /// Starts a thread for each worker.
    pub fn start(&mut self) {
        assert!(self.threads.is_empty(), "a switch is started once, and again after it was stopped");
        self.stop.store(0, Ordering::SeqCst);
        for (id, (worker, lane)) in self.workers.iter_mut().zip(&mut self.lanes).enumerate() {
            let run = Run { worker: &mut *worker.raw, pipeline: self.pipeline.raw() };
            let mut lane = lane.take().expect("without threads every lane is here");
            let (stop, readers) = (self.stop.clone(), self.state.readers.clone());
            readers.set_running(id, true);
            self.threads.push(std::thread::spawn(move || {
                let run = run;
                // SAFETY: the switch keeps worker and pipeline until it has joined this thread.
                unsafe { lane.run(run.worker, run.pipeline, &stop) };
                readers.set_running(id, false);
                lane
            }));
        }
    }

    /// Whether threads carry packets, or have done so and were not joined yet.
    pub fn is_started(&self) -> bool {
        !self.threads.is_empty()
    }

    pub fn is_running(&self) -> bool {
        self.threads.iter().any(|thread| !thread.is_finished())
    }

    /// Stops all workers at the end of a burst.
    pub fn stop(&mut self) {
        self.stop.store(1, Ordering::SeqCst);
        self.join();
        self.stop.store(0, Ordering::SeqCst);
    }

    /// Waits until every worker's port has nothing more to give.
    pub fn join(&mut self) {
        for (lane, thread) in self.lanes.iter_mut().zip(self.threads.drain(..)) {
            *lane = Some(thread.join().expect("a worker is C code, which does not unwind"));
        }
    }

    /// Puts another pipeline in the place of this one, between two bursts. Tables, counters, registers and meters with equal descriptions stay as they are, but
    /// tables that share an array, which are made anew; `reload` is given the numbers of the tables that are new, and fills them before the first packet comes.
    pub fn exchange(
        &mut self,
        pipeline: Arc<Pipeline>,
        reload: impl FnOnce(&Switch<L>, &[usize]),
    ) -> Result<(), SwitchError> {
        if pipeline.description().descriptor != self.pipeline.description().descriptor {
            let (pipeline, port) = (pipeline.description().descriptor, self.pipeline.description().descriptor);
            return Err(SwitchError::Descriptor { pipeline, port });
        }
        let was_running = !self.threads.is_empty();
        self.stop();
        let (tables, fresh) = self.carry_tables(&pipeline)?;
        let objects = make_objects(&pipeline)?;
        let (state, counters) = self.lacking(pipeline.description())?;
        self.detach();
        self.objects = objects;
        let old = std::mem::replace(&mut self.pipeline, pipeline);
        let description = self.pipeline.description();
        for (worker, counters) in self.workers.iter_mut().zip(counters) {
            worker.fit(description, Some(old.description()), counters);
        }
        self.tables = tables;
        self.state.fit(description, state);
        self.shared = SharedMemory::new(&self.tables, &self.state, &self.objects);
        self.attach()?;
        reload(self, &fresh);
        if was_running {
            self.start();
        }
        Ok(())
    }

    fn carry_tables(&self, pipeline: &Arc<Pipeline>) -> Result<(Vec<Arc<Table>>, Vec<usize>), SwitchError> {
        let (mut carried, mut fresh) = (Vec::new(), Vec::new());
        for (number, wanted) in pipeline.description().tables.iter().enumerate() {
            let equal = |table: &&Arc<Table>| {
                let mut has = table.description().clone();
                has.source = wanted.source;
                has == *wanted && has.part_bits == 0
            };
            let table = self.tables.iter().find(equal).cloned();
            match &table {
                Some(table) => table.renumber(number),
                None => fresh.push(number),
            }
            carried.push(table);
        }
        Ok((fill(pipeline, carried, &self.state.readers)?, fresh))
    }

    /// What a pipeline has and this switch does not yet: all that may be too large is made before anything is let go.
    fn lacking(&self, description: &Description) -> Result<(Lacking, Vec<Vec<CounterCells>>), SwitchError> {
        let counters = self.workers.iter().map(|worker| worker.lacking(description));
        Ok((self.state.lacking(description)?, counters.collect::<Result<_, _>>()?))
    }

    /// Packets dropped, by reason.
    pub fn drops(&self) -> Vec<u64> {
        let count = self.pipeline.description().drops.len();
        (0..count).map(|reason| self.workers.iter().filter_map(|worker| worker.drops.get(reason)).sum()).collect()
    }

    /// Packets on each edge and keys that tables were asked for, where the plan counts them.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.workers.iter().for_each(|worker| counts.add(&worker.counts()));
        counts
    }

    /// Cycles spent in each node, where the plan sums them.
    pub fn cycles(&self) -> Vec<u64> {
        let count = self.pipeline.description().nodes.len();
        (0..count).map(|node| self.workers.iter().filter_map(|worker| worker.cycles.get(node)).sum()).collect()
    }

    /// Hits and misses of a table.
    pub fn hits(&self, table: usize) -> (u64, u64) {
        let hits = self.workers.iter().filter_map(|worker| worker.hits.get(table)).sum();
        let misses = self.workers.iter().filter_map(|worker| worker.misses.get(table)).sum();
        (hits, misses)
    }

    /// A counter's cell, over all workers; `None` if there is no such cell.
    pub fn counter(&self, counter: usize, cell: u64) -> Option<abi::CounterCell> {
        let mut cells = self.workers.iter().map(|worker| worker.counters[counter].cells.get(cell as usize));
        cells.try_fold(abi::CounterCell::default(), |sum, cell| {
            cell.map(|cell| abi::CounterCell { packets: sum.packets + cell.packets, bytes: sum.bytes + cell.bytes })
        })
    }

    /// Makes a counter's cell show this sum; exact only while no packet counts there. False if there is no such cell.
    pub fn set_counter(&self, counter: usize, cell: u64, value: abi::CounterCell) -> bool {
        let values = std::iter::once(value).chain(std::iter::repeat(abi::CounterCell::default()));
        self.workers.iter().zip(values).all(|(worker, value)| worker.counters[counter].cells.set(cell as usize, value))
    }

    /// What the pipeline has told since this was last asked, and how many messages were lost because nobody asked.
    pub fn take_events(&self) -> (Vec<Event>, u64) {
        let (mut all, mut lost) = (Vec::new(), 0);
        for worker in &self.workers {
            let (events, missing) = worker.events.take();
            all.extend(events);
            lost += missing;
        }
        (all, lost)
    }
}

fn check_descriptors(pipeline: &Pipeline, connections: &[Connection]) -> Result<(), SwitchError> {
    let wanted = pipeline.description().descriptor;
    match connections.iter().find(|connection| connection.descriptor != wanted) {
        Some(other) => Err(SwitchError::Descriptor { pipeline: wanted, port: other.descriptor }),
        None => Ok(()),
    }
}

/// All tables of a pipeline: those that are there, and the others made new, those whose entries stand in another's array after that.
fn fill(
    pipeline: &Arc<Pipeline>,
    mut tables: Vec<Option<Arc<Table>>>,
    readers: &Arc<Readers>,
) -> Result<Vec<Arc<Table>>, SwitchError> {
    let described = &pipeline.description().tables;
    let mut missing: Vec<usize> = (0..described.len()).filter(|number| tables[*number].is_none()).collect();
    missing.sort_by_key(|number| described[*number].primary.is_some());
    for number in missing {
        let owner = described[number].primary.and_then(|owner| tables.get(owner).cloned().flatten());
        let name = || described[number].name.clone();
        let made = Table::new(pipeline, number, readers, owner);
        tables[number] = Some(Arc::new(made.map_err(|error| SwitchError::Table { name: name(), error })?));
    }
    Ok(tables.into_iter().flatten().collect())
}

fn make_objects(pipeline: &Arc<Pipeline>) -> Result<Objects, SwitchError> {
    Objects::create(pipeline).map_err(|name| SwitchError::Extern { name })
}

impl SharedMemory {
    fn new(tables: &[Arc<Table>], state: &State, objects: &Objects) -> Box<SharedMemory> {
        let selections: Vec<_> = tables.iter().map(|table| table.groups_view()).collect();
        let tables: Vec<_> = tables.iter().map(|table| table.readers_view()).collect();
        let mut registers: Vec<_> = state.registers.iter().map(Register::raw).collect();
        let meters: Vec<_> = state.meters.iter().map(|meter| meter.cells.as_mut_ptr()).collect();
        let raw = abi::Shared {
            tables: tables.as_ptr(),
            registers: registers.as_mut_ptr(),
            meters: meters.as_ptr(),
            groups: state.groups.raw(),
            sessions: state.sessions.raw(),
            selections: selections.as_ptr(),
            externs: objects.raw(),
            digest: events::digest,
            log: events::log,
            fail: events::fail,
            punt: events::punt,
            insert: events::insert,
        };
        Box::new(SharedMemory { raw, _tables: tables, _registers: registers, _meters: meters, _selections: selections })
    }
}

impl<L: Lane> Drop for Switch<L> {
    fn drop(&mut self) {
        self.stop();
        self.detach();
    }
}
