//! The tables that packets look up: structure, entries, and the cycles of their lookups.

use crate::Inputs;
use crate::analyze::Traffic;
use crate::model::Prediction;
use hlir::plan::{Choice, Reason, Structure};
use hlir::text::{written_choice, written_structure};
use hlir::{NodeId, NodeKind, Plan, Program, TableId};

/// A table.
#[derive(Clone, Debug, PartialEq)]
pub struct TableRow {
    pub name: String,
    /// Position in the source of its first lookup.
    pub place: String,
    pub structure: String,
    /// The entries that the prediction is for, and where the number is from.
    pub entries: u64,
    pub origin: &'static str,
    /// Lookups for each packet received.
    pub lookups: f64,
    /// Predicted cycles of its nodes.
    pub cycles: f64,
    /// The next best structure, and the cycles that it costs more.
    pub next: Option<(String, f64)>,
}

/// The most expensive tables come first.
pub(super) fn tables(
    program: &Program,
    plan: &Plan,
    inputs: &Inputs,
    (traffic, predicted): (&Traffic, &Prediction),
) -> Vec<TableRow> {
    let looked_up = |table: TableId| {
        let nodes = traffic.order().iter().copied();
        nodes.filter(|id| table_of(program, *id) == Some(table)).collect::<Vec<NodeId>>()
    };
    let mut rows: Vec<TableRow> = Vec::new();
    for (id, table) in program.tables.iter() {
        let nodes = looked_up(id);
        let Some(first) = nodes.first() else { continue };
        let content = inputs.occupancy.of(table);
        let planned = plan.tables.iter().find(|planned| planned.table == table.name);
        let structure = planned.map_or_else(|| Structure::of_keys(&program.held_keys(id)), |planned| planned.structure);
        rows.push(TableRow {
            name: table.name.clone(),
            place: super::place::place(program, *first),
            structure: written_structure(structure).to_string(),
            entries: content.entries,
            origin: origin(content.is_known, table.size.is_some()),
            lookups: nodes.iter().map(|node| traffic.node(*node)).sum(),
            cycles: nodes.iter().map(|node| predicted.node(*node).cycles()).sum(),
            next: planned.and_then(|planned| planned.reason.as_ref()).and_then(next),
        });
    }
    rows.sort_by(|one, other| other.cycles.total_cmp(&one.cycles));
    rows
}

/// Where the number of a table's entries is from.
pub(super) fn origin(is_known: bool, is_declared: bool) -> &'static str {
    match (is_known, is_declared) {
        (true, _) => "counted",
        (false, true) => "declared",
        (false, false) => "assumed",
    }
}

fn next(reason: &Reason) -> Option<(String, f64)> {
    let structures = reason.alternatives.iter().filter(|it| matches!(it.choice, Choice::Structure(_)));
    let best = structures.min_by_key(|it| it.cost)?;
    Some((written_choice(&best.choice), (best.cost as f64 - reason.cost as f64) / 10.0))
}

fn table_of(program: &Program, id: NodeId) -> Option<TableId> {
    match program.nodes[id].kind {
        NodeKind::Apply { table, .. } => Some(table),
        NodeKind::State { .. }
        | NodeKind::Block { .. }
        | NodeKind::Branch { .. }
        | NodeKind::Deparse { .. }
        | NodeKind::Buffer { .. } => None,
    }
}
