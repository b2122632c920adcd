//! What a pipeline calls while it works on packets: it sends events to the control plane, and inserts entries. See `struct shared` of runtime/abi.h.

use crate::abi;
use crate::control::host;
use crate::events::{head, limb_count, saved_parts};
use std::ffi::{CStr, c_char, c_int, c_void};

/// # Safety
/// `from` has `count` elements, if that is not 0.
unsafe fn bytes_of<'a, T: Copy>(from: *const T, count: usize) -> &'a [u8] {
    if count == 0 {
        return &[];
    }
    // SAFETY: the caller's promise; the elements are numbers.
    unsafe { std::slice::from_raw_parts(from.cast(), count * size_of::<T>()) }
}

pub(crate) unsafe extern "C" fn digest(worker: *mut abi::Worker, digest: u32, values: *const u64, limbs: u32) {
    // SAFETY: abi.h defines the arguments; the worker's thread alone writes.
    unsafe { host(worker).1.events.digests.push(digest, &[bytes_of(values, limbs as usize)]) };
}

pub(crate) unsafe extern "C" fn log(
    worker: *mut abi::Worker,
    format: *const c_char,
    values: *const u64,
    widths: *const u32,
    count: u32,
) {
    // SAFETY: abi.h defines the arguments; each value has the limbs of its width; the worker's thread alone writes.
    unsafe {
        let known = if count == 0 { &[][..] } else { std::slice::from_raw_parts(widths, count as usize) };
        let parts =
            [bytes_of(widths, count as usize), bytes_of(values, limb_count(known)), CStr::from_ptr(format).to_bytes()];
        host(worker).1.events.logs.push(count, &parts);
    }
}

pub(crate) unsafe extern "C" fn fail(worker: *mut abi::Worker, text: *const c_char) {
    // SAFETY: abi.h defines the arguments; the worker's thread alone writes.
    unsafe { host(worker).1.events.fails.push(0, &[CStr::from_ptr(text).to_bytes()]) };
}

pub(crate) unsafe extern "C" fn punt(
    worker: *mut abi::Worker,
    packet: *mut c_void,
    length: u16,
    saved: *const c_void,
    saved_bytes: u32,
    node: u32,
) {
    // SAFETY: abi.h defines the arguments; the port layer knows its packets, which have `length` bytes; the worker's thread alone writes.
    unsafe {
        let (host, control) = host(worker);
        let head = head(saved_bytes, host.generation(), host.mark());
        let parts = saved_parts(&head, bytes_of(saved.cast::<u8>(), saved_bytes as usize));
        let Some(to) = control.events.punts.begin(node, &parts, usize::from(length)) else { return };
        (host.copy)(packet, length, to);
        control.events.punts.end();
    }
}

/// Writes an entry while packets are processed: under the table's lock, like any other write. Not 0 where there is no room, or the key is there.
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
    target.is_inserted_by_packets();
    // SAFETY: key and record are as long as in the table's descriptor.
    let inserted = readers.while_inserting(id as usize, target.identity(), || unsafe {
        target.insert_running(key, record, timer, now_ns)
    });
    match inserted {
        Ok(()) => 0,
        Err(_) => 1,
    }
}
