//! What is measured of a machine, point by point: many short samples, in rounds some seconds apart, since these machines are shared.
//!
//! What disturbs a sample only ever makes it longer, so a point's cost is the lower quartile of those that count.

use super::saturation::Saturation;
use super::smooth::{rise, rise_evenly, smooth};
use super::time_budget::TimeBudget;
use crate::samples::Samples;
use driver::machine_file::vector_bytes;
use opt::inputs::machine::{Lines, METHOD, Port};
use opt::inputs::{Access, Machine, Tlb};
use runtime::{Probe, Undisturbed, probe};
use std::time::{Duration, Instant};

/// Samples of a point in a round, and rounds.
const SAMPLES: usize = 9;
const ROUNDS: usize = 6;
const SMALLEST_KB: u64 = 16;
const IN_FLIGHT: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
const WINDOWS: [u32; 20] =
    [16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640, 768, 896];
/// Loads and fillers of the misses: without, with some, and with more than a window has.
const LOADS: [u32; 32] = [
    1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 20, 22, 24, 26, 28, 30, 32, 36, 40, 44, 48, 52, 56, 60,
    64,
];
const FILLERS: [u32; 3] = [0, 64, 640];
/// No fillers and no loads: represents misses of which each waits for the one before.
const ALONE: (u32, u32) = (0, 0);
/// More loads than a core has room for: each one more waits for one to come.
const MANY_LOADS: u32 = 32;
/// Kilobytes of the pages with a line each; and the prefetch distance there, in lines.
const SPANS_KB: [u64; 8] = [1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10, 32 << 10, 64 << 10, 128 << 10];
const APART: [Access; 2] = [Access::Load, Access::BusyT0];
const AHEAD: u32 = 64;
const BURSTS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// Kept for what is measured behind the curves. No further round of them is begun that would end later: a busy machine gets fewer, which is reported.
const BEHIND: Duration = Duration::from_secs(8);
/// Counts that take turns wait so long for quiet samples: disturbances are often shorter.
const TIMEOUT: Duration = Duration::from_millis(150);
/// A value counts as the best one if it is within this of it: finer is noise.
const CLOSE: f64 = 1.1;

/// A machine and the samples that its single numbers come from.
pub struct Measured {
    pub machine: Machine,
    /// Fillers between two misses, and cycles of both (BACUS, Fig. 8).
    pub windows: Vec<(u32, f64)>,
    pub misses: Vec<Misses>,
    /// Packets to a burst, and cycles for the first touch of each.
    pub bursts: Vec<(u32, f64)>,
    /// The echo on the in-memory port. Measured when all else is known.
    pub echo: Saturation,
    /// What there was too little time for.
    pub short: Vec<String>,
}

/// Fillers, and with them cycles by misses before them.
pub type Misses = (u32, Vec<(u32, f64)>);

fn cost(samples: &Samples) -> f64 {
    samples.quartile(1)
}

fn median(budget: &mut TimeBudget, part: &str, mut once: impl FnMut() -> f64) -> f64 {
    let _undisturbed = Undisturbed::begin();
    let mut samples = Samples::default();
    let mut rounds = 0;
    while rounds < ROUNDS && (rounds == 0 || !budget.is_over()) {
        samples.take(SAMPLES, || Some(once()));
        rounds += 1;
    }
    budget.taken(part, rounds, ROUNDS);
    samples.median()
}

/// The cost of each count. Counts alternate: a machine that is slow for a while must not bias some of them. Continues until quiet samples are enough
/// or `TIMEOUT` is over. Also how many turns there were, of at least so many `times` if time allows.
fn by_turns<C: Copy>(
    budget: &TimeBudget,
    counts: &[C],
    times: usize,
    once: impl Fn(C) -> f64,
) -> (Vec<(C, f64)>, usize) {
    let (samples, turns) = samples_by_turns(budget, counts, times, once);
    (counts.iter().copied().zip(samples.iter().map(cost)).collect(), turns)
}

fn samples_by_turns<C: Copy>(
    budget: &TimeBudget,
    counts: &[C],
    times: usize,
    once: impl Fn(C) -> f64,
) -> (Vec<Samples>, usize) {
    let mut samples = vec![Samples::default(); counts.len()];
    let _undisturbed = Undisturbed::begin();
    let begun = Instant::now();
    let mut turns = 0;
    while turns < times || begun.elapsed() < TIMEOUT && !samples.iter().all(Samples::is_settled) {
        if turns > 0 && budget.is_over() {
            break;
        }
        counts.iter().zip(&mut samples).for_each(|(count, samples)| samples.take(1, || Some(once(*count))));
        turns += 1;
    }
    (samples, turns)
}

/// Measures all within the time budget; `progress` hears how much of the work is done, from 0 to 1, and what comes next.
pub fn measure(
    probe: &Probe,
    cpu: String,
    now: String,
    budget: &mut TimeBudget,
    progress: &mut dyn FnMut(f64, &str),
) -> Measured {
    let mut spreads = Vec::new();
    progress(0.0, "reorder window");
    let before = windows(probe, SAMPLES * ROUNDS, budget);
    let lines = measure_lines(probe, &mut spreads, budget, progress);
    progress(0.9, "reorder window");
    let behind = windows(probe, SAMPLES * ROUNDS, budget);
    progress(0.93, "misses at a time");
    let (misses, latency) = measure_misses(probe, budget);
    progress(0.96, "bursts");
    let (mut bursts, turns) = by_turns(budget, &BURSTS, SAMPLES * ROUNDS, |burst| probe.burst(burst));
    budget.taken("bursts", turns, SAMPLES * ROUNDS);
    falling(&mut bursts);
    // A core whose other thread is busy has half a window, and may be busy for seconds: so the widest that was seen, at three times far apart.
    let last = windows(probe, SAMPLES * ROUNDS, budget);
    let seen = [before, behind, last].into_iter().max_by_key(|(points, _)| window(points));
    let (windows, turns) = seen.expect("there are three");
    budget.taken("the reorder window", turns, SAMPLES * ROUNDS);
    let tlb = Some(measure_tlb(probe, budget));
    let last_row = lines.load.last().expect("at least one working set was measured");
    let parallelism = first_close(&lines.in_flight, last_row);
    spreads.sort_by(f64::total_cmp);
    let machine = Machine {
        cpu,
        calibrated: now,
        method: METHOD,
        ticks_per_us: median(budget, "the counter's pace", || probe.ticks_per_us()),
        core_per_tick: median(budget, "the core's pace", || probe.core_per_tick()),
        page_bytes: probe.page_bytes() as u64,
        spread: spreads[spreads.len() / 2],
        window: window(&windows),
        misses: Some(at_a_time(latency, &misses[0].1)),
        parallelism,
        burst: first_close(&bursts.iter().map(|(burst, _)| *burst).collect::<Vec<_>>(), &costs(&bursts)),
        mispredict_cycles: median(budget, "wrong guesses", || probe.mispredict()).max(1.0),
        // Measured by running pipelines, when all else is known.
        operation_cycles: 1.0,
        vector_bytes: Some(vector_bytes()),
        port: Port::default(),
        stages: None,
        vector: None,
        tlb,
        lines,
    };
    progress(1.0, "");
    Measured { machine, windows, misses, bursts, echo: Saturation::default(), short: Vec::new() }
}

fn costs(points: &[(u32, f64)]) -> Vec<f64> {
    points.iter().map(|(_, cycles)| *cycles).collect()
}

/// Samples by working set and lines in flight; none where the processor cannot do it.
type Grid = Vec<Vec<Option<Samples>>>;

/// What measures a kind of access to a line.
pub fn kernel(access: Access) -> probe::Access {
    match access {
        Access::Load => probe::Access::Load,
        Access::Gather => probe::Access::Gather,
        Access::PrefetchT0 => probe::Access::PrefetchT0,
        Access::PrefetchT1 => probe::Access::PrefetchT1,
        Access::GroupT0 => probe::Access::GroupT0,
        Access::GroupT1 => probe::Access::GroupT1,
        Access::BusyT0 => probe::Access::BusyT0,
        Access::BusyT1 => probe::Access::BusyT1,
    }
}

fn measure_lines(
    probe: &Probe,
    spreads: &mut Vec<f64>,
    budget: &mut TimeBudget,
    progress: &mut dyn FnMut(f64, &str),
) -> Lines {
    let largest_kb = probe.bytes() as u64 >> 10;
    let sizes: Vec<u64> =
        std::iter::successors(Some(SMALLEST_KB), |kb| Some(kb * 2)).take_while(|kb| *kb <= largest_kb).collect();
    let empty: Grid = vec![vec![Some(Samples::default()); IN_FLIGHT.len()]; sizes.len()];
    let mut grids = Access::ALL.map(|_| empty.clone());
    let begun = Instant::now();
    let mut round = 0;
    while round < ROUNDS && (round == 0 || budget.has(BEHIND + begun.elapsed() / round as u32)) {
        for (number, kb) in sizes.iter().enumerate() {
            // The largest sets take longest: their share of the work is their share of the bytes, with something for every point.
            let done = (round as f64 + (number as f64 / sizes.len() as f64).powi(3)) / ROUNDS as f64;
            progress(0.9 * done, &format!("working set {}", size_name(*kb)));
            let bytes = (*kb as usize) << 10;
            probe.touch(bytes);
            let samples = if budget.has(BEHIND) { SAMPLES } else { 1 };
            let _undisturbed = Undisturbed::begin();
            for (grid, kernel) in grids.iter_mut().zip(Access::ALL.map(kernel)) {
                for (point, lines) in grid[number].iter_mut().zip(IN_FLIGHT) {
                    more(probe, bytes, (kernel, lines), samples, point);
                }
            }
        }
        round += 1;
    }
    budget.taken("the curves", round, ROUNDS);
    let points = || grids.iter().flatten().flatten().flatten();
    spreads.extend(points().map(Samples::spread));
    let mut lines = Lines { working_set_kb: sizes, in_flight: IN_FLIGHT.to_vec(), ..Lines::default() };
    for (access, grid) in Access::ALL.into_iter().zip(&grids) {
        let table = lines.table_mut(access);
        table.extend(grid.iter().filter_map(|row| costs_of(row)));
        smooth(table);
    }
    lines
}

/// A round's samples of a point, behind one that brings the code, and of a small working set the lines.
fn more(
    probe: &Probe,
    bytes: usize,
    (kernel, lines): (probe::Access, u32),
    wanted: usize,
    point: &mut Option<Samples>,
) {
    let Some(samples) = point else { return };
    match probe.lines(bytes, kernel, lines) {
        Some(_) => samples.take(wanted, || probe.lines(bytes, kernel, lines)),
        None => *point = None,
    }
}

/// One row of a table; none where the processor does not have the access. A gather brings several lines, so it has no point for fewer: the
/// narrowest one that it can do is there.
fn costs_of(row: &[Option<Samples>]) -> Option<Vec<f64>> {
    let cost = |samples: &Samples| cost(samples).max(0.001);
    let narrowest = row.iter().flatten().next().map(cost)?;
    Some(row.iter().map(|point| point.as_ref().map_or(narrowest, cost)).collect())
}

/// A larger burst never costs a packet more: such a result is noise.
fn falling(points: &mut [(u32, f64)]) {
    points.reverse();
    rising(points);
    points.reverse();
}

/// Two misses are never faster with more between them.
fn rising(points: &mut [(u32, f64)]) {
    let mut cycles = costs(points);
    rise(&mut cycles);
    points.iter_mut().zip(cycles).for_each(|((_, cost), smoothed)| *cost = smoothed);
}

/// The smallest count whose cost is within `CLOSE` of the least.
fn first_close(counts: &[u32], costs: &[f64]) -> u32 {
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    let first = counts.iter().zip(costs).find(|(_, cost)| **cost <= least * CLOSE);
    first.map_or(1, |(count, _)| *count)
}

/// Two misses with so many fillers between them, measured so many times if time allows, and how often they were.
fn windows(probe: &Probe, times: usize, budget: &TimeBudget) -> (Vec<(u32, f64)>, usize) {
    let (mut windows, turns) = by_turns(budget, &WINDOWS, times, |fillers| probe.window(fillers));
    rising(&mut windows);
    (windows, turns)
}

/// The reorder window as it is now: a core that is never quiet for as long as it waits has half of it.
pub fn window_now(probe: &Probe) -> u32 {
    window(&windows(probe, SAMPLES, &TimeBudget::begin()).0)
}

/// The most fillers with which two misses still overlap: the last point below the middle between the cheapest and the dearest quarter.
fn window(points: &[(u32, f64)]) -> u32 {
    let quarter = points.len() / 4;
    let mut cycles = costs(points);
    cycles.sort_by(f64::total_cmp);
    let (near, far) = (cycles[quarter / 2], cycles[cycles.len() - 1 - quarter / 2]);
    let middle = (near + far) / 2.0;
    let within = points.iter().take_while(|(_, cycles)| *cycles < middle).last();
    within.map_or(points[0].0, |(fillers, _)| *fillers)
}

/// What lines cost more that lie apart, which is no less for more of them. A sample is a
/// difference, and may be wrong in either direction: so their medians count.
fn measure_tlb(probe: &Probe, budget: &mut TimeBudget) -> Tlb {
    let span_kb: Vec<u64> = SPANS_KB.into_iter().filter(|kb| *kb << 10 <= probe.bytes() as u64).collect();
    let points: Vec<(u64, Access)> =
        APART.into_iter().flat_map(|access| span_kb.iter().map(move |kb| (*kb, access))).collect();
    let once = |(kb, access): (u64, Access)| {
        let in_flight = if access == Access::Load { 1 } else { AHEAD };
        probe.apart((kb as usize) << 10, kernel(access), in_flight)
    };
    let (samples, turns) = samples_by_turns(budget, &points, SAMPLES * ROUNDS, once);
    budget.taken("lines apart", turns, SAMPLES * ROUNDS);
    let mut curves = samples.chunks(span_kb.len()).map(|samples| {
        let mut cycles: Vec<f64> = samples.iter().map(Samples::median).collect();
        rise_evenly(&mut cycles);
        cycles.into_iter().map(|cycles| cycles.max(0.0)).collect()
    });
    let mut next = || curves.next().expect("a curve for each kind of access");
    Tlb { load: next(), stream: next(), span_kb }
}

/// Misses with nothing, something and a whole window before the last of them (BACUS, Fig. 8), and
/// what one costs alone: all by turns, for one is divided by the other.
fn measure_misses(probe: &Probe, budget: &mut TimeBudget) -> (Vec<Misses>, f64) {
    let mut points: Vec<(u32, u32)> =
        FILLERS.iter().flat_map(|fillers| LOADS.iter().map(|loads| (*fillers, *loads))).collect();
    points.push(ALONE);
    let once = |point: (u32, u32)| match point {
        ALONE => probe.lines(probe.bytes(), probe::Access::Load, 1).expect("every processor loads"),
        (fillers, loads) => probe.misses(loads, fillers),
    };
    let (points, turns) = by_turns(budget, &points, SAMPLES * ROUNDS, once);
    budget.taken("misses at a time", turns, SAMPLES * ROUNDS);
    let curve = |(number, fillers): (usize, u32)| {
        let points = points.iter().skip(number * LOADS.len()).take(LOADS.len());
        let mut curve: Vec<(u32, f64)> = points.map(|((_, loads), cycles)| (*loads, *cycles)).collect();
        rising(&mut curve);
        (fillers, curve)
    };
    let latency = points.last().map_or(0.0, |(_, cycles)| *cycles);
    (FILLERS.into_iter().enumerate().map(curve).collect(), latency)
}

/// The number of outstanding misses: a latency, divided by what one more of many misses costs. Where the core has few places
/// that is its latency shared among them, and where memory is slower than the places, what memory gives; the step that the paper reads it from is not seen
/// there.
fn at_a_time(latency: f64, points: &[(u32, f64)]) -> u32 {
    let many = || points.iter().filter(|(loads, _)| *loads >= MANY_LOADS).map(|(x, y)| (f64::from(*x), *y));
    let count = many().count() as f64;
    let (x, y) = many().fold((0.0, 0.0), |(x, y), (one, cycles)| (x + one / count, y + cycles / count));
    let (above, below) = many().fold((0.0, 0.0), |(above, below), (one, cycles)| {
        (above + (one - x) * (cycles - y), below + (one - x) * (one - x))
    });
    let most = points.last().map_or(1, |(loads, _)| *loads);
    ((latency * below / above.max(f64::MIN_POSITIVE)).round() as u32).clamp(1, most)
}

pub fn size_name(kb: u64) -> String {
    let (unit, shift) = match kb {
        0..1024 => ("KB", 0),
        1024..1_048_576 => ("MB", 10),
        1_048_576.. => ("GB", 20),
    };
    // A cache of 1280 KB has 1.25 MB: numbers of two digits behind the point need no more.
    let text = format!("{:.2}", kb as f64 / f64::from(1u32 << shift));
    format!("{} {unit}", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_written_as_they_are() {
        let names = [16, 100, 1024, 1280, 1536, 32 << 10, 1 << 20, 3 << 19].map(size_name);
        assert_eq!(names, ["16 KB", "100 KB", "1 MB", "1.25 MB", "1.5 MB", "32 MB", "1 GB", "1.5 GB"]);
    }

    #[test]
    fn the_window_ends_where_misses_no_longer_overlap() {
        let points: Vec<(u32, f64)> =
            WINDOWS.iter().map(|f| (*f, if *f <= 224 { 500.0 } else { 900.0 + f64::from(*f) / 10.0 })).collect();
        assert_eq!(window(&points), 224);
    }

    /// What the kernels give is not the matter here, but that there is something of each, and that it is reported as little.
    #[test]
    fn when_time_is_up_everything_is_measured_once_and_said_to_be_noise() {
        let root = std::env::temp_dir().join(format!("bacus-time-budget-test-{}", std::process::id()));
        let cache = runtime::Cache::at(&root).expect("there is room for a cache");
        let compiler = runtime::Compiler::find(None).expect("there is a compiler");
        let probe = Probe::open(&compiler, &cache, 64 << 20).expect("there are 64 MB");
        let mut budget = TimeBudget::of(Duration::ZERO);
        let measured = measure(&probe, "some".to_string(), "now".to_string(), &mut budget, &mut |_, _| ());
        assert_eq!(Machine::parse(&measured.machine.print()).as_ref(), Ok(&measured.machine));
        let short = budget.into_short().join(", ");
        for part in [
            "1 of 6 rounds of the curves",
            "the reorder window",
            "misses at",
            "bursts",
            "the core's pace",
            "wrong guesses",
        ] {
            assert!(short.contains(part), "{short}");
        }
        drop(probe);
        std::fs::remove_dir_all(root).expect("the cache was there");
    }

    #[test]
    fn misses_at_a_time_are_what_a_latency_has_room_for() {
        let points = |cycles: fn(u32) -> f64| LOADS.iter().map(|loads| (*loads, cycles(*loads))).collect::<Vec<_>>();
        // Ten places: the eleventh miss waits for a whole latency.
        let places = points(|loads| f64::from((loads + 1).div_ceil(10)) * 300.0);
        assert!((9..=11).contains(&at_a_time(300.0, &places)), "{}", at_a_time(300.0, &places));
        // Places enough, but the memory gives a line in 20 cycles.
        assert_eq!(at_a_time(400.0, &points(|loads| 700.0 + 20.0 * f64::from(loads))), 20);
        assert_eq!(at_a_time(400.0, &points(|_| 700.0)), 64);
    }

    #[test]
    fn the_smallest_of_equals_is_chosen() {
        assert_eq!(first_close(&[1, 2, 4, 8], &[9.0, 5.1, 5.0, 5.2]), 2);
    }
}
