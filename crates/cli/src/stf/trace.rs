//! `bacus stf --trace`: random and mutated packets through the interpreter and native code, compared after every burst.

use crate::failure::Failure;
use crate::pcap;
use clap::Args;
use hlir::Program;
use indicatif::{ProgressBar, ProgressStyle};
use interp::stf::Command;
use interp::stf::command::{Control, Kind};
use interp::trace::{Settings, Source};
use interp::{DEFAULT_PORTS, Engine};
use std::fs;
use std::path::{Path, PathBuf};

/// Burst sizes at which every packet is tried.
const BURSTS: [usize; 4] = [1, 7, 32, 64];

#[derive(Args)]
pub struct Options {
    /// Send random packets and mutations of this capture's (.pcap, or the packets of an STF file) through both engines
    #[arg(long, value_name = "FILE", help_heading = "Comparing engines")]
    trace: Option<PathBuf>,
    /// How many packets, at each of the bursts 1, 7, 32 and 64
    #[arg(long, value_name = "N", default_value_t = 10_000, help_heading = "Comparing engines")]
    count: u64,
    /// Seed of the packets
    #[arg(long, value_name = "N", default_value_t = 1, help_heading = "Comparing engines")]
    seed: u64,
    /// Packets come in from the ports below this
    #[arg(long, value_name = "N", default_value_t = 8, help_heading = "Comparing engines")]
    ports: u32,
}

impl Options {
    pub fn is_asked(&self) -> bool {
        self.trace.is_some()
    }
}

/// Compares; `files` configure both switches (their packets and expectations are left out).
pub fn run(options: &Options, files: &[PathBuf], program: &Program, engine: &mut dyn Engine) -> Result<(), Failure> {
    let Some(path) = &options.trace else { return Ok(()) };
    let capture = capture(path)?;
    let mut commands = Vec::new();
    for file in files {
        commands.extend(read_commands(file)?.into_iter().filter(|command| configures(&command.kind)));
    }
    let configure = |engine: &mut dyn Engine| {
        let done = interp::stf::run::configure(program, &commands, engine);
        done.map(drop).map_err(|mistakes| {
            let lines: Vec<String> = mistakes.iter().map(ToString::to_string).collect();
            interp::engine::Refusal(lines.join("\n"))
        })
    };
    let source = Source { capture: &capture, seed: options.seed, ports: options.ports };
    let settings = Settings { source, count: options.count, bursts: &BURSTS };
    let style =
        ProgressStyle::with_template("comparing [{bar:30}] {pos}/{len} {eta}").expect("the template is well formed");
    let bar = ProgressBar::new(options.count * BURSTS.len() as u64).with_style(style);
    let done = interp::trace::run(program, engine, DEFAULT_PORTS, &settings, &configure, &mut |sent| bar.inc(sent));
    bar.finish_and_clear();
    match done {
        Ok(summary) => {
            summary.notes.iter().for_each(|note| println!("{}: note: {note}", path.display()));
            let (packets, outputs, drops) = (summary.packets, summary.outputs, summary.drops);
            println!("{}: passed", path.display());
            println!(
                "{packets} packets, {outputs} sent, {drops} dropped, {} hits, {} misses: both engines agree",
                summary.hits, summary.misses
            );
            Ok(())
        }
        Err(interp::trace::Failure::Difference(difference)) => {
            println!("{}: failed: the engines differ {difference}", path.display());
            Err(Failure::Said)
        }
        Err(interp::trace::Failure::Refusal(refusal)) => Err(Failure::refusal(path.display(), &refusal)),
    }
}

/// What makes a switch what it is, rather than testing it.
fn configures(kind: &Kind) -> bool {
    match kind {
        Kind::Packet { .. } | Kind::Expect { .. } | Kind::NoPacket | Kind::ExpectDigest { .. } => false,
        Kind::Control(control) => !matches!(
            control,
            Control::CheckCounter { .. } | Control::Clock { .. } | Control::Seed { .. } | Control::Wait
        ),
    }
}

fn read_commands(path: &Path) -> Result<Vec<Command>, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::unreadable(path, &error))?;
    interp::stf::parse(&text).map_err(|mistakes| {
        let lines: Vec<String> = mistakes.iter().map(|mistake| format!("{}:{mistake}", path.display())).collect();
        Failure::Input(format!("error: {}\n", lines.join("\nerror: ")))
    })
}

fn capture(path: &Path) -> Result<Vec<Vec<u8>>, Failure> {
    if path.extension().is_none_or(|extension| extension != "stf") {
        return pcap::read(path);
    }
    let packet = |command: Command| match command.kind {
        Kind::Packet { bytes, .. } => Some(bytes),
        Kind::Expect { .. } | Kind::NoPacket | Kind::ExpectDigest { .. } | Kind::Control(_) => None,
    };
    Ok(read_commands(path)?.into_iter().filter_map(packet).collect())
}
