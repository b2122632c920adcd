//! Packets that found nothing in a table with `@punt_on_miss`: they wait here until a controller has written, and then look again.

use super::live::Engine;
use super::relay::Relay;
use control::{DataPlane as _, RefusalKind};
use hlir::{Program, TableId};
use native::{MissHandler, Replay};
use runtime::events::Punted;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// Packets that may wait; more are dropped, and counted.
const MOST: usize = 65_536;
/// How long a packet waits for a controller before it is dropped, and counted; from its first miss, however often it is looked up again.
const LONGEST: Duration = Duration::from_secs(10);

const NO_ROOM: &str = "dropped: too many packets waited for the controller";
const NO_ANSWER: &str = "dropped: the controller wrote nothing for the packet";
const NOT_REPORTED: &str = "dropped: no controller took the message of the packet in time";
/// How often packets are looked through for those that have waited too long.
const LOOK: Duration = Duration::from_millis(100);

const REFUSED: &str = "answers of the miss handler that the switch refused";
const RESUMED: &str = "packets resumed";

/// A packet that waits.
struct Waiting {
    punted: Punted,
    /// A version of the store that the packet's lookup has seen, or a later one.
    seen: u64,
    /// The table of which controllers are still to be notified.
    unreported: Option<TableId>,
}

/// See the module.
pub struct Misses {
    /// Answers packets instead of controllers.
    handler: Option<Box<dyn MissHandler>>,
    /// Times are nanoseconds since then, beginning at 1: a packet's mark is when it first missed.
    begun: Instant,
    looked: Instant,
    waiting: VecDeque<Waiting>,
    /// Behind so many of them, controllers are still to be notified.
    reported: usize,
    /// Whose tables they missed in.
    program: Option<Arc<Program>>,
    /// The store's version before punted packets were last taken, and before that.
    taken: u64,
    taken_before: u64,
}

impl Misses {
    pub fn new(handler: Option<Box<dyn MissHandler>>) -> Misses {
        let begun = Instant::now();
        let waiting = VecDeque::new();
        Misses { handler, begun, looked: begun, waiting, reported: 0, program: None, taken: 0, taken_before: 0 }
    }

    /// Whether no packet waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    fn now(&self) -> u64 {
        1 + self.begun.elapsed().as_nanos() as u64
    }
}

impl<L: Replay> Relay<L> {
    /// Notes the store's version before punted packets are taken. All that were punted before the last time are here already, so those
    /// that come now have seen what was written then.
    pub fn take_misses(&mut self, engine: &Engine<L>) {
        let program = engine.program();
        if !self.misses.program.as_ref().is_some_and(|known| Arc::ptr_eq(known, &program)) {
            // Packets of an earlier program are dropped when they are looked up again. No controller is notified of its tables.
            self.misses.waiting.iter_mut().for_each(|waiting| waiting.unreported = None);
            self.misses.program = Some(program);
        }
        self.misses.taken_before = std::mem::replace(&mut self.misses.taken, engine.store().version());
    }

    /// Keeps a punted packet, and calls the handler of its table. Controllers are notified as they take the messages.
    pub fn wait_for_entry(&mut self, engine: &mut Engine<L>, mut punted: Punted) {
        let missed = engine.missed_table(&punted);
        if self.misses.waiting.len() >= MOST {
            self.count(NO_ROOM, 1);
            return;
        }
        if punted.mark == 0 {
            punted.mark = self.misses.now();
        }
        if let (Some(handler), Some(table)) = (&mut self.misses.handler, missed)
            && let Err(refusal) = handler.missed(table, &punted.packet, engine)
        {
            if !self.counts.contains_key(REFUSED) {
                eprintln!("warning: the miss handler's {refusal}");
            }
            self.count(REFUSED, 1);
        }
        let unreported = missed.filter(|_| self.misses.handler.is_none());
        self.misses.waiting.push_back(Waiting { punted, seen: self.misses.taken_before, unreported });
    }

    /// Notifies controllers of packets that wait, in their order, as many as they can take now: no message is lost while its packet waits.
    pub fn report_misses(&mut self) {
        let misses = &mut self.misses;
        if misses.reported == misses.waiting.len() {
            return;
        }
        let Some(room) = self.controllers.packet_room() else { return };
        // Half of the room is for packets that are not misses.
        let end = misses.waiting.len().min(misses.reported + room.div_ceil(2));
        let waiting = misses.waiting.range_mut(misses.reported..end);
        let reported = waiting.filter_map(|waiting| Some((waiting.unreported.take()?, waiting.punted.packet.clone())));
        self.controllers.misses(reported.collect());
        misses.reported = end;
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
        if self.misses.looked.elapsed() >= LOOK {
            self.misses.looked = Instant::now();
            let (now, before) = (self.misses.now(), self.misses.waiting.len());
            let is_young = |waiting: &Waiting| now.saturating_sub(waiting.punted.mark) <= LONGEST.as_nanos() as u64;
            let unreported =
                self.misses.waiting.iter().filter(|waiting| !is_young(waiting) && waiting.unreported.is_some()).count();
            let reported =
                self.misses.waiting.iter().take(self.misses.reported).filter(|waiting| is_young(waiting)).count();
            self.misses.waiting.retain(is_young);
            self.misses.reported = reported;
            self.count(NOT_REPORTED, unreported as u64);
            self.count(NO_ANSWER, (before - self.misses.waiting.len() - unreported) as u64);
        }
    }

    /// Those that miss again are punted again, and wait behind the others.
    fn look_again(&mut self, engine: &mut Engine<L>) {
        let version = engine.store().version();
        while self.misses.waiting.front().is_some_and(|waiting| waiting.seen != version) {
            let Some(waiting) = self.misses.waiting.pop_front() else { return };
            self.misses.reported = self.misses.reported.saturating_sub(1);
            match engine.resume(&waiting.punted) {
                Ok(()) => self.count(RESUMED, 1),
                Err(refusal) if refusal.kind == RefusalKind::Full => {
                    // The rest goes on when the worker has taken these.
                    self.misses.reported += usize::from(waiting.unreported.is_none());
                    self.misses.waiting.push_front(waiting);
                    return;
                }
                Err(_) => self.count("dropped: the pipeline that punted the packet was replaced", 1),
            }
        }
    }
}
