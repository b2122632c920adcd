//! Finds the way that most packets take, which the passes behind cut into stages.
//!
//! From the entry on, along the edge with most traffic of those that are open to a packet which came this way, until it leaves or would come back. A program
//! without tables has no use for it. Of each table on it is said which action its entries are expected to run: a group's turn has code for just that, and asks
//! the table whether it holds, so a wrong expectation costs little.

use super::with_model;
use crate::Inputs;
use crate::analyze::along;
use hlir::entry::EntryAction;
use hlir::plan::Path;
use hlir::{NodeId, Plan, Program, Scope, Table};
use std::collections::BTreeSet;

pub fn find(program: &Program, plan: &mut Plan, inputs: &Inputs) {
    if inputs.pinned.path.is_some() {
        plan.path.clone_from(&inputs.pinned.path);
        return;
    }
    with_model(program, inputs, |model| {
        let nodes = along::widest(program, inputs, model.traffic);
        let last = nodes.iter().rposition(|node| hlir::path::table_of(program, *node).is_some());
        let action = |(place, node): (usize, &NodeId)| {
            let table = &program.tables[hlir::path::table_of(program, *node)?];
            Some((place, table.actions[usual_action(table)?].name.clone()))
        };
        plan.path = last.map(|_| Path {
            nodes: nodes.iter().map(|node| program.nodes[*node].name.clone()).collect(),
            actions: nodes.iter().enumerate().filter_map(action).collect(),
            reason: None,
        });
    });
}

/// The number of the action that all entries are expected to run: what constant ones do, else the first that is not what a miss runs.
fn usual_action(table: &Table) -> Option<usize> {
    if table.profile.is_some() || table.actions.len() < 2 {
        return None;
    }
    if table.entries_constant {
        let calls = table.entries.iter().map(|entry| match &entry.action {
            EntryAction::Call(call) => Some(call.action as usize),
            EntryAction::Member(_) | EntryAction::Group(_) => None,
        });
        let actions: BTreeSet<Option<usize>> = calls.collect();
        return actions.first().copied().flatten().filter(|_| actions.len() == 1);
    }
    let may_be =
        |number: &usize| *number != table.default.action as usize && table.actions[*number].scope != Scope::DefaultOnly;
    (0..table.actions.len()).find(may_be)
}
