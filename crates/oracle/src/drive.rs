//! Random programs one after another, until a number or a time is reached; what differs is reduced and written down.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::architecture::{Architecture, Architectures};
use crate::compare::{Difference, Kind, Outcome, expected, judge, present, with_expectations};
use crate::custom;
use crate::generate::{Case, generate};
use crate::preprocess::joined;
use crate::reduce::{Reduced, reduce, signature};
use crate::routers;
use crate::scheduled::Compared;

/// One seed in so many has a router, too.
const ROUTERS: u64 = 4;

/// How long a program may be reduced. Another one with the same sentence is not reduced again.
const REDUCTION: Duration = Duration::from_secs(90);

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Programs(u64),
    Time(Duration),
}

pub struct Settings {
    pub seed: u64,
    pub limit: Limit,
    pub threads: usize,
    /// Where programs that differ are written; without it they are only reported.
    pub out: Option<PathBuf>,
    /// The command `bacus`, and of how many programs one runs as native code, too.
    pub native: Option<(PathBuf, u64)>,
}

#[derive(Debug, Default)]
pub struct Summary {
    pub programs: u64,
    pub packets: u64,
    /// Programs that use a value that nothing defines: they are left out.
    pub undefined: Vec<u64>,
    pub native: u64,
    pub compared: Compared,
    pub failures: Vec<(u64, Difference)>,
}

/// Runs programs from a seed on. `report` gets each one that differs as it is found.
pub fn drive(architectures: &Architectures, settings: &Settings, report: &(dyn Fn(&str) + Sync)) -> Summary {
    let start = Instant::now();
    let next = AtomicU64::new(settings.seed);
    let summary = Mutex::new(Summary::default());
    let goes_on = |seed: u64| match settings.limit {
        Limit::Programs(count) => seed - settings.seed < count,
        Limit::Time(time) => start.elapsed() < time,
    };
    std::thread::scope(|scope| {
        for _ in 0..settings.threads.max(1) {
            scope.spawn(|| {
                loop {
                    let seed = next.fetch_add(1, Ordering::Relaxed);
                    if !goes_on(seed) {
                        break;
                    }
                    one(architectures, generate(seed), settings, &summary, report);
                    if seed.is_multiple_of(ROUTERS) {
                        one(architectures, routers::generate(seed), settings, &summary, report);
                    }
                }
            });
        }
    });
    let mut summary = summary.into_inner().unwrap_or_else(std::sync::PoisonError::into_inner);
    summary.failures.sort_by_key(|(seed, _)| *seed);
    summary
}

fn one(
    architectures: &Architectures,
    case: Case,
    settings: &Settings,
    summary: &Mutex<Summary>,
    report: &(dyn Fn(&str) + Sync),
) {
    let seed = case.seed;
    let mut outcome = judge(&joined(architectures.text(case.architecture), &case.program), &case.lines);
    let mut on_native = false;
    if let (Outcome::Same { .. }, Some((bacus, every))) = (&outcome, &settings.native)
        && is_native(seed, (*every).max(1))
    {
        on_native = true;
        let texts = (case.architecture, architectures);
        if let different @ Outcome::Different(_) = native(texts, bacus, &case.program, &case.lines, &scratch(seed)) {
            outcome = different;
        }
    }
    let Ok(mut sums) = summary.lock() else { return };
    sums.programs += 1;
    sums.native += u64::from(on_native);
    match outcome {
        Outcome::Same { packets, compared } => {
            sums.packets += packets as u64;
            sums.compared.add(&compared);
        }
        Outcome::Undefined(_) => sums.undefined.push(seed),
        Outcome::Different(difference) => {
            let is_known = sums.failures.iter().any(|(_, known)| {
                known.kind == difference.kind
                    && (known.kind != Kind::Packets && signature(&known.message) == signature(&difference.message))
            });
            sums.failures.push((seed, difference.clone()));
            drop(sums);
            let line = difference.message.lines().next().unwrap_or("").to_string();
            report(&format!("seed {seed}: {}: {line}", difference.kind.name()));
            if let (Some(out), false) = (&settings.out, is_known) {
                write_reduced(architectures, case, difference, (out, settings), report);
            }
        }
    }
}

/// Whether a program of a seed runs as native code, too: one in `every`, of each architecture.
fn is_native(seed: u64, every: u64) -> bool {
    (seed + seed / every).is_multiple_of(every)
}

/// The exit status of `bacus stf` where a test fails; others mean that it was not run.
const PACKETS_DIFFER: i32 = 1;

/// A file name in the system's directory for them, of this process alone.
fn scratch(seed: u64) -> PathBuf {
    std::env::temp_dir().join(format!("oracle-{}-{seed}", std::process::id()))
}

/// Whether nothing is written behind the first packet: code that is specialised refuses that.
fn is_configured_first(lines: &[String]) -> bool {
    let words = lines.iter().filter_map(|line| line.split_whitespace().next());
    let of_packets = ["packet", "expect", "no_packet", "wait", "#"];
    words.skip_while(|word| *word != "packet").all(|word| of_packets.contains(&word))
}

/// Runs a program as native code, packet by packet, in bursts, and specialised for its entries, against what the evaluator
/// expects.
fn native(
    (architecture, architectures): (Architecture, &Architectures),
    bacus: &Path,
    program: &str,
    lines: &[String],
    base: &Path,
) -> Outcome {
    let failed = |kind: Kind, message: String| Outcome::Different(Difference { kind, message });
    let text = joined(architectures.text(architecture), program);
    // What the interpreter does not run either is no fault of native code.
    match judge(&text, lines) {
        Outcome::Same { .. } => {}
        other @ (Outcome::Undefined(_) | Outcome::Different(_)) => return other,
    }
    let parsed = p4::parse("program.p4", &text);
    let sent = match expected(&parsed, lines) {
        Ok((sent, _)) => sent,
        Err(stop) => return failed(Kind::Unknown, format!("{stop:?}")),
    };
    let files = [base.with_extension("p4"), base.with_extension("stf")];
    let texts = [architecture.standalone(program), with_expectations(&present(&parsed, lines), &sent)];
    for (file, text) in files.iter().zip(texts) {
        if let Err(error) = std::fs::write(file, text) {
            return failed(Kind::NotRun, format!("{}: {error}", file.display()));
        }
    }
    let code = base.with_extension("c");
    let source = custom::source(program);
    if let Some(Err(error)) = source.as_ref().map(|source| std::fs::write(&code, source)) {
        return failed(Kind::NotRun, format!("{}: {error}", code.display()));
    }
    let mut outcome = Outcome::Same { packets: sent.len(), compared: Compared::default() };
    let mut ways: Vec<&[&str]> = vec![&["--burst", "1"], &["--burst", "64"]];
    if is_configured_first(lines) {
        ways.push(&["--burst", "64", "--specialise"]);
    }
    for way in ways {
        let mut command = Command::new(bacus);
        command.args(["stf", "--engine", "native", "--Wdisable"]).args(way).args(&files);
        if source.is_some() {
            command.arg("--extern").arg(&code);
        }
        match command.output() {
            Ok(ran) if ran.status.success() => {}
            Ok(ran) => {
                let printed = [ran.stdout, ran.stderr].map(|text| String::from_utf8_lossy(&text).into_owned()).concat();
                let kind = if ran.status.code() == Some(PACKETS_DIFFER) { Kind::Native } else { Kind::NotCompiled };
                outcome = failed(kind, format!("{}: {printed}", way.join(" ")));
                break;
            }
            Err(error) => return failed(Kind::NotRun, format!("{}: {error}", bacus.display())),
        }
    }
    files.iter().chain([&code]).for_each(|file| drop(std::fs::remove_file(file)));
    outcome
}

fn write_reduced(
    architectures: &Architectures,
    case: Case,
    difference: Difference,
    (out, settings): (&Path, &Settings),
    report: &(dyn Fn(&str) + Sync),
) {
    let seed = case.seed;
    let (kind, architecture) = (difference.kind, case.architecture);
    let declared = architectures.text(architecture);
    let found = Reduced { program: case.program, lines: case.lines, difference };
    let base = scratch(seed);
    let on_both = |program: &str, lines: &[String]| match (kind, &settings.native) {
        (Kind::Native | Kind::NotCompiled, Some((bacus, _))) => {
            native((architecture, architectures), bacus, program, lines, &base)
        }
        _ => judge(&joined(declared, program), lines),
    };
    let reduced = reduce(declared, found, REDUCTION, &on_both);
    let parsed = p4::parse("program.p4", &joined(declared, &reduced.program));
    let sent = expected(&parsed, &reduced.lines).map_or_else(|_| Vec::new(), |(sent, _)| sent);
    let message: String = reduced.difference.message.lines().map(|line| format!("# {line}\n")).collect();
    let stf = format!("# seed {seed}: {}\n{message}{}", kind.name(), with_expectations(&reduced.lines, &sent));
    let written = std::fs::create_dir_all(out)
        .and_then(|()| std::fs::write(out.join(format!("{seed}.p4")), architecture.standalone(&reduced.program)))
        .and_then(|()| std::fs::write(out.join(format!("{seed}.stf")), stf));
    match written {
        Ok(()) => report(&format!("seed {seed}: reduced to {}", out.join(format!("{seed}.p4")).display())),
        Err(error) => report(&format!("seed {seed}: {}: {error}", out.display())),
    }
}
