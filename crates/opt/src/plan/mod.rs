//! Planners: each fills in a part of the plan with minimum predicted cost, and records the cost of the
//! alternatives.
//!
//! No planner decides legality: a plan that the verifier rejects is no alternative.

pub mod batches;
pub mod constraints;
pub mod descriptor;
pub mod groups;
pub mod hot_path;
pub mod joint;
pub mod prefetch;
pub mod structures;
pub mod vector;

use crate::Inputs;
use crate::analyze::Traffic;
use crate::model::Model;
use hlir::plan::Reason;
use hlir::{Plan, Program};

/// Smaller relative gains do not count: the model is not that exact.
pub const WORTH: f64 = 0.02;

/// Calls `plan` with the program's model on a machine with shared caches.
pub(crate) fn with_model<T>(program: &Program, inputs: &Inputs, plan: impl FnOnce(&Model) -> T) -> T {
    let inputs = Inputs { machine: inputs.machine.with_shared_caches(), ..inputs.clone() };
    let traffic = Traffic::estimate(program, &inputs);
    plan(&Model::new(program, &inputs, &traffic))
}

/// Cycles in tenths, as plans write them.
fn tenths(cycles: f64) -> u64 {
    (cycles * 10.0).round().clamp(0.0, 1e15) as u64
}

/// The chosen cost, and the alternatives by increasing cost.
pub(crate) fn reason(chosen: f64, alternatives: impl IntoIterator<Item = (String, f64)>) -> Option<Reason> {
    let mut alternatives: Vec<(String, u64)> =
        alternatives.into_iter().map(|(name, cycles)| (name, tenths(cycles))).collect();
    alternatives.sort_by_key(|(_, cost)| *cost);
    Some(Reason { cost: tenths(chosen), alternatives })
}

/// The recorded alternatives of an earlier decision.
fn alternatives(reason: Option<Reason>) -> impl Iterator<Item = (String, f64)> {
    let before = reason.into_iter().flat_map(|reason| reason.alternatives);
    before.map(|(name, cost)| (name, cost as f64 / 10.0))
}

fn is_legal(program: &Program, plan: &Plan) -> bool {
    hlir::verify::verify_plan(program, plan).is_empty()
}
