//! What a program costs on the in-memory port, in all and by node, under its plan; as mbufs, on DPDK's.
//!
//! Totals are the clock's. Where the time goes is sampled: the same code, compiled with line numbers, is interrupted some thousand times a second, and the
//! instruction that it waited for belongs to a node. So nothing is added to the code, and nodes that a plan runs in stages have their times too.

mod attribute;
pub mod frames;

use crate::samples::Samples;
use attribute::{Part, Parts};
use driver::compile;
use driver::entries;
use driver::externs;
use driver::failure::Failure;
use driver::files;
use driver::frontend;
use driver::inputs;
use driver::options::{Native, Passes, Source, Warnings};
use frames::{Frames, LARGEST_BUFFERS, SHUFFLED};
use hlir::plan::Descriptor;
use hlir::{Plan, Program};
use interp::PORTS;
use native::{NativeEngine, Replay};
use opt::explain::{Breakdown, Measured};
use opt::inputs::Profile;
use runtime::{
    Buffers, DpdkMemoryPort, MemoryPort, Pipeline, PortLayer, PortSettings, Settings, Symbols, Trace, clock, sampler,
};
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// In DPDK's pool, as `bacus bench` has.
const MBUFS: u32 = 4096;
/// Packets of a sample of the clock: some 0.1 ms, shorter than a time slice.
const SAMPLE: u64 = 4096;
const SAMPLES: usize = 61;
/// For a plan, since the other one is measured at another time: the core should be quiet for both.
const MIN_TIME: Duration = Duration::from_secs(1);
/// Packets whose paths are counted.
const COUNTED: u64 = 62 * SAMPLE;
/// Places that are noted: some seconds, and each of twenty nodes is known within a few percent.
const PLACES: usize = 12_000;
/// Packets between two looks at whether that many are noted, and such looks at most.
const STEP: u64 = 1 << 14;
const STEPS: usize = 1 << 14;
const USUAL_BURST: u32 = 32;

/// The packets of a file, over and over, if they are few in an order that is drawn.
pub struct Measuring<'a> {
    source: &'a Source,
    native: &'a Native,
    packets: &'a Path,
    /// Packets of the file that are run.
    count: usize,
    /// Packets that are not run: copying them would cost more than all else.
    too_long: usize,
    buffers: Buffers,
    trace: Arc<Trace>,
}

/// A port that plays a trace.
trait Player: Replay {
    const DESCRIPTOR: Descriptor;

    fn play(&mut self, trace: Arc<Trace>, burst: u32);
    fn more(&mut self, packets: u64);
}

impl Player for MemoryPort {
    const DESCRIPTOR: Descriptor = Descriptor::Own;

    fn play(&mut self, trace: Arc<Trace>, burst: u32) {
        self.load(trace, 0, burst);
    }

    fn more(&mut self, packets: u64) {
        MemoryPort::more(self, packets);
    }
}

impl Player for DpdkMemoryPort {
    const DESCRIPTOR: Descriptor = Descriptor::Mbuf;

    fn play(&mut self, trace: Arc<Trace>, burst: u32) {
        self.load(trace, 0, burst);
    }

    fn more(&mut self, packets: u64) {
        DpdkMemoryPort::more(self, packets);
    }
}

/// A program under a plan, with its entries, about to run.
struct Ready<'r, 'p, L: Player> {
    engine: &'r mut NativeEngine<'p, L>,
    pipeline: &'r Pipeline,
    object: &'r Path,
    compiled: &'r Program,
}

impl<'a> Measuring<'a> {
    pub fn new(source: &'a Source, native: &'a Native, packets: &'a Path) -> Result<Measuring<'a>, Failure> {
        let frames = Frames::read(packets, 0)?;
        let trace = Arc::new(frames.trace(packets)?);
        let Frames { frames, too_long, buffers } = frames;
        Ok(Measuring { source, native, packets, count: frames.len(), too_long, buffers, trace })
    }

    /// Where the packets go, which is the same for both descriptors.
    pub fn profile(&self, passes: &Passes) -> Result<Profile, Failure> {
        let passes = &frontend::counting(passes);
        self.under(passes, &self.own(), Symbols::None, inputs::counting, |ready| {
            run(ready.engine, COUNTED);
            Ok(inputs::profile_of(ready.pipeline.description(), &ready.engine.counts()))
        })
    }

    /// What the plan costs that `passes` make, which know the profile by now, and what the plain program.
    pub fn measure(&self, passes: &Passes, descriptor: Descriptor) -> Result<Measured, Failure> {
        match descriptor {
            Descriptor::Own => self.measure_on(passes, &self.own(), "the in-memory port"),
            Descriptor::Mbuf => {
                let layer = compile::compiler(self.native)?.dpdk_layer(&files::cache()?)?;
                let settings = PortSettings::of_machine(MBUFS, self.buffers.bytes);
                let dpdk = PortLayer::start(&layer, &settings).map_err(Failure::environment)?;
                self.measure_on(passes, &|| DpdkMemoryPort::new(&dpdk), "DPDK's in-memory port")
            }
        }
    }

    fn own(&self) -> impl Fn() -> MemoryPort + use<> {
        let buffers = self.buffers;
        move || MemoryPort::new(buffers)
    }

    fn measure_on<L: Player>(
        &self,
        passes: &Passes,
        port: &(dyn Fn() -> L + Sync),
        name: &str,
    ) -> Result<Measured, Failure> {
        let (planned, places) = self.under(
            passes,
            port,
            Symbols::Lines,
            |_| {},
            |ready| {
                let cycles = samples(ready.engine);
                Ok((cycles, attributed(ready)))
            },
        )?;
        let one_by_one = |plan: &mut Plan| *plan = Plan { burst: plan.burst, ..Plan::default() };
        let plain = self.under(passes, port, Symbols::None, one_by_one, |ready| Ok(samples(ready.engine)))?;
        let (count, file) = (self.count, self.packets.display());
        let long = match self.too_long {
            0 => String::new(),
            more => format!(" ({more} longer than {} bytes left out)", LARGEST_BUFFERS.room()),
        };
        let order = if count < SHUFFLED { "in an order that is drawn" } else { "over and over" };
        let on = format!("measured with {count} packets of {file}{long}, {order}, on {name}");
        let (parted, how) = match places {
            Ok(parts) => {
                let cycles = |share: f64| share * planned;
                let parted = Breakdown {
                    floor: cycles(parts.share(&Part::Port)),
                    staging: cycles(parts.share(&Part::Stages)),
                    nodes: parts.nodes().map(|(name, share)| (name.to_string(), cycles(share))).collect(),
                };
                (Some(parted), format!("{on}; its time was seen {} times, to attribute it to nodes", parts.count()))
            }
            Err(why) => (None, format!("{on}; not by node: {why}")),
        };
        Ok(Measured { planned, plain, breakdown: parted, how })
    }

    /// Compiles the program under the plan that `adjust` makes of the passes', fills its tables, and does `work`.
    fn under<T, L: Player>(
        &self,
        passes: &Passes,
        port: &(dyn Fn() -> L + Sync),
        symbols: Symbols,
        adjust: impl FnOnce(&mut Plan),
        work: impl FnOnce(&mut Ready<L>) -> Result<T, Failure>,
    ) -> Result<T, Failure> {
        let mut native = inputs::native_for(passes.machine.as_deref(), self.native);
        native.symbols = symbols;
        // The caller has read the program before, and shown its warnings.
        let source = Source { warnings: Warnings::none(), ..self.source.clone() };
        let loaded = frontend::load(&source)?;
        let program = loaded.program.clone();
        let externs = externs::find(&program, &native)?;
        let (compiled, mut plan) = frontend::optimize(loaded, passes, None)?;
        adjust(&mut plan);
        plan.descriptor = L::DESCRIPTOR;
        let c = compile::emit(&compiled, &plan, &externs)?;
        let object = compile::object(&compiled.name, &c, plan.descriptor, (&native, &externs))?;
        let pipeline = Arc::new(Pipeline::load(&object)?);
        let worker_ports = || vec![port()];
        let settings = Settings { ports: PORTS, seed: 0 };
        let mut engine = NativeEngine::new((&program, &compiled), pipeline.clone(), settings, worker_ports)?;
        entries::load(&mut engine, &passes.entries, entries::USUAL_PORTS)?;
        let burst = if plan.burst == 0 { USUAL_BURST } else { plan.burst };
        ports_of(&mut engine).play(self.trace.clone(), burst);
        work(&mut Ready { engine: &mut engine, pipeline: &pipeline, object: &object, compiled: &compiled })
    }
}

fn ports_of<'e, L: Player>(engine: &'e mut NativeEngine<'_, L>) -> &'e mut L {
    engine.switch().ports_of(0).expect("no thread runs its worker")
}

fn run<L: Player>(engine: &mut NativeEngine<'_, L>, packets: u64) {
    ports_of(engine).more(packets);
    engine.switch().run(0);
}

/// The packets' messages to the control plane are not wanted, but must not fill its ring.
fn forget<L: Player>(engine: &mut NativeEngine<'_, L>) {
    let _ = engine.switch().take_events(usize::MAX);
}

/// Median cycles per packet.
fn samples<L: Player>(engine: &mut NativeEngine<'_, L>) -> f64 {
    run(engine, SAMPLE);
    forget(engine);
    let mut samples = Samples::default();
    samples.take_for(SAMPLES, MIN_TIME, || {
        let start = clock::ticks();
        run(engine, SAMPLE);
        let cycles = (clock::ticks() - start) as f64 / SAMPLE as f64;
        forget(engine);
        Some(cycles)
    });
    samples.median()
}

/// What the time goes to; or why that is not known.
fn attributed<L: Player>(ready: &mut Ready<L>) -> Result<Parts, String> {
    let bar = compile::progress("sampling where the time goes".to_string());
    let places = sampler::sample(PLACES, STEPS, ready.engine, |engine| run(engine, STEP), forget);
    bar.finish_and_clear();
    let places = places.ok_or("the system has no timer for it")?;
    let places = sampler::places(ready.object, &places).map_err(|error| format!("addr2line: {error}"))?;
    Ok(Parts::new(ready.compiled, &places))
}
