//! The cost of TLB misses: lines that are alone on their small pages need an address translation each.

use super::Access;
use super::machine::{MOST_CYCLES, MOST_KB, expect, is_ascending, locate};
use serde::{Deserialize, Serialize};

/// Excess cost of such a line over one on a shared page, by the total size of the pages.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tlb {
    pub span_kb: Vec<u64>,
    /// Cycles of a load that overlaps with nothing.
    pub load: Vec<f64>,
    /// Cycles per line of a steady stream with a packet's work between its lines.
    pub stream: Vec<f64>,
}

impl Tlb {
    /// Rejects values that no measurement gives.
    pub fn check(&self) -> Result<(), String> {
        if !is_ascending(&self.span_kb, MOST_KB) {
            return Err(format!("tlb.span_kb: expected sizes that rise, from 1 to {MOST_KB}"));
        }
        for (name, cycles) in [("tlb.load", &self.load), ("tlb.stream", &self.stream)] {
            if cycles.len() != self.span_kb.len() {
                return Err(format!("{name}: expected a number for each span"));
            }
            cycles.iter().try_for_each(|cycles| expect(name, *cycles, 0.0..=MOST_CYCLES))?;
        }
        Ok(())
    }

    /// Excess cycles per line for pages of `span` bytes, interpolated like the curves of lines. Loads in
    /// flight share a latency, down to the cost of a stream. Prefetches of a group translate one after the
    /// other, as those of a stream do.
    pub fn cycles(&self, access: Access, span: u64, in_flight: f64) -> f64 {
        let spans: Vec<f64> = self.span_kb.iter().map(|kb| (*kb as f64 * 1024.0).log2()).collect();
        let (row, down) = locate(&spans, (span.max(1) as f64).log2());
        let interpolate = |cycles: &[f64]| cycles[row] * (1.0 - down) + cycles[(row + 1).min(cycles.len() - 1)] * down;
        let stream = interpolate(&self.stream);
        match access {
            Access::Load | Access::Gather => (interpolate(&self.load) / in_flight.max(1.0)).max(stream),
            Access::PrefetchT0
            | Access::PrefetchT1
            | Access::GroupT0
            | Access::GroupT1
            | Access::BusyT0
            | Access::BusyT1 => stream,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loads_in_flight_share_a_tlb_miss_down_to_the_cost_of_a_stream() {
        let tlb = Tlb { span_kb: vec![1024, 4096], load: vec![2.0, 24.0], stream: vec![0.0, 4.0] };
        let load = |span: u64, lines| tlb.cycles(Access::Load, span, lines);
        assert_eq!([1.0, 2.0, 4.0, 8.0].map(|lines| load(4 << 20, lines)), [24.0, 12.0, 6.0, 4.0]);
        assert_eq!([1 << 10, 1 << 20, 2 << 20, 1 << 40].map(|span| load(span, 1.0)), [2.0, 2.0, 13.0, 24.0]);
        assert_eq!(tlb.cycles(Access::GroupT0, 2 << 20, 1.0), 2.0);
    }
}
