//! Finds the way that most packets take, which the passes behind cut into stages.
//!
//! From the entry on, along the edge with most traffic of those that are open to a packet which came this way, until it leaves or would come back. A program
//! without tables has no use for it.

use super::with_model;
use crate::Inputs;
use crate::analyze::along;
use hlir::plan::Path;
use hlir::{Plan, Program};

pub fn find(program: &Program, plan: &mut Plan, inputs: &Inputs) {
    if inputs.pinned.path.is_some() {
        plan.path.clone_from(&inputs.pinned.path);
        return;
    }
    with_model(program, inputs, |model| {
        let nodes = along::widest(program, inputs, model.traffic);
        let last = nodes.iter().rposition(|node| hlir::path::table_of(program, *node).is_some());
        plan.path = last.map(|_| Path {
            nodes: nodes.iter().map(|node| program.nodes[*node].name.clone()).collect(),
            reason: None,
        });
    });
}
