//! Finds the hot path, which later passes cut into stages.
//!
//! It follows the edge with most traffic from the entry, among those that the path's facts allow, until
//! packets leave or a loop would close. For each table on it, the plan names the action that entries are expected to
//! run: the commit phase has a specialized copy for it, guarded by a test of the table, so a wrong expectation costs
//! little.

use super::Planner;
use crate::Inputs;
use crate::inputs::Content;
use hlir::plan::HotPath;
use hlir::{NodeId, Plan, Program, Scope, Table};
use std::sync::Arc;

pub fn find(planner: &Planner, plan: &mut Plan) {
    let (program, inputs) = (planner.model.program, planner.model.inputs);
    if inputs.constraints.hot_path.is_some() {
        plan.hot_path.clone_from(&inputs.constraints.hot_path);
        return;
    }
    let nodes = planner.model.hot_path();
    plan.hot_path = (!nodes.is_empty()).then(|| named(program, inputs, nodes));
}

/// A path with the actions that entries are expected to run.
pub(super) fn named(program: &Program, inputs: &Inputs, nodes: &[NodeId]) -> HotPath {
    let action = |(place, node): (usize, &NodeId)| {
        let table = &program.tables[hlir::hot_path::table_of(program, *node)?];
        Some((place, table.actions[expected_action(table, inputs.occupancy.of(table))?].name.clone()))
    };
    HotPath {
        nodes: nodes.iter().map(|node| program.nodes[*node].name.clone()).collect(),
        actions: Arc::new(nodes.iter().enumerate().filter_map(action).collect()),
        reason: None,
    }
}

/// The action that all entries are expected to run: the counted one if known, else the first that is not the
/// default.
fn expected_action(table: &Table, content: Content) -> Option<usize> {
    if table.profile.is_some() || table.actions.len() < 2 {
        return None;
    }
    if table.entries_constant || content.actions != 0 {
        return content.only_action();
    }
    let may_be =
        |number: &usize| *number != table.default.action as usize && table.actions[*number].scope != Scope::DefaultOnly;
    (0..table.actions.len()).find(may_be)
}
