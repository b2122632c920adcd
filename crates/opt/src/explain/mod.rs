//! Explains a plan: where packets go, decisions with the cost of their alternatives, and the predicted cost
//! of each node.
//!
//! The plan and the model have all of it; this puts it side by side, as text, JSON or HTML.

mod accesses;
mod draw;
mod expectations;
mod explanation;
mod facts;
mod html;
mod joins;
mod json;
mod layout;
mod place;
mod profit;
mod summary;
mod tables;
mod text;

use crate::Inputs;
use crate::analyze::{Traffic, sharing};
use crate::inputs::Content;
use crate::model::{Model, NodeCost};
use crate::plan::batches::BURSTS;
use crate::plan::with_planner;
pub use expectations::{Expected, Other};
use explanation::NOTHING;
pub use explanation::{Assumed, Breakdown, Decision, Explanation, Group, Measured, NodeRow, Total};
pub use facts::{Unspecialised, described, described_all};
use hlir::plan::{Access, Choice, JointTables, Placement, Reason, StagedPath};
use hlir::text::written_structure;
use hlir::{NodeId, NodeKind, Plan, Program};
pub use tables::TableRow;

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
    let decision = |(what, chosen, reason)| Decision { what, chosen, reason, group: Group::Plan };
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
        assumed: assumed(program, plan, inputs),
        expectations: expectations::expected(program, plan, inputs, &traffic),
        tables: tables::tables(program, plan, inputs, (&traffic, &predicted)),
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
    /// What fits a screen: totals, assumptions, the most expensive nodes and tables, the decisions for all of them.
    pub fn summary(&self) -> String {
        summary::summary(self)
    }

    /// The summary, and everything behind it.
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
    NodeRow {
        id,
        name: node.name.clone(),
        kind: kind(&node.kind),
        place: place::place(program, id),
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

/// The prediction if the tables whose entries are not known hold none, under the same plan.
fn assumed(program: &Program, plan: &Plan, inputs: &Inputs) -> Assumed {
    let mut empty = inputs.clone();
    let mut assumed = Assumed::default();
    for table in program.tables.values() {
        let content = inputs.occupancy.of(table);
        if content.is_known {
            assumed.counted += 1;
        } else if content.is_empty() {
            assumed.empty += 1;
        } else {
            assumed.full += 1;
            empty.occupancy.tables.insert(table.name.clone(), Content::default());
        }
    }
    if assumed.full > 0 {
        let traffic = Traffic::estimate(program, &empty);
        assumed.if_empty = Some(Model::new(program, &empty, &traffic).predict(plan).cycles());
    }
    assumed
}

fn decisions(program: &Program, plan: &Plan, inputs: &Inputs) -> Vec<Decision> {
    let of = |group: Group| {
        move |what: String, chosen: String, reason: &Option<Reason>| Decision {
            what,
            chosen,
            reason: reason.clone(),
            group,
        }
    };
    let decision = of(Group::Plan);
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
    let objects = sharing::objects(program);
    if !objects.is_empty() {
        decisions.push(decision("workers".to_string(), sharing::workers(&objects).words(), &None));
    }
    let shared = objects.iter().map(|shared| of(Group::State)(shared.object.clone(), shared.sharing.words(), &None));
    decisions.extend(shared);
    for table in &plan.tables {
        let chosen = written_structure(table.structure).to_string();
        decisions.push(of(Group::Structure)(format!("structure of {}", table.table), chosen, &table.reason));
    }
    for (id, table) in program.tables.iter().filter(|(_, table)| table.entries_constant && !table.entries.is_empty()) {
        if let Some(expected) = hlir::constant_entries::refusal(program, id, &program.key_kinds(id)) {
            let what = format!("constant entries of {}", table.name);
            let chosen = format!("not compared in code: expected {expected}");
            decisions.push(of(Group::Structure)(what, chosen, &None));
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
    decisions.extend(staged(program, plan));
    decisions.extend(next_paths(program, plan));
    decisions.extend(accesses::decisions(program, plan));
    decisions
}

/// The paths of packets that leave the hot path, with their stages.
fn next_paths(program: &Program, plan: &Plan) -> Vec<Decision> {
    let of_path = |(number, next): (usize, &StagedPath)| {
        let path = Decision {
            what: format!("hot path {}", number + 2),
            chosen: format!("{} nodes in stages", next.path.nodes.len()),
            reason: next.path.reason.clone(),
            group: Group::Stage,
        };
        std::iter::once(path).chain(staged(program, &plan.of_next_path(number)))
    };
    plan.next_paths.iter().enumerate().flat_map(of_path).collect()
}

/// Lookups in stages, and the prefetches of their lines.
fn staged(program: &Program, plan: &Plan) -> Vec<Decision> {
    let is_lookup = |name: &str| {
        let mut nodes = program.nodes.iter();
        nodes.any(|(id, node)| node.name == name && hlir::hot_path::table_of(program, id).is_some())
    };
    let decision = |what: String, chosen: String, reason: &Option<Reason>| Decision {
        what,
        chosen,
        reason: reason.clone(),
        group: Group::Stage,
    };
    let mut decisions = Vec::new();
    for stage in &plan.loops {
        let vector = if stage.vector > 1 { format!(", vectors of {}", stage.vector) } else { String::new() };
        let chosen = format!("a stage, groups of {} packets{vector}", stage.group);
        let what = if is_lookup(&stage.node) { "lookup at" } else { "stage up to" };
        decisions.push(decision(format!("{what} {}", stage.node), chosen, &stage.reason));
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
