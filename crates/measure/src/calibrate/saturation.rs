//! What saturates an echo: the smallest batch and the smallest ring with which a port is as fast as it gets, and how many cycles of work a packet may have
//! before it is slower (BACUS, section 3).
//!
//! An echo is given as much work for each packet as the packet costs without. What does not come on top was free: the core would have waited for packets.

use crate::samples::Samples;
use opt::inputs::machine::Port;
use runtime::{Switch, WorkerPorts};

pub const BUSY: &str = include_str!("busy.c");
/// Packets taken at once, at most: no more than the largest burst of a plan, and half of the buffers that DPDK has at hand.
const BATCHES: [u32; 8] = [1, 2, 4, 8, 16, 32, 64, 128];
/// An echo is saturated where its rate is this part of the best.
const SATURATED: f64 = 0.97;
/// Less than this part of an echo's cycles is not distinguished from none: two runs differ by as much.
const NOISE: f64 = 0.1;

/// What is known of a port. Points rise, and cycles are a packet's.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Saturation {
    /// The device of the port; `None` is the in-memory port.
    pub device: Option<String>,
    pub batches: Vec<(u32, f64)>,
    /// Cycles of work that are free, by batch.
    pub free: Vec<(u32, f64)>,
    /// None where a port has no ring whose size could be chosen.
    pub rings: Vec<(u32, f64)>,
    /// Of the samples of a batch, as [`Samples::spread`]: the batch in the middle.
    pub spread: f64,
}

impl Saturation {
    pub fn batch(&self) -> Option<u32> {
        smallest(&self.batches)
    }

    pub fn ring(&self) -> Option<u32> {
        smallest(&self.rings)
    }

    /// With the smallest batch that saturates it.
    pub fn free_cycles(&self) -> Option<f64> {
        let batch = self.batch()?;
        self.free.iter().find(|(other, _)| *other == batch).map(|(_, cycles)| *cycles)
    }

    /// Writes down the numbers, without their samples.
    pub fn write(&self, port: &mut Port) {
        port.device.clone_from(&self.device);
        port.ring = self.ring();
        port.batch = self.batch();
        port.free_cycles = self.free_cycles();
    }
}

/// The first point that costs hardly more than the least.
fn smallest(points: &[(u32, f64)]) -> Option<u32> {
    let least = points.iter().map(|(_, cycles)| *cycles).fold(f64::INFINITY, f64::min);
    points.iter().find(|(_, cycles)| *cycles * SATURATED <= least).map(|(count, _)| *count)
}

/// What a sample of the echo cost each packet, and how much of that was the work it was given.
#[derive(Clone, Copy, Debug)]
pub struct Cost {
    pub all: f64,
    pub work: f64,
}

/// Samples of each batch: without work, and of what is left beside the work.
pub struct Batches(Vec<(u32, Samples, Samples)>);

impl Batches {
    pub fn new() -> Batches {
        Batches(BATCHES.map(|batch| (batch, Samples::default(), Samples::default())).into())
    }

    /// So many samples more of every batch, each by `echo`, which gets the batch and the ticks of work for a packet. `None` ends a batch's turn.
    pub fn round(&mut self, samples: usize, mut echo: impl FnMut(u32, u64) -> Option<Cost>) {
        for (batch, idle, beside) in &mut self.0 {
            // The first brings the code, and lets a port come to its pace.
            echo(*batch, 0);
            idle.take(samples, || echo(*batch, 0).map(|cost| cost.all));
            let work = cost(idle);
            if work.is_finite() {
                beside.take(samples, || echo(*batch, work.ceil() as u64).map(|cost| cost.all - cost.work));
            }
        }
    }

    pub fn into_saturation(self, device: Option<String>) -> Saturation {
        let free = |(batch, idle, beside): &(u32, Samples, Samples)| (*batch, free(cost(idle), cost(beside)));
        let free = self.0.iter().filter(|(_, _, beside)| cost(beside).is_finite()).map(free).collect();
        let mut spreads: Vec<f64> = self.0.iter().map(|(_, idle, _)| idle.spread()).collect();
        spreads.sort_by(f64::total_cmp);
        let spread = spreads[spreads.len() / 2];
        let batches = costs(self.0.into_iter().map(|(batch, idle, _)| (batch, idle)));
        Saturation { device, batches, free, rings: Vec::new(), spread }
    }
}

/// What disturbs a sample only makes it longer.
fn cost(samples: &Samples) -> f64 {
    samples.quartile(1)
}

/// Costs by counts; those of which there is no sample are left out. A larger batch may well cost more than a smaller one: it leaves DPDK's caches of buffers.
pub fn costs(points: impl Iterator<Item = (u32, Samples)>) -> Vec<(u32, f64)> {
    let points = points.map(|(count, samples)| (count, cost(&samples)));
    points.filter(|(_, cycles)| cycles.is_finite()).collect()
}

/// What of an echo's cycles was spent waiting, if that is more than noise.
fn free(idle: f64, beside: f64) -> f64 {
    let free = idle - beside;
    if free > idle * NOISE { free } else { 0.0 }
}

/// The elements of the busy echo's register.
const WANTED: u64 = 0;
const SPENT: u64 = 1;
const PACKETS: u64 = 2;

/// Gives the echo how many ticks of work a packet has.
pub fn set_work<L: WorkerPorts>(switch: &Switch<L>, ticks: u64) {
    switch.state.registers[0].write(WANTED, &[ticks]);
}

/// Ticks of work that the echo has done, and packets that it has sent on.
pub fn done<L: WorkerPorts>(switch: &Switch<L>) -> (u64, u64) {
    let element = |index| switch.state.registers[0].read(index).map_or(0, |limbs| limbs[0]);
    (element(SPENT), element(PACKETS))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A port that needs 100 cycles for a packet, and 400 for each burst of them, beside a core that needs 30.
    fn device(batch: u32, work: u64) -> Option<Cost> {
        let work = work as f64;
        let all = (30.0 + work).max(100.0 + 400.0 / f64::from(batch));
        Some(Cost { all, work })
    }

    fn seen(echo: impl FnMut(u32, u64) -> Option<Cost>) -> Saturation {
        let mut batches = Batches::new();
        batches.round(5, echo);
        batches.into_saturation(None)
    }

    #[test]
    fn work_is_free_as_long_as_the_core_waits() {
        let seen = seen(device);
        assert_eq!(seen.batch(), Some(64));
        assert!(seen.free_cycles().is_some_and(|cycles| (cycles - 76.25).abs() < 0.1), "{seen:?}");
        let of_four = seen.free.iter().find(|(batch, _)| *batch == 4);
        assert!(
            of_four.is_some_and(|(_, cycles)| (cycles - 170.0).abs() < 0.1),
            "smaller batches wait longer: {seen:?}"
        );
    }

    #[test]
    fn nothing_is_free_where_the_core_is_the_port() {
        let seen = seen(|batch, work| {
            let idle = 5.0 + 20.0 / f64::from(batch);
            Some(Cost { all: idle * 1.01 + work as f64, work: work as f64 })
        });
        assert!(seen.free.iter().all(|(_, cycles)| *cycles == 0.0), "{seen:?}");
        let mut port = Port::default();
        seen.write(&mut port);
        assert_eq!((port.batch, port.ring, port.free_cycles), (Some(64), None, Some(0.0)));
    }

    #[test]
    fn a_port_without_packets_says_nothing() {
        let seen = seen(|_, _| None);
        assert_eq!((seen.batch(), seen.ring(), seen.free_cycles()), (None, None, None));
    }

    #[test]
    fn a_difference_of_three_percent_is_none() {
        assert_eq!(smallest(&[(8, 120.0), (16, 102.0), (32, 100.0), (64, 99.5)]), Some(16));
        assert_eq!(smallest(&[]), None);
    }
}
