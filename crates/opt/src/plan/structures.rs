//! Gives each table the data structure of minimum lookup cost: operations, and lines in the caches that all
//! tables share. Near-optimal candidates are compared by the cost of the whole plan.

use super::{Planner, Wants, reason};
use crate::Inputs;
use crate::analyze::Traffic;
use crate::model::lookups::{Lookup, Mix};
use crate::model::structures::{Shape, candidates};
use crate::model::{Execution, Model};
use hlir::plan::{Alternative, Choice, Reason, Structure, TablePlan};
use hlir::{Plan, TableId};

/// A table's structure decides which lines of others stay cached, so all tables are visited twice.
const ROUNDS: usize = 2;
/// Relative difference up to which total costs of lookups count as equal.
pub(crate) const SAME: f64 = 1.005;
/// The cost of lookups alone predicts little about stages that are not cut yet. Structures within this factor of
/// the minimum are tried in whole plans, most expensive tables first. Their number is limited, since each
/// trial runs all later planners.
const NEAR_OPTIMAL: f64 = 1.5;
const MOST_NEAR_OPTIMAL: usize = 4;

pub fn choose(planner: &Planner, plan: &mut Plan) {
    plan.joints.clone_from(&planner.model.inputs.constraints.joints);
    let execution = choose_filled(planner, plan);
    if planner.wants == Wants::Plan {
        choose_empty(&planner.model, plan, execution);
    }
}

/// Gives tables with entries their structures. How lookups then run: all structures were chosen for that.
fn choose_filled(planner: &Planner, plan: &mut Plan) -> Execution {
    let [staged, single] = [Execution::MaybeStaged, Execution::PacketByPacket].map(|execution| {
        let mut plan = plan.clone();
        choose_tables(&planner.model, &mut plan, execution, |table| !is_empty(&planner.model, table));
        plan
    });
    let is_single_another = structures(&single) != structures(&staged);
    *plan = staged;
    let near_optimal = near_optimal(&planner.model, plan);
    if !is_single_another && near_optimal.is_empty() {
        return Execution::MaybeStaged;
    }
    let mut least = planner.whole_plan_cycles("structures", plan);
    let mut compare = |plan: &mut Plan, other: Plan| {
        let cycles = planner.whole_plan_cycles("structures", &other);
        let is_better = cycles * SAME < least;
        if is_better {
            (*plan, least) = (other, cycles);
        }
        is_better
    };
    // No stage may be cut in the end: some structures are good in groups only.
    let is_single = is_single_another && compare(plan, single);
    let near_optimal = if is_single { self::near_optimal(&planner.model, plan) } else { near_optimal };
    for candidate in near_optimal {
        let mut other = plan.clone();
        replace(&mut other, candidate);
        compare(plan, other);
    }
    if is_single { Execution::PacketByPacket } else { Execution::MaybeStaged }
}

/// Gives empty tables structures for what they may come to hold. While they are empty, all cost the same.
fn choose_empty(model: &Model, plan: &mut Plan, execution: Execution) {
    let (program, inputs) = (model.program, model.inputs);
    if !program.tables.iter().any(|(id, _)| is_empty(model, id)) {
        return;
    }
    let to_come = Inputs { occupancy: inputs.occupancy.to_come(program), ..inputs.clone() };
    let traffic = Traffic::estimate(program, &to_come);
    choose_tables(&Model::new(program, &to_come, &traffic), plan, execution, |table| is_empty(model, table));
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
fn near_optimal(model: &Model, plan: &Plan) -> Vec<TablePlan> {
    let pinned = &model.inputs.constraints.tables;
    let is_pinned = |name: &str| pinned.iter().any(|pinned| pinned.table == name);
    // No structure of an empty table is better than another.
    let is_filled = |name: &str| {
        let found = model.program.tables.iter().find(|(_, table)| table.name == name);
        found.is_none_or(|(id, _)| !is_empty(model, id))
    };
    let is_open = |planned: &&TablePlan| !is_pinned(&planned.table) && is_filled(&planned.table);
    let cost = |planned: &TablePlan| planned.reason.as_ref().map_or(0, |reason| reason.cost);
    let mut open: Vec<&TablePlan> = plan.tables.iter().filter(is_open).collect();
    open.sort_by_key(|planned| std::cmp::Reverse(cost(planned)));
    open.into_iter().flat_map(near_optimal_of).take(MOST_NEAR_OPTIMAL).collect()
}

/// Whether the table is known to be empty.
fn is_empty(model: &Model, table: TableId) -> bool {
    model.inputs.occupancy.of(&model.program.tables[table]).is_empty()
}

/// Structures that cost little more than the chosen one, each in its place.
fn near_optimal_of(chosen: &TablePlan) -> impl Iterator<Item = TablePlan> {
    let reason = chosen.reason.iter();
    reason.flat_map(|reason| {
        let is_near_optimal = |other: &&Alternative| other.cost as f64 <= reason.cost as f64 * NEAR_OPTIMAL;
        reason.alternatives.iter().filter(is_near_optimal).filter_map(|Alternative { choice, cost }| {
            let Choice::Structure(structure) = *choice else { return None };
            let others = reason.alternatives.iter().filter(|other| other.choice != *choice).cloned();
            let beaten = Alternative { choice: Choice::Structure(chosen.structure), cost: reason.cost };
            let mut alternatives: Vec<Alternative> = std::iter::once(beaten).chain(others).collect();
            alternatives.sort_by_key(|other| other.cost);
            let reason = Some(Reason { cost: *cost, alternatives });
            Some(TablePlan { table: chosen.table.clone(), structure, reason })
        })
    })
}

/// Gives these tables their structures, among those that all others have so far.
fn choose_tables(model: &Model, plan: &mut Plan, execution: Execution, is_wanted: impl Fn(TableId) -> bool) {
    for _ in 0..ROUNDS {
        let mut mix = model.mix(plan);
        for table in looked_up(model, plan).into_iter().filter(|table| is_wanted(*table)) {
            let name = &model.program.tables[table].name;
            let pinned = model.inputs.constraints.tables.iter().find(|pinned| pinned.table == *name).cloned();
            let partner = model.partner(plan, table);
            let chosen = pinned.unwrap_or_else(|| minimum_cost(model, &mut mix, execution, (table, partner)));
            model.set_structure(&mut mix, table, (chosen.structure, partner));
            replace(plan, chosen);
        }
    }
}

/// Tables that packets look up, largest first: these determine what the caches hold.
fn looked_up(model: &Model, plan: &Plan) -> Vec<TableId> {
    let found = model.lookups(plan);
    let mut lookups: Vec<&Lookup> = found.iter().collect();
    lookups.sort_by_key(|lookup| std::cmp::Reverse(lookup.shape.bytes()));
    let mut tables: Vec<TableId> = Vec::new();
    for lookup in lookups {
        if !tables.contains(&lookup.table) {
            tables.push(lookup.table);
        }
    }
    tables
}

fn minimum_cost(
    model: &Model,
    mix: &mut Mix,
    execution: Execution,
    (id, partner): (TableId, Option<TableId>),
) -> TablePlan {
    let table = &model.program.tables[id];
    let content = model.inputs.occupancy.of(table);
    let shapes = candidates(model.program, id, &content, model.inputs.machine.vector_bytes());
    // Of all tables, and of this one: a structure takes cache from the others.
    let mut cost = |structure: Structure| {
        model.set_structure(mix, id, (structure, partner));
        model.lookup_cycles(mix, execution, id)
    };
    let costs: Vec<(Structure, f64)> = shapes.iter().map(|shape| (shape.structure, cost(shape.structure).0)).collect();
    let best = least(&costs, &shapes);
    let default = Structure::of_keys(&model.program.held_keys(id));
    let (structure, cycles) = best.unwrap_or_else(|| (default, cost(default).0));
    // The reason leaves out the cost of other tables, but not its change.
    let other_tables = cycles - cost(structure).1;
    let others = costs.iter().filter(|(other, _)| *other != structure);
    let others = others.map(|(other, cycles)| (Choice::Structure(*other), *cycles - other_tables));
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
