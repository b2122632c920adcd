//! Decides whether the first stage of the hot path is vector code, several packets at once.
//!
//! A vector does a router's checks for eight packets in about the time of one, but packets must be transposed
//! first. The result depends on the checks and on the machine. Vector code needs no memory and never stalls,
//! so any predicted gain suffices (in l2fwd 1.5 % were predicted and 4 to 8 % measured).

use super::{Planner, Scheduler, constraints, reason, scheduled};
use crate::Inputs;
use crate::model::Model;
use hlir::Plan;
use hlir::plan::Choice;

pub fn choose(planner: &Planner, plan: &mut Plan) {
    make_scalar(plan, planner.model.inputs);
    scheduled(&planner.model, plan, compare);
}

fn compare(scheduler: &Scheduler, plan: &mut Plan) {
    let model = scheduler.model;
    let is_open = |number: &usize| !constraints::has_loop(model.inputs, &plan.loops[*number]);
    let Some(first) = first(model, plan).filter(is_open) else { return };
    let has_room = |packets: &u32| *packets <= plan.loops[first].group && model.vector_cost(plan, *packets).is_some();
    let Some(packets) = model.vector_packets().filter(has_room) else { return };
    let (without, with) = (plan.clone(), vectorized(plan, first, packets));
    let [scalar, vector] = [&without, &with].map(|plan| super::prefetch::minimum_cost(scheduler, plan));
    let (cycles, other, mut chosen) = if vector < scalar && scheduler.is_legal(&with) {
        (vector, (Choice::Scalar, scalar), with)
    } else {
        (scalar, (Choice::Vector(packets), vector), without)
    };
    let before = super::alternatives(chosen.loops[first].reason.take());
    chosen.loops[first].reason = reason(cycles, [other].into_iter().chain(before));
    *plan = chosen;
}

/// Resets loops that are not given to scalar code.
pub fn make_scalar(plan: &mut Plan, inputs: &Inputs) {
    for lp in plan.loops.iter_mut().filter(|lp| !constraints::has_loop(inputs, lp)) {
        lp.vector = 1;
    }
}

/// The plan with a vectorized first stage if that promises a gain, before its other lookups are known:
/// whether stages pay may depend on it. The caller resets it later ([`make_scalar`]).
pub(super) fn candidate(scheduler: &Scheduler, mut plan: Plan) -> Plan {
    let model = scheduler.model;
    let Some(first) = first(model, &plan) else { return plan };
    let Some(packets) = model.vector_packets() else { return plan };
    let with = vectorized(&plan, first, packets);
    if model.vector_cost(&plan, packets).is_some() && scheduler.cycles(&with) < scheduler.cycles(&plan) {
        plan = with;
    }
    plan
}

/// Index of the loop of the path's first stage.
fn first(model: &Model, plan: &Plan) -> Option<usize> {
    let path = model.path(plan)?;
    path.names.stages(plan).first().map(|stage| stage.number)
}

fn vectorized(plan: &Plan, number: usize, packets: u32) -> Plan {
    let mut plan = plan.clone();
    plan.loops[number].vector = packets;
    plan
}
