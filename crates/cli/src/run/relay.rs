//! The pipeline's events, and their receivers: packets and records to controllers, log lines to the user, packets that missed to where they wait.
//!
//! The thread that owns it calls it now and then; the workers run on meanwhile.

use super::live::{Engine, Shared};
use super::misses::Misses;
use bm_runtime::Learning;
use control::DataPlane as _;
use driver::stdout::print_line;
use native::Replay;
use p4runtime::Events;
use runtime::Event;
use std::collections::BTreeMap;
use std::sync::Arc;

/// What packets for the control plane are counted as.
pub const PUNTED: &str = "packets for the control plane";

/// Records of digests that are taken at once, of each worker: more than controllers take in the time. The others wait in the worker's queue.
const DIGESTS: usize = 1024;

/// See the module.
pub struct Relay<L: Replay> {
    pub switch: Shared<L>,
    /// Through which controllers are notified.
    pub controllers: Events,
    pub misses: Misses,
    /// Controllers of BMv2 that learn of digests.
    pub learning: Option<Arc<Learning>>,
    /// What has come, by kind.
    pub counts: BTreeMap<String, u64>,
}

impl<L: Replay> Relay<L> {
    pub fn new(switch: Shared<L>, controllers: Events, misses: Misses, learning: Option<Arc<Learning>>) -> Relay<L> {
        Relay { switch, controllers, misses, learning, counts: BTreeMap::new() }
    }

    /// Takes all that waits. An assertion that did not hold ends the switch, by this sentence.
    pub fn turn(&mut self) -> Option<String> {
        self.send_packets();
        let failed = self.listen();
        self.report_misses();
        self.resume_packets();
        failed
    }

    /// Whether all workers sleep, and nothing waits for this thread.
    pub fn is_quiet(&self) -> bool {
        let mut live = self.switch.lock();
        let Some(engine) = live.engine() else { return true };
        let switch = engine.switch();
        switch.all_sleep() && switch.queues().iter().all(|queue| queue.waiting == 0) && self.misses.is_empty()
    }

    /// Lets workers that sleep look at their ports anew.
    pub fn rouse_workers(&self) {
        self.switch.lock().engine().into_iter().for_each(|engine| engine.switch().rouse());
    }

    pub fn count(&mut self, event: &str, times: u64) {
        if times > 0 {
            *self.counts.entry(event.to_string()).or_default() += times;
        }
    }

    /// Sends controllers their packets.
    fn send_packets(&mut self) {
        // What controllers cannot take waits in the worker's queue; what finds that full costs nothing.
        let room = self.controllers.packet_room();
        let shared = self.switch.clone();
        let mut live = shared.lock();
        let Some(engine) = live.engine() else { return };
        let (packets, lost) = match room {
            Some(room) => engine.switch().take_cpu_packets(room),
            None => (Vec::new(), engine.switch().drop_cpu_packets()),
        };
        drop(live);
        self.controllers.packets_in(packets);
        self.count("packets to the controller lost", lost);
    }

    /// Lets entries age, and counts those that the control plane is notified of. Reports what became of joint tables.
    pub fn age(&mut self) {
        let shared = self.switch.clone();
        let mut live = shared.lock();
        let notices = live.engine().map(|engine| engine.take_notices()).unwrap_or_default();
        notices.iter().for_each(|notice| eprintln!("note: {notice}"));
        let Some(engine) = live.engine().filter(|engine| engine.has_aging()) else {
            // What a handler of misses has written, which no client waits for.
            drop(live.save_changes());
            return;
        };
        let clock_ns = engine.age();
        let idle = engine.take_idle();
        for key in &idle {
            self.count(&format!("idle entries of {}", engine.program().tables[key.table].name), 1);
        }
        // Entries have gone without a controller.
        drop(live.save_changes());
        drop(live);
        if !idle.is_empty() {
            self.controllers.idle(idle, clock_ns);
        }
    }

    /// Takes the program's events.
    pub fn listen(&mut self) -> Option<String> {
        let learning = self.learning.clone().filter(|learning| learning.is_wanted());
        let wants_digests = self.controllers.wants_digests() || learning.is_some();
        let shared = self.switch.clone();
        let mut live = shared.lock();
        let engine = live.engine()?;
        self.take_misses(engine);
        let (events, lost) = engine.switch().take_events(DIGESTS);
        let (mut failed, mut digests) = (None, BTreeMap::<u32, u64>::new());
        let mut records = Vec::new();
        for event in events {
            match event {
                Event::Digest { digest, values } => {
                    if wants_digests {
                        records.extend(engine.digest(digest, &values));
                    }
                    *digests.entry(digest).or_default() += 1;
                }
                Event::Log { format, values, widths } => {
                    print_line!("{}", native::log_line(&format, &values, &widths));
                    self.count("log lines", 1);
                }
                Event::Fail { text } => {
                    failed.get_or_insert(format!("the switch stopped: assertion failed: {text}"));
                }
                Event::Punt(punted) => {
                    self.wait_for_entry(engine, punted);
                    self.count(PUNTED, 1);
                }
            }
        }
        if let Some(learning) = learning {
            learning.take(&engine.program(), records.clone());
        }
        self.controllers.digests(records);
        digests.into_iter().for_each(|(digest, count)| self.count_digests(engine, digest, count));
        self.count("messages lost", lost.total());
        failed
    }

    fn count_digests(&mut self, engine: &Engine<L>, digest: u32, count: u64) {
        self.count(&engine.digest_name(digest), count);
    }
}
