//! Gives each table the data structure of minimum lookup cost: operations, and lines in the caches that all
//! tables share. Near-optimal candidates are compared by the cost of the whole plan.

use super::{constraints, reason, with_model};
use crate::model::structures::{Shape, candidates};
use crate::model::{Execution, Lookup, Model};
use crate::{Inputs, Run};
use hlir::plan::{Reason, Structure, TablePlan};
use hlir::text::written_structure;
use hlir::{Plan, Program, TableId};

/// A table's structure decides which lines of others stay cached, so all tables are visited twice.
const ROUNDS: usize = 2;
/// Relative difference up to which total costs of lookups count as equal.
pub(crate) const SAME: f64 = 1.005;
/// The cost of lookups alone predicts little about stages that are not cut yet. Structures within this factor of
/// the minimum are tried in whole plans, most expensive tables first. Their number is limited, since each
/// trial runs all later planners.
const NEAR_OPTIMAL: f64 = 1.5;
const MOST_NEAR_OPTIMAL: usize = 4;

pub fn choose(program: &Program, plan: &mut Plan, inputs: &Inputs) {
    plan.joints.clone_from(&inputs.constraints.joints);
    let [staged, single] = [Execution::MaybeStaged, Execution::PacketByPacket]
        .map(|execution| choose_by_lookups(program, plan.clone(), inputs, execution));
    let is_single_another = structures(&single) != structures(&staged);
    *plan = staged;
    if !is_single_another && near_optimal(program, plan, inputs).is_empty() {
        return;
    }
    let mut least = whole_plan_cycles(program, "structures", plan, inputs);
    let mut compare = |plan: &mut Plan, other: Plan| {
        let cycles = whole_plan_cycles(program, "structures", &other, inputs);
        if cycles * SAME < least {
            (*plan, least) = (other, cycles);
        }
    };
    // No stage may be cut in the end: some structures are good in groups only.
    if is_single_another {
        compare(plan, single);
    }
    for candidate in near_optimal(program, plan, inputs) {
        let mut other = plan.clone();
        replace(&mut other, candidate);
        compare(plan, other);
    }
}

fn structures(plan: &Plan) -> Vec<(&str, Structure)> {
    plan.tables.iter().map(|planned| (planned.table.as_str(), planned.structure)).collect()
}

fn replace(plan: &mut Plan, chosen: TablePlan) {
    match plan.tables.iter_mut().find(|planned| planned.table == chosen.table) {
        Some(planned) => *planned = chosen,
        None => plan.tables.push(chosen),
    }
}

/// Candidates for a trial in a whole plan.
fn near_optimal(program: &Program, plan: &Plan, inputs: &Inputs) -> Vec<TablePlan> {
    let is_pinned = |name: &str| inputs.constraints.tables.iter().any(|pinned| pinned.table == name);
    let is_open = |planned: &&TablePlan| !is_pinned(&planned.table) && !is_empty(program, inputs, &planned.table);
    let cost = |planned: &TablePlan| planned.reason.as_ref().map_or(0, |reason| reason.cost);
    let mut open: Vec<&TablePlan> = plan.tables.iter().filter(is_open).collect();
    open.sort_by_key(|planned| std::cmp::Reverse(cost(planned)));
    open.into_iter().flat_map(near_optimal_of).take(MOST_NEAR_OPTIMAL).collect()
}

/// Whether the table is known to be empty: then all structures cost the same.
fn is_empty(program: &Program, inputs: &Inputs, name: &str) -> bool {
    let found = program.tables.values().find(|table| table.name == name);
    found.is_some_and(|table| inputs.occupancy.of(table).is_empty())
}

/// Structures that cost little more than the chosen one, each in its place.
fn near_optimal_of(chosen: &TablePlan) -> impl Iterator<Item = TablePlan> {
    let reason = chosen.reason.iter();
    reason.flat_map(|reason| {
        let is_near_optimal = |(_, cost): &&(String, u64)| *cost as f64 <= reason.cost as f64 * NEAR_OPTIMAL;
        reason.alternatives.iter().filter(is_near_optimal).filter_map(|(name, cost)| {
            let structure = Structure::ALL.into_iter().find(|structure| written_structure(*structure) == name)?;
            let others = reason.alternatives.iter().filter(|(other, _)| other != name).cloned();
            let beaten = (written_structure(chosen.structure).to_string(), reason.cost);
            let mut alternatives: Vec<(String, u64)> = std::iter::once(beaten).chain(others).collect();
            alternatives.sort_by_key(|(_, cost)| *cost);
            let reason = Some(Reason { cost: *cost, alternatives });
            Some(TablePlan { table: chosen.table.clone(), structure, reason })
        })
    })
}

/// Cycles per packet of the plan that all later passes complete, with constraints.
pub(crate) fn whole_plan_cycles(program: &Program, pass: &str, plan: &Plan, inputs: &Inputs) -> f64 {
    let mut plan = plan.clone();
    for pass in crate::passes_after(pass) {
        if let Run::Plan(fill) = pass.run {
            fill(program, &mut plan, inputs);
        }
    }
    constraints::apply(&mut plan, inputs);
    with_model(program, inputs, |model| model.predict(&plan).cycles())
}

/// The plan with a structure for each table. Tables that are empty now are chosen last, for what they may come to hold.
fn choose_by_lookups(program: &Program, mut plan: Plan, inputs: &Inputs, execution: Execution) -> Plan {
    let is_empty = |table: TableId| inputs.occupancy.of(&program.tables[table]).is_empty();
    with_model(program, inputs, |model| choose_tables(model, &mut plan, execution, |table| !is_empty(table)));
    if program.tables.iter().any(|(id, _)| is_empty(id)) {
        let to_come = Inputs { occupancy: inputs.occupancy.to_come(), ..inputs.clone() };
        with_model(program, &to_come, |model| choose_tables(model, &mut plan, execution, is_empty));
    }
    plan
}

/// Gives these tables their structures, among those that all others have so far.
fn choose_tables(model: &Model, plan: &mut Plan, execution: Execution, is_wanted: impl Fn(TableId) -> bool) {
    for _ in 0..ROUNDS {
        for table in looked_up(model, plan).into_iter().filter(|table| is_wanted(*table)) {
            let name = &model.program.tables[table].name;
            let pinned = model.inputs.constraints.tables.iter().find(|pinned| pinned.table == *name).cloned();
            let chosen = pinned.unwrap_or_else(|| minimum_cost(model, plan, execution, table));
            replace(plan, chosen);
        }
    }
}

/// Tables that packets look up, largest first: these determine what the caches hold.
fn looked_up(model: &Model, plan: &Plan) -> Vec<TableId> {
    let lookups = model.lookups(plan);
    let mut lookups: Vec<&Lookup> = lookups.iter().collect();
    lookups.sort_by_key(|lookup| std::cmp::Reverse(lookup.shape.bytes()));
    let mut tables: Vec<TableId> = Vec::new();
    for lookup in lookups {
        if !tables.contains(&lookup.table) {
            tables.push(lookup.table);
        }
    }
    tables
}

fn minimum_cost(model: &Model, plan: &Plan, execution: Execution, id: TableId) -> TablePlan {
    let table = &model.program.tables[id];
    let content = model.inputs.occupancy.of(table);
    let shapes = candidates(model.program, id, &content, model.inputs.machine.vector_bytes());
    // Of all tables, and of this one: a structure takes cache from the others.
    let mut other = with(model, plan, id);
    let mut cost = |structure: Structure| {
        other.tables.last_mut().expect("it has the table").structure = structure;
        let cycles = model.lookup_cycles(&other, execution);
        (cycles.values().sum::<f64>(), cycles.get(&id).copied().unwrap_or(0.0))
    };
    let costs: Vec<(Structure, f64)> = shapes.iter().map(|shape| (shape.structure, cost(shape.structure).0)).collect();
    let best = least(&costs, &shapes);
    let default = Structure::usual(&model.program.key_kinds(id));
    let (structure, cycles) = best.unwrap_or_else(|| (default, cost(default).0));
    // The reason leaves out the cost of other tables, but not its change.
    let other_tables = cycles - cost(structure).1;
    let others = costs.iter().filter(|(other, _)| *other != structure);
    let others = others.map(|(other, cycles)| (written_structure(*other).to_string(), *cycles - other_tables));
    TablePlan { table: table.name.clone(), structure, reason: reason(cycles - other_tables, others) }
}

/// The structure of minimum cost. Among equals, the smallest, since memory costs are the least certain.
/// Structures that are searched linearly are small only as long as the table is.
fn least(costs: &[(Structure, f64)], shapes: &[Shape]) -> Option<(Structure, f64)> {
    let (minimum_cost, least) = costs.iter().copied().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let equals = costs.iter().zip(shapes).filter(|((structure, cycles), _)| {
        *structure == minimum_cost || (structure.is_addressed() && *cycles <= least * SAME)
    });
    equals.min_by_key(|(_, shape)| shape.bytes()).map(|(cost, _)| *cost)
}

/// The plan without reasons, the table last: to be given one structure after the other.
fn with(model: &Model, plan: &Plan, id: TableId) -> Plan {
    let name = &model.program.tables[id].name;
    let of_table = |table: &str, structure: Structure| TablePlan { table: table.to_string(), structure, reason: None };
    let others = plan.tables.iter().filter(|planned| planned.table != *name);
    let mut tables: Vec<TablePlan> = others.map(|planned| of_table(&planned.table, planned.structure)).collect();
    tables.push(of_table(name, Structure::usual(&model.program.key_kinds(id))));
    Plan { tables, joints: plan.joints.clone(), ..Plan::default() }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlir::text::parse_file;
    use std::fmt::Write as _;

    /// A program of so many tables in series, each with an entry's worth of data.
    fn in_series(tables: usize) -> Program {
        let mut text = "program series for none\n\nvariable x: 32\nvariable y: 32\n\n".to_string();
        for table in 0..tables {
            let body = "key x: exact\n  action set(v: 32) { y = v }\n  action none() {}\n  default none()";
            let _ = write!(text, "table t{table} {{\n  {body}\n}}\n\n");
        }
        text += "entry n0\n\n";
        for table in 0..tables {
            let next = if table + 1 == tables { "queue".to_string() } else { format!("n{}", table + 1) };
            let _ = write!(text, "node n{table}: apply t{table} -> {next}\n\n");
        }
        text += "node queue: buffer { send 32w1 }\n";
        parse_file(&text).unwrap_or_else(|errors| panic!("{errors:#?}")).program
    }

    #[test]
    fn evaluations_grow_with_the_number_of_tables() {
        let evaluations = |tables: usize| {
            let (program, mut plan) = (in_series(tables), Plan::default());
            with_model(&program, &Inputs::default(), |model| {
                choose_tables(model, &mut plan, Execution::MaybeStaged, |_| true);
                assert_eq!(plan.tables.len(), tables);
                model.evaluations()
            })
        };
        let few = evaluations(20);
        assert!(few > 20, "each table has several structures");
        assert_eq!(evaluations(80), 4 * few);
    }

    #[test]
    fn equal_tables_are_one_class_of_lookups() {
        let program = in_series(40);
        with_model(&program, &Inputs::default(), |model| {
            assert_eq!(model.classes(&Plan::default()), 1);
        });
    }
}
