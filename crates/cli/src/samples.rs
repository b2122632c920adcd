//! Samples of what something costs, each shorter than a time slice, and which of them were taken while the core was the thread's alone.
//!
//! Where a core has two threads, the other slows this one by up to two, for milliseconds or for seconds. The median of all samples then says how often that
//! happened, so only those count between which and their neighbours nobody else was seen; on a machine that is never quiet, all do.

use runtime::attention;

/// So many quiet samples are enough to speak for all.
const ENOUGH: usize = 9;
/// Samples that are taken for each quiet one that is wanted, at most.
const TRIES: usize = 3;

#[derive(Clone, Debug, Default)]
pub struct Samples {
    quiet: Vec<f64>,
    all: Vec<f64>,
}

impl Samples {
    pub fn clear(&mut self) {
        self.quiet.clear();
        self.all.clear();
    }

    /// Takes samples until so many of them are quiet, or it has tried often enough; `None` ends it at once.
    pub fn take(&mut self, wanted: usize, mut once: impl FnMut() -> Option<f64>) {
        let mut quiet = 0;
        let mut alone = attention::is_alone();
        for _ in 0..wanted * TRIES {
            let Some(sample) = once() else { return };
            let alone_still = attention::is_alone();
            self.all.push(sample);
            if alone && alone_still {
                self.quiet.push(sample);
                quiet += 1;
            }
            alone = alone_still;
            if quiet == wanted {
                return;
            }
        }
    }

    /// Whether there are quiet ones enough.
    pub fn is_settled(&self) -> bool {
        self.quiet.len() >= ENOUGH
    }

    fn sorted(&self) -> Vec<f64> {
        let mut sorted = if self.is_settled() { self.quiet.clone() } else { self.all.clone() };
        sorted.sort_by(f64::total_cmp);
        sorted
    }

    /// What so many quarters of the samples that count do not exceed; infinite where none was taken.
    pub fn quartile(&self, quarters: usize) -> f64 {
        let sorted = self.sorted();
        sorted.len().checked_sub(1).map_or(f64::INFINITY, |last| sorted[last * quarters / 4])
    }

    pub fn median(&self) -> f64 {
        self.quartile(2)
    }

    /// Half the distance of the quartiles, relative to the median.
    pub fn spread(&self) -> f64 {
        (self.quartile(3) - self.quartile(1)) / 2.0 / self.median().max(f64::MIN_POSITIVE)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn disturbed_samples_count_only_where_quiet_ones_are_few() {
        let quiet: Vec<f64> = (1..=ENOUGH).map(|sample| sample as f64).collect();
        let all: Vec<f64> = quiet.iter().copied().chain([100.0; 30]).collect();
        let settled = Samples { quiet: quiet.clone(), all: all.clone() };
        assert_eq!((settled.quartile(1), settled.median(), settled.quartile(3)), (3.0, 5.0, 7.0));
        assert_eq!(settled.spread(), 0.4);
        let busy = Samples { quiet: quiet[1..].to_vec(), all };
        assert_eq!(busy.median(), 100.0);
        assert_eq!(Samples::default().median(), f64::INFINITY);
    }

    #[test]
    fn samples_are_taken_until_enough_are_quiet() {
        let mut samples = Samples::default();
        let mut taken = 0;
        samples.take(5, || {
            taken += 1;
            Some(f64::from(taken))
        });
        assert!(samples.quiet.len() == 5 || samples.all.len() == 15, "{samples:?}");
        samples.clear();
        samples.take(5, || None);
        assert!(samples.all.is_empty());
    }
}
