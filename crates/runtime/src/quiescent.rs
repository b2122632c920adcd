//! Grace periods: a writer that frees memory waits for the workers that may still read it.
//!
//! A worker counts the ends of its bursts. When each that runs has passed enough of them, no worker holds what was unlinked before. A worker
//! that waits in the data plane's own insertion uses nothing of what it has found in tables that packets insert into: after it, it looks up again
//! (`run->insertions` of the emitted code). Such tables do not wait for it, or two such workers would wait for each other.
//! ```text
//! writer                                   worker
//! store: unlink (release)                  bursts += 1 (full fence)
//! fence (SeqCst)                           load: finds the new, or the old, which it uses
//! mark = bursts of each worker             .. until the end of this burst, or of `held_bursts` later ones
//! wait until bursts >= mark + grace        bursts += 1 (full fence)
//! free
//! ```
//!
//! Without the writer's fence its load of `bursts` could pass the unlinking store. Without the worker's, a load
//! of the next burst could pass the count. In either case a worker would use what a writer has freed.
//!
//! A writer waits for workers; no worker waits for a writer, except for a table's lock in an insertion.

use crate::abi;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};
use std::time::Duration;

/// Ends of bursts after which a worker has released everything, beside those over which its pipeline keeps packets with what they have found: that of the
/// burst it is in, and one more.
const BURSTS: u64 = 2;

/// Not inserting.
const NOWHERE: usize = 0;

/// For what is no table: no worker inserts there.
pub const NO_TABLE: usize = 1;

/// All workers of a switch.
pub struct Readers {
    slots: Vec<Slot>,
}

struct Slot {
    worker: AtomicPtr<abi::Worker>,
    sleeping: AtomicPtr<AtomicU32>,
    running: AtomicBool,
    inserting: AtomicUsize,
    /// `held_bursts` of the pipeline that the worker is attached to.
    held_bursts: AtomicU32,
}

impl Readers {
    pub fn new(count: usize) -> Readers {
        let slot = |_| Slot {
            worker: AtomicPtr::default(),
            sleeping: AtomicPtr::default(),
            running: AtomicBool::new(false),
            inserting: AtomicUsize::new(NOWHERE),
            held_bursts: AtomicU32::new(0),
        };
        Readers { slots: (0..count).map(slot).collect() }
    }

    /// The worker behind number `id`, and whether it sleeps; both live as long as the switch.
    pub(crate) fn register(&self, id: usize, worker: *mut abi::Worker, sleeping: &AtomicU32) {
        self.slots[id].sleeping.store((&raw const *sleeping).cast_mut(), Ordering::Release);
        self.slots[id].worker.store(worker, Ordering::Release);
    }

    /// Before a worker is freed.
    pub(crate) fn unregister(&self, id: usize) {
        self.slots[id].sleeping.store(std::ptr::null_mut(), Ordering::Release);
        self.slots[id].worker.store(std::ptr::null_mut(), Ordering::Release);
    }

    /// Before a worker's first burst with a pipeline: ends of bursts over which that keeps packets with what they have found.
    pub fn set_held_bursts(&self, id: usize, bursts: u32) {
        self.slots[id].held_bursts.store(bursts, Ordering::Release);
    }

    /// Before a worker's first burst, and after its last.
    /// On x86 a full fence: what the worker reads from now on is read after this store. So a writer that did
    /// not see it running has unlinked before the worker's first lookup.
    pub fn set_running(&self, id: usize, running: bool) {
        self.slots[id].running.store(running, Ordering::SeqCst);
    }

    /// Whether a worker may be inside a burst. A thread that sees its end also sees what it wrote before.
    pub fn is_running(&self, id: usize) -> bool {
        self.slots[id].running.load(Ordering::SeqCst)
    }

    /// Runs `insert` on behalf of worker `id`, which is at a miss of `table` (its [`crate::Table::identity`]).
    pub fn while_inserting<R>(&self, id: usize, table: usize, insert: impl FnOnce() -> R) -> R {
        self.slots[id].inserting.store(table, Ordering::SeqCst);
        let result = insert();
        self.slots[id].inserting.store(NOWHERE, Ordering::SeqCst);
        result
    }

    /// Returns when no worker can still use what it found in `table` before the call. `is_inserted`: packets insert
    /// entries into the table.
    /// All marks are taken before the first wait: workers pass their bursts at the same time, so the wait is
    /// the longest of theirs, not the sum. A worker that stops meanwhile is left out, one that starts has
    /// nothing old.
    pub fn wait(&self, table: usize, is_inserted: bool) {
        std::sync::atomic::fence(Ordering::SeqCst);
        let marks: Vec<u64> = self.slots.iter().map(Slot::bursts).collect();
        for (slot, mark) in self.slots.iter().zip(marks) {
            let mut spins = 0u32;
            while slot.holds(table, is_inserted) && slot.bursts().wrapping_sub(mark) < slot.grace() {
                spins += 1;
                if spins < 100 {
                    std::hint::spin_loop();
                } else {
                    std::thread::sleep(Duration::from_micros(10));
                }
            }
        }
    }
}

impl Slot {
    fn grace(&self) -> u64 {
        BURSTS + u64::from(self.held_bursts.load(Ordering::Acquire))
    }

    /// 0 for a worker that does not run. Where it starts after its mark was taken, the difference is its whole
    /// count: enough, or waited for in vain. It finds nothing that was unlinked before.
    fn bursts(&self) -> u64 {
        if !self.running.load(Ordering::SeqCst) {
            return 0;
        }
        // SAFETY: a registered worker lives as long as the switch that owns both.
        unsafe { self.worker.load(Ordering::Acquire).as_ref() }
            .map_or(0, |worker| worker.quiescent.bursts.load(Ordering::Acquire))
    }

    /// Whether the worker may have found something in `table` that it still uses.
    ///
    /// A worker at a miss of the table itself does not: it waits for the writer's lock, so waiting for it would
    /// never end. Nor does one at a miss of any table, of a table that packets insert into.
    fn holds(&self, table: usize, is_inserted: bool) -> bool {
        let inserting = self.inserting.load(Ordering::SeqCst);
        let has_released = inserting == table || (is_inserted && inserting != NOWHERE);
        self.running.load(Ordering::SeqCst) && !has_released && !self.sleeps()
    }

    /// A worker that sleeps has flushed its pipeline, and looks up anew when it wakes: by then it sees what was unlinked, as a worker that starts does.
    fn sleeps(&self) -> bool {
        // SAFETY: as above.
        unsafe { self.sleeping.load(Ordering::Acquire).as_ref() }
            .is_some_and(|sleeping| sleeping.load(Ordering::SeqCst) != 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two workers that insert into two tables, each in a grace period of its own table, would wait for each other.
    #[test]
    fn tables_that_packets_insert_into_do_not_wait_for_workers_that_insert() {
        let readers = Readers::new(1);
        let (one, other) = (10, 11);
        readers.set_running(0, true);
        let holds = |is_inserted| readers.slots[0].holds(one, is_inserted);
        assert!(holds(true) && holds(false), "a worker in a burst");
        readers.while_inserting(0, other, || assert!(!holds(true) && holds(false), "at a miss of another table"));
        readers.while_inserting(0, one, || assert!(!holds(true) && !holds(false), "at a miss of this table"));
        let sleeping = AtomicU32::new(1);
        readers.register(0, std::ptr::null_mut(), &sleeping);
        assert!(!holds(true) && !holds(false), "a worker that sleeps");
        sleeping.store(0, Ordering::SeqCst);
        assert!(holds(true) && holds(false), "a worker that is awake");
        readers.set_running(0, false);
        assert!(!holds(true) && !holds(false));
    }
}
