//! The optimizer: HLIR to HLIR and a plan. It is the list [`PIPELINE`]; the types define what each pass may
//! touch.
//!
//! A rewrite changes the program, but never what happens to a packet. A planner reads the program and fills
//! in the plan.

pub mod analyze;
pub mod explain;
pub mod inputs;
pub mod model;
pub mod plan;
pub mod rewrite;
pub mod visit;

use hlir::plan::JoinChoice;
use hlir::{Plan, Program};
pub use inputs::Inputs;
use plan::{
    Planner, batches, constraints, descriptor, expectations, groups, hot_path, joint, next_paths, prefetch, structures,
    vector,
};
use rewrite::{constants, dead, join, lookup_counts, specialise};
use std::borrow::Cow;

#[derive(Clone, Copy)]
pub enum Run {
    Rewrite(fn(&mut Program, &Inputs)),
    Plan(fn(&Planner, &mut Plan)),
    /// A rewrite in several ways: the one with the cheapest plan of the selected passes is taken.
    Cheapest(fn(&Program, &Inputs) -> Vec<Program>),
    /// A rewrite that is made where it pays, by the cost of the plans that the selected passes make: what was made is in
    /// the plan.
    Join(fn(&mut Program, &Inputs, &Selection) -> Vec<JoinChoice>),
}

/// A pass. Its name is the file, the flag and the test folder.
#[derive(Clone, Copy)]
pub struct Pass {
    pub name: &'static str,
    pub about: &'static str,
    pub run: Run,
}

#[rustfmt::skip]
pub const PIPELINE: &[Pass] = &[
    Pass { name: "specialise", about: "turn what tables are known to hold into code",       run: Run::Cheapest(specialise::candidates) },
    Pass { name: "constants",  about: "fold constants and constant branches",               run: Run::Rewrite(constants::fold) },
    Pass { name: "dead",       about: "remove dead assignments and unreachable nodes",      run: Run::Rewrite(dead::remove) },
    Pass { name: "lookup_counts", about: "count lookups that became code where few packets pass", run: Run::Rewrite(lookup_counts::place) },
    Pass { name: "join",       about: "join tables in series into one lookup",              run: Run::Join(join_tables) },
    Pass { name: "structures", about: "choose each table's data structure by lookup cost",  run: Run::Plan(structures::choose) },
    Pass { name: "joint",      about: "put two tables with common keys into one array",     run: Run::Plan(joint::choose) },
    Pass { name: "descriptor", about: "choose the packet descriptor of the ports",          run: Run::Plan(descriptor::choose) },
    Pass { name: "hot_path",   about: "find the hot path",                                  run: Run::Plan(hot_path::find) },
    Pass { name: "batches",    about: "choose the burst, and cut the hot path into stages", run: Run::Plan(batches::allocate) },
    Pass { name: "groups",     about: "choose the packets per group of a stage",            run: Run::Plan(groups::choose) },
    Pass { name: "vector",     about: "run the first stage as vector code",                 run: Run::Plan(vector::choose) },
    Pass { name: "prefetch",   about: "place prefetches to hide the latency of lookups",    run: Run::Plan(prefetch::place) },
    Pass { name: "next_paths", about: "plan paths for packets that leave the hot path",     run: Run::Plan(next_paths::plan) },
    Pass { name: "expectations", about: "record what the plan expects of tables and traffic",run: Run::Plan(expectations::record) },
];

/// The passes to run.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum Selection {
    #[default]
    All,
    None,
    /// These, in the pipeline's order.
    Only(Vec<String>),
    Without(Vec<String>),
}

impl Selection {
    pub fn has(&self, name: &str) -> bool {
        match self {
            Selection::All => true,
            Selection::None => false,
            Selection::Only(names) => names.iter().any(|only| only == name),
            Selection::Without(names) => names.iter().all(|without| without != name),
        }
    }
}

impl Selection {
    /// The selected passes that rewrite the program: used with a plan that is given.
    pub fn rewrites(&self) -> Selection {
        let is_rewrite = |pass: &&Pass| !matches!(pass.run, Run::Plan(_)) && self.has(pass.name);
        Selection::Only(PIPELINE.iter().filter(is_rewrite).map(|pass| pass.name.to_string()).collect())
    }
}

/// Rewrites that are left out of a program whose packets are counted on each edge. What is planned may join other tables, or none, and a
/// joint table hides edges. Lookups in code are counted where they were, so that their outcomes are branches: where few packets pass is not
/// known yet.
const NOT_COUNTED: [&str; 2] = ["join", "lookup_counts"];

impl Selection {
    /// The selected rewrites of a program whose packets are counted.
    pub fn counting(&self) -> Selection {
        let Selection::Only(mut names) = self.rewrites() else { return self.clone() };
        names.retain(|name| !NOT_COUNTED.contains(&name.as_str()));
        Selection::Only(names)
    }
}

/// Passes that plan how packets move through the program.
const MOVEMENT: [&str; 6] = ["hot_path", "batches", "groups", "vector", "prefetch", "next_paths"];

impl Selection {
    /// The selected passes that leave packets to run one by one: tables have the structures that are planned.
    pub fn packet_by_packet(&self) -> Selection {
        let is_left = |name: &&str| self.has(name) && !MOVEMENT.contains(name);
        Selection::Only(PIPELINE.iter().map(|pass| pass.name).filter(is_left).map(str::to_string).collect())
    }
}

/// The first of these programs that takes no more than [`plan::WORTH`] above the least cycles. Without planners there is
/// nothing to compare.
fn cheapest(mut candidates: Vec<Program>, inputs: &Inputs, selection: &Selection) -> Program {
    if candidates.len() == 1 || planners(selection).is_empty() {
        return candidates.swap_remove(0);
    }
    let costs: Vec<f64> = candidates.iter().map(|program| cycles(program.clone(), inputs, selection)).collect();
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    let at = costs.iter().position(|cost| *cost <= least * (1.0 + plan::WORTH));
    candidates.swap_remove(at.unwrap_or(0))
}

/// Cycles per packet with the plan that a program will have, joins left out.
fn cycles(mut program: Program, inputs: &Inputs, selection: &Selection) -> f64 {
    for pass in PIPELINE.iter().filter(|pass| selection.has(pass.name)) {
        if let Run::Rewrite(rewrite) = pass.run {
            rewrite(&mut program, inputs);
        }
    }
    plan::planned_cycles(&program, &constraints::with_running(&program, inputs), &planners(selection))
}

/// The joins that are given or named, and those that pay.
fn join_tables(program: &mut Program, inputs: &Inputs, selection: &Selection) -> Vec<JoinChoice> {
    let inputs = &Inputs { occupancy: inputs.occupancy.grown(program), ..inputs.clone() };
    let planners = planners(selection);
    join::choose(program, inputs, &|program, inputs| plan::planned_cycles(program, inputs, &planners))
}

/// The pass called `name`.
pub fn pass(name: &str) -> Option<&'static Pass> {
    PIPELINE.iter().find(|pass| pass.name == name)
}

/// The selected passes that fill in the plan.
pub fn planners(selection: &Selection) -> Vec<plan::Named> {
    let selected = PIPELINE.iter().filter(|pass| selection.has(pass.name));
    let planner = |pass: &Pass| match pass.run {
        Run::Plan(fill) => Some((pass.name, fill)),
        Run::Rewrite(_) | Run::Cheapest(_) | Run::Join(_) => None,
    };
    selected.filter_map(planner).collect()
}

/// Runs the selected passes up to and including `until`, or all of them. After the last pass, the constraints
/// are in the plan, whichever passes ran.
pub fn optimize(program: &mut Program, plan: &mut Plan, inputs: &Inputs, selection: &Selection, until: Option<&str>) {
    let mut inputs = Cow::Borrowed(inputs);
    for pass in PIPELINE.iter().filter(|pass| !matches!(pass.run, Run::Plan(_))) {
        if selection.has(pass.name) {
            match pass.run {
                Run::Rewrite(rewrite) => rewrite(program, &inputs),
                Run::Cheapest(rewrite) => *program = cheapest(rewrite(program, &inputs), &inputs, selection),
                Run::Join(join) => plan.joins = join(program, &inputs, selection),
                Run::Plan(_) => {}
            }
        }
        if pass.name == "join" && !program.joins.is_empty() {
            inputs = Cow::Owned(join::with_joint_contents(program, &inputs));
        }
        if until == Some(pass.name) {
            return;
        }
    }
    let inputs = constraints::with_running(program, &inputs);
    if constraints::are_satisfiable(program, &inputs) {
        let planners = planners(selection);
        // Of a pass that is not selected: up to the last one before it.
        let end = until.and_then(|until| PIPELINE.iter().position(|pass| pass.name == until));
        let is_wanted =
            |name: &str| PIPELINE[..=end.unwrap_or(PIPELINE.len() - 1)].iter().any(|pass| pass.name == name);
        if let Some((last, _)) = planners.iter().rfind(|(name, _)| is_wanted(name)) {
            plan::with_planner(program, &inputs, &planners, |planner| planner.fill(plan, Some(last)));
        }
    }
    if until.is_none_or(|until| pass(until).is_none()) {
        constraints::apply(plan, &inputs);
    }
}
