//! What a table's writer in C calls back: grace periods, and the elements of direct counters and meters.

use crate::memory_limit;
use crate::quiescent::Readers;
use crate::region;
use std::ffi::{c_int, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// What the writer calls back with.
pub(crate) struct Callbacks {
    readers: Arc<Readers>,
    /// Whether packets may read the table.
    /// Until a pipeline is attached to it, a table is filled without grace periods: millions of entries would
    /// wait for as many bursts.
    pub is_read: AtomicBool,
    /// Whether packets insert entries.
    /// Set before the first insertion, and never cleared: see `Readers::wait`.
    pub is_inserted: AtomicBool,
    /// Whether memory is refused beyond the limit of the process: not to a table that is being made, which has no entries.
    pub is_limited: AtomicBool,
    counter_indices: u64,
    pub direct: Mutex<Vec<DirectElements>>,
}

/// The elements of a direct counter or meter, by the counter index of an entry.
pub(crate) struct DirectElements {
    pub memory: *mut u64,
    /// Words of an element.
    pub words: usize,
}

impl DirectElements {
    pub fn of<T: region::Zero>(elements: &region::Region<T>) -> DirectElements {
        DirectElements { memory: elements.as_mut_ptr().cast(), words: size_of::<T>() / size_of::<u64>() }
    }
}

// SAFETY: the memory is that of a region, which any thread may write.
unsafe impl Send for DirectElements {}

pub(crate) unsafe extern "C" fn grace(host: *mut c_void) {
    // SAFETY: `host` is the table's `Callbacks`, which live as long as the writer.
    unsafe { &*host.cast::<Callbacks>() }.wait();
}

impl Callbacks {
    /// For a table with at most so many counter indices, which packets do not read yet.
    pub fn new(readers: Arc<Readers>, counter_indices: u64) -> Callbacks {
        Callbacks {
            readers,
            is_read: AtomicBool::new(false),
            is_inserted: AtomicBool::new(false),
            is_limited: AtomicBool::new(false),
            counter_indices,
            direct: Mutex::default(),
        }
    }

    /// Distinguishes this table from others, whichever number a pipeline gives it.
    pub fn identity(&self) -> usize {
        std::ptr::from_ref(self) as usize
    }

    pub fn wait(&self) {
        if self.is_read.load(Ordering::Acquire) {
            self.readers.wait(self.identity(), self.is_inserted.load(Ordering::SeqCst));
        }
    }
}

/// Zeroed memory; null beyond the limit of the process.
pub(crate) unsafe extern "C" fn allocate(host: *mut c_void, bytes: usize) -> *mut c_void {
    // SAFETY: as for `grace`.
    let is_limited = unsafe { &*host.cast::<Callbacks>() }.is_limited.load(Ordering::Relaxed);
    if is_limited && !memory_limit::has_room_for(bytes) {
        return std::ptr::null_mut();
    }
    // SAFETY: any size may be requested.
    unsafe { region::allocate(host, bytes) }
}

pub(crate) unsafe extern "C" fn counter_indices(host: *mut c_void, count: u64) -> c_int {
    // SAFETY: as for `grace`.
    let callbacks = unsafe { &*host.cast::<Callbacks>() };
    if count <= callbacks.counter_indices { 0 } else { -1 }
}

pub(crate) unsafe extern "C" fn clear(host: *mut c_void, counter_index: u32) {
    // SAFETY: as for `grace`.
    let callbacks = unsafe { &*host.cast::<Callbacks>() };
    for direct in callbacks.direct.lock().unwrap_or_else(PoisonError::into_inner).iter() {
        for word in 0..direct.words {
            // SAFETY: the table has requested this counter index before, and regions have all requested counter indices.
            unsafe { direct.memory.add(counter_index as usize * direct.words + word).write_volatile(0) };
        }
    }
}
