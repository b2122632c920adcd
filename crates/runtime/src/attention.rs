//! A thread that measures: on one core, undisturbed for a while where the system allows it, and aware of who shares the core.

use std::sync::{Mutex, PoisonError};

unsafe extern "C" {
    fn core_pin();
    fn core_spread();
    fn core_hold(held: u32) -> i32;
    fn core_work() -> u64;
}

/// A piece of work that takes this much longer than ever before is not alone.
const SHARED: f64 = 1.08;

/// Keeps the calling thread on one core, the last that it may use.
pub fn pin() {
    // SAFETY: the function changes the thread's affinity and nothing else.
    unsafe { core_pin() }
}

/// Lets the calling thread, and what it starts from now on, run on every core: for work beside what is measured.
pub fn spread() {
    // SAFETY: the function changes the thread's affinity and nothing else.
    unsafe { core_spread() }
}

/// Gives up a priority that the process was started with: a process that waits for others, or starts DPDK, with a real-time priority can keep a
/// core for itself for minutes.
pub fn be_ordinary() {
    // SAFETY: the function changes the thread's priority and nothing else.
    unsafe { core_hold(0) };
}

/// As long as this lives, nothing of ordinary priority interrupts the thread that made it, if the system allows that.
pub struct Undisturbed(());

impl Undisturbed {
    pub fn begin() -> Undisturbed {
        // SAFETY: the function changes the thread's priority and nothing else.
        unsafe { core_hold(1) };
        Undisturbed(())
    }
}

impl Drop for Undisturbed {
    fn drop(&mut self) {
        // SAFETY: as above.
        unsafe { core_hold(0) };
    }
}

/// Whether this thread has its core for itself just now, as far as can be seen: threads of one core slow each other down by up to two, and the other may be
/// another guest's. A piece of work that is always the same takes no longer than it ever took in this process. Some microseconds.
pub fn is_alone() -> bool {
    // Ticks of the shortest time so far. Held while the work is done, which only one thread at a time is to do.
    static SHORTEST: Mutex<u64> = Mutex::new(u64::MAX);
    let mut shortest = SHORTEST.lock().unwrap_or_else(PoisonError::into_inner);
    // SAFETY: the function writes to variables of its own only, and no other thread is in it.
    let ticks = unsafe { core_work() };
    *shortest = ticks.min(*shortest);
    ticks as f64 <= *shortest as f64 * SHARED
}
