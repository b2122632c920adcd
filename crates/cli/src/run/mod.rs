//! `bacus run`: a program as a switch on real ports.

mod account;
mod busy;
mod carry;
mod comparison;
mod contents;
pub mod controller;
pub mod controllers;
mod dump;
mod exposition;
mod first;
mod held_facts;
mod improve;
mod interfaces;
mod late;
pub mod live;
mod metadata;
mod metrics;
mod miss_library;
pub mod misses;
pub mod port_numbers;
mod ports;
pub mod pushed;
pub mod relay;
mod report;
pub mod requests;
pub mod sampling;
pub mod saved_registers;
mod service;
pub mod specialise;
pub mod specialised_code;
pub mod spread;
pub mod state;
mod summary;
pub mod tracing;
pub mod traffic;
pub mod trial;
mod watch;

use account::PortAccount;
use clap::Args;
use controller::Controller;
use controllers::{Controllers, Sockets};
use driver::compile;
use driver::entries::Origin;
use driver::failure::Failure;
use driver::files;
use driver::flags;
use driver::frontend;
use driver::inputs;
use driver::options::{Native, Passes, Source};
use driver::ports::{Claim, Port, announce, check_ports, claim_interfaces};
use driver::stdout::print_line;
use first::First;
use improve::improve;
use interfaces::PortInterfaces;
use live::{Built, Live, Shared};
use metadata::{Metadata, metadata};
use misses::Misses;
use p4runtime::Server;
use port_numbers::PortNumbers;
use ports::Opening;
use pushed::Builder;
use relay::Relay;
use requests::Requests;
use runtime::{LayerPorts, Link, PortCounts, PortLayer, PortSettings, Settings, interrupt, memory_limit};
use specialise::{Manner, Specialiser, When};
use spread::{Spread, Spreading};
use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::{Arc, mpsc};
use std::time::{Duration, Instant};

/// Shown in place of the program's name if the command line has none.
const NO_PROGRAM: &str = "-";

/// How often the control thread looks.
pub const LOOK: Duration = Duration::from_millis(2);

/// Headings of the help.
const WORKERS: &str = "Workers and packets";
const END: &str = "End and output";

pub const EXAMPLES: &str = "\
Examples:
  bacus run router.p4 --entries routes.stf --port 0=pcap:in.pcap,out0.pcap --port 1=pcap:,out1.pcap
  bacus run router.p4 --entries routes.stf --port 0=veth0 --port 1=veth1 --stats 1
  bacus run router.p4 --entries gen:ingress.fib:900000:1 --port 0=0000:01:00.0 --workers 4
  bacus run l2.p4 --port 1=net_tap0,iface=tap0 --port 2=net_memif0,role=client

Ports:
  N=pcap:IN,OUT  captures; either may be left out; IN may be an STF file: its packets for port N
  N=INTERFACE    a network interface of the kernel, such as veth0 (needs root or CAP_NET_RAW)
  N=memif:SOCKET,role=server|client  another process, by shared memory
  N=DEVARGS      any DPDK device: the PCI address of a NIC, or devargs such as net_tap0,iface=tap0
Entries:
  FILE           STF, a script of simple_switch_CLI, runtime JSON, P4Runtime, or the compact form
  gen:TABLE:COUNT:SEED  random entries
The switch forwards when it prints `ready: …` on standard error. It ends at Ctrl-C, SIGTERM, SIGHUP,
--duration or --until-idle; with captures alone and no --p4runtime, after
their last packet. SIGUSR1 prints all counts.
docs/run.md describes ports, entries and counts.";

#[derive(Args, Clone)]
#[command(mut_arg("program", |program| program.required(false).default_value("-").hide_default_value(true)
    .help("The program: P4_16 (.p4), BMv2's JSON (.json) or HLIR (.hlir); without it, the switch waits for a controller to set a pipeline")))]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// The device for port N of the program; repeatable
    #[arg(long = "port", value_name = "N=DEVICE", required_unless_present_any = ["addresses", "thrift"])]
    ports: Vec<Port>,
    #[command(flatten)]
    controllers: Controllers,
    /// Serve all counts for Prometheus there, as 127.0.0.1:9100, at /metrics
    #[arg(long, value_name = "ADDRESS:PORT", value_parser = controllers::address, help_heading = END)]
    metrics: Option<SocketAddr>,
    /// Entries to begin with; repeatable
    #[arg(long, value_name = "FILE|gen:TABLE:COUNT:SEED", help_heading = "Entries")]
    entries: Vec<Origin>,
    /// Save the pipeline and all that controllers write in this directory, before they are answered; start with what is there
    #[arg(long, value_name = "DIR", help_heading = "Controllers")]
    state: Option<PathBuf>,
    /// With --state: save registers, too, at this interval and at the end of the switch; a kill loses what packets wrote since
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, require_equals = true, default_missing_value = "1")]
    #[arg(requires = "state", value_parser = flags::seconds, help_heading = "Controllers")]
    state_registers: Option<f64>,
    /// Start with what is in this file, which `serialize_state` of `simple_switch_CLI` wrote
    #[arg(long, value_name = "FILE", conflicts_with = "state", help_heading = "Controllers")]
    restore: Option<PathBuf>,
    /// Worker threads
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=64), help_heading = WORKERS)]
    workers: u32,
    /// What spreads packets over the workers, where the program's state needs packets of a flow on one [default: software, if state needs it]
    #[arg(long, value_name = "HOW", value_enum, help_heading = WORKERS)]
    spread: Option<Spread>,
    /// Let idle workers go on polling; otherwise those whose ports are all interfaces of the kernel sleep until a packet comes
    #[arg(long, help_heading = WORKERS)]
    poll: bool,
    /// Largest burst, in packets [default: 32, or the burst of --plan or --pin]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=512), help_heading = WORKERS)]
    burst: Option<u32>,
    /// End after this time
    #[arg(long, value_name = "SECONDS", value_parser = flags::seconds, help_heading = END)]
    duration: Option<f64>,
    /// End 0.2 s after the last packet, but not before the first
    #[arg(long, help_heading = END)]
    until_idle: bool,
    /// Print the counts at this interval
    #[arg(long, value_name = "SECONDS", num_args = 0..=1, default_missing_value = "1", value_parser = flags::seconds, help_heading = END)]
    stats: Option<f64>,
    /// Print counters, meters and registers that are not zero, at the end and on SIGUSR1
    #[arg(long, help_heading = END)]
    dump: bool,
    /// Print counts as JSON, one object a line
    #[arg(long, help_heading = END)]
    json: bool,
    /// Print no counts at the end, and no line when the switch is ready
    #[arg(long, conflicts_with = "json", help_heading = END)]
    quiet: bool,
    /// Packet buffers, of all workers together
    #[arg(long, value_name = "N", default_value_t = 16384, value_parser = clap::value_parser!(u32).range(1024..=1 << 24), help_heading = WORKERS)]
    buffers: u32,
    /// Bytes of a buffer; longer packets take several
    #[arg(long, value_name = "BYTES", default_value_t = 2048, value_parser = clap::value_parser!(u32).range(256..=32_768), help_heading = WORKERS)]
    buffer_bytes: u32,
    /// Memory of the switch: entries that need more are refused [default: nine tenths of the machine's, or the container's]
    #[arg(long, value_name = "BYTES", value_parser = flags::bytes, help_heading = WORKERS)]
    memory: Option<u64>,
    /// Read each input capture N times
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..), help_heading = WORKERS)]
    repeat: u32,
    /// What becomes of the driver's descriptor of a packet [default: the plan's, or exchange if all ports are interfaces of the kernel or memif]
    #[arg(long, value_name = "MODEL", help_heading = WORKERS)]
    metadata: Option<Metadata>,
    /// Seed of `random`
    #[arg(long, value_name = "N", default_value_t = 0, help_heading = WORKERS)]
    seed: u64,
    /// When the code is specialised for what the tables hold and for the packets that come; generic code takes over before a write that breaks it
    /// [default: busy; never with --plan, --pin, --profile-out or --fixed]
    #[arg(long, value_name = "WHEN", value_enum, help_heading = "Optimizing", num_args = 0..=1, require_equals = true, default_missing_value = "always")]
    specialise: Option<When>,
    /// Time that the compiler may take for specialised code; then it is killed, and generic code goes on
    #[arg(long, value_name = "SECONDS", default_value = "120", value_parser = flags::seconds, help_heading = "Optimizing")]
    specialise_limit: f64,
    /// Run the code that the model proposes, without measuring whether other code is faster
    #[arg(long, help_heading = "Optimizing")]
    fixed: bool,
    /// Write a profile for --profile: packets on each edge, hits, misses and keys of each table. The switch then runs packet by packet
    #[arg(long, value_name = "FILE", help_heading = END)]
    profile_out: Option<PathBuf>,
    /// Write what interfaces receive and send to DIR/NAME_in.pcap and DIR/NAME_out.pcap
    #[arg(long, value_name = "DIR", help_heading = END)]
    record: Option<PathBuf>,
    #[command(flatten)]
    passes: Passes,
    #[command(flatten)]
    native: Native,
    /// What others' scripts find at BMv2: its lines when the switch is ready, and frames that a script sends on the switch's own side of a link.
    #[arg(skip)]
    is_bmv2: bool,
    /// Ports that are opened so many seconds after the start.
    #[arg(skip)]
    late_ports: (u64, Vec<Port>),
}

/// A switch on its ports.
pub struct Running {
    pub relay: Relay<LayerPorts>,
    /// Ends before the switch does.
    pub server: Server,
    pub thrift: Option<bm_runtime::Server>,
    /// Where the counts are served for Prometheus.
    pub metrics: Option<SocketAddr>,
    /// Of clients, for the control thread.
    pub requests: Requests,
    pub dpdk: Arc<PortLayer>,
    /// For gNMI.
    pub interfaces: Arc<PortInterfaces>,
    /// For the server of controllers.
    pub numbers: PortNumbers,
    pub opening: Opening,
    /// Unless code is never specialised.
    pub specialiser: Option<Specialiser>,
    pub ports: Vec<Port>,
    /// And whether the port is enabled.
    pub links: BTreeMap<u16, (Link, bool)>,
    /// Ports that are not there any more.
    pub removed: Vec<PortAccount>,
    pub quiet: bool,
    pub entries: u64,
    pub load_time: Duration,
    pub workers: u32,
    /// While packets came.
    pub busy: Duration,
    /// The ports' counts, once the workers have ended.
    pub final_counts: BTreeMap<u16, PortCounts>,
    /// Of the interfaces, against other switches.
    claims: Vec<Claim>,
}

/// The flags of `bacus run`, for another name of the command.
#[derive(clap::Parser)]
struct Line {
    #[command(flatten)]
    arguments: Arguments,
}

/// Runs a switch for a command line of BMv2, which was translated to these flags.
pub fn run_as_bmv2(
    flags: &[std::ffi::OsString],
    (seconds, late_ports): (u64, &[String]),
    (device_config, notifications): (Vec<u8>, String),
) -> Result<(), Failure> {
    let line = <Line as clap::Parser>::try_parse_from(flags);
    let line = line.map_err(|error| Failure::input(error.to_string().trim_start_matches("error: ").trim_end()))?;
    let ports = late_ports.iter().map(|text| text.parse()).collect::<Result<Vec<Port>, _>>().map_err(Failure::input)?;
    let captures: Vec<PathBuf> = ports.iter().filter_map(|port| port.output().map(Path::to_path_buf)).collect();
    let mut arguments = line.arguments;
    arguments.controllers.device_config = device_config;
    arguments.controllers.notifications = Some(notifications);
    run(&Arguments { is_bmv2: true, quiet: true, late_ports: (seconds, ports), ..arguments })?;
    captures.iter().try_for_each(|output| driver::pcap::count_microseconds(output))
}

/// What --record cannot do is refused before anything begins.
fn check_record(folder: &Path, ports: &[Port]) -> Result<(), Failure> {
    if !folder.is_dir() {
        return Err(Failure::input(format!("--record: there is no directory `{}`", folder.display())));
    }
    ports.iter().try_for_each(Port::check_recordable)
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    check_ports(&arguments.ports)?;
    arguments.record.as_deref().map_or(Ok(()), |folder| check_record(folder, &arguments.ports))?;
    arguments.check_specialised()?;
    let ports = (arguments.ports.as_slice(), arguments.late_ports.1.as_slice());
    let plans = arguments.passes.read_plans()?;
    let metadata = Some(metadata(arguments.metadata, &plans, ports)?);
    let passes = Passes { files: Some(plans), ..arguments.passes.clone() };
    let arguments = &Arguments { metadata, passes, ..arguments.clone() };
    arguments.profile_out.as_deref().map_or(Ok(()), files::check_writable)?;
    arguments.memory.or_else(memory_limit::of_machine).iter().for_each(|bytes| memory_limit::set(*bytes));
    let loaded = match arguments.source.program.as_os_str() == NO_PROGRAM {
        true if !arguments.entries.is_empty() => {
            let message = "--entries are those of a program: name it, or let the controller write them";
            return Err(Failure::input(message));
        }
        true => None,
        false => Some(load(arguments)?),
    };
    let saved = state::Flags { state: arguments.state.as_deref(), registers: arguments.state_registers.is_some() };
    let earlier = state::Earlier::of(&saved, arguments.restore.as_deref())?;
    // A mistake in the program ends the switch before; the C compiler may take seconds, in which controllers wait.
    let sockets = arguments.controllers.listen()?;
    interrupt::catch();
    let finished = Open::new(arguments).and_then(|open| compile_and_run(arguments, (loaded, earlier), open, sockets));
    if finished.is_err() {
        arguments.ports.iter().for_each(Port::abandon);
    }
    finished
}

/// Frames that come to interfaces meanwhile wait in their rings until the pipeline is there.
fn compile_and_run(
    arguments: &Arguments,
    (loaded, earlier): (Option<frontend::Loaded>, state::Earlier),
    open: Open,
    sockets: Sockets,
) -> Result<(), Failure> {
    let ports = arguments.ports.clone();
    let opened = open.dpdk.clone();
    let leave = move || {
        opened.stop();
        ports.iter().for_each(Port::abandon);
    };
    let built = match loaded.map(|loaded| ends_at_a_signal(|| build(arguments, loaded), leave)).transpose() {
        Ok(built) => built,
        Err(failure) => {
            open.dpdk.stop();
            // The compiler gets the signal of a terminal, too.
            return if interrupt::stop_requested() { Ok(()) } else { Err(failure) };
        }
    };
    let builder = builder(arguments, built.as_ref(), port_numbers(arguments));
    First::new(&builder, earlier).and_then(|first| switch(arguments, &first, open, sockets))
}

impl Arguments {
    /// The flag that leaves no other plan to run, if one is given.
    fn fixed_plan(&self) -> Option<&'static str> {
        let given = [(self.passes.plan.is_some(), "--plan"), (self.passes.pin.is_some(), "--pin")];
        let given = given.into_iter().chain([(self.profile_out.is_some(), "--profile-out")]);
        given.filter(|(is_given, _)| *is_given).map(|(_, flag)| flag).next()
    }

    /// When code is specialised.
    fn specialises(&self) -> When {
        let is_fixed = self.fixed || self.fixed_plan().is_some();
        self.specialise.unwrap_or(if is_fixed { When::Never } else { When::Busy })
    }

    /// What is specialised has a plan of its own.
    fn check_specialised(&self) -> Result<(), Failure> {
        match self.fixed_plan() {
            Some(flag) if self.specialises() != When::Never => Err(Failure::input(format!(
                "--specialise: the switch runs the plan of {flag} alone; leave one of the two out"
            ))),
            Some(_) | None => Ok(()),
        }
    }

    /// Whether the switch ends when all its packets are read from captures: only if it waits for no one else.
    fn ends_with_captures(&self) -> bool {
        self.source.program.as_os_str() != NO_PROGRAM && !self.controllers.are_expected()
    }
}

/// Does what takes seconds, before there are workers: a signal ends the process meanwhile, as it ends the switch later. Then `leave` is called before.
fn ends_at_a_signal<T>(work: impl FnOnce() -> T, leave: impl FnOnce() + Send + 'static) -> T {
    let (done, is_done) = mpsc::channel::<()>();
    let watcher = std::thread::spawn(move || {
        // The channel is closed at the end of the work.
        while is_done.recv_timeout(LOOK) == Err(mpsc::RecvTimeoutError::Timeout) {
            if interrupt::stop_requested() {
                leave();
                std::process::exit(0);
            }
        }
    });
    let result = work();
    drop(done);
    // It may be about to leave: then nothing is begun beside it.
    watcher.join().expect("it only waits and leaves");
    result
}

/// The program of the command line, without mistakes.
fn load(arguments: &Arguments) -> Result<frontend::Loaded, Failure> {
    let loaded = frontend::load(&arguments.source)?;
    let named = |why: String| Failure::input(format!("{}: {why}", arguments.source.program.display()));
    loaded.program.runnable().map_err(named)?;
    port_numbers(arguments).check(&loaded.program).map_err(Failure::input)?;
    let spreads = spreading(arguments).of(&loaded.program).map_err(Failure::input)?;
    spreads.note.iter().for_each(|note| eprintln!("{note}"));
    Ok(loaded)
}

fn spreading(arguments: &Arguments) -> Spreading {
    Spreading { workers: arguments.workers, by: arguments.spread }
}

/// The program as native code.
fn build(arguments: &Arguments, loaded: frontend::Loaded) -> Result<Built, Failure> {
    let builder = builder(arguments, None, port_numbers(arguments));
    pushed::build_loaded(&builder, loaded, |plan| {
        if arguments.profile_out.is_some() {
            inputs::counting(plan);
        }
    })
}

/// The ports that a program must be able to name: those with devices, and that of packet-ins and packet-outs.
fn port_numbers(arguments: &Arguments) -> PortNumbers {
    let devices = arguments.ports.iter().map(|port| u32::from(port.number));
    PortNumbers::new(devices.chain(arguments.controllers.cpu_port))
}

fn passes(arguments: &Arguments) -> Passes {
    let mut passes = arguments.passes.clone();
    passes.entries.clone_from(&arguments.entries);
    passes.is_counted = arguments.profile_out.is_some();
    passes
}

/// What pipelines that controllers push are built with.
fn builder(arguments: &Arguments, built: Option<&Built>, ports: PortNumbers) -> Builder {
    Builder {
        source: arguments.source.clone(),
        passes: passes(arguments),
        native: arguments.native.clone(),
        burst: arguments.burst,
        descriptor: arguments.metadata.map_or(hlir::plan::Descriptor::Mbuf, Metadata::descriptor),
        given: built.cloned(),
        ports,
        spreading: spreading(arguments),
        is_quick_first: arguments.is_bmv2 && arguments.specialises() != When::Always,
    }
}

fn switch(arguments: &Arguments, first: &First, open: Open, sockets: Sockets) -> Result<(), Failure> {
    let mut running = begin(arguments, first, open, sockets)?;
    let stopped = carry::carry(arguments, &mut running);
    let counts = |port: &Port| Some((port.number, running.dpdk.counts(port.number)?));
    running.final_counts = running.ports.iter().filter_map(counts).collect();
    running.dpdk.stop();
    let written = running.ports.iter().try_for_each(|port| port.finish(running.final_counts.get(&port.number)));
    if stopped.is_err() || written.is_err() {
        running.ports.iter().for_each(Port::abandon);
    }
    if !arguments.quiet {
        let account = running.report(arguments);
        if !arguments.json {
            summary::print_end(&account, &running);
        }
    }
    written?;
    if let Some(path) = &arguments.profile_out {
        if let Some(engine) = running.relay.switch.lock().engine() {
            let counts = engine.counts();
            inputs::write_profile(path, engine.switch().pipeline().description(), &counts)?;
        }
        print_line!("profile: {}", path.display());
    }
    stopped
}

/// Opens the ports, with a line that names the one that is being opened: of many interfaces it takes seconds.
fn open_ports(opening: &Opening, dpdk: &PortLayer, ports: &[Port]) -> Result<(), Failure> {
    let bar = compile::progress(String::new());
    let mut notes = Vec::new();
    for (at, port) in ports.iter().enumerate() {
        bar.set_message(format!("opening port {} ({}), {} of {}", port.number, port.name(), at + 1, ports.len()));
        notes.extend(opening.open(dpdk, port)?.map(|note| (port, note)));
    }
    bar.finish_and_clear();
    ports::print_notes(&notes);
    Ok(())
}

fn highest_port(arguments: &Arguments) -> u32 {
    arguments.ports.iter().map(|port| u32::from(port.number)).max().unwrap_or(0)
}

/// Serves the counts for Prometheus, if asked to. Gives the address.
fn serve_metrics(arguments: &Arguments, target: &Controller<LayerPorts>) -> Result<Option<SocketAddr>, Failure> {
    let source = metrics::Source { control: target.control.clone(), switch: target.switch.clone() };
    arguments.metrics.map(|address| metrics::serve(address, source)).transpose()
}

/// How ports are opened.
fn opening(arguments: &Arguments, dpdk: PortSettings) -> Opening {
    Opening {
        repeat: arguments.repeat,
        machine: inputs::machine(arguments.passes.machine.as_deref()).port,
        cpu_port: arguments.controllers.cpu_port,
        dpdk,
        quiet: arguments.quiet,
    }
}

/// How a port layer is started.
fn port_settings(arguments: &Arguments) -> PortSettings {
    let mut settings = PortSettings::of_machine(arguments.buffers, arguments.buffer_bytes);
    announce(&arguments.ports, &mut settings);
    (settings.workers, settings.polls) = (arguments.workers, arguments.poll);
    settings.copies = arguments.metadata == Some(Metadata::Copying);
    settings.record.clone_from(&arguments.record);
    settings.hears_outgoing = arguments.is_bmv2;
    settings
}

fn specialiser(arguments: &Arguments, first: &First, numbers: &PortNumbers) -> Specialiser {
    let when = arguments.specialises();
    let manner = Manner {
        when,
        time_limit: Duration::from_secs_f64(arguments.specialise_limit),
        is_tried: !arguments.fixed,
        is_reported: when == When::Always || !arguments.quiet,
    };
    Specialiser::new(builder(arguments, first.given.as_ref(), numbers.clone()), manner)
}

/// The ports, before any worker serves them.
struct Open {
    dpdk: Arc<PortLayer>,
    opening: Opening,
    claims: Vec<Claim>,
}

impl Open {
    /// Starts DPDK, and opens the ports.
    fn new(arguments: &Arguments) -> Result<Open, Failure> {
        let (claims, warnings) = claim_interfaces(&arguments.ports);
        warnings.iter().for_each(|warning| eprintln!("warning: {warning}"));
        let native = inputs::native_for(arguments.passes.machine.as_deref(), &arguments.native);
        let layer = arguments.metadata.unwrap_or(Metadata::Overlaying).layer(&native)?;
        let settings = port_settings(arguments);
        let dpdk = PortLayer::start(&layer, &settings).map_err(Failure::environment)?;
        let opening = opening(arguments, settings);
        open_ports(&opening, &dpdk, &arguments.ports)?;
        Ok(Open { dpdk, opening, claims })
    }
}

/// Entries loaded; no packet has moved yet.
fn begin(arguments: &Arguments, first: &First, open: Open, sockets: Sockets) -> Result<Running, Failure> {
    let Open { dpdk, opening, claims } = open;
    let worker_ports = dpdk.begin(arguments.workers).map_err(Failure::environment)?;
    let settings_of_switch = Settings { ports: opening.count(&arguments.ports), seed: arguments.seed };
    let handler = arguments.controllers.miss_handler()?;
    let mut live = Live::new(worker_ports, settings_of_switch, opening.cpu_port);
    live.spread_by(dpdk.clone());
    let start = Instant::now();
    let entries = first.fill((&arguments.entries, highest_port(arguments) + 1), &arguments.controllers, &mut live)?;
    let load_time = start.elapsed();
    live.keep(first.keeper.clone());
    let switch = Shared::new(live);
    first.running.iter().for_each(|built| improve(&switch, &mut switch.lock(), built));
    let (control, requests) = requests::channel();
    late::open((control.clone(), switch.clone()), arguments.late_ports.clone());
    let interfaces = Arc::new(PortInterfaces::new(&dpdk, &arguments.ports));
    let numbers = port_numbers(arguments);
    let target = Controller {
        switch: switch.clone(),
        builder: builder(arguments, first.given.as_ref(), numbers.clone()),
        cpu_port: opening.cpu_port,
        control,
        tracing: tracing::Tracing::default(),
    };
    let config = |built: &Built| (built.program.clone(), first.config(&arguments.controllers, &built.program).0);
    let metrics = serve_metrics(arguments, &target)?;
    let running = first.running.as_ref().map(config);
    let (server, thrift) = arguments.controllers.serve(sockets, target, running, interfaces.clone())?;
    let learning = thrift.as_ref().and_then(bm_runtime::Server::learning);
    let specialise = || specialiser(arguments, first, &numbers);
    let specialiser = (arguments.specialises() != When::Never).then(specialise);
    Ok(Running {
        relay: Relay::new(switch, server.events(), Misses::new(handler), learning),
        server,
        thrift,
        metrics,
        numbers,
        requests,
        dpdk,
        interfaces,
        opening,
        specialiser,
        ports: arguments.ports.clone(),
        links: BTreeMap::new(),
        removed: Vec::new(),
        quiet: arguments.quiet,
        entries,
        load_time,
        workers: arguments.workers,
        busy: Duration::ZERO,
        final_counts: BTreeMap::new(),
        claims,
    })
}
