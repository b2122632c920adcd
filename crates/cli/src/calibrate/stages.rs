//! What stages cost where memory costs nothing: a program with one small table, in groups of two sizes, and a group behind.
//!
//! Operations are those that the model counts, so what they cost here is for code of this kind. Large groups tell what an operation costs, small ones what
//! each loop over a group does, and groups that wait for the next one what waiting does.

use super::port::{Run, load};
use crate::failure::Failure;
use hlir::plan::{Access, Descriptor, Hint, Loop, Path, Placement, Request, Structure, TablePlan};
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
const STATIONS: u64 = 64;
const PACKETS: u32 = 1 << 14;

/// Numbers of the pipelines: in large groups, in small ones, and in large ones that wait for the next.
pub const LARGE: usize = 0;
pub const SMALL: usize = 1;
pub const BEHIND: usize = 2;

/// The pipelines that are run.
pub struct Subject {
    program: Program,
    plans: [Plan; 3],
    trace: Arc<Trace>,
    pipelines: [Arc<Pipeline>; 3],
}

impl Subject {
    pub fn new(compiler: &Compiler) -> Result<Subject, Failure> {
        let program = hlir::text::parse_program(PROGRAM).expect("the program of the calibration is right");
        let [large, small] = GROUPS;
        let plans =
            [plan(large, Placement::OwnLoop), plan(small, Placement::OwnLoop), plan(large, Placement::WithConsumption)];
        let pipeline = |plan: &Plan| load(compiler, "stages", &program, plan);
        let pipelines = [pipeline(&plans[0])?, pipeline(&plans[1])?, pipeline(&plans[2])?];
        let stations: Vec<u8> = (0..u64::from(PACKETS))
            .flat_map(|packet| station(mixed(packet) % STATIONS).to_be_bytes()[2..].to_vec())
            .collect();
        let frame = [0u8; 64];
        let trace = Trace::new([(1u16, &frame[..])]).overlay(Vec::new(), 0, 6, &stations);
        Ok(Subject { program, plans, trace: Arc::new(trace), pipelines })
    }

    /// A switch that runs one of the pipelines.
    pub fn run(&self, number: usize) -> Result<Run, Failure> {
        let run = Run::new(&self.pipelines[number], self.trace.clone(), BURST)?;
        for place in 0..STATIONS {
            let matches = Match { value: vec![station(place)], mask: vec![(1 << 48) - 1], high: vec![0], priority: 0 };
            run.insert(&matches, 1 + place)?;
        }
        Ok(run)
    }

    /// From what the runs cost, and what the port costs in bursts of this size.
    pub fn costs(&self, [large, small, behind]: [f64; 3], port: f64) -> Stages {
        let [many, few] = GROUPS.map(f64::from);
        let loops =
            self.counted(LARGE, Stages { operation_cycles: f64::MIN_POSITIVE, loop_cycles: many, behind_cycles: 0.0 });
        let operations = |number: usize| {
            self.counted(number, Stages { operation_cycles: 1.0, loop_cycles: 0.0, behind_cycles: 0.0 })
        };
        // A machine that was disturbed says something absurd: costs are never below nothing.
        let loop_cycles = ((small - large) / loops / (1.0 / few - 1.0 / many)).max(0.0);
        let operation_cycles = ((large - port - loops * loop_cycles / many) / operations(LARGE)).max(0.01);
        let more = operations(BEHIND) - operations(LARGE);
        let behind_cycles = (behind - large - more * operation_cycles).max(0.0);
        Stages { operation_cycles, loop_cycles, behind_cycles }
    }

    /// What the model says of a plan on a machine where nothing else costs anything.
    fn counted(&self, number: usize, stages: Stages) -> f64 {
        let mut machine =
            Machine { stages: Some(stages), mispredict_cycles: 0.0, core_per_tick: 1e9, ..Machine::default() };
        machine.port = Port { burst: vec![BURST], own: vec![0.0], mbuf: vec![0.0], mbuf_measured: false };
        let lines = &mut machine.lines;
        for table in [&mut lines.load, &mut lines.gather, &mut lines.prefetch_t0, &mut lines.prefetch_t1] {
            table.iter_mut().flatten().for_each(|cycles| *cycles = 0.0);
        }
        let inputs = Inputs { machine, ..Inputs::default() };
        let traffic = Traffic::estimate(&self.program, &inputs);
        Model::new(&self.program, &inputs, &traffic).predict(&self.plans[number]).cycles()
    }
}

fn mixed(number: u64) -> u64 {
    number.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20
}

fn station(number: u64) -> u64 {
    0x0200_0000_0000 | mixed(number + 1) & 0xff_ffff_ffff
}

fn plan(group: u32, placement: Placement) -> Plan {
    let request = Request {
        access: Access::Table { table: "stations".to_string(), line: 0 },
        placement,
        distance: if placement == Placement::OwnLoop { group } else { 1 },
        hint: Hint::T0,
        reason: None,
    };
    let stage =
        Loop { node: "stations".to_string(), batch: BURST, group, lanes: 1, requests: vec![request], reason: None };
    let nodes = ["begin", "parser.start", "stations"].map(str::to_string);
    Plan {
        descriptor: Descriptor::Own,
        burst: BURST,
        path: Some(Path { nodes: nodes.into(), reason: None }),
        loops: vec![stage],
        tables: vec![TablePlan { table: "stations".to_string(), structure: Structure::Exact48, reason: None }],
        ..Plan::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plans_of_the_calibration_are_legal() {
        let program = hlir::text::parse_program(PROGRAM).expect("the program of the calibration is right");
        for (group, placement) in [(64, Placement::OwnLoop), (8, Placement::OwnLoop), (64, Placement::WithConsumption)]
        {
            assert_eq!(hlir::verify::verify_plan(&program, &plan(group, placement)), []);
        }
    }
}
