//! `bacus stf`: runs packet tests on an engine.

mod profile;
mod trace;
mod tree;

use clap::Args;
use control::DataPlane;
use driver::compile;
use driver::entries::{self, Origin};
use driver::externs::ForInterpreter;
use driver::failure::{self, Failure};
use driver::files;
use driver::frontend::{self, Loaded};
use driver::inputs;
use driver::options::{DescriptorKind, EngineKind, Native, Passes, Source};
use driver::stdout::print_line;
use equivalence::Copies;
use hlir::Program;
use hlir::facts::Assumption;
use interp::PORTS;
use native::NativeEngine;
use runtime::{Buffers, DpdkMemoryPort, MemoryPort, PortLayer, PortSettings, Settings};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use stf::Command;
use stf::command::Kind;

/// Packets that compiled code takes at once, at least.
const SMALLEST_COMPILED: u32 = 64;

pub const EXAMPLES: &str = "\
Examples:
  bacus stf router.p4 router.stf
  bacus stf router.p4 tests/*.stf --engine native --burst 1
  bacus stf router.p4 router.stf --engine native --sanitize
  bacus stf router.p4 router.stf --trace-tree    the path of each packet, with all outcomes
  bacus stf router.p4 router.stf --trace in.pcap --count 100000 --seed 7
                                 compares both engines on random packets, and on mutations of a
                                 capture's packets (or of an STF file's)

Prints a line for each file: `PATH: passed`, or `PATH: failed: REASON` with the differences below.
All `packet` lines between two other commands are one burst; with --burst 1, each is one.";

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Test files; with --trace, files that configure both switches
    #[arg(value_name = "FILE.stf", required_unless_present = "trace")]
    files: Vec<PathBuf>,
    /// Engine of the tests
    #[arg(long, value_enum, default_value_t = EngineKind::Interp)]
    engine: EngineKind,
    /// Largest burst, in packets
    #[arg(long, value_name = "N", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=512))]
    burst: u32,
    /// Packet descriptor of native code
    #[arg(long, value_enum, default_value_t = DescriptorKind::Own, help_heading = "Native code")]
    descriptor: DescriptorKind,
    /// Write a profile for --profile: packets on each edge, hits, misses and keys of each table
    #[arg(long, value_name = "FILE")]
    profile_out: Option<PathBuf>,
    /// Specialise native code for what the tables hold when the first packet comes; writes that break that are refused
    #[arg(long, help_heading = "Optimizing")]
    specialise: bool,
    /// Print the path of each packet, with a branch for each outcome where a selector or `random` chooses
    #[arg(long, conflicts_with_all = ["trace", "profile_out", "specialise"])]
    trace_tree: bool,
    #[command(flatten)]
    trace: trace::Options,
    #[command(flatten)]
    passes: Passes,
    #[command(flatten)]
    native: Native,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.profile_out.as_deref().map_or(Ok(()), files::check_writable)?;
    let loaded = frontend::load(&arguments.source)?;
    if arguments.trace.is_asked() {
        let externs = ForInterpreter::compile(&loaded.program, &arguments.native)?;
        let facts = if arguments.specialise { facts_of_all(arguments, &loaded.program)? } else { Vec::new() };
        return run_native(arguments, (loaded, facts), |program, engine, copies| {
            trace::run(&arguments.trace, &arguments.files, program, (engine, &|| externs.bind(), copies))
        });
    }
    if arguments.trace_tree && matches!(arguments.engine, EngineKind::Native) {
        return Err(Failure::input(
            "--trace-tree shows the path of packets through the interpreter\nhint: leave out --engine native",
        ));
    }
    if arguments.specialise {
        return match arguments.engine {
            EngineKind::Native => specialised(arguments, &loaded),
            EngineKind::Interp => Err(Failure::input(
                "--specialise is for native code\nhint: add --engine native, or compare both engines with --trace"
                    .to_string(),
            )),
        };
    }
    match arguments.engine {
        EngineKind::Interp => {
            let program = loaded.program.clone();
            let interpreted = interpreted(loaded, arguments)?;
            let mut engine = interp::Switch::new(&interpreted, 0, PORTS);
            engine.bind(ForInterpreter::compile(&interpreted, &arguments.native)?.bind());
            if arguments.trace_tree {
                check_tree(&interpreted)?;
                return run_files(arguments, &arguments.files, &program, &mut tree::Tree::new(engine));
            }
            if arguments.profile_out.is_some() {
                engine.start_counts();
                engine.start_keys();
            }
            run_files(arguments, &arguments.files, &program, &mut engine).and(profile::write_interpreted(
                arguments.profile_out.as_deref(),
                &interpreted,
                &mut engine,
            ))
        }
        EngineKind::Native => {
            let native = |program: &Program, engine: &mut dyn DataPlane, _| {
                run_files(arguments, &arguments.files, program, engine)
            };
            run_native(arguments, (loaded, Vec::new()), native)
        }
    }
}

/// Each outcome begins with the state as it was, which the user's own code keeps for itself.
fn check_tree(program: &Program) -> Result<(), Failure> {
    match program.externs.is_empty() {
        true => Ok(()),
        false => Err(Failure::input("--trace-tree cannot run the program's externs more than once for a packet")),
    }
}

/// The program for the interpreter: as it was written, or with tables joined, if that pass is named; for a profile, as planners see it.
fn interpreted(loaded: Loaded, arguments: &Arguments) -> Result<Program, Failure> {
    let passes = &arguments.passes;
    if arguments.profile_out.is_some() {
        let loaded = Loaded { program: loaded.program, plan: None };
        return frontend::optimize(loaded, &frontend::counting(passes), None).map(|(program, _)| program);
    }
    if passes.passes.iter().flatten().all(|name| name != "join") {
        return Ok(loaded.program);
    }
    let loaded = Loaded { program: loaded.program, plan: None };
    frontend::optimize(loaded, passes, Some("join")).map(|(program, _)| program)
}

/// Compiles the program and tests it on the in-memory port; the test gets what copies may do while packets wait in queues.
fn run_native(
    arguments: &Arguments,
    (loaded, facts): (Loaded, Vec<Assumption>),
    test: impl FnOnce(&Program, &mut dyn DataPlane, Copies) -> Result<(), Failure>,
) -> Result<(), Failure> {
    let program = loaded.program.clone();
    let passes = Passes {
        descriptor: Some(arguments.descriptor.plan()),
        is_counted: arguments.profile_out.is_some(),
        facts,
        ..arguments.passes.clone()
    };
    let mut copies = Copies::KeepTheirTurn;
    let (pipeline, compiled) = compile::pipeline(loaded, &passes, &arguments.native, |plan| {
        plan.descriptor = arguments.descriptor.plan();
        if !plan.queues.is_empty() {
            copies = Copies::MayOvertake;
        }
        // The runner hands over bursts of the requested size; the code need not be compiled for each. What waits is to do so for several bursts of what the
        // runner compares as one, so a plan with queues keeps its own, and so does one with lanes, where packets wait that are dropped.
        let waits = !plan.queues.is_empty() || plan.loops.iter().any(|planned| planned.vector > 1);
        if !waits || plan.burst == 0 {
            plan.burst = plan.burst.max(arguments.burst.max(SMALLEST_COMPILED));
        }
        if arguments.profile_out.is_some() {
            inputs::counting(plan);
        }
    })?;
    let programs = (&program, &compiled);
    let settings = Settings { ports: PORTS, seed: 0 };
    match arguments.descriptor {
        DescriptorKind::Own => {
            let worker_ports = || vec![MemoryPort::new(Buffers::default())];
            let mut engine = NativeEngine::new(programs, pipeline, settings, worker_ports)?;
            test(&program, &mut engine, copies).and(profile::write(arguments.profile_out.as_deref(), &mut engine))
        }
        DescriptorKind::Mbuf => {
            let dpdk = start_dpdk(&inputs::native_for(passes.machine.as_deref(), &arguments.native))?;
            let worker_ports = || vec![DpdkMemoryPort::new(&dpdk)];
            let mut engine = NativeEngine::new(programs, pipeline, settings, worker_ports)?;
            test(&program, &mut engine, copies).and(profile::write(arguments.profile_out.as_deref(), &mut engine))
        }
    }
}

/// DPDK without any port: mbufs in memory.
fn start_dpdk(native: &Native) -> Result<Arc<PortLayer>, Failure> {
    const BUFFERS: u32 = 4096;
    const BUFFER_BYTES: u32 = 2048;
    let layer = compile::compiler(native)?.dpdk_layer(&files::cache()?)?;
    PortLayer::start(&layer, &PortSettings::of_machine(BUFFERS, BUFFER_BYTES)).map_err(Failure::environment)
}

/// Tests each file on code that is specialised for it.
fn specialised(arguments: &Arguments, loaded: &Loaded) -> Result<(), Failure> {
    let mut failed = false;
    for file in &arguments.files {
        let commands = stf::parse(&files::text(file)?).map_err(|mistakes| entries::failure(file, &mistakes))?;
        let facts = facts_before_packets(&loaded.program, file, &commands)?;
        let loaded = Loaded { program: loaded.program.clone(), plan: None };
        let one = std::slice::from_ref(file);
        match run_native(arguments, (loaded, facts), |program, engine, _| run_files(arguments, one, program, engine)) {
            Ok(()) => {}
            Err(Failure::Reported) => failed = true,
            Err(failure) => return Err(failure),
        }
    }
    if failed { Err(Failure::Reported) } else { Ok(()) }
}

/// What holds when the first packet of a test comes.
fn facts_before_packets(program: &Program, file: &Path, commands: &[Command]) -> Result<Vec<Assumption>, Failure> {
    let controls = |command: &&Command| matches!(command.kind, Kind::Control(_));
    let before: Vec<Command> = commands.iter().take_while(controls).cloned().collect();
    entries::facts_of(program, &before).map_err(|mistakes| entries::failure(file, &mistakes))
}

/// What holds once all files have configured the switch.
fn facts_of_all(arguments: &Arguments, program: &Program) -> Result<Vec<Assumption>, Failure> {
    let origins: Vec<Origin> = arguments.files.iter().cloned().map(Origin::File).collect();
    entries::contents(program, &origins).map(|(_, facts)| facts)
}

fn run_files(
    arguments: &Arguments,
    files: &[PathBuf],
    program: &Program,
    engine: &mut dyn DataPlane,
) -> Result<(), Failure> {
    let mut failed = 0;
    for file in files {
        engine.reset();
        engine.set_clock(0);
        engine.set_seed(0);
        if let Err(lines) = run_file(file, arguments.burst, program, engine) {
            failed += 1;
            print_line!("{}: failed: {}", file.display(), lines.join("\n  "));
        } else {
            print_line!("{}: passed", file.display());
        }
    }
    if failed == 0 { Ok(()) } else { Err(Failure::Reported) }
}

/// Runs one file; what was wrong, a line each.
fn run_file(path: &Path, burst: u32, program: &Program, engine: &mut dyn DataPlane) -> Result<(), Vec<String>> {
    let text = fs::read_to_string(path).map_err(|error| vec![failure::sentence(&error)])?;
    let placed = |mistakes: Vec<stf::Mistake>| -> Vec<String> {
        let line = |mistake: stf::Mistake| match mistake.place.line {
            0 => mistake.message,
            _ => format!("{}:{mistake}", path.display()),
        };
        mistakes.into_iter().map(line).collect()
    };
    let commands = stf::parse(&text).map_err(placed)?;
    let report = stf::run(program, &commands, engine, burst as usize).map_err(placed)?;
    entries::warn(path, &report.warnings);
    report.notes.iter().for_each(|note| print_line!("{}: note: {note}", path.display()));
    report.printed.iter().for_each(|line| print_line!("{}: {line}", path.display()));
    if report.passed() { Ok(()) } else { Err(placed(report.failures)) }
}
