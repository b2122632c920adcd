//! The lookups of the stages of a plan's hot path, when a lookup can be made speculatively, and when it is repeated.

use crate::effects::learns;
use crate::plan::{HotPath, Loop};
use crate::{NodeId, NodeKind, Plan, Program, TableId};
use std::collections::{BTreeSet, HashMap};

/// A stage of the hot path, for a loop of the plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stage {
    /// Index of the loop in the plan.
    pub number: usize,
    /// Position of its node on the path.
    pub place: usize,
    /// Positions of the lookups that it makes: that of its node, if it has one, and those in the tables that it names.
    pub looked_up: Vec<usize>,
}

/// The path's nodes; none if a name is unknown.
pub fn nodes(program: &Program, path: &HotPath) -> Option<Vec<NodeId>> {
    let named = program.nodes.iter().rev().map(|(id, node)| (node.name.as_str(), id));
    let named: HashMap<&str, NodeId> = named.collect();
    path.nodes.iter().map(|name| named.get(name.as_str()).copied()).collect()
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

/// The stages, in the order of the path. Loops at nodes beside it are left out; the verifier reports them.
pub fn stages(program: &Program, plan: &Plan, path: &[NodeId]) -> Vec<Stage> {
    PathNames::new(program, path).stages(plan)
}

/// The nodes of a path, and the tables that they look up, by their names: for plans that are compared.
pub struct PathNames<'p> {
    nodes: HashMap<&'p str, usize>,
    /// By position: whether the node looks up a table with keys.
    looks_up: Vec<bool>,
    tables: HashMap<&'p str, Vec<usize>>,
}

impl<'p> PathNames<'p> {
    pub fn new(program: &'p Program, path: &[NodeId]) -> PathNames<'p> {
        let looks_up = path.iter().map(|node| table_of(program, *node).is_some()).collect();
        let mut names = PathNames { nodes: HashMap::new(), looks_up, tables: HashMap::new() };
        for (place, node) in path.iter().enumerate() {
            names.nodes.entry(&program.nodes[*node].name).or_insert(place);
            if let Some(table) = table_of(program, *node) {
                names.tables.entry(&program.tables[table].name).or_default().push(place);
            }
        }
        names
    }

    /// The position of a node on the path.
    pub fn place(&self, node: &str) -> Option<usize> {
        self.nodes.get(node).copied()
    }

    /// The positions where a table is looked up, in order.
    pub fn lookups(&self, table: &str) -> &[usize] {
        self.tables.get(table).map_or(&[], Vec::as_slice)
    }

    /// As [`stages`].
    pub fn stages(&self, plan: &Plan) -> Vec<Stage> {
        let stage = |(number, lp): (usize, &Loop)| {
            let place = self.place(&lp.node)?;
            let named = lp.lookups.iter().flat_map(|lookup| self.lookups(&lookup.table));
            let looked_up = named.copied().filter(|other| *other > place);
            let looked_up: BTreeSet<usize> = looked_up.chain(self.looks_up[place].then_some(place)).collect();
            Some(Stage { number, place, looked_up: looked_up.into_iter().collect() })
        };
        let mut stages: Vec<Stage> = plan.loops.iter().enumerate().filter_map(stage).collect();
        stages.sort_by_key(|stage| stage.place);
        let mut taken = BTreeSet::new();
        stages.iter_mut().for_each(|stage| stage.looked_up.retain(|place| taken.insert(*place)));
        stages
    }
}

/// Positions of the lookups that are made speculatively, in order: those of the stages, and those before the
/// last stage.
pub fn speculative(program: &Program, path: &[NodeId], stages: &[Stage]) -> Vec<usize> {
    let last = stages.last().map_or(0, |stage| stage.place);
    let on_the_way = (0..last).filter(|place| table_of(program, path[*place]).is_some());
    let staged = stages.iter().flat_map(|stage| stage.looked_up.iter().copied());
    let places: BTreeSet<usize> = staged.chain(on_the_way).collect();
    places.into_iter().collect()
}

/// Whether packets insert entries into the table of a lookup, so that what it found may be out of date at commit.
/// It is then made again if it missed, or if this worker has inserted an entry meanwhile: an older packet of the
/// group may have inserted this one's entry, and no insertion waits for its own worker to release what it has
/// found.
pub fn may_be_stale(program: &Program, node: NodeId) -> bool {
    table_of(program, node).is_some_and(|table| learns(program, table))
}

/// Whether a node leads a packet to the same next node when its lookup's result is used again: the default action's
/// record could be another one by then, and so could a group's member, or an entry that a packet has inserted.
pub fn has_lasting_outcome(program: &Program, node: NodeId) -> bool {
    let NodeKind::Apply { table, .. } = &program.nodes[node].kind else { return true };
    let declared = &program.tables[*table];
    declared.default_constant && declared.profile.is_none() && !learns(program, *table)
}

/// Whether the hot path makes lookups speculatively that may be out of date ([`may_be_stale`]).
pub fn tracks_insertions(program: &Program, plan: &Plan) -> bool {
    let Some(path) = plan.hot_path.as_ref().and_then(|path| nodes(program, path)) else { return false };
    let stages = stages(program, plan, &path);
    speculative(program, &path, &stages).into_iter().any(|place| may_be_stale(program, path[place]))
}
