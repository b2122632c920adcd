//! Places the prefetches of staged lookups: none, in a loop before the lookups, or one group ahead (software
//! pipelining), interleaved with lookups, commit or key computation.
//!
//! For tables in L1 a prefetch costs more than it saves. Beyond L1, a group that is prefetched as a whole
//! exposes the latency of its first line. One group ahead exposes none, but the state of the pipelined
//! packets must stay in cache. The machine model decides between hints.

use super::{Planner, Scheduler, constraints, reason, scheduled};
use hlir::Plan;
use hlir::plan::{Access, Choice, Hint, Loop, Placement, Prefetch};
use std::collections::HashMap;
use std::ops::Range;

/// Prefetches take the placements of a list cyclically.
type Placements = [Option<Placement>];

/// What prefetches are placed by.
static PLACEMENTS: [(&Placements, Choice); 6] = [
    (&[None], Choice::NoPrefetch),
    (&[Some(Placement::OwnLoop)], OWN_LOOP),
    (&[Some(Placement::WithLookups)], LOOKUP),
    (&[Some(Placement::WithCommit)], COMMIT),
    (&[Some(Placement::WithKeys)], KEYS),
    (&[Some(Placement::WithCommit), Some(Placement::WithKeys), Some(Placement::WithLookups)], Choice::Spread),
];
const OWN_LOOP: Choice = Choice::Placement(Placement::OwnLoop);
const LOOKUP: Choice = Choice::Placement(Placement::WithLookups);
const COMMIT: Choice = Choice::Placement(Placement::WithCommit);
const KEYS: Choice = Choice::Placement(Placement::WithKeys);
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
            for index in 0..plan.loops[number].lookups.len() {
                place_one(scheduler, plan, number, index);
            }
            sort(&mut plan.loops[number]);
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
        for index in 0..plan.loops[number].lookups.len() {
            place_unpipelined(scheduler, &mut plan, number, index);
        }
    }
    scheduler.cycles(&plan)
}

/// Places the prefetch of a stage's last lookup in the same way, and returns the plan's cost.
pub(super) fn place_last(scheduler: &Scheduler, plan: &mut Plan, number: usize) -> f64 {
    let last = plan.loops[number].lookups.len().checked_sub(1);
    match last {
        Some(index) => place_unpipelined(scheduler, plan, number, index),
        None => scheduler.cycles(plan),
    }
}

/// Gives the prefetch of a lookup its best placement without software pipelining.
fn place_unpipelined(scheduler: &Scheduler, plan: &mut Plan, number: usize, index: usize) -> f64 {
    let mut best: Option<(f64, &Placements)> = None;
    let few = PLACEMENTS
        .iter()
        .filter(|(placements, _)| placements.len() == 1 && placements[0].is_none_or(|it| !it.is_pipelined()));
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

/// Each placement of the prefetches of some lookups of a stage: its name, its cost, and the plan.
fn costs(scheduler: &Scheduler, plan: &Plan, number: usize, indices: Range<usize>) -> Vec<(Choice, f64, Plan)> {
    // A single prefetch cannot be spread.
    let options = PLACEMENTS.iter().filter(|(placements, _)| placements.len() == 1 || indices.len() > 1);
    options
        .map(|(placements, choice)| {
            let mut other = plan.clone();
            set(scheduler, &mut other, number, indices.clone(), placements);
            let cycles = scheduler.cycles(&other);
            (choice.clone(), cycles, other)
        })
        .collect()
}

/// Gives the prefetches of some lookups of a stage these placements, cyclically.
fn set(scheduler: &Scheduler, plan: &mut Plan, number: usize, indices: Range<usize>, placements: &Placements) {
    let Loop { group, lookups, prefetches, .. } = &mut plan.loops[number];
    for (index, placement) in indices.zip(placements.iter().cycle()) {
        let access = Access::Table(lookups[index].table.clone());
        prefetches.retain(|prefetch| prefetch.access != access);
        if let Some(placement) = *placement {
            let hint = scheduler.hint(&lookups[index].table, placement, *group);
            let distance = if placement == Placement::OwnLoop { *group } else { 1 };
            prefetches.push(Prefetch { access, placement, distance, hint, reason: None });
        }
    }
}

impl Scheduler<'_, '_> {
    fn hint(&self, table: &str, placement: Placement, group: u32) -> Hint {
        let best = |lookup| self.model.best_hint(&self.lookups, lookup, placement, f64::from(group));
        self.lookups.of_table(table).map_or(Hint::T0, best)
    }
}

/// Prefetches in the order of their lookups.
fn sort(stage: &mut Loop) {
    let numbers = stage.lookups.iter().enumerate().map(|(number, lookup)| (lookup.table.as_str(), number));
    let numbers: HashMap<&str, usize> = numbers.collect();
    stage.prefetches.sort_by_key(|prefetch| match &prefetch.access {
        Access::Packet => None,
        Access::Table(table) => numbers.get(table.as_str()).copied(),
    });
}

/// Gives all prefetches of a loop one placement, since they share the cost of software pipelining.
fn place_all(scheduler: &Scheduler, plan: &mut Plan, number: usize) {
    let mut costs = costs(scheduler, plan, number, 0..plan.loops[number].lookups.len());
    costs.retain(|(_, _, other)| scheduler.is_legal(other));
    costs.sort_by(|(_, a, _), (_, b, _)| a.total_cmp(b));
    let Some(least) = costs.first().map(|(_, cycles, _)| *cycles) else { return };
    let is_better = |choice: &Choice| *choice == LOOKUP || *choice == COMMIT;
    let better = costs.iter().position(|(choice, cycles, _)| is_better(choice) && *cycles <= least * SAME);
    *plan = costs.swap_remove(better.unwrap_or(0)).2;
}

fn place_one(scheduler: &Scheduler, plan: &mut Plan, number: usize, index: usize) {
    let mut costs = costs(scheduler, plan, number, index..index + 1);
    let table = plan.loops[number].lookups[index].table.clone();
    let placed = |plan: &Plan| plan.loops[number].prefetch_of(&table).map(|prefetch| prefetch.placement);
    let planned = placed(plan);
    costs.sort_by(|(_, a, _), (_, b, _)| a.total_cmp(b));
    let legal: Vec<usize> = (0..costs.len()).filter(|at| scheduler.is_legal(&costs[*at].2)).collect();
    let Some(&least) = legal.first() else { return };
    let stays = legal.iter().find(|at| placed(&costs[**at].2) == planned && costs[**at].1 <= costs[least].1 * SAME);
    let at = *stays.unwrap_or(&least);
    let (choice, cycles, mut chosen) = costs.remove(at);
    let others = costs.iter().filter(|(other, _, _)| *other != choice);
    let others = others.map(|(choice, cycles, _)| (choice.clone(), *cycles));
    let Loop { lookups, prefetches, .. } = &mut chosen.loops[number];
    match prefetches.iter_mut().find(|prefetch| prefetch.access == Access::Table(table.clone())) {
        Some(prefetch) => prefetch.reason = reason(cycles, others),
        None => {
            let before = super::alternatives(lookups[index].reason.take());
            lookups[index].reason = reason(cycles, others.chain(before));
        }
    }
    *plan = chosen;
}
