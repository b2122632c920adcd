//! What a specialised program takes for granted, and the cycles that its lookups cost otherwise.

use crate::Inputs;
use crate::analyze::Traffic;
use crate::model::Model;
use hlir::facts::{Assumption, Fact};
use hlir::plan::{Alternative, Choice, Reason};
use hlir::{NodeKind, Plan, Program, TableId};

/// A program without specialisation, and what is known of its traffic: a profile names nodes that only it has.
#[derive(Clone, Copy)]
pub struct Unspecialised<'a> {
    pub program: &'a Program,
    pub inputs: &'a Inputs,
}

/// What was decided about, what was chosen, and the cycles.
type Row = (String, String, Option<Reason>);

/// A row for each table with facts, and one for all of them.
pub fn decisions(program: &Program, before: Option<Unspecialised>, inputs: &Inputs) -> Vec<Row> {
    let mut decisions = Vec::new();
    if program.assumptions.is_empty() {
        return decisions;
    }
    let costs = before.map(|before| [Costs::of(program, inputs), Costs::of(before.program, before.inputs)]);
    for (id, table) in program.tables.iter() {
        let facts = described_all(program, id, &program.assumptions);
        if facts.is_empty() {
            continue;
        }
        let lookups = costs.as_ref().map(|costs| costs.each_ref().map(|costs| costs.lookups_of(id)));
        let reason = lookups.map(|[cost, before]| reason(cost, before));
        decisions.push((format!("facts of {}", table.name), facts.join("; "), reason));
    }
    if let Some((before, [after, unspecialised])) = before.zip(costs) {
        let lookups = |program: &Program| count(program, |kind| matches!(kind, NodeKind::Apply { .. }));
        let branches = |program: &Program| count(program, |kind| matches!(kind, NodeKind::Branch { .. }));
        let both = [program, before.program];
        let (lookups, branches) = (both.map(lookups), both.map(branches));
        let chosen = format!(
            "{} of {} lookups and {} of {} branches are left; plain program",
            lookups[0], lookups[1], branches[0], branches[1]
        );
        let reason = Some(reason(after.cycles, unspecialised.cycles));
        decisions.push(("specialisation".to_string(), chosen, reason));
    }
    decisions
}

fn count(program: &Program, is: fn(&NodeKind) -> bool) -> usize {
    program.nodes.values().filter(|node| is(&node.kind)).count()
}

/// Predicted cycles of a plain program, packet by packet.
struct Costs {
    cycles: f64,
    tables: Vec<(TableId, f64)>,
}

impl Costs {
    fn of(program: &Program, inputs: &Inputs) -> Costs {
        let traffic = Traffic::estimate(program, inputs);
        let model = Model::new(program, inputs, &traffic);
        let predicted = model.predict(&Plan { burst: 32, ..Plan::default() });
        let lookup = |id: hlir::NodeId| match program.nodes[id].kind {
            NodeKind::Apply { table, .. } => Some((table, predicted.node(id).cycles())),
            NodeKind::State { .. }
            | NodeKind::Block { .. }
            | NodeKind::Branch { .. }
            | NodeKind::Deparse { .. }
            | NodeKind::Buffer { .. } => None,
        };
        let tables = traffic.order().iter().filter_map(|id| lookup(*id)).collect();
        Costs { cycles: predicted.cycles(), tables }
    }

    fn lookups_of(&self, table: TableId) -> f64 {
        self.tables.iter().filter(|(of, _)| *of == table).map(|(_, cycles)| cycles).sum()
    }
}

fn reason(cost: f64, before: f64) -> Reason {
    let tenths = |cycles: f64| (cycles.max(0.0) * 10.0).round() as u64;
    Reason {
        cost: tenths(cost),
        alternatives: vec![Alternative { choice: Choice::Unspecialised, cost: tenths(before) }],
    }
}

/// The facts of a table in words, without its name. Keys that no entry distinguishes are in one of them, the first.
pub fn described_all(program: &Program, id: TableId, assumptions: &[Assumption]) -> Vec<String> {
    let of_table = || assumptions.iter().filter(move |one| one.table == id);
    let any = of_table().filter_map(|one| if let Fact::Any(key) = one.fact { Some(key as usize) } else { None });
    let any: Vec<&str> = any.map(|key| program.tables[id].keys[key].name.as_str()).collect();
    let any = (!any.is_empty()).then(|| format!("no entry distinguishes {}", any.join(", ")));
    let others = of_table().filter(|one| !matches!(one.fact, Fact::Any(_))).map(|one| described(program, one));
    any.into_iter().chain(others).collect()
}

/// A fact in words, without the name of its table.
pub fn described(program: &Program, Assumption { table, fact }: &Assumption) -> String {
    let table = &program.tables[*table];
    let action = |number: u32| table.actions[number as usize].name.clone();
    match fact {
        Fact::Empty => "no entries".to_string(),
        Fact::Default(call) => format!("default action {}", action(call.action)),
        Fact::Entries(entries) => format!("exactly {} entries, compared in code", entries.len()),
        Fact::Leading(entries) => format!("{} of the entries compared before the lookup", entries.len()),
        Fact::Actions(actions) => {
            let names: Vec<String> = actions.iter().map(|number| action(*number)).collect();
            format!("entries run {} only", names.join(", "))
        }
        Fact::Argument { action: of, parameter, value } => {
            let name = &table.actions[*of as usize].parameters[*parameter as usize].name;
            format!("{name} of {} is {value:#x}", action(*of))
        }
        Fact::Any(key) => format!("no entry distinguishes {}", table.keys[*key as usize].name),
        Fact::Key { key, value } => format!("{} is {value:#x} in all entries", table.keys[*key as usize].name),
        Fact::Mask { key, mask } => format!("mask {mask:#x} of {} in all entries", table.keys[*key as usize].name),
        Fact::Distinct => "no two entries alike".to_string(),
        Fact::Unmetered => "no rates of meters".to_string(),
    }
}
