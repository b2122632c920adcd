//! A thread that measures: on one core, undisturbed for a while where the system allows it, and aware of who shares the core.

unsafe extern "C" {
    fn core_pin();
    fn core_spread();
    fn core_hold(held: u32) -> i32;
    fn core_background();
    fn core_work() -> u64;
    fn core_was_alone(ticks: u64) -> i32;
    fn core_process_ns() -> u64;
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

/// Lets other threads run before the calling one, and before the processes that it starts from now on: it keeps about a tenth of a core that
/// workers use fully.
pub fn work_in_background() {
    // SAFETY: the function changes the thread's priority and nothing else.
    unsafe { core_background() };
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

/// Ticks of a piece of work that is always the same, a microsecond or two, and takes longer while another thread shares the core: threads of one core slow
/// each other down by up to two, and the other may be another guest's, which no priority keeps away.
pub fn work() -> u64 {
    // SAFETY: the function times work on its own variables, and writes one of the process atomically.
    unsafe { core_work() }
}

/// Whether a thread whose work took so many ticks had the core for itself, as far as can be seen: it is compared with the shortest time of this process.
pub fn was_alone(ticks: u64) -> bool {
    // SAFETY: the function reads a variable of the process atomically.
    unsafe { core_was_alone(ticks) != 0 }
}

/// Nanoseconds that the threads of this process have run, together: of a worker that never sleeps, the time that no other thread had its core.
pub fn process_ns() -> u64 {
    // SAFETY: reading a clock has no effect.
    unsafe { core_process_ns() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whose_work_takes_much_longer_than_the_shortest_is_not_alone() {
        let shortest = (0..100).map(|_| work()).min().expect("some work was done");
        assert!(was_alone(shortest) && !was_alone(2 * shortest));
    }
}
