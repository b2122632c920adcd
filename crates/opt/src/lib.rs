//! HLIR to HLIR and a plan: the optimizer is the list [`PIPELINE`], and the types say what each pass may touch.
//!
//! A rewrite changes the program and never what a packet sees. A planner reads the program and fills in the plan.

pub mod analyze;
pub mod explain;
pub mod inputs;
pub mod model;
pub mod plan;
pub mod rewrite;
pub mod visit;

use hlir::{Plan, Program};
pub use inputs::Inputs;
use plan::{batches, constraints, descriptor, groups, hot_path, prefetch, sharing, structures, vector};
use rewrite::{constants, dead};

#[derive(Clone, Copy)]
pub enum Run {
    Rewrite(fn(&mut Program, &Inputs)),
    Plan(fn(&Program, &mut Plan, &Inputs)),
}

/// A pass: its name is the file, the flag and the test folder.
#[derive(Clone, Copy)]
pub struct Pass {
    pub name: &'static str,
    pub about: &'static str,
    pub run: Run,
}

#[rustfmt::skip]
pub const PIPELINE: &[Pass] = &[
    Pass { name: "constants",  about: "compute what is known already, and take the branches it decides",  run: Run::Rewrite(constants::fold) },
    Pass { name: "dead",       about: "drop what nobody reads and nodes that nothing reaches",            run: Run::Rewrite(dead::remove) },
    Pass { name: "structures", about: "give each table the data structure in which look-ups cost least",  run: Run::Plan(structures::choose) },
    Pass { name: "sharing",    about: "let tables that have the same keys share an array",                run: Run::Plan(sharing::choose) },
    Pass { name: "descriptor", about: "let packets be what the ports make cheapest",                      run: Run::Plan(descriptor::choose) },
    Pass { name: "path",       about: "find the way that most packets take",                              run: Run::Plan(hot_path::find) },
    Pass { name: "batches",    about: "take packets in bursts, and cut the path where tables are slow",   run: Run::Plan(batches::allocate) },
    Pass { name: "groups",     about: "choose how many packets go through a stage together",              run: Run::Plan(groups::choose) },
    Pass { name: "lanes",      about: "run what leads to the first look-up for packets side by side",     run: Run::Plan(vector::choose) },
    Pass { name: "prefetch",   about: "ask for lines far enough ahead, no further",                       run: Run::Plan(prefetch::place) },
];

/// Which passes run.
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
    /// The passes of these that rewrite the program: for a plan that is given already.
    pub fn rewrites(&self) -> Selection {
        let is_rewrite = |pass: &&Pass| matches!(pass.run, Run::Rewrite(_)) && self.has(pass.name);
        Selection::Only(PIPELINE.iter().filter(is_rewrite).map(|pass| pass.name.to_string()).collect())
    }
}

/// The pass called `name`.
pub fn pass(name: &str) -> Option<&'static Pass> {
    PIPELINE.iter().find(|pass| pass.name == name)
}

/// The passes that run behind this one.
fn passes_after(name: &str) -> impl Iterator<Item = &'static Pass> {
    PIPELINE.iter().skip_while(move |pass| pass.name != name).skip(1)
}

/// Runs the selected passes up to and including `until`, or all of them; behind the last, what is pinned stands in the plan, whatever has run.
pub fn optimize(program: &mut Program, plan: &mut Plan, inputs: &Inputs, selection: &Selection, until: Option<&str>) {
    for pass in PIPELINE {
        if selection.has(pass.name) {
            match pass.run {
                Run::Rewrite(rewrite) => rewrite(program, inputs),
                Run::Plan(fill) if constraints::are_satisfiable(program, inputs) => fill(program, plan, inputs),
                Run::Plan(_) => {}
            }
        }
        if until == Some(pass.name) {
            return;
        }
    }
    constraints::apply(plan, inputs);
}
