//! `bacus explain`: where packets go, what was decided and why, and what it costs; with `--measure` beside what it really costs.

use clap::Args;
use driver::entries::Origin;
use driver::explained;
use driver::failure::Failure;
use driver::files;
use driver::frontend;
use driver::inputs;
use driver::machine_file;
use driver::options::{DescriptorKind, Native, Passes, Source};
use driver::port_burst::PortBurst;
use driver::stdout::{print, print_line};
use measure::calibrate;
use measure::program::Measuring;
use opt::Inputs;
use opt::explain::{Measured, Unspecialised};
use opt::inputs::Machine;
use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};

pub const EXAMPLES: &str = "\
Examples:
  bacus explain router.p4                                    a summary, by estimated traffic and entries
  bacus explain router.p4 --all                              each decision and each node
  bacus explain router.p4 --entries routes.stf --profile router.profile
  bacus explain router.p4 --json | jq .decisions
  bacus explain router.p4 --measure --html -o router.html    predicted and measured, as a page

--measure runs the program on an in-memory port:
  packets  of --packets, else of the STF file beside the program (router.stf)
  entries  of --entries, else of entries.stf beside the program
  traffic  of --profile, else as counted in this run; of a specialised program always as counted
  machine  of --machine or a machine file, else calibrated first (some seconds), into the cache
On a terminal, --html writes PROGRAM.html into the current directory.";

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Expected table contents; repeatable
    #[arg(long, value_name = "FILE|gen:TABLE:COUNT:SEED")]
    entries: Vec<Origin>,
    /// Specialise the code for exactly the contents of --entries
    #[arg(long, requires = "entries", help_heading = "Optimizing")]
    specialise: bool,
    /// Print all decisions, expectations and nodes behind the summary
    #[arg(long, conflicts_with_all = ["json", "html"])]
    all: bool,
    /// Print JSON: all that --all prints
    #[arg(long, conflicts_with = "html")]
    json: bool,
    /// Print a page of HTML: nodes and tables to sort and filter, and a drawing of the graph
    #[arg(long)]
    html: bool,
    /// Write here instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Run the program, and print measured next to predicted cycles of each node
    #[arg(long)]
    measure: bool,
    /// Packets to measure with: an STF file or a capture
    #[arg(long, value_name = "FILE", requires = "measure")]
    packets: Option<PathBuf>,
    /// Packet descriptor [default: mbuf, as for `bacus run`; own with --measure; --descriptor mbuf measures on DPDK's in-memory port]
    #[arg(long, value_enum)]
    descriptor: Option<DescriptorKind>,
    /// Largest burst, in packets [default: 32, or the burst of --plan or --pin, as for `bacus run`]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=512))]
    burst: Option<u32>,
    #[command(flatten)]
    passes: Passes,
    #[command(flatten)]
    native: Native,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.native.check()?;
    arguments.output.as_deref().map_or(Ok(()), files::check_writable)?;
    let mut passes = arguments.passes.clone();
    passes.entries.clone_from(&arguments.entries);
    passes.is_specialised = arguments.specialise;
    let default = if arguments.measure { DescriptorKind::Own } else { DescriptorKind::Mbuf };
    let descriptor = arguments.descriptor.unwrap_or(default);
    passes.ports.own_descriptor = descriptor == DescriptorKind::Own;
    passes.descriptor = Some(descriptor.plan());
    let loaded = frontend::load(&arguments.source)?;
    let burst = PortBurst::of(arguments.burst, passes.read_plans()?, &loaded, &mut passes);
    let mut passes_before = Passes { is_specialised: false, ..passes.clone() };
    let measured = match arguments.measure {
        true => Some(measure(arguments, &mut passes, &mut passes_before)?),
        false => None,
    };
    let mut before = loaded.program.clone();
    let given_before = inputs::gather(&before, &passes_before)?;
    let (program, mut plan) = frontend::optimize(loaded, &passes, None)?;
    plan.burst = burst.of_plan(&plan);
    let given = inputs::gather(&program, &passes)?;
    let unspecialised = opt::Selection::Only(vec!["constants".to_string(), "dead".to_string()]);
    opt::optimize(&mut before, &mut hlir::Plan::default(), &given_before, &unspecialised, None);
    let before = Unspecialised { program: &before, inputs: &given_before };
    let mut explained = opt::explain::explain((&program, Some(before)), &plan, &given);
    explained.notes.push(machine_note(&passes, &given));
    let beside = if descriptor == DescriptorKind::Own { "; `bacus run` has mbufs" } else { ", as `bacus run` does" };
    let of_descriptor = hlir::text::written_descriptor(plan.descriptor);
    explained.notes.push(format!("bursts of {}, descriptor {of_descriptor}{beside}", plan.burst));
    if let Some(measured) = &measured {
        explained.measured(measured);
    }
    // For editors. Without them, only their hints are missing.
    if let Err(failure) = explained::keep(&arguments.source.program, &explained) {
        eprintln!("warning: no costs for editors: {}", failure.message());
    }
    match (arguments.json, arguments.html) {
        (true, _) => conclude(arguments, &explained.json()),
        (false, true) => conclude(arguments, &explained.html()),
        (false, false) if arguments.all => conclude(arguments, &explained.text()),
        (false, false) => conclude(arguments, &explained.summary()),
    }
}

/// What the program costs with the packets and entries at hand. From then on, `passes` have the machine and the paths of
/// packets, and so have those of the program without specialisation, `before`: its nodes are others.
fn measure(arguments: &Arguments, passes: &mut Passes, before: &mut Passes) -> Result<Measured, Failure> {
    if passes.machine.is_none() {
        passes.machine = Some(calibrate::at_hand(arguments.native.cc.as_deref())?);
    }
    let beside = |name: &str| arguments.source.program.with_file_name(name);
    if passes.entries.is_empty() && beside("entries.stf").exists() {
        passes.entries.push(Origin::File(beside("entries.stf")));
    }
    passes.entries_are_all = true;
    let packets = arguments.packets.clone().unwrap_or_else(|| arguments.source.program.with_extension("stf"));
    if !packets.exists() {
        let name = packets.display();
        return Err(Failure::input(format!(
            "{name}: there is no such file\nhint: name packets with --packets FILE, STF or a capture"
        )));
    }
    let measuring = Measuring::new(&arguments.source, &arguments.native, &packets)?;
    *before = Passes { is_specialised: false, ..passes.clone() };
    if passes.is_specialised {
        // A profile of a file is of the program as written.
        passes.profile = None;
        if before.profile.is_none() {
            before.counted = Some(measuring.profile(before)?);
        }
    }
    if passes.profile.is_none() {
        passes.counted = Some(measuring.profile(passes)?);
    }
    measuring.measure(passes, arguments.descriptor.unwrap_or(DescriptorKind::Own).plan())
}

/// What is known of the machine, and where from.
fn machine_note(passes: &Passes, given: &Inputs) -> String {
    let path = passes.machine.clone().or_else(machine_file::calibrated_file).unwrap_or_else(machine_file::default_file);
    let file = path.display();
    if given.machine == Machine::default() {
        return format!("machine: default model, not {file}; `bacus calibrate` measures this one");
    }
    format!("machine file: {file}, calibrated {}", given.machine.calibrated)
}

/// To the file that was named; a page that would fill a terminal goes to one beside.
fn conclude(arguments: &Arguments, text: &str) -> Result<(), Failure> {
    if let Some(path) = &arguments.output {
        return files::write(path, text.as_bytes());
    }
    if !(arguments.html && std::io::stdout().is_terminal()) {
        return print(text);
    }
    let name = arguments.source.program.with_extension("html");
    let path = Path::new(name.file_name().unwrap_or(name.as_os_str()));
    files::write(path, text.as_bytes())?;
    print_line!("page: {}", path.display());
    Ok(())
}
