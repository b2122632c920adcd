//! `bacus bench`: what the applications cost on this machine under several plans, beside programs written by hand on the same packets.
//!
//! Each cell of the table is measured by processes of their own, for memory lies otherwise in each; medians over them are what is said.

mod cell;
mod chart;
mod check;
mod counted;
mod dpdk_tree;
mod entry;
mod gauge;
mod peers;
mod random;
mod report;
mod runner;
mod sweep;
mod times;
mod traffic;
mod variants;
mod workload;

use crate::calibrate;
use crate::compile;
use crate::failure::Failure;
use crate::options::{Native, Passes};
use cell::{Cell, Found};
use indicatif::{ProgressBar, ProgressStyle};
use report::Record;
use runtime::{attention, clock};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};
use workload::{APPLICATIONS, Application};

pub const EXAMPLES: &str = "\
Examples:
  bacus bench                                 all applications
  bacus bench --quick                         a few cells, in a few minutes
  bacus bench l2fwd ipv4fwd --out out/bench   two of them; records, table and picture into out/bench
  bacus bench --sweep --out out/sweep         is the model's pick the best plan?
  bacus bench ipv4fwd --sizes 100000 --only best,peer:lpm --plan pinned.plan
Run it where the applications' sources are: below the project's directory.";

/// Drops are measured here, by so many percent of the packets.
const DROPS: (&str, u64, [u32; 3]) = ("ipv4fwd", 100_000, [1, 4, 17]);

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
    /// Plan for the machine of this file of `bacus calibrate` [default: machines/HOST.toml, else it is calibrated first]
    #[arg(long, value_name = "FILE")]
    machine: Option<PathBuf>,
    /// IPv4 routes, `ADDRESS/LENGTH NEXTHOP` a line; may be compressed by gzip [default: made, with the lengths of a real table]
    #[arg(long, value_name = "FILE")]
    rib: Option<PathBuf>,
    /// DPDK's source tree, of the version that is installed: SWX programs run as the C that DPDK writes for them
    #[arg(long, value_name = "DIR")]
    dpdk: Option<PathBuf>,
    /// Leave the drops experiment out
    #[arg(long)]
    no_drops: bool,
    /// Measure a grid of plans around the one that the model picks, instead of peers, and say how far the pick is from the best
    #[arg(long)]
    sweep: bool,
    /// Measure one cell, in this process
    #[arg(long, hide = true)]
    cell: Option<Cell>,
    #[command(flatten)]
    native: Native,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    attention::be_ordinary();
    match &arguments.cell {
        Some(cell) => cell::run(cell, arguments),
        None => all(&calibrated(arguments)?),
    }
}

/// With a machine file: without one of this processor, the machine is measured now. What plans were made for is kept beside the records.
fn calibrated(arguments: &Arguments) -> Result<Arguments, Failure> {
    let mut arguments = arguments.clone();
    let file = match &arguments.machine {
        Some(file) => file.clone(),
        None => calibrate::at_hand(arguments.native.cc.as_deref())?,
    };
    println!("machine file: {}", file.display());
    if let Some(folder) = &arguments.out {
        // One that cannot be read is warned about where plans are made.
        if let Ok(text) = fs::read(&file) {
            compile::write(&folder.join("machine.toml"), &text)?;
        }
    }
    arguments.machine = Some(file);
    Ok(arguments)
}

/// What all processes have said.
#[derive(Default)]
struct Heard {
    records: Vec<Record>,
    loads: Vec<String>,
    /// Variants that sent wrong packets, and cells that failed.
    wrong: Vec<String>,
    notes: Vec<String>,
}

fn all(arguments: &Arguments) -> Result<(), Failure> {
    let cells = cells(arguments)?;
    let style = ProgressStyle::with_template("bench {bar:40} {pos}/{len} {elapsed} {wide_msg}");
    let bar = ProgressBar::new(cells.len() as u64).with_style(style.expect("the template is valid"));
    bar.enable_steady_tick(Duration::from_millis(500));
    let (ticks_per_us, mut heard) = (ticks_per_us(), Heard::default());
    for cell in &cells {
        measure(cell, arguments, ticks_per_us, &bar, &mut heard);
        bar.inc(1);
        // A long run that is interrupted has not been for nothing.
        if let Some(folder) = &arguments.out {
            write(folder, &heard.records, arguments.sweep)?;
        }
    }
    bar.finish_and_clear();
    say(&heard, arguments)?;
    if heard.wrong.is_empty() { Ok(()) } else { Err(Failure::Said) }
}

fn cells(arguments: &Arguments) -> Result<Vec<Cell>, Failure> {
    let known = || APPLICATIONS.iter().map(|application| application.name).collect::<Vec<_>>().join(", ");
    if let Some(unknown) = arguments.applications.iter().find(|name| workload::application(name).is_none()) {
        return Err(Failure::input(format!("there is no application `{unknown}`; there are {}", known())));
    }
    let is_chosen =
        |name: &str| arguments.applications.is_empty() || arguments.applications.iter().any(|chosen| chosen == name);
    let mut cells = Vec::new();
    for application in APPLICATIONS.iter().filter(|application| is_chosen(application.name)) {
        for size in sizes(application, arguments) {
            cells.push(Cell { application: application.name.to_string(), size, dropped: 0 });
        }
    }
    let (name, size, percents) = DROPS;
    if is_chosen(name) && !arguments.no_drops && !arguments.sweep && !arguments.quick && arguments.sizes.is_empty() {
        let cell = |dropped| Cell { application: name.to_string(), size, dropped };
        cells.extend(percents.map(cell));
    }
    Ok(cells)
}

/// Sizes of a sweep: small, middle and large tables.
const SWEPT: [(&str, [u64; 3]); 4] = [
    ("l2fwd", [256, 65_536, 1 << 20]),
    ("ipv4fwd", [1_000, 100_000, 606_138]),
    ("ipv6fwd", [1_000, 50_000, 200_000]),
    ("l2l3acl", [256, 65_536, 1 << 20]),
];

fn sizes(application: &Application, arguments: &Arguments) -> Vec<u64> {
    if arguments.sweep && arguments.sizes.is_empty() {
        let swept = SWEPT.iter().find(|(name, _)| *name == application.name);
        return swept.map_or(Vec::new(), |(_, sizes)| sizes.to_vec());
    }
    match (&arguments.sizes[..], arguments.quick) {
        ([], false) => application.sizes.to_vec(),
        ([], true) => application.quick.to_vec(),
        (sizes, _) => sizes.to_vec(),
    }
}

/// Runs the processes of a cell and puts together what they find.
fn measure(cell: &Cell, arguments: &Arguments, ticks_per_us: f64, bar: &ProgressBar, heard: &mut Heard) {
    let many = cell.size >= 4 << 20;
    let processes = arguments.processes.unwrap_or(if arguments.quick {
        1
    } else if many {
        2
    } else {
        3
    });
    let mut found: Vec<Found> = Vec::new();
    for process in 0..processes.max(1) {
        let (application, size) = (&cell.application, cell.size);
        bar.set_message(format!("{application} with {size} entries, process {} of {processes}", process + 1));
        if let Err(message) = listen(cell, arguments, &mut found, heard) {
            heard.wrong.push(format!("{cell}: {}", message.trim()));
            return;
        }
    }
    let mut rows: Vec<(&Found, Vec<&Found>)> = Vec::new();
    for one in &found {
        let same =
            |other: &Found| (&other.variant, other.traffic, other.burst) == (&one.variant, one.traffic, one.burst);
        match rows.iter_mut().find(|(first, _)| same(first)) {
            Some((_, all)) => all.push(one),
            None => rows.push((one, vec![one])),
        }
    }
    let mut records: Vec<Record> = rows.iter().map(|(_, all)| report::record(cell, all, ticks_per_us)).collect();
    records.sort_by_key(|record| record.traffic as u8);
    heard.records.extend(records);
}

/// One process; what it says is sorted by its first word.
fn listen(cell: &Cell, arguments: &Arguments, found: &mut Vec<Found>, heard: &mut Heard) -> Result<(), String> {
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let mut child = Command::new(program)
        .args(child_arguments(cell, arguments))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|error| error.to_string())?;
    let output = child.stdout.take().map(BufReader::new);
    for line in output.into_iter().flat_map(|output| output.lines()).map_while(Result::ok) {
        let once = |list: &mut Vec<String>, text: String| {
            if !list.contains(&text) {
                list.push(text);
            }
        };
        match line.split('\t').collect::<Vec<&str>>()[..] {
            ["found", ..] => found.extend(Found::parse(&line)),
            ["load", variant, entries, seconds] => {
                let load = format!("{} {variant}: {entries} entries loaded in {seconds} s", cell.application);
                heard.loads.push(load);
            }
            ["wrong", variant, why] => once(&mut heard.wrong, format!("{cell} {variant}: {why}")),
            ["left", variant, why] => once(&mut heard.notes, format!("{cell} {variant} left out: {why}")),
            ["note", text] => once(&mut heard.notes, text.to_string()),
            _ => once(&mut heard.notes, line),
        }
    }
    let ended = child.wait_with_output().map_err(|error| error.to_string())?;
    if ended.status.success() {
        Ok(())
    } else {
        Err(format!("{} {}", ended.status, String::from_utf8_lossy(&ended.stderr)))
    }
}

fn child_arguments(cell: &Cell, arguments: &Arguments) -> Vec<String> {
    let mut all = vec!["bench".to_string(), "--cell".to_string(), cell.to_string()];
    let mut add = |name: &str, value: String| all.extend([name.to_string(), value]);
    let bursts: Vec<String> = arguments.bursts.iter().map(u32::to_string).collect();
    add("--bursts", bursts.join(","));
    add("--traffic", if cell.dropped == 0 { arguments.traffic.join(",") } else { "uniform".to_string() });
    if !arguments.only.is_empty() {
        add("--only", arguments.only.join(","));
    }
    if arguments.sweep {
        all.push("--sweep".to_string());
    }
    let mut add = |name: &str, value: String| all.extend([name.to_string(), value]);
    let path = |path: &Path| path.display().to_string();
    arguments.plan.iter().for_each(|file| add("--plan", path(file)));
    arguments.machine.iter().for_each(|file| add("--machine", path(file)));
    arguments.rib.iter().for_each(|file| add("--rib", path(file)));
    arguments.dpdk.iter().for_each(|folder| add("--dpdk", path(folder)));
    arguments.native.cc.iter().for_each(|cc| add("--cc", cc.clone()));
    all
}

fn write(folder: &Path, records: &[Record], is_sweep: bool) -> Result<(), Failure> {
    if is_sweep {
        compile::write(&folder.join("sweep.json"), report::json(records).as_bytes())?;
        compile::write(&folder.join("sweep.txt"), sweep::table(records).as_bytes())?;
        let picture = sweep::svg(records).map_err(Failure::environment)?;
        return compile::write(&folder.join("sweep.svg"), picture.as_bytes());
    }
    compile::write(&folder.join("bench.json"), report::json(records).as_bytes())?;
    compile::write(&folder.join("bench.txt"), report::table(records).as_bytes())?;
    let picture = chart::svg(records).map_err(Failure::environment)?;
    compile::write(&folder.join("bench.svg"), picture.as_bytes())
}

fn say(heard: &Heard, arguments: &Arguments) -> Result<(), Failure> {
    if !arguments.quick && arguments.sizes.is_empty() && !arguments.sweep {
        let check = times::check(&compile::cache()?)?;
        println!("check of a program of 1,500 lines: {:.0} ms", check.as_secs_f64() * 1e3);
        let compiled = times::compile_and_load("apps/l2l3acl/l2l3acl.p4", &Passes::default(), &arguments.native)?;
        println!("l2l3acl from P4 to a loaded switch: {:.2} s", compiled.as_secs_f64());
    }
    heard.loads.iter().for_each(|load| println!("{load}"));
    print!("{}", if arguments.sweep { sweep::table(&heard.records) } else { report::table(&heard.records) });
    println!();
    if heard.records.iter().any(report::lacks_large_pages) {
        println!("rows marked with pages were measured without large pages throughout: every look-up costs more there");
    }
    heard.notes.iter().for_each(|note| println!("note: {note}"));
    heard.wrong.iter().for_each(|wrong| println!("wrong: {wrong}"));
    if let Some(folder) = &arguments.out {
        let name = if arguments.sweep { "sweep" } else { "bench" };
        println!("records, table and picture: {}", folder.join(format!("{name}.{{json,txt,svg}}")).display());
    }
    Ok(())
}

/// The counter's rate, against the clock.
fn ticks_per_us() -> f64 {
    let (start, ticks) = (Instant::now(), clock::ticks());
    std::thread::sleep(Duration::from_millis(20));
    (clock::ticks() - ticks) as f64 / start.elapsed().as_micros() as f64
}
