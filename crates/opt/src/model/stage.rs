//! Memory stalls of lookups under a plan: packet by packet, or in the stages of a hot path.
//!
//! Packet by packet, the core overlaps the few packets in its reorder-buffer window. A stage makes a lookup
//! for a whole group, so many misses are outstanding. Prefetched one group ahead (software pipelining), lines
//! have arrived when they are read.
//! This file adds `s · t_l` to nodes and sums `S`; the stalls themselves are in `stalls.rs`.

use super::Model;
use super::lookups::{Lookup, Lookups};
use super::path::Path;
use super::stalls::{StagedLookup, can_prefetch};
use hlir::hot_path::Stage;
use hlir::plan::{Access, Loop, Prefetch};
use hlir::{NodeId, Plan};
use std::collections::HashMap;

/// Operations that spill a key and reload the result.
const SPILL: f64 = 1.0;
/// Rematerialization: the share of the operations before a lookup that its stage computes again for the key.
/// The first stage leaves few for the commit phase, and so does a later one if the checks before it are settled; else
/// it repeats part of the stages before it (counted in l2fwd, ipv4fwd and ipv6fwd; fitted to a sweep of l2l3acl with
/// two stages).
const REMATERIALIZED_FIRST: f64 = 0.1;
const REMATERIALIZED_LATER: f64 = 0.25;
/// Operations of a side exit.
const SIDE_EXIT: f64 = 60.0;
/// Share of the speculative work of a side exit that the plain program repeats.
const REPEATED: f64 = 0.5;
/// Operations per packet that a bulk send of the group saves (counted in l2fwd).
const BULK_SEND: f64 = 7.0;
/// Operations saved per table whose entries all run the expected action: the commit phase need not load the
/// action from the record. Three are counted in l2fwd, but one of them is a dependent load (fitted to it).
const EXPECTED_ACTION: f64 = 6.0;

/// A stage with its lookups.
struct Staged {
    /// Index of the loop in the plan.
    number: usize,
    /// Position of its node on the path.
    place: usize,
    /// The numbers of its lookups.
    looked_up: Vec<usize>,
    /// The stage on the plan's hot path, if it has one.
    on_path: Option<Stage>,
}

/// Depth of software pipelining: bursts that packets are kept while later ones are begun.
pub fn pipeline_depth(plan: &Plan) -> u32 {
    let prefetches = plan.loops.iter().flat_map(|stage| &stage.prefetches);
    let distances = prefetches.filter(|prefetch| prefetch.placement.is_pipelined()).map(|prefetch| prefetch.distance);
    distances.max().unwrap_or(0)
}

/// Staged lookups for which the plan has the expected action.
fn expected_actions(plan: &Plan, stages: &[Staged]) -> f64 {
    let Some(path) = &plan.hot_path else { return 0.0 };
    let staged = stages.iter().flat_map(|stage| stage.on_path.iter().flat_map(|stage| &stage.looked_up));
    staged.filter(|place| path.actions.contains_key(place)).count() as f64
}

/// The prefetches of a loop by their tables; the first of several.
fn by_table(stage: &Loop) -> HashMap<&str, &Prefetch> {
    let named = stage.prefetches.iter().rev().filter_map(|prefetch| match &prefetch.access {
        Access::Table(table) => Some((table.as_str(), prefetch)),
        Access::Packet => None,
    });
    named.collect()
}

/// The stage before the one at a position.
fn earlier(stages: &[Staged], at: usize) -> Option<&Staged> {
    at.checked_sub(1).map(|before| &stages[before])
}

/// What a plan's stages cost.
pub(super) struct StageCosts {
    /// Of the stages themselves, less what they save.
    pub staging: f64,
    pub lookups: Vec<StagedCost>,
}

/// A staged lookup, in cycles per packet.
pub(super) struct StagedCost {
    /// Its number among the lookups.
    pub number: usize,
    /// Its stalls, for packets on the path and others.
    pub memory: f64,
    /// Saved where its structure looks up a group at once.
    pub saved: f64,
}

impl<'a> Model<'a> {
    /// The costs of a plan's stages and of their lookups. All other lookups are made packet by packet.
    pub(super) fn staged(&self, plan: &Plan, lookups: &Lookups) -> StageCosts {
        if plan.loops.is_empty() {
            return StageCosts { staging: 0.0, lookups: Vec::new() };
        }
        let path = self.path_or_empty(plan);
        let stages = self.stages(plan, &path);
        let on_path = self.share_on_path(&path, &stages);
        let operation = self.inputs.machine.stages().operation_cycles;
        // `C_commit`: what a prefetch of the next group is interleaved with where it is placed with commit.
        let commit = path.work_before(path.len()) * operation;
        let mut costs = Vec::new();
        for (at, stage) in stages.iter().enumerate() {
            let planned = &plan.loops[stage.number];
            let named = by_table(planned);
            let made: Vec<StagedLookup> = stage
                .looked_up
                .iter()
                .map(|number| StagedLookup {
                    lookup: &lookups[*number],
                    prefetch: self.prefetch(&named, &lookups[*number]),
                })
                .collect();
            // `C_keys`: rematerialization and spills are in it, for lines arrive during these as well.
            let keys = (self.keys(&path, stage, earlier(&stages, at)) + self.key_operations(stage)) * operation;
            let stalls = self.stage_stalls(&lookups.classes, planned.group, &made, (keys, commit));
            for ((made, number), cycles) in made.iter().zip(&stage.looked_up).zip(stalls) {
                let lookup = made.lookup;
                // Packets on the path at the stage's cost; the others exit and look up packet by packet.
                let on = lookup.share.min(on_path);
                let unstaged = lookups.classes.unstaged_stalls(self, lookup);
                let memory = on * cycles + (lookup.share - on).max(0.0) * unstaged;
                costs.push(StagedCost { number: *number, memory, saved: on * self.group_savings_cycles(lookup) });
            }
        }
        let staging = self.staging(plan, &path, &stages, lookups) + self.next_paths(plan, lookups);
        StageCosts { staging, lookups: costs }
    }

    /// The stages of a hot path. Without one, the plan's loops are independent.
    fn stages(&self, plan: &Plan, path: &Path) -> Vec<Staged> {
        if !path.is_empty() {
            let stages = path.names.stages(plan).into_iter();
            let staged = stages.map(|stage| Staged {
                number: stage.number,
                place: stage.place,
                looked_up: stage.looked_up.iter().filter_map(|place| self.lookup_at(path[*place])).collect(),
                on_path: Some(stage),
            });
            return staged.collect();
        }
        let mut stages = Vec::new();
        for (number, stage) in plan.loops.iter().enumerate().filter(|(_, stage)| stage.batch > 1) {
            let node = self.program.nodes.iter().find(|(_, node)| node.name == stage.node).map(|(id, _)| id);
            let looked_up = |node: NodeId| self.lookup_at(node).into_iter().collect();
            stages.extend(node.map(|node| Staged { number, place: 0, looked_up: looked_up(node), on_path: None }));
        }
        stages
    }

    /// The plan's prefetch of a lookup's first line.
    fn prefetch<'p>(&self, stage: &HashMap<&str, &'p Prefetch>, lookup: &Lookup) -> Option<&'p Prefetch> {
        let name = self.program.tables[lookup.table].name.as_str();
        stage.get(name).copied().filter(|_| can_prefetch(lookup))
    }

    /// Share of the packets that the stages of a plan keep; all of them, if it has no stages.
    pub fn share_in_stages(&self, plan: &Plan) -> f64 {
        let path = self.path_or_empty(plan);
        let stages = self.stages(plan, &path);
        if stages.is_empty() { 1.0 } else { self.share_on_path(&path, &stages) }
    }

    /// The same for all paths of a plan together.
    pub fn share_in_paths(&self, plan: &Plan) -> f64 {
        let next = (0..plan.next_paths.len()).map(|number| self.share_in_stages(&plan.of_next_path(number)));
        (self.share_in_stages(plan) + next.sum::<f64>()).min(1.0)
    }

    /// Share of the packets that are on the hot path at its last stage.
    fn share_on_path(&self, path: &Path, stages: &[Staged]) -> f64 {
        let Some(last) = stages.iter().map(|stage| stage.place).max() else { return 0.0 };
        if path.is_empty() { 1.0 } else { path.share_at(self, last) }
    }

    /// Operations of a stage up to its lookups: rematerialization, and a spill per key. Computing the keys is
    /// counted at the tables' nodes, since the commit phase does not repeat it.
    /// `w_store` of `S`. Each stage computes again what its keys need of the nodes before it, since nothing but
    /// keys and record numbers is carried from stage to stage.
    fn keys(&self, path: &Path, stage: &Staged, earlier: Option<&Staged>) -> f64 {
        let few = earlier.is_none_or(|earlier| path.is_settled(earlier.place));
        let part = if few { REMATERIALIZED_FIRST } else { REMATERIALIZED_LATER };
        part * path.visited_before(stage.place) + stage.looked_up.len() as f64 * SPILL
    }

    /// Operations that compute the keys of a stage.
    fn key_operations(&self, stage: &Staged) -> f64 {
        stage.looked_up.iter().map(|number| self.key_operations[*number]).sum()
    }

    /// Cycles per packet that stages add; x exit the hot path, x_s of them
    /// before the last cut, y stay on it.
    ///
    /// ```text
    /// S = Σ over stages (loops · c_loop / G + (keys + state) · c_op + wait) + c_loop / G
    ///     + x · (c_br + 60 · c_op) + x_s · ½ · w_before · c_op − y · (7 + 6 · known) · c_op
    /// ```
    fn staging(&self, plan: &Plan, path: &Path, stages: &[Staged], lookups: &[Lookup]) -> f64 {
        if stages.is_empty() {
            return 0.0;
        }
        let on_path = self.share_on_path(path, stages);
        // `e`: packets that leave before the last cut, and those that leave while they commit.
        let last = stages.iter().map(|stage| stage.place).max().unwrap_or(0);
        let exits = 1.0 - on_path + on_path * path.exit_share(self, last);
        self.stages_cycles(plan, path, stages, (1.0, on_path), lookups) + exits * self.side_exit_cycles()
    }

    /// Cycles of a side exit, which is one misprediction, and a copy of the packet's state: before the last stage, to its
    /// beginning; during commit, to the node where it goes on.
    pub(super) fn side_exit_cycles(&self) -> f64 {
        self.inputs.machine.mispredict_cycles + SIDE_EXIT * self.operation()
    }

    /// The same without side exits, of a path that a share of the packets comes to, and another one follows.
    pub(super) fn staging_of_next(&self, plan: &Plan, shares: (f64, f64), lookups: &[Lookup]) -> f64 {
        let path = self.path_or_empty(plan);
        let stages = self.stages(plan, &path);
        self.stages_cycles(plan, &path, &stages, shares, lookups)
    }

    /// What stages add, less what they save, but side exits.
    fn stages_cycles(
        &self,
        plan: &Plan,
        path: &Path,
        stages: &[Staged],
        (comes, on_path): (f64, f64),
        lookups: &[Lookup],
    ) -> f64 {
        let machine = &self.inputs.machine;
        let costs = machine.stages();
        // The commit phase is one loop more.
        let group = stages.iter().map(|stage| plan.loops[stage.number].group).min().unwrap_or(1);
        // `c_loop / G`: the end of a loop is one misprediction for a whole group.
        let mut each = costs.loop_cycles / f64::from(group.max(1));
        let mut vector = 0.0;
        for (at, stage) in stages.iter().enumerate() {
            let planned = &plan.loops[stage.number];
            let made = || stage.looked_up.iter().map(|number| &lookups[*number]);
            // Structures with grouped lookups have loops of their own. All other lookups share one.
            let grouped = made().filter(|lookup| lookup.shape.group_savings.is_some());
            let own_loops: f64 = grouped.map(|lookup| lookup.shape.loops_cycles(machine)).sum();
            let single = if made().any(|lookup| lookup.shape.group_savings.is_none()) { 1.0 } else { 0.0 };
            each += (own_loops + (1.0 + single) * costs.loop_cycles) / f64::from(planned.group.max(1));
            each += self.keys(path, stage, earlier(stages, at)) * costs.operation_cycles;
            if let Some(first) = stage.on_path.as_ref().filter(|_| at == 0) {
                vector = self.vector_cycles(plan, path, first, on_path / comes.max(f64::MIN_POSITIVE));
            }
            if planned.prefetches.iter().any(|prefetch| prefetch.placement.is_pipelined()) {
                // `wait`: the state of a packet is stored and loaded again when its lines have come.
                each += costs.pipelining_cycles;
            }
        }
        // What a packet did speculatively, it does again: on average half of the path to the last cut.
        let last = stages.iter().map(|stage| stage.place).max().unwrap_or(0);
        let speculative = path.work_before(last);
        let repeated = (comes - on_path) * REPEATED * speculative * costs.operation_cycles;
        let bulk_send = if path.is_empty() { 0.0 } else { BULK_SEND };
        // `y · (7 + 6 · known + state) · c_op`: packets that stay are sent as a group, and their actions are not read.
        // Stages carry keys and record numbers, and commit computes values: no packet on the path has a state in memory.
        let state = if path.is_empty() { 0.0 } else { self.state_operations() };
        let saved = (bulk_send + EXPECTED_ACTION * expected_actions(plan, stages) + state) * costs.operation_cycles;
        comes * (each + vector) + repeated - on_path * saved
    }
}
