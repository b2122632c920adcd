//! Chooses the group size: how many packets of a batch go through the stages together.
//!
//! A small group exposes the latency of its first line. A large one evicts the state of its packets from L1.
//! A group goes through all stages, so they share one size.

use super::{Planner, Scheduler, constraints, reason, scheduled};
use crate::plan::batches::LARGEST_GROUP;
use hlir::Plan;
use hlir::plan::Choice;

pub const GROUPS: [u32; 4] = [8, 16, 32, 64];

pub fn choose(planner: &Planner, plan: &mut Plan) {
    // Given stages have their group size, and the others were planned with the same.
    if constraints::stages(planner.model.inputs).is_empty() {
        scheduled(&planner.model, plan, compare);
    }
}

fn compare(scheduler: &Scheduler, plan: &mut Plan) {
    let Some(batch) = plan.loops.iter().map(|stage| stage.batch).min() else { return };
    let mut sizes: Vec<u32> = GROUPS.into_iter().filter(|group| *group < batch).collect();
    sizes.push(batch.min(LARGEST_GROUP));
    sizes.dedup();
    // All paths of a plan have groups of one size.
    if let Some(given) = constraints::next_stage(scheduler.model.inputs) {
        sizes = vec![given.group];
    }
    let cost = |group: &u32| (*group, super::prefetch::minimum_cost(scheduler, &grouped(plan, *group)));
    let costs: Vec<(u32, f64)> = sizes.iter().map(cost).collect();
    // The largest among equals: it needs no more room than the burst has anyway.
    let best = costs.iter().rev().copied().min_by(|(_, a), (_, b)| a.total_cmp(b));
    let Some((group, cycles)) = best else { return };
    let mut chosen = grouped(plan, group);
    for stage in &mut chosen.loops {
        let others = costs.iter().filter(|(other, _)| *other != group);
        let others = others.map(|(group, cycles)| (Choice::Group(*group), *cycles));
        stage.reason = reason(cycles, others.chain(super::alternatives(stage.reason.take())));
    }
    if scheduler.is_legal(&chosen) {
        *plan = chosen;
    }
}

/// The plan with groups of this size.
fn grouped(plan: &Plan, group: u32) -> Plan {
    let mut plan = plan.clone();
    plan.loops.iter_mut().for_each(|stage| stage.group = group);
    plan
}
