//! Plans further hot paths: for packets that leave the first one, the path that most of them follow, and so on.
//!
//! A path has one stage: at its first lookup, which makes those behind it, too, up to the first that it cannot make. Without lookups it ends where the
//! last packets leave it. It stays if that is cheaper than the plain program.

use super::{Planner, Scheduler, WORTH, hot_path, reason, scheduled};
use hlir::plan::{Access, Choice, Hint, Loop, Placement, Prefetch, StageLookup, StagedPath};
use hlir::{NodeId, Plan, ResolvedPlan};
use schedule::Planned;

/// Share of the packets that leave all paths, from which on another one is tried. At a tenth, dualstack takes 26.7 cycles
/// with a second path and 31.2 with one (Zen 4, 20,000 and 10,000 routes).
const LEAST_LEFT: f64 = 0.1;
/// Next paths at most.
const MOST: usize = 2;

pub fn plan(planner: &Planner, plan: &mut Plan) {
    let model = &planner.model;
    if !model.inputs.constraints.next_paths.is_empty() {
        plan.next_paths.clone_from(&model.inputs.constraints.next_paths);
    } else {
        scheduled(model, plan, add);
    }
}

/// Adds paths, each as long as it pays.
pub(super) fn add(scheduler: &Scheduler, plan: &mut Plan) {
    if plan.loops.is_empty() || !are_possible(scheduler) {
        return;
    }
    let model = scheduler.model;
    let Some(first) = model.path(plan) else { return };
    let mut paths = vec![first.to_vec()];
    let mut left = 1.0 - model.share_in_stages(plan);
    while plan.next_paths.len() < MOST && left >= LEAST_LEFT {
        let nodes = crate::analyze::hot_path::next(model.program, model.inputs, model.traffic, &paths);
        if nodes.len() < 2 || paths.contains(&nodes) {
            return;
        }
        let before = scheduler.cycles(plan);
        let stages = stages(scheduler, plan, &nodes).into_iter().map(|next| {
            let mut with = plan.clone();
            with.next_paths.push(next);
            (scheduler.cycles(&with), with)
        });
        let cheapest =
            stages.min_by(|(a, _), (b, _)| a.total_cmp(b)).filter(|(cycles, _)| *cycles < before * (1.0 - WORTH));
        let Some((cycles, mut with)) = cheapest else { return };
        if !scheduler.is_legal(&with) || !commits_as_sets(scheduler, &with) {
            return;
        }
        left -= model.share_in_stages(&with.of_next_path(with.next_paths.len() - 1));
        if let Some(next) = with.next_paths.last_mut() {
            next.path.reason = reason(cycles, [(Choice::PacketByPacket, before)]);
        }
        *plan = with;
        paths.push(nodes);
    }
}

/// The path with each of its possible stages: scalar and vector code, with and without prefetches.
fn stages(scheduler: &Scheduler, plan: &Plan, nodes: &[NodeId]) -> Vec<StagedPath> {
    let program = scheduler.model.program;
    let path = hot_path::named(program, scheduler.model.inputs, nodes);
    let table = |node: &NodeId| hlir::hot_path::table_of(program, *node);
    let branches = |node: &NodeId| program.nodes[*node].successors().len() > 1;
    let looked_up = nodes.iter().position(|node| table(node).is_some());
    let last = looked_up.or_else(|| Some(nodes.iter().rposition(branches)? + 1));
    let Some(place) = last.filter(|place| *place < nodes.len()) else { return Vec::new() };
    let first = &plan.loops[0];
    let node = program.nodes[nodes[place]].name.clone();
    let (batch, group) = (first.batch, first.group);
    let scalar = |lookups: &[StageLookup]| {
        let (lookups, prefetches) = (lookups.to_vec(), Vec::new());
        let stage = Loop { node: node.clone(), batch, group, vector: 1, lookups, prefetches, reason: None };
        StagedPath { path: path.clone(), loops: vec![stage] }
    };
    let mut lookups: Vec<StageLookup> = Vec::new();
    for table in nodes[place..].iter().filter_map(table) {
        let table = program.tables[table].name.clone();
        if lookups.iter().any(|known| known.table == table) {
            continue;
        }
        lookups.push(StageLookup { table, reason: None });
        // A key may depend on what an action before it does: that lookup is made at commit.
        if lookups.len() > 1 && !is_possible(scheduler, &scalar(&lookups)) {
            lookups.pop();
            break;
        }
    }
    let prefetch = |lookup: &StageLookup| Prefetch {
        access: Access::Table(lookup.table.clone()),
        placement: Placement::OwnLoop,
        distance: group,
        hint: Hint::T0,
        reason: None,
    };
    let prefetches = [Vec::new(), lookups.iter().map(prefetch).collect()];
    let vectors = [1].into_iter().chain(scheduler.model.vector_packets().filter(|packets| *packets <= group));
    let mut made = Vec::new();
    for vector in vectors {
        for prefetches in &prefetches {
            let (lookups, prefetches) = (lookups.clone(), prefetches.clone());
            let stage = Loop { node: node.clone(), batch, group, vector, lookups, prefetches, reason: None };
            made.push(StagedPath { path: path.clone(), loops: vec![stage] });
        }
    }
    made.retain(|next| is_possible(scheduler, next));
    made
}

/// Whether the stage is legal, and vector code if it is to be.
fn is_possible(scheduler: &Scheduler, next: &StagedPath) -> bool {
    let vector = next.loops[0].vector;
    let alone = Plan { hot_path: Some(next.path.clone()), loops: next.loops.clone(), ..Plan::default() };
    scheduler.is_legal(&alone) && (vector == 1 || scheduler.model.vector_cost(&alone, vector).is_some())
}

/// Whether packets may overtake others of their group, and nothing is given that has one path only.
pub(super) fn are_possible(scheduler: &Scheduler) -> bool {
    let (model, given) = (scheduler.model, &scheduler.model.inputs.constraints);
    let is_unordered = |node: &NodeId| hlir::effects::is_unordered(model.program, *node);
    given.queues.is_empty() && !given.instrument.edges && model.traffic.order().iter().all(is_unordered)
}

/// Whether the commit phases of all paths have a schedule without side exits.
fn commits_as_sets(scheduler: &Scheduler, plan: &Plan) -> bool {
    let program = scheduler.model.program;
    let resolved = ResolvedPlan::of(program, plan);
    let next = (0..resolved.next_paths.len()).map(|number| resolved.of_next_path(number));
    std::iter::once(resolved.clone()).chain(next).all(|path| {
        let planned = Planned::of(program, &path).and_then(Result::ok);
        planned.is_some_and(|it| !it.schedule.may_exit() && it.lanes.is_none_or(|lanes| lanes.is_ok()))
    })
}
