//! `bacus calibrate`: its flags, and the summary that it prints of a machine.

use driver::failure::Failure;
use driver::files;
use driver::machine_file::{self, default_file};
use driver::ports;
use driver::stdout::{print, print_line};
use measure::calibrate::{self, AtHand, MEMORY, Measured, draw, pages_of_host, size_name};
use opt::inputs::machine::Port;
use opt::inputs::{Access, Machine};
use std::path::{Path, PathBuf};

pub const EXAMPLES: &str = "\
Examples:
  bacus calibrate                             write machines/HOST.toml
  bacus calibrate -o lab.toml --svg           and draw the curves, into lab.svg
  bacus calibrate --port 0=veth0              measures which batch and ring that port needs
  bacus calibrate --port 0=veth0 --port 1=veth1
                                              the same on two ports that are wired to each other
  bacus calibrate --compare lab.toml lab2.toml
                                              compares two files: points that differ by over 10 %

With --port, packets come from a sender on the wire, from the port itself (net_null0), or return
on a loop (wired ports, net_ring0). If fewer than 20,000 a second arrive, the calibration sends
packets of its own: one every 100 ms until one returns, for at most 3 seconds, then as many as the
ring holds.";

#[derive(clap::Args)]
pub struct Arguments {
    /// The machine file to write [default: machines/HOST.toml]
    #[arg(short, long)]
    output: Option<PathBuf>,
    /// Draw the curves [without a name: beside the machine file, NAME.svg]
    #[arg(long, value_name = "FILE")]
    svg: Option<Option<PathBuf>>,
    /// Measure an echo on this port (as for `bacus run`); with a machine file, measure nothing else; repeatable
    #[arg(long = "port", value_name = "N=DEVICE")]
    ports: Vec<ports::Port>,
    /// Largest working set to measure, in MB
    #[arg(long, value_name = "MB", default_value_t = MEMORY, value_parser = clap::value_parser!(u32).range(64..=65536))]
    memory: u32,
    /// Measure nothing, and print the points of two machine files that differ by more than two runs on an idle machine
    #[arg(long, value_names = ["FILE", "FILE"], num_args = 2, conflicts_with_all = ["output", "svg", "cc", "ports"])]
    compare: Vec<PathBuf>,
    /// C compiler for the kernels
    #[arg(long)]
    cc: Option<String>,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    if let [one, other] = &arguments.compare[..] {
        let (text, agree) = calibrate::compare(one, other)?;
        print(&text)?;
        return if agree { Ok(()) } else { Err(Failure::Reported) };
    }
    let output = arguments.output.clone().unwrap_or_else(default_file);
    let picture = arguments.svg.clone().map(|named| named.unwrap_or_else(|| output.with_extension("svg")));
    check_outputs(arguments, &output, picture.as_deref())?;
    let svg = if arguments.ports.is_empty() { machine(arguments, &output)? } else { port(arguments, &output)? };
    print_line!("machine file: {}", output.display());
    if let Some(path) = picture {
        files::write(&path, svg.map_err(Failure::environment)?.as_bytes())?;
        print_line!("curves: {}", path.display());
    }
    Ok(())
}

/// Refuses, before anything is measured, what could not be saved.
fn check_outputs(arguments: &Arguments, output: &Path, picture: Option<&Path>) -> Result<(), Failure> {
    let hint = |failure: Failure| match &failure {
        Failure::Environment(text) if arguments.output.is_none() => {
            Failure::Environment(format!("{text}hint: name another file with -o\n"))
        }
        Failure::Environment(_) | Failure::Input(_) | Failure::Reported => failure,
    };
    files::check_writable(output).map_err(hint)?;
    picture.map_or(Ok(()), files::check_writable)
}

/// Measures the machine, and draws what was seen.
fn machine(arguments: &Arguments, output: &Path) -> Result<Result<String, String>, Failure> {
    let mut measured = calibrate::machine(arguments.cc.as_deref(), arguments.memory)?;
    print_line!("{}", summary(&measured));
    if let Some(hint) = pages_of_host(&measured.machine) {
        print_line!("{hint}");
    }
    if let Some(kept) = calibrate::keep_port(&mut measured, output) {
        print_line!("kept from before: {}", on_port(&kept));
    }
    calibrate::write(output, &measured.machine)?;
    if arguments.output.is_none() {
        calibrate::copy_to_cache(output)?;
    }
    Ok(draw::curves(&measured, &machine_file::caches()))
}

/// Measures an echo on the ports that were named.
fn port(arguments: &Arguments, output: &Path) -> Result<Result<String, String>, Failure> {
    let wanted = AtHand { ports: &arguments.ports, cc: arguments.cc.as_deref(), memory: arguments.memory };
    let (port, seen) = calibrate::port_at_hand(&wanted, output, |measured| print_line!("{}", summary(measured)))?;
    print_line!("{}", on_port(&port));
    Ok(draw::echo(&seen))
}

/// The numbers that a person wants to see first.
fn summary(measured: &Measured) -> String {
    let machine = &measured.machine;
    let mut text = format!(
        "{}\n{:.0} ticks per microsecond, {:.2} core cycles per tick, pages of {} KB, spread {:.1} %\n\
         reorder buffer of {} instructions, {} outstanding misses, {} lines in flight are enough, bursts of {}, \
         {:.0} cycles for a mispredicted branch\n\
         {:.2} cycles per instruction, {:.2} in stages, {}, {:.1} per prefetch, {:.0} per loop of a stage; \
         a packet costs the port {}\n{}\n\n\
         cycles per line    latency  4 in flight  16 in flight  64 in flight  prefetched\n",
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
            .map_or("no vectors".to_string(), |it| format!("{:.2} in {} SIMD lanes", it.operation_cycles, it.packets)),
        machine.stages().prefetch_cycles,
        machine.stages().loop_cycles,
        floors(machine),
        on_port(&machine.port),
    );
    for kb in machine.lines.working_set_kb.iter().step_by(2) {
        let bytes = kb << 10;
        let load = |lines| machine.line_cycles(Access::Load, bytes, lines);
        let prefetched =
            machine.line_cycles(Access::PrefetchT0, bytes, 64).min(machine.line_cycles(Access::PrefetchT1, bytes, 64));
        text.push_str(&format!(
            "{:>15} {:>10.1} {:>12.2} {:>13.2} {:>13.2} {:>11.2}\n",
            size_name(*kb),
            load(1),
            load(4),
            load(16),
            load(64),
            prefetched
        ));
    }
    text
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

/// What saturates an echo on the port, and how much work does not lower its rate then.
fn on_port(port: &Port) -> String {
    let device = port.device.as_deref().unwrap_or("the in-memory port");
    let batch = port.batch.map_or("?".to_string(), |batch| batch.to_string());
    let ring = match (port.ring, &port.device) {
        (Some(ring), Some(_)) => format!("a ring of {ring}"),
        (Some(ring), None) => format!("{ring} buffers"),
        (None, _) => "a ring whose size cannot be chosen".to_string(),
    };
    let free = match port.free_cycles {
        Some(cycles) if cycles > 0.0 => format!("{cycles:.1} cycles of work for each packet do not lower its rate"),
        Some(_) => "any work lowers its rate, since the core never waits for packets".to_string(),
        None => "the work that does not lower its rate is unknown, since packets arrive too slowly".to_string(),
    };
    format!("on {device}, batches of {batch} and {ring} are enough for an echo; {free}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_an_echo_needs_is_said_of_its_port() {
        let in_memory = Port { ring: Some(64), batch: Some(64), free_cycles: Some(0.0), ..Port::default() };
        assert_eq!(
            on_port(&in_memory),
            "on the in-memory port, batches of 64 and 64 buffers are enough for an echo; \
             any work lowers its rate, since the core never waits for packets"
        );
        let device = Some("net_null".to_string());
        let fixed = on_port(&Port { device, ring: None, free_cycles: Some(31.25), ..in_memory.clone() });
        assert!(fixed.contains("on net_null, batches of 64 and a ring whose size cannot be chosen"), "{fixed}");
        assert!(fixed.contains("31.2 cycles"), "{fixed}");
        let slow = on_port(&Port { free_cycles: None, ..in_memory });
        assert!(slow.contains("is unknown"), "{slow}");
    }
}
