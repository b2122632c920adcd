//! Routers of others beside ours, each between two veth interfaces in network namespaces of its own: packets a second on one core. And TCP between hosts, over
//! our switch and over the kernel's bridge.
//!
//! They take their turns in one process. What is not installed is left out, by name and with the command that installs it.

// To the process that draws the table, as `case`.
#![allow(clippy::print_stdout)]

mod network;
mod routers;
pub mod tcp;

pub use routers::{KERNEL, OWN};

use super::found::Found;
use super::traffic::Traffic;
use crate::options::Options;
use driver::failure::Failure;
use driver::files;
use network::{Network, Running, ended};
use routers::{Place, Router};
use runtime::{Compiler, clock};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

const OFFER: &str = include_str!("../../../../bench/forwarders/offer.c");
/// Runs of each router, and a quick run's; how long each floods.
const RUNS: u32 = 9;
const QUICK_RUNS: u32 = 3;
const RUN_MS: u32 = 500;
/// Runs of TCP and their seconds, and a quick run's.
const TCP_RUNS: (u32, u32) = (5, 3);
const QUICK_TCP_RUNS: (u32, u32) = (1, 2);
/// A router has so long to start, beside its runs.
const TIMEOUT: Duration = Duration::from_secs(60);

pub fn run(options: &Options) -> Result<(), Failure> {
    let folder = std::env::temp_dir().join(format!("bacus-forwarders-{}", std::process::id()));
    fs::create_dir_all(&folder).map_err(|error| Failure::unwritable(&folder, &error))?;
    let measured = offer(&folder, options, &[]).map(|offer| all(&offer, &folder, options));
    drop(fs::remove_dir_all(&folder));
    measured
}

/// Compiles the source of packets.
fn offer(folder: &Path, options: &Options, flags: &[&str]) -> Result<PathBuf, Failure> {
    let (source, program) = (folder.join("offer.c"), folder.join("offer"));
    files::write(&source, OFFER.as_bytes())?;
    let compiler = Compiler::find(options.native.cc.as_deref())?;
    let built = Command::new(compiler.command())
        .args(["-std=gnu11", "-O2", "-Wall", "-Wextra"])
        .args(flags)
        .arg(&source)
        .arg("-o")
        .arg(&program)
        .output()
        .map_err(|error| Failure::environment(error.to_string()))?;
    let failed = || Failure::environment(String::from_utf8_lossy(&built.stderr).into_owned());
    if built.status.success() { Ok(program) } else { Err(failed()) }
}

fn all(offer: &Path, folder: &Path, options: &Options) {
    if let Err(why) = routers::may_run() {
        return println!("note\trouters between veth interfaces are not measured: {}", one_line(&why));
    }
    let (frequency, cpus) = (ticks_per_second(), thread::available_parallelism().map_or(1, usize::from));
    let runs = if options.quick { QUICK_RUNS } else { RUNS };
    for router in &routers::ALL {
        println!("step\tmeasuring {}", router.name);
        if let Some(why) = router.lacks() {
            println!("note\t{} is left out: {}", router.name, one_line(&why));
            continue;
        }
        match rates(router, offer, folder, (runs, cpus)) {
            Ok(rates) => println!("{}", found(router.name, &rates, frequency).line()),
            Err(why) => println!("note\t{} is left out: {}", router.name, one_line(&why)),
        }
    }
    let runs = if options.quick { QUICK_TCP_RUNS } else { TCP_RUNS };
    for variant in tcp::ALL {
        println!("step\tmeasuring {variant}");
        match tcp::lacks().map_or_else(|| tcp::rates(variant, folder, runs), Err) {
            Ok(rates) => println!("{}", found(variant, &rates, frequency).line()),
            Err(why) => println!("note\t{variant} is left out: {}", one_line(&why)),
        }
    }
}

fn one_line(text: &str) -> String {
    text.trim().replace(['\n', '\t'], " ")
}

/// Packets a second of each run, from the least to the most.
fn rates(router: &Router, offer: &Path, folder: &Path, (runs, cpus): (u32, usize)) -> Result<Vec<f64>, String> {
    let folder = folder.join(router.name.replace(':', "-"));
    fs::create_dir_all(&folder).map_err(|error| error.to_string())?;
    let network = Network::new()?;
    let place = Place { network: &network, folder: &folder, cpu: cpus - 1 };
    let _running = (router.start)(&place).map_err(|why| with_logs(&why, &folder))?;
    let mut source = network.inside(&network.ends, &offer.display().to_string());
    source.args([RUN_MS.to_string(), runs.to_string(), "0".to_string()]);
    let output = folder.join("offered");
    let file = fs::File::create(&output).map_err(|error| error.to_string())?;
    let errors = file.try_clone().map_err(|error| error.to_string())?;
    let child = source.stdin(Stdio::null()).stdout(file).stderr(errors).spawn().map_err(|error| error.to_string())?;
    let mut child = Running(child);
    let status = ended(&mut child.0, TIMEOUT + Duration::from_millis(u64::from(runs * RUN_MS)))?;
    let text = fs::read_to_string(&output).unwrap_or_default();
    if !status.success() {
        return Err(with_logs(text.trim(), &folder));
    }
    let mut rates: Vec<f64> = text.lines().filter_map(rate).collect();
    rates.sort_by(f64::total_cmp);
    if rates.is_empty() { Err(format!("no rate in `{}`", text.trim())) } else { Ok(rates) }
}

/// What a router has written, behind the reason why it was not measured.
fn with_logs(why: &str, folder: &Path) -> String {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let logs = entries.filter(|path| path.extension().is_some_and(|ending| ending == "log"));
    let text: String = logs.filter_map(|path| fs::read_to_string(path).ok()).collect();
    let last: Vec<&str> = text.lines().rev().take(3).collect();
    if last.is_empty() {
        why.to_string()
    } else {
        format!("{why}: {}", last.into_iter().rev().collect::<Vec<_>>().join("; "))
    }
}

/// Of `offered N forwarded N nanoseconds N`.
fn rate(line: &str) -> Option<f64> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let ["offered", _, "forwarded", forwarded, "nanoseconds", nanoseconds] = words[..] else { return None };
    let (forwarded, nanoseconds): (f64, f64) = (forwarded.parse().ok()?, nanoseconds.parse().ok()?);
    (forwarded > 0.0).then(|| forwarded / nanoseconds * 1e9)
}

fn found(variant: &str, rates: &[f64], frequency: f64) -> Found {
    let (median, least, most) = (rates[rates.len() / 2], rates[0], rates[rates.len() - 1]);
    Found {
        variant: variant.to_string(),
        traffic: Traffic::Uniform,
        burst: 64,
        cycles: frequency / median,
        lookups: None,
        accesses: None,
        floor: 0.0,
        spread: (most - least) / 2.0 / median,
        predicted: None,
        committed: None,
        limit: frequency / median,
        drift: 0.0,
        pages: "none".to_string(),
    }
}

/// The counter's rate, against the clock.
fn ticks_per_second() -> f64 {
    let (start, ticks) = (Instant::now(), clock::ticks());
    thread::sleep(Duration::from_millis(20));
    (clock::ticks() - ticks) as f64 / start.elapsed().as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_of_what_was_forwarded() {
        assert_eq!(rate("offered 900 forwarded 500 nanoseconds 1000000"), Some(500_000.0));
        assert_eq!(rate("offered 900 forwarded 0 nanoseconds 1000000"), None);
        assert_eq!(rate("in0: no such device"), None);
    }

    /// With sanitizers: the kernel's router, where namespaces are allowed.
    #[test]
    fn the_kernel_forwards_what_is_offered() {
        if let Err(why) = routers::may_run() {
            return eprintln!("skipped: {why}");
        }
        let folder = std::env::temp_dir().join(format!("bacus-forwarders-test-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a folder");
        let flags = [
            "-Wpedantic",
            "-Wshadow",
            "-Werror",
            "-g",
            "-fsanitize=address,undefined",
            "-fno-sanitize-recover=undefined",
        ];
        let offer = offer(&folder, &Options::default(), &flags).unwrap_or_else(|failure| panic!("{failure:?}"));
        let kernel = routers::ALL.iter().find(|router| router.name == KERNEL).expect("it is there");
        let rates = rates(kernel, &offer, &folder, (1, 1)).expect("the kernel forwards");
        assert!(rates[0] > 1000.0, "{rates:?}");
        // A router that is not there.
        let none = Router { name: "none", needs: &[], hint: "", start: |_| Err("it does not start".to_string()) };
        assert_eq!(self::rates(&none, &offer, &folder, (1, 1)), Err("it does not start".to_string()));
        fs::remove_dir_all(folder).expect("it is there");
    }
}
