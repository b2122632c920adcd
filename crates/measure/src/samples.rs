//! Samples of what something costs, each shorter than a time slice, and which of them were taken while the core was the thread's alone.
//!
//! Where a core has two threads, the other slows this one by up to two, for milliseconds or for seconds. The median of all samples then shows how often that
//! happened, so only samples without another thread before and after count; on a machine that is never quiet, all do.

use runtime::core_isolation;
use std::time::{Duration, Instant};

/// So many quiet samples are enough to speak for all.
const ENOUGH: usize = 5;
/// Samples taken for each quiet one wanted, at most, unless `min_time` allows more.
const TRIES: usize = 3;

/// Measures how long the work took that shows whether another thread shares the core, and whether so long a time shows one.
trait Watch {
    fn work(&mut self) -> u64;
    fn was_alone(&self, ticks: u64) -> bool;
}

struct Core;

impl Watch for Core {
    fn work(&mut self) -> u64 {
        core_isolation::work()
    }

    fn was_alone(&self, ticks: u64) -> bool {
        core_isolation::was_alone(ticks)
    }
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    cost: f64,
    /// Ticks of the work before or behind it, whichever took longer.
    beside: u64,
}

#[derive(Clone, Debug, Default)]
pub struct Samples(Vec<Sample>);

impl Samples {
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Takes samples until so many of them are quiet, or it has tried often enough; `None` ends it at once.
    pub fn take(&mut self, wanted: usize, once: impl FnMut() -> Option<f64>) {
        self.take_for(wanted, Duration::ZERO, once);
    }

    /// The same, but it tries for at least `min_time`: samples that are much shorter than a disturbance may all fall into one.
    pub fn take_for(&mut self, wanted: usize, min_time: Duration, once: impl FnMut() -> Option<f64>) {
        self.take_with(&mut Core, wanted, min_time, once);
    }

    fn take_with(
        &mut self,
        watch: &mut impl Watch,
        wanted: usize,
        min_time: Duration,
        mut once: impl FnMut() -> Option<f64>,
    ) {
        let begun = Instant::now();
        let (mut tries, mut quiet) = (0, 0);
        let mut before = watch.work();
        while tries < wanted * TRIES || begun.elapsed() < min_time {
            tries += 1;
            let Some(cost) = once() else { return };
            let behind = watch.work();
            let beside = before.max(behind);
            self.0.push(Sample { cost, beside });
            quiet += usize::from(watch.was_alone(beside));
            before = behind;
            if quiet == wanted {
                return;
            }
        }
    }

    /// Whether there are quiet ones enough, by what is known by now of how short the work can be.
    pub fn is_settled(&self) -> bool {
        self.quiet(&Core).count() >= ENOUGH
    }

    fn quiet(&self, watch: &impl Watch) -> impl Iterator<Item = f64> {
        self.0.iter().filter(|sample| watch.was_alone(sample.beside)).map(|sample| sample.cost)
    }

    fn sorted(&self, watch: &impl Watch) -> Vec<f64> {
        let mut sorted: Vec<f64> = self.quiet(watch).collect();
        if sorted.len() < ENOUGH {
            sorted = self.0.iter().map(|sample| sample.cost).collect();
        }
        sorted.sort_by(f64::total_cmp);
        sorted
    }

    /// What so many quarters of the samples that count do not exceed; infinite where none was taken.
    pub fn quartile(&self, quarters: usize) -> f64 {
        quartile(&self.sorted(&Core), quarters)
    }

    pub fn median(&self) -> f64 {
        self.quartile(2)
    }

    /// Half the distance of the quartiles, relative to the median.
    pub fn spread(&self) -> f64 {
        let sorted = self.sorted(&Core);
        let median = quartile(&sorted, 2).max(f64::MIN_POSITIVE);
        (quartile(&sorted, 3) - quartile(&sorted, 1)) / 2.0 / median
    }
}

fn quartile(sorted: &[f64], quarters: usize) -> f64 {
    sorted.len().checked_sub(1).map_or(f64::INFINITY, |last| sorted[last * quarters / 4])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The times of the work, in order, and the longest undisturbed one.
    struct Script(Vec<u64>, u64);

    impl Watch for Script {
        fn work(&mut self) -> u64 {
            self.0.remove(0)
        }

        fn was_alone(&self, ticks: u64) -> bool {
            ticks <= self.1
        }
    }

    fn taken(wanted: usize, works: &[u64]) -> Samples {
        let mut samples = Samples::default();
        let mut cost = 0.0;
        samples.take_with(&mut Script(works.to_vec(), 10), wanted, Duration::ZERO, || {
            cost += 1.0;
            Some(cost)
        });
        samples
    }

    #[test]
    fn a_sample_is_quiet_if_nobody_was_seen_before_and_behind_it() {
        let samples = taken(2, &[10, 20, 10, 10, 9]);
        assert_eq!(samples.quiet(&Script(Vec::new(), 10)).collect::<Vec<f64>>(), [3.0, 4.0]);
    }

    #[test]
    fn samples_are_judged_by_what_is_known_at_the_end() {
        let samples = taken(3, &[10, 10, 9, 9]);
        assert_eq!(samples.quiet(&Script(Vec::new(), 9)).collect::<Vec<f64>>(), [3.0]);
    }

    #[test]
    fn it_is_tried_some_times_and_ended_by_none() {
        assert_eq!(taken(2, &[11; 7]).0.len(), 2 * TRIES);
        let mut samples = Samples::default();
        samples.take(5, || None);
        assert!(samples.0.is_empty() && samples.median().is_infinite());
    }

    #[test]
    fn patience_outlasts_a_disturbance() {
        let mut works = vec![11; 10 * TRIES];
        works.extend([10; 3]);
        let (mut samples, mut cost) = (Samples::default(), 0.0);
        samples.take_with(&mut Script(works, 10), 2, Duration::from_secs(3600), || {
            cost += 1.0;
            Some(cost)
        });
        assert_eq!(samples.quiet(&Script(Vec::new(), 10)).count(), 2);
    }

    #[test]
    fn disturbed_samples_count_only_where_quiet_ones_are_few() {
        let script = Script(Vec::new(), 10);
        let mut samples = taken(ENOUGH, &[10; ENOUGH + 1]);
        samples.0.extend([Sample { cost: 100.0, beside: 11 }; 30]);
        assert_eq!(samples.sorted(&script), [1.0, 2.0, 3.0, 4.0, 5.0]);
        samples.0.remove(0);
        assert_eq!(quartile(&samples.sorted(&script), 2), 100.0);
    }
}
