//! What is measured of a machine, cell by cell: medians of many short samples, since these machines are shared.

use super::smooth::smooth;
use opt::inputs::machine::{Lines, Port};
use opt::inputs::{Access, Machine};
use runtime::{Probe, probe};

const SAMPLES: usize = 15;
const SMALLEST_KB: u64 = 16;
const IN_FLIGHT: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
const WINDOWS: [u32; 20] =
    [16, 32, 48, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384, 448, 512, 576, 640, 768, 896];
const BURSTS: [u32; 9] = [1, 2, 4, 8, 16, 32, 64, 128, 256];
/// A value counts as the best one if it is within this of it: finer is noise.
const CLOSE: f64 = 1.1;

/// A machine and what was seen on the way to its single numbers.
pub struct Measured {
    pub machine: Machine,
    /// Fillers between two misses, and cycles of both (BACUS, Fig. 8).
    pub windows: Vec<(u32, f64)>,
    /// Packets to a burst, and cycles for the first touch of each.
    pub bursts: Vec<(u32, f64)>,
}

/// Median and spread of samples.
struct Sampled {
    median: f64,
    spread: f64,
}

fn sample(mut once: impl FnMut() -> f64) -> Sampled {
    let mut samples: Vec<f64> = (0..SAMPLES).map(|_| once()).collect();
    samples.sort_by(f64::total_cmp);
    let median = samples[SAMPLES / 2];
    let spread = (samples[SAMPLES * 3 / 4] - samples[SAMPLES / 4]) / 2.0 / median.max(f64::MIN_POSITIVE);
    Sampled { median, spread }
}

/// Measures all; `progress` hears how much of the work is done, from 0 to 1, and what comes next.
pub fn measure(probe: &Probe, cpu: String, now: String, progress: &mut dyn FnMut(f64, &str)) -> Measured {
    let mut spreads = Vec::new();
    let lines = measure_lines(probe, &mut spreads, progress);
    progress(0.9, "reorder window");
    let windows: Vec<(u32, f64)> = WINDOWS.map(|fillers| (fillers, sample(|| probe.window(fillers)).median)).into();
    progress(0.95, "bursts");
    let bursts: Vec<(u32, f64)> = BURSTS.map(|burst| (burst, sample(|| probe.burst(burst)).median)).into();
    let last_row = lines.load.last().expect("at least one working set was measured");
    let parallelism = first_close(&lines.in_flight, last_row);
    spreads.sort_by(f64::total_cmp);
    let machine = Machine {
        cpu,
        calibrated: now,
        ticks_per_us: sample(|| probe.ticks_per_us()).median,
        core_per_tick: sample(|| probe.core_per_tick()).median,
        page_bytes: probe.page_bytes() as u64,
        spread: spreads[spreads.len() / 2],
        window: window(&windows),
        parallelism,
        burst: first_close(&bursts.iter().map(|(burst, _)| *burst).collect::<Vec<_>>(), &costs(&bursts)),
        mispredict_cycles: sample(|| probe.mispredict()).median.max(1.0),
        // Measured by running pipelines, when all else is known.
        operation_cycles: 1.0,
        vector_bytes: vector_bytes(),
        port: Port::default(),
        lines,
    };
    progress(1.0, "");
    Measured { machine, windows, bursts }
}

/// The one thing that is asked, not measured: which vectors there are.
fn vector_bytes() -> u32 {
    if is_x86_feature_detected!("avx512bw") {
        64
    } else if is_x86_feature_detected!("avx2") {
        32
    } else {
        16
    }
}

fn costs(points: &[(u32, f64)]) -> Vec<f64> {
    points.iter().map(|(_, cycles)| *cycles).collect()
}

fn measure_lines(probe: &Probe, spreads: &mut Vec<f64>, progress: &mut dyn FnMut(f64, &str)) -> Lines {
    let kernels = [
        (Access::Load, probe::Access::Load),
        (Access::Gather, probe::Access::Gather),
        (Access::PrefetchT0, probe::Access::PrefetchT0),
        (Access::PrefetchT1, probe::Access::PrefetchT1),
    ];
    let largest_kb = probe.bytes() as u64 >> 10;
    let sizes: Vec<u64> =
        std::iter::successors(Some(SMALLEST_KB), |kb| Some(kb * 2)).take_while(|kb| *kb <= largest_kb).collect();
    let mut tables: [Vec<Vec<f64>>; 4] = Default::default();
    for (number, kb) in sizes.iter().enumerate() {
        // The largest sets take longest: their share of the work is their share of the bytes, with something for every cell.
        progress(0.9 * (number as f64 / sizes.len() as f64).powi(3), &format!("working set {}", size_name(*kb)));
        let bytes = (*kb as usize) << 10;
        probe.arrange(bytes);
        for (table, (_, kernel)) in tables.iter_mut().zip(kernels) {
            table.extend(row(probe, bytes, kernel, spreads));
        }
    }
    tables.iter_mut().for_each(|table| smooth(table));
    let [load, gather, prefetch_t0, prefetch_t1] = tables;
    Lines { working_set_kb: sizes, in_flight: IN_FLIGHT.to_vec(), load, gather, prefetch_t0, prefetch_t1 }
}

/// One row of a table; none where the processor does not have the access. A gather brings several lines, so it has no cell for fewer: the
/// narrowest one that it can do stands there.
fn row(probe: &Probe, bytes: usize, kernel: probe::Access, spreads: &mut Vec<f64>) -> Option<Vec<f64>> {
    let mut cells: Vec<Option<f64>> = Vec::new();
    for lines in IN_FLIGHT {
        if probe.lines(bytes, kernel, lines).is_none() {
            cells.push(None);
            continue;
        }
        let cell = sample(|| probe.lines(bytes, kernel, lines).expect("it could a moment ago"));
        spreads.push(cell.spread);
        cells.push(Some(cell.median.max(0.001)));
    }
    let narrowest = cells.iter().flatten().next().copied()?;
    Some(cells.into_iter().map(|cell| cell.unwrap_or(narrowest)).collect())
}

/// The smallest count whose cost is within `CLOSE` of the least.
fn first_close(counts: &[u32], costs: &[f64]) -> u32 {
    let least = costs.iter().copied().fold(f64::INFINITY, f64::min);
    let first = counts.iter().zip(costs).find(|(_, cost)| **cost <= least * CLOSE);
    first.map_or(1, |(count, _)| *count)
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

pub fn size_name(kb: u64) -> String {
    match kb {
        0..1024 => format!("{kb} KB"),
        1024..1_048_576 => format!("{} MB", kb >> 10),
        1_048_576.. => format!("{} GB", kb >> 20),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_ends_where_misses_no_longer_overlap() {
        let points: Vec<(u32, f64)> =
            WINDOWS.iter().map(|f| (*f, if *f <= 224 { 500.0 } else { 900.0 + f64::from(*f) / 10.0 })).collect();
        assert_eq!(window(&points), 224);
    }

    #[test]
    fn the_smallest_of_equals_is_chosen() {
        assert_eq!(first_close(&[1, 2, 4, 8], &[9.0, 5.1, 5.0, 5.2]), 2);
    }
}
