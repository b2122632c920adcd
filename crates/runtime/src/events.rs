//! What a pipeline tells the control plane while it works on packets: digests, log lines, failed assertions, packets for the controller,
//! and entries that it inserts by itself.

use crate::abi;
use crate::control::host;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Mutex, PoisonError};

/// One message of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Values in limbs, each field starting a new one.
    Digest {
        digest: u32,
        values: Vec<u64>,
    },
    /// A format with `{}` for each value; values in limbs, with their widths.
    Log {
        format: String,
        values: Vec<u64>,
        widths: Vec<u32>,
    },
    Fail {
        text: String,
    },
    Punt {
        packet: Vec<u8>,
        saved: Vec<u8>,
        node: u32,
    },
}

/// What may be kept for a control plane that does not listen; then the oldest go, and are counted.
const KEPT: usize = 1 << 16;

/// The events of one worker, until somebody takes them.
#[derive(Default)]
pub struct Events {
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    events: std::collections::VecDeque<Event>,
    lost: u64,
}

impl Events {
    fn push(&self, event: Event) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        if kept.events.len() == KEPT {
            kept.events.pop_front();
            kept.lost += 1;
        }
        kept.events.push_back(event);
    }

    /// All events so far, and how many were lost before them because nobody took them.
    pub fn take(&self) -> (Vec<Event>, u64) {
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        (kept.events.drain(..).collect(), std::mem::take(&mut kept.lost))
    }
}

/// # Safety
/// `from` has `count` elements.
unsafe fn copied<T: Copy>(from: *const T, count: u32) -> Vec<T> {
    if count == 0 {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    unsafe { std::slice::from_raw_parts(from, count as usize) }.to_vec()
}

pub(crate) unsafe extern "C" fn digest(worker: *mut abi::Worker, digest: u32, values: *const u64, limbs: u32) {
    // SAFETY: as abi.h says of the arguments.
    let (events, values) = unsafe { (&host(worker).1.events, copied(values, limbs)) };
    events.push(Event::Digest { digest, values });
}

pub(crate) unsafe extern "C" fn log(
    worker: *mut abi::Worker,
    format: *const c_char,
    values: *const u64,
    widths: *const u32,
    count: u32,
) {
    // SAFETY: as abi.h says of the arguments; each value has the limbs of its width.
    let (events, format, widths) = unsafe {
        (&host(worker).1.events, CStr::from_ptr(format).to_string_lossy().into_owned(), copied(widths, count))
    };
    let limbs = widths.iter().map(|width| width.div_ceil(64).max(1)).sum();
    // SAFETY: likewise.
    let values = unsafe { copied(values, limbs) };
    events.push(Event::Log { format, values, widths });
}

pub(crate) unsafe extern "C" fn fail(worker: *mut abi::Worker, text: *const c_char) {
    // SAFETY: as abi.h says of the arguments.
    let (events, text) = unsafe { (&host(worker).1.events, CStr::from_ptr(text).to_string_lossy().into_owned()) };
    events.push(Event::Fail { text });
}

pub(crate) unsafe extern "C" fn punt(
    worker: *mut abi::Worker,
    packet: *mut c_void,
    length: u16,
    saved: *const c_void,
    saved_bytes: u32,
    node: u32,
) {
    // SAFETY: as abi.h says of the arguments.
    let (host, control) = unsafe { host(worker) };
    let bytes = match host.bytes {
        // SAFETY: the port layer knows its packets.
        Some(bytes) => unsafe { bytes(packet) },
        None => packet.cast_const().cast(),
    };
    // SAFETY: the packet has `length` bytes there, `saved` has its own.
    let (packet, saved) = unsafe { (copied(bytes, u32::from(length)), copied(saved.cast::<u8>(), saved_bytes)) };
    control.events.push(Event::Punt { packet, saved, node });
}

/// Writes an entry while packets are on their way: under the table's lock, like any other write. Not 0 where there is no room, or the key is there.
pub(crate) unsafe extern "C" fn insert(
    worker: *mut abi::Worker,
    table: u32,
    key: *const u64,
    record: *const c_void,
    timer: u32,
) -> c_int {
    // SAFETY: the worker is one of this host's, alive, and attached.
    let (bound, id, now_ns) = unsafe { (host(worker).1.bound(), (*worker).id, (*worker).clock_ns) };
    let Some((readers, target)) = bound.and_then(|bound| Some((&bound.readers, bound.tables.get(table as usize)?)))
    else {
        return -1;
    };
    // SAFETY: key and record are as long as the table's descriptor says.
    let inserted = readers.while_inserting(id as usize, target.identity(), || unsafe {
        target.insert_running(key, record, timer, now_ns)
    });
    match inserted {
        Ok(()) => 0,
        Err(_) => 1,
    }
}
