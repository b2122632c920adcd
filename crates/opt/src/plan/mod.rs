//! Planners: each fills in a part of the plan with minimum predicted cost, and records the cost of the
//! alternatives.
//!
//! No planner decides legality: a plan that the verifier rejects is no alternative.

pub mod batches;
pub mod constraints;
pub mod descriptor;
pub mod expectations;
pub mod groups;
pub mod hot_path;
pub mod joint;
pub mod next_paths;
pub mod prefetch;
pub mod structures;
pub mod vector;

#[cfg(test)]
pub(crate) mod effort;

use crate::analyze::Traffic;
use crate::inputs::Inputs;
use crate::model::Model;
use crate::model::lookups::Lookups;
use hlir::plan::{Alternative, Choice, Reason};
use hlir::verify::PlanVerifier;
use hlir::{Plan, Program};
use std::mem::take;
use std::rc::Rc;

/// Smaller relative gains do not count: the model is not that exact.
pub const WORTH: f64 = 0.02;

/// A planner with the name of its pass.
pub type Named = (&'static str, fn(&Planner, &mut Plan));

/// What planners plan for: a program with its model, on a machine with shared caches, and the planners to run.
pub struct Planner<'a> {
    pub model: Model<'a>,
    passes: &'a [Named],
    wants: Wants,
}

/// What a plan is made for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wants {
    Plan,
    /// Its cycles alone, to compare programs: what changes none of them is not planned.
    Cycles,
}

impl Planner<'_> {
    /// Fills in a plan by all planners up to and including `until`, or by all of them.
    pub fn fill(&self, plan: &mut Plan, until: Option<&str>) {
        for (name, fill) in self.passes {
            fill(self, plan);
            if until == Some(*name) {
                break;
            }
        }
    }

    /// Whether a pass is selected.
    pub(crate) fn has(&self, pass: &str) -> bool {
        self.passes.iter().any(|(name, _)| *name == pass)
    }

    /// Cycles per packet of the plan that the planners after this one complete, with constraints.
    pub(crate) fn whole_plan_cycles(&self, pass: &str, plan: &Plan) -> f64 {
        let mut plan = plan.clone();
        let first = self.passes.iter().position(|(name, _)| *name == pass).map_or(0, |at| at + 1);
        self.passes[first..].iter().for_each(|(_, fill)| fill(self, &mut plan));
        constraints::apply(&mut plan, self.model.inputs);
        self.model.cycles(&plan, &self.model.lookups(&plan))
    }
}

/// Calls `plan` with the planner of a program.
pub fn with_planner<T>(program: &Program, inputs: &Inputs, passes: &[Named], plan: impl FnOnce(&Planner) -> T) -> T {
    planner(program, (inputs, passes, Wants::Plan), plan)
}

fn planner<T>(
    program: &Program,
    (inputs, passes, wants): (&Inputs, &[Named], Wants),
    plan: impl FnOnce(&Planner) -> T,
) -> T {
    let inputs = Inputs { machine: inputs.machine.with_shared_caches(), ..inputs.clone() };
    let traffic = Traffic::estimate(program, &inputs);
    plan(&Planner { model: Model::new(program, &inputs, &traffic), passes, wants })
}

/// Cycles per packet of a program with the plan that these planners make for it.
pub(crate) fn planned_cycles(program: &Program, inputs: &Inputs, passes: &[Named]) -> f64 {
    planner(program, (inputs, passes, Wants::Cycles), |planner| planner.whole_plan_cycles("", &Plan::default()))
}

/// Compares plans that differ in their stages only. Structures are set aside meanwhile: there may be hundreds, and
/// thousands of plans.
pub(crate) struct Scheduler<'m, 'a> {
    pub model: &'m Model<'a>,
    lookups: Rc<Lookups>,
    verifier: PlanVerifier<'a>,
}

impl Scheduler<'_, '_> {
    /// Cycles per packet.
    pub fn cycles(&self, plan: &Plan) -> f64 {
        self.model.cycles(plan, &self.lookups)
    }

    pub fn is_legal(&self, plan: &Plan) -> bool {
        self.model.is_schedulable(plan) && self.verifier.verify(plan).is_empty()
    }
}

/// Calls `choose` with a plan to schedule, without its tables.
pub(crate) fn scheduled(model: &Model, plan: &mut Plan, choose: impl FnOnce(&Scheduler, &mut Plan)) {
    let scheduler = Scheduler { model, lookups: model.lookups(plan), verifier: PlanVerifier::new(model.program) };
    let (tables, joints, joins) = (take(&mut plan.tables), take(&mut plan.joints), take(&mut plan.joins));
    choose(&scheduler, plan);
    (plan.tables, plan.joints, plan.joins) = (tables, joints, joins);
}

/// Cycles in tenths, as plans write them.
fn tenths(cycles: f64) -> u64 {
    (cycles * 10.0).round().clamp(0.0, 1e15) as u64
}

/// The chosen cost, and the alternatives by increasing cost.
pub(crate) fn reason(chosen: f64, alternatives: impl IntoIterator<Item = (Choice, f64)>) -> Option<Reason> {
    let other = |(choice, cycles): (Choice, f64)| Alternative { choice, cost: tenths(cycles) };
    let mut alternatives: Vec<Alternative> = alternatives.into_iter().map(other).collect();
    alternatives.sort_by_key(|other| other.cost);
    Some(Reason { cost: tenths(chosen), alternatives })
}

/// The recorded alternatives of an earlier decision.
fn alternatives(reason: Option<Reason>) -> impl Iterator<Item = (Choice, f64)> {
    let before = reason.into_iter().flat_map(|reason| reason.alternatives);
    before.map(|other| (other.choice, other.cost as f64 / 10.0))
}

fn is_legal(program: &Program, plan: &Plan) -> bool {
    hlir::verify::verify_plan(program, plan).is_empty()
}
