//! `bacus stat`: what a running switch does, as a table that renews itself, once, or as JSON.

mod picture;
pub mod text;

use crate::connection::Connection;
use crate::ctl::messages;
use clap::Args;
use control::message::switch::{Code, ReportResponse};
use ctl::{Client, Failure};
use driver::{flags, stdout};
use serde_json::{Value, json};
use std::io::IsTerminal as _;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

pub const EXAMPLES: &str = "\
Examples:
  bacus stat                                    the switch of this machine, each second, until Ctrl-C
  bacus stat --once                             the counts as they are
  bacus stat --once --json | jq '.tables[] | select(.misses > 0).table'
  bacus stat --connect 192.0.2.1:9559 --interval 5
  bacus stat --count 8 --svg stat.svg           records eight reports as a picture

Rates are those since the last report; with --once, of one interval.
docs/operations.md describes the columns.";

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    connection: Connection,
    /// Print one report, and end
    #[arg(long)]
    once: bool,
    /// Print an object for each report, one a line
    #[arg(long)]
    json: bool,
    /// End after so many reports
    #[arg(long, value_name = "N", conflicts_with = "once", value_parser = clap::value_parser!(u32).range(1..))]
    count: Option<u32>,
    /// Also draw the reports as a picture: a terminal that shows one after the other
    #[arg(long, value_name = "FILE.svg", conflicts_with = "json", requires = "count")]
    svg: Option<PathBuf>,
    /// Between two reports
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = flags::seconds)]
    interval: f64,
}

/// Clears the terminal, and begins at its top.
const CLEAR: &str = "\x1b[H\x1b[2J\x1b[3J";

/// All counts, and when they were read.
pub struct Sample {
    pub report: ReportResponse,
    pub at: Instant,
}

pub fn run(arguments: &Arguments) -> ExitCode {
    let settings = match arguments.connection.settings() {
        Ok(settings) => settings,
        Err(failure) => return failure.report(),
    };
    let watched = settings.and_then(|settings| Client::connect(&settings)).and_then(|client| watch(arguments, client));
    match watched {
        Ok(()) => stdout::end(),
        Err(failure) => messages::print_plainly(&failure),
    }
}

fn watch(arguments: &Arguments, mut client: Client) -> Result<(), Failure> {
    let interval = Duration::from_secs_f64(arguments.interval);
    let renews = !arguments.json && !arguments.once && std::io::stdout().is_terminal();
    let mut before = sample(&mut client)?;
    if arguments.once && arguments.json {
        stdout::line(format_args!("{}", json(&before.report)));
        return Ok(());
    }
    let mut drawn = Vec::new();
    for number in 1.. {
        std::thread::sleep(interval);
        let now = sample(&mut client)?;
        let printed = match arguments.json {
            true => format!("{}\n", json(&now.report)),
            false => text::table(&before, &now),
        };
        let begin = if renews { CLEAR } else { "" };
        let is_last = arguments.once || arguments.count == Some(number);
        let end = if renews || is_last || arguments.json { "" } else { "\n" };
        if let Some(path) = &arguments.svg {
            drawn.push(printed.clone());
            let picture = picture::recording("bacus stat", &drawn, arguments.interval);
            driver::files::write(path, picture.as_bytes()).map_err(|failure| Failure::refused(failure.message()))?;
        }
        // A reader that has gone has seen enough.
        if stdout::print(&format!("{begin}{printed}{end}")).is_err() || is_last {
            return Ok(());
        }
        before = now;
    }
    Ok(())
}

fn sample(client: &mut Client) -> Result<Sample, Failure> {
    let message = "the switch reports no counts: `bacus stat` needs a switch of bacus";
    let report = client.report()?.ok_or_else(|| Failure::refused(message))?;
    Ok(Sample { report, at: Instant::now() })
}

/// Which code runs, of a switch that specialises it.
fn code(code: &Code) -> Value {
    let sample = code.sample.as_ref().map(|sample| {
        let branches = sample.branches.iter();
        let branches =
            branches.map(|branch| json!({ "from": branch.from, "to": branch.to, "packets": branch.packets }));
        json!({ "packets": sample.packets, "branches": branches.collect::<Value>() })
    });
    json!({
        "specialised": code.specialised, "facts": code.facts, "loaded": code.loaded, "broken": code.broken,
        "last": code.last, "sample": sample,
    })
}

/// All counts as one object, without rates.
fn json(report: &ReportResponse) -> Value {
    let ports = report.ports.iter().map(|port| {
        json!({
            "port": port.number, "device": port.device, "link": port.link().as_str_name().to_lowercase(),
            "speed_mbps": port.speed_mbps,
            "received": port.received, "received_bytes": port.received_bytes, "missed": port.missed,
            "errors": port.errors, "sent": port.sent, "sent_bytes": port.sent_bytes, "not_sent": port.not_sent,
        })
    });
    let tables = report.tables.iter().map(|table| {
        json!({
            "table": table.name, "structure": table.structure, "entries": table.entries, "capacity": table.capacity,
            "bytes": table.bytes, "hits": table.hits, "misses": table.misses,
        })
    });
    let workers = report.workers.iter().map(|worker| {
        json!({
            "worker": worker.number, "received": worker.received, "sent": worker.handed, "bursts": worker.bursts,
            "busy_ns": worker.busy_ns, "idle_polls": worker.idle_polls, "tsc_hz": worker.tsc_hz,
        })
    });
    let counts = |counts: &[control::message::switch::Count]| -> Value {
        counts.iter().map(|count| (count.name.clone(), json!(count.count))).collect()
    };
    let rings = report.rings.iter().map(|ring| {
        json!({
            "worker": ring.worker, "ring": ring.name, "waiting_bytes": ring.waiting_bytes, "bytes": ring.bytes,
            "lost": ring.lost,
        })
    });
    let exchanges = report.exchanges.unwrap_or_default();
    json!({
        "rings": rings.collect::<Value>(), "code": report.code.as_ref().map(code),
        "exchanges": exchanges.count, "longest_pause_ns": exchanges.longest_pause_ns,
        "ports": ports.collect::<Value>(), "tables": tables.collect::<Value>(), "workers": workers.collect::<Value>(),
        "drops": counts(&report.drops), "events": counts(&report.events),
        "received": report.received, "copies": report.copies, "sent": report.sent, "not_sent": report.not_sent,
        "to_ports_without_device": report.to_ports_without_device, "to_controller": report.to_controller,
    })
}
