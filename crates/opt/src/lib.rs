//! HLIR to HLIR and a plan: the optimizer is the list [`PIPELINE`], and the types say what each pass may touch.
//!
//! A rewrite changes the program and never what a packet sees. A planner reads the program and fills in the plan.

pub mod analyze;
pub mod inputs;
pub mod rewrite;
pub mod visit;

use hlir::{Plan, Program};
pub use inputs::Inputs;
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
    Pass { name: "constants", about: "compute what is known already, and take the branches it decides", run: Run::Rewrite(constants::fold) },
    Pass { name: "dead",      about: "drop what nobody reads and nodes that nothing reaches",           run: Run::Rewrite(dead::remove) },
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

/// The pass called `name`.
pub fn pass(name: &str) -> Option<&'static Pass> {
    PIPELINE.iter().find(|pass| pass.name == name)
}

/// Runs the selected passes up to and including `until`, or all of them.
pub fn optimize(program: &mut Program, plan: &mut Plan, inputs: &Inputs, selection: &Selection, until: Option<&str>) {
    for pass in PIPELINE {
        if selection.has(pass.name) {
            match pass.run {
                Run::Rewrite(rewrite) => rewrite(program, inputs),
                Run::Plan(fill) => fill(program, plan, inputs),
            }
        }
        if until == Some(pass.name) {
            break;
        }
    }
}
