//! The lookups of the stages of a plan's hot path, and when a lookup can be made speculatively.

use crate::effects::{Part, key_reads, learns, writes};
use crate::plan::{Access, HotPath};
use crate::{NodeId, NodeKind, Plan, Program, TableId};
use std::collections::BTreeSet;

/// A stage of the hot path, for a loop of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Index of the loop in the plan.
    pub number: usize,
    /// Position of its node on the path.
    pub place: usize,
    /// Positions of the lookups that it makes: its own, and those of the tables that it prefetches.
    pub looked_up: Vec<usize>,
}

/// The path's nodes; none if a name is unknown.
pub fn nodes(program: &Program, path: &HotPath) -> Option<Vec<NodeId>> {
    path.nodes.iter().map(|name| program.nodes.iter().find(|(_, node)| node.name == *name).map(|(id, _)| id)).collect()
}

/// The table that a node looks up, if it has keys.
pub fn table_of(program: &Program, node: NodeId) -> Option<TableId> {
    let NodeKind::Apply { table, .. } = &program.nodes[node].kind else { return None };
    (!program.tables[*table].keys.is_empty()).then_some(*table)
}

/// The action that all entries of the table at a position of the path are expected to run, if the plan names
/// one.
pub fn action(program: &Program, path: &HotPath, place: usize) -> Option<usize> {
    let name = path.actions.get(&place)?;
    let node = program.nodes.values().find(|node| node.name == path.nodes[place])?;
    let NodeKind::Apply { table, .. } = &node.kind else { return None };
    program.tables[*table].actions.iter().position(|action| action.name == *name)
}

/// The stages after the first, in the order of the path. Loops at other nodes are left out; the verifier
/// reports them.
pub fn stages(program: &Program, plan: &Plan, path: &[NodeId]) -> Vec<Stage> {
    let mut stages: Vec<Stage> = Vec::new();
    for (number, lp) in plan.loops.iter().enumerate() {
        let Some(place) = path.iter().position(|node| program.nodes[*node].name == lp.node) else { continue };
        let wanted = |node: NodeId| {
            let table = table_of(program, node);
            let named = |name: &str| table.is_some_and(|table| program.tables[table].name == name);
            lp.prefetches.iter().any(|request| matches!(&request.access, Access::Table { table, .. } if named(table)))
        };
        let looked_up = (place..path.len()).filter(|behind| *behind == place || wanted(path[*behind])).collect();
        stages.push(Stage { number, place, looked_up });
    }
    stages.sort_by_key(|stage| stage.place);
    let mut taken = BTreeSet::new();
    stages.iter_mut().for_each(|stage| stage.looked_up.retain(|place| taken.insert(*place)));
    stages
}

/// Why a lookup cannot be made while the packet is at an earlier node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// Packets insert into the table: an older packet of the burst may still do so.
    Learns,
    /// This node in between may write a part of the key.
    Written(NodeId),
}

/// Whether the lookup at a position of the path can be made while the packet is at an earlier one. A side
/// exit in between does not matter: such a packet looks up by itself.
pub fn obstacle(program: &Program, path: &[NodeId], from: usize, place: usize) -> Option<Obstacle> {
    let table = table_of(program, path[place])?;
    if learns(program, table) {
        return Some(Obstacle::Learns);
    }
    let key: BTreeSet<Part> = key_reads(program, table);
    let writer = path[from..place].iter().find(|node| !writes(program, **node).is_disjoint(&key));
    writer.copied().map(Obstacle::Written)
}
