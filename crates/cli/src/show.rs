//! `bacus show`: prints a program as HLIR, as lowered or after a step of the optimizer.

use clap::Args;
use driver::entries::Origin;
use driver::failure::Failure;
use driver::frontend::{self, Loaded};
use driver::options::{Passes, Source};
use driver::stdout::print;
use hlir::{Plan, Program, ResolvedPlan};
use schedule::{Obstacle, Schedule};

/// The step before the optimizer's.
const LOWER: &str = "lower";

/// The step behind the optimizer's: the schedule of the hot path.
const SCHEDULE: &str = "schedule";

pub const EXAMPLES: &str = "\
Examples:
  bacus show router.p4                           as lowered from P4
  bacus show router.p4 --after constants         after this pass and those before it
  bacus show router.p4 --after all               as it is compiled, with its plan
  bacus show router.p4 --after schedule          the schedule of the planned hot path
  bacus show router.p4 > router.hlir             all commands also accept HLIR
  bacus show router.hlir

Steps: `lower`, the passes, `schedule`. `bacus show router.p4 --after ?` lists them.";

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Print the program after this step: `lower`, a pass of the optimizer, or `all`; with `schedule` the schedule of the
    /// hot path
    #[arg(long, value_name = "NAME")]
    after: Option<String>,
    /// Expected table contents; repeatable
    #[arg(long, value_name = "FILE|gen:TABLE:COUNT:SEED")]
    entries: Vec<Origin>,
    /// Specialise the code for exactly the contents of --entries; it refuses other writes
    #[arg(long, requires = "entries", help_heading = "Optimizing")]
    specialise: bool,
    #[command(flatten)]
    passes: Passes,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let after = arguments.after.as_deref().unwrap_or(LOWER);
    if ![LOWER, SCHEDULE, "all"].contains(&after) && opt::pass(after).is_none() {
        let steps: Vec<String> =
            opt::PIPELINE.iter().map(|pass| format!("  {:12} {}", pass.name, pass.about)).collect();
        let list = steps.join("\n");
        return Err(Failure::input(format!(
            "there is no step `{after}`; steps are\n  lower        the program as written\n{list}\n  \
             schedule     the schedule of the hot path"
        )));
    }
    let loaded = frontend::load(&arguments.source)?;
    let text = if after == LOWER {
        let Loaded { program, plan } = loaded;
        hlir::text::print_file(&program, plan.as_ref().map(|file| &file.plan))
    } else {
        let until = (after != "all" && after != SCHEDULE).then_some(after);
        let mut passes = arguments.passes.clone();
        passes.entries.clone_from(&arguments.entries);
        passes.is_specialised = arguments.specialise;
        passes.is_shown = true;
        let (program, plan) = frontend::optimize(loaded, &passes, until)?;
        if after == SCHEDULE { scheduled(&program, &plan)? } else { hlir::text::print_file(&program, Some(&plan)) }
    };
    print(&text)
}

/// The schedule of a plan's hot path, or why there is none.
fn scheduled(program: &Program, plan: &Plan) -> Result<String, Failure> {
    let name = &program.name;
    let none = |why: String| Failure::input(format!("{name}: the hot path has no schedule: {why}"));
    let Some(schedule) = Schedule::of_plan(program, &ResolvedPlan::of(program, plan)) else {
        return Err(Failure::input(format!(
            "{name}: the plan has no hot path with a stage, and only hot paths have a schedule; `bacus explain` shows why"
        )));
    };
    match schedule {
        Ok(schedule) => Ok(schedule::text::print(program, &schedule)),
        Err(Obstacle { node, does }) => {
            let node = &program.nodes[node];
            let place = node.notes.origin.as_ref().map(|origin| format!(" ({}:{})", origin.file, origin.line));
            Err(none(format!("the node `{}`{} {does}", node.name, place.unwrap_or_default())))
        }
    }
}
