//! A variant with its entries loaded, and the cycles that its packets take: medians of many samples shorter than a time slice.

use super::check::Order;
use super::entry::Encoder;
use super::machine_drift::Predictor;
use super::variants::{Built, Variant};
use super::workload::Workload;
use control::{DataPlane as _, Update};
use driver::entries;
use driver::failure::Failure;
use hlir::{Program, ResolvedPlan};
use measure::samples::Samples;
use native::NativeEngine;
use runtime::abi::Member;
use runtime::memory::Counts;
use runtime::{
    Descriptor, DpdkMemoryPort, Group, MemoryPort, Packet, Peer, Pipeline, PortLayer, Settings, Switch, Trace,
    Undisturbed, WorkerPorts, clock,
};
use schedule::Planned;
use schedule::access::Accesses;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Packets of a sample: some 0.1 ms.
const SAMPLE: u64 = 8192;
/// What the clock of the in-memory port moves by from sample to sample, so that hits restart idle timers.
const SAMPLE_NS: u64 = 100_000;
/// A variant that takes longer for a round than this gets by with fewer samples: one of a thousand cycles per packet is as steady in five.
const ENOUGH: Duration = Duration::from_millis(60);
const FEWEST: usize = 5;
/// Packets that warm a variant's tables before its round: eight times as many as the tables have entries, so that but one in three thousand of the lines that a
/// cache can hold is missing, within these bounds. The upper one's packets bring 32 MB of lines, with one for each.
const WARM: RangeInclusive<u64> = 1 << 16..=1 << 19;
const WARM_TO_AN_ENTRY: u64 = 8;
const SETTINGS: Settings = Settings { ports: PORTS, seed: 1 };
const PORTS: u32 = 512;

/// An in-memory port of either descriptor.
pub trait Replay {
    fn load(&mut self, trace: Arc<Trace>, packets: u64, burst: u32);
    fn more(&mut self, packets: u64);
    fn counts(&self) -> Counts;
    fn keep_sent(&mut self, keep: bool);
    fn take_sent(&mut self) -> Vec<Packet>;
}

macro_rules! replay {
    ($port:ty) => {
        impl Replay for $port {
            fn load(&mut self, trace: Arc<Trace>, packets: u64, burst: u32) {
                <$port>::load(self, trace, packets, burst);
            }
            fn more(&mut self, packets: u64) {
                <$port>::more(self, packets);
            }
            fn counts(&self) -> Counts {
                <$port>::counts(self)
            }
            fn keep_sent(&mut self, keep: bool) {
                if keep { <$port>::keep_sent(self) } else { <$port>::forget_sent(self) }
            }
            fn take_sent(&mut self) -> Vec<Packet> {
                <$port>::take_sent(self)
            }
        }
    };
}

replay!(MemoryPort);
replay!(DpdkMemoryPort);

/// A switch with one worker, whatever its port.
trait Carrier {
    fn port(&mut self) -> &mut dyn Replay;
    fn run(&mut self);
    fn set_clock(&mut self, nanoseconds: u64);
    /// Discards the program's digests and idle entries.
    fn hush(&mut self);
    /// Lookups so far; unknown of programs by hand.
    fn lookups(&mut self) -> Option<u64>;
}

impl<R: Replay + WorkerPorts> Carrier for Switch<R> {
    fn port(&mut self) -> &mut dyn Replay {
        self.ports_of(0).expect("no thread runs its worker")
    }
    fn run(&mut self) {
        Switch::run(self, 0);
    }
    fn set_clock(&mut self, nanoseconds: u64) {
        Switch::set_clock(self, nanoseconds);
    }
    fn hush(&mut self) {
        let _ = self.take_events(usize::MAX);
    }
    fn lookups(&mut self) -> Option<u64> {
        None
    }
}

impl<R: Replay + WorkerPorts> Carrier for NativeEngine<'static, R> {
    fn port(&mut self) -> &mut dyn Replay {
        Carrier::port(self.switch())
    }
    fn run(&mut self) {
        self.switch().run(0);
    }
    fn set_clock(&mut self, nanoseconds: u64) {
        // Without aging, which the control thread does at its leisure.
        self.switch().set_clock(nanoseconds);
    }
    fn hush(&mut self) {
        self.switch().hush();
    }
    fn lookups(&mut self) -> Option<u64> {
        let switch = self.switch();
        // A table without keys is an action that is always run.
        let tables = switch.tables().iter().enumerate().filter(|(_, table)| table.description().key_bits > 0);
        let numbers: Vec<usize> = tables.map(|(number, _)| number).collect();
        Some(numbers.into_iter().map(|number| switch.hits(number)).map(|(hits, misses)| hits + misses).sum())
    }
}

/// Accesses of the plan's hot path, if it names a mode.
fn counted(Predictor { program, plan, .. }: &Predictor) -> Option<Accesses> {
    plan.accesses?;
    let planned = Planned::of(program, &ResolvedPlan::of(program, plan))?.ok()?;
    planned.accesses().into_iter().map(|(_, accesses)| accesses).reduce(|all, one| all + one)
}

/// What a case cost.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    /// Median cycles per packet.
    pub cycles: f64,
    /// Lookups a packet; unknown of programs by hand.
    pub lookups: Option<f64>,
    /// Half the distance between the quartiles, relative to the median.
    pub spread: f64,
    /// Share of the packets that were not forwarded.
    pub lost: f64,
}

pub struct Runner {
    pub name: String,
    pub descriptor: Descriptor,
    pub predictor: Option<Predictor>,
    /// To the bytes of a packet on the hot path.
    pub accesses: Option<Accesses>,
    /// In which its packets must leave.
    pub order: Order,
    /// Packets that the program takes at once.
    pub burst: u32,
    /// What the entries took to load.
    pub load: Duration,
    pub entries: u64,
    /// Packets before each round.
    warm: u64,
    /// The tables are as the packets have made them.
    is_learning: bool,
    carrier: Box<dyn Carrier>,
    samples: Samples,
    clock_ns: u64,
    before: Counts,
    lookups_before: u64,
}

impl Runner {
    pub fn new(
        variant: &Variant,
        built: Built,
        workload: &Workload,
        dpdk: Option<&Arc<PortLayer>>,
    ) -> Result<Runner, Failure> {
        let start = Instant::now();
        let pipeline = &built.pipeline;
        let (carrier, entries): (Box<dyn Carrier>, u64) = match (variant.descriptor, dpdk) {
            (Descriptor::Own, Some(dpdk)) if variant.origin.copies() => {
                let dpdk = dpdk.clone();
                filled(&built, move || DpdkMemoryPort::copying(&dpdk), workload)?
            }
            (Descriptor::Own, _) => {
                let buffers = workload.buffers;
                filled(&built, move || MemoryPort::new(buffers), workload)?
            }
            (Descriptor::Mbuf, Some(dpdk)) => {
                let dpdk = dpdk.clone();
                filled(&built, move || DpdkMemoryPort::new(&dpdk), workload)?
            }
            (Descriptor::Mbuf, None) => return Err(Failure::environment("DPDK has not started")),
        };
        Ok(Runner {
            name: variant.name.clone(),
            descriptor: variant.descriptor,
            burst: pipeline.description().burst,
            load: start.elapsed(),
            entries,
            warm: (WARM_TO_AN_ENTRY * workload.size).clamp(*WARM.start(), *WARM.end()),
            is_learning: workload.is_learning,
            order: if built.programs.as_ref().is_some_and(|(_, compiled)| !compiled.joins.is_empty()) {
                Order::Any
            } else {
                Order::OfPorts
            },
            accesses: built.predictor.as_ref().and_then(counted),
            predictor: built.predictor,
            carrier,
            samples: Samples::default(),
            clock_ns: 0,
            before: Counts::default(),
            lookups_before: 0,
        })
    }

    /// Begins a case: the trace from its first packet, in bursts of this size.
    pub fn begin(&mut self, trace: &Arc<Trace>, burst: u32) {
        self.samples.clear();
        let before = if self.is_learning { trace.len() } else { 0 };
        self.carrier.port().load(trace.clone(), before, burst);
        self.carrier.run();
        self.carrier.hush();
        self.before = self.carrier.port().counts();
        self.lookups_before = self.carrier.lookups().unwrap_or_default();
    }

    /// Takes the samples of one round. Rounds of all variants take turns, so that a machine that slows down slows all of them.
    pub fn round(&mut self, samples: usize) {
        let undisturbed = Undisturbed::begin();
        let begun = Instant::now();
        self.carrier.port().more(self.warm);
        self.carrier.run();
        let mut taken = 0;
        self.samples.take(samples, || {
            if taken >= FEWEST && begun.elapsed() > ENOUGH {
                return None;
            }
            taken += 1;
            self.carrier.port().more(SAMPLE);
            self.clock_ns += SAMPLE_NS;
            self.carrier.set_clock(self.clock_ns);
            let start = clock::ticks();
            self.carrier.run();
            Some((clock::ticks() - start) as f64 / SAMPLE as f64)
        });
        drop(undisturbed);
        self.carrier.hush();
    }

    /// Whether it has been seen on a quiet core often enough.
    pub fn is_settled(&self) -> bool {
        self.samples.is_settled()
    }

    pub fn cost(&mut self) -> Cost {
        let counts = self.carrier.port().counts();
        let (received, sent) = (counts.received - self.before.received, counts.sent - self.before.sent);
        let lookups = self.carrier.lookups().map(|lookups| (lookups - self.lookups_before) as f64 / received as f64);
        Cost {
            cycles: self.samples.median(),
            lookups,
            spread: self.samples.spread(),
            lost: 1.0 - sent as f64 / received as f64,
        }
    }

    /// What comes out when a trace goes in once, in bursts of this size.
    pub fn sent(&mut self, trace: &Arc<Trace>, burst: u32) -> Vec<Packet> {
        self.carrier.port().keep_sent(true);
        self.carrier.port().load(trace.clone(), trace.len(), burst);
        self.carrier.run();
        let sent = self.carrier.port().take_sent();
        self.carrier.port().keep_sent(false);
        self.carrier.hush();
        sent
    }
}

/// A switch with one port, ready.
fn filled<R: Replay + WorkerPorts + native::Replay>(
    built: &Built,
    mut port: impl FnMut() -> R + Send + 'static,
    workload: &Workload,
) -> Result<(Box<dyn Carrier>, u64), Failure> {
    if let Some((program, compiled)) = &built.programs {
        let ports = move || vec![port()];
        let mut engine = NativeEngine::new((program, compiled), built.pipeline.clone(), SETTINGS, ports)?;
        if !built.compressed {
            let tables = engine.switch().tables();
            let set = tables.iter().try_for_each(|table| table.compress_paths(false));
            set.map_err(|error| Failure::environment(format!("path compression: {error}")))?;
        }
        let count = load(&mut engine, (program, compiled), &built.pipeline, workload)?;
        return Ok((Box::new(engine), count));
    }
    let switch = Switch::new(built.pipeline.clone(), vec![port()], SETTINGS)?;
    let count = filled_by_hand(&switch, built, workload)?;
    Ok((Box::new(switch), count))
}

/// One of our programs with the workload's entries, and their number.
pub fn engine<R: WorkerPorts + native::Replay>(
    programs: (&Program, &Program),
    pipeline: &Arc<Pipeline>,
    workload: &Workload,
    mut port: impl FnMut() -> R + Send + 'static,
) -> Result<(NativeEngine<'static, R>, u64), Failure> {
    let mut engine = NativeEngine::new(programs, pipeline.clone(), SETTINGS, move || vec![port()])?;
    let count = load(&mut engine, programs, pipeline, workload)?;
    Ok((engine, count))
}

/// The same with a port for each of several workers.
pub fn engine_of_workers(
    programs: (&Program, &Program),
    pipeline: &Arc<Pipeline>,
    workload: &Workload,
    workers: usize,
) -> Result<NativeEngine<'static, MemoryPort>, Failure> {
    let buffers = workload.buffers;
    let ports = move || (0..workers).map(|_| MemoryPort::new(buffers)).collect();
    let mut engine = NativeEngine::new(programs, pipeline.clone(), SETTINGS, ports)?;
    load(&mut engine, programs, pipeline, workload)?;
    Ok(engine)
}

/// Gives an engine the workload's entries, and returns their number.
fn load<R: WorkerPorts + native::Replay>(
    engine: &mut NativeEngine<'static, R>,
    (program, compiled): (&Program, &Program),
    pipeline: &Arc<Pipeline>,
    workload: &Workload,
) -> Result<u64, Failure> {
    let mut count = entries::load(engine, &workload.files, entries::USUAL_PORTS)?;
    let mut encoder = Encoder::new(&pipeline.description().tables);
    let is_source = |table| compiled.joins.iter().any(|join| join.first == table || join.second == table);
    (workload.entries)(&mut |entry| {
        // Joint tables follow what is written by the engine.
        if let Some(table) = entry.table_in(program).filter(|table| is_source(*table)) {
            count += 1;
            let update = Update::Insert { table, entry: entry.in_table(&program.tables[table])? };
            return engine.apply(&update).map_err(|refusal| Failure::refusal(entry.table, &refusal));
        }
        let Some((number, matches, record)) = encoder.encode(entry)? else { return Ok(()) };
        count += 1;
        let inserted = engine.switch().tables()[number].insert(&matches, &record);
        inserted.map(drop).map_err(|error| Failure::input(format!("table `{}`: {error}", entry.table)))
    })?;
    for (number, members) in &workload.groups {
        let member = |(port, instance): &(u32, u32)| Member { port: *port, instance: *instance };
        let group = Group { members: members.iter().map(member).collect(), truncation: 0 };
        engine.switch().state.set_group(*number, Some(group));
    }
    // As `bacus run` does behind its entries.
    engine.switch().tables().iter().for_each(|table| table.compact());
    Ok(count)
}

/// Gives a program by hand its entries: it has our tables, or some of its own.
fn filled_by_hand<R: WorkerPorts>(switch: &Switch<R>, built: &Built, workload: &Workload) -> Result<u64, Failure> {
    let pipeline = &built.pipeline;
    let peer = Peer::open(pipeline, workload.size).map_err(Failure::environment)?;
    for (number, record) in &built.defaults {
        let set = switch.tables()[*number].set_default(record);
        set.map_err(|error| Failure::input(format!("table {number}: {error}")))?;
    }
    let mut encoder = Encoder::new(&pipeline.description().tables);
    let mut count = 0;
    (workload.entries)(&mut |entry| {
        let Some((number, matches, record)) = encoder.encode(entry)? else { return Ok(()) };
        count += 1;
        match &peer {
            Some(peer) => peer.insert(number, &matches, &record).map_err(Failure::input),
            None => {
                let inserted = switch.tables()[number].insert(&matches, &record);
                inserted.map(drop).map_err(|error| Failure::input(format!("table `{}`: {error}", entry.table)))
            }
        }
    })?;
    switch.tables().iter().for_each(|table| table.compact());
    if let Some(peer) = &peer {
        peer.ready().map_err(Failure::input)?;
    }
    Ok(count)
}
