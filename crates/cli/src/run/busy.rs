//! Whether packets keep the workers of a running switch busy enough for faster code to be worth compiling.

use super::trial::{Work, is_enough};
use std::time::Duration;

/// Over so long it is seen.
const SPAN: Duration = Duration::from_secs(1);
/// Of one worker's time, at least. With less, no packet waits for another, and faster code saves hardly anything.
const LEAST_SHARE: f64 = 0.05;

/// The workers' load. Times are since the start.
#[derive(Default)]
pub struct Load {
    /// When the span began, and what had been done then.
    begun: Option<(Duration, Work)>,
    is_busy: bool,
}

impl Load {
    /// Whether the last whole span was busy. To be called now and then.
    pub fn is_busy(&mut self, now: Duration, work: impl Fn() -> Work) -> bool {
        let is_over = self.begun.is_none_or(|(since, _)| now >= since + SPAN);
        if is_over {
            let done = work();
            self.is_busy = self.begun.is_some_and(|(since, before)| is_busy(now - since, done.since(before)));
            self.begun = Some((now, done));
        }
        self.is_busy
    }
}

/// Whether so much work in this time is enough to gain by faster code, and to measure whether code is faster.
fn is_busy(time: Duration, work: Work) -> bool {
    let busy = Duration::from_nanos(work.busy_ns);
    busy >= time.mul_f64(LEAST_SHARE) && is_enough(work.packets, time)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_switch_is_busy_after_a_span_with_many_packets_that_took_long() {
        let seconds = |packets: u64, each_ns: u64| {
            let (mut load, mut work) = (Load::default(), Work::default());
            let each = |second: u64| {
                let is_busy = load.is_busy(Duration::from_secs(second), || work);
                work = if second < 2 { work.with(packets, packets * each_ns) } else { work };
                is_busy
            };
            (0..4).map(each).collect::<Vec<bool>>()
        };
        assert_eq!(seconds(1_000_000, 100), [false, true, true, false]);
        assert_eq!(seconds(1_000_000, 10), [false; 4], "1 % of a worker's time");
        assert_eq!(seconds(10_000, 100_000), [false; 4], "too few to compare code");
    }
}
