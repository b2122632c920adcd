//! `bacus bench`: what the applications cost on this machine under several plans, beside programs written by hand on the same packets.
//!
//! Each cell of the table is measured by processes of their own, for memory lies otherwise in each; medians over them are what is said.

mod again;
mod bars;
mod campaign;
mod cell;
mod chart;
mod check;
mod counted;
mod dpdk_tree;
mod entry;
mod experiment;
mod gains;
mod gauge;
mod journal;
mod moment;
mod overview;
mod peers;
mod report;
mod runner;
mod summary;
mod sweep;
mod times;
mod traffic;
mod variants;
mod workload;

use crate::calibrate;
use campaign::{Campaign, Heard};
use dpdk_tree::DpdkTree;
use driver::failure::Failure;
use driver::files;
use driver::inputs;
use driver::options::{Native, Passes};
use driver::stdout::{print, say};
use experiment::Cell;
use journal::Journal;
use report::Record;
use runtime::{clock, core_isolation};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Where the applications are.
const APPLICATIONS: &str = "apps";

pub const EXAMPLES: &str = "\
Examples:
  bacus bench                                 all applications
  bacus bench --quick                         a few cells, in a few minutes
  bacus bench l2fwd ipv4fwd --out out/bench   two of them; records, table and picture into out/bench
  bacus bench --sweep --out out/sweep         is the model's pick the best plan?
  bacus bench --sweep --again out/sweep/sweep.json
                                              measures nothing: how good are the model and its pick now, on those plans?
  bacus bench --experiment gains              what batches and prefetches gain, beside what the papers gained
  bacus bench ipv4fwd --sizes 100000 --only best,peer:lpm --plan pinned.plan
A run that is interrupted goes on where it stopped when the same is asked for again, with the same --out.
Run it where the applications' sources are: below the project's directory.";

#[derive(clap::Args, Clone)]
pub struct Arguments {
    /// Applications to measure [default: all]
    #[arg(value_name = "APPLICATION")]
    applications: Vec<String>,
    /// Also write records (JSON), table and picture (SVG) into this directory
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Packets to a burst; plans take the burst that they have chosen
    #[arg(long, value_name = "N", value_delimiter = ',', default_values_t = [32, 64])]
    bursts: Vec<u32>,
    /// Entries of the tables that grow [default: the application's]
    #[arg(long, value_name = "N", value_delimiter = ',')]
    sizes: Vec<u64>,
    /// How packets are drawn from the entries
    #[arg(long, value_name = "KIND", value_delimiter = ',', default_values = ["uniform", "zipf"],
          value_parser = ["uniform", "zipf"])]
    traffic: Vec<String>,
    /// Processes to a cell [default: 3, or 2 from four million entries on]
    #[arg(long, value_name = "N")]
    processes: Option<u32>,
    /// A few cells, one process each
    #[arg(long)]
    quick: bool,
    /// Only these variants, beside the plain program
    #[arg(long, value_name = "VARIANT", value_delimiter = ',')]
    only: Vec<String>,
    /// Also measure this plan, under the file's name; may be repeated
    #[arg(long, value_name = "FILE")]
    plan: Vec<PathBuf>,
    /// Plan for the machine of this file of `bacus calibrate`; where it has narrower vectors than this one, code and peers have no wider ones
    /// [default: machines/HOST.toml, else it is calibrated first]
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// IPv4 routes, `ADDRESS/LENGTH NEXTHOP` a line; may be compressed by gzip [default: made, with the lengths of a real table]
    #[arg(long, value_name = "FILE")]
    rib: Option<PathBuf>,
    /// DPDK's source tree, of the version that is installed: SWX programs run as the C that DPDK writes for them
    #[arg(long, value_name = "DIR")]
    dpdk: Option<PathBuf>,
    /// What to measure [default: all; with --quick, --sizes or --sweep: programs]
    #[arg(long, value_name = "EXPERIMENT", value_delimiter = ',', value_parser = ["programs", "drops", "gains"])]
    experiment: Vec<String>,
    /// Begin no further process of a cell after so many minutes; the first of each cell is measured in any case
    #[arg(long, value_name = "N", default_value_t = 40)]
    minutes: u32,
    /// Measure a grid of plans around the one that the model picks, instead of peers, and say how far the pick is from the best
    #[arg(long)]
    sweep: bool,
    /// Measure nothing: predict the plans of an earlier sweep again (its sweep.json), and say how good model and pick are now
    #[arg(long, value_name = "FILE", requires = "sweep")]
    again: Option<PathBuf>,
    /// Measure one cell, in this process
    #[arg(long, hide = true)]
    cell: Option<Cell>,
    #[command(flatten)]
    native: Native,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    core_isolation::be_ordinary();
    match (&arguments.cell, &arguments.again) {
        (Some(cell), _) => cell::run(cell, &of_machine(arguments.clone())),
        (None, Some(file)) => again::run(&calibrated(arguments)?, file),
        (None, None) => {
            check_files(arguments)?;
            all(&calibrated(arguments)?)
        }
    }
}

/// Reads what was named, before anything is measured: the first router of a run may come after half an hour.
fn check_files(arguments: &Arguments) -> Result<(), Failure> {
    variants::check_plans(&experiment::cells(arguments)?, arguments)?;
    arguments.rib.as_deref().map(workload::check_routes).transpose()?;
    arguments.dpdk.as_deref().map(DpdkTree::open).transpose()?;
    if !Path::new(APPLICATIONS).is_dir() {
        let message = "there is no such directory, and `bacus bench` measures the applications in it";
        return Err(Failure::input(format!("{APPLICATIONS}: {message}\nhint: run it in the project's directory")));
    }
    Ok(())
}

/// With a machine file: without one of this processor, the machine is measured now. What plans were made for is kept beside the records.
fn calibrated(arguments: &Arguments) -> Result<Arguments, Failure> {
    let mut arguments = arguments.clone();
    let file = match &arguments.machine {
        Some(file) => file.clone(),
        None => calibrate::at_hand(arguments.native.cc.as_deref())?,
    };
    say!("machine file: {}", file.display());
    if let Some(folder) = &arguments.out {
        // One that cannot be read is warned about where plans are made.
        if let Ok(text) = fs::read(&file) {
            files::write(&folder.join("machine.toml"), &text)?;
        }
    }
    arguments.machine = Some(file);
    Ok(of_machine(arguments))
}

/// With what the machine's file says of code.
fn of_machine(mut arguments: Arguments) -> Arguments {
    arguments.native = inputs::native_for(arguments.machine.as_deref(), &arguments.native);
    arguments
}

fn all(arguments: &Arguments) -> Result<(), Failure> {
    let cells = experiment::cells(arguments)?;
    let journal = Journal::open(arguments.out.as_deref(), name(arguments), &key(arguments))?;
    if journal.kept() > 0 {
        say!("{} processes of an interrupted run are taken over", journal.kept());
    }
    let heard = Campaign::new(arguments, cells, journal)?.run(|records| match &arguments.out {
        Some(folder) => write(folder, records, arguments.sweep),
        None => Ok(()),
    })?;
    conclude(&heard, arguments)?;
    if heard.wrong.is_empty() { Ok(()) } else { Err(Failure::Said) }
}

fn name(arguments: &Arguments) -> &'static str {
    if arguments.sweep { "sweep" } else { "bench" }
}

/// What an interrupted run must have in common with this one, to be taken over: all that is asked for, the machine's file, and this program.
fn key(arguments: &Arguments) -> String {
    let mut hash = runtime::cache::Hash::new();
    let machine = arguments.machine.as_ref().and_then(|file| fs::read(file).ok()).unwrap_or_default();
    let built = std::env::current_exe().and_then(fs::metadata).and_then(|file| file.modified()).ok();
    hash.add(&machine).add(format!("{built:?}").as_bytes());
    hash.add(arguments.traffic.join(",").as_bytes());
    campaign::shared_arguments(arguments, &arguments.only).iter().for_each(|word| {
        hash.add(word.as_bytes());
    });
    format!("run {}", hash.hex())
}

fn write(folder: &Path, records: &[Record], is_sweep: bool) -> Result<(), Failure> {
    if is_sweep {
        files::write(&folder.join("sweep.json"), report::json(records).as_bytes())?;
        files::write(&folder.join("sweep.txt"), sweep::table(records).as_bytes())?;
        let picture = sweep::svg(records).map_err(Failure::environment)?;
        return files::write(&folder.join("sweep.svg"), picture.as_bytes());
    }
    files::write(&folder.join("bench.json"), report::json(records).as_bytes())?;
    files::write(&folder.join("bench.txt"), table(records).as_bytes())?;
    files::write(&folder.join("beside-peers.svg"), chart::overview(records).as_bytes())?;
    files::write(&folder.join("bench.svg"), chart::svg(records).as_bytes())
}

fn table(records: &[Record]) -> String {
    overview::table(records) + &report::table(records) + &summary::text(records)
}

fn conclude(heard: &Heard, arguments: &Arguments) -> Result<(), Failure> {
    if !arguments.quick && arguments.sizes.is_empty() && !arguments.sweep {
        let check = times::check(&files::cache()?)?;
        say!("check of a program of 1,500 lines: {:.0} ms", check.as_secs_f64() * 1e3);
        let compiled = times::compile_and_load("apps/l2l3acl/l2l3acl.p4", &Passes::default(), &arguments.native)?;
        say!("l2l3acl from P4 to a loaded switch: {:.2} s", compiled.as_secs_f64());
    }
    heard.loads.iter().for_each(|load| say!("{load}"));
    print(&if arguments.sweep { sweep::table(&heard.records) } else { table(&heard.records) })?;
    say!("");
    if heard.records.iter().any(report::lacks_large_pages) {
        say!("rows marked with pages were measured without large pages throughout: every look-up costs more there");
    }
    if let Some(hint) = arguments.machine.as_deref().and_then(calibrate::hint_of) {
        say!("{hint}");
    }
    heard.notes.iter().for_each(|note| say!("note: {note}"));
    heard.wrong.iter().for_each(|wrong| say!("wrong: {wrong}"));
    if let Some(folder) = &arguments.out {
        say!("records, table and picture: {}", folder.join(format!("{}.{{json,txt,svg}}", name(arguments))).display());
    }
    Ok(())
}

/// The counter's rate, against the clock.
fn ticks_per_us() -> f64 {
    let (start, ticks) = (Instant::now(), clock::ticks());
    std::thread::sleep(Duration::from_millis(20));
    (clock::ticks() - ticks) as f64 / start.elapsed().as_micros() as f64
}
