//! Drivers of devices unmap memory only when no worker reads it (`runtime/port/unmap.c`).

use crate::quiescent::{NO_TABLE, Readers};
use std::sync::{Arc, Mutex, PoisonError, Weak};

/// The workers of all switches of this process.
static SWITCHES: Mutex<Vec<Weak<Readers>>> = Mutex::new(Vec::new());

unsafe extern "C" {
    fn unmap_behind(wait: extern "C" fn());
}

/// From now on, what is unmapped waits for these workers too.
pub fn register(readers: &Arc<Readers>) {
    let mut switches = SWITCHES.lock().unwrap_or_else(PoisonError::into_inner);
    switches.retain(|other| other.strong_count() > 0);
    switches.push(Arc::downgrade(readers));
    // SAFETY: the function lives as long as the program.
    unsafe { unmap_behind(wait) };
}

extern "C" fn wait() {
    let switches = SWITCHES.lock().unwrap_or_else(PoisonError::into_inner).clone();
    switches.iter().filter_map(Weak::upgrade).for_each(|readers| readers.wait(NO_TABLE, false));
}
