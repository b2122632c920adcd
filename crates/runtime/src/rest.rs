//! The control thread of a switch sleeps while there is nothing to do, until a worker has packets again, or a client or a signal comes.
//!
//! A thread that wakes it has first stored what it is to see; the control thread looks once more when it has stored that it sleeps.

use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixDatagram;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::time::Duration;

static SLEEPS: AtomicU32 = AtomicU32::new(0);
/// Since the last sleep.
static CALLED: AtomicBool = AtomicBool::new(false);
static ENDS: OnceLock<Option<(UnixDatagram, UnixDatagram)>> = OnceLock::new();

/// The end that is read, and the one that is written to. None where no file descriptor is left.
fn ends() -> Option<&'static (UnixDatagram, UnixDatagram)> {
    let made = ENDS.get_or_init(|| {
        let (read, write) = UnixDatagram::pair().ok()?;
        write.set_nonblocking(true).ok()?;
        Some((read, write))
    });
    made.as_ref()
}

/// What workers write to; -1: nothing.
pub(crate) fn rouse_file() -> std::ffi::c_int {
    ends().map_or(-1, |(_, write)| write.as_raw_fd())
}

/// 1 while the control thread sleeps.
pub(crate) fn sleeps() -> *const AtomicU32 {
    &raw const SLEEPS
}

/// Wakes the control thread, or lets its next sleep end at once: what it is called for may have come behind its last look. A signal handler may call it.
pub fn rouse() {
    CALLED.store(true, Ordering::SeqCst);
    if SLEEPS.load(Ordering::SeqCst) != 0
        && let Some(Some((_, write))) = ENDS.get()
    {
        // A socket that is full has woken it.
        drop(write.send(&[0]));
    }
}

/// Sleeps for so long at most, unless there is something to do. Whether the thread was woken.
pub fn sleep(most: Duration, may_sleep: impl FnOnce() -> bool) -> bool {
    let Some((read, _)) = ends() else {
        std::thread::sleep(most);
        return false;
    };
    SLEEPS.store(1, Ordering::SeqCst);
    let waits = || !CALLED.load(Ordering::SeqCst) && may_sleep() && read.set_read_timeout(Some(most)).is_ok();
    // What more is written lets the next sleep end at once.
    let is_woken = waits() && read.recv(&mut [0]).is_ok();
    SLEEPS.store(0, Ordering::SeqCst);
    CALLED.swap(false, Ordering::SeqCst) || is_woken
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    const LONG: Duration = Duration::from_secs(60);

    fn ends_early(may_sleep: impl FnOnce() -> bool) -> bool {
        let begin = Instant::now();
        sleep(LONG, may_sleep) && begin.elapsed() < LONG / 4
    }

    /// One test: there is one control thread in a process.
    #[test]
    fn the_control_thread_sleeps_until_it_is_called() {
        let begin = Instant::now();
        assert!(!sleep(Duration::from_millis(20), || true));
        assert!(begin.elapsed() >= Duration::from_millis(20));
        assert!(!sleep(LONG, || false));
        // Between its look and its sleep.
        rouse();
        assert!(ends_early(|| true));
        assert!(ends_early(|| {
            rouse();
            true
        }));
        let other = std::thread::spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            rouse();
        });
        assert!(ends_early(|| true));
        other.join().expect("it only calls");
        // A worker calls by the file alone.
        assert!(ends_early(|| ends().is_some_and(|(_, write)| write.send(&[0]).is_ok())));
        let begin = Instant::now();
        assert!(!sleep(Duration::from_millis(20), || true), "each call ends one sleep");
        assert!(begin.elapsed() >= Duration::from_millis(20));
    }
}
