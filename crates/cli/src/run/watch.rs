//! Which traffic a running switch's code is planned for, and whether packets still come like that.
//!
//! Before code is made, and every ten seconds behind that, a sample of packets is taken, and another thread follows them
//! through the program. Where a tenth of them take other ways than the code is planned for, it is to be made again.
//! Traffic that changes each time is looked at less and less often.

use super::live::Live;
use super::sampling::{Sample, Sampling, Stage};
use super::traffic::Traffic;
use driver::options::Passes;
use hlir::Program;
use native::Replay;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, TryRecvError};
use std::time::Duration;

/// A share of packets on an edge, from which on code is made again.
const MOVED: f64 = 0.1;
const FIRST_WAIT: Duration = Duration::from_secs(10);
const LONGEST_WAIT: Duration = Duration::from_secs(600);

/// See the module. Times are since the start.
#[derive(Default)]
pub struct Watch {
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
    /// Takes what packets come of a sample, if one is being taken.
    pub fn glance<L: Replay>(&mut self, live: &mut Live<L>, now: Duration) {
        self.sampling.glance(live, now);
    }

    /// Begins a sample: code may be made soon.
    pub fn begin_sample(&mut self, now: Duration) {
        self.sampling.begin(now);
    }

    /// The sample that code is to be planned for, and none where hardly any packets come. None at all: it is being taken.
    pub fn sample<L: Replay>(&mut self, live: &mut Live<L>, now: Duration) -> Option<Option<Sample>> {
        self.sampling.begin(now);
        (self.sampling.stage(now) == Stage::Over).then(|| self.sampling.take(live))
    }

    /// Code was made with these passes, and for this traffic.
    pub fn plan_for(&mut self, passes: Passes, traffic: Option<Traffic>, now: Duration) {
        self.wait = if self.has_moved { (2 * self.wait).min(LONGEST_WAIT) } else { FIRST_WAIT };
        (self.planned, self.followed, self.has_moved) = (Some((passes, traffic)), None, false);
        self.next = now + self.wait;
    }

    /// Whether packets take other ways than the code was planned for.
    pub fn has_moved(&self) -> bool {
        self.has_moved
    }

    /// Looks whether they do, when it is time. The share of the packets that do, if it has just been found out.
    pub fn look<L: Replay>(&mut self, live: &mut Live<L>, program: &Arc<Program>, now: Duration) -> Option<f64> {
        let (_, traffic) = self.planned.as_ref()?;
        let Some(followed) = &self.followed else {
            if now >= self.next
                && let Some(sample) = self.sample(live, now)
            {
                self.follow(program, sample, now);
            }
            return None;
        };
        let found = match followed.try_recv() {
            Err(TryRecvError::Empty) => return None,
            Err(TryRecvError::Disconnected) => None,
            Ok(found) => found,
        };
        let distance = found.map(|found| traffic.as_ref().map_or(1.0, |traffic| traffic.distance(&found)));
        self.followed = None;
        self.next = now + self.wait;
        self.has_moved = distance.is_some_and(|distance| distance >= MOVED);
        if distance.is_some() && !self.has_moved {
            self.wait = FIRST_WAIT;
        }
        distance.filter(|_| self.has_moved)
    }

    /// Lets another thread follow the packets of a sample.
    fn follow(&mut self, program: &Arc<Program>, sample: Option<Sample>, now: Duration) {
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
