//! Memory stalls of lookups under a plan: packet by packet, or in the stages of a hot path.
//!
//! Packet by packet, the core overlaps the few packets in its reorder-buffer window. A stage makes a lookup
//! for a whole group, so many misses are outstanding. Prefetched one group ahead (software pipelining), lines
//! have arrived when they are read.
//! This file adds `s · t_l` to nodes and sums `S`; the stalls themselves are in `stalls.rs`.

use super::stalls::{StagedLookup, can_prefetch};
use super::{ByClass, Lookup, Model, NodeCost};
use crate::analyze::drops::node_index;
use hlir::hot_path::Stage;
use hlir::plan::{Access, Loop, Placement, Prefetch};
use hlir::{NodeId, Plan};

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
    looked_up: Vec<NodeId>,
    /// The stage on the plan's hot path, if it has one.
    on_path: Option<Stage>,
}

/// Depth of software pipelining: bursts that packets are kept while later ones are begun.
pub fn pipeline_depth(plan: &Plan) -> u32 {
    let prefetches = plan.loops.iter().flat_map(|stage| &stage.prefetches);
    let distances = prefetches.filter(|prefetch| prefetch.placement.is_pipelined()).map(|prefetch| prefetch.distance);
    distances.max().unwrap_or(0)
}

/// Staged lookups for which the plan has the expected action. Zero for a path with nodes that the
/// program lacks.
fn expected_actions(plan: &Plan, path: &[NodeId], stages: &[Staged]) -> f64 {
    let places = plan.hot_path.iter().flat_map(|path| path.actions.keys());
    let nodes = places.filter_map(|place| path.get(*place));
    nodes.filter(|node| stages.iter().any(|stage| stage.looked_up.contains(node))).count() as f64
}

/// The stage before the one at a position.
fn earlier(stages: &[Staged], at: usize) -> Option<&Staged> {
    at.checked_sub(1).map(|before| &stages[before])
}

impl Model<'_> {
    /// Adds memory stalls to `nodes`, and subtracts what grouped lookups save. Returns the cost of the stages
    /// themselves, less what they save.
    pub(super) fn add_stalls(&self, plan: &Plan, lookups: &[Lookup], nodes: &mut [NodeCost]) -> f64 {
        let path = self.path(plan).unwrap_or_default();
        let stages = self.stages(plan, &path);
        let window = self.rob_window(lookups);
        let on_path = self.share_on_path(&path, &stages);
        let is_staged = |lookup: &Lookup| stages.iter().any(|stage| stage.looked_up.contains(&lookup.node));
        let mut by_class = ByClass::new(lookups);
        for lookup in lookups.iter().filter(|lookup| !is_staged(lookup)) {
            // Lookups off the path, or in no stage: packet by packet.
            let stalls = by_class.of(lookup, || self.unstaged_stalls(lookup, &window));
            nodes[node_index(lookup.node)].memory += lookup.share * stalls;
        }
        let operation = self.inputs.machine.stages().operation_cycles;
        // `C_commit`: what a prefetch of the next group is interleaved with where it is placed with commit.
        let commit = path.iter().map(|node| self.work(*node)).sum::<f64>() * operation;
        for (at, stage) in stages.iter().enumerate() {
            let planned = &plan.loops[stage.number];
            let made: Vec<StagedLookup> = lookups
                .iter()
                .filter(|lookup| stage.looked_up.contains(&lookup.node))
                .map(|lookup| StagedLookup { lookup, prefetch: self.prefetch(planned, lookup) })
                .collect();
            // `C_keys`: rematerialization and spills are in it, for lines arrive during these as well.
            let keys = (self.keys(&path, stage, earlier(&stages, at)) + self.key_operations(stage)) * operation;
            for (made, cycles) in made.iter().zip(self.stage_stalls(planned.group, &made, keys, commit)) {
                let lookup = made.lookup;
                // Packets on the path at the stage's cost; the others exit and look up packet by packet.
                let on = lookup.share.min(on_path);
                let unstaged = by_class.of(lookup, || self.unstaged_stalls(lookup, &window));
                let node = &mut nodes[node_index(lookup.node)];
                node.memory += on * cycles + (lookup.share - on).max(0.0) * unstaged;
                node.issue -= on * self.group_savings_cycles(lookup);
            }
        }
        self.staging(plan, &path, &stages, lookups, on_path)
    }

    /// The stages of a hot path. Without one, the plan's loops are independent.
    fn stages(&self, plan: &Plan, path: &[NodeId]) -> Vec<Staged> {
        if !path.is_empty() {
            let stages = hlir::hot_path::stages(self.program, plan, path).into_iter();
            let looked_up = |places: Vec<usize>| places.into_iter().map(|place| path[place]).collect();
            let staged = stages.map(|stage| Staged {
                number: stage.number,
                place: stage.place,
                looked_up: looked_up(stage.looked_up.clone()),
                on_path: Some(stage),
            });
            return staged.collect();
        }
        let mut stages = Vec::new();
        for (number, stage) in plan.loops.iter().enumerate().filter(|(_, stage)| stage.batch > 1) {
            let node = self.program.nodes.iter().find(|(_, node)| node.name == stage.node).map(|(id, _)| id);
            stages.extend(node.map(|node| Staged { number, place: 0, looked_up: vec![node], on_path: None }));
        }
        stages
    }

    /// The plan's prefetch of a lookup's first line.
    fn prefetch<'p>(&self, stage: &'p Loop, lookup: &Lookup) -> Option<&'p Prefetch> {
        let name = &self.program.tables[lookup.table].name;
        stage.prefetches.iter().find(|prefetch| {
            let matches_line = matches!(&prefetch.access, Access::Table(table) if table == name);
            matches_line && prefetch.placement != Placement::None && can_prefetch(lookup)
        })
    }

    /// Share of the packets that the stages of a plan keep; all of them, if it has no stages.
    pub fn share_in_stages(&self, plan: &Plan) -> f64 {
        let path = self.path(plan).unwrap_or_default();
        let stages = self.stages(plan, &path);
        if stages.is_empty() { 1.0 } else { self.share_on_path(&path, &stages) }
    }

    /// Share of the packets that are on the hot path at its last stage: they followed it so far, and ran
    /// nothing that cannot be speculated.
    fn share_on_path(&self, path: &[NodeId], stages: &[Staged]) -> f64 {
        let Some(last) = stages.iter().map(|stage| stage.place).max() else { return 0.0 };
        if path.is_empty() {
            return 1.0;
        }
        let mut share = self.traffic.node(path[0]).min(1.0);
        for (pair, onward) in path[..=last].windows(2).zip(self.shares_along(path).iter()) {
            share *= onward * self.speculable_share(pair[0], pair[1]);
        }
        share.clamp(0.0, 1.0)
    }

    /// Operations of a stage up to its lookups: rematerialization, and a spill per key. Computing the keys is
    /// counted at the tables' nodes, since the commit phase does not repeat it.
    /// `w_store` of `S`. Each stage computes again what its keys need of the nodes before it, since nothing but
    /// keys and record numbers is carried from stage to stage.
    fn keys(&self, path: &[NodeId], stage: &Staged, earlier: Option<&Staged>) -> f64 {
        let before = path.iter().take(stage.place);
        let few = earlier.is_none_or(|earlier| self.is_settled(path, earlier));
        let part = if few { REMATERIALIZED_FIRST } else { REMATERIALIZED_LATER };
        let rematerialized: f64 = before.map(|node| part * self.work(*node) * self.traffic.node(*node).min(1.0)).sum();
        rematerialized + stage.looked_up.len() as f64 * SPILL
    }

    /// Whether the stages after one need not repeat the checks before it. Then little of a packet's state is left in
    /// them: what keys are made of.
    fn is_settled(&self, path: &[NodeId], stage: &Staged) -> bool {
        let lasts = |node: &NodeId| hlir::hot_path::has_lasting_outcome(self.program, *node);
        !path.is_empty() && path.iter().take(stage.place).all(lasts)
    }

    /// Operations that compute the keys of a stage.
    fn key_operations(&self, stage: &Staged) -> f64 {
        let operations = crate::model::operations::Operations::new(self.program);
        let tables = stage.looked_up.iter().filter_map(|node| hlir::hot_path::table_of(self.program, *node));
        tables.map(|table| operations.key(table)).sum()
    }

    /// Cycles per packet that stages add; x exit the hot path, x_s of them
    /// before the last cut, y stay on it.
    ///
    /// ```text
    /// S = Σ over stages (loops · c_loop / G + (keys + state) · c_op + wait) + c_loop / G
    ///     + x · (c_br + 60 · c_op) + x_s · ½ · w_before · c_op − y · (7 + 6 · known) · c_op
    /// ```
    fn staging(&self, plan: &Plan, path: &[NodeId], stages: &[Staged], lookups: &[Lookup], on_path: f64) -> f64 {
        if stages.is_empty() {
            return 0.0;
        }
        let machine = &self.inputs.machine;
        let costs = machine.stages();
        // The commit phase is one loop more.
        let group = stages.iter().map(|stage| plan.loops[stage.number].group).min().unwrap_or(1);
        // `c_loop / G`: the end of a loop is one misprediction for a whole group.
        let mut sum = costs.loop_cycles / f64::from(group.max(1));
        for (at, stage) in stages.iter().enumerate() {
            let planned = &plan.loops[stage.number];
            let made = || lookups.iter().filter(|lookup| stage.looked_up.contains(&lookup.node));
            // Structures with grouped lookups have loops of their own. All other lookups share one.
            let grouped = made().filter(|lookup| lookup.shape.group_savings.is_some());
            let own_loops: f64 = grouped.map(|lookup| lookup.shape.loops_cycles(machine)).sum();
            let single = if made().any(|lookup| lookup.shape.group_savings.is_none()) { 1.0 } else { 0.0 };
            sum += (own_loops + (1.0 + single) * costs.loop_cycles) / f64::from(planned.group.max(1));
            sum += self.keys(path, stage, earlier(stages, at)) * costs.operation_cycles;
            if let Some(first) = stage.on_path.as_ref().filter(|_| at == 0) {
                sum += self.vector_cycles(plan, path, first, on_path);
            }
            if planned.prefetches.iter().any(|prefetch| prefetch.placement.is_pipelined()) {
                // `wait`: the state of a packet is stored and loaded again when its lines have come.
                sum += costs.pipelining_cycles;
            }
        }
        // A side exit is one misprediction, and a copy of the packet's state: before the last stage, to its
        // beginning; during commit, to the node where it goes on.
        let exit_cycles = machine.mispredict_cycles + SIDE_EXIT * self.operation();
        // `e`: packets that leave before the last cut, and those that leave while they commit.
        let exits = 1.0 - on_path + on_path * self.commit_exit_share(path, stages);
        // What a packet did speculatively, it does again: on average half of the path to the last cut.
        let last = stages.iter().map(|stage| stage.place).max().unwrap_or(0);
        let speculative: f64 = path.iter().take(last).map(|node| self.work(*node)).sum();
        let holds_state = |(at, stage): &(usize, &Staged)| match earlier(stages, *at) {
            None => plan.loops[stage.number].vector < 2,
            Some(earlier) => !self.is_settled(path, earlier),
        };
        let holding = stages.iter().enumerate().filter(holds_state).count();
        sum += holding as f64 * self.state_operations() * costs.operation_cycles;
        sum += (1.0 - on_path) * REPEATED * speculative * costs.operation_cycles;
        let bulk_send = if path.is_empty() { 0.0 } else { BULK_SEND };
        // `y · (7 + 6 · known) · c_op`: packets that stay are sent as a group, and their actions are not read.
        let saved = (bulk_send + EXPECTED_ACTION * expected_actions(plan, path, stages)) * costs.operation_cycles;
        sum + exits * exit_cycles - on_path * saved
    }

    /// Share of the packets at the last stage that exit during commit. Dropped packets do not: they go
    /// nowhere.
    /// Walks the rest of the path: `on` is the share that is still on it, `off` what has left so far.
    fn commit_exit_share(&self, path: &[NodeId], stages: &[Staged]) -> f64 {
        let last = stages.iter().map(|stage| stage.place).max().unwrap_or(0);
        let (mut on, mut off) = (1.0, 0.0);
        let shares = self.shares_along(path);
        for (node, onward) in path.iter().zip(shares.iter()).skip(last) {
            let ended = self.traffic.leaving(*node) / self.traffic.node(*node).max(f64::MIN_POSITIVE);
            off += on * (1.0 - onward - ended).max(0.0);
            on *= onward;
        }
        off
    }
}
