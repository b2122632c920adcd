//! The machine as it is while a case is measured: the one of the file, with the pace that core and memory have just then.
//!
//! A shared host changes its pace by up to two within minutes, so a prediction for the minute of the calibration
//! predicts little about a case measured an hour later. Plans are made for the file's machine alone; only what is
//! written beside a measurement is predicted with this one.

use driver::compile;
use driver::failure::Failure;
use driver::options::Native;
use hlir::{Plan, Program};
use measure::calibrate::{self, Pace};
use measure::samples::Samples;
use opt::Inputs;
use opt::analyze::Traffic;
use opt::inputs::machine::Port;
use opt::inputs::{Access, Machine};
use opt::model::Model;
use runtime::{Descriptor, Probe};
use std::time::Duration;

/// Points of the curves that are read again; between them, curves moved as their neighbours did. Of a
/// last-level cache that is shared, others have now more and now less: that moves working sets about as
/// large as it, such as the last but one, and no others.
const SIZES_KB: [u64; 7] = [16, 256, 2 << 10, 8 << 10, 16 << 10, 64 << 10, 256 << 10];
const IN_FLIGHT: [u32; 3] = [1, 8, 64];
/// Bytes of memory that this takes.
pub const LARGEST: usize = (SIZES_KB[SIZES_KB.len() - 1] as usize) << 10;
const SAMPLES: usize = 9;
/// For each point of a curve, and each number of the core.
const MIN_TIME: Duration = Duration::from_millis(4);
/// Predicts what a plan costs.
pub struct Predictor {
    pub program: Program,
    pub inputs: Inputs,
    pub plan: Plan,
}

impl Predictor {
    /// Cycles per packet on this machine.
    pub fn cycles(&self, machine: &Machine) -> f64 {
        let inputs = Inputs { machine: machine.clone(), ..self.inputs.clone() };
        let traffic = Traffic::estimate(&self.program, &inputs);
        Model::new(&self.program, &inputs, &traffic).predict(&self.plan).cycles()
    }
}

/// One reading of memory and core.
struct Reading {
    /// Cycles per line, by access, size and lines in flight.
    lines: [[[f64; IN_FLIGHT.len()]; SIZES_KB.len()]; Access::ALL.len()],
    core_per_tick: f64,
    mispredict_cycles: f64,
    window: f64,
}

/// What is measured between the rounds of a case's variants.
pub struct MachineDrift {
    known: Machine,
    pace: Pace,
    readings: Vec<Reading>,
}

impl MachineDrift {
    pub fn new(known: &Machine, native: &Native) -> Result<MachineDrift, Failure> {
        let compiler = compile::compiler(native)?;
        Ok(MachineDrift { known: known.clone(), pace: Pace::new(&compiler)?, readings: Vec::new() })
    }

    pub fn begin(&mut self) {
        self.pace.begin();
        self.readings.clear();
    }

    pub fn round(&mut self) {
        self.pace.round();
    }

    pub fn read(&mut self, probe: &Probe) {
        let mut lines = [[[0.0; IN_FLIGHT.len()]; SIZES_KB.len()]; Access::ALL.len()];
        for (size, kb) in SIZES_KB.into_iter().enumerate() {
            let bytes = (kb as usize) << 10;
            probe.touch(bytes);
            for (curve, access) in accesses() {
                for (column, in_flight) in IN_FLIGHT.into_iter().enumerate() {
                    let once = || probe.lines(bytes, calibrate::kernel(access), in_flight);
                    // The first brings the code, and of a small working set the lines.
                    once();
                    // The lower quartile, as the calibration has it, for it is the two that are compared.
                    lines[curve][size][column] = samples(once).quartile(1);
                }
            }
        }
        let core_per_tick = samples(|| Some(probe.core_per_tick())).median();
        let mispredict_cycles = samples(|| Some(probe.mispredict())).median();
        let window = f64::from(calibrate::window_now(probe));
        self.readings.push(Reading { lines, core_per_tick, mispredict_cycles, window });
    }

    /// The machine as it was since `begin`; `floors` are what the port cost in this case.
    pub fn machine(&self, burst: u32, floors: &[(Descriptor, f64)]) -> Machine {
        let mut machine = self.known.clone();
        for (curve, access) in accesses() {
            let ratio = |size: usize, column: usize| {
                let before = self.known.line_cycles(access, SIZES_KB[size] << 10, IN_FLIGHT[column]).max(0.001);
                self.mean(|reading| reading.lines[curve][size][column]) / before
            };
            scale(&mut machine, access, &ratio);
        }
        machine.core_per_tick = self.mean(|reading| reading.core_per_tick);
        machine.mispredict_cycles = self.mean(|reading| reading.mispredict_cycles).max(1.0);
        machine.window = self.mean(|reading| reading.window) as u32;
        self.pace.write(&mut machine);
        let floor = |wanted: Descriptor| floors.iter().find(|(descriptor, _)| *descriptor == wanted);
        let of = |wanted: Descriptor| vec![floor(wanted).map_or(0.0, |(_, cycles)| *cycles)];
        let mbuf_measured = floor(Descriptor::Mbuf).is_some();
        machine.port = Port {
            burst: vec![burst],
            own: of(Descriptor::Own),
            mbuf: of(Descriptor::Mbuf),
            mbuf_measured,
            ..Port::default()
        };
        machine
    }

    /// The geometric mean over the readings.
    fn mean(&self, value: impl Fn(&Reading) -> f64) -> f64 {
        let sum: f64 = self.readings.iter().map(|reading| value(reading).max(0.001).ln()).sum();
        (sum / self.readings.len().max(1) as f64).exp()
    }
}

/// The kinds of access that programs use, with their places among all: they gather nothing.
fn accesses() -> impl Iterator<Item = (usize, Access)> {
    Access::ALL.into_iter().enumerate().filter(|(_, access)| *access != Access::Gather)
}

/// Multiplies a curve by ratios that are known at some of its points.
fn scale(machine: &mut Machine, access: Access, ratio: &dyn Fn(usize, usize) -> f64) {
    let (sizes, in_flight) = (machine.lines.working_set_kb.clone(), machine.lines.in_flight.clone());
    for (row, kb) in machine.lines.table_mut(access).iter_mut().zip(&sizes) {
        let (size, down) = between(&SIZES_KB.map(|kb| kb as f64), *kb as f64);
        for (case, in_flight) in row.iter_mut().zip(&in_flight) {
            let (column, right) = between(&IN_FLIGHT.map(f64::from), f64::from(*in_flight));
            let along =
                |size: usize| mixed(ratio(size, column), ratio(size, (column + 1).min(IN_FLIGHT.len() - 1)), right);
            *case *= mixed(along(size), along((size + 1).min(SIZES_KB.len() - 1)), down);
        }
    }
}

/// The last point that is not above `at`, and how far `at` lies between it and the next one, by logarithms.
fn between(points: &[f64], at: f64) -> (usize, f64) {
    let place = points.partition_point(|point| *point <= at).saturating_sub(1);
    let Some(next) = points.get(place + 1) else { return (place, 0.0) };
    (place, ((at / points[place]).ln() / (next / points[place]).ln()).clamp(0.0, 1.0))
}

fn mixed(one: f64, other: f64, part: f64) -> f64 {
    (one.ln() * (1.0 - part) + other.ln() * part).exp()
}

fn samples(once: impl FnMut() -> Option<f64>) -> Samples {
    let mut samples = Samples::default();
    samples.take_for(SAMPLES, MIN_TIME, once);
    samples
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn curves_move_with_the_points_that_were_read_again() {
        let known = Machine::default();
        let mut machine = known.clone();
        scale(&mut machine, Access::Load, &|size, _| if size == 0 { 1.0 } else { 2.0 });
        let moved =
            |kb: u64| machine.line_cycles(Access::Load, kb << 10, 4) / known.line_cycles(Access::Load, kb << 10, 4);
        assert!((moved(256 << 10) - 2.0).abs() < 1e-9 && moved(32) < 1.3, "{} {}", moved(256 << 10), moved(32));
        assert_eq!(machine.lines.group_t0, known.lines.group_t0);
        assert_eq!(machine.lines.group_t1, known.lines.group_t1);
    }

    #[test]
    fn points_lie_between_their_neighbours_by_logarithms() {
        assert_eq!(between(&[16.0, 64.0], 32.0), (0, 0.5));
        assert_eq!(between(&[16.0, 64.0], 8.0), (0, 0.0));
        assert_eq!(between(&[16.0, 64.0], 128.0), (1, 0.0));
    }
}
