//! The calibration: measures this machine and writes what the planners need to know of it.

mod compare;
mod device;
pub mod draw;
mod echo;
mod lanes;
mod mbuf;
mod measure;
mod port;
mod saturation;
mod smooth;
mod stages;
mod time_budget;

use device::Bench;
use driver::failure::Failure;
use driver::files;
use driver::machine_file::{cpu, default_file, in_cache, of_this_processor};
use driver::ports;
use echo::Echo;
use indicatif::{ProgressBar, ProgressStyle};
use mbuf::Mbufs;
pub use measure::{Measured, kernel, size_name, window_now};
use opt::inputs::machine::Port;
use opt::inputs::{Access, Machine};
use opt::model::cache_line::SMALL_PAGE;
pub use port::Pace;
use runtime::{Compiler, Probe, core_isolation};
pub use saturation::Saturation;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use time_budget::TimeBudget;

/// A machine of which the samples of one point differ by more than this is too busy to be measured.
const TOO_NOISY: f64 = 0.15;

/// Where pages are large at all levels, to find out where a line lies takes less than this.
const TRANSLATED: f64 = 1.5;
/// Bytes of so many small pages that no core remembers where all of them lie.
const MANY_PAGES: u64 = 32 << 20;

/// Time that must be left to begin with DPDK: half is for the C compiler.
const ENOUGH_FOR_DPDK: Duration = Duration::from_secs(18);

/// Kept for a port at hand where the machine is measured first.
const FOR_PORT: Duration = Duration::from_secs(8);

/// MB that are measured by default: more than any cache.
pub const MEMORY: u32 = 1024;

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("calibrate {bar:40} {percent:>3} % {msg}").expect("the template is valid");
    let bar = ProgressBar::new(1000).with_style(style);
    bar.set_message("compiling");
    bar.tick();
    bar
}

/// Measures all that there is to measure, with up to `memory` MB. DPDK is there until the process ends.
pub fn machine(cc: Option<&str>, memory: u32) -> Result<Measured, Failure> {
    measure_all(cc, memory, true, TimeBudget::begin())
}

/// Measures with up to `memory` MB, shows its progress, and reports doubtful results, for any caller.
/// With `mbufs`, DPDK is there until the process ends.
fn measure_all(cc: Option<&str>, memory: u32, with_mbufs: bool, mut budget: TimeBudget) -> Result<Measured, Failure> {
    let compiler = Compiler::find(cc)?;
    core_isolation::be_ordinary();
    core_isolation::pin();
    let bar = bar();
    // All that needs a compiler comes first, so that what is left of the time is there to measure.
    let mut pace = Pace::new(&compiler)?;
    let mut echo = Echo::new(&compiler, &Arc::new(port::trace()))?;
    let mut mbufs = if with_mbufs { mbufs(&compiler, &mut budget) } else { None };
    let probe = Probe::open(&compiler, &files::cache()?, (memory as usize) << 20).map_err(Failure::environment)?;
    let mut measured = measure::measure(&probe, cpu(), now(), &mut budget, &mut |done, next| {
        bar.set_position((done * 1000.0) as u64);
        bar.set_message(next.to_string());
    });
    bar.set_message("port and operations");
    port::measure(&mut pace, &mut mbufs, &mut measured.machine, &mut budget);
    bar.set_message("an echo");
    measured.echo = echo.measure(&mut budget);
    measured.echo.write(&mut measured.machine.port);
    bar.finish_and_clear();
    measured.short = budget.into_short();
    doubts(&measured).iter().for_each(|doubt| eprintln!("warning: {doubt}"));
    Ok(measured)
}

/// The port of mbufs, if DPDK is here and there is time to compile what it needs: without, its cost is computed.
fn mbufs(compiler: &Compiler, budget: &mut TimeBudget) -> Option<Mbufs> {
    if !budget.has(ENOUGH_FOR_DPDK) {
        budget.taken("the port of mbufs", 0, 1);
        return None;
    }
    match Mbufs::new(compiler, &Arc::new(port::trace())) {
        Ok(mbufs) => mbufs,
        Err(Failure::Environment(text) | Failure::Input(text)) => {
            eprintln!("warning: what mbufs cost the port is computed, not measured: {}", text.trim());
            None
        }
        Err(Failure::Reported) => None,
    }
}

const WAY_OUT: &str = "the machine is too busy; calibrate again when it is idle";

/// Why the numbers should not be believed.
fn doubts(measured: &Measured) -> Vec<String> {
    too_noisy(measured.machine.spread).into_iter().chain(too_short(&measured.short)).collect()
}

fn too_noisy(spread: f64) -> Option<String> {
    let percent = (spread > TOO_NOISY).then_some(spread * 100.0)?;
    Some(format!("samples of one point differ by {percent:.0} %: {WAY_OUT}"))
}

fn too_short(short: &[String]) -> Option<String> {
    let short = (!short.is_empty()).then(|| short.join(", "))?;
    Some(format!("time was up after {short}, which leaves noise: {WAY_OUT}"))
}

/// Writes a machine file of this host now: for runs whose plans should fit a host that is not calibrated.
pub fn write_now(path: &Path, cc: Option<&str>) -> Result<(), Failure> {
    let measured = measure_all(cc, MEMORY, false, TimeBudget::begin())?;
    write(path, &measured.machine)
}

/// A machine file of this processor: the host's, else one in the cache, else one that is written there now. One in the cache belongs to no user, so
/// one of another method is measured again.
pub fn at_hand(cc: Option<&str>) -> Result<PathBuf, Failure> {
    if of_this_processor(&default_file()).is_some() {
        return Ok(default_file());
    }
    let kept = in_cache()?;
    if of_this_processor(&kept).is_none() {
        eprintln!("there is no {} that suits: this machine is measured first", default_file().display());
        write_now(&kept, cc)?;
        eprintln!("machine file: {} (`bacus calibrate` writes {})", kept.display(), default_file().display());
    }
    Ok(kept)
}

/// Keeps a machine file where plans find it that are made in another directory.
pub fn copy_to_cache(file: &Path) -> Result<(), Failure> {
    let kept = in_cache()?;
    let folder = kept.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder, &error))?;
    fs::copy(file, kept).map(drop).map_err(|error| Failure::unwritable(file, &error))
}

/// Keeps what the file that is replaced has about a port at hand; that port, if there is one.
pub fn keep_port(measured: &mut Measured, file: &Path) -> Option<Port> {
    let before = of_this_processor(file).filter(|before| before.port.device.is_some())?;
    keep_device(&mut measured.machine.port, &before.port);
    Some(before.port)
}

/// Results of a named port stay when all else is measured again: `bacus run` uses them, but not those of the in-memory port.
fn keep_device(port: &mut Port, before: &Port) {
    port.device.clone_from(&before.device);
    port.ring = before.ring;
    port.batch = before.batch;
    port.free_cycles = before.free_cycles;
}

/// Messages about two machine files, and whether they agree.
pub fn compare(one: &Path, other: &Path) -> Result<(String, bool), Failure> {
    Ok(compare::compare(&read(one)?, &read(other)?))
}

fn read(path: &Path) -> Result<Machine, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::unreadable(path, &error))?;
    Machine::parse(&text).map_err(|message| Failure::input(format!("{}: {message}", path.display())))
}

/// The advice of a machine's file to its owner, if it is this processor's.
pub fn hint_of(file: &Path) -> Option<String> {
    of_this_processor(file).as_ref().and_then(pages_of_host)
}

/// What is measured on ports at hand, and with how much memory where the machine has to be measured first.
pub struct AtHand<'a> {
    pub ports: &'a [ports::Port],
    pub cc: Option<&'a str>,
    pub memory: u32,
}

/// The echo on the ports that were named, written into a machine file. Where there is none of this machine it is measured first, without mbufs: DPDK
/// starts once in a process, and is needed with other buffers. The ports are opened before that, so that their errors are reported early.
pub fn port_at_hand(
    wanted: &AtHand<'_>,
    output: &Path,
    report: impl FnOnce(&Measured),
) -> Result<(Port, Saturation), Failure> {
    device::check(wanted.ports)?;
    let mut budget = TimeBudget::begin();
    let bench = start_dpdk(&Compiler::find(wanted.cc)?, wanted.ports)?;
    let mut machine = match of_this_processor(output) {
        Some(machine) => machine,
        None => {
            bench.try_out()?;
            eprintln!("there is no {} that suits: this machine is measured first", output.display());
            let measured = measure_all(wanted.cc, wanted.memory, false, budget.before(FOR_PORT))?;
            write(output, &measured.machine)?;
            report(&measured);
            measured.machine
        }
    };
    let bar = bar();
    let mut progress = |done, next: &str| {
        bar.set_position((done * 1000.0) as u64);
        bar.set_message(next.to_string());
    };
    let seen = device::measure(&bench, machine.ticks_per_us, &mut budget, &mut progress)?;
    bar.finish_and_clear();
    let doubts = too_noisy(seen.spread).into_iter().chain(too_short(&budget.into_short()));
    doubts.for_each(|doubt| eprintln!("warning: {doubt}"));
    seen.write(&mut machine.port);
    write(output, &machine)?;
    Ok((machine.port, seen))
}

/// DPDK, and the echo for it, started by a thread that keeps its core and has no priority, as it is to be measured.
fn start_dpdk<'p>(compiler: &Compiler, ports: &'p [ports::Port]) -> Result<Bench<'p>, Failure> {
    core_isolation::be_ordinary();
    core_isolation::pin();
    let bar = bar();
    let bench = Bench::new(compiler, ports);
    bar.finish_and_clear();
    bench
}

/// Writes a machine file.
pub fn write(path: &Path, machine: &Machine) -> Result<(), Failure> {
    let text =
        format!("# Measured by `bacus calibrate`. Cycles are ticks of the time stamp counter.\n{}", machine.print());
    files::write(path, text.as_bytes())
}

/// Where pages are large, the core remembers where tens of megabytes lie, unless this is a virtual machine whose host made its memory of small pages.
pub fn pages_of_host(machine: &Machine) -> Option<String> {
    let cycles = machine.tlb_miss_cycles(Access::BusyT0, MANY_PAGES, 1.0);
    if cycles <= TRANSLATED || machine.page_bytes <= SMALL_PAGE {
        return None;
    }
    Some(format!(
        "hint: pages are large here, and yet it takes {cycles:.1} cycles to find out where a line lies: the host of this virtual machine gives it memory in \
         small pages. Nothing hides that in tables beyond some 10 MB; large pages on the host would save it"
    ))
}

/// The time now as `2026-11-21T13:40:00Z`.
/// The date and time: `2026-11-21T13:40:00Z`.
pub fn now() -> String {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_secs());
    timestamp(seconds)
}

/// Days to a date by the proleptic Gregorian calendar, counted from 0000-03-01 so that leap days end a year.
fn timestamp(seconds: u64) -> String {
    let days = seconds / 86_400 + 719_468;
    let era = days / 146_097;
    let day_of_era = days % 146_097;
    let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
    let year = year_of_era + era * 400 + u64::from(month <= 2);
    let time = seconds % 86_400;
    format!("{year:04}-{month:02}-{day:02}T{:02}:{:02}:{:02}Z", time / 3600, time / 60 % 60, time % 60)
}

#[cfg(test)]
mod tests {
    use super::*;
    use opt::inputs::Tlb;

    #[test]
    fn a_busy_machine_is_doubted() {
        let machine = Machine { spread: TOO_NOISY, ..Machine::default() };
        let mut measured = Measured {
            machine,
            windows: Vec::new(),
            misses: Vec::new(),
            bursts: Vec::new(),
            echo: Saturation::default(),
            short: Vec::new(),
        };
        assert_eq!(doubts(&measured), [""; 0]);
        measured.machine.spread = 0.2;
        measured.short.push("1 of 6 rounds of the curves".to_string());
        let messages = doubts(&measured);
        assert!(
            messages[0].contains("differ by 20 %")
                && messages[1].contains("time was up after 1 of 6 rounds of the curves"),
            "{messages:?}"
        );
    }

    #[test]
    fn a_host_of_small_pages_is_told_from_large_pages_and_from_small_ones_here() {
        let hint = |page_bytes, cycles: Option<f64>| {
            let tlb = |cycles| Tlb { span_kb: vec![1 << 15], load: vec![cycles], stream: vec![cycles] };
            pages_of_host(&Machine { page_bytes, tlb: cycles.map(tlb), ..Machine::default() })
        };
        assert!(hint(2 << 20, Some(6.25)).expect("a hint").contains("takes 6.2 cycles"));
        assert_eq!([hint(2 << 20, Some(0.3)), hint(4096, Some(6.25)), hint(2 << 20, None)], [None, None, None]);
    }

    #[test]
    fn a_port_at_hand_outlives_a_calibration_of_all_else() {
        let device = Some("net_memif".to_string());
        let before = Port { device, ring: Some(256), batch: Some(32), free_cycles: None, ..Port::default() };
        let mut now = Port { ring: Some(64), batch: Some(64), free_cycles: Some(0.0), ..Port::default() };
        now.own[0] = 5.0;
        keep_device(&mut now, &before);
        assert_eq!(now, Port { own: vec![5.0, 8.0, 8.0], ..before });
    }

    #[test]
    fn seconds_become_dates() {
        assert_eq!(timestamp(0), "1970-01-01T00:00:00Z");
        assert_eq!(timestamp(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(timestamp(1_795_268_399), "2026-11-21T13:39:59Z");
    }
}
