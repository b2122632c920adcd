//! `bacus explain`: where packets go, what was decided and why, and what it costs; with `--measure` beside what it really costs.

mod measure;

use crate::compile;
use crate::entries::Origin;
use crate::failure::Failure;
use crate::frontend;
use crate::inputs;
use crate::options::{DescriptorKind, Native, Passes, Source};
use crate::show;
use clap::Args;
use std::path::{Path, PathBuf};

pub const EXAMPLES: &str = "\
Examples:
  bacus explain router.p4                                    with guesses at traffic and tables
  bacus explain router.p4 --entries routes.stf --profile router.profile
  bacus explain router.p4 --json | jq .decisions
  bacus explain router.p4 --measure --html -o router.html    predicted against measured, with a drawing

--measure runs the program on the in-memory port, with the packets of --packets or else of the STF file beside the program (router.stf), and with
the entries of --entries or else of entries.stf there. Where no --profile is given, the traffic is then what was counted.";

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// What the tables will hold; repeatable
    #[arg(long, value_name = "FILE|gen:TABLE:COUNT:SEED")]
    entries: Vec<Origin>,
    /// Print JSON
    #[arg(long, conflicts_with = "html")]
    json: bool,
    /// Print a page of HTML with a drawing of the graph
    #[arg(long)]
    html: bool,
    /// Write here instead of to standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Run the program, and show what each node costs beside what was predicted
    #[arg(long)]
    measure: bool,
    /// Packets to measure with: an STF file or a capture
    #[arg(long, value_name = "FILE", requires = "measure")]
    packets: Option<PathBuf>,
    /// What a packet is to the code
    #[arg(long, value_enum, default_value_t = DescriptorKind::Own)]
    descriptor: DescriptorKind,
    #[command(flatten)]
    passes: Passes,
    #[command(flatten)]
    native: Native,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut passes = arguments.passes.clone();
    passes.entries.clone_from(&arguments.entries);
    passes.ports.own_descriptor = arguments.descriptor == DescriptorKind::Own;
    let measured = if arguments.measure {
        let beside = |name: &str| arguments.source.program.with_file_name(name);
        if passes.entries.is_empty() && beside("entries.stf").exists() {
            passes.entries.push(Origin::Text(beside("entries.stf")));
        }
        let packets = arguments.packets.clone().unwrap_or_else(|| arguments.source.program.with_extension("stf"));
        Some(measure::measure(arguments, &passes, &packets)?)
    } else {
        None
    };
    if let Some(measured) = &measured {
        passes.counted = Some(measured.profile.clone());
    }
    let (program, plan) = frontend::optimize(frontend::load(&arguments.source)?, &passes, None)?;
    let given = inputs::gather(&program, &passes)?;
    let mut explained = opt::explain::explain(&program, &plan, &given);
    if let Some(measured) = &measured {
        explained.measured(measured.planned, measured.plain, &measured.nodes);
    }
    let text = match (arguments.json, arguments.html) {
        (true, _) => explained.json(),
        (false, true) => explained.html(),
        (false, false) => explained.text(),
    };
    match &arguments.output {
        Some(path) => compile::write(path, text.as_bytes()),
        None => show::print(&text),
    }
}

/// Whether a file holds a capture rather than text.
fn is_capture(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "pcap")
}
