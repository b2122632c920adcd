//! Constraints: decisions of the user that are in the plan as written.
//!
//! Planners read them and plan around them. At the end they are copied into the plan, whatever passes ran.
//! The verifier checks whether the result is legal. With constraints that no plan can satisfy, nothing is
//! planned.

use crate::Inputs;
use hlir::plan::{HotPath, Loop, TablePlan};
use hlir::verify::{Places, verify_pins_at};
use hlir::{Plan, Program};
use std::borrow::Cow;

/// Whether the constraints are legal by themselves.
pub fn are_satisfiable(program: &Program, inputs: &Inputs) -> bool {
    verify_pins_at(program, &inputs.constraints, &Places::default()).is_empty()
}

/// The given loops that are stages: all but those at a queue, which no planner handles.
pub fn stages(inputs: &Inputs) -> Vec<Loop> {
    let is_queue = |lp: &&Loop| inputs.constraints.queues.iter().any(|queue| queue.node == lp.node);
    inputs.constraints.loops.iter().filter(|lp| !is_queue(lp)).cloned().collect()
}

/// The first stage of a given next path: the hot path's stages have its batch and group.
pub fn next_stage(inputs: &Inputs) -> Option<&Loop> {
    inputs.constraints.next_paths.iter().find_map(|next| next.loops.first())
}

/// Whether a loop of the plan is given.
pub fn has_loop(inputs: &Inputs, lp: &Loop) -> bool {
    inputs.constraints.loops.iter().any(|pinned| pinned.node == lp.node)
}

/// Replaces planned parts by given ones.
pub fn apply(plan: &mut Plan, inputs: &Inputs) {
    let pinned = &inputs.constraints;
    if let Some(descriptor) = inputs.constrained_descriptor {
        plan.descriptor = descriptor;
    }
    if pinned.burst > 0 {
        plan.burst = pinned.burst;
    }
    if let Some(path) = &pinned.hot_path {
        // Keep the planner's reason for the same path.
        let same = plan.hot_path.take().filter(|planned| planned.nodes == path.nodes);
        let reason = same.and_then(|planned| planned.reason).or_else(|| path.reason.clone());
        plan.hot_path = Some(HotPath { reason, ..path.clone() });
    }
    if !pinned.next_paths.is_empty() {
        plan.next_paths.clone_from(&pinned.next_paths);
    }
    plan.accesses = pinned.accesses.or(plan.accesses);
    replace_all(&mut plan.loops, &pinned.loops, |lp| &lp.node);
    replace_all(&mut plan.tables, &pinned.tables, |table| &table.table);
    replace_all(&mut plan.joints, &pinned.joints, |share| &share.secondary);
    replace_all(&mut plan.joins, &pinned.joins, |join| &join.first);
    replace_all(&mut plan.queues, &pinned.queues, |queue| &queue.node);
    plan.instrument.edges |= pinned.instrument.edges;
}

/// Pins the structures of the code that runs, so that both share tables. A table of which the structure leaves keys out
/// cannot be shared: it has the structure that is best for it.
pub fn with_running<'i>(program: &Program, inputs: &'i Inputs) -> Cow<'i, Inputs> {
    let is_shared = |running: &&TablePlan| {
        let table = program.tables.iter().find(|(_, table)| table.name == running.table);
        table.is_none_or(|(id, table)| (0..table.keys.len() as u32).all(|key| program.left_out(id, key).is_none()))
    };
    let shared: Vec<TablePlan> = inputs.running.iter().filter(is_shared).cloned().collect();
    if shared.is_empty() {
        return Cow::Borrowed(inputs);
    }
    let mut inputs = inputs.clone();
    inputs.constraints.tables.extend(shared);
    Cow::Owned(inputs)
}

/// Replaces parts of the same name, or appends. Two given parts of one name both stay, and the verifier
/// reports them.
fn replace_all<T: Clone>(planned: &mut Vec<T>, pinned: &[T], name: fn(&T) -> &String) {
    let mut left: Vec<&T> = pinned.iter().collect();
    for part in planned.iter_mut() {
        if let Some(at) = left.iter().position(|constraint| name(constraint) == name(part)) {
            *part = left.remove(at).clone();
        }
    }
    planned.extend(left.into_iter().cloned());
}
