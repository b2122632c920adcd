//! Whether new code is faster than the code before it, measured with the packets that come.
//!
//! The model proposes, the measurement decides. Both codes take turns, each [`TURNS`] times for [`TURN`]; the one that
//! needs less time for a packet goes on. A turn in which too few packets came decides nothing.
//!
//!     new ── old ── new ── old ──▶ decision
//!
//! Each exchange is at the end of a burst, so no packet is lost or overtaken.

use std::time::Duration;

/// Long enough for some exchanges of a group, short against changes of traffic.
pub const TURN: Duration = Duration::from_millis(300);
/// Turns of each code.
const TURNS: u32 = 2;
/// Packets of a turn, at least.
const LEAST_PACKETS: u64 = 10_000;
/// Old code goes on where new code takes more than this share of its time: less is noise.
const TOLERANCE: f64 = 1.02;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Code {
    Old,
    New,
}

/// What the workers have done so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    pub packets: u64,
    /// From a burst to the next poll.
    pub busy_ns: u64,
}

impl Work {
    /// What was done after the earlier moment.
    pub fn since(self, before: Work) -> Work {
        let packets = self.packets.saturating_sub(before.packets);
        Work { packets, busy_ns: self.busy_ns.saturating_sub(before.busy_ns) }
    }

    /// That of one more worker.
    pub fn with(self, packets: u64, busy_ns: u64) -> Work {
        Work { packets: self.packets + packets, busy_ns: self.busy_ns + busy_ns }
    }
}

/// Whether packets come so fast that a turn decides something.
pub fn is_enough(packets: u64, time: Duration) -> bool {
    packets as f64 / time.as_secs_f64() >= LEAST_PACKETS as f64 / TURN.as_secs_f64()
}

/// What is to be done.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Next {
    /// Nothing yet.
    Wait,
    /// This code takes its turn.
    Run(Code),
    /// Its turns are over, and this code goes on. `share`: the time of new code for a packet, of old code's.
    Decide { code: Code, share: f64 },
    /// Too few packets came: nothing is known.
    GiveUp,
}

/// A comparison that begins when new code runs.
#[derive(Clone, Debug)]
pub struct Trial {
    running: Code,
    /// When the turn began, and what had been done then.
    begun: Option<(Duration, Work)>,
    /// Turns that are over.
    over: u32,
    old: Work,
    new: Work,
}

impl Default for Trial {
    fn default() -> Trial {
        let none = Work::default();
        Trial { running: Code::New, begun: None, over: 0, old: none, new: none }
    }
}

impl Trial {
    /// Whether codes take turns already. Until packets come, new code runs as if there were no trial.
    pub fn is_under_way(&self) -> bool {
        self.over > 0
    }

    /// The code whose turn it is.
    pub fn running(&self) -> Code {
        self.running
    }

    /// To be called now and then, and once more right after an exchange. `now` is the time since the start.
    pub fn step(&mut self, now: Duration, work: Work) -> Next {
        let Some((since, before)) = self.begun else {
            self.begun = Some((now, work));
            return Next::Wait;
        };
        if now < since + TURN {
            return Next::Wait;
        }
        self.begun = None;
        let Work { packets, busy_ns } = work.since(before);
        if packets < LEAST_PACKETS {
            // Before the first exchange it costs nothing to wait for packets.
            return if self.over == 0 { Next::Wait } else { Next::GiveUp };
        }
        let (sum, other) = match self.running {
            Code::Old => (&mut self.old, Code::New),
            Code::New => (&mut self.new, Code::Old),
        };
        *sum = sum.with(packets, busy_ns);
        self.over += 1;
        if self.over == 2 * TURNS {
            return self.decision();
        }
        self.running = other;
        Next::Run(other)
    }

    fn decision(&self) -> Next {
        let time = |work: Work| work.busy_ns as f64 / work.packets as f64;
        let share = time(self.new) / time(self.old);
        let code = if share > TOLERANCE { Code::Old } else { Code::New };
        Next::Decide { code, share }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What a trial does while each code takes so many nanoseconds for a packet, and so many packets come in a turn.
    fn run(packets: u64, [old, new]: [u64; 2]) -> Vec<Next> {
        let (mut trial, mut work, mut steps) = (Trial::default(), Work::default(), Vec::new());
        let mut each = new;
        for step in 0..20 {
            let next = trial.step(TURN * step, work);
            let is_over = matches!(next, Next::Decide { .. } | Next::GiveUp);
            if next != Next::Wait {
                steps.push(next);
            }
            if is_over {
                break;
            }
            if let Next::Run(code) = next {
                each = if code == Code::Old { old } else { new };
                assert_eq!(trial.step(TURN * step, work), Next::Wait);
            }
            work = work.with(packets, packets * each);
        }
        steps
    }

    #[test]
    fn codes_take_turns_and_the_faster_one_goes_on() {
        let turns = [Next::Run(Code::Old), Next::Run(Code::New), Next::Run(Code::Old)];
        for (times, code, share) in
            [([100, 50], Code::New, 0.5), ([100, 101], Code::New, 1.01), ([100, 110], Code::Old, 1.1)]
        {
            let steps = run(20_000, times);
            assert_eq!(steps[..3], turns);
            assert_eq!(steps[3..], [Next::Decide { code, share }]);
        }
    }

    #[test]
    fn without_packets_nothing_is_exchanged() {
        assert_eq!(run(LEAST_PACKETS - 1, [100, 50]), []);
    }

    #[test]
    fn packets_that_cease_end_a_trial() {
        let mut trial = Trial::default();
        let busy = |packets: u64| Work { packets, busy_ns: 10 * packets };
        assert_eq!(trial.step(Duration::ZERO, busy(0)), Next::Wait);
        assert_eq!(trial.step(TURN, busy(20_000)), Next::Run(Code::Old));
        assert_eq!(trial.step(TURN, busy(20_000)), Next::Wait);
        assert_eq!(trial.step(TURN * 2, busy(20_001)), Next::GiveUp);
    }
}
