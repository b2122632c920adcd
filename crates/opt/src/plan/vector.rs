//! Decides whether what leads to the path's first cut is run for several packets side by side.
//!
//! Vectors do a router's checks for eight packets in about the time of one, but packets must be put side by side first. Which is less depends on what there is
//! to check, and on the machine. Lanes need no more memory and wait for nothing, so they are taken whatever they are predicted to gain (in l2fwd 1.5 % where it
//! was 4 to 8).

use super::{constraints, is_legal, reason, with_model};
use crate::Inputs;
use crate::model::Model;
use hlir::{Plan, Program};

pub fn choose(program: &Program, plan: &mut Plan, inputs: &Inputs) {
    with_model(program, inputs, |model| {
        make_scalar(plan, inputs);
        let is_open = |number: &usize| !constraints::has_loop(inputs, &plan.loops[*number]);
        let Some(first) = first(model, plan).filter(is_open) else { return };
        let has_room =
            |packets: &u32| *packets <= plan.loops[first].group && model.vector_cost(plan, *packets).is_some();
        let Some(packets) = model.vector_packets().filter(has_room) else { return };
        let (without, with) = (plan.clone(), vectorized(plan, first, packets));
        let [scalar, vector] = [&without, &with].map(|plan| super::prefetch::minimum_cost(model, plan));
        let (cycles, other, mut chosen) = if vector < scalar && is_legal(program, &with) {
            (vector, ("lanes_1".to_string(), scalar), with)
        } else {
            (scalar, (format!("lanes_{packets}"), vector), without)
        };
        let before = super::alternatives(chosen.loops[first].reason.take());
        chosen.loops[first].reason = reason(cycles, [other].into_iter().chain(before));
        *plan = chosen;
    });
}

/// Takes lanes out of the loops that are not pinned.
pub fn make_scalar(plan: &mut Plan, inputs: &Inputs) {
    for lp in plan.loops.iter_mut().filter(|lp| !constraints::has_loop(inputs, lp)) {
        lp.lanes = 1;
    }
}

/// The plan with a first stage in lanes if they promise something, before it is known what else it will look up: whether stages are worth their trouble may
/// depend on it. Who asks takes them out again ([`scalar`]).
pub fn candidate(model: &Model, mut plan: Plan) -> Plan {
    let Some(first) = first(model, &plan) else { return plan };
    let Some(packets) = model.vector_packets() else { return plan };
    let with = vectorized(&plan, first, packets);
    if model.vector_cost(&plan, packets).is_some() && model.predict(&with).cycles() < model.predict(&plan).cycles() {
        plan = with;
    }
    plan
}

/// The number of the loop with which the path's first stage begins.
fn first(model: &Model, plan: &Plan) -> Option<usize> {
    let path = hlir::path::nodes(model.program, plan.path.as_ref()?)?;
    hlir::path::stages(model.program, plan, &path).first().map(|stage| stage.number)
}

fn vectorized(plan: &Plan, number: usize, packets: u32) -> Plan {
    let mut plan = plan.clone();
    plan.loops[number].lanes = packets;
    plan
}
