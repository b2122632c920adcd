//! What is pinned: decisions of a person, which stand in the plan as they were written.
//!
//! Planners are told of them, so that what they decide suits; whatever planners do, or do not because they were left out, the pins are put into the plan
//! at the end. Whether the plan is legal then is for the verifier to say. Around pins that no plan can have, nothing is planned.

use crate::Inputs;
use hlir::plan::{Layout, Loop, Path};
use hlir::verify::{Places, verify_pins_at};
use hlir::{Plan, Program};

/// Whether a plan can have them all, as far as that can be said of pins alone.
pub fn are_satisfiable(program: &Program, inputs: &Inputs) -> bool {
    verify_pins_at(program, &inputs.constraints, &Places::default()).is_empty()
}

/// The pinned loops that are stages: all but those at a queue, which no planner has to do with.
pub fn stages(inputs: &Inputs) -> Vec<Loop> {
    let is_queue = |lp: &&Loop| inputs.constraints.queues.iter().any(|queue| queue.node == lp.node);
    inputs.constraints.loops.iter().filter(|lp| !is_queue(lp)).cloned().collect()
}

/// Whether a loop of the plan is pinned.
pub fn has_loop(inputs: &Inputs, lp: &Loop) -> bool {
    inputs.constraints.loops.iter().any(|pinned| pinned.node == lp.node)
}

/// Puts what is pinned in the place of what was planned.
pub fn apply(plan: &mut Plan, inputs: &Inputs) {
    let pinned = &inputs.constraints;
    if let Some(descriptor) = inputs.constrained_descriptor {
        plan.descriptor = descriptor;
    }
    if pinned.burst > 0 {
        plan.burst = pinned.burst;
    }
    if pinned.layout != Layout::Declared {
        plan.layout.clone_from(&pinned.layout);
    }
    if let Some(path) = &pinned.path {
        // What a planner has found out about the same path stays.
        let same = plan.path.take().filter(|planned| planned.nodes == path.nodes);
        let reason = same.and_then(|planned| planned.reason).or_else(|| path.reason.clone());
        plan.path = Some(Path { reason, ..path.clone() });
    }
    replace_all(&mut plan.loops, &pinned.loops, |lp| &lp.node);
    replace_all(&mut plan.tables, &pinned.tables, |table| &table.table);
    replace_all(&mut plan.shares, &pinned.shares, |share| &share.table);
    replace_all(&mut plan.windows, &pinned.windows, |window| &window.node);
    replace_all(&mut plan.queues, &pinned.queues, |queue| &queue.node);
    plan.instrument.edges |= pinned.instrument.edges;
    plan.instrument.cycles |= pinned.instrument.cycles;
    plan.instrument.trace |= pinned.instrument.trace;
}

/// Each where one of its name stood, or at the end: two pins of one name both stay, and the verifier says that they are two.
fn replace_all<T: Clone>(planned: &mut Vec<T>, pinned: &[T], name: fn(&T) -> &String) {
    let mut left: Vec<&T> = pinned.iter().collect();
    for part in planned.iter_mut() {
        if let Some(at) = left.iter().position(|constraint| name(constraint) == name(part)) {
            *part = left.remove(at).clone();
        }
    }
    planned.extend(left.into_iter().cloned());
}
