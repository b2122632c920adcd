//! How long a run will still take, judged by the mean of what it has measured.

use std::time::{Duration, Instant};

pub struct TimeLeft {
    begun: Instant,
    measured: u64,
    left: u64,
}

impl TimeLeft {
    /// Of a run of so many processes.
    pub fn new(processes: u64) -> TimeLeft {
        TimeLeft { begun: Instant::now(), measured: 0, left: processes }
    }

    /// A process has been measured.
    pub fn step(&mut self) {
        self.measured += 1;
        self.left = self.left.saturating_sub(1);
    }

    /// Those need not be measured: an earlier run has, or there is no time.
    pub fn skip(&mut self, processes: u64) {
        self.left = self.left.saturating_sub(processes);
    }

    /// `about 4 min left`; before anything is measured, how much there is.
    pub fn words(&self) -> String {
        words(self.begun.elapsed(), self.measured, self.left)
    }
}

fn words(elapsed: Duration, measured: u64, left: u64) -> String {
    if measured == 0 {
        return format!("{left} processes");
    }
    let seconds = elapsed.as_secs_f64() / measured as f64 * left as f64;
    let amount = if seconds < 90.0 { format!("{seconds:.0} s") } else { format!("{:.0} min", seconds / 60.0) };
    format!("about {amount} left")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_takes_as_long_as_what_was_measured() {
        assert_eq!(words(Duration::ZERO, 0, 7), "7 processes");
        assert_eq!(words(Duration::from_secs(10), 1, 4), "about 40 s left");
        assert_eq!(words(Duration::from_secs(60), 4, 40), "about 10 min left");
        let mut time = TimeLeft::new(3);
        time.skip(2);
        time.step();
        assert!(time.words().contains("about 0 s left"));
    }
}
