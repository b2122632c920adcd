//! The cost of memory accesses from the machine model: L_eff(working set, access, lines in flight).
//!
//! Structures compete for the caches. Lines that are touched often for their size stay cached. So the working
//! set of a line is what is touched between two touches of it (its reuse distance); caches have no sizes
//! here.
//! ```text
//! E_x(l, k) = max(0, L_x(W_l, k) − L_x(W_min, k)) + max(0, T_x(span of l) − T_x(bytes of l))     cycles per line
//! ```
//!
//! `L_x` in L1 is taken off, because a load in L1 is an operation that is counted already. `T_x` is what lines
//! that are apart cost beyond contiguous ones: the curves were measured with the latter.

use super::cache_line::{Area, Footprint, LINE_BYTES};
use crate::inputs::{Access, Machine, Stream};
use hlir::plan::Hint;

/// An area with its traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Touched {
    pub bytes: u64,
    /// Lines touched per packet.
    pub frequency: f64,
    /// So many areas like this one.
    pub count: usize,
}

impl Touched {
    /// The trace that a port replays occupies cache, too.
    pub fn of_stream(stream: Stream) -> Touched {
        Touched { bytes: stream.bytes, frequency: f64::from(stream.packet_bytes) / LINE_BYTES as f64, count: 1 }
    }

    /// Touches per packet of each line of the area.
    /// `r_i` = 64 · f_i / B_i: touches of one line per packet. The areas with the largest rates stay in the
    /// caches.
    fn rate(&self) -> f64 {
        self.frequency * LINE_BYTES as f64 / self.bytes.max(LINE_BYTES) as f64
    }
}

/// The effective working set (reuse distance in bytes) of each area's lines, as in an LRU cache.
///
/// W_i = Σ_{r_j >= r_i} B_j + Σ_{r_j < r_i} B_j · g(r_j / r_i), with g(x) = (1 − e^−x) / (1 − e^−1).
///
/// It is the sum of all areas with at least the same rate of touches per line, and of a part of each colder
/// area: with the rate ratio r of the colder area, the part (1 - e^-r) / (1 - e^-1) of it is touched between
/// two touches of a line.
pub fn working_sets(touched: &[Touched]) -> Vec<u64> {
    // g(x): of an area that is touched x times as often, the part that is touched at least once in that time,
    // if touches come at random; 1 for x = 1, so that areas of one rate count as one.
    let between = |ratio: f64| ((-ratio).exp_m1() / (-1.0f64).exp_m1()).min(1.0);
    // Programs with hundreds of tables have few classes of them. Areas of equal rate are merged, hottest
    // first.
    let mut classes: Vec<(f64, f64)> =
        touched.iter().map(|one| (one.rate(), one.bytes as f64 * one.count as f64)).collect();
    classes.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    classes.dedup_by(|(rate, bytes), (first, sum)| {
        let same = rate == first;
        *sum += if same { *bytes } else { 0.0 };
        same
    });
    let mut stays = 0.0;
    let sets: Vec<u64> = classes
        .iter()
        .enumerate()
        .map(|(at, (rate, bytes))| {
            // All areas of this rate or hotter, and a part of the colder ones.
            stays += bytes;
            let own_rate = rate.max(f64::MIN_POSITIVE);
            let rest = classes[at + 1..].iter().map(|(rate, bytes)| bytes * between(rate / own_rate));
            (stays + rest.sum::<f64>()) as u64
        })
        .collect();
    let class = |one: &Touched| classes.partition_point(|(rate, _)| *rate > one.rate());
    touched.iter().map(|one| sets[class(one)]).collect()
}

/// Memory as lookups see it.
pub struct Memory<'m> {
    pub machine: &'m Machine,
}

impl Memory<'_> {
    /// Excess cycles of a line over a line in L1. With loads or groups, only lines of the same area overlap,
    /// so few cold lines overlap with each other. In a stream, all lines are prefetched equally early.
    pub(super) fn beyond_l1(&self, access: Access, footprint: &Footprint, in_flight: f64) -> f64 {
        let overlapping = |part: f64| if access.is_stream() { in_flight } else { (in_flight * part).max(1.0) };
        footprint.areas().map(|(part, area)| part * self.area_beyond_l1(access, area, overlapping(part))).sum()
    }

    fn area_beyond_l1(&self, access: Access, area: Area, in_flight: f64) -> f64 {
        let at = |bytes: u64, lines: u32| self.machine.line_cycles(access, bytes, lines);
        let smallest = self.machine.lines.working_set_kb[0] << 10;
        let (low, high) = (in_flight.floor().max(1.0), in_flight.ceil().max(1.0));
        let part = if high > low { in_flight - low } else { 0.0 };
        // Between two counts of lines, some stalls have one line more than others. Their times are averaged,
        // then divided by their lines. The average cost per line would weigh stalls with fewer lines too
        // much.
        let wait = |bytes: u64, lines: f64| at(bytes, lines as u32) * lines;
        let between = |bytes: u64| (wait(bytes, low) * (1.0 - part) + wait(bytes, high) * part) / in_flight.max(1.0);
        // The curves contain the TLB misses of dense lines.
        let tlb_misses = |span: u64| self.machine.tlb_miss_cycles(access, span, in_flight);
        let sparse = (tlb_misses(area.span) - tlb_misses(area.bytes)).max(0.0);
        (between(area.bytes) - between(smallest)).max(0.0) + sparse
    }

    /// A line that is loaded, with `in_flight` lines in flight.
    /// No more lines than the core has outstanding at once (`M`): the reorder buffer may hold more loads than
    /// there are miss registers.
    pub fn load(&self, footprint: &Footprint, in_flight: f64) -> f64 {
        self.beyond_l1(Access::Load, footprint, in_flight.min(f64::from(self.machine.parallelism)))
    }

    /// A line that is prefetched one group ahead, in a steady stream.
    /// `E_prefetch`: cycles per line of a stream that never stops, so it is bandwidth rather than latency.
    pub fn prefetch(&self, hint: Hint, footprint: &Footprint, in_flight: f64) -> f64 {
        self.beyond_l1(streamed(hint), footprint, in_flight)
    }

    /// Exposed latency of a line that is prefetched one group ahead: TLB misses of large tables and reads
    /// from L2, which no work hides. The curves were measured with some work around each line (12 cycles on a
    /// Zen 4). With more work per line, `around`, proportionally less is exposed: l2l3acl with a million
    /// hosts and 20 cycles of work was predicted to take 80 cycles without this, and takes 68.
    ///
    /// This is the part of `beyond_l1` that is exposed.
    pub fn exposed_part(&self, hint: Hint, around: f64) -> f64 {
        let measured = self.machine.lines.table(busy(hint)).first().and_then(|row| row.first());
        measured.map_or(1.0, |within| (within / around).min(1.0))
    }

    /// A line of a group that is prefetched as a whole and then read.
    /// `E_group`: more than of a stream, for the first line of each group has its whole latency exposed.
    pub fn group(&self, hint: Hint, footprint: &Footprint, lines: f64) -> f64 {
        self.beyond_l1(grouped(hint), footprint, lines)
    }

    /// Latency of one line that overlaps with nothing.
    /// `E_load(l, 1)`. Also the scale by which lookups are compared: a short one hides behind a long one.
    pub fn latency(&self, footprint: &Footprint) -> f64 {
        self.beyond_l1(Access::Load, footprint, 1.0)
    }
}

/// A line of a steady stream of prefetches.
pub(super) fn streamed(hint: Hint) -> Access {
    match hint {
        Hint::T0 => Access::PrefetchT0,
        Hint::T1 => Access::PrefetchT1,
    }
}

/// A line of a group that is prefetched as a whole.
pub(super) fn grouped(hint: Hint) -> Access {
    match hint {
        Hint::T0 => Access::GroupT0,
        Hint::T1 => Access::GroupT1,
    }
}

/// A line of a stream with work around it.
pub(super) fn busy(hint: Hint) -> Access {
    match hint {
        Hint::T0 => Access::BusyT0,
        Hint::T1 => Access::BusyT1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::Tlb;

    fn dense(bytes: u64) -> Footprint {
        Footprint::even(Area::dense(bytes))
    }

    fn touched(bytes: u64, share: f64) -> Touched {
        Touched { bytes, frequency: share, count: 1 }
    }

    #[test]
    fn frequently_touched_lines_stay_cached() {
        let lines = [touched(1 << 20, 1.0), touched(1 << 10, 1.0), touched(1 << 20, 0.01)];
        let sets = working_sets(&lines);
        assert!((1 << 20) + (1 << 10) < sets[0] && sets[0] < (1 << 20) + (32 << 10), "{sets:?}");
        assert!(1 << 10 < sets[1] && sets[1] < 4 << 10, "{sets:?}");
        assert_eq!(sets[2], (2 << 20) + (1 << 10));
    }

    #[test]
    fn equally_frequent_tables_count_as_one_of_their_total_size() {
        let many: Vec<Touched> = (0..64).map(|_| touched(1 << 14, 0.5)).chain([touched(1 << 20, 1.0)]).collect();
        // 64 tables of 16 KB at half the frequency have the rate per line of one table of 1 MB that is
        // touched 32 times per packet.
        let sets = working_sets(&many);
        let overlapping = working_sets(&[touched(1 << 20, 32.0), touched(1 << 20, 1.0)]);
        assert_eq!((sets[0], sets[63], sets[64]), (overlapping[0], overlapping[0], overlapping[1]));
    }

    #[test]
    fn a_larger_structure_takes_more_room_from_its_neighbour() {
        let beside = |bytes: u64| working_sets(&[touched(1 << 20, 1.0), touched(bytes, 1.0)])[0];
        assert_eq!(beside(1 << 20), 2 << 20);
        assert!(beside(1 << 20) < beside(2 << 20) && beside(2 << 20) < beside(4 << 20));
    }

    #[test]
    fn between_counts_of_lines_stall_times_are_averaged() {
        let machine = Machine::default();
        let memory = Memory { machine: &machine };
        let wait = |lines: f64| lines * memory.load(&dense(256 << 20), lines);
        assert!((wait(1.25) - (0.75 * wait(1.0) + 0.25 * wait(2.0))).abs() < 1e-9);
    }

    #[test]
    fn cold_lines_overlap_in_a_stream_but_not_in_loads() {
        let machine = Machine::default();
        let memory = Memory { machine: &machine };
        let (near, far) = (Area::dense(16 << 10), Area::dense(256 << 20));
        let footprint = Footprint { hot: near, cold: far, cold_share: 0.125 };
        let alone = memory.latency(&Footprint::even(far));
        assert!((memory.load(&footprint, 8.0) - 0.125 * alone).abs() < 1e-9);
        let stream = |footprint: &Footprint| memory.prefetch(Hint::T0, footprint, 8.0);
        assert!((stream(&footprint) - 0.125 * stream(&Footprint::even(far))).abs() < 1e-9);
    }

    #[test]
    fn sparse_lines_cost_tlb_misses() {
        let tlb = Tlb { span_kb: vec![1024, 4096], load: vec![2.0, 24.0], stream: vec![0.0, 4.0] };
        let machine = Machine { tlb: Some(tlb), ..Machine::default() };
        let memory = Memory { machine: &machine };
        let dense = Footprint::even(Area::dense(1 << 20));
        let sparse = Footprint::even(Area { bytes: 1 << 20, span: 4 << 20 });
        assert!((memory.latency(&sparse) - memory.latency(&dense) - 22.0).abs() < 1e-9);
        assert!(
            (memory.prefetch(Hint::T1, &sparse, 64.0) - memory.prefetch(Hint::T1, &dense, 64.0) - 4.0).abs() < 1e-9
        );
    }

    #[test]
    fn lines_in_l1_have_no_excess_cost() {
        let machine = Machine::default();
        let memory = Memory { machine: &machine };
        let (near, far) = (dense(1024), dense(256 << 20));
        assert_eq!((memory.load(&near, 1.0), memory.latency(&near)), (0.0, 0.0));
        assert_eq!(memory.latency(&far), 296.0);
        assert!(memory.load(&far, 4.0) < memory.load(&far, 1.0));
    }
}
