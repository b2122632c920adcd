//! Ctrl-C and SIGTERM as a flag, so that a switch stops between two bursts and its captures are whole.

use std::ffi::c_int;
use std::sync::atomic::{AtomicBool, Ordering};

static ASKED: AtomicBool = AtomicBool::new(false);

const SIGINT: c_int = 2;
const SIGTERM: c_int = 15;

unsafe extern "C" {
    fn signal(number: c_int, handler: extern "C" fn(c_int)) -> *const u8;
}

extern "C" fn note(_number: c_int) {
    ASKED.store(true, Ordering::SeqCst);
}

/// From now on [`asked`] tells of both signals.
pub fn catch() {
    // SAFETY: the handler only stores to an atomic.
    unsafe {
        signal(SIGINT, note);
        signal(SIGTERM, note);
    }
}

/// Whether the user has asked this process to end.
pub fn asked() -> bool {
    ASKED.load(Ordering::SeqCst)
}
