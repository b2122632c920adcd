//! Which traffic a running switch's code is planned for, and whether packets still come like that.
//!
//! Before code is compiled, and every ten seconds after that, a sample of packets is taken, which another thread follows
//! through the program. Where the share of packets on an edge has moved by a tenth, code is to be compiled again. Traffic
//! that has moved each time is checked less and less often.

use super::live::Live;
use super::sampling::{Sample, Sampling, Stage, can_be_copied};
use super::traffic::Traffic;
use driver::options::Passes;
use hlir::Program;
use hlir::facts::Fact;
use native::Replay;
use std::fmt;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::Duration;

const FIRST_WAIT: Duration = Duration::from_secs(10);
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// Why code is to be planned for other traffic.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moved {
    /// No packets had come before.
    FirstPackets,
    /// By so much, the share of packets on an edge.
    Share(f64),
}

impl fmt::Display for Moved {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Moved::FirstPackets => out.write_str("packets come by now; code is compiled for them"),
            Moved::Share(share) => {
                let percent = share * 100.0;
                write!(out, "the share of packets on a branch has moved by {percent:.0} %; code is compiled again")
            }
        }
    }
}

/// See the module. Times are since the start.
#[derive(Default)]
pub struct Watch {
    /// The user's profile gives the traffic.
    is_given: bool,
    sampling: Sampling,
    /// What the code was planned with, and for which traffic, if any was seen.
    planned: Option<(Passes, Option<Traffic>)>,
    /// The traffic of a sample, from the thread that follows it.
    followed: Option<Receiver<Option<Traffic>>>,
    next: Duration,
    wait: Duration,
    has_moved: bool,
}

impl Watch {
    /// For a program. `is_given`: the user's profile gives its traffic, so no samples are taken.
    pub fn new(is_given: bool) -> Watch {
        Watch { is_given, ..Watch::default() }
    }

    /// Takes what packets come of a sample, if one is being taken.
    pub fn collect<L: Replay>(&mut self, live: &mut Live<L>, now: Duration) {
        self.sampling.collect(live, now);
    }

    /// Begins a sample, if there can be one: code may be compiled soon.
    pub fn begin_sample<L: Replay>(&mut self, live: &mut Live<L>, now: Duration) {
        if !self.is_given && can_be_copied(live) {
            self.sampling.begin(now);
        }
    }

    /// The sample that code is to be planned for, and none where there can be none or hardly any packets come. None at all:
    /// it is being taken.
    pub fn sample<L: Replay>(&mut self, live: &mut Live<L>, now: Duration) -> Option<Option<Sample>> {
        self.begin_sample(live, now);
        match self.sampling.stage(now) {
            Stage::UnderWay => None,
            Stage::Over => Some(self.sampling.take(live)),
            Stage::None => Some(None),
        }
    }

    /// The traffic that was seen last.
    pub fn traffic(&self) -> Option<&Traffic> {
        self.planned.as_ref().and_then(|(_, traffic)| traffic.as_ref())
    }

    /// Code was compiled with these passes, and for this traffic.
    pub fn plan_for(&mut self, mut passes: Passes, traffic: Option<Traffic>, now: Duration) {
        self.wait = if self.has_moved { (2 * self.wait).min(LONGEST_WAIT) } else { FIRST_WAIT };
        // Traffic is compared without comparisons that follow from it.
        passes.facts.retain(|one| !matches!(one.fact, Fact::Leading(_)));
        (self.planned, self.followed, self.has_moved) = (Some((passes, traffic)), None, false);
        self.next = now + self.wait;
    }

    /// Whether packets take other branches than the code was planned for.
    pub fn has_moved(&self) -> bool {
        self.has_moved
    }

    /// Checks whether they do, when it is time; gives what has just been found out.
    pub fn check<L: Replay>(&mut self, live: &mut Live<L>, program: &Arc<Program>, now: Duration) -> Option<Moved> {
        let (_, traffic) = self.planned.as_ref().filter(|_| !self.is_given && !self.has_moved)?;
        let Some(followed) = &self.followed else {
            if now >= self.next
                && let Some(sample) = self.sample(live, now)
            {
                self.interpret(program, sample, now);
            }
            return None;
        };
        let found = match followed.try_recv() {
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => None,
            Ok(found) => found,
        };
        let moved = found.as_ref().and_then(|found| match traffic {
            None => Some(Moved::FirstPackets),
            Some(traffic) => traffic.moved(found).map(Moved::Share),
        });
        self.followed = None;
        self.next = now + self.wait;
        self.has_moved = moved.is_some();
        if found.is_some() && moved.is_none() {
            self.wait = FIRST_WAIT;
        }
        moved
    }

    /// Lets another thread follow the packets of a sample.
    fn interpret(&mut self, program: &Arc<Program>, sample: Option<Sample>, now: Duration) {
        let (Some((passes, _)), Some(sample)) = (&self.planned, sample) else {
            self.next = now + self.wait;
            return;
        };
        let (sender, followed) = mpsc::channel();
        let (program, passes) = (program.clone(), passes.clone());
        // The switch may have ended. Whether the tables still fit, the next code will show.
        std::thread::spawn(move || drop(sender.send(Traffic::of(&program, &passes, sample).ok())));
        self.followed = Some(followed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn traffic_that_has_moved_each_time_is_checked_less_often() {
        let mut watch = Watch::default();
        let mut waits = Vec::new();
        for has_moved in [false, true, true, true, false] {
            watch.has_moved = has_moved;
            watch.plan_for(Passes::default(), None, Duration::ZERO);
            assert!(!watch.has_moved());
            waits.push(watch.next.as_secs());
        }
        assert_eq!(waits, [10, 20, 40, 80, 10]);
        for _ in 0..9 {
            watch.has_moved = true;
            watch.plan_for(Passes::default(), None, Duration::ZERO);
        }
        assert_eq!(watch.next, LONGEST_WAIT);
    }
}
