//! Explains a plan: where packets go, decisions with the cost of their alternatives, and the predicted cost
//! of each node.
//!
//! The plan and the model have all of it; this puts it side by side, as text, JSON or HTML.

mod draw;
mod expectations;
mod facts;
mod html;
mod joins;
mod json;
mod profit;
mod text;

use crate::Inputs;
use crate::analyze::Traffic;
use crate::model::{Model, NodeCost};
use crate::plan::batches::BURSTS;
use crate::plan::with_planner;
pub use expectations::{Expected, Other};
pub use facts::{Unspecialised, described};
use hlir::plan::{Access, Choice, JointTables, Placement, Reason};
use hlir::text::written_structure;
use hlir::{NodeId, NodeKind, Plan, Program};

/// Why a decision's cost differs from the prediction beside it
/// ([`with_shared_caches`](crate::inputs::Machine::with_shared_caches)), and packet_by_packet from the plain
/// program.
const COSTS: &str = "Costs of decisions: a line costs the mean of its working set and of one twice as large, as if other cores used half of \
                     the caches half of the time. All other predictions are for the machine as measured.\n\
                     The cost of the hot path and its stages is from when they were chosen, without later decisions.\n\
                     The plain program runs packet by packet, with the default structure for the keys of each table; packet_by_packet has the \
                     structures of the plan.";
/// Why staging may be negative.
const SAVED: &str = "Stages are predicted to save more cycles in the nodes than they cost themselves.";

/// Cycles that are shown as none.
const NOTHING: f64 = 0.05;

/// A decision of the plan.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    pub what: String,
    pub chosen: String,
    pub reason: Option<Reason>,
}

/// A node of the graph.
#[derive(Clone, Debug, PartialEq)]
pub struct NodeRow {
    pub id: NodeId,
    pub name: String,
    pub kind: &'static str,
    /// Position in the source: `router.p4:41`.
    pub place: String,
    pub share: f64,
    pub predicted: NodeCost,
    /// Cycles per packet received, if measured.
    pub measured: Option<f64>,
    pub is_on_path: bool,
    /// Successors with their shares of packets.
    pub onward: Vec<(String, f64)>,
    /// Packets that leave the switch here.
    pub leaving: f64,
}

/// Cycles per packet in total.
#[derive(Clone, Copy, Debug, PartialEq, Default)]
pub struct Total {
    pub predicted: f64,
    pub measured: Option<f64>,
}

/// A measurement: cycles per packet under the plan, and of the plain program.
#[derive(Clone, Debug, PartialEq)]
pub struct Measured {
    pub planned: f64,
    pub plain: f64,
    /// The breakdown of the cycles under the plan, if known.
    pub breakdown: Option<Breakdown>,
    pub how: String,
}

/// A breakdown of the cycles of a packet.
#[derive(Clone, Debug, PartialEq)]
pub struct Breakdown {
    pub floor: f64,
    pub staging: f64,
    /// By name. Missing nodes had no measurable cost.
    pub nodes: Vec<(String, f64)>,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Explanation {
    pub program: String,
    pub machine: String,
    /// Whether shares are counted or estimated.
    pub traffic: &'static str,
    /// The cost of the port; and of stages beside their nodes, less what they save.
    pub floor: Total,
    pub staging: Total,
    pub latency_ns: f64,
    pub planned: Total,
    pub plain: Total,
    /// The origin of the numbers, in sentences.
    pub notes: Vec<String>,
    pub decisions: Vec<Decision>,
    pub expectations: Vec<Expected>,
    pub nodes: Vec<NodeRow>,
    /// The plan as in a plan file.
    pub plan: String,
}

/// Explains a plan for a program. `before` is what it was made of, if it was specialised.
pub fn explain((program, before): (&Program, Option<Unspecialised>), plan: &Plan, inputs: &Inputs) -> Explanation {
    let inputs = &crate::rewrite::join::with_joint_contents(program, inputs);
    let traffic = Traffic::estimate(program, inputs);
    let model = Model::new(program, inputs, &traffic);
    let predicted = model.predict(plan);
    let plain = Plan { descriptor: plan.descriptor, burst: plan.burst, ..Plan::default() };
    let path = plan.hot_path.as_ref().map(|path| path.nodes.clone()).unwrap_or_default();
    let total = |predicted: f64| Total { predicted, measured: None };
    let specialised = facts::decisions(program, before, inputs).into_iter();
    let decision = |(what, chosen, reason)| Decision { what, chosen, reason };
    Explanation {
        program: program.name.clone(),
        machine: inputs.machine.cpu.clone(),
        traffic: if inputs.profile.is_some() { "counted" } else { "estimated" },
        floor: total(predicted.floor),
        staging: total(if predicted.staging.abs() < NOTHING { 0.0 } else { predicted.staging }),
        latency_ns: predicted.latency_ns,
        planned: total(predicted.cycles()),
        plain: total(model.predict(&plain).cycles()),
        notes: Vec::new(),
        decisions: specialised.map(decision).chain(decisions(program, plan, inputs)).collect(),
        expectations: expectations::expected(program, plan, inputs, &traffic),
        plan: hlir::text::print_plan(plan),
        nodes: traffic
            .order()
            .iter()
            .map(|node| {
                let name = &program.nodes[*node].name;
                row(program, &traffic, *node, predicted.node(*node), path.contains(name))
            })
            .collect(),
    }
}

impl Explanation {
    /// Adds a measurement.
    pub fn measured(&mut self, measured: &Measured) {
        self.planned.measured = Some(measured.planned);
        self.plain.measured = Some(measured.plain);
        self.notes.push(measured.how.clone());
        let Some(breakdown) = &measured.breakdown else { return };
        self.floor.measured = Some(breakdown.floor);
        self.staging.measured = Some(breakdown.staging);
        for row in &mut self.nodes {
            let found = breakdown.nodes.iter().find(|(name, _)| *name == row.name);
            row.measured = Some(found.map_or(0.0, |(_, cycles)| *cycles));
        }
    }

    pub fn text(&self) -> String {
        text::text(self)
    }

    pub fn json(&self) -> String {
        json::json(self)
    }

    pub fn html(&self) -> String {
        html::html(self)
    }
}

fn row(program: &Program, traffic: &Traffic, id: NodeId, predicted: NodeCost, is_on_path: bool) -> NodeRow {
    let node = &program.nodes[id];
    let mut onward: Vec<(String, f64)> = Vec::new();
    let reject = node.parser().map(|parser| program.parsers[parser].reject);
    for next in node.successors().into_iter().chain(reject) {
        let name = &program.nodes[next].name;
        let share = traffic.edge(id, next);
        if share > 0.0 && onward.iter().all(|(known, _)| known != name) {
            onward.push((name.clone(), share));
        }
    }
    let base = |file: &str| file.rsplit('/').next().unwrap_or_default().to_string();
    let place = node.notes.origin.as_ref().map(|origin| format!("{}:{}", base(&origin.file), origin.line));
    NodeRow {
        id,
        name: node.name.clone(),
        kind: kind(&node.kind),
        place: place.unwrap_or_default(),
        share: traffic.node(id),
        predicted,
        measured: None,
        is_on_path,
        onward,
        leaving: traffic.leaving(id),
    }
}

fn kind(kind: &NodeKind) -> &'static str {
    match kind {
        NodeKind::State { .. } => "state",
        NodeKind::Block { .. } => "block",
        NodeKind::Branch { .. } => "branch",
        NodeKind::Apply { .. } => "table",
        NodeKind::Deparse { .. } => "deparser",
        NodeKind::Buffer { .. } => "buffer",
    }
}

fn decisions(program: &Program, plan: &Plan, inputs: &Inputs) -> Vec<Decision> {
    let decision =
        |what: String, chosen: String, reason: &Option<Reason>| Decision { what, chosen, reason: reason.clone() };
    let mut decisions = Vec::new();
    let descriptor = hlir::text::written_descriptor(plan.descriptor).to_string();
    let (costs, bursts) = with_planner(program, inputs, &[], |planner| {
        let lookups = planner.model.lookups(plan);
        let cost = |burst: u32| planner.model.cycles(&at_burst(plan, burst), &lookups);
        let others = BURSTS.iter().filter(|burst| **burst != plan.burst);
        let bursts = others.map(|burst| (Choice::Burst(*burst), cost(*burst)));
        (crate::plan::descriptor::costs(planner, plan), crate::plan::reason(cost(plan.burst), bursts))
    });
    decisions.push(decision("descriptor".to_string(), descriptor, &costs));
    if plan.burst > 0 {
        decisions.push(decision("burst".to_string(), plan.burst.to_string(), &bursts));
    }
    for table in &plan.tables {
        let chosen = written_structure(table.structure).to_string();
        decisions.push(decision(format!("structure of {}", table.table), chosen, &table.reason));
    }
    for (id, table) in program.tables.iter().filter(|(_, table)| table.entries_constant && !table.entries.is_empty()) {
        if let Some(expected) = hlir::constant_entries::refusal(program, id, &program.key_kinds(id)) {
            let what = format!("constant entries of {}", table.name);
            decisions.push(decision(what, format!("not compared in code: expected {expected}"), &None));
        }
    }
    for joint in &plan.joints {
        let JointTables { secondary: table, primary, bits, .. } = joint;
        decisions.push(decision(
            format!("joint exact table {table}"),
            format!("in the array of {primary}, {bits} bits"),
            &joint.reason,
        ));
    }
    decisions.extend(joins::decisions(program, plan, inputs));
    if let Some(path) = &plan.hot_path {
        decisions.push(decision("hot path".to_string(), format!("{} nodes in stages", path.nodes.len()), &path.reason));
    } else if plan.loops.is_empty() {
        decisions.push(decision("hot path".to_string(), "packet by packet".to_string(), &None));
    }
    for stage in &plan.loops {
        let vector = if stage.vector > 1 { format!(", vectors of {}", stage.vector) } else { String::new() };
        let chosen = format!("a stage, groups of {} packets{vector}", stage.group);
        decisions.push(decision(format!("lookup at {}", stage.node), chosen, &stage.reason));
        for lookup in &stage.lookups {
            let lines = accessed(&Access::Table(lookup.table.clone()));
            if stage.prefetch_of(&lookup.table).is_none() {
                decisions.push(decision(lines, "no prefetch".to_string(), &lookup.reason));
            } else if lookup.reason.is_some() {
                let what = format!("lookup in {}", lookup.table);
                decisions.push(decision(what, format!("in the stage at {}", stage.node), &lookup.reason));
            }
        }
        for prefetch in &stage.prefetches {
            decisions.push(decision(accessed(&prefetch.access), placed(prefetch), &prefetch.reason));
        }
    }
    decisions
}

/// The plan with another burst, and groups no larger than it.
fn at_burst(plan: &Plan, burst: u32) -> Plan {
    let mut other = Plan { burst, ..plan.clone() };
    for stage in &mut other.loops {
        stage.batch = burst;
        stage.group = stage.group.min(burst);
    }
    other
}

fn accessed(access: &Access) -> String {
    match access {
        Access::Packet => "lines of packets".to_string(),
        Access::Table(table) => format!("lines of {table}"),
    }
}

fn placed(prefetch: &hlir::plan::Prefetch) -> String {
    let hint = hlir::text::written_hint(prefetch.hint).to_uppercase();
    let pipelined = |work: &str| {
        let groups =
            if prefetch.distance == 1 { "one group".to_string() } else { format!("{} groups", prefetch.distance) };
        format!("prefetch {hint}, {groups} ahead, interleaved with {work}")
    };
    match prefetch.placement {
        Placement::OwnLoop => format!("prefetch {hint}, in a loop before the lookups"),
        Placement::WithLookups => pipelined("lookups"),
        Placement::WithCommit => pipelined("commit"),
        Placement::WithKeys => pipelined("key computation"),
    }
}
