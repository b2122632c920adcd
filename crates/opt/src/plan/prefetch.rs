//! Places the prefetches of staged lookups: none, in a loop before the lookups, or one group ahead (software
//! pipelining), interleaved with lookups, commit or key computation.
//!
//! For tables in L1 a prefetch costs more than it saves. Beyond L1, a group that is prefetched as a whole
//! exposes the latency of its first line. One group ahead exposes none, but the state of the pipelined
//! packets must stay in cache. The machine model decides between hints.

use super::{constraints, is_legal, reason, with_model};
use crate::Inputs;
use crate::model::Model;
use hlir::plan::{Access, Hint, Placement};
use hlir::{Plan, Program};
use std::ops::Range;

/// Placements with their names in reasons: prefetches take the placements of a list cyclically.
const PLACEMENTS: [(&[Placement], &str); 6] = [
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

pub fn place(program: &Program, plan: &mut Plan, inputs: &Inputs) {
    with_model(program, inputs, |model| {
        let open = (0..plan.loops.len()).filter(|number| !constraints::has_loop(inputs, &plan.loops[*number]));
        for number in open.collect::<Vec<usize>>() {
            place_all(model, plan, number);
            for index in 0..plan.loops[number].prefetches.len() {
                place_one(model, plan, number, index);
            }
        }
    });
}

/// The plan's cost with the best placement of each prefetch, all else being equal.
pub fn minimum_cost(model: &Model, plan: &Plan) -> f64 {
    let mut plan = plan.clone();
    for number in 0..plan.loops.len() {
        if constraints::has_loop(model.inputs, &plan.loops[number]) {
            continue;
        }
        for index in 0..plan.loops[number].prefetches.len() {
            let mut costs = costs(model, &plan, number, index..index + 1);
            // Cuts are decided without software pipelining, whose legality is not known yet.
            costs.retain(|(_, _, plan)| !plan.loops[number].prefetches[index].placement.is_pipelined());
            let best = costs.into_iter().min_by(|(_, a, _), (_, b, _)| a.total_cmp(b));
            if let Some((_, _, better)) = best {
                plan = better;
            }
        }
    }
    model.predict(&plan).cycles()
}

/// Each placement of some prefetches of a loop: its name, its cost, and the plan.
fn costs(model: &Model, plan: &Plan, number: usize, indices: Range<usize>) -> Vec<(&'static str, f64, Plan)> {
    // A single prefetch cannot be spread.
    let options = PLACEMENTS.into_iter().filter(|(placements, _)| placements.len() == 1 || indices.len() > 1);
    options
        .map(|(placements, name)| {
            let mut other = plan.clone();
            let group = other.loops[number].group;
            for (index, &placement) in indices.clone().zip(placements.iter().cycle()) {
                let hint = hint(model, plan, number, index, placement);
                let prefetch = &mut other.loops[number].prefetches[index];
                prefetch.placement = placement;
                prefetch.hint = if placement == Placement::None { Hint::T0 } else { hint };
                prefetch.distance = if placement == Placement::OwnLoop { group } else { 1 };
            }
            let cycles = model.predict(&other).cycles();
            (name, cycles, other)
        })
        .collect()
}

fn hint(model: &Model, plan: &Plan, number: usize, index: usize, placement: Placement) -> Hint {
    let prefetch = &plan.loops[number].prefetches[index];
    let Access::Table(table) = &prefetch.access else { return Hint::T0 };
    let lookups = model.lookups(plan);
    let found = lookups.iter().find(|lookup| model.program.tables[lookup.table].name == *table);
    found.map_or(Hint::T0, |lookup| model.best_hint(lookup, placement, f64::from(plan.loops[number].group)))
}

/// Gives all prefetches of a loop one placement, since they share the cost of software pipelining.
fn place_all(model: &Model, plan: &mut Plan, number: usize) {
    let mut costs = costs(model, plan, number, 0..plan.loops[number].prefetches.len());
    costs.retain(|(_, _, other)| is_legal(model.program, other));
    costs.sort_by(|(_, a, _), (_, b, _)| a.total_cmp(b));
    let Some(least) = costs.first().map(|(_, cycles, _)| *cycles) else { return };
    let is_better = |name: &str| name == LOOKUP || name == COMMIT;
    let better = costs.iter().position(|(name, cycles, _)| is_better(name) && *cycles <= least * SAME);
    *plan = costs.swap_remove(better.unwrap_or(0)).2;
}

fn place_one(model: &Model, plan: &mut Plan, number: usize, index: usize) {
    let mut costs = costs(model, plan, number, index..index + 1);
    let placed = |plan: &Plan| plan.loops[number].prefetches[index].placement;
    let planned = placed(plan);
    costs.sort_by(|(_, a, _), (_, b, _)| a.total_cmp(b));
    let legal: Vec<usize> = (0..costs.len()).filter(|at| is_legal(model.program, &costs[*at].2)).collect();
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
