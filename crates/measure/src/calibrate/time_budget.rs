//! The time that a calibration may take, whatever the machine does meanwhile, and what it was too short for.
//!
//! Every part asks before it goes on, and takes a first sample even when time is up: a number with few samples is noise, and is reported so, but there is one.

use std::time::{Duration, Instant};

/// From the command to its file, kernels and pipelines compiled meanwhile. What has begun is ended, which takes no longer than what is kept for it here.
const ALL: Duration = Duration::from_secs(29);

pub struct TimeBudget {
    end: Instant,
    short: Vec<String>,
}

impl TimeBudget {
    pub fn begin() -> TimeBudget {
        TimeBudget::of(ALL)
    }

    pub fn of(time: Duration) -> TimeBudget {
        TimeBudget { end: Instant::now() + time, short: Vec::new() }
    }

    /// One that ends so much earlier, for what comes before something else.
    pub fn before(&self, time: Duration) -> TimeBudget {
        TimeBudget { end: self.end - time, short: Vec::new() }
    }

    pub fn left(&self) -> Duration {
        self.end.saturating_duration_since(Instant::now())
    }

    /// Whether so much time is left.
    pub fn has(&self, time: Duration) -> bool {
        self.left() > time
    }

    pub fn is_over(&self) -> bool {
        !self.has(Duration::ZERO)
    }

    /// Notes that so many rounds of a part were taken, of as many as it should have.
    pub fn taken(&mut self, part: &str, rounds: usize, wanted: usize) {
        if rounds < wanted {
            self.short.push(format!("{rounds} of {wanted} rounds of {part}"));
        }
    }

    /// What there was too little time for.
    pub fn into_short(self) -> Vec<String> {
        self.short
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_fell_short_is_noted() {
        let mut budget = TimeBudget::of(Duration::from_secs(3600));
        assert!(!budget.is_over() && budget.has(Duration::from_secs(60)) && !budget.has(Duration::from_secs(4000)));
        assert!(!budget.before(Duration::from_secs(60)).has(Duration::from_secs(3550)));
        budget.taken("the port", 30, 30);
        budget.taken("the curves", 2, 6);
        assert_eq!(budget.into_short(), ["2 of 6 rounds of the curves"]);
    }
}
