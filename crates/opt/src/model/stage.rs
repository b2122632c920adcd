//! What waiting for tables costs under a plan: packet by packet, or in the stages of a path.
//!
//! Packet by packet, the core overlaps what stands within its window: few packets. A stage makes a look-up for a whole group, so that many lines are on
//! their way; asked for ahead, they are there when they are read, but for the first ones of a group that has nothing else to do meanwhile.

use super::{Lookup, Model, NodeCost};
use crate::analyze::doom::number;
use hlir::plan::{Access, Hint, Loop, Placement, Request};
use hlir::{NodeId, Plan};
use std::collections::BTreeMap;

/// Operations that put what a packet needs in the next stage aside and take it up again.
const ASIDE: f64 = 10.0;
/// Of the operations before a look-up, those that its key needs: they are done for it, and again in the packet's turn.
const AGAIN: f64 = 0.35;
/// Operations around a look-up in the loop of a stage.
const LOOP: f64 = 6.0;
/// Operations of a request.
const REQUEST: f64 = 2.0;
/// Operations that leaving the path costs.
const LEAVE: f64 = 60.0;
/// Operations one after the other between two lines of a look-up: comparing, and making the next address.
const STEP: f64 = 6.0;
/// Tables with fewer look-ups to a packet are not on the path of most packets.
const SHARE_OF_PATH: f64 = 0.5;
/// What a request into a further cache must cost of one into the first, to be chosen.
const CLEARLY_FAR: f64 = 0.8;
/// A group as planners choose it.
const USUAL_GROUP: u32 = 32;
/// Operations for a packet whose keys wait until the next group has come: it is copied, and addresses are made anew.
const BEHIND: f64 = 16.0;
/// Loops of a stage, for keys and for look-ups: the core guesses wrong where each of them ends.
const LOOPS: f64 = 2.0;
/// Operations to begin a stage, for each group.
const BEGIN: f64 = 24.0;

/// A stage, with the look-ups that it makes.
struct Staged {
    /// Number of the loop in the plan.
    number: usize,
    /// Place of its node on the path.
    place: usize,
    looked_up: Vec<NodeId>,
}

/// How a look-up is made.
enum Way<'p> {
    InTurn,
    Staged { stage: &'p Loop, request: Option<&'p Request>, together: f64 },
}

/// Bursts that packets wait while those behind them are begun.
pub fn bursts_ahead(plan: &Plan) -> u32 {
    let requests = plan.loops.iter().flat_map(|stage| &stage.requests);
    let ahead =
        requests.filter(|request| request.placement == Placement::WithConsumption).map(|request| request.distance);
    ahead.max().unwrap_or(0)
}

/// Whether the plan can ask for lines of a look-up before they are read.
fn can_be_asked(lookup: &Lookup) -> bool {
    lookup.shape.structure.is_addressed() || lookup.shape.structure.is_walked()
}

impl Model<'_> {
    /// Adds to `nodes` what waiting for their tables costs; gives what the stages themselves cost.
    pub(super) fn wait(&self, plan: &Plan, lookups: &[Lookup], nodes: &mut [NodeCost]) -> f64 {
        let path = plan.path.as_ref().and_then(|path| hlir::path::nodes(self.program, path)).unwrap_or_default();
        let stages = self.stages(plan, &path);
        let in_window = self.in_window(lookups);
        let on_path = self.share_on(&path, &stages);
        let mut drained: BTreeMap<usize, f64> = BTreeMap::new();
        for lookup in lookups {
            let way = self.way(plan, &stages, lookup);
            let in_turn = self.in_turn(lookup, in_window);
            let cost = match &way {
                Way::InTurn => lookup.share * in_turn,
                Way::Staged { stage, request, together } => {
                    let (steady, drain) = self.staged(lookup, stage, *request, *together);
                    let index = plan.loops.iter().position(|other| std::ptr::eq(other, *stage)).unwrap_or(0);
                    let latest = drained.entry(index).or_default();
                    // Look-ups of one stage wait for their first lines together.
                    let more = (drain - *latest).max(0.0);
                    *latest = latest.max(drain);
                    let on = lookup.share.min(on_path);
                    on * (steady + more) + (lookup.share - on).max(0.0) * in_turn
                }
            };
            nodes[number(lookup.node)].memory += cost;
        }
        self.staging(plan, &path, &stages, on_path)
    }

    /// The stages of a path; without a path, its loops as they stand.
    fn stages(&self, plan: &Plan, path: &[NodeId]) -> Vec<Staged> {
        if !path.is_empty() {
            let stages = hlir::path::stages(self.program, plan, path).into_iter();
            let looked_up = |places: Vec<usize>| places.into_iter().map(|place| path[place]).collect();
            let staged = stages.map(|stage| Staged {
                number: stage.number,
                place: stage.place,
                looked_up: looked_up(stage.looked_up),
            });
            return staged.collect();
        }
        let mut stages = Vec::new();
        for (number, stage) in plan.loops.iter().enumerate().filter(|(_, stage)| stage.batch > 1) {
            let node = self.program.nodes.iter().find(|(_, node)| node.name == stage.node).map(|(id, _)| id);
            stages.extend(node.map(|node| Staged { number, place: 0, looked_up: vec![node] }));
        }
        stages
    }

    fn way<'p>(&self, plan: &'p Plan, stages: &[Staged], lookup: &Lookup) -> Way<'p> {
        let Some(stage) = stages.iter().find(|stage| stage.looked_up.contains(&lookup.node)) else {
            return Way::InTurn;
        };
        let planned = &plan.loops[stage.number];
        let name = &self.program.tables[lookup.table].name;
        let asks = |request: &&Request| {
            let is_ours = matches!(&request.access, Access::Table { table, line: 0 } if table == name);
            is_ours && request.placement != Placement::None && can_be_asked(lookup)
        };
        let request = planned.requests.iter().find(asks);
        Way::Staged { stage: planned, request, together: stage.looked_up.len() as f64 }
    }

    /// Packets whose instructions the core sees at once, going packet by packet.
    fn in_window(&self, lookups: &[Lookup]) -> f64 {
        (f64::from(self.inputs.machine.window) / self.packet_operations(lookups).max(1.0)).max(1.0)
    }

    /// A look-up in its packet's turn: other packets' lines are on their way as far as the window reaches.
    fn in_turn(&self, lookup: &Lookup, in_window: f64) -> f64 {
        let memory = self.memory();
        let lines = lookup.shape.lines.iter().zip(&lookup.working_sets);
        let waiting: f64 = lines.map(|(line, bytes)| line.often * memory.load(*bytes, in_window * line.abreast)).sum();
        waiting + self.chain(lookup, in_window)
    }

    /// Steps of a look-up that each need the one before take time even where all lines are at hand: what that is beyond the operations;
    /// and beginning anew where its end was guessed wrong.
    fn chain(&self, lookup: &Lookup, side_by_side: f64) -> f64 {
        let machine = &self.inputs.machine;
        let nearest = machine.latency_cycles(machine.lines.working_set_kb[0] << 10);
        let dependent: f64 = lookup.shape.lines.iter().filter(|line| line.abreast <= 1.0).map(|line| line.often).sum();
        let step = nearest + STEP / machine.core_per_tick;
        let issued = lookup.shape.operations * self.operation();
        let surprised = lookup.shape.surprises * machine.mispredict_cycles;
        ((dependent - 1.0).max(0.0) * step / side_by_side.max(1.0) - issued).max(0.0) + surprised
    }

    /// What waiting for a look-up costs where it is made in the cheaper way: in its turn, or in a stage that asks for its line.
    pub(super) fn at_best(&self, lookup: &Lookup, lookups: &[Lookup]) -> f64 {
        let in_turn = self.in_turn(lookup, self.in_window(lookups));
        if lookup.share < SHARE_OF_PATH || hlir::effects::learns(self.program, lookup.table) {
            return in_turn;
        }
        let request = Request {
            access: Access::Table { table: self.program.tables[lookup.table].name.clone(), line: 0 },
            placement: Placement::OwnLoop,
            distance: USUAL_GROUP,
            hint: self.best_hint(lookup, f64::from(USUAL_GROUP)),
            reason: None,
        };
        let stage = Loop {
            node: String::new(),
            batch: USUAL_GROUP,
            group: USUAL_GROUP,
            lanes: 1,
            requests: Vec::new(),
            reason: None,
        };
        let request = can_be_asked(lookup).then_some(&request);
        let (steady, drain) = self.staged(lookup, &stage, request, 1.0);
        in_turn.min(steady + drain + (ASIDE + BEGIN / f64::from(USUAL_GROUP)) * self.operation())
    }

    /// A look-up of a stage: what each costs in a steady stream, and what a group waits for its first.
    fn staged(&self, lookup: &Lookup, stage: &Loop, request: Option<&Request>, together: f64) -> (f64, f64) {
        if lookup.shape.structure.is_walked() {
            return self.walked(lookup, stage, request.is_some());
        }
        let memory = self.memory();
        let group = f64::from(stage.group.max(1));
        let window = f64::from(self.inputs.machine.window) / (lookup.shape.operations + LOOP);
        let loaded = (window * together).min(group * together);
        let record = lookup.shape.lines.len().saturating_sub(1);
        let mut lines = lookup.shape.lines.iter().zip(&lookup.working_sets).enumerate();
        // A structure that looks up groups has a line for each packet on its way; a record is read in its packet's turn.
        let (saved, in_group) = match lookup.shape.grouped {
            Some(saved) => (saved, group * together),
            None => (0.0, loaded),
        };
        let mut steady = -saved * self.operation();
        let mut drain = 0.0;
        if let Some(request) = request
            && let Some((_, (line, bytes))) = lines.next()
        {
            let ahead = match request.placement {
                Placement::None | Placement::OwnLoop => group,
                Placement::WithConsumption => group * f64::from(request.distance.max(1)),
            };
            let latency = memory.latency(*bytes);
            let mut cycles = memory.prefetch(request.hint, *bytes, ahead * together);
            if request.placement == Placement::WithConsumption {
                // The line comes while an older group's look-up is made, which has its lines already.
                cycles = (cycles - (lookup.shape.operations + LOOP) * self.operation()).max(0.0);
            }
            // Where a line is closer than the group is long, asking for all of them takes as long as waiting for the first.
            steady += cycles + REQUEST * self.operation();
            // What is read beside the first line, as a second bucket, nobody has asked for.
            steady += (line.often - 1.0).max(0.0) * memory.load(*bytes, in_group);
            drain = if request.placement == Placement::OwnLoop { latency / group } else { 0.0 };
        }
        for (number, (line, bytes)) in lines {
            // What nobody has asked for is on its way as far as the window reaches, and a group is looked up table by table.
            let in_flight = match (number, lookup.shape.grouped) {
                (number, _) if number == record => loaded,
                (0, Some(_)) => window.min(group),
                _ => in_group,
            };
            steady += line.often * memory.load(*bytes, in_flight * line.abreast);
        }
        (steady + self.chain(lookup, in_group), drain)
    }

    /// A look-up of a stage that goes node by node for the whole group: a node is requested when the one before it is read, and comes while the others'
    /// nodes are.
    fn walked(&self, lookup: &Lookup, stage: &Loop, is_asked: bool) -> (f64, f64) {
        let memory = self.memory();
        let group = f64::from(stage.group.max(1));
        let nodes = lookup.shape.lines.len().saturating_sub(1);
        let operations = lookup.shape.operations - lookup.shape.grouped.unwrap_or(0.0);
        let step = operations / nodes.max(1) as f64;
        let in_window = (f64::from(self.inputs.machine.window) / (step + LOOP)).min(group);
        let (mut steady, mut drain) = ((operations - lookup.shape.operations) * self.operation(), 0.0);
        for (number, (line, bytes)) in lookup.shape.lines.iter().zip(&lookup.working_sets).enumerate() {
            let mut read = line.often;
            if is_asked && number < nodes {
                let meanwhile = step * self.operation();
                drain += (memory.latency(*bytes) / group - meanwhile).max(0.0);
                steady += (memory.prefetch(Hint::T0, *bytes, group) - meanwhile).max(0.0) + REQUEST * self.operation();
                // A node's other lines nobody has asked for.
                read -= 1.0;
            }
            steady += read * memory.load(*bytes, in_window * line.abreast);
        }
        (steady + self.chain(lookup, group), drain)
    }

    /// Packets that are still on the path at its last stage.
    fn share_on(&self, path: &[NodeId], stages: &[Staged]) -> f64 {
        let Some(last) = stages.iter().map(|stage| stage.place).max() else { return 0.0 };
        if path.is_empty() {
            return 1.0;
        }
        let mut share = self.traffic.node(path[0]).min(1.0);
        for pair in path[..=last].windows(2) {
            share *= self.traffic.edge(pair[0], pair[1]) / self.traffic.node(pair[0]).max(f64::MIN_POSITIVE);
        }
        share.clamp(0.0, 1.0)
    }

    /// Operations that stages add to a packet, in cycles.
    fn staging(&self, plan: &Plan, path: &[NodeId], stages: &[Staged], on_path: f64) -> f64 {
        if stages.is_empty() {
            return 0.0;
        }
        let operations = crate::model::operations::Operations::new(self.program);
        let mut sum = 0.0;
        let mut jumps = 0.0;
        for stage in stages {
            let group = f64::from(plan.loops[stage.number].group.max(1));
            sum += ASIDE * stage.looked_up.len() as f64 + BEGIN / group;
            jumps += LOOPS / group;
            let waits = |request: &Request| request.placement == Placement::WithConsumption;
            if plan.loops[stage.number].requests.iter().any(waits) {
                sum += BEHIND;
            }
        }
        // Each stage does again what stands before it, as far as its keys need it.
        for stage in stages {
            let before = path.iter().take(stage.place);
            sum += before.map(|node| AGAIN * self.work(*node) * self.traffic.node(*node).min(1.0)).sum::<f64>();
        }
        let keys = stages.iter().flat_map(|stage| &stage.looked_up);
        sum += keys
            .filter_map(|node| hlir::path::table_of(self.program, *node))
            .map(|table| operations.key(table))
            .sum::<f64>();
        // A packet that leaves the path is guessed wrong once, and is copied to where it can run alone.
        let leaving = self.inputs.machine.mispredict_cycles + LEAVE * self.operation();
        sum * self.operation() + jumps * self.inputs.machine.mispredict_cycles + (1.0 - on_path) * leaving
    }

    /// The hint with which a table's first line is cheapest.
    pub fn best_hint(&self, lookup: &Lookup, in_flight: f64) -> Hint {
        let memory = self.memory();
        let bytes = lookup.working_sets.first().copied().unwrap_or(0);
        let (near, far) = (memory.prefetch(Hint::T0, bytes, in_flight), memory.prefetch(Hint::T1, bytes, in_flight));
        // Nearer is better unless far is clearly cheaper: two measurements differ by some percent for no reason, and what was asked for too far away
        // costs more in a program than among the few lines of a calibration (l2l3acl, a million stations, Zen 3: 298 cycles with T1, 206 with T0).
        if far < near * CLEARLY_FAR { Hint::T1 } else { Hint::T0 }
    }
}
