//! `bacus show`: prints a program as HLIR, as lowered or after a step of the optimizer.

use clap::Args;
use driver::entries::Origin;
use driver::failure::Failure;
use driver::frontend::{self, Loaded};
use driver::options::{Passes, Source};
use driver::stdout::print;
use hlir::plan::AccessMode;
use hlir::{Plan, Program, ResolvedPlan};
use schedule::{Obstacle, Planned};

/// The step before the optimizer's.
const LOWER: &str = "lower";

/// The step behind the optimizer's: the schedule of the hot path.
const SCHEDULE: &str = "schedule";

/// The steps behind that: the schedule with the accesses of a mode, whichever the plan has.
const ACCESSES: [(&str, AccessMode); 2] =
    [("packet_combine", AccessMode::Combined), ("packet_cache", AccessMode::Cached)];

pub const EXAMPLES: &str = "\
Examples:
  bacus show router.p4                           as lowered from P4
  bacus show router.p4 --after constants         after this pass and those before it
  bacus show router.p4 --after all               as it is compiled, with its plan
  bacus show router.p4 --after schedule          the schedule of the planned hot path
  bacus show router.p4 --after packet_cache      the same with windows of the packet read once
  bacus show router.p4 > router.hlir             all commands also accept HLIR
  bacus show router.hlir

Steps: `lower`, the passes, `schedule`, `packet_combine`, `packet_cache`. `bacus show router.p4 --after ?` lists them.";

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Print the program after this step: `lower`, a pass of the optimizer, or `all`; with `schedule` the schedule of the
    /// hot path, with `packet_combine` or `packet_cache` that with accesses to the packet combined
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
    let accesses = ACCESSES.iter().find(|(name, _)| *name == after).map(|(_, mode)| *mode);
    let is_schedule = after == SCHEDULE || accesses.is_some();
    if !is_schedule && ![LOWER, "all"].contains(&after) && opt::pass(after).is_none() {
        let steps: Vec<String> =
            opt::PIPELINE.iter().map(|pass| format!("  {:12} {}", pass.name, pass.about)).collect();
        let list = steps.join("\n");
        return Err(Failure::input(format!(
            "there is no step `{after}`; steps are\n  lower        the program as written\n{list}\n  \
             schedule     the schedule of the hot path\n  \
             packet_combine  the same, with neighbouring fields accessed together\n  \
             packet_cache    the same, with windows of the packet read and stored once"
        )));
    }
    let loaded = frontend::load(&arguments.source)?;
    let text = if after == LOWER {
        let Loaded { program, plan } = loaded;
        hlir::text::print_file(&program, plan.as_ref().map(|file| &file.plan))
    } else {
        let until = (after != "all" && !is_schedule).then_some(after);
        let mut passes = arguments.passes.clone();
        passes.entries.clone_from(&arguments.entries);
        passes.is_specialised = arguments.specialise;
        passes.is_shown = true;
        let (program, plan) = frontend::optimize(loaded, &passes, until)?;
        match is_schedule {
            true => scheduled(&program, &Plan { accesses: accesses.or(plan.accesses), ..plan })?,
            false => hlir::text::print_file(&program, Some(&plan)),
        }
    };
    print(&text)
}

/// The schedules of a plan's hot paths, or why there is none.
fn scheduled(program: &Program, plan: &Plan) -> Result<String, Failure> {
    let name = &program.name;
    let none = |why: String| Failure::input(format!("{name}: the hot path has no schedule: {why}"));
    let resolved = ResolvedPlan::of(program, plan);
    let next = (0..resolved.next_paths.len()).map(|number| resolved.of_next_path(number));
    let paths = std::iter::once(resolved.clone()).chain(next);
    let Some(planned) = paths.map(|path| Planned::of(program, &path)).collect::<Option<Vec<_>>>() else {
        return Err(Failure::input(format!(
            "{name}: the plan has no hot path with a stage, and only hot paths have a schedule; `bacus explain` shows why"
        )));
    };
    match planned.into_iter().collect::<Result<Vec<_>, Obstacle>>() {
        Ok(paths) => {
            let texts = paths.iter().map(|planned| schedule::text::print(program, &planned.schedule));
            Ok(texts.collect::<Vec<String>>().join("\n"))
        }
        Err(Obstacle { node, does }) => {
            let node = &program.nodes[node];
            let place = node.notes.origin.as_ref().map(|origin| format!(" ({}:{})", origin.file, origin.line));
            Err(none(format!("the node `{}`{} {does}", node.name, place.unwrap_or_default())))
        }
    }
}
