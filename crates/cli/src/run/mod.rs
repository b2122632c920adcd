//! `bacus run`: a program as a switch on real ports.

mod ports;
mod ring;
mod summary;

use crate::compile;
use crate::entries::{self, Origin};
use crate::failure::Failure;
use crate::flags;
use crate::frontend;
use crate::inputs;
use crate::native::{NativeEngine, Replay};
use crate::options::{Native, Passes, Source};
use crate::plan_file::{PlanFile, PlanFiles};
use crate::say::say;
use clap::Args;
use hlir::Program;
use interp::Engine as _;
use interp::engine::{Frame, Refusal};
use ports::MOST_PORTS;
pub use ports::{Port, announce};
use runtime::{Dpdk, DpdkLane, DpdkSettings, Event, Packet, Pipeline, PortCounts, Settings, interrupt};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How long nothing must come before a switch counts as idle.
const IDLE: Duration = Duration::from_millis(200);
/// How often the control thread looks.
const LOOK: Duration = Duration::from_millis(2);
/// How often entries are looked through for those that no packet has hit for long.
const AGING: Duration = Duration::from_millis(50);
/// Empty polls in a row that make a worker idle.
const IDLE_POLLS: u64 = 64;
/// Packets taken at once, unless somebody says how many.
const USUAL_BURST: u32 = 32;

pub const EXAMPLES: &str = "\
Examples:
  bacus run router.p4 --entries routes.stf --port 0=pcap:in.pcap,out0.pcap --port 1=pcap:,out1.pcap
  bacus run router.p4 --entries routes.stf --port 0=veth0 --port 1=veth1 --stats 1
  bacus run router.p4 --entries gen:ingress.fib:900000:1 --port 0=0000:01:00.0 --workers 4
  bacus run l2.p4 --port 1=net_tap0,iface=tap0 --port 2=net_memif0,role=client

Ports: N=pcap:IN,OUT (captures; either may be left out; IN may be an STF file, whose packets for port N come),
       N=INTERFACE (af_packet), N=DEVARGS (any DPDK device).
Entries: an STF file (add, setdefault, mirroring_add, ...), a .bin file, or gen:TABLE:COUNT:SEED; repeatable.
Where all ports are captures the switch ends when nothing comes any more; else at Ctrl-C, --duration or --until-idle.";

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// What stands behind port N of the program; repeatable
    #[arg(long = "port", value_name = "N=DEVICE", required = true)]
    ports: Vec<Port>,
    /// Entries to begin with; repeatable
    #[arg(long, value_name = "FILE|gen:TABLE:COUNT:SEED")]
    entries: Vec<Origin>,
    /// Threads that carry packets
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64))]
    workers: u32,
    /// Packets taken from a port at once, at most [default: 32, or what the file of --plan or --pin says]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=512))]
    burst: Option<u32>,
    /// End after so many seconds
    #[arg(long, value_name = "SECONDS", value_parser = flags::seconds)]
    duration: Option<f64>,
    /// End when no packet has come for a fifth of a second
    #[arg(long)]
    until_idle: bool,
    /// Print the counts every so many seconds
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1", value_parser = flags::seconds)]
    stats: Option<f64>,
    /// Packet buffers, of all workers together
    #[arg(long, value_name = "N", default_value_t = 16384, value_parser = clap::value_parser!(u32).range(1024..=1 << 24))]
    buffers: u32,
    /// Bytes of a buffer; longer packets take several
    #[arg(long, value_name = "BYTES", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(256..=32_768))]
    buffer_bytes: u32,
    /// Send the packets of captures so often
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..))]
    repeat: u32,
    /// Seed of `random`
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Count packets on the edges of the graph and the keys of look-ups, and write them here: what --profile reads. The switch runs packet by packet
    #[arg(long, value_name = "FILE")]
    profile_out: Option<PathBuf>,
    #[command(flatten)]
    passes: Passes,
    #[command(flatten)]
    native: Native,
}

impl Replay for DpdkLane {
    fn replay(&mut self, _: &[Frame]) -> Result<(), Refusal> {
        Err(Refusal::wrong("a port of the network does not replay packets".to_string()))
    }

    fn take_sent(&mut self) -> Vec<Packet> {
        Vec::new()
    }
}

/// A switch on its ports.
pub struct Running<'p> {
    pub engine: NativeEngine<'p, DpdkLane>,
    pub dpdk: Arc<Dpdk>,
    pub ports: Vec<Port>,
    pub huge_pages: bool,
    pub entries: u64,
    pub load_time: Duration,
    pub events: BTreeMap<String, u64>,
    /// From the start to the last packet.
    pub active: Duration,
    /// The ports' counts, once they are closed.
    counts: BTreeMap<u16, PortCounts>,
}

impl Running<'_> {
    pub fn final_counts(&self, port: u16) -> Option<PortCounts> {
        self.counts.get(&port).copied().or_else(|| self.dpdk.counts(port))
    }
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    check_ports(&arguments.ports)?;
    let loaded = frontend::load(&arguments.source)?;
    let named = |why: String| Failure::input(format!("{}: {why}", arguments.source.program.display()));
    loaded.program.runnable().map_err(named)?;
    let program = loaded.program.clone();
    let mut passes = arguments.passes.clone();
    passes.entries.clone_from(&arguments.entries);
    passes.ports.most_burst = arguments.burst.unwrap_or(USUAL_BURST);
    passes.descriptor = Some(hlir::plan::Descriptor::Mbuf);
    passes.burst = arguments.burst;
    let files = PlanFiles::read(&passes)?;
    // As with all that a plan decides: `--plan` takes the place of one that stands behind the program.
    let given = files.written.as_ref().or(loaded.plan.as_ref());
    let is_written = given.into_iter().chain(&files.pinned).any(PlanFile::decides_burst);
    passes.files = Some(files);
    let (pipeline, compiled) = compile::pipeline(loaded, &passes, &arguments.native, |plan| {
        plan.descriptor = hlir::plan::Descriptor::Mbuf;
        let usual = if is_written && plan.burst > 0 { plan.burst } else { USUAL_BURST };
        plan.burst = arguments.burst.unwrap_or(usual);
        if arguments.profile_out.is_some() {
            inputs::counting(plan);
        }
    })?;
    let finished = switch(arguments, (&program, &compiled), pipeline);
    if finished.is_err() {
        arguments.ports.iter().for_each(Port::abandon);
    }
    finished
}

pub fn check_ports(ports: &[Port]) -> Result<(), Failure> {
    for (at, port) in ports.iter().enumerate() {
        if ports[..at].iter().any(|other| other.number == port.number) {
            return Err(Failure::input(format!("port {} is given twice", port.number)));
        }
        port.check()?;
    }
    Ok(())
}

fn switch(arguments: &Arguments, programs: (&Program, &Program), pipeline: Arc<Pipeline>) -> Result<(), Failure> {
    let mut running = begin(arguments, programs, pipeline)?;
    interrupt::catch();
    let stopped = carry(arguments, &mut running);
    running.counts =
        running.ports.iter().filter_map(|port| Some((port.number, running.dpdk.counts(port.number)?))).collect();
    running.dpdk.stop();
    running.ports.iter().try_for_each(Port::finish)?;
    summary::print(&mut running);
    if let Some(path) = &arguments.profile_out {
        let counts = running.engine.counts();
        inputs::write_profile(path, running.engine.switch().pipeline().description(), &counts)?;
        say!("profile: {}", path.display());
    }
    stopped
}

/// DPDK started, ports open, entries loaded; no packet has moved yet.
fn begin<'p>(
    arguments: &Arguments,
    programs: (&'p Program, &'p Program),
    pipeline: Arc<Pipeline>,
) -> Result<Running<'p>, Failure> {
    let dpdk_failed = |error: runtime::DpdkError| Failure::environment(error);
    let native = inputs::native_for(arguments.passes.machine.as_deref(), &arguments.native);
    let layer = compile::compiler(&native)?.dpdk_layer(&compile::cache()?)?;
    let mut settings = DpdkSettings::of_machine(arguments.buffers, arguments.buffer_bytes);
    announce(&arguments.ports, &mut settings);
    let dpdk = Dpdk::start(&layer, &settings).map_err(dpdk_failed)?;
    let machine = inputs::machine(arguments.passes.machine.as_deref());
    for port in &arguments.ports {
        port.prepare(arguments.repeat)?;
        let ring = port.calibrated_ring(&machine.port);
        dpdk.open(port.number, &port.devargs_with(ring), ring).map_err(|error| port.unopened(&error))?;
    }
    let highest = arguments.ports.iter().map(|port| u32::from(port.number)).max().unwrap_or(0);
    let mut lanes = Some(dpdk.begin(arguments.workers).map_err(dpdk_failed)?);
    let lanes = move || lanes.take().expect("a switch on the network is built once");
    let switch = Settings { ports: (highest + 1).min(u32::from(MOST_PORTS)), seed: arguments.seed };
    let mut engine = NativeEngine::new(programs, pipeline, switch, lanes)?;
    let start = Instant::now();
    let entries = entries::load(&mut engine, &arguments.entries, highest + 1)?;
    Ok(Running {
        engine,
        dpdk,
        ports: arguments.ports.clone(),
        huge_pages: settings.has_huge_pages(),
        entries,
        load_time: start.elapsed(),
        events: BTreeMap::new(),
        active: Duration::ZERO,
        counts: BTreeMap::new(),
    })
}

/// Carries packets until the user, the clock or the program ends it.
fn carry(arguments: &Arguments, running: &mut Running<'_>) -> Result<(), Failure> {
    let until_idle = arguments.until_idle || arguments.ports.iter().all(Port::ends);
    let limit = arguments.duration.map(Duration::from_secs_f64);
    let every = arguments.stats.map(Duration::from_secs_f64);
    running.engine.switch().start();
    let start = Instant::now();
    let (mut seen, mut last, mut told, mut aged) = (0, Duration::ZERO, Duration::ZERO, Duration::ZERO);
    let mut failed = None;
    loop {
        std::thread::sleep(LOOK);
        let now = start.elapsed();
        let received = received(running);
        if received != seen {
            (seen, last) = (received, now);
        }
        failed = failed.or(listen(running));
        if running.engine.has_aging() && now >= aged + AGING {
            running.age();
            aged = now;
        }
        if every.is_some_and(|every| now >= told + every) {
            summary::line(running, now, seen);
            told = now;
        }
        let idle =
            now >= last + IDLE && (0..arguments.workers).all(|worker| running.dpdk.idle_polls(worker) > IDLE_POLLS);
        if failed.is_some() || interrupt::asked() || limit.is_some_and(|limit| now >= limit) || until_idle && idle {
            running.active = if last.is_zero() { now } else { last };
            break;
        }
    }
    running.engine.switch().stop();
    failed = failed.or(listen(running));
    failed.map_or(Ok(()), |text| Err(Failure::input(text)))
}

impl Running<'_> {
    /// Lets entries age, and counts those that the control plane would be told of.
    fn age(&mut self) {
        self.engine.age();
        for key in self.engine.take_idle() {
            let name = format!("idle entries of {}", self.engine.program().tables[key.table].name);
            *self.events.entry(name).or_default() += 1;
        }
    }
}

fn received(running: &Running<'_>) -> u64 {
    let counts = running.ports.iter().filter_map(|port| running.dpdk.counts(port.number));
    counts.map(|counts| counts.received).sum()
}

/// Takes what the program tells; an assertion that does not hold ends the switch.
fn listen(running: &mut Running<'_>) -> Option<String> {
    let (events, lost) = running.engine.switch().take_events();
    let mut failed = None;
    for event in events {
        let name = match event {
            Event::Digest { digest, .. } => running.engine.digest_name(digest),
            Event::Log { format, values, widths } => {
                say!("{}", crate::native::log_line(&format, &values, &widths));
                "log lines".to_string()
            }
            Event::Fail { text } => {
                failed.get_or_insert(format!("the switch stopped: assertion failed: {text}"));
                continue;
            }
            Event::Punt { .. } => "packets for the control plane".to_string(),
        };
        *running.events.entry(name).or_default() += 1;
    }
    if lost > 0 {
        *running.events.entry("messages lost".to_string()).or_default() += lost;
    }
    failed
}
