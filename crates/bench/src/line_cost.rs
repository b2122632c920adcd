//! What a line costs on this machine right now: its memory is shared, and cases of different minutes are only comparable if that did not change.

use super::machine_drift;
use super::workload::Workload;
use driver::failure::Failure;
use driver::files;
use driver::options::Native;
use measure::samples::Samples;
use runtime::{Compiler, Probe, ProbeError, probe::Access};
use std::time::Duration;

const SAMPLES: usize = 15;
/// For each kind of access: disturbances take that long.
const MIN_TIME: Duration = Duration::from_millis(30);
const IN_FLIGHT: u32 = 32;
const SMALLEST: u64 = 64 << 10;
const LARGEST: u64 = 512 << 20;

/// The working sets of a workload, ready to be measured.
pub struct LineCost {
    probe: Probe,
    /// Lines a packet, and the working set that they lie in.
    lines: Vec<(f64, usize)>,
}

impl LineCost {
    pub fn new(workload: &Workload, native: &Native) -> Result<LineCost, Failure> {
        let round = |bytes: u64| bytes.clamp(SMALLEST, LARGEST).next_power_of_two() as usize;
        let lines: Vec<(f64, usize)> = workload.lines.iter().map(|(count, bytes)| (*count, round(*bytes))).collect();
        let largest = lines.iter().map(|(_, bytes)| *bytes).max().unwrap_or(SMALLEST as usize);
        let largest = largest.max(machine_drift::LARGEST);
        let compiler = Compiler::find(native.cc.as_deref())?;
        let probe = Probe::open(&compiler, &files::cache()?, largest).map_err(Failure::environment)?;
        if probe.bytes() < machine_drift::LARGEST {
            return Err(Failure::environment(ProbeError::Memory(machine_drift::LARGEST)));
        }
        Ok(LineCost { probe, lines })
    }

    pub fn probe(&self) -> &Probe {
        &self.probe
    }

    /// Cycles that a packet's lines cost with many outstanding misses.
    pub fn read(&self) -> f64 {
        self.lines.iter().map(|(count, bytes)| count * self.line((*bytes).min(self.probe.bytes()))).sum()
    }

    fn line(&self, bytes: usize) -> f64 {
        let median = |access| {
            // The first brings lines that the others may find.
            self.probe.touch(bytes);
            self.probe.lines(bytes, access, IN_FLIGHT);
            let mut samples = Samples::default();
            samples.take_for(SAMPLES, MIN_TIME, || self.probe.lines(bytes, access, IN_FLIGHT));
            samples.median()
        };
        median(Access::PrefetchT0).min(median(Access::PrefetchT1))
    }
}

/// How far two readings are apart, relative to the smaller.
pub fn drift(before: f64, after: f64) -> f64 {
    (before - after).abs() / before.min(after).max(f64::MIN_POSITIVE)
}
