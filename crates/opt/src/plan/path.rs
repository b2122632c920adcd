//! Finds the way that most packets take, which the passes behind cut into stages.
//!
//! From the entry on, along the edge with most traffic, until a packet leaves or would come back. A program without tables has no use for it.

use super::with_model;
use crate::Inputs;
use crate::analyze::Traffic;
use hlir::plan::Path;
use hlir::{NodeId, Plan, Program};

pub fn find(program: &Program, plan: &mut Plan, inputs: &Inputs) {
    if inputs.pinned.path.is_some() {
        plan.path.clone_from(&inputs.pinned.path);
        return;
    }
    with_model(program, inputs, |model| {
        let nodes = hottest(program, model.traffic);
        let last = nodes.iter().rposition(|node| hlir::path::table_of(program, *node).is_some());
        plan.path = last.map(|_| Path {
            nodes: nodes.iter().map(|node| program.nodes[*node].name.clone()).collect(),
            reason: None,
        });
    });
}

fn hottest(program: &Program, traffic: &Traffic) -> Vec<NodeId> {
    let mut path: Vec<NodeId> = program.entry.into_iter().collect();
    while let Some(&here) = path.last() {
        let mut onward = program.nodes[here].own_successors();
        onward.retain(|next| !path.contains(next) && traffic.edge(here, *next) > 0.0);
        // The first of equals, so that equal programs have equal plans.
        let best = onward
            .iter()
            .copied()
            .reduce(|best, next| if traffic.edge(here, next) > traffic.edge(here, best) { next } else { best });
        match best {
            Some(next) => path.push(next),
            None => break,
        }
    }
    path
}
