//! `bacus bench`: the flags of the bench.

use crate::control_bench;
use bench::{Beside, Case, Options};
use clap::builder::PossibleValuesParser;
use driver::entries::Origin;
use driver::failure::Failure;
use driver::files;
use driver::flags;
use driver::options::{Native, Warnings};
use std::path::PathBuf;

pub const EXAMPLES: &str = "\
Examples:
  bacus bench                                 all applications
  bacus bench --quick                         a few cases, in a few minutes
  bacus bench l2fwd ipv4fwd --out out/bench   two of them; records, table and picture into out/bench
  bacus bench router.p4 --entries routes.stf --packets in.pcap
                                              any program; its packets are checked first
  bacus bench ipv4fwd --packets in.pcap       an application with your packets
  bacus bench --sweep --out out/sweep         compares the model's pick with other plans
  bacus bench --sweep --again out/sweep/sweep.json
                                              predicts the plans of that sweep again
  bacus bench --experiment gains              gains of batching and prefetching
  bacus bench --experiment join-sweep --quick --out out/papers
                                              an experiment of a paper, with the paper's numbers and a figure
  bacus bench --experiment papers --quick --out out/report
                                              all of them, one after the other
  bacus bench ipv4fwd --sizes 100000 --only best,peer:lpm --plan pinned.plan
  bacus bench --duel --in RARE-bmv2 --in freeRtr --quick
                                              freeRtr's P4 program beside its authors' C
An interrupted run continues when it is started again with the same arguments and the same --out.
Run it in the project's directory, where apps/ is. docs/bench.md explains the output.";

#[derive(clap::Subcommand)]
enum Other {
    /// Measure the control plane while the data plane is at full load
    #[command(after_help = control_bench::EXAMPLES)]
    Control(control_bench::Arguments),
    /// Write all results of experiments onto one page, and a PDF of it
    #[command(after_help = REPORT_EXAMPLES)]
    Report(Report),
    /// Write an index of recorded results: what the files in each machine's folder hold
    Index {
        /// Has a folder for each machine
        #[arg(value_name = "DIR", default_value = "bench/results")]
        folder: PathBuf,
    },
}

const REPORT_EXAMPLES: &str = "\
Examples:
  bacus bench report                          the results of bench/results, as report.html and report.pdf
  bacus bench report out/report --to out/report/report.html
The page needs no other file. The PDF is printed by chromium, google-chrome or weasyprint, if one is installed.";

#[derive(clap::Args)]
struct Report {
    /// Folders that have results, written by --experiment and --out; those below them are read as well
    #[arg(value_name = "DIR", default_value = "bench/results")]
    folders: Vec<PathBuf>,
    /// Write the page to this file, and the PDF beside it
    #[arg(long, value_name = "FILE", default_value = "report.html")]
    to: PathBuf,
}

#[derive(clap::Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct Arguments {
    #[command(subcommand)]
    other: Option<Other>,
    /// Applications to measure, or programs (.p4, .hlir) [default: all applications]
    #[arg(value_name = "APPLICATION|PROGRAM")]
    applications: Vec<String>,
    /// What the program's tables hold; repeatable [default: entries.stf beside it]
    #[arg(long, value_name = "FILE|gen:TABLE:COUNT:SEED")]
    entries: Vec<Origin>,
    /// Packets to measure with, STF or a capture [default: an application's are drawn from its entries, a program's are those of its test beside it]
    #[arg(long, value_name = "FILE")]
    packets: Option<PathBuf>,
    /// Search included files here, before the bundled architectures
    #[arg(short = 'I', value_name = "DIR", help_heading = "Preprocessing")]
    include: Vec<PathBuf>,
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = flags::definition, help_heading = "Preprocessing")]
    define: Vec<String>,
    /// Undefine a macro
    #[arg(short = 'U', value_name = "NAME", value_parser = flags::macro_name, help_heading = "Preprocessing")]
    undefine: Vec<String>,
    #[command(flatten)]
    warnings: Warnings,
    /// Also write records (JSON), table and picture (SVG) into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Packets of a burst; plans use the burst that they name
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [32, 64])]
    bursts: Vec<u32>,
    /// Numbers of entries of the application's large tables [default: the application's]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    sizes: Vec<u64>,
    /// Distribution of packets over an application's entries; imix is uniform, with frames of 64, 594 and 1518 bytes
    #[arg(long, value_name = "KIND", value_delimiter = ',', default_values = ["uniform", "zipf"],
          value_parser = ["uniform", "zipf", "imix"])]
    traffic: Vec<String>,
    /// Processes for each case [default: 3, or 2 from four million entries on]
    #[arg(long, value_name = "N")]
    processes: Option<u32>,
    /// A few cases, one process each; of an application that is named at least the smallest
    #[arg(long)]
    quick: bool,
    /// Only these variants, beside the plain program
    #[arg(long, value_name = "VARIANT", value_delimiter = ',')]
    only: Vec<String>,
    /// Also measure this plan, under the file's name; may be repeated
    #[arg(long, value_name = "FILE")]
    plan: Vec<PathBuf>,
    /// Plan for the machine of this machine file; code and peers have no wider vectors than it
    /// [default: machines/HOST.toml, else the machine is calibrated first]
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// IPv4 routes, `ADDRESS/LENGTH NEXTHOP` a line; may be compressed by gzip [default: random routes, with the prefix lengths of a real table]
    #[arg(long, value_name = "FILE")]
    rib: Option<PathBuf>,
    /// DPDK's source tree, of the installed version: SWX programs are compiled to C by DPDK, not interpreted
    #[arg(long, value_name = "DIR")]
    dpdk: Option<PathBuf>,
    /// What to measure; papers are all that have a figure, one after the other [default: programs, drops and gains; with --quick, --sizes or --sweep: programs]
    #[arg(long, value_name = "EXPERIMENT", value_delimiter = ',', value_parser = experiments())]
    experiment: Vec<String>,
    /// Start no further process after this many minutes; the first of each case is always measured
    #[arg(long, value_name = "N", default_value_t = 40)]
    minutes: u32,
    /// Measure a grid of plans around the one that the model picks, instead of peers, and print how far the pick is from the best
    #[arg(long)]
    sweep: bool,
    /// Measure nothing: predict the plans of this sweep.json with the present model, and compare
    #[arg(long, value_name = "FILE", requires = "sweep")]
    again: Option<PathBuf>,
    /// Measure the programs of this list that are in the directories of --in, each with few entries and with many
    #[arg(long, value_name = "FILE", group = "of_others", conflicts_with_all = ["applications", "entries", "packets", "sweep"])]
    scoreboard: Option<PathBuf>,
    /// Measure freeRtr's router.p4 beside freeRtr's own data plane in C, of checkouts in the directories of --in
    #[arg(long, group = "of_others", requires = "directories", conflicts_with_all = ["applications", "entries", "packets", "sweep"])]
    duel: bool,
    /// Directory with programs of others, such as a checkout of p4c; repeatable
    #[arg(long = "in", value_name = "DIR", requires = "of_others", value_parser = flags::checkout)]
    directories: Vec<PathBuf>,
    /// Where freeRtr's data plane in C is, for a case of the duel
    #[arg(long, hide = true, requires = "messages")]
    freertr: Option<PathBuf>,
    /// The messages that it gets
    #[arg(long, hide = true)]
    messages: Option<PathBuf>,
    /// Measure one case, in this process
    #[arg(long, hide = true)]
    case: Option<Case>,
    #[command(flatten)]
    native: Native,
}

/// The names of experiments, and the one for all that have a figure.
fn experiments() -> PossibleValuesParser {
    bench::EXPERIMENTS.into_iter().chain([bench::PAPERS]).into()
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    match &arguments.other {
        Some(Other::Control(arguments)) => return control_bench::run(arguments),
        Some(Other::Report(Report { folders, to })) => return bench::report(folders, to),
        Some(Other::Index { folder }) => return bench::index(folder),
        None => {}
    }
    if let Some(directory) = &arguments.out {
        files::check_writable(&directory.join("bench.json"))?;
    }
    let beside = arguments.freertr.as_ref().zip(arguments.messages.as_ref());
    bench::run(&Options {
        applications: arguments.applications.clone(),
        entries: arguments.entries.clone(),
        packets: arguments.packets.clone(),
        include: arguments.include.clone(),
        define: arguments.define.clone(),
        undefine: arguments.undefine.clone(),
        warnings: arguments.warnings.clone(),
        out: arguments.out.clone(),
        bursts: arguments.bursts.clone(),
        sizes: arguments.sizes.clone(),
        traffic: arguments.traffic.clone(),
        processes: arguments.processes,
        quick: arguments.quick,
        only: arguments.only.clone(),
        plan: arguments.plan.clone(),
        machine: arguments.machine.clone(),
        rib: arguments.rib.clone(),
        dpdk: arguments.dpdk.clone(),
        experiment: arguments.experiment.clone(),
        minutes: arguments.minutes,
        sweep: arguments.sweep,
        again: arguments.again.clone(),
        case: arguments.case.clone(),
        scoreboard: arguments.scoreboard.clone(),
        directories: arguments.directories.clone(),
        duel: arguments.duel,
        beside: beside.map(|(native, messages)| Beside { native: native.clone(), messages: messages.clone() }),
        native: arguments.native.clone(),
    })
}
