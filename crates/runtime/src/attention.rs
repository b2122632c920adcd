//! A thread that measures: on one core, undisturbed for a while where the system allows it, and aware of who shares the core.

unsafe extern "C" {
    fn core_pin();
    fn core_spread();
    fn core_hold(held: u32) -> i32;
    fn core_is_alone() -> i32;
}

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
/// another guest's, which no priority keeps away. Some microseconds.
pub fn is_alone() -> bool {
    // SAFETY: the function times work on its own variables.
    unsafe { core_is_alone() != 0 }
}
