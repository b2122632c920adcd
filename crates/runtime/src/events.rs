//! What a pipeline tells the control plane while it works on packets: digests, log lines, failed assertions, packets for the controller.

use crate::abi;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::sync::{Arc, Mutex, PoisonError};

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

/// `struct host` of runtime/port/host.h.
#[repr(C)]
pub struct Host {
    pub port: *mut c_void,
    pub events: *const Events,
    pub bytes: Option<unsafe extern "C" fn(packet: *const c_void) -> *const u8>,
}

/// What `worker` calls when it inserts from the data plane.
pub type Inserter = Arc<dyn Fn(u32, u32, &[u64], &[u8]) -> bool + Send + Sync>;

/// # Safety
/// The worker is one of this host's.
unsafe fn host<'a>(worker: *mut abi::Worker) -> (&'a Host, &'a Events) {
    // SAFETY: the host fills both before the first burst, and keeps them as long as the worker.
    unsafe {
        let host = &*(*worker).host.cast::<Host>();
        (host, &*host.events)
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

pub unsafe extern "C" fn digest(worker: *mut abi::Worker, digest: u32, values: *const u64, limbs: u32) {
    // SAFETY: as abi.h says of the arguments.
    let (events, values) = unsafe { (host(worker).1, copied(values, limbs)) };
    events.push(Event::Digest { digest, values });
}

pub unsafe extern "C" fn log(
    worker: *mut abi::Worker,
    format: *const c_char,
    values: *const u64,
    widths: *const u32,
    count: u32,
) {
    // SAFETY: as abi.h says of the arguments; each value has the limbs of its width.
    let (events, format, widths) =
        unsafe { (host(worker).1, CStr::from_ptr(format).to_string_lossy().into_owned(), copied(widths, count)) };
    let limbs = widths.iter().map(|width| width.div_ceil(64).max(1)).sum();
    // SAFETY: likewise.
    let values = unsafe { copied(values, limbs) };
    events.push(Event::Log { format, values, widths });
}

pub unsafe extern "C" fn fail(worker: *mut abi::Worker, text: *const c_char) {
    // SAFETY: as abi.h says of the arguments.
    let (events, text) = unsafe { (host(worker).1, CStr::from_ptr(text).to_string_lossy().into_owned()) };
    events.push(Event::Fail { text });
}

pub unsafe extern "C" fn punt(
    worker: *mut abi::Worker,
    packet: *mut c_void,
    length: u16,
    saved: *const c_void,
    saved_bytes: u32,
    node: u32,
) {
    // SAFETY: as abi.h says of the arguments.
    let (host, events) = unsafe { host(worker) };
    let bytes = match host.bytes {
        // SAFETY: the port layer knows its packets.
        Some(bytes) => unsafe { bytes(packet) },
        None => packet.cast_const().cast(),
    };
    // SAFETY: the packet has `length` bytes there, `saved` has its own.
    let (packet, saved) = unsafe { (copied(bytes, u32::from(length)), copied(saved.cast::<u8>(), saved_bytes)) };
    events.push(Event::Punt { packet, saved, node });
}

/// Insertion from the data plane goes through the switch's tables; see [`crate::switch`].
pub unsafe extern "C" fn refuse_insert(
    _worker: *mut abi::Worker,
    _table: u32,
    _key: *const u64,
    _record: *const c_void,
) -> c_int {
    -1
}
