//! A switch in this process: workers on the in-memory port at full load, the server of controllers, and the thread between them.

use crate::run::controller::{Controller, config_of};
use crate::run::live::{Built, Live, Shared};
use crate::run::misses::Misses;
use crate::run::pushed::Builder;
use crate::run::relay::Relay;
use crate::run::requests::ControlThread;
use crate::run::state::{self, Keeper, Origin};
use driver::failure::Failure;
use p4runtime::Server;
use runtime::memory::Counts;
use runtime::{Buffers, MemoryPort, Settings, Trace};
use std::net::SocketAddr;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// As the program has it.
pub const CPU_PORT: u32 = 255;
/// What a device has.
pub const BUFFERS: Buffers = Buffers { count: 4096, bytes: 2048, headroom_bytes: 128 };

/// How far the worker has come.
#[derive(Clone, Copy)]
pub struct Progress {
    packets: u64,
    /// Of the worker's thread.
    processor: Duration,
    at: Instant,
}

impl Progress {
    /// Packets a second between two moments, by the clock.
    pub fn rate(self, since: Progress) -> f64 {
        (self.packets - since.packets) as f64 / (self.at - since.at).as_secs_f64()
    }

    /// Packets a second of the worker's own time: without what other processes took of its core.
    pub fn own_rate(self, since: Progress) -> f64 {
        (self.packets - since.packets) as f64 / (self.processor - since.processor).as_secs_f64()
    }
}

/// What the worker has done in several stretches of time.
#[derive(Default)]
pub struct Stretches {
    packets: u64,
    processor: Duration,
    elapsed: Duration,
}

impl Stretches {
    /// Adds what the worker does while `work` runs.
    pub fn add<T>(&mut self, rig: &Rig, work: impl FnOnce() -> T) -> T {
        let before = rig.progress();
        let result = work();
        let after = rig.progress();
        self.packets += after.packets - before.packets;
        self.processor += after.processor - before.processor;
        self.elapsed += after.at - before.at;
        result
    }

    /// Packets a second, by the clock.
    pub fn rate(&self) -> f64 {
        self.packets as f64 / self.elapsed.as_secs_f64()
    }

    /// Packets a second of the worker's own time.
    pub fn own_rate(&self) -> f64 {
        self.packets as f64 / self.processor.as_secs_f64()
    }

    pub fn seconds(&self) -> f64 {
        self.elapsed.as_secs_f64()
    }
}

pub struct Rig {
    pub switch: Shared<MemoryPort>,
    server: Option<Server>,
    pub relay: Arc<Mutex<Relay<MemoryPort>>>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Rig {
    /// A switch with this pipeline and no packets yet.
    pub fn new(built: &Built, builder: Builder) -> Result<Rig, Failure> {
        Rig::begin(built, builder, None)
    }

    /// The same, with the state in a directory that is missing yet.
    pub fn saved(built: &Built, builder: Builder, folder: &Path) -> Result<Rig, Failure> {
        Rig::begin(built, builder, Some(state::open(folder)?.0))
    }

    fn begin(built: &Built, builder: Builder, keeper: Option<Keeper>) -> Result<Rig, Failure> {
        let settings = Settings { ports: CPU_PORT + 1, seed: 0 };
        let mut live = Live::new(vec![MemoryPort::new(BUFFERS)], settings, Some(CPU_PORT));
        let engine = live.begin(built)?;
        if let Some(keeper) = keeper {
            let saved = keeper.save_all(engine, &config_of(&built.program), Origin::CommandLine).wait();
            saved.map_err(|why| Failure::environment(format!("--state: {why}")))?;
            live.keep(Some(Arc::new(keeper)));
        }
        let switch = Shared::new(live);
        let target = Controller {
            switch: switch.clone(),
            builder,
            cpu_port: Some(CPU_PORT),
            control: ControlThread::default(),
            tracing: crate::run::tracing::Tracing::default(),
        };
        let addresses = vec![SocketAddr::from(([127, 0, 0, 1], 0))];
        let settings = p4runtime::Settings { addresses, cpu_port: Some(CPU_PORT), ..p4runtime::Settings::default() };
        let running = Some((built.program.clone(), config_of(&built.program)));
        let server = Server::start(settings, Arc::new(target), running)
            .map_err(|error| Failure::environment(format!("the server of controllers: {error}")))?;
        let relay = Arc::new(Mutex::new(Relay::new(switch.clone(), server.events(), Misses::new(None), None)));
        let stop = Arc::new(AtomicBool::new(false));
        let (turning, stopped) = (relay.clone(), stop.clone());
        let thread = std::thread::spawn(move || {
            while !stopped.load(Ordering::Relaxed) {
                std::thread::sleep(crate::run::LOOK);
                turning.lock().unwrap_or_else(PoisonError::into_inner).turn();
            }
        });
        Ok(Rig { switch, server: Some(server), relay, stop, thread: Some(thread) })
    }

    pub fn address(&self) -> SocketAddr {
        self.server.as_ref().expect("it runs until the end").addresses()[0]
    }

    /// Full load from now on: the trace, again and again.
    pub fn load(&self, trace: Trace) {
        let mut live = self.switch.lock();
        live.stop();
        let engine = live.engine().expect("it began with a pipeline");
        engine.switch().ports_of(0).expect("no thread runs it").load(trace, u64::MAX, 0);
        live.start();
    }

    pub fn progress(&self) -> Progress {
        let mut live = self.switch.lock();
        let switch = live.engine().expect("it began with a pipeline").switch();
        let packets =
            (0..switch.tables().len()).map(|table| switch.hits(table)).map(|(hit, missed)| hit + missed).sum();
        Progress { packets, processor: processor_time(), at: Instant::now() }
    }

    /// The worker's rates while `work` runs.
    pub fn rates<T>(&self, work: impl FnOnce() -> T) -> (f64, f64, T) {
        let before = self.progress();
        let result = work();
        let after = self.progress();
        (after.rate(before), after.own_rate(before), result)
    }

    /// Packets a second of the worker's own time while `work` runs, whatever tables the code looks up. The worker begins and ends with it.
    pub fn packet_rate(&self, work: impl FnOnce()) -> f64 {
        let received = |live: &mut Live<MemoryPort>| {
            live.stop();
            let engine = live.engine().expect("it began with a pipeline");
            let received = engine.switch().ports_of(0).expect("no thread runs it").counts().received;
            live.start();
            received
        };
        let before = received(&mut self.switch.lock());
        work();
        // The kernel counts it now and then.
        let processor = processor_time().max(Duration::from_micros(1));
        let packets = received(&mut self.switch.lock()) - before;
        packets as f64 / processor.as_secs_f64()
    }

    /// What the program has counted.
    pub fn counter(&self, name: &str) -> u64 {
        let mut live = self.switch.lock();
        let switch = live.engine().expect("it began with a pipeline").switch();
        let counters = &switch.pipeline().description().counters;
        let number = counters.iter().position(|counter| counter.name.ends_with(name)).expect("the program has it");
        switch.counter(number, 0).expect("it has one element").packets
    }

    /// How often something was reported, by the name of its count.
    pub fn counted(&self, name: &str) -> u64 {
        self.relay.lock().unwrap_or_else(PoisonError::into_inner).counts.get(name).copied().unwrap_or(0)
    }

    /// The longest time that the worker has taken for a change between two bursts, since this was last called.
    pub fn take_longest_pause(&self) -> Duration {
        self.switch.lock().engine().expect("it began with a pipeline").switch().take_longest_pause()
    }

    /// Ends the load. What came and went.
    pub fn unload(&self) -> Counts {
        let mut live = self.switch.lock();
        live.stop();
        let own_ports =
            live.engine().expect("it began with a pipeline").switch().ports_of(0).expect("no thread runs it");
        own_ports.counts()
    }
}

impl Drop for Rig {
    fn drop(&mut self) {
        self.server = None;
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
        self.switch.lock().stop();
    }
}

/// Time for which the worker's thread has run, as the kernel counts it.
fn processor_time() -> Duration {
    let tasks = std::fs::read_dir("/proc/self/task").into_iter().flatten().flatten();
    let is_worker = |task: &std::fs::DirEntry| {
        std::fs::read_to_string(task.path().join("comm")).is_ok_and(|name| name.trim() == "worker 0")
    };
    let spent = tasks.filter(is_worker).filter_map(|task| {
        let text = std::fs::read_to_string(task.path().join("schedstat")).ok()?;
        text.split_whitespace().next()?.parse::<u64>().ok()
    });
    Duration::from_nanos(spent.sum())
}

/// Megabytes of this process: now, and at most since the peak was last forgotten.
pub fn memory() -> (f64, f64) {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let field = |name: &str| {
        let line = status.lines().find_map(|line| line.strip_prefix(name));
        let kilobytes = line.and_then(|line| line.split_whitespace().next()).and_then(|text| text.parse::<f64>().ok());
        kilobytes.unwrap_or(0.0) / 1024.0
    };
    (field("VmRSS:"), field("VmHWM:"))
}

/// Lets the peak of this process's memory begin where it is.
pub fn forget_peak() {
    drop(std::fs::write("/proc/self/clear_refs", "5"));
}
