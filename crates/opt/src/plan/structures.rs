//! Gives each table the data structure in which its look-ups cost least: operations, and lines in the caches that the program's tables share.

use super::{reason, with_model};
use crate::Inputs;
use crate::model::structures::{Shape, candidates};
use crate::model::{Lookup, Model};
use hlir::plan::{Structure, TablePlan};
use hlir::text::written_structure;
use hlir::{Plan, Program, TableId};

/// A table's structure decides which lines others keep in the cache, so all are chosen twice.
const ROUNDS: usize = 2;
/// Costs of all look-ups that are as good as one another.
const SAME: f64 = 1.005;

pub fn choose(program: &Program, plan: &mut Plan, inputs: &Inputs) {
    with_model(program, inputs, |model| {
        for _ in 0..ROUNDS {
            for table in looked_up(model, plan) {
                let name = &program.tables[table].name;
                let pinned = inputs.pinned.tables.iter().find(|pinned| pinned.table == *name).cloned();
                let chosen = pinned.unwrap_or_else(|| cheapest(model, plan, table));
                match plan.tables.iter_mut().find(|planned| planned.table == chosen.table) {
                    Some(planned) => *planned = chosen,
                    None => plan.tables.push(chosen),
                }
            }
        }
    });
}

/// Tables that packets look up, by size: the largest decide what the caches hold.
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

fn cheapest(model: &Model, plan: &Plan, id: TableId) -> TablePlan {
    let table = &model.program.tables[id];
    let content = model.inputs.occupancy.of(table);
    let shapes = candidates(model.program, id, &content, model.inputs.machine.vector_bytes());
    let costs: Vec<(Structure, f64)> =
        shapes.iter().map(|shape| (shape.structure, cost(model, plan, id, shape.structure))).collect();
    let best = least(&costs, &shapes);
    let usual = Structure::usual(&model.program.key_kinds(id));
    let (structure, cycles) = best.unwrap_or_else(|| (usual, cost(model, plan, id, usual)));
    // What the other tables cost is left out of the reason, but for what changes.
    let other_tables = cycles - own_cost(model, plan, id, structure);
    let others = costs.iter().filter(|(other, _)| *other != structure);
    let others = others.map(|(other, cycles)| (written_structure(*other).to_string(), *cycles - other_tables));
    TablePlan { table: table.name.clone(), structure, reason: reason(cycles - other_tables, others) }
}

/// The cheapest structure; of those that cost the same but for a rounding, the smallest, for what memory costs is known least. Those
/// that are searched from end to end are small only as long as the table is.
fn least(costs: &[(Structure, f64)], shapes: &[Shape]) -> Option<(Structure, f64)> {
    let (cheapest, least) = costs.iter().copied().min_by(|(_, a), (_, b)| a.total_cmp(b))?;
    let equals = costs.iter().zip(shapes).filter(|((structure, cycles), _)| {
        *structure == cheapest || (structure.is_addressed() && *cycles <= least * SAME)
    });
    equals.min_by_key(|(_, shape)| shape.bytes()).map(|(cost, _)| *cost)
}

/// The plan with this structure for the table.
fn with(model: &Model, plan: &Plan, id: TableId, structure: Structure) -> Plan {
    let name = &model.program.tables[id].name;
    let mut other = plan.clone();
    other.tables.retain(|planned| planned.table != *name);
    other.tables.push(TablePlan { table: name.clone(), structure, reason: None });
    other
}

/// What look-ups in all tables would cost a packet: a structure takes room in the caches from the others.
fn cost(model: &Model, plan: &Plan, id: TableId, structure: Structure) -> f64 {
    model.lookup_cycles(&with(model, plan, id, structure)).values().sum()
}

/// What look-ups in this table alone would cost.
fn own_cost(model: &Model, plan: &Plan, id: TableId, structure: Structure) -> f64 {
    model.lookup_cycles(&with(model, plan, id, structure)).get(&id).copied().unwrap_or(0.0)
}
