//! What stages cost where memory costs nothing: a program with one small table, in groups of two sizes, with prefetches and without, and pipelined by a group.
//!
//! Operations are those that the model counts, so what they cost here is for code of this kind. Large groups, and those of a program that does more
//! ([`super::lanes`]), measure what an operation costs, small ones what each loop over a group costs.

use super::port::{Run, load};
use driver::failure::Failure;
use hlir::plan::{Access, Descriptor, Hint, HotPath, Loop, Placement, Prefetch, Structure, TablePlan};
use hlir::{Plan, Program};
use opt::Inputs;
use opt::analyze::Traffic;
use opt::inputs::Machine;
use opt::inputs::machine::{Port, Stages};
use opt::model::Model;
use runtime::tables::Match;
use runtime::{Compiler, Pipeline, Trace};
use std::sync::Arc;

const PROGRAM: &str = include_str!("stages.hlir");
const BURST: u32 = 64;
const GROUPS: [u32; 2] = [64, 8];
/// Entries of the table: some lines.
const HOSTS: u64 = 64;
const PACKETS: u32 = 1 << 14;

/// What of a prefetch's cost in this program, which does next to nothing else, is left in one that does more (swept in l2fwd and ipv4fwd).
const LEFT: f64 = 0.5;

/// Numbers of the pipelines: in large groups, and with prefetches: in large groups, in small ones, and one group ahead.
pub const LARGE: usize = 0;
pub const PREFETCHED: usize = 1;
pub const SMALL: usize = 2;
pub const PIPELINED: usize = 3;
const PIPELINES: usize = 4;
const PLANS: [(u32, Option<Placement>); PIPELINES] = [
    (GROUPS[0], None),
    (GROUPS[0], Some(Placement::OwnLoop)),
    (GROUPS[1], Some(Placement::OwnLoop)),
    (GROUPS[0], Some(Placement::WithLookups)),
];

/// The pipelines that are run.
pub struct Subject {
    program: Program,
    plans: [Plan; PIPELINES],
    trace: Arc<Trace>,
    pipelines: [Arc<Pipeline>; PIPELINES],
}

impl Subject {
    pub fn new(compiler: &Compiler) -> Result<Subject, Failure> {
        let program = hlir::text::parse_program(PROGRAM).expect("the program of the calibration is right");
        let plans = PLANS.map(|(group, placement)| plan(group, placement));
        let pipelines = plans.iter().map(|plan| load(compiler, "stages", &program, plan));
        let pipelines = pipelines.collect::<Result<Vec<_>, Failure>>()?;
        let pipelines = pipelines.try_into().unwrap_or_else(|_| unreachable!("there is one for each plan"));
        let hosts: Vec<u8> = (0..u64::from(PACKETS))
            .flat_map(|packet| host_address(mixed(packet) % HOSTS).to_be_bytes()[2..].to_vec())
            .collect();
        let frame = [0u8; 64];
        let trace = Trace::new([(1u16, &frame[..])]).overlay(Vec::new(), 0, 6, &hosts);
        Ok(Subject { program, plans, trace: Arc::new(trace), pipelines })
    }

    /// A switch that runs one of the pipelines.
    pub fn run(&self, number: usize) -> Result<Run, Failure> {
        let run = Run::new(&self.pipelines[number], self.trace.clone(), BURST)?;
        for place in 0..HOSTS {
            let matches =
                Match { value: vec![host_address(place)], mask: vec![(1 << 48) - 1], high: vec![0], priority: 0 };
            run.insert(&matches, 1 + place)?;
        }
        Ok(run)
    }

    /// From what the runs cost, what the port costs in bursts of this size, and a program that does more, in groups of the larger size as well.
    pub fn costs(&self, runs: [f64; PIPELINES], port: f64, more: &Counted, vector_bytes: u32) -> Stages {
        let [large, prefetched, small, pipelined] = runs;
        let [many, few] = GROUPS.map(f64::from);
        let (operations, loops) = counts(&self.program, &self.plans[LARGE], &Inputs::default(), vector_bytes);
        // A machine that was disturbed gives absurd values: costs are never below nothing.
        let loop_cycles = ((small - prefetched) / loops / (1.0 / few - 1.0 / many)).max(0.0);
        let done = |cycles: f64, loops: f64| (cycles - port - loops * loop_cycles / many).max(0.0);
        let work = done(large, loops) + done(more.cycles, more.loops);
        let operation_cycles = (work / (operations + more.operations)).max(0.01);
        let prefetch_cycles = LEFT * (prefetched - large).max(0.0);
        let pipelining_cycles = (pipelined - prefetched).max(0.0);
        Stages { operation_cycles, prefetch_cycles, loop_cycles, pipelining_cycles }
    }
}

/// A program that was run in stages.
pub struct Counted {
    pub cycles: f64,
    pub operations: f64,
    pub loops: f64,
}

/// Operations of a packet, and loops over a group, that the model counts for a plan: what it predicts on machines where nothing else costs anything.
pub fn counts(program: &Program, plan: &Plan, inputs: &Inputs, vector_bytes: u32) -> (f64, f64) {
    let group = plan.loops.first().map_or(1, |stage| stage.group);
    let nothing = Stages { operation_cycles: f64::MIN_POSITIVE, ..Stages::default() };
    let priced = |stages: Stages| {
        let mut machine =
            Machine { stages: Some(stages), mispredict_cycles: 0.0, core_per_tick: 1e9, ..Machine::default() };
        machine.vector_bytes = Some(vector_bytes);
        machine.port = Port { burst: vec![BURST], own: vec![0.0], mbuf: vec![0.0], ..Port::default() };
        for access in opt::inputs::Access::ALL {
            machine.lines.table_mut(access).iter_mut().flatten().for_each(|cycles| *cycles = 0.0);
        }
        let inputs = Inputs { machine, ..inputs.clone() };
        let traffic = Traffic::estimate(program, &inputs);
        Model::new(program, &inputs, &traffic).predict(plan).cycles()
    };
    let operations = priced(Stages { operation_cycles: 1.0, ..nothing });
    (operations, priced(Stages { loop_cycles: f64::from(group), ..nothing }))
}

fn mixed(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
}

fn host_address(number: u64) -> u64 {
    0x0200_0000_0000 | mixed(number + 1) & 0xff_ffff_ffff
}

fn plan(group: u32, placement: Option<Placement>) -> Plan {
    let request = placement.map(|placement| Prefetch {
        access: Access::Table("hosts".to_string()),
        placement,
        distance: if placement == Placement::OwnLoop { group } else { 1 },
        hint: Hint::T0,
        reason: None,
    });
    let stage = Loop {
        node: "hosts".to_string(),
        batch: BURST,
        group,
        vector: 1,
        lookups: Vec::new(),
        prefetches: request.into_iter().collect(),
        reason: None,
    };
    let nodes = ["begin", "parser.start", "hosts", "deparser", "departure"].map(str::to_string);
    Plan {
        descriptor: Descriptor::Own,
        burst: BURST,
        hot_path: Some(HotPath { nodes: nodes.into(), ..HotPath::default() }),
        loops: vec![stage],
        tables: vec![TablePlan { table: "hosts".to_string(), structure: Structure::Exact48, reason: None }],
        ..Plan::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_of_the_calibration_are_legal() {
        let program = hlir::text::parse_program(PROGRAM).expect("the program of the calibration is right");
        for (group, placement) in PLANS {
            assert_eq!(hlir::verify::verify_plan(&program, &plan(group, placement)), []);
        }
    }
}
