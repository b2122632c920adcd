//! Where a worker waits between two bursts while the control thread changes what packets must see as a whole.
//!
//! A worker that waits has sent or freed all that its pipeline held, so it has found nothing that it would still use: a writer does not wait for it.
//! ```text
//! control thread       OPEN ── close ──▶ CLOSED                 WAITING ── open ──▶ OPEN
//! worker                                 CLOSED ── its end ──▶ WAITING
//! ```
//!
//! The worker moves CLOSED to WAITING by a comparison, since the control thread may have opened the gate again.
//! A gate that is closed anew while the worker leaves it is passed at the worker's next end of a burst.

use crate::abi;
use crate::quiescent::Readers;
use std::sync::atomic::{AtomicU32, Ordering};

const OPEN: u32 = 0;
/// The worker is to wait at the end of its burst.
const CLOSED: u32 = 1;
/// The worker waits.
const WAITING: u32 = 2;

/// The gate of one worker.
pub(crate) struct Gate(AtomicU32);

impl Gate {
    pub fn new() -> Gate {
        Gate(AtomicU32::new(OPEN))
    }

    /// By the control thread.
    pub fn close(&self) {
        self.0.store(CLOSED, Ordering::SeqCst);
    }

    /// By the control thread.
    pub fn open(&self) {
        self.0.store(OPEN, Ordering::SeqCst);
    }

    /// Whether the worker waits at it.
    pub fn is_waited_at(&self) -> bool {
        self.0.load(Ordering::SeqCst) == WAITING
    }

    /// Waits while the gate is closed. By the worker's thread, between two bursts.
    ///
    /// # Safety
    /// The worker is this thread's, and attached to `pipeline`, whose tables have these readers.
    pub unsafe fn pass(&self, worker: *mut abi::Worker, pipeline: *const abi::Pipeline, readers: Option<&Readers>) {
        if self.0.load(Ordering::SeqCst) != CLOSED {
            return;
        }
        // SAFETY: the caller's promise.
        let id = unsafe {
            drive_out(worker, pipeline);
            (*worker).id as usize
        };
        let set_running = |running| readers.iter().for_each(|readers| readers.set_running(id, running));
        set_running(false);
        // In this order: a control thread that sees WAITING writes, and its grace periods must not wait for
        // this worker.
        if self.0.compare_exchange(CLOSED, WAITING, Ordering::SeqCst, Ordering::SeqCst).is_ok() {
            let mut spins = 0u32;
            while self.0.load(Ordering::SeqCst) == WAITING {
                spins += 1;
                if spins < 1000 {
                    std::hint::spin_loop();
                } else {
                    // The control thread may need this core.
                    std::thread::yield_now();
                }
            }
        }
        // A full fence: what is looked up from here on is as the control thread left it.
        set_running(true);
    }
}

/// Sends or frees what a pipeline holds.
///
/// # Safety
/// The worker is this thread's, between two bursts, and attached to the pipeline.
pub(crate) unsafe fn drive_out(worker: *mut abi::Worker, pipeline: *const abi::Pipeline) {
    let nothing = std::ptr::null_mut();
    let mut empty = abi::Burst { count: 0, ports: nothing, packets: nothing.cast(), lengths: nothing };
    // SAFETY: the caller's promise.
    unsafe {
        let flush = (*worker).flush.expect("a worker is made with its ports' flush");
        ((*pipeline).process)(worker, &mut empty);
        flush(worker);
    }
}
