//! The calibration as an experiment: what *P4+BACUS* measured of its machine (section 3, figures 8 to 10), and what this machine has.

use super::figure::{Figure, Role, short};
use super::outcome::{Better, Finding, Reading};
use crate::options::Options;
use driver::failure::Failure;
use measure::calibrate::{self, Measured};
use opt::inputs::Access;

/// MB of a whole calibration, and of a quick one.
const MEMORY: [u32; 2] = [1024, 256];
/// Lines in flight of the curves.
const IN_FLIGHT: [u32; 5] = [1, 2, 4, 8, 16];
/// The paper's effective latency of a working set of 256 KB with ten misses in flight.
const PAPER_LINE: (u64, u32, f64) = (256, 10, 8.0);
/// How much more a line of memory takes than one of the last cache there, with one miss in flight and with ten.
const PAPER_GAPS: [(u32, f64); 2] = [(1, 165.0), (10, 20.0)];

pub fn run(options: &Options) -> Result<(Reading, Measured), Failure> {
    let measured = calibrate::machine(options.native.cc.as_deref(), MEMORY[usize::from(options.quick)])?;
    Ok((read(&measured), measured))
}

fn found(what: &str, unit: &str, paper: Option<f64>, measured: f64) -> Finding {
    Finding {
        case: "this machine".to_string(),
        what: what.to_string(),
        unit: unit.to_string(),
        paper,
        predicted: None,
        measured,
        better: Better::Neither,
    }
}

fn read(measured: &Measured) -> Reading {
    let machine = &measured.machine;
    let line = |kb: u64, in_flight: u32| machine.line_cycles(Access::Load, kb << 10, in_flight);
    let largest = machine.lines.working_set_kb.last().copied().unwrap_or(1 << 18);
    let last_cache = last_cache(machine);
    let optional = [
        ("ring size R", "buffers", 256.0, machine.port.ring.map(f64::from)),
        ("I/O batch IOBS", "packets", 32.0, machine.port.batch.map(f64::from)),
        ("free cycles at IOBS", "cycles per packet", 32.0, machine.port.free_cycles),
        ("outstanding misses (maximum MLP)", "lines", 10.0, machine.misses.map(f64::from)),
    ];
    let mut findings: Vec<Finding> = optional
        .into_iter()
        .filter_map(|(what, unit, paper, measured)| Some(found(what, unit, Some(paper), measured?)))
        .collect();
    findings.push(found("reorder buffer", "instructions", Some(192.0), f64::from(machine.window)));
    findings.push(found("largest useful batch Bmax", "packets", Some(64.0), f64::from(machine.burst)));
    let (kb, in_flight, paper) = PAPER_LINE;
    let what = format!("effective latency, {kb} KB, {in_flight} in flight");
    findings.push(found(&what, "cycles", Some(paper), line(kb, in_flight)));
    for (in_flight, paper) in PAPER_GAPS {
        let what = format!("memory over last cache, {in_flight} in flight");
        findings.push(found(&what, "cycles", Some(paper), line(largest, in_flight) - line(last_cache, in_flight)));
    }
    let notes = vec![
        format!(
            "the last cache is taken at {} KB; cycles are ticks of the time stamp counter",
            short(last_cache as f64)
        ),
        "the in-memory port has no PCIe: its ring and batch are not those of a NIC, and it leaves no cycles free"
            .to_string(),
        "Δ of indexing a table (42 cycles in the paper) is a cost of each structure here, not one number".to_string(),
    ];
    Reading { findings, figures: vec![latencies(measured), windows(measured), misses(measured)], notes }
}

/// The largest working set before the steepest step in latency.
fn last_cache(machine: &opt::inputs::Machine) -> u64 {
    let sizes = &machine.lines.working_set_kb;
    let step = |pair: &[u64]| {
        let cycles = |kb: u64| machine.line_cycles(Access::Load, kb << 10, 1);
        cycles(pair[1]) - cycles(pair[0])
    };
    let steepest = sizes.windows(2).max_by(|one, other| step(one).total_cmp(&step(other)));
    steepest.map_or(16 << 10, |pair| pair[0])
}

/// Figure 10: effective latency over the working set.
fn latencies(measured: &Measured) -> Figure {
    let machine = &measured.machine;
    let mut figure = Figure::curves(
        "Effective latency over the working set",
        "working set, KB",
        "cycles a line, by lines in flight",
    );
    figure.log_y = true;
    for (colour, in_flight) in IN_FLIGHT.into_iter().enumerate() {
        let point = |kb: &u64| (*kb as f64, machine.line_cycles(Access::Load, kb << 10, in_flight));
        figure.add(
            &format!("{in_flight}"),
            Role::Measured,
            colour,
            machine.lines.working_set_kb.iter().map(point).collect(),
        );
    }
    figure
}

fn points(points: &[(u32, f64)]) -> Vec<(f64, f64)> {
    points.iter().map(|(at, cycles)| (f64::from(*at), *cycles)).collect()
}

/// Figure 8: two misses with fillers between them.
fn windows(measured: &Measured) -> Figure {
    let mut figure = Figure::curves("Reorder buffer", "instructions between two misses", "cycles of both misses");
    figure.log_x = false;
    figure.add("two misses", Role::Measured, 0, points(&measured.windows));
    figure
}

/// Independent misses, with fillers before the last.
fn misses(measured: &Measured) -> Figure {
    let what = "cycles of all misses, by instructions before the last";
    let mut figure = Figure::curves("Misses in flight", "misses before the last", what);
    figure.log_x = false;
    for (colour, (before, curve)) in measured.misses.iter().enumerate() {
        figure.add(&format!("{before}"), Role::Measured, colour, points(curve));
    }
    figure
}

#[cfg(test)]
mod tests {
    use super::*;
    use opt::inputs::Machine;

    #[test]
    fn the_last_cache_ends_at_the_steepest_step() {
        let machine = Machine::default();
        let last = last_cache(&machine);
        let next = machine.lines.working_set_kb.iter().find(|kb| **kb > last).expect("memory lies behind");
        let cycles = |kb: u64| machine.line_cycles(Access::Load, kb << 10, 1);
        assert!(cycles(*next) > 1.3 * cycles(last), "{last} KB: {} and {}", cycles(last), cycles(*next));
    }
}
