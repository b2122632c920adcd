//! The bench: what the applications cost on this machine under several plans, beside programs written by hand on the same packets.
//!
//! Each case of the table is measured by processes of their own, for memory lies otherwise in each; medians over them are reported.

#![deny(clippy::print_stdout)]

mod bars;
mod case;
mod chart;
mod check;
mod cores;
mod dpdk_tree;
mod duel;
mod entry;
mod experiment;
mod forwarders;
mod found;
mod freertr;
mod index;
mod interpreted;
mod joins;
mod line_cost;
mod machine_drift;
mod mix;
mod options;
mod overview;
mod paper_cases;
mod papers;
mod peers;
mod profile;
mod purpose;
mod report;
mod repredict;
mod resume_log;
mod runner;
mod scheduler;
mod scoreboard;
mod series;
mod speedup;
mod summary;
mod sweep;
mod time_left;
mod times;
mod traffic;
mod variants;
mod workload;

pub use experiment::{Case, EXPERIMENTS};
use measure::calibrate;
pub use options::{Beside, Options};
pub use papers::{Figure, Role};
pub use series::PAPERS;

use dpdk_tree::DpdkTree;
use driver::failure::Failure;
use driver::files;
use driver::inputs;
use driver::options::Passes;
use driver::stdout::{print, print_line};
use report::Record;
use resume_log::ResumeLog;
use runtime::core_isolation;
use scheduler::{Heard, Scheduler};
use std::fs;
use std::path::Path;
use time_left::TimeLeft;

/// Where the applications are.
const APPLICATIONS: &str = "apps";

pub fn run(options: &Options) -> Result<(), Failure> {
    core_isolation::be_ordinary();
    let options = &Options { experiment: series::asked(options), ..options.clone() };
    match (&options.case, &options.again, &options.scoreboard) {
        (Some(case), _, _) => case::run(case, &of_machine(options.clone())),
        (None, Some(file), _) => repredict::run(&calibrated(options)?, file),
        (None, None, Some(list)) => scoreboard::run(&calibrated(options)?, list),
        (None, None, None) if options.duel => duel::run(&calibrated(options)?),
        (None, None, None) => {
            if !options.experiment.iter().all(|name| name == CALIBRATION) || options.experiment.is_empty() {
                check_files(options)?;
            }
            all(&calibrated(options)?)
        }
    }
}

/// Several experiments with a figure are measured one after the other; others are one run.
fn all(options: &Options) -> Result<(), Failure> {
    let names = &options.experiment;
    let have_figures = names.iter().all(|name| papers::described().iter().any(|(known, _)| known == name));
    if names.len() > 1 && have_figures {
        return series::run(options, &key(options), measure);
    }
    measure(options, &mut TimeLeft::new(scheduler::processes_of(options)))
}

/// Reads what was named, before anything is measured: the first router of a run may come after half an hour.
fn check_files(options: &Options) -> Result<(), Failure> {
    variants::check_plans(&experiment::cases(options)?, options)?;
    options.rib.as_deref().map(workload::check_routes).transpose()?;
    options.dpdk.as_deref().map(DpdkTree::open).transpose()?;
    let is_of_applications = options.applications.iter().any(|name| workload::application(name).is_some());
    if (options.applications.is_empty() || is_of_applications) && !Path::new(APPLICATIONS).is_dir() {
        let message = "there is no such directory, and `bacus bench` measures the applications in it";
        return Err(Failure::input(format!("{APPLICATIONS}: {message}\nhint: run it in the project's directory")));
    }
    Ok(())
}

/// With a machine file: without one of this processor, the machine is measured now. What plans were made for is kept beside the records.
fn calibrated(options: &Options) -> Result<Options, Failure> {
    let mut options = options.clone();
    let file = match &options.machine {
        Some(file) => file.clone(),
        None => calibrate::at_hand(options.native.cc.as_deref())?,
    };
    print_line!("machine file: {}", file.display());
    if let Some(folder) = &options.out {
        // One that cannot be read is warned about where plans are made.
        if let Ok(text) = fs::read(&file) {
            files::write(&folder.join("machine.toml"), &text)?;
        }
    }
    options.machine = Some(file);
    Ok(of_machine(options))
}

/// With the machine file's costs of code.
fn of_machine(mut options: Options) -> Options {
    options.native = inputs::native_for(options.machine.as_deref(), &options.native);
    options
}

/// Measures all cases of the options, and writes what was found. `time` counts their processes.
fn measure(options: &Options, time: &mut TimeLeft) -> Result<(), Failure> {
    let is_calibration = |name: &String| name == CALIBRATION;
    if options.experiment.iter().any(is_calibration) {
        show(&papers::calibration(options)?, options)?;
        if options.experiment.iter().all(is_calibration) {
            time.step();
            return Ok(());
        }
    }
    let cases = experiment::cases(options)?;
    let log = ResumeLog::open(options.out.as_deref(), name(options), &key(options))?;
    if log.kept() > 0 {
        print_line!("{} processes of an interrupted run are taken over", log.kept());
    }
    let watch = papers::Watch::begin();
    let heard = Scheduler::new(options, cases, log, time)?.run(|records| match &options.out {
        Some(folder) => write(folder, records, name(options)),
        None => Ok(()),
    })?;
    conclude(&heard, options)?;
    let notes = heard.wrong.iter().chain(&heard.notes).cloned().collect();
    let conditions = papers::Conditions { load: watch.load(), notes };
    for outcome in papers::outcomes(&heard.records, options, &conditions) {
        show(&outcome, options)?;
    }
    if heard.wrong.is_empty() { Ok(()) } else { Err(Failure::Reported) }
}

/// The experiment that has no cases.
const CALIBRATION: &str = "calibration";

/// Prints what an experiment found, and writes its files.
fn show(outcome: &papers::Outcome, options: &Options) -> Result<(), Failure> {
    print(&outcome.table())?;
    let Some(folder) = &options.out else { return Ok(()) };
    papers::write(folder, outcome)?;
    print_line!("{}", folder.join(format!("{}.{{json,txt,svg}}", outcome.experiment)).display());
    Ok(())
}

/// The index of a folder with results.
pub fn index(folder: &Path) -> Result<(), Failure> {
    index::run(folder)
}

/// The page of all results of experiments in the folders, and its PDF.
pub fn report(folders: &[std::path::PathBuf], page: &Path) -> Result<(), Failure> {
    papers::report::run(folders, page)
}

fn name(options: &Options) -> &'static str {
    if options.sweep { "sweep" } else { "bench" }
}

/// The key by which an interrupted run is resumed: it must have the same options, machine file and program.
fn key(options: &Options) -> String {
    let mut hash = runtime::cache::Hash::new();
    let machine = options.machine.as_ref().and_then(|file| fs::read(file).ok()).unwrap_or_default();
    let built = std::env::current_exe().and_then(fs::metadata).and_then(|file| file.modified()).ok();
    hash.add(&machine).add(format!("{built:?}").as_bytes());
    hash.add(options.traffic.join(",").as_bytes());
    scheduler::shared_arguments(options, &options.only).iter().for_each(|word| {
        hash.add(word.as_bytes());
    });
    format!("run {}", hash.hex())
}

fn write(folder: &Path, records: &[Record], name: &str) -> Result<(), Failure> {
    // Those have files of their own, at the end.
    if name != "sweep" && records.iter().all(|record| record.case.experiment.is_of_paper()) {
        return Ok(());
    }
    if name == "sweep" {
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

fn conclude(heard: &Heard, options: &Options) -> Result<(), Failure> {
    let is_whole = options.experiment.is_empty() && options.applications.is_empty() && options.sizes.is_empty();
    if is_whole && !options.quick && !options.sweep {
        let check = times::check(&files::cache()?)?;
        print_line!("check of a program of 1,500 lines: {:.0} ms", check.as_secs_f64() * 1e3);
        let compiled = times::compile_and_load("apps/l2l3acl/l2l3acl.p4", &Passes::default(), &options.native)?;
        print_line!("l2l3acl from P4 to a loaded switch: {:.2} s", compiled.as_secs_f64());
    }
    heard.loads.iter().for_each(|load| print_line!("{load}"));
    print(&if options.sweep { sweep::table(&heard.records) } else { table(&heard.records) })?;
    print_line!("");
    if heard.records.iter().any(report::lacks_large_pages) {
        print_line!(
            "rows marked with pages were measured without large pages throughout: every lookup costs more there"
        );
    }
    if let Some(hint) = options.machine.as_deref().and_then(calibrate::hint_of) {
        print_line!("{hint}");
    }
    heard.notes.iter().for_each(|note| print_line!("note: {note}"));
    heard.wrong.iter().for_each(|wrong| print_line!("wrong: {wrong}"));
    let has_table = options.sweep || heard.records.iter().any(|record| !record.case.experiment.is_of_paper());
    if let Some(folder) = options.out.as_ref().filter(|_| has_table) {
        print_line!(
            "records, table and picture: {}",
            folder.join(format!("{}.{{json,txt,svg}}", name(options))).display()
        );
    }
    Ok(())
}
