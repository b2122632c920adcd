//! Signals as flags, so that a switch stops between two bursts and its captures are whole.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

static STOP: AtomicBool = AtomicBool::new(false);
static COUNTS: AtomicBool = AtomicBool::new(false);

const SIGHUP: c_int = 1;
const SIGINT: c_int = 2;
const SIGUSR1: c_int = 10;
const SIGTERM: c_int = 15;
/// The handler of a signal that does nothing.
const IGNORED: usize = 1;

unsafe extern "C" {
    fn signal(number: c_int, handler: usize) -> usize;
    fn __errno_location() -> *mut c_int;
}

extern "C" fn note(number: c_int) {
    let flag = if number == SIGUSR1 { &COUNTS } else { &STOP };
    flag.store(true, Ordering::SeqCst);
    // SAFETY: the location of this thread's `errno`, which the code that the signal interrupts may be about to read.
    let errno = unsafe { __errno_location() };
    // SAFETY: see above.
    let before = unsafe { errno.read() };
    crate::rest::rouse();
    // SAFETY: see above.
    unsafe { errno.write(before) };
}

/// From now on [`stop_requested`] reports Ctrl-C, SIGTERM and SIGHUP, and [`take_counts`] of SIGUSR1. SIGHUP stays ignored where it is (`nohup`).
/// SIGINT does not: a shell ignores it for what it starts in the background, and `kill -INT` is to end that as well.
pub fn catch() {
    let handler = note as extern "C" fn(c_int) as usize;
    for number in [SIGINT, SIGTERM, SIGHUP, SIGUSR1] {
        // SAFETY: the handler stores to atomics, writes to a socket and restores `errno`.
        unsafe {
            if signal(number, handler) == IGNORED && number == SIGHUP {
                signal(number, IGNORED);
            }
        }
    }
}

/// Whether the user has asked this process to end.
pub fn stop_requested() -> bool {
    STOP.load(Ordering::SeqCst)
}

/// Whether the user has requested the counts since this was last called.
pub fn take_counts() -> bool {
    COUNTS.swap(false, Ordering::SeqCst)
}
