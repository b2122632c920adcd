//! A switch: a pipeline, the state it works on, and workers that carry packets through it.
//!
//! The control thread owns this value and is the one writer. Workers run on threads of their own between [`Switch::start`] and [`Switch::stop`], or on the
//! caller's thread by [`Switch::run`]. A pipeline is exchanged while packets flow: see `exchange.rs`.

use crate::abi;
use crate::control::Bound;
use crate::counted::Counted;
use crate::counts::Counts;
use crate::error::SwitchError;
use crate::events::{Event, Lost};
use crate::generation::{Generation, Next, fill};
use crate::pipeline::{Description, Pipeline};
use crate::quiescent::Readers;
use crate::ring::Fill;
use crate::standby::Standby;
use crate::state::State;
use crate::tables::Table;
use crate::worker::{Worker, worker_seed};
use crate::worker_ports::{Connection, WorkerPorts};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

/// What holds for all workers.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// Packets to ports from this number on are dropped.
    pub ports: u32,
    pub seed: u64,
}

/// See the module.
pub struct Switch<L: WorkerPorts> {
    pub(crate) current: Generation,
    /// What the workers are to change over to.
    pub(crate) next: Option<Next>,
    /// What the workers have left and may come back to.
    pub(crate) standby: Option<Standby>,
    /// Registers and meters are those of the pipeline that the workers are attached to.
    pub state: State,
    pub(crate) workers: Vec<Worker>,
    pub(crate) cpu_port: Option<u32>,
    /// The ports of a worker are away while a thread runs it.
    worker_ports: Vec<Option<L>>,
    pub(crate) threads: Vec<JoinHandle<L>>,
    stop: Arc<AtomicU32>,
    /// How often the workers have changed over to another pipeline.
    pub(crate) exchanges: u64,
}

/// Addresses that a thread needs; they outlive it, since the switch joins its threads.
struct Run {
    worker: *mut abi::Worker,
    pipeline: *const abi::Pipeline,
}

// SAFETY: while the thread runs, other threads use the worker only to read its counts.
unsafe impl Send for Run {}

impl<L: WorkerPorts> Switch<L> {
    /// A switch with one worker for each element of `worker_ports`.
    pub fn new(
        pipeline: Arc<Pipeline>,
        mut worker_ports: Vec<L>,
        settings: Settings,
    ) -> Result<Switch<L>, SwitchError> {
        let readers = Arc::new(Readers::new(worker_ports.len()));
        crate::unmap::register(&readers);
        let description = pipeline.description();
        let connections: Vec<Connection> = worker_ports.iter_mut().map(WorkerPorts::connect).collect();
        check_descriptors(&pipeline, &connections)?;
        let make = |(id, connection)| Worker::new(id as u32, settings.ports, settings.seed, connection);
        let mut workers: Vec<Worker> = connections.iter().enumerate().map(make).collect();
        for (id, worker) in workers.iter_mut().enumerate() {
            readers.register(id, &mut *worker.raw, &worker.host.sleeping);
        }
        let tables = fill(&pipeline, vec![None; description.tables.len()], &readers)?;
        let state = State::new(description, readers.clone())?;
        let counted = workers.iter().map(|worker| Counted::new(description, worker.buffers, None));
        let counted = counted.collect::<Result<_, _>>()?;
        let (objects, groups) = ((&*state.registers, &*state.meters), (&state.groups, &state.sessions));
        let current = Generation::new(pipeline, Bound { readers, tables }, objects, groups, counted)?;
        let mut switch = Switch {
            current,
            next: None,
            standby: None,
            state,
            workers,
            cpu_port: None,
            worker_ports: worker_ports.into_iter().map(Some).collect(),
            threads: Vec::new(),
            stop: Arc::new(AtomicU32::new(0)),
            exchanges: 0,
        };
        switch.attach()?;
        Ok(switch)
    }

    /// Begins anew with a pipeline, as a switch that has just been made: this one is taken down first, for there may be no room for both.
    pub fn renew(
        &mut self,
        pipeline: Arc<Pipeline>,
        worker_ports: Vec<L>,
        settings: Settings,
    ) -> Result<(), SwitchError> {
        self.stop();
        self.detach();
        self.forget_workers();
        self.workers.clear();
        (self.next, self.standby) = (None, None);
        self.current.counted.clear();
        self.current.bound.tables.clear();
        (self.state.registers, self.state.meters) = (Vec::new(), Vec::new());
        let cpu_port = self.cpu_port;
        *self = Switch::new(pipeline, worker_ports, settings)?;
        self.set_cpu_port(cpu_port);
        Ok(())
    }

    /// Before they go.
    fn forget_workers(&self) {
        (0..self.workers.len()).for_each(|id| self.current.bound.readers.unregister(id));
    }

    fn attach(&mut self) -> Result<(), SwitchError> {
        self.current.bind_tables(&self.state.meters);
        for (id, worker) in self.workers.iter_mut().enumerate() {
            // SAFETY: the worker is complete and runs nowhere.
            let status = unsafe { self.current.attachment(id).attach(&mut *worker.raw, &worker.control) };
            if status != 0 {
                return Err(SwitchError::Attach { worker: worker.raw.id, status });
            }
        }
        Ok(())
    }

    /// Drives out what the pipeline holds and lets go of it.
    fn detach(&mut self) {
        for (id, worker) in self.workers.iter_mut().enumerate() {
            // SAFETY: the worker is attached and runs nowhere.
            unsafe { self.current.attachment(id).detach(&mut *worker.raw) };
        }
    }

    /// The pipeline that the control plane writes to: the one that was prepared last, until it is given up; a standby that is shown.
    pub fn pipeline(&self) -> &Arc<Pipeline> {
        &self.written().pipeline
    }

    /// Tables, then value sets, in the order of the pipeline's description. See [`Switch::pipeline`].
    pub fn tables(&self) -> &[Arc<Table>] {
        &self.written().bound.tables
    }

    pub fn worker_count(&self) -> usize {
        self.workers.len()
    }

    /// The ports of a worker; not while it runs on a thread.
    pub fn ports_of(&mut self, worker: usize) -> Option<&mut L> {
        self.worker_ports[worker].as_mut()
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

    /// Seeds `random`, each worker differently, and numbers packets from 0 again.
    pub fn set_seed(&mut self, seed: u64) {
        for worker in &mut self.workers {
            (worker.raw.seed, worker.raw.packet_number) = (worker_seed(seed, worker.raw.id), 0);
        }
    }

    /// Runs one worker on this thread until its port has nothing more to give.
    pub fn run(&mut self, worker: usize) {
        assert!(self.threads.is_empty(), "a worker is run here only while none runs on a thread");
        let own_ports = self.worker_ports[worker].as_mut().expect("without threads every worker's ports are here");
        self.state.readers.set_running(worker, true);
        // SAFETY: the worker is attached to this pipeline and connected to these ports.
        unsafe { own_ports.run(&mut *self.workers[worker].raw, self.current.pipeline.raw(), &self.stop) };
        self.state.readers.set_running(worker, false);
    }

    /// Starts a thread for each worker.
    pub fn start(&mut self) {
        assert!(self.threads.is_empty(), "a switch is started once, and again after it was stopped");
        self.stop.store(0, Ordering::SeqCst);
        for (id, (worker, own_ports)) in self.workers.iter_mut().zip(&mut self.worker_ports).enumerate() {
            let run = Run { worker: &mut *worker.raw, pipeline: self.current.pipeline.raw() };
            let mut own_ports = own_ports.take().expect("without threads every worker's ports are here");
            let (stop, readers) = (self.stop.clone(), self.state.readers.clone());
            readers.set_running(id, true);
            let named = std::thread::Builder::new().name(format!("worker {id}"));
            let thread = named.spawn(move || {
                let run = run;
                // SAFETY: the switch keeps worker and pipeline until it has joined this thread.
                unsafe { own_ports.run(run.worker, run.pipeline, &stop) };
                readers.set_running(id, false);
                own_ports
            });
            self.threads.push(thread.expect("the system has room for a thread of each worker"));
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
        self.workers.iter().for_each(|worker| worker.host.rouse());
        self.join();
        self.stop.store(0, Ordering::SeqCst);
    }

    /// Waits until every worker's port has nothing more to give.
    pub fn join(&mut self) {
        for (own_ports, thread) in self.worker_ports.iter_mut().zip(self.threads.drain(..)) {
            *own_ports = Some(thread.join().expect("a worker is C code, which does not unwind"));
        }
    }

    /// Returns when every worker that runs waits at the end of a burst: what is written until [`Switch::release`] is seen by packets as a whole. Packets wait
    /// at their ports meanwhile.
    pub fn hold(&mut self) {
        for worker in &self.workers {
            worker.control.gate.close();
            worker.host.call();
        }
        for (id, worker) in self.workers.iter().enumerate() {
            // A thread that has ended passes no packet. `Readers` cannot see it: a worker that leaves an earlier gate does not count as running yet.
            let is_at_work = || self.threads.get(id).is_some_and(|thread| !thread.is_finished());
            while !worker.control.gate.is_waited_at() && is_at_work() {
                std::thread::sleep(Duration::from_micros(5));
            }
        }
    }

    /// Whether all workers sleep in the kernel until a packet comes.
    pub fn all_sleep(&self) -> bool {
        self.workers.iter().all(|worker| worker.host.sleeping.load(Ordering::SeqCst) != 0)
    }

    /// Lets workers that sleep look at their ports anew.
    pub fn rouse(&self) {
        self.workers.iter().for_each(|worker| worker.host.call());
    }

    /// Lets workers go on.
    pub fn release(&mut self) {
        self.workers.iter().for_each(|worker| worker.control.gate.open());
    }

    /// A count over all workers.
    fn sum(&self, count: impl Fn(&Counted) -> Option<u64>) -> u64 {
        self.read().counted.iter().filter_map(count).sum()
    }

    fn description(&self) -> &Description {
        self.read().pipeline.description()
    }

    /// Packets dropped, by reason.
    pub fn drops(&self) -> Vec<u64> {
        let count = self.description().drops.len();
        (0..count).map(|reason| self.sum(|counted| counted.drops.get(reason))).collect()
    }

    /// Packets on each edge and keys of lookups, if the plan counts them.
    pub fn counts(&self) -> Counts {
        let mut counts = Counts::default();
        self.current.counted.iter().for_each(|counted| counts.add(&counted.counts()));
        counts
    }

    /// Hits and misses of a table.
    pub fn hits(&self, table: usize) -> (u64, u64) {
        (self.sum(|counted| counted.hits.get(table)), self.sum(|counted| counted.misses.get(table)))
    }

    /// A counter's element, over all workers; `None` if there is no such index.
    pub fn counter(&self, counter: usize, index: u64) -> Option<abi::CounterElement> {
        self.read().counter(counter, index)
    }

    /// Makes a counter's element show this sum; exact only while no packet counts there. False if there is no such index.
    pub fn set_counter(&self, counter: usize, index: u64, value: abi::CounterElement) -> bool {
        let values = std::iter::once(value).chain(std::iter::repeat(abi::CounterElement::default()));
        let counted = self.read().counted.iter();
        counted.zip(values).all(|(counted, value)| counted.counters[counter].elements.set(index as usize, value))
    }

    /// The longest time that a worker has taken for a change of pipelines, between two bursts, since this was last called.
    pub fn take_longest_pause(&self) -> Duration {
        self.workers.iter().map(|worker| worker.control.take_longest_pause()).max().unwrap_or_default()
    }

    /// How full the queues between the workers and the control thread are.
    pub fn queues(&self) -> Vec<Fill> {
        (0..).zip(&self.workers).flat_map(|(id, worker)| worker.control.fills(id)).collect()
    }

    /// How often the workers have changed over to another pipeline, and the longest time that one has taken for it.
    pub fn exchanges(&self) -> (u64, Duration) {
        let longest = self.workers.iter().map(|worker| worker.control.longest_pause()).max();
        (self.exchanges, longest.unwrap_or_default())
    }

    /// The pipeline's events since this was last called, each kind in order for each worker; and what was lost since then, because its queue was full. Of
    /// each worker's records of digests, no more than `digests` are taken: the others wait.
    pub fn take_events(&self, digests: usize) -> (Vec<Event>, Lost) {
        let (mut events, mut lost) = (Vec::new(), Lost::default());
        let workers = (0..).zip(&self.workers);
        workers.for_each(|(id, worker)| worker.control.events.take((id, digests), &mut events, &mut lost));
        (events, lost)
    }
}

fn check_descriptors(pipeline: &Pipeline, connections: &[Connection]) -> Result<(), SwitchError> {
    let wanted = pipeline.description().descriptor;
    match connections.iter().find(|connection| connection.descriptor != wanted) {
        Some(other) => Err(SwitchError::Descriptor { pipeline: wanted, port: other.descriptor }),
        None => Ok(()),
    }
}

impl<L: WorkerPorts> Drop for Switch<L> {
    fn drop(&mut self) {
        self.stop();
        self.detach();
        self.forget_workers();
    }
}
