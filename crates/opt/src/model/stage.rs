//! What waiting for tables costs under a plan: packet by packet, or in the stages of a path.
//!
//! Packet by packet, the core overlaps what stands within its window: few packets. A stage makes a look-up for a whole group, so that many lines are on
//! their way; asked for ahead, they are there when they are read, but for the first ones of a group that has nothing else to do meanwhile.

use super::stalls::{StagedLookup, can_prefetch};
use super::{Lookup, Model, NodeCost};
use crate::analyze::drops::node_index;
use hlir::path::Stage;
use hlir::plan::{Access, Loop, Placement, Request};
use hlir::{NodeId, Plan};

/// Operations that put a key aside and take up again what was found.
const SPILL: f64 = 1.0;
/// Of the operations before a look-up, those that its key needs are done in its stage. The first stage leaves most of them to nobody else; a later one does
/// again part of what the stages before it did (counted in l2fwd, ipv4fwd and ipv6fwd; fitted to a sweep of l2l3acl with two stages).
const REMATERIALIZED_FIRST: f64 = 0.1;
const REMATERIALIZED_LATER: f64 = 0.25;
/// Operations that leaving the path costs.
const SIDE_EXIT: f64 = 60.0;
/// Operations that a packet is spared where its group is sent at once (counted in l2fwd).
const BULK_SEND: f64 = 7.0;
/// Operations of a turn that asks a record for its action, for each table that says all its entries run the usual one: three are counted in l2fwd, but one is
/// a load that the next one waits for (fitted to it).
const EXPECTED_ACTION: f64 = 6.0;

/// A stage, with the look-ups that it makes.
struct Staged {
    /// Number of the loop in the plan.
    number: usize,
    /// Place of its node on the path.
    place: usize,
    looked_up: Vec<NodeId>,
    /// The same on the plan's path, if it has one.
    on_path: Option<Stage>,
}

/// Bursts that packets wait while those behind them are begun.
pub fn pipeline_depth(plan: &Plan) -> u32 {
    let requests = plan.loops.iter().flat_map(|stage| &stage.requests);
    let distances = requests.filter(|request| request.placement.is_behind()).map(|request| request.distance);
    distances.max().unwrap_or(0)
}

/// Look-ups of stages of which the plan says what action is found. A path of which the program has not all nodes says nothing.
fn expected_actions(plan: &Plan, path: &[NodeId], stages: &[Staged]) -> f64 {
    let places = plan.path.iter().flat_map(|path| path.actions.keys());
    let nodes = places.filter_map(|place| path.get(*place));
    nodes.filter(|node| stages.iter().any(|stage| stage.looked_up.contains(node))).count() as f64
}

impl Model<'_> {
    /// Adds to `nodes` what waiting for their tables costs, and takes off what groups save; gives what the stages themselves cost, less what they spare.
    pub(super) fn add_stalls(&self, plan: &Plan, lookups: &[Lookup], nodes: &mut [NodeCost]) -> f64 {
        let path = plan.path.as_ref().and_then(|path| hlir::path::nodes(self.program, path)).unwrap_or_default();
        let stages = self.stages(plan, &path);
        let window = self.rob_window(lookups);
        let on_path = self.share_on_path(&path, &stages);
        let is_staged = |lookup: &Lookup| stages.iter().any(|stage| stage.looked_up.contains(&lookup.node));
        for lookup in lookups.iter().filter(|lookup| !is_staged(lookup)) {
            nodes[node_index(lookup.node)].memory += lookup.share * self.unstaged_stalls(lookup, &window);
        }
        let operation = self.inputs.machine.stages().operation_cycles;
        let commit = path.iter().map(|node| self.work(*node)).sum::<f64>() * operation;
        for (at, stage) in stages.iter().enumerate() {
            let planned = &plan.loops[stage.number];
            let made: Vec<StagedLookup> = lookups
                .iter()
                .filter(|lookup| stage.looked_up.contains(&lookup.node))
                .map(|lookup| StagedLookup { lookup, request: self.request(planned, lookup) })
                .collect();
            let keys = (self.keys(&path, stage, at == 0) + self.key_operations(stage)) * operation;
            for (made, cycles) in made.iter().zip(self.stage_stalls(planned.group, &made, keys, commit)) {
                let lookup = made.lookup;
                let on = lookup.share.min(on_path);
                let unstaged = self.unstaged_stalls(lookup, &window);
                let node = &mut nodes[node_index(lookup.node)];
                node.memory += on * cycles + (lookup.share - on).max(0.0) * unstaged;
                node.issue -= on * self.group_savings_cycles(lookup);
            }
        }
        self.staging(plan, &path, &stages, lookups, on_path)
    }

    /// The stages of a path; without a path, its loops as they stand.
    fn stages(&self, plan: &Plan, path: &[NodeId]) -> Vec<Staged> {
        if !path.is_empty() {
            let stages = hlir::path::stages(self.program, plan, path).into_iter();
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

    /// Where the plan asks for a look-up's first line.
    fn request<'p>(&self, stage: &'p Loop, lookup: &Lookup) -> Option<&'p Request> {
        let name = &self.program.tables[lookup.table].name;
        stage.requests.iter().find(|request| {
            let matches_line = matches!(&request.access, Access::Table { table, line: 0 } if table == name);
            matches_line && request.placement != Placement::None && can_prefetch(lookup)
        })
    }

    /// Packets that are still on the path at its last stage: those that have gone along it so far, and done nothing that waits for their turn.
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

    /// Operations of a stage up to its look-ups: what stands before it is done again as far as its keys need it, and the keys are put aside. Making them is
    /// counted at the tables' nodes, whose turns do not.
    fn keys(&self, path: &[NodeId], stage: &Staged, is_first: bool) -> f64 {
        let before = path.iter().take(stage.place);
        let part = if is_first { REMATERIALIZED_FIRST } else { REMATERIALIZED_LATER };
        let rematerialized: f64 = before.map(|node| part * self.work(*node) * self.traffic.node(*node).min(1.0)).sum();
        rematerialized + stage.looked_up.len() as f64 * SPILL
    }

    /// Operations that make a stage's keys.
    fn key_operations(&self, stage: &Staged) -> f64 {
        let operations = crate::model::operations::Operations::new(self.program);
        let tables = stage.looked_up.iter().filter_map(|node| hlir::path::table_of(self.program, *node));
        tables.map(|table| operations.key(table)).sum()
    }

    /// What stages add to a packet, in cycles.
    fn staging(&self, plan: &Plan, path: &[NodeId], stages: &[Staged], lookups: &[Lookup], on_path: f64) -> f64 {
        if stages.is_empty() {
            return 0.0;
        }
        let machine = &self.inputs.machine;
        let costs = machine.stages();
        // Each packet's turn is a loop too.
        let group = stages.iter().map(|stage| plan.loops[stage.number].group).min().unwrap_or(1);
        let mut sum = costs.loop_cycles / f64::from(group.max(1));
        for (at, stage) in stages.iter().enumerate() {
            let planned = &plan.loops[stage.number];
            let made = || lookups.iter().filter(|lookup| stage.looked_up.contains(&lookup.node));
            // Structures that look up groups have loops of their own; all others are looked up in one.
            let group_savings = made().filter(|lookup| lookup.shape.group_savings.is_some());
            let group_savings: f64 = group_savings.map(|lookup| lookup.shape.loops_cycles(machine)).sum();
            let single = if made().any(|lookup| lookup.shape.group_savings.is_none()) { 1.0 } else { 0.0 };
            sum += (group_savings + (1.0 + single) * costs.loop_cycles) / f64::from(planned.group.max(1));
            sum += self.keys(path, stage, at == 0) * costs.operation_cycles;
            if let Some(first) = stage.on_path.as_ref().filter(|_| at == 0) {
                sum += self.vector_cycles(plan, path, first, on_path);
            }
            if planned.requests.iter().any(|request| request.placement.is_behind()) {
                sum += costs.pipelining_cycles;
            }
        }
        // A packet that leaves the path is guessed wrong once, and is copied to where it can run alone: before the last stage to its beginning, in its turn to
        // where it goes.
        let exit_cycles = machine.mispredict_cycles + SIDE_EXIT * self.operation();
        let exits = 1.0 - on_path + on_path * self.commit_exit_share(path, stages);
        let bulk_send = if path.is_empty() { 0.0 } else { BULK_SEND };
        let saved = (bulk_send + EXPECTED_ACTION * expected_actions(plan, path, stages)) * costs.operation_cycles;
        sum + exits * exit_cycles - on_path * saved
    }

    /// Of the packets that are on the path at its last stage, those that go on elsewhere in their turn. What is dropped there goes nowhere.
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
