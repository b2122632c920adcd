//! `bacus doctor`: what this machine lacks for a fast switch, what each lack costs here, and the command that mends it.

mod calibration;
mod devices;
mod finding;
mod host;
mod measured;
mod rights;
mod system;
mod tools;

use driver::failure::Failure;
use driver::stdout::print_line;
use finding::{Finding, State};
use host::Host;
use measured::Measured;
use serde_json::Value;

pub const EXAMPLES: &str = "\
Examples:
  bacus doctor                      what is missing, what it costs, how it is mended
  bacus doctor --no-measure         without measuring: at once, and where there is no C compiler
  bacus doctor --json | jq '.[] | select(.state != \"ok\").mend'

States:
  ok       as it should be
  note     to know about; nothing has to be done
  slower   the switch runs, but slower than it could here
  missing  a kind of port, or a feature, cannot be used
  fault    no switch runs

Exit codes: 3 with a fault, else 0.";

#[derive(clap::Args)]
pub struct Arguments {
    /// Measure nothing: costs are left out
    #[arg(long)]
    no_measure: bool,
    /// Print a list of objects
    #[arg(long)]
    json: bool,
    /// C compiler
    #[arg(long)]
    cc: Option<String>,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let host = Host::at("/");
    let measured = if arguments.no_measure { Measured::default() } else { measured::measure(arguments.cc.as_deref()) };
    let mut findings = tools::check(arguments.cc.as_deref());
    findings.extend(system::check(&host, &measured));
    findings.extend(devices::check(&host));
    findings.extend(rights::check(&host));
    findings.push(calibration::check(&measured));
    if arguments.json {
        print_line!("{}", findings.iter().map(Finding::json).collect::<Value>());
    } else {
        findings.iter().for_each(Finding::print);
    }
    match findings.iter().find(|finding| finding.state == State::Fault) {
        Some(fault) => {
            Err(Failure::environment(format!("no switch runs on this machine: {}: {}", fault.of, fault.text)))
        }
        None => Ok(()),
    }
}
