//! What an operation on vectors costs: a router's questions packet by packet, and for as many packets side by side as the vectors have room for.

use super::port::{Run, SWITCHES, load, median, several};
use super::stages::{Counted, counts};
use driver::failure::Failure;
use hlir::plan::{Descriptor, HotPath, Loop, Structure, TablePlan};
use hlir::{Plan, Program};
use opt::Inputs;
use opt::analyze::Traffic;
use opt::inputs::machine::VectorUnit;
use opt::inputs::{Machine, Profile};
use opt::model::Model;
use runtime::tables::Match;
use runtime::{Compiler, Trace};
use std::sync::Arc;

const PROGRAM: &str = include_str!("lanes.hlir");
/// Nodes that packets come to, all of them.
const PATH: [&str; 12] = [
    "begin",
    "parser.start",
    "parser.ipv4",
    "check",
    "alive",
    "verify",
    "confirm",
    "routes",
    "rewrite",
    "end",
    "deparser",
    "departure",
];
const BURST: u32 = 64;
/// What all packets of the trace have.
const PROTOCOL: u64 = 17;
/// Cycles below which no operation is: a machine that was disturbed gives absurd values.
const LEAST: f64 = 0.01;

/// The pipelines that are run: packet by packet first, then with lanes.
pub struct Subject {
    program: Program,
    runs: Vec<(u32, [Run; SWITCHES])>,
}

impl Subject {
    /// For a processor with vectors of so many bytes: packet by packet alone where those have no room for lanes.
    pub fn new(compiler: &Compiler, vector_bytes: u32, trace: &Arc<Trace>) -> Result<Subject, Failure> {
        let program = hlir::text::parse_program(PROGRAM).expect("the program of the calibration is right");
        let wide: Vec<u32> = [8, 16].into_iter().filter(|lanes| 4 * lanes <= vector_bytes).collect();
        let all = [vec![1], wide].concat();
        let run = |lanes: u32| {
            let pipeline = load(compiler, "lanes", &program, &plan(lanes))?;
            Ok((lanes, several(|| found(Run::new(&pipeline, trace.clone(), BURST)?))?))
        };
        let runs = all.into_iter().map(run).collect::<Result<Vec<_>, Failure>>()?;
        Ok(Subject { program, runs })
    }

    /// The switches of each pipeline.
    pub fn runs(&mut self) -> impl Iterator<Item = &mut [Run; SWITCHES]> {
        self.runs.iter_mut().map(|(_, runs)| runs)
    }

    /// Packet by packet: what a stage that has more to do costs.
    pub fn counted(&self, vector_bytes: u32) -> Counted {
        let (_, runs) = &self.runs[0];
        let (operations, loops) = counts(&self.program, &plan(1), &inputs(Machine::default()), vector_bytes);
        Counted { cycles: median(runs.iter().map(Run::samples)), operations, loops }
    }

    /// From what the runs cost, on a machine that has been measured but for that: the lanes with which a packet costs least.
    pub fn costs(&self, machine: &Machine) -> Option<VectorUnit> {
        let cost = |runs: &[Run; SWITCHES]| median(runs.iter().map(Run::samples));
        let ((_, plain), wide) = self.runs.split_first()?;
        let (packets, gained) =
            wide.iter().map(|(lanes, runs)| (*lanes, cost(plain) - cost(runs))).max_by(|a, b| a.1.total_cmp(&b.1))?;
        Some(VectorUnit { packets, operation_cycles: self.operation(packets, gained, machine) })
    }

    /// What an operation must cost for the model to predict that a packet gains this.
    fn operation(&self, packets: u32, gained: f64, machine: &Machine) -> f64 {
        let inputs = inputs(machine.clone());
        let traffic = Traffic::estimate(&self.program, &inputs);
        let front = Model::new(&self.program, &inputs, &traffic).vector_cost(&plan(packets), packets);
        let front = front.expect("the program of the calibration can be run in lanes");
        (((front.saved + front.keys) * machine.stages().operation_cycles - gained) / front.vector).max(LEAST)
    }
}

/// With the entry that all packets find.
fn found(run: Run) -> Result<Run, Failure> {
    let matches = Match { value: vec![PROTOCOL], mask: vec![0xff], high: vec![0], priority: 0 };
    run.insert(&matches, 1)?;
    Ok(run)
}

/// All packets of the trace take the same path.
fn inputs(machine: Machine) -> Inputs {
    let mut profile = Profile::default();
    PATH.windows(2).for_each(|pair| profile.add(pair[0], pair[1], 1));
    Inputs { machine, profile: Some(profile), ..Inputs::default() }
}

fn plan(lanes: u32) -> Plan {
    let stage = Loop {
        node: "routes".to_string(),
        batch: BURST,
        group: BURST,
        vector: lanes,
        lookups: Vec::new(),
        prefetches: Vec::new(),
        reason: None,
    };
    Plan {
        descriptor: Descriptor::Own,
        burst: BURST,
        hot_path: Some(HotPath { nodes: PATH.map(str::to_string).into(), ..HotPath::default() }),
        loops: vec![stage],
        tables: vec![TablePlan { table: "routes".to_string(), structure: Structure::Exact48, reason: None }],
        ..Plan::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn subject() -> Subject {
        let program = hlir::text::parse_program(PROGRAM).expect("the program of the calibration is right");
        Subject { program, runs: Vec::new() }
    }

    #[test]
    fn plans_of_the_calibration_are_legal() {
        let program = subject().program;
        for lanes in [1, 8, 16] {
            assert_eq!(hlir::verify::verify_plan(&program, &plan(lanes)), []);
            assert!(emit::emit(&program, &plan(lanes)).is_ok(), "{lanes} lanes");
        }
    }

    /// The model's prediction for this very program is what was measured.
    #[test]
    fn what_was_gained_is_what_the_model_promises() {
        let subject = subject();
        let machine = Machine::default();
        for (packets, gained) in [(8, 5.0), (16, 7.5)] {
            let operation_cycles = subject.operation(packets, gained, &machine);
            let machine = Machine {
                vector: Some(VectorUnit { packets, operation_cycles }),
                vector_bytes: Some(64),
                ..machine.clone()
            };
            let inputs = inputs(machine);
            let traffic = Traffic::estimate(&subject.program, &inputs);
            let model = Model::new(&subject.program, &inputs, &traffic);
            let front = model.vector_cost(&plan(packets), packets).expect("it can be run in lanes");
            let promised = (front.saved + front.keys) * inputs.machine.stages().operation_cycles
                - front.vector * model.vector_operation(packets);
            assert!(operation_cycles > LEAST && (promised - gained).abs() < 0.5, "{packets}: {promised} for {gained}");
        }
    }
}
