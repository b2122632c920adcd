//! What the in-memory port costs a packet, and what an operation of generated code costs: and what stages cost: all by running pipelines.

use super::mbuf::Mbufs;
use super::time_budget::TimeBudget;
use super::{lanes, stages};
use crate::samples::Samples;
use driver::compile;
use driver::externs::Externs;
use driver::failure::Failure;
use driver::files;
use driver::machine_file;
use hlir::plan::Descriptor;
use hlir::{ActionCall, Plan, Program};
use native::translate;
use opt::Inputs;
use opt::analyze::Traffic;
use opt::inputs::machine::Port;
use opt::inputs::{Access, Machine, Profile};
use opt::model::Model;
use runtime::tables::Match;
use runtime::{Buffers, Compiler, MemoryPort, Pipeline, Settings, Switch, Trace, Undisturbed, WorkerPorts, clock};
use std::sync::Arc;

pub const ECHO: &str = include_str!("../../../../bench/peers/echo.c");
const OPERATIONS: &str = include_str!("operations.hlir");
/// Nodes of the program without tables that packets come to.
const WAY: [&str; 10] =
    ["begin", "parser.start", "parser.ipv4", "check", "alive", "verify", "rewrite", "end", "deparser", "departure"];
pub const BURSTS: [u32; 3] = [32, 64, 128];
/// As `bacus bench` runs programs.
const BUFFERS: Buffers = Buffers { count: 1024, bytes: 2048, headroom_bytes: 128 };
pub const PORTS: u32 = 512;
const PACKETS: u32 = 1 << 14;
const SAMPLE: u64 = 8192;
/// Samples of a round, and rounds: pipelines take turns, so that what disturbs one disturbs all.
const SAMPLES: usize = 20;
const ROUNDS: usize = 6 * SWITCHES;
/// Switches that run a pipeline, each with memory of its own: the placement of its buffers and arrays makes a packet up to a fifth more expensive.
pub const SWITCHES: usize = 5;
/// Lines of an mbuf that its port and the program touch, beside what own descriptors touch: for where there is no DPDK to measure with.
const MBUF_LINES: f64 = 2.0;
/// Bytes of an mbuf's head.
const MBUF_BYTES: u64 = 128;

/// Pipelines that measure, while they run, what the port, an operation and stages cost.
pub struct Pace {
    /// Operations of the program without tables.
    count: f64,
    staged: stages::Subject,
    lanes: lanes::Subject,
    /// Of the vectors that code is compiled for.
    vector_bytes: u32,
    /// Of each pipeline, some switches.
    runs: [[Run; SWITCHES]; 8],
    /// The switch whose turn it is.
    turn: usize,
}

impl Pace {
    pub fn new(compiler: &Compiler) -> Result<Pace, Failure> {
        let echo = compiled(compiler, "echo", ECHO)?;
        let program = hlir::text::parse_program(OPERATIONS).expect("the program of the calibration is right");
        let plan = Plan { descriptor: Descriptor::Own, burst: BURSTS[1], ..Plan::default() };
        let operations = load(compiler, "operations", &program, &plan)?;
        let staged = stages::Subject::new(compiler)?;
        let trace = Arc::new(trace());
        let own = machine_file::vector_bytes();
        let vector_bytes = compiler.vector_bytes.map_or(own, |bytes| bytes.min(own));
        let lanes = lanes::Subject::new(compiler, vector_bytes, &trace)?;
        let run = |pipeline, burst| several(|| Run::new(pipeline, trace.clone(), burst));
        let runs = [
            run(&echo, BURSTS[0])?,
            run(&echo, BURSTS[1])?,
            run(&echo, BURSTS[2])?,
            run(&operations, BURSTS[1])?,
            several(|| staged.run(stages::LARGE))?,
            several(|| staged.run(stages::PREFETCHED))?,
            several(|| staged.run(stages::SMALL))?,
            several(|| staged.run(stages::PIPELINED))?,
        ];
        // All packets of the trace take the same path.
        let mut profile = Profile::default();
        WAY.windows(2).for_each(|pair| profile.add(pair[0], pair[1], u64::from(PACKETS)));
        let inputs = Inputs { profile: Some(profile), ..Inputs::default() };
        let traffic = Traffic::estimate(&program, &inputs);
        let count = Model::new(&program, &inputs, &traffic).node_operations();
        Ok(Pace { count, staged, lanes, vector_bytes, runs, turn: 0 })
    }

    /// The switches of each pipeline.
    fn all(&mut self) -> impl Iterator<Item = &mut [Run; SWITCHES]> {
        self.runs.iter_mut().chain(self.lanes.runs())
    }

    /// Forgets what was measured so far.
    pub fn begin(&mut self) {
        self.all().flatten().for_each(|run| run.samples.clear());
    }

    /// Some samples of each pipeline, by one of its switches.
    pub fn round(&mut self) {
        self.turn = (self.turn + 1) % SWITCHES;
        let turn = self.turn;
        for runs in self.all() {
            let Run { switch, samples } = &mut runs[turn];
            sample(switch, samples, MemoryPort::more);
        }
    }

    /// Writes what was found into `machine`, which has been measured but for that.
    pub fn write(&self, machine: &mut Machine) {
        let [first, middle, last, worked, large, prefetched, small, pipelined] =
            self.runs.each_ref().map(|runs| median(runs.iter().map(|run| &run.samples)));
        let own = evened([first, middle, last]);
        let middle = own[1];
        let head = machine.line_cycles(Access::Load, u64::from(BUFFERS.count) * MBUF_BYTES, machine.parallelism);
        let mbuf = own.iter().map(|cycles| cycles + MBUF_LINES * head).collect();
        // A machine that was disturbed between the two gives absurd values; a tick for a hundred operations is as absurd.
        machine.operation_cycles = ((worked - middle) / self.count).max(0.01);
        let more = self.lanes.counted(self.vector_bytes);
        machine.stages =
            Some(self.staged.costs([large, prefetched, small, pipelined], middle, &more, self.vector_bytes));
        machine.vector = self.lanes.costs(machine);
        machine.port = Port { burst: BURSTS.to_vec(), own, mbuf, ..Port::default() };
    }
}

/// Runs all until it is known what they cost undisturbed, if time allows; `machine` has been measured but for what this finds.
pub fn measure(pace: &mut Pace, mbufs: &mut Option<Mbufs>, machine: &mut Machine, budget: &mut TimeBudget) {
    let mut rounds = 0;
    while rounds < ROUNDS && (rounds == 0 || !budget.is_over()) {
        pace.round();
        mbufs.iter_mut().for_each(Mbufs::round);
        rounds += 1;
    }
    budget.taken("the port and operations", rounds, ROUNDS);
    pace.write(machine);
    if let Some(mbufs) = mbufs {
        machine.port.mbuf = evened(mbufs.costs());
        machine.port.mbuf_measured = true;
    }
}

/// Costs of a packet by burst, where the middle one is at most the interpolation of its neighbours: what a burst costs once is
/// spread over more packets, and what caches have no room for grows with it. Something else came in between, then, and plans would take another burst for it.
fn evened(costs: [f64; BURSTS.len()]) -> Vec<f64> {
    let [few, some, many] = BURSTS.map(f64::from);
    let [first, middle, last] = costs;
    let between = first + (last - first) * (some - few) / (many - few);
    vec![first, middle.min(between), last]
}

pub fn several<R>(one: impl Fn() -> Result<R, Failure>) -> Result<[R; SWITCHES], Failure> {
    let runs = (0..SWITCHES).map(|_| one()).collect::<Result<Vec<R>, Failure>>()?;
    Ok(runs.try_into().unwrap_or_else(|_| unreachable!("there are as many as requested")))
}

/// Cycles per packet, of the switch in the middle; those that have not had their turn do not count.
pub fn median<'a>(switches: impl Iterator<Item = &'a Samples>) -> f64 {
    let mut costs: Vec<f64> = switches.map(Samples::median).filter(|cost| cost.is_finite()).collect();
    costs.sort_by(f64::total_cmp);
    costs.get(costs.len() / 2).copied().unwrap_or(f64::INFINITY)
}

/// A round of a switch, to which `more` gives packets.
pub fn sample<L: WorkerPorts>(switch: &mut Switch<L>, samples: &mut Samples, more: impl Fn(&mut L, u64)) {
    let _undisturbed = Undisturbed::begin();
    let mut once = || {
        more(switch.ports_of(0).expect("no thread runs its worker"), SAMPLE);
        let start = clock::ticks();
        switch.run(0);
        Some((clock::ticks() - start) as f64 / SAMPLE as f64)
    };
    // The first warms it up again.
    once();
    samples.take(SAMPLES, once);
}

/// A program under a plan.
pub fn load(compiler: &Compiler, name: &str, program: &Program, plan: &Plan) -> Result<Arc<Pipeline>, Failure> {
    compiled(compiler, name, &compile::emit(program, plan, &Externs::default())?)
}

fn compiled(compiler: &Compiler, name: &str, c: &str) -> Result<Arc<Pipeline>, Failure> {
    let object = compiler.pipeline(&files::cache()?, name, c, runtime::Descriptor::Own)?;
    Ok(Arc::new(Pipeline::load(&object)?))
}

/// A pipeline with its packets, and what it has cost.
pub struct Run {
    switch: Switch<MemoryPort>,
    samples: Samples,
}

impl Run {
    pub fn new(pipeline: &Arc<Pipeline>, trace: Arc<Trace>, burst: u32) -> Result<Run, Failure> {
        let settings = Settings { ports: PORTS, seed: 1 };
        let mut switch = Switch::new(pipeline.clone(), vec![MemoryPort::new(BUFFERS)], settings)?;
        ports_of(&mut switch).load(trace, 0, burst);
        Ok(Run { switch, samples: Samples::default() })
    }

    pub fn samples(&self) -> &Samples {
        &self.samples
    }

    /// An entry of the first table, whose action is its first, with one parameter.
    pub fn insert(&self, matches: &Match, argument: u64) -> Result<(), Failure> {
        let table = &self.switch.tables()[0];
        let described = &self.switch.pipeline().description().tables[0];
        let record = translate::record(described, 0, &ActionCall { action: 0, arguments: vec![argument.into()] });
        let inserted = table.insert(matches, &record);
        inserted.map(drop).map_err(|error| Failure::input(format!("table `{}`: {error}", described.name)))
    }
}

fn ports_of(switch: &mut Switch<MemoryPort>) -> &mut MemoryPort {
    switch.ports_of(0).expect("no thread runs its worker")
}

/// Packets of 64 bytes that the program lets through, with addresses of their own.
pub fn trace() -> Trace {
    let mut frame = vec![0u8; 64];
    frame[12..14].copy_from_slice(&[0x08, 0x00]);
    frame[14..24].copy_from_slice(&[0x45, 0, 0, 46, 0, 0, 0, 0, 64, 17]);
    let mixed = |packet: u32| u64::from(packet).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_be_bytes();
    let addresses: Vec<u8> = (0..PACKETS).flat_map(mixed).collect();
    Trace::new([(1u16, frame.as_slice())]).overlay(Vec::new(), 26, 8, &addresses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn the_middle_burst_costs_no_more_than_between_its_neighbours() {
        assert_eq!(evened([6.0, 7.0, 3.0]), [6.0, 5.0, 3.0]);
        assert_eq!(evened([6.0, 4.0, 5.0]), [6.0, 4.0, 5.0]);
    }

    /// Numbers are not the matter, but that there is one of each, that it is reported as noise, and what replaces mbufs where there is no DPDK.
    #[test]
    fn the_port_is_measured_once_when_time_is_up_and_mbufs_where_dpdk_is() {
        let compiler = Compiler::find(None).expect("there is a compiler");
        let mut pace = Pace::new(&compiler).expect("the pipelines of the calibration are right");
        let of_dpdk = Mbufs::new(&compiler, &Arc::new(trace())).expect("DPDK starts where it is installed");
        for mut mbufs in [None, of_dpdk] {
            let (mut machine, mut budget) = (Machine::default(), TimeBudget::of(Duration::ZERO));
            measure(&mut pace, &mut mbufs, &mut machine, &mut budget);
            assert_eq!(Machine::parse(&machine.print()).as_ref(), Ok(&machine));
            assert_eq!(machine.port.mbuf_measured, mbufs.is_some());
            assert_eq!(budget.into_short(), ["1 of 30 rounds of the port and operations"]);
        }
    }
}
