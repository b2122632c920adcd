//! Bounded queues of messages between the control thread and a worker: `runtime/port/ring.h`.
//!
//! One thread writes and one reads; neither locks, waits or needs memory. A message that finds no room is lost and counted.

use std::cell::Cell;
use std::ffi::c_int;

#[repr(C)]
pub(crate) struct RawRing {
    opaque: [u8; 0],
}

#[repr(C)]
struct Head {
    bytes: u32,
    tag: u32,
}

unsafe extern "C" {
    fn ring_create(bytes: u64) -> *mut RawRing;
    fn ring_destroy(ring: *mut RawRing);
    fn ring_host_reserve(ring: *mut RawRing, tag: u32, bytes: u32) -> *mut u8;
    fn ring_host_commit(ring: *mut RawRing);
    fn ring_host_first(ring: *mut RawRing) -> *const Head;
    fn ring_host_release(ring: *mut RawRing, head: *const Head);
    fn ring_host_is_empty(ring: *const RawRing) -> c_int;
    fn ring_host_lost(ring: *const RawRing) -> u64;
    fn ring_host_waiting(ring: *const RawRing) -> u64;
}

/// How full the queue of a worker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fill {
    pub worker: u32,
    pub name: &'static str,
    /// Bytes of messages that wait, and of the queue.
    pub waiting: u64,
    pub bytes: u64,
    /// Messages that found no room, ever.
    pub lost: u64,
}

/// A queue. Its two sides are for one thread each: the caller sees to that.
pub(crate) struct Ring {
    raw: *mut RawRing,
    bytes: u64,
    /// Messages that were lost when [`Ring::take_lost`] was last called.
    known_lost: Cell<u64>,
}

// SAFETY: its memory belongs to no thread.
unsafe impl Send for Ring {}

impl Ring {
    /// Room for so many bytes, a power of two. A message takes half of it at most.
    pub fn new(bytes: u64) -> Ring {
        // SAFETY: a plain number.
        let raw = unsafe { ring_create(bytes) };
        assert!(!raw.is_null(), "there is address space for a queue of {bytes} bytes");
        Ring { raw, bytes, known_lost: Cell::new(0) }
    }

    pub fn raw(&self) -> *mut RawRing {
        self.raw
    }

    /// Writes a message, its parts one behind the other. False if there is no room.
    ///
    /// # Safety
    /// No other thread writes.
    pub unsafe fn push(&self, tag: u32, parts: &[&[u8]]) -> bool {
        // SAFETY: the caller's promise.
        let begun = unsafe { self.begin(tag, parts, 0) }.is_some();
        if begun {
            // SAFETY: likewise.
            unsafe { self.end() };
        }
        begun
    }

    /// Begins a message with parts; the caller writes `more` bytes behind them, at the place that it gets, before [`Ring::end`]. `None` if there is no room.
    ///
    /// # Safety
    /// No other thread writes.
    pub unsafe fn begin(&self, tag: u32, parts: &[&[u8]], more: usize) -> Option<*mut u8> {
        let length = parts.iter().map(|part| part.len()).sum::<usize>() + more;
        let bytes = u32::try_from(length).ok()?;
        // SAFETY: the caller's promise; there is room for all parts if there is any.
        unsafe {
            let mut to = ring_host_reserve(self.raw, tag, bytes);
            if to.is_null() {
                return None;
            }
            for part in parts {
                to.copy_from_nonoverlapping(part.as_ptr(), part.len());
                to = to.add(part.len());
            }
            Some(to)
        }
    }

    /// Publishes the message that was begun.
    ///
    /// # Safety
    /// No other thread writes.
    pub unsafe fn end(&self) {
        // SAFETY: the caller's promise.
        unsafe { ring_host_commit(self.raw) };
    }

    /// What `read` makes of the oldest message's tag and bytes.
    ///
    /// # Safety
    /// No other thread reads.
    pub unsafe fn pop<R>(&self, read: impl FnOnce(u32, &[u8]) -> R) -> Option<R> {
        // SAFETY: the caller's promise; a message's bytes follow its head, and stay until it is released.
        unsafe {
            let head = ring_host_first(self.raw).as_ref()?;
            let bytes = std::slice::from_raw_parts(std::ptr::from_ref(head).add(1).cast::<u8>(), head.bytes as usize);
            let message = read(head.tag, bytes);
            ring_host_release(self.raw, head);
            Some(message)
        }
    }

    /// What `read` makes of the messages that wait now, oldest first, `most` at most. Ends though the other thread writes on: it takes as many
    /// bytes as the queue has room for, at most.
    ///
    /// # Safety
    /// No other thread reads.
    pub unsafe fn drain<R>(&self, most: usize, read: impl Fn(u32, &[u8]) -> R, into: &mut Vec<R>) {
        let (mut taken, mut left) = (0, most);
        while taken < self.bytes && left > 0 {
            left -= 1;
            let counted = |tag: u32, bytes: &[u8]| (read(tag, bytes), size_of::<Head>() + bytes.len());
            // SAFETY: the caller's promise.
            let Some((message, bytes)) = (unsafe { self.pop(counted) }) else { return };
            into.push(message);
            taken += bytes as u64;
        }
    }

    /// Whether no message waits, as far as the thread that writes can see.
    pub fn is_empty(&self) -> bool {
        // SAFETY: the queue is alive.
        unsafe { ring_host_is_empty(self.raw) != 0 }
    }

    /// By any thread.
    pub fn fill(&self, worker: u32, name: &'static str) -> Fill {
        // SAFETY: the queue is alive.
        let (waiting, lost) = unsafe { (ring_host_waiting(self.raw), ring_host_lost(self.raw)) };
        Fill { worker, name, waiting, bytes: self.bytes, lost }
    }

    /// Messages lost since this was last called. By the thread that reads.
    pub fn take_lost(&self) -> u64 {
        // SAFETY: the queue is alive.
        let lost = unsafe { ring_host_lost(self.raw) };
        lost - self.known_lost.replace(lost)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: no thread uses it any more.
        unsafe { ring_destroy(self.raw) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_come_in_order_and_those_without_room_are_counted() {
        let whole = |tag: u32, bytes: &[u8]| (tag, bytes.to_vec());
        let ring = Ring::new(64);
        // SAFETY: one thread.
        unsafe {
            assert!(ring.push(1, &[b"ab", b"", b"c"]) && ring.push(2, &[]));
            assert!(!ring.push(3, &[&[0; 40]]));
            assert_eq!(ring.pop(whole), Some((1, b"abc".to_vec())));
            assert_eq!(ring.pop(whole), Some((2, Vec::new())));
            assert_eq!(ring.pop(whole), None);
            assert!(ring.push(4, &[&[7; 20]]));
            assert_eq!(ring.pop(whole), Some((4, vec![7; 20])));
        }
        assert_eq!((ring.take_lost(), ring.take_lost()), (1, 0));
    }

    #[test]
    fn draining_ends_while_messages_still_come() {
        let ring = Ring::new(1024);
        let mut drained = Vec::new();
        // SAFETY: one thread.
        unsafe {
            assert!(ring.push(0, &[&[0; 8]]));
            // Each message that is read brings the next.
            let read = |tag: u32, _: &[u8]| {
                assert!(ring.push(tag + 1, &[&[0; 8]]));
                tag
            };
            ring.drain(2, read, &mut drained);
            assert_eq!(drained, [0, 1]);
            ring.drain(usize::MAX, read, &mut drained);
        }
        assert!(!ring.is_empty() && drained.len() >= 1024 / 16 && drained.is_sorted(), "{drained:?}");
    }
}
