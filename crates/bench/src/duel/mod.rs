//! The duel: freeRtr's router.p4 as compiled by bacus beside freeRtr's own data plane in C, on the same port, packets and entries.
//!
//! Both are files of other projects, in directories that the user has. Each row is measured in a process, and what the two send is compared byte by byte.

mod messages;
mod packets;

use super::experiment;
use super::peers::FREERTR_NAME;
use super::report::{self, Record};
use super::resume_log::ResumeLog;
use super::scheduler::{self, Heard, Scheduler};
use super::time_left::TimeLeft;
use super::traffic::SEED;
use super::variants::{SPECIALISED, SPECIALISED_STAGED};
use super::workload::prefixes;
use crate::options::{Beside, Options};
use driver::entries::Origin;
use driver::failure::Failure;
use driver::files;
use driver::options::Warnings;
use driver::pcap;
use driver::random::Random;
use driver::stdout::print_line;
use packets::Kind;
use std::fs;
use std::net::Ipv4Addr;
use std::path::{Path, PathBuf};

/// The program and the C, below checkouts of two projects.
const PROGRAM: &str = "02-PE-labs/p4src/router.p4";
const NATIVE: &str = "misc/native";
/// A file that `NATIVE` must have.
const DATA_PLANE: &str = "p4emu_full.c";
/// Where router.p4 declares its sizes.
const SIZES: &str = "include/cst_table_size.p4";
const LPM_SIZE: &str = "#define IPV4_LPM_TABLE_SIZE";

const ROUTES: [u64; 3] = [1_000, 100_000, 600_000];
/// Of the routes that are added to those of freeRtr's bench.
const NEXTHOPS: u64 = 64;
const FIRST_NEXTHOP: u64 = 2_000;
const VRF: u32 = 12;
const PACKETS_TO_A_ROUTE: u64 = 4;
const FEWEST_PACKETS: u64 = 4096;
const BURSTS: [u32; 2] = [32, 64];
/// Asked of `specialised`, in cycles of the C.
const GOALS: [(u64, f64); 2] = [(0, 1.0), (600_000, 0.7)];

/// A line of the table.
struct Row {
    kind: Kind,
    /// Routes beside those of freeRtr's bench.
    routes: u64,
}

impl Row {
    fn name(&self) -> String {
        if self.routes == 0 { self.kind.name.to_string() } else { format!("{}-{}", self.kind.name, self.routes) }
    }

    /// What `specialised` is to need at most, of the C's cycles.
    fn goal(&self) -> Option<f64> {
        GOALS.iter().find(|(routes, _)| *routes == self.routes).map(|(_, goal)| *goal)
    }
}

fn rows(options: &Options) -> Vec<Row> {
    let kinds = packets::KINDS.iter().map(|kind| Row { kind: *kind, routes: 0 });
    let routes: &[u64] = match (&options.sizes[..], options.quick) {
        ([], true) => &ROUTES[..1],
        ([], false) => &ROUTES,
        (sizes, _) => sizes,
    };
    kinds.chain(routes.iter().map(|routes| Row { kind: packets::IPV4, routes: *routes })).collect()
}

/// Where both are.
struct Checkouts {
    program: PathBuf,
    native: PathBuf,
}

impl Checkouts {
    /// Each may lie in a directory that is named, or directly below one.
    fn find(directories: &[PathBuf]) -> Result<Checkouts, Failure> {
        let mut all = directories.to_vec();
        for directory in directories {
            let below = fs::read_dir(directory).into_iter().flatten().flatten().map(|entry| entry.path());
            let mut below: Vec<PathBuf> = below.filter(|path| path.is_dir()).collect();
            below.sort();
            all.extend(below);
        }
        let find = |path: &str| all.iter().map(|directory| directory.join(path)).find(|path| path.is_file());
        let lacking = |path: &str, project: &str| {
            let hint = format!(
                "hint: git clone https://github.com/rare-freertr/{project}, and name it: make duel RARE=\"RARE-bmv2 freeRtr\""
            );
            Failure::input(format!("no directory has {path}, nor one directly below\n{hint}"))
        };
        let program = find(PROGRAM).ok_or_else(|| lacking(PROGRAM, "RARE-bmv2"))?;
        let data_plane = format!("{NATIVE}/{DATA_PLANE}");
        let native = find(&data_plane).ok_or_else(|| lacking(&data_plane, "freeRtr"))?;
        let native = native.parent().unwrap_or(Path::new(".")).to_path_buf();
        let native = fs::canonicalize(&native).map_err(|error| Failure::unreadable(&native, &error))?;
        Ok(Checkouts { program, native })
    }

    /// Messages of freeRtr's bench.
    fn messages(&self) -> Result<Vec<String>, Failure> {
        let text = files::text(&self.native.join("p4emu_bench_cmds.txt"))?;
        Ok(text.lines().map(str::trim).filter(|line| !line.is_empty()).map(str::to_string).collect())
    }

    fn frame(&self, kind: Kind) -> Result<Vec<u8>, Failure> {
        let file = self.native.join(format!("p4emu_bench_{}.txt", kind.name));
        let frame = kind.frame(&files::text(&file)?);
        frame.map_err(|message| Failure::input(format!("{}: {message}", file.display())))
    }

    /// The program, with room for so many routes: where it declares fewer, a copy in which the size of its IPv4 tables is raised.
    fn program(&self, routes: u64, folder: &Path) -> Result<PathBuf, Failure> {
        if routes == 0 {
            return Ok(self.program.clone());
        }
        let from = self.program.parent().unwrap_or(Path::new("."));
        for (source, below) in [(from.to_path_buf(), ""), (from.join("include"), "include")] {
            let entries = fs::read_dir(&source).map_err(|error| Failure::unreadable(&source, &error))?;
            for path in entries.flatten().map(|entry| entry.path()) {
                if path.extension().is_some_and(|ending| ending == "p4") {
                    let name = path.file_name().unwrap_or_default();
                    files::write(&folder.join(below).join(name), files::text(&path)?.as_bytes())?;
                }
            }
        }
        let sizes = folder.join(SIZES);
        let room = (routes + 2 * NEXTHOPS).next_power_of_two();
        let resized = |line: &str| match line.starts_with(LPM_SIZE) {
            true => format!("{LPM_SIZE} {room}\n"),
            false => format!("{line}\n"),
        };
        let text: String = files::text(&sizes)?.lines().map(resized).collect();
        files::write(&sizes, text.as_bytes())?;
        Ok(folder.join("router.p4"))
    }
}

/// What a row is measured with, as files.
struct Written {
    program: PathBuf,
    entries: PathBuf,
    packets: PathBuf,
    messages: PathBuf,
}

fn written(row: &Row, checkouts: &Checkouts, folder: &Path) -> Result<Written, Failure> {
    let mut messages = checkouts.messages()?;
    let frame = checkouts.frame(row.kind)?;
    let mut frames = vec![frame.clone()];
    if row.routes > 0 {
        let prefixes = prefixes::made(row.routes);
        let nexthop = |number: u64| FIRST_NEXTHOP + number % NEXTHOPS;
        let gateway = |number: u64| Ipv4Addr::from(0xc0a8_0200 + (number % NEXTHOPS) as u32);
        messages.extend((0..NEXTHOPS).map(|number| {
            let (id, gateway) = (nexthop(number), gateway(number));
            format!("neigh4_add {id} {gateway} 02:aa:00:00:00:{number:02x} {VRF} 02:bb:00:00:00:01 0")
        }));
        messages.extend((0u64..).zip(&prefixes).map(|(number, prefix)| {
            let (address, length) = (Ipv4Addr::from(prefix.address), prefix.length);
            format!("route4_add {address}/{length} {} {} {VRF}", nexthop(number), gateway(number))
        }));
        let mut random = Random::new(SEED);
        let packet = |_| {
            let prefix = prefixes[random.below(row.routes) as usize];
            row.kind.to(&frame, prefixes::inside(prefix, &mut random))
        };
        frames = (0..(row.routes * PACKETS_TO_A_ROUTE).max(FEWEST_PACKETS)).map(packet).collect();
    }
    let (mut native, mut entries) = (String::new(), String::new());
    for message in &messages {
        let (message, translated) = messages::translate(message).map_err(Failure::input)?;
        native.push_str(&(message + "\n"));
        translated.into_iter().for_each(|entry| entries.push_str(&(entry + "\n")));
    }
    let folder = folder.join(row.name());
    let files_of = Written {
        program: checkouts.program(row.routes, &folder.join("p4src"))?,
        entries: folder.join("entries.stf"),
        packets: folder.join("packets.pcap"),
        messages: folder.join("messages.txt"),
    };
    files::write(&files_of.entries, entries.as_bytes())?;
    files::write(&files_of.packets, &pcap::bytes_of(&frames))?;
    files::write(&files_of.messages, native.as_bytes())?;
    Ok(files_of)
}

/// What a row cost, each at its best burst.
#[derive(Clone, Copy, Debug)]
struct Score {
    plain: f64,
    best: f64,
    specialised: f64,
    freertr: f64,
    /// What the port takes of each.
    port: f64,
}

impl Score {
    fn of(records: &[Record]) -> Option<Score> {
        let least = |variant: &str| {
            let rows = records.iter().filter(|record| record.variant == variant);
            rows.map(|record| record.cycles).min_by(f64::total_cmp)
        };
        let port = records.first()?.floor;
        let (plain, best) = (least("plain")?, least("best")?);
        // A running switch measures both, and keeps the faster one.
        let specialised = [SPECIALISED, SPECIALISED_STAGED].into_iter().filter_map(least).min_by(f64::total_cmp)?;
        Some(Score { plain, best, specialised, freertr: least(FREERTR_NAME)?, port })
    }
}

pub fn run(options: &Options) -> Result<(), Failure> {
    let checkouts = Checkouts::find(&options.directories)?;
    let folder = match &options.out {
        Some(folder) => folder.clone(),
        None => files::cache()?.root().join("duel"),
    };
    print_line!("cycles per packet, those of the port among them; bytes: are those of freeRtr's C the program's?");
    print_line!(
        "{:<6} {:>7} {:>7} {:>7} {:>11} {:>8} {:>6}  {:>12} {:>19}  bytes",
        "packet",
        "routes",
        "plain",
        "best",
        SPECIALISED,
        "freeRtr",
        "port",
        "best/freeRtr",
        "specialised/freeRtr"
    );
    let (mut records, mut notes, mut failed, mut missed) = (Vec::new(), Vec::new(), 0, 0);
    for row in rows(options) {
        let (name, routes) = (row.kind.name, row.routes);
        let (score, heard) = match scored(&row, &checkouts, &folder, options) {
            Ok(scored) => scored,
            Err(why) => {
                failed += 1;
                print_line!("{name:<6} {routes:>7} failed: {why}");
                continue;
            }
        };
        let Score { plain, best, specialised, freertr, port } = score;
        let bytes = if heard.wrong.is_empty() { "same" } else { "differ" };
        let (of_best, of_specialised) = (best / freertr, specialised / freertr);
        print_line!(
            "{name:<6} {routes:>7} {plain:>7.1} {best:>7.1} {specialised:>11.1} {freertr:>8.1} {port:>6.1}  {of_best:>12.2} {of_specialised:>19.2}  {bytes}"
        );
        missed += usize::from(row.goal().is_some_and(|goal| of_specialised > goal));
        failed += usize::from(!heard.wrong.is_empty());
        notes.extend(heard.wrong.iter().map(|wrong| format!("{}: {wrong}", row.name())));
        records.extend(heard.records.into_iter().map(|mut record| {
            record.case.application = format!("duel-{}", row.name());
            record
        }));
    }
    if let Some(folder) = &options.out {
        files::write(&folder.join("duel.json"), report::json(&records).as_bytes())?;
    }
    notes.iter().for_each(|note| print_line!("{note}"));
    let [(_, five), (routes, many)] = GOALS;
    print_line!(
        "goals of {SPECIALISED}/freeRtr: {five:.1} for the five packets, {many:.1} with {routes} routes; missed in {missed} rows"
    );
    if failed == 0 { Ok(()) } else { Err(Failure::Reported) }
}

/// What a row cost, or why that is not known.
fn scored(row: &Row, checkouts: &Checkouts, folder: &Path, options: &Options) -> Result<(Score, Heard), String> {
    let first_line = |failure: Failure| failure.message().lines().next().unwrap_or_default().to_string();
    let written = written(row, checkouts, folder).map_err(first_line)?;
    let heard = measured(written, checkouts, options).map_err(first_line)?;
    match Score::of(&heard.records) {
        Some(score) => Ok((score, heard)),
        None => Err(heard.wrong.iter().chain(&heard.notes).cloned().collect::<Vec<_>>().join("; ")),
    }
}

fn measured(written: Written, checkouts: &Checkouts, options: &Options) -> Result<Heard, Failure> {
    let options = Options {
        applications: vec![written.program.display().to_string()],
        entries: vec![Origin::File(written.entries)],
        packets: Some(written.packets),
        warnings: Warnings { disable: vec![String::new()], ..Warnings::default() },
        only: vec![
            "best".to_string(),
            SPECIALISED.to_string(),
            SPECIALISED_STAGED.to_string(),
            FREERTR_NAME.to_string(),
        ],
        bursts: BURSTS.to_vec(),
        sizes: Vec::new(),
        out: None,
        quick: true,
        duel: false,
        beside: Some(Beside { native: checkouts.native.clone(), messages: written.messages }),
        ..options.clone()
    };
    let cases = experiment::cases(&options)?;
    let log = ResumeLog::open(None, "duel", "")?;
    let mut time = TimeLeft::new(scheduler::count(&options, &cases));
    Scheduler::new(&options, cases, log, &mut time)?.run(|_| Ok(()))
}
