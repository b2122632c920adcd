//! Places the prefetches of staged lookups: none, in a loop before the lookups, or one group ahead (software
//! pipelining), interleaved with lookups, commit or key computation.
//!
//! For tables in L1 a prefetch costs more than it saves. Beyond L1, a group that is prefetched as a whole
//! exposes the latency of its first line. One group ahead exposes none, but the state of the pipelined
//! packets must stay in cache. The machine model decides between hints.

use super::{Planner, Scheduler, constraints, reason, scheduled};
use hlir::Plan;
use hlir::plan::{Access, Hint, Placement, Prefetch};
use std::ops::Range;

/// Prefetches take the placements of a list cyclically.
type Placements = [Placement];

/// Placements with their names in reasons.
const PLACEMENTS: [(&Placements, &str); 6] = [
    (&[Placement::None], "none"),
    (&[Placement::OwnLoop], "own_loop"),
    (&[Placement::WithLookups], LOOKUP),
    (&[Placement::WithCommit], COMMIT),
    (&[Placement::WithKeys], "keys"),
    (&[Placement::WithCommit, Placement::WithKeys, Placement::WithLookups], "spread"),
];
const LOOKUP: &str = "lookup";
const COMMIT: &str = "commit";
/// Relative difference below which costs count as equal. Among equals, prefetches interleaved with lookups or
/// commit are preferred, and the planned placement stays. Prefetches in quick succession compete for miss
/// registers, which the model covers only in part (l2fwd with a million hosts in bursts of 32 on a Zen 4: 47
/// cycles, 53 with half of the prefetches interleaved with keys).
const SAME: f64 = 1.02;

pub fn place(planner: &Planner, plan: &mut Plan) {
    let inputs = planner.model.inputs;
    scheduled(&planner.model, plan, |scheduler, plan| {
        let open = (0..plan.loops.len()).filter(|number| !constraints::has_loop(inputs, &plan.loops[*number]));
        for number in open.collect::<Vec<usize>>() {
            place_all(scheduler, plan, number);
            for index in 0..plan.loops[number].prefetches.len() {
                place_one(scheduler, plan, number, index);
            }
        }
    });
}

/// The plan's cost with the best placement of each prefetch, all else being equal. Cuts are decided without software
/// pipelining, whose legality is not known yet.
pub(super) fn minimum_cost(scheduler: &Scheduler, plan: &Plan) -> f64 {
    let mut plan = plan.clone();
    for number in 0..plan.loops.len() {
        if constraints::has_loop(scheduler.model.inputs, &plan.loops[number]) {
            continue;
        }
        for index in 0..plan.loops[number].prefetches.len() {
            place_unpipelined(scheduler, &mut plan, number, index);
        }
    }
    scheduler.cycles(&plan)
}

/// Places the last prefetch of a loop in the same way, and returns the plan's cost.
pub(super) fn place_last(scheduler: &Scheduler, plan: &mut Plan, number: usize) -> f64 {
    let last = plan.loops[number].prefetches.len().checked_sub(1);
    match last {
        Some(index) => place_unpipelined(scheduler, plan, number, index),
        None => scheduler.cycles(plan),
    }
}

/// Gives a prefetch its best placement without software pipelining.
fn place_unpipelined(scheduler: &Scheduler, plan: &mut Plan, number: usize, index: usize) -> f64 {
    let mut best: Option<(f64, &Placements)> = None;
    let few = PLACEMENTS.iter().filter(|(placements, _)| placements.len() == 1 && !placements[0].is_pipelined());
    for (placements, _) in few {
        set(scheduler, plan, number, index..index + 1, placements);
        let cycles = scheduler.cycles(plan);
        if best.is_none_or(|(least, _)| cycles < least) {
            best = Some((cycles, placements));
        }
    }
    let Some((cycles, placements)) = best else { return scheduler.cycles(plan) };
    set(scheduler, plan, number, index..index + 1, placements);
    cycles
}

/// Each placement of some prefetches of a loop: its name, its cost, and the plan.
fn costs(scheduler: &Scheduler, plan: &Plan, number: usize, indices: Range<usize>) -> Vec<(&'static str, f64, Plan)> {
    // A single prefetch cannot be spread.
    let options = PLACEMENTS.iter().filter(|(placements, _)| placements.len() == 1 || indices.len() > 1);
    options
        .map(|(placements, name)| {
            let mut other = plan.clone();
            set(scheduler, &mut other, number, indices.clone(), placements);
            let cycles = scheduler.cycles(&other);
            (*name, cycles, other)
        })
        .collect()
}

/// Gives prefetches of a loop these placements, cyclically.
fn set(scheduler: &Scheduler, plan: &mut Plan, number: usize, indices: Range<usize>, placements: &Placements) {
    let group = plan.loops[number].group;
    for (index, &placement) in indices.zip(placements.iter().cycle()) {
        let prefetch = &mut plan.loops[number].prefetches[index];
        prefetch.placement = placement;
        prefetch.hint =
            if placement == Placement::None { Hint::T0 } else { scheduler.hint(prefetch, placement, group) };
        prefetch.distance = if placement == Placement::OwnLoop { group } else { 1 };
    }
}

impl Scheduler<'_, '_> {
    fn hint(&self, prefetch: &Prefetch, placement: Placement, group: u32) -> Hint {
        let Access::Table(table) = &prefetch.access else { return Hint::T0 };
        let found = self.lookups.of_table(table);
        let best = |lookup| self.model.best_hint(&self.lookups, lookup, placement, f64::from(group));
        found.map_or(Hint::T0, best)
    }
}

/// Gives all prefetches of a loop one placement, since they share the cost of software pipelining.
fn place_all(scheduler: &Scheduler, plan: &mut Plan, number: usize) {
    let mut costs = costs(scheduler, plan, number, 0..plan.loops[number].prefetches.len());
    costs.retain(|(_, _, other)| scheduler.is_legal(other));
    costs.sort_by(|(_, a, _), (_, b, _)| a.total_cmp(b));
    let Some(least) = costs.first().map(|(_, cycles, _)| *cycles) else { return };
    let is_better = |name: &str| name == LOOKUP || name == COMMIT;
    let better = costs.iter().position(|(name, cycles, _)| is_better(name) && *cycles <= least * SAME);
    *plan = costs.swap_remove(better.unwrap_or(0)).2;
}

fn place_one(scheduler: &Scheduler, plan: &mut Plan, number: usize, index: usize) {
    let mut costs = costs(scheduler, plan, number, index..index + 1);
    let placed = |plan: &Plan| plan.loops[number].prefetches[index].placement;
    let planned = placed(plan);
    costs.sort_by(|(_, a, _), (_, b, _)| a.total_cmp(b));
    let legal: Vec<usize> = (0..costs.len()).filter(|at| scheduler.is_legal(&costs[*at].2)).collect();
    let Some(&least) = legal.first() else { return };
    let stays = legal.iter().find(|at| placed(&costs[**at].2) == planned && costs[**at].1 <= costs[least].1 * SAME);
    let at = *stays.unwrap_or(&least);
    let (name, cycles, mut chosen) = costs.remove(at);
    let prefetch = &mut chosen.loops[number].prefetches[index];
    let before = super::alternatives(prefetch.reason.take());
    let others = costs.iter().filter(|(other, _, _)| *other != name);
    prefetch.reason = reason(cycles, others.map(|(name, cycles, _)| (name.to_string(), *cycles)).chain(before));
    *plan = chosen;
}
