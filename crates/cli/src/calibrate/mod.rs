//! `bacus calibrate`: measures this machine and writes what the planners need to know of it.

mod allowance;
mod compare;
mod device;
mod draw;
mod echo;
mod lanes;
mod mbuf;
mod measure;
mod port;
mod saturation;
mod smooth;
mod stages;

use allowance::Allowance;
use device::Bench;
use driver::failure::Failure;
use driver::files;
use driver::machine_file::{cpu, default_file, in_cache, of_this_processor, up_to_date};
use driver::ports;
use driver::stdout::{print, say};
use echo::Echo;
use indicatif::{ProgressBar, ProgressStyle};
use mbuf::Mbufs;
use measure::Measured;
pub use measure::{kernel, window_now};
use opt::inputs::machine::Port;
use opt::inputs::{Access, Machine};
use opt::model::cache_line::SMALL_PAGE;
pub use port::Pace;
use runtime::cache::write_whole;
use runtime::{Compiler, Probe, core_isolation};
use saturation::Saturation;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// A machine of which the samples of one cell differ by more than this is too busy to be measured.
const TOO_NOISY: f64 = 0.15;

/// Where pages are large all the way, to find out where a line lies takes less than this.
const TRANSLATED: f64 = 1.5;
/// Bytes of so many small pages that no core remembers where all of them lie.
const MANY_PAGES: u64 = 32 << 20;

/// Time that must be left to begin with DPDK: half is for the C compiler.
const ENOUGH_FOR_DPDK: Duration = Duration::from_secs(18);

/// Kept for a port at hand where the machine is measured first.
const FOR_PORT: Duration = Duration::from_secs(8);

/// MB that are measured if nobody says otherwise: more than any cache.
const MEMORY: u32 = 1024;

pub const EXAMPLES: &str = "\
Examples:
  bacus calibrate                             write machines/HOST.toml
  bacus calibrate -o lab.toml --svg           and draw the curves, into lab.svg
  bacus calibrate --port 0=veth0              what saturates an echo on that port, for `bacus run`
  bacus calibrate --port 0=veth0 --port 1=veth1
                                              the same on two ports that are wired to each other
  bacus calibrate --compare lab.toml lab2.toml
                                              measures nothing: which points of two files differ by more than 10 %

Packets of a port come from others, from itself (net_null0), or they return (ports that are wired to
each other, net_ring0). Where less than 20,000 a second come, the calibration sends some: one each 100 ms
until any comes, for 3 seconds at most, and then as many as the ring holds, each time that it is opened.";

#[derive(clap::Args)]
pub struct Arguments {
    /// The machine file to write [default: machines/HOST.toml]
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Draw the curves [without a name: beside the machine file, NAME.svg]
    #[arg(long, value_name = "FILE")]
    svg: Option<Option<PathBuf>>,
    /// Measure an echo on this port, named as for `bacus run`, and nothing else if the machine file is there; repeatable
    #[arg(long = "port", value_name = "N=DEVICE")]
    ports: Vec<ports::Port>,
    /// Memory to measure at most, in MB
    #[arg(long, value_name = "MB", default_value_t = MEMORY, value_parser = clap::value_parser!(u32).range(64..=65536))]
    memory: u32,
    /// Measure nothing, and say which points of two machine files differ by more than two runs on an idle machine
    #[arg(long, value_names = ["FILE", "FILE"], num_args = 2, conflicts_with_all = ["output", "svg", "cc", "ports"])]
    compare: Vec<PathBuf>,
    /// C compiler for the kernels
    #[arg(long)]
    cc: Option<String>,
}

fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("calibrate {bar:40} {percent:>3} % {msg}").expect("the template is valid");
    let bar = ProgressBar::new(1000).with_style(style);
    bar.set_message("compiling");
    bar.tick();
    bar
}

/// Measures with up to `memory` MB, shows how far it is, and says what is in doubt, whoever asked for it.
/// With `mbufs`, DPDK is there until the process ends.
fn measure_all(cc: Option<&str>, memory: u32, with_mbufs: bool, mut allowance: Allowance) -> Result<Measured, Failure> {
    let compiler = Compiler::find(cc)?;
    core_isolation::be_ordinary();
    core_isolation::pin();
    let bar = bar();
    // All that needs a compiler comes first, so that what is left of the time is there to measure.
    let mut pace = Pace::new(&compiler)?;
    let mut echo = Echo::new(&compiler, &Arc::new(port::trace()))?;
    let mut mbufs = if with_mbufs { mbufs(&compiler, &mut allowance) } else { None };
    let probe = Probe::open(&compiler, &files::cache()?, (memory as usize) << 20).map_err(Failure::environment)?;
    let mut measured = measure::measure(&probe, cpu(), now(), &mut allowance, &mut |done, next| {
        bar.set_position((done * 1000.0) as u64);
        bar.set_message(next.to_string());
    });
    bar.set_message("port and operations");
    port::measure(&mut pace, &mut mbufs, &mut measured.machine, &mut allowance);
    bar.set_message("an echo");
    measured.echo = echo.measure(&mut allowance);
    measured.echo.write(&mut measured.machine.port);
    bar.finish_and_clear();
    measured.short = allowance.into_short();
    doubts(&measured).iter().for_each(|doubt| eprintln!("warning: {doubt}"));
    Ok(measured)
}

/// The port of mbufs, if DPDK is here and there is time to compile what it needs: without, its cost is computed.
fn mbufs(compiler: &Compiler, allowance: &mut Allowance) -> Option<Mbufs> {
    if !allowance.has(ENOUGH_FOR_DPDK) {
        allowance.taken("the port of mbufs", 0, 1);
        return None;
    }
    match Mbufs::new(compiler, &Arc::new(port::trace())) {
        Ok(mbufs) => mbufs,
        Err(Failure::Environment(text) | Failure::Input(text)) => {
            eprintln!("warning: what mbufs cost the port is computed, not measured: {}", text.trim());
            None
        }
        Err(Failure::Said) => None,
    }
}

const WAY_OUT: &str = "the machine is too busy; calibrate again when it is idle";

/// Why the numbers should not be believed.
fn doubts(measured: &Measured) -> Vec<String> {
    too_noisy(measured.machine.spread).into_iter().chain(too_short(&measured.short)).collect()
}

fn too_noisy(spread: f64) -> Option<String> {
    let percent = (spread > TOO_NOISY).then_some(spread * 100.0)?;
    Some(format!("samples of one cell differ by {percent:.0} %: {WAY_OUT}"))
}

fn too_short(short: &[String]) -> Option<String> {
    let short = (!short.is_empty()).then(|| short.join(", "))?;
    Some(format!("time was up after {short}, which leaves noise: {WAY_OUT}"))
}

/// A machine file of this host, written now: for runs whose plans should fit where nobody has calibrated.
pub fn write_now(path: &Path, cc: Option<&str>) -> Result<(), Failure> {
    let measured = measure_all(cc, MEMORY, false, Allowance::begin())?;
    write(path, &header(&measured.machine))
}

/// A machine file of this processor: the host's, else one in the cache, else one that is written there now. One in the cache is nobody's, so one
/// of another method is measured again.
pub fn at_hand(cc: Option<&str>) -> Result<PathBuf, Failure> {
    if of_this_processor(&default_file()).is_some() {
        return Ok(default_file());
    }
    let kept = in_cache()?;
    if up_to_date(&kept).is_none() {
        eprintln!("there is no {} that suits: this machine is measured first", default_file().display());
        write_now(&kept, cc)?;
        eprintln!("machine file: {} (`bacus calibrate` writes {})", kept.display(), default_file().display());
    }
    Ok(kept)
}

/// The file, in a directory that is there.
fn prepared(file: &Path) -> Result<&Path, Failure> {
    let folder = file.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder, &error))?;
    Ok(file)
}

/// What was found on a port at hand stays when all else is measured again: `bacus run` has use for it, and nobody for the in-memory port's.
fn keep_device(port: &mut Port, before: &Port) {
    port.device.clone_from(&before.device);
    port.ring = before.ring;
    port.batch = before.batch;
    port.free_cycles = before.free_cycles;
}

fn read(path: &Path) -> Result<Machine, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::unreadable(path, &error))?;
    Machine::parse(&text).map_err(|message| Failure::input(format!("{}: {message}", path.display())))
}

/// What a machine's file says that its owner could do, if it is this processor's.
pub fn hint_of(file: &Path) -> Option<String> {
    of_this_processor(file).as_ref().and_then(pages_of_host)
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let [one, other] = &arguments.compare[..] {
        let (text, agree) = compare::compare(&read(one)?, &read(other)?);
        print(&text)?;
        return if agree { Ok(()) } else { Err(Failure::Said) };
    }
    let output = arguments.output.clone().unwrap_or_else(default_file);
    let svg = if arguments.ports.is_empty() {
        let mut measured = measure_all(arguments.cc.as_deref(), arguments.memory, true, Allowance::begin())?;
        say!("{}", summary(&measured));
        if let Some(hint) = pages_of_host(&measured.machine) {
            say!("{hint}");
        }
        if let Some(before) = up_to_date(&output).filter(|before| before.port.device.is_some()) {
            keep_device(&mut measured.machine.port, &before.port);
            say!("kept from before: {}", on_port(&before.port));
        }
        write(&output, &header(&measured.machine))?;
        if arguments.output.is_none() {
            // For plans that are made in another directory.
            fs::copy(&output, prepared(&in_cache()?)?).map_err(|error| Failure::unwritable(&output, &error))?;
        }
        draw::curves(&measured)
    } else {
        draw::echo(&port_at_hand(arguments, &output)?)
    };
    say!("machine file: {}", output.display());
    if let Some(named) = &arguments.svg {
        let path = named.clone().unwrap_or_else(|| output.with_extension("svg"));
        write(&path, &svg.map_err(Failure::environment)?)?;
        say!("curves: {}", path.display());
    }
    Ok(())
}

/// The echo on the ports that were named, written into a machine file. Where there is none of this machine it is measured first, without mbufs: DPDK
/// starts once in a process, and is needed with other buffers. Before that the ports are tried out, so that nobody waits for what then is an error.
fn port_at_hand(arguments: &Arguments, output: &Path) -> Result<Saturation, Failure> {
    device::check(&arguments.ports)?;
    let cc = arguments.cc.as_deref();
    let mut allowance = Allowance::begin();
    let bench = start_dpdk(&Compiler::find(cc)?, &arguments.ports)?;
    let mut machine = match up_to_date(output) {
        Some(machine) => machine,
        None => {
            bench.try_out()?;
            eprintln!("there is no {} that suits: this machine is measured first", output.display());
            let measured = measure_all(cc, arguments.memory, false, allowance.before(FOR_PORT))?;
            write(output, &header(&measured.machine))?;
            say!("{}", summary(&measured));
            measured.machine
        }
    };
    let bar = bar();
    let mut progress = |done, next: &str| {
        bar.set_position((done * 1000.0) as u64);
        bar.set_message(next.to_string());
    };
    let seen = device::measure(&bench, machine.ticks_per_us, &mut allowance, &mut progress)?;
    bar.finish_and_clear();
    let doubts = too_noisy(seen.spread).into_iter().chain(too_short(&allowance.into_short()));
    doubts.for_each(|doubt| eprintln!("warning: {doubt}"));
    seen.write(&mut machine.port);
    write(output, &header(&machine))?;
    say!("{}", on_port(&machine.port));
    Ok(seen)
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

/// Writes a whole file or none, and the folders above it.
fn write(path: &Path, text: &str) -> Result<(), Failure> {
    if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
        fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder, &error))?;
    }
    write_whole(path, text.as_bytes()).map_err(|error| Failure::unwritable(path, &error))
}

fn header(machine: &Machine) -> String {
    format!("# Measured by `bacus calibrate`. Cycles are ticks of the time stamp counter.\n{}", machine.print())
}

/// The numbers that a person wants to see first.
fn summary(measured: &Measured) -> String {
    let machine = &measured.machine;
    let mut text = format!(
        "{}\n{:.0} ticks a microsecond, {:.2} core cycles a tick, pages of {} KB, spread {:.1} %\n\
         reorder window {} instructions, {} misses at a time, {} lines in flight are enough, bursts of {}, {:.0} cycles for a mispredicted branch\n\
         {:.2} cycles an operation, {:.2} in stages, {}, {:.1} for each request there, {:.0} for each loop, {:.1} for one more address; \
         a packet costs the port {}\n{}\n\n\
         cycles a line    latency  4 in flight  16 in flight  64 in flight  prefetched\n",
        machine.cpu,
        machine.ticks_per_us,
        machine.core_per_tick,
        machine.page_bytes >> 10,
        machine.spread * 100.0,
        machine.window,
        machine.misses.map_or("?".to_string(), |misses| misses.to_string()),
        machine.parallelism,
        machine.burst,
        machine.mispredict_cycles,
        machine.operation_cycles,
        machine.stages().operation_cycles,
        machine
            .vector
            .map_or("no lanes".to_string(), |it| format!("{:.2} in {} lanes", it.operation_cycles, it.packets)),
        machine.stages().prefetch_cycles,
        machine.stages().loop_cycles,
        machine.index_cycles.unwrap_or(f64::NAN),
        floors(machine),
        on_port(&machine.port),
    );
    for kb in machine.lines.working_set_kb.iter().step_by(2) {
        let bytes = kb << 10;
        let load = |lines| machine.line_cycles(Access::Load, bytes, lines);
        let prefetched =
            machine.line_cycles(Access::PrefetchT0, bytes, 64).min(machine.line_cycles(Access::PrefetchT1, bytes, 64));
        text.push_str(&format!(
            "{:>13} {:>10.1} {:>12.2} {:>13.2} {:>13.2} {:>11.2}\n",
            measure::size_name(*kb),
            load(1),
            load(4),
            load(16),
            load(64),
            prefetched
        ));
    }
    text
}

/// Where pages are large, the core remembers where tens of megabytes lie, unless this is a virtual machine whose host made its memory of small pages.
fn pages_of_host(machine: &Machine) -> Option<String> {
    let cycles = machine.tlb_miss_cycles(Access::BusyT0, MANY_PAGES, 1.0);
    if cycles <= TRANSLATED || machine.page_bytes <= SMALL_PAGE {
        return None;
    }
    Some(format!(
        "hint: pages are large here, and yet it takes {cycles:.1} cycles to find out where a line lies: the host of this virtual machine gives it memory in \
         small pages. Nothing hides that in tables beyond some 10 MB; large pages on the host would save it"
    ))
}

/// What the port costs, by burst.
fn floors(machine: &Machine) -> String {
    let by_burst = |costs: &[f64]| {
        let costs = machine.port.burst.iter().zip(costs);
        costs.map(|(burst, cycles)| format!("{cycles:.1} in bursts of {burst}")).collect::<Vec<String>>().join(", ")
    };
    let how = if machine.port.mbuf_measured { "measured" } else { "computed" };
    format!("{}\nan mbuf ({how}) {}", by_burst(&machine.port.own), by_burst(&machine.port.mbuf))
}

/// What saturates an echo on the port, and whether a packet may have work for nothing then.
fn on_port(port: &Port) -> String {
    let device = port.device.as_deref().unwrap_or("the in-memory port");
    let batch = port.batch.map_or("?".to_string(), |batch| batch.to_string());
    let ring = match (port.ring, &port.device) {
        (Some(ring), Some(_)) => format!("a ring of {ring}"),
        (Some(ring), None) => format!("{ring} buffers"),
        (None, _) => "a ring whose size cannot be chosen".to_string(),
    };
    let free = match port.free_cycles {
        Some(cycles) if cycles > 0.0 => format!("a packet may have {cycles:.1} cycles of work for nothing"),
        Some(_) => "no work is for nothing, since the core never waits for packets".to_string(),
        None => "how much work is for nothing cannot be told, since packets come too slowly".to_string(),
    };
    format!("on {device}, batches of {batch} and {ring} are enough for an echo; {free}")
}

/// The time now as `2026-11-21T13:40:00Z`.
fn now() -> String {
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
        let said = doubts(&measured);
        assert!(
            said[0].contains("differ by 20 %") && said[1].contains("time was up after 1 of 6 rounds of the curves"),
            "{said:?}"
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
    fn what_an_echo_needs_is_said_of_its_port() {
        let in_memory = Port { ring: Some(64), batch: Some(64), free_cycles: Some(0.0), ..Port::default() };
        assert_eq!(
            on_port(&in_memory),
            "on the in-memory port, batches of 64 and 64 buffers are enough for an echo; \
             no work is for nothing, since the core never waits for packets"
        );
        let device = Some("net_null".to_string());
        let fixed = on_port(&Port { device, ring: None, free_cycles: Some(31.25), ..in_memory.clone() });
        assert!(fixed.contains("on net_null, batches of 64 and a ring whose size cannot be chosen"), "{fixed}");
        assert!(fixed.contains("31.2 cycles"), "{fixed}");
        let slow = on_port(&Port { free_cycles: None, ..in_memory });
        assert!(slow.contains("cannot be told"), "{slow}");
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
