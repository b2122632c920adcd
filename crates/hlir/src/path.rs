//! Which look-ups the stages of a plan's path begin with, and what makes a look-up ahead of its turn legal.

use crate::effects::{Part, key_reads, learns, writes};
use crate::plan::{Access, Path};
use crate::verify::onward;
use crate::{NodeId, NodeKind, Plan, Program, TableId};
use std::collections::BTreeSet;

/// A stage of a path: what a loop of the plan stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Number of the loop in the plan.
    pub number: usize,
    /// Place of its node on the path.
    pub place: usize,
    /// Nodes whose look-ups are made when it begins: its own, and those of the tables that it asks memory for. In the order of the path.
    pub looked_up: Vec<NodeId>,
}

/// The path's nodes; none if one of the names is unknown.
pub fn nodes(program: &Program, path: &Path) -> Option<Vec<NodeId>> {
    path.nodes.iter().map(|name| program.nodes.iter().find(|(_, node)| node.name == *name).map(|(id, _)| id)).collect()
}

/// The table that a node looks up, if it has keys.
pub fn table_of(program: &Program, node: NodeId) -> Option<TableId> {
    let NodeKind::Apply { table, .. } = &program.nodes[node].kind else { return None };
    (!program.tables[*table].keys.is_empty()).then_some(*table)
}

/// The stages behind the first, in the order of the path. Loops whose node does not stand there are left out: they are the verifier's.
pub fn stages(program: &Program, plan: &Plan, path: &[NodeId]) -> Vec<Stage> {
    let mut stages: Vec<Stage> = Vec::new();
    for (number, lp) in plan.loops.iter().enumerate() {
        let Some(place) = path.iter().position(|node| program.nodes[*node].name == lp.node) else { continue };
        let wanted = |node: NodeId| {
            let table = table_of(program, node);
            let named = |name: &str| table.is_some_and(|table| program.tables[table].name == name);
            lp.requests.iter().any(|request| matches!(&request.access, Access::Table { table, .. } if named(table)))
        };
        let looked_up = path[place..].iter().enumerate();
        let looked_up = looked_up.filter(|(behind, node)| *behind == 0 || wanted(**node)).map(|(_, node)| *node);
        stages.push(Stage { number, place, looked_up: looked_up.collect() });
    }
    stages.sort_by_key(|stage| stage.place);
    let mut taken = BTreeSet::new();
    stages.iter_mut().for_each(|stage| stage.looked_up.retain(|node| taken.insert(*node)));
    stages
}

/// What forbids that a node's look-up is made when the packet is still at `from`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Packets put entries into the table: an older packet of the burst may still do so.
    Learns,
    /// This node can lie between, and writes what the key reads.
    Written(NodeId),
}

/// Whether the table of `node` can be looked up when the packet is at `from`, whichever way it will take from there.
pub fn obstacle(program: &Program, from: NodeId, node: NodeId) -> Option<Obstacle> {
    let table = table_of(program, node)?;
    if learns(program, table) {
        return Some(Obstacle::Learns);
    }
    let key: BTreeSet<Part> = key_reads(program, table);
    let between = between(program, from, node);
    between.into_iter().find(|between| !writes(program, *between).is_disjoint(&key)).map(Obstacle::Written)
}

/// Nodes on any way from `from`, itself included, to `to`.
fn between(program: &Program, from: NodeId, to: NodeId) -> Vec<NodeId> {
    if from == to {
        return Vec::new();
    }
    let mut reached = BTreeSet::new();
    let mut left = vec![from];
    while let Some(node) = left.pop() {
        if node != to && reached.insert(node) {
            left.extend(onward(program, node));
        }
    }
    let mut leading = BTreeSet::from([to]);
    loop {
        let more: Vec<NodeId> = reached
            .iter()
            .filter(|node| !leading.contains(*node))
            .filter(|node| onward(program, **node).iter().any(|next| leading.contains(next)))
            .copied()
            .collect();
        if more.is_empty() {
            break;
        }
        leading.extend(more);
    }
    reached.intersection(&leading).copied().collect()
}
