//! `bacus trace`: the path of packets through a running switch, as text, JSON, or a capture with comments.

mod capture;
mod json;
pub mod text;
mod validation;

use crate::connection::Connection;
use crate::ctl::messages;
use crate::run::tracing::with_steps;
use clap::Args;
use control::message::switch::trace_step::Step;
use control::message::switch::{TraceNames, TraceRequest, TracedPacket};
use ctl::{Client, Failure};
use driver::{flags, stdout};
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

pub const EXAMPLES: &str = "\
Examples:
  bacus trace                                         each packet, until Ctrl-C
  bacus trace --match 'ipv4.dst == 10.0.0.0/8 && ingress_port == 1' --count 10
  bacus trace --match 'dropped' --count 1 --json | jq '.steps[-1].drop'
  bacus trace --match '!ipv4' --capture other.pcapng --for 10
  bacus trace --count 1 --packet-trace                the entries that were hit, as PINS' validation has them

A filter compares fields of headers and metadata, as they are behind the parser, by their names in
the program, in full or by their last parts: == != < <= > >= && || ! ( ). Values are numbers,
addresses, prefixes (10.0.0.0/8) and VALUE&&&MASK. A header by itself is true where it is valid.
Also: ingress_port, packet_length, egress_port (of any packet sent), dropped.
docs/trace.md describes what is shown, and what a trace costs.";

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    connection: Connection,
    /// Only packets for which this is true [default: all]
    #[arg(long = "match", value_name = "FILTER", default_value = "", hide_default_value = true)]
    filter: String,
    /// End after this many packets
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    count: Option<u64>,
    /// End after this time
    #[arg(long = "for", value_name = "SECONDS", value_parser = flags::seconds)]
    duration: Option<f64>,
    /// Packets that are looked at in a second, at most; others are forwarded all the same
    #[arg(long, value_name = "N", default_value_t = 10_000, value_parser = clap::value_parser!(u32).range(1..=1_000_000))]
    rate: u32,
    /// Print an object for each packet, one a line
    #[arg(long)]
    json: bool,
    /// Print a `dvaas.PacketTrace` for each packet, as PINS' data-plane validation reads it, in protobuf's JSON form, one a line
    #[arg(long, conflicts_with = "json")]
    packet_trace: bool,
    /// Write the packets that were received to this capture (pcapng), each with its verdict as a comment
    #[arg(long, value_name = "FILE.pcapng")]
    capture: Option<PathBuf>,
}

const DAMAGED: &str =
    "the switch sends paths of packets that this version does not read: use `bacus trace` of its version";

/// Packets of an answer at most.
const TOGETHER: u64 = 64;

pub fn run(arguments: &Arguments) -> ExitCode {
    let settings = match arguments.connection.settings() {
        Ok(settings) => settings,
        Err(failure) => return failure.report(),
    };
    let capture = match arguments.capture.as_deref().map(capture::Capture::create).transpose() {
        Ok(capture) => capture,
        Err(failure) => return failure.report(),
    };
    let traced =
        settings.and_then(|settings| Client::connect(&settings)).and_then(|client| follow(arguments, client, capture));
    match traced {
        Ok(Ok(())) => stdout::end(),
        Ok(Err(failure)) => failure.report(),
        Err(failure) => messages::print_plainly(&failure),
    }
}

/// Prints packets until there are enough. The inner error is that of the capture.
fn follow(
    arguments: &Arguments,
    mut client: Client,
    mut capture: Option<capture::Capture>,
) -> Result<Result<(), driver::failure::Failure>, Failure> {
    let end = arguments.duration.map(|seconds| Instant::now() + Duration::from_secs_f64(seconds));
    let names = if arguments.packet_trace { Some(names(&mut client)?) } else { None };
    let (mut trace, mut seen, mut looked_at, mut passed_over) = (0, 0u64, 0, 0);
    let mut steps = None;
    while arguments.count.is_none_or(|count| seen < count) && end.is_none_or(|end| Instant::now() < end) {
        let most = arguments.count.map_or(TOGETHER, |count| (count - seen).min(TOGETHER)) as u32;
        let request = TraceRequest {
            filter: arguments.filter.clone(),
            trace,
            most,
            rate: arguments.rate,
            compact: true,
            device_id: 0,
        };
        let answer = client.trace(request)?;
        trace = answer.trace;
        looked_at += answer.looked_at;
        passed_over += answer.passed_over;
        steps = answer.names.or(steps);
        for packet in answer.packets {
            let Some(packet) = shown(packet, steps.as_ref()) else {
                return Ok(Err(driver::failure::Failure::environment(DAMAGED)));
            };
            let packet = &packet;
            seen += 1;
            let printed = match &names {
                Some(names) => format!("{}\n", names.packet(seen, packet)),
                None if arguments.json => format!("{}\n", json::packet(packet)),
                None => text::packet(seen, packet),
            };
            if let Some(Err(failure)) = capture.as_mut().map(|capture| capture.add(packet, &verdict(packet))) {
                return Ok(Err(failure));
            }
            // A reader that has gone has seen enough.
            if stdout::print(&printed).is_err() {
                return Ok(Ok(()));
            }
        }
    }
    if !arguments.json && names.is_none() {
        let other = if passed_over == 0 {
            String::new()
        } else {
            format!("; {passed_over} came too fast to be looked at (--rate)")
        };
        eprintln!("{seen} of {looked_at} packets match{other}");
    }
    Ok(Ok(()))
}

/// A packet with its steps, as the names of the trace have them. A switch of an earlier version sends them as they are.
fn shown(packet: TracedPacket, names: Option<&TraceNames>) -> Option<TracedPacket> {
    if packet.path.is_empty() { Some(packet) } else { with_steps(packet, names?) }
}

/// Of the pipeline that runs.
fn names(client: &mut Client) -> Result<validation::Names, Failure> {
    let info = client.config()?.and_then(|config| config.p4info);
    Ok(validation::Names::new(info.unwrap_or_default()))
}

/// How a packet ended, and where, in a line.
pub fn verdict(packet: &TracedPacket) -> String {
    let mut node = "";
    let mut ends: Vec<String> = Vec::new();
    for step in packet.steps.iter().filter_map(|step| step.step.as_ref()) {
        match step {
            Step::Node(name) => node = name,
            Step::Send(sent) => ends.push(format!("sent to port {}", sent.port)),
            Step::Drop(reason) => ends.push(format!("dropped at {node}: {reason}")),
            Step::Punt(reason) => ends.push(format!("handed to the control plane at {node}: {reason}")),
            Step::Enter(_) | Step::Extract(_) | Step::Set(_) | Step::Apply(_) | Step::Error(_) | Step::Copy(_) => {}
        }
    }
    if ends.is_empty() { "not sent".to_string() } else { ends.join("; ") }
}
