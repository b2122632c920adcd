//! What waiting for lines costs, from the machine's file: L_eff by working set, by how a line is asked for, and by how many are on their way.
//!
//! Structures compete for the caches. Who is touched often for its size stays in: a line's working set is everything that is touched at least as often, for
//! its size, as the line itself. No cache has a size here.

use super::structures::{LINE_BYTES, Line};
use crate::inputs::{Access, Machine};
use hlir::plan::Hint;

/// A line of a look-up with the traffic that it sees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touched {
    pub line: Line,
    /// Look-ups for each packet.
    pub share: f64,
}

impl Touched {
    /// Touches of each line of the working set, for one packet.
    fn rate(&self) -> f64 {
        self.share * self.line.often * LINE_BYTES as f64 / self.line.bytes.max(LINE_BYTES) as f64
    }
}

/// The working set that each line effectively lies in.
pub fn working_sets(touched: &[Touched]) -> Vec<u64> {
    let sum = |own: &Touched| {
        let others = touched.iter().filter(|other| other.rate() >= own.rate());
        others.map(|other| other.line.bytes).fold(0u64, u64::saturating_add)
    };
    touched.iter().map(sum).collect()
}

/// Memory as a look-up sees it.
pub struct Memory<'m> {
    pub machine: &'m Machine,
}

impl Memory<'_> {
    /// Cycles that a line costs beyond one that is in the first cache.
    fn beyond(&self, access: Access, bytes: u64, in_flight: f64) -> f64 {
        let at = |bytes: u64, lines: u32| self.machine.line_cycles(access, bytes, lines);
        let smallest = self.machine.lines.working_set_kb[0] << 10;
        let (low, high) = (in_flight.floor().max(1.0), in_flight.ceil().max(1.0));
        let part = if high > low { in_flight - low } else { 0.0 };
        let between = |bytes: u64| at(bytes, low as u32) * (1.0 - part) + at(bytes, high as u32) * part;
        (between(bytes) - between(smallest)).max(0.0)
    }

    /// A line that is simply read, so many being on their way.
    pub fn load(&self, bytes: u64, in_flight: f64) -> f64 {
        self.beyond(Access::Load, bytes, in_flight.min(f64::from(self.machine.parallelism)))
    }

    /// A line that is asked for ahead, in a steady stream.
    pub fn prefetch(&self, hint: Hint, bytes: u64, in_flight: f64) -> f64 {
        let access = match hint {
            Hint::T0 => Access::PrefetchT0,
            Hint::T1 | Hint::NonTemporal => Access::PrefetchT1,
        };
        self.beyond(access, bytes, in_flight)
    }

    /// Cycles until a line is there, beyond one in the first cache: what a group waits for its first line.
    pub fn latency(&self, bytes: u64) -> f64 {
        self.beyond(Access::Load, bytes, 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn touched(bytes: u64, share: f64) -> Touched {
        Touched { line: Line { bytes, often: 1.0, abreast: 1.0 }, share }
    }

    #[test]
    fn who_is_touched_often_for_its_size_stays_in_the_cache() {
        let lines = [touched(1 << 20, 1.0), touched(1 << 10, 1.0), touched(1 << 20, 0.01)];
        assert_eq!(working_sets(&lines), [(1 << 20) + (1 << 10), 1 << 10, (2 << 20) + (1 << 10)]);
    }

    #[test]
    fn lines_in_the_first_cache_cost_nothing_more() {
        let machine = Machine::default();
        let memory = Memory { machine: &machine };
        assert_eq!((memory.load(1024, 1.0), memory.latency(1024)), (0.0, 0.0));
        assert_eq!(memory.latency(256 << 20), 296.0);
        assert!(memory.load(256 << 20, 4.0) < memory.load(256 << 20, 1.0));
    }
}
