//! Packets that found nothing in a table with `@punt_on_miss`: they wait here until a controller has written, and then look again.

use super::live::Engine;
use super::relay::Relay;
use control::{DataPlane as _, RefusalKind};
use hlir::TableId;
use native::Replay;
use runtime::events::Punted;
use std::collections::VecDeque;
use std::time::{Duration, Instant};

/// Packets that may wait; more are dropped, and counted.
const MOST: usize = 65_536;
/// How long a packet waits for a controller before it is dropped, and counted.
const LONGEST: Duration = Duration::from_secs(10);

const NO_ROOM: &str = "dropped: too many packets waited for the controller";
const NO_ANSWER: &str = "dropped: the controller wrote nothing for the packet";
const RESUMED: &str = "packets resumed";

/// A packet that waits.
struct Waiting {
    punted: Punted,
    since: Instant,
    /// A version of the store that the packet's lookup has seen, or a later one.
    seen: u64,
}

/// See the module.
#[derive(Default)]
pub struct Misses {
    waiting: VecDeque<Waiting>,
    /// The store's version before punted packets were last taken, and before that.
    taken: u64,
    taken_before: u64,
}

impl<L: Replay> Relay<L> {
    /// Notes the store's version before punted packets are taken. All that were punted before the last time are here already, so those
    /// that come now have seen what was written then.
    pub fn take_misses(&mut self, version: u64) {
        self.misses.taken_before = std::mem::replace(&mut self.misses.taken, version);
    }

    /// Keeps a punted packet, and tells controllers of its table.
    pub fn wait_for_entry(&mut self, punted: Punted, missed: Option<TableId>) {
        if self.misses.waiting.len() >= MOST {
            self.count(NO_ROOM, 1);
            return;
        }
        missed.into_iter().for_each(|table| self.controllers.miss(table, punted.packet.clone()));
        self.misses.waiting.push_back(Waiting { punted, since: Instant::now(), seen: self.misses.taken_before });
    }

    /// Lets packets go on if a controller has written since they were looked up, in their order.
    pub fn resume_packets(&mut self) {
        if self.misses.waiting.is_empty() {
            return;
        }
        let shared = self.switch.clone();
        let mut live = shared.lock();
        let Some(engine) = live.engine() else { return };
        self.look_again(engine);
        while self.misses.waiting.front().is_some_and(|waiting| waiting.since.elapsed() > LONGEST) {
            self.misses.waiting.pop_front();
            self.count(NO_ANSWER, 1);
        }
    }

    /// Those that miss again are punted again, and wait behind the others.
    fn look_again(&mut self, engine: &mut Engine<L>) {
        let version = engine.store().version();
        while self.misses.waiting.front().is_some_and(|waiting| waiting.seen != version) {
            let Some(waiting) = self.misses.waiting.pop_front() else { return };
            match engine.resume(&waiting.punted) {
                Ok(()) => self.count(RESUMED, 1),
                Err(refusal) if refusal.kind == RefusalKind::Full => {
                    // The rest goes on when the worker has taken these.
                    self.misses.waiting.push_front(waiting);
                    return;
                }
                Err(_) => self.count("dropped: the pipeline that punted the packet was replaced", 1),
            }
        }
    }
}
