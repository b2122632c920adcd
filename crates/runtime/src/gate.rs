//! Where a worker waits between two bursts while the control thread changes what packets must see as a whole.
//!
//! A worker that waits has sent or freed all that its pipeline held, so it has found nothing that it would still use: a writer does not wait for it.

use crate::abi;
use crate::control::Control;
use crate::switch::{Lane, Switch};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

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

    /// Waits while the gate is closed. By the worker's thread, between two bursts.
    ///
    /// # Safety
    /// The worker is this thread's, and attached to `pipeline`.
    pub unsafe fn pass(&self, worker: *mut abi::Worker, pipeline: *const abi::Pipeline, control: &Control) {
        if self.0.load(Ordering::SeqCst) != CLOSED {
            return;
        }
        // SAFETY: the caller's promise; what the worker is attached to outlives the attachment.
        let (bound, id) = unsafe {
            drive_out(worker, pipeline);
            (control.bound(), (*worker).id as usize)
        };
        let set_running = |running| bound.iter().for_each(|bound| bound.readers.set_running(id, running));
        set_running(false);
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
        let flush = (*worker).flush.expect("a worker is made with its lane's flush");
        ((*pipeline).process)(worker, &mut empty);
        flush(worker);
    }
}

impl<L: Lane> Switch<L> {
    /// Returns when every worker that runs waits at the end of a burst: what is written until [`Switch::release`] is seen by packets as a whole. Packets wait
    /// at their ports meanwhile.
    pub fn hold(&mut self) {
        for worker in &self.workers {
            worker.control.gate.0.store(CLOSED, Ordering::SeqCst);
            worker.host.call();
        }
        for (id, worker) in self.workers.iter().enumerate() {
            // A thread that has ended passes no packet. `Readers` cannot tell: a worker that leaves an earlier gate does not count as running yet.
            let is_at_work = || self.threads.get(id).is_some_and(|thread| !thread.is_finished());
            while worker.control.gate.0.load(Ordering::SeqCst) != WAITING && is_at_work() {
                std::thread::sleep(Duration::from_micros(5));
            }
        }
    }

    /// Lets workers go on.
    pub fn release(&mut self) {
        self.workers.iter().for_each(|worker| worker.control.gate.0.store(OPEN, Ordering::SeqCst));
    }
}
