//! The control thread of a switch sleeps while there is nothing to do, until a worker that has slept has packets again, or a client or a signal comes.
//!
//! A thread that wakes it has first stored what it is to see; the control thread looks once more when it has stored that it sleeps.

use std::os::fd::AsRawFd as _;
use std::os::unix::net::UnixDatagram;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

static SLEEPS: AtomicU32 = AtomicU32::new(0);
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

/// Wakes the control thread if it sleeps. A signal handler may call it.
pub fn rouse() {
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
    // What more is written lets the next sleep end at once.
    let is_woken = may_sleep() && read.set_read_timeout(Some(most)).is_ok() && read.recv(&mut [0]).is_ok();
    SLEEPS.store(0, Ordering::SeqCst);
    is_woken
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Instant;

    /// One test: there is one control thread in a process.
    #[test]
    fn the_control_thread_sleeps_until_it_is_called() {
        let begin = Instant::now();
        assert!(!sleep(Duration::from_millis(20), || true));
        assert!(begin.elapsed() >= Duration::from_millis(20));
        rouse();
        let begin = Instant::now();
        assert!(!sleep(Duration::from_secs(60), || false));
        let called = sleep(Duration::from_secs(60), || {
            rouse();
            true
        });
        assert!(called);
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        let begin = Instant::now();
        let other = std::thread::spawn(|| {
            std::thread::sleep(Duration::from_millis(50));
            rouse();
        });
        assert!(sleep(Duration::from_secs(60), || true));
        assert!(begin.elapsed() < Duration::from_secs(10), "{:?}", begin.elapsed());
        other.join().expect("it only calls");
    }
}
