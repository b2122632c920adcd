//! The in-memory port of a worker: frames in, what was sent out. The C side is `runtime/port/memory.c`.

use crate::abi;
use crate::compile::Descriptor;
use crate::region::Region;
use crate::worker_ports::{Connection, WorkerPorts};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

/// A packet and the port it comes in on, or leaves by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    pub port: u16,
    pub bytes: Vec<u8>,
}

/// What came and went.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub received: u64,
    pub sent: u64,
    pub sent_bytes: u64,
    pub sent_ports: u64,
    pub released: u64,
    pub starved: u64,
}

#[repr(C)]
struct Frame {
    bytes: *const u8,
    length: u32,
    port: u16,
}

#[repr(C)]
pub(crate) struct RawTrace {
    frames: *const Frame,
    order: *const u32,
    overlays: *const u8,
    count: u64,
    frame_count: u32,
    overlay_offset: u32,
    overlay_bytes: u32,
    unused: u32,
}

#[repr(C)]
struct SentPacket {
    offset: u64,
    length: u32,
    port: u32,
}

#[repr(C)]
pub(crate) struct SentLog {
    packets: *const SentPacket,
    data: *const u8,
    count: u64,
    capacity: u64,
    data_bytes: u64,
    data_capacity: u64,
}

#[repr(C)]
struct RawPort {
    opaque: [u8; 0],
}

unsafe extern "C" {
    fn memory_port_create(buffers: u32, buffer_bytes: u32, headroom_bytes: u32) -> *mut RawPort;
    fn memory_port_destroy(port: *mut RawPort);
    fn memory_port_pool(port: *mut RawPort) -> *mut abi::Pool;
    fn memory_port_load(port: *mut RawPort, trace: *const RawTrace, packets: u64, burst: u32);
    fn memory_port_more(port: *mut RawPort, packets: u64);
    fn memory_port_hold(port: *mut RawPort, holding: u32);
    fn memory_port_ring(port: *mut RawPort, buffers: u32);
    fn memory_port_counts(port: *const RawPort) -> *const Counts;
    fn memory_port_free(port: *const RawPort) -> u32;
    fn memory_port_log(port: *const RawPort) -> *const SentLog;
    fn memory_port_log_restart(port: *mut RawPort, logging: u32);
    pub(crate) fn memory_port_copy(packet: *const c_void, length: u16, to: *mut u8);
    fn memory_port_flush(worker: *mut abi::Worker);
    fn memory_port_run(
        worker: *mut abi::Worker,
        port: *mut RawPort,
        pipeline: *const abi::Pipeline,
        stop: *const AtomicU32,
    );
}

const LINE: usize = 64;

/// Frames in the form that the port copies from: lines of 64 bytes.
pub struct Trace {
    frames: Vec<Frame>,
    _lines: Vec<Line>,
    order: Vec<u32>,
    /// Overlays with a line before and behind them: the port reads whole lines.
    overlays: Region<u8>,
    overlay: (u32, u32),
    count: u64,
}

#[repr(align(64))]
#[derive(Clone)]
struct Line([u8; LINE]);

// SAFETY: the frames point into the trace's own lines, which do not change.
unsafe impl Send for Trace {}
// SAFETY: as above.
unsafe impl Sync for Trace {}

impl Trace {
    /// A trace of these packets, in this order.
    pub fn new<'a>(packets: impl IntoIterator<Item = (u16, &'a [u8])>) -> Trace {
        let mut lines: Vec<Line> = Vec::new();
        let mut places = Vec::new();
        for (port, bytes) in packets {
            places.push((lines.len(), bytes.len(), port));
            let whole = bytes.chunks(LINE).chain(bytes.is_empty().then_some(&[][..]));
            lines.extend(whole.map(|chunk| {
                let mut line = Line([0; LINE]);
                line.0[..chunk.len()].copy_from_slice(chunk);
                line
            }));
        }
        let frame = |&(at, length, port): &(usize, usize, u16)| Frame {
            bytes: lines[at].0.as_ptr(),
            length: length as u32,
            port,
        };
        let frames: Vec<Frame> = places.iter().map(frame).collect();
        let count = frames.len() as u64;
        Trace { frames, _lines: lines, order: Vec::new(), overlays: Region::new(2 * LINE), overlay: (0, 0), count }
    }

    /// Makes the trace as many packets as there are overlays: each has `bytes` bytes of its own from `offset` on, within the first line. `order` gives
    /// which frame a packet is; empty where there is but one.
    pub fn overlay(mut self, order: Vec<u32>, offset: u32, bytes: u32, overlays: &[u8]) -> Trace {
        let count = overlays.len() / bytes as usize;
        assert!((offset + bytes) as usize <= LINE && overlays.len() == count * bytes as usize);
        assert!(if order.is_empty() { self.frames.len() == 1 } else { order.len() == count });
        assert!(order.iter().all(|frame| (*frame as usize) < self.frames.len()));
        self.overlays = Region::new(overlays.len() + 2 * LINE);
        // SAFETY: the region is longer by a line on either side.
        unsafe {
            let to = self.overlays.as_mut_ptr().add(LINE);
            std::ptr::copy_nonoverlapping(overlays.as_ptr(), to, overlays.len());
        }
        (self.order, self.overlay, self.count) = (order, (offset, bytes), count as u64);
        self
    }

    /// Makes the trace as many packets as `order` has numbers: each is the frame of its number.
    pub fn ordered(mut self, order: Vec<u32>) -> Trace {
        assert!(self.overlay == (0, 0) && order.iter().all(|frame| (*frame as usize) < self.frames.len()));
        (self.count, self.order) = (order.len() as u64, order);
        self
    }

    pub fn len(&self) -> u64 {
        self.count
    }

    /// The packets as they arrive, for those that want to know what a program should make of them.
    pub fn packets(&self) -> impl Iterator<Item = Packet> + '_ {
        (0..self.count as usize).map(|position| {
            let number =
                self.order.get(position).map_or(if self.frames.len() == 1 { 0 } else { position }, |n| *n as usize);
            let (frame, (offset, bytes)) = (&self.frames[number], self.overlay);
            let (offset, own) = (offset as usize, bytes as usize);
            // SAFETY: a frame's bytes lie in the trace's lines; there is an overlay for each position.
            let (lines, overlay) = unsafe {
                let overlay = self.overlays.as_mut_ptr().add(LINE + position * own);
                let whole = (frame.length as usize).max(offset + own);
                (std::slice::from_raw_parts(frame.bytes, whole), std::slice::from_raw_parts(overlay, own))
            };
            let mut packet = lines.to_vec();
            packet[offset..offset + own].copy_from_slice(overlay);
            packet.truncate(frame.length as usize);
            Packet { port: frame.port, bytes: packet }
        })
    }

    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    pub fn longest(&self) -> u32 {
        self.frames.iter().map(|frame| frame.length).max().unwrap_or(0)
    }

    pub(crate) fn raw(&self) -> RawTrace {
        let order = if self.order.is_empty() { std::ptr::null() } else { self.order.as_ptr() };
        RawTrace {
            frames: self.frames.as_ptr(),
            order,
            // SAFETY: the region has a line before the first overlay.
            overlays: unsafe { self.overlays.as_mut_ptr().add(LINE) },
            count: self.len(),
            frame_count: self.frames.len() as u32,
            overlay_offset: self.overlay.0,
            overlay_bytes: self.overlay.1,
            unused: 0,
        }
    }
}

/// The packets of a log, as C keeps it.
///
/// # Safety
/// The log is whole, and stays so during the call.
pub(crate) unsafe fn packets_of(log: &SentLog) -> Vec<Packet> {
    if log.count == 0 {
        return Vec::new();
    }
    // SAFETY: the caller's promise.
    unsafe {
        let data: &[u8] =
            if log.data_bytes == 0 { &[] } else { std::slice::from_raw_parts(log.data, log.data_bytes as usize) };
        let packets = std::slice::from_raw_parts(log.packets, log.count as usize);
        packets
            .iter()
            .map(|packet| Packet {
                port: packet.port as u16,
                bytes: data[packet.offset as usize..][..packet.length as usize].to_vec(),
            })
            .collect()
    }
}

/// The port of one worker.
pub struct MemoryPort {
    raw: *mut RawPort,
    trace: Option<Arc<Trace>>,
    room: u32,
    /// Of the ring, and of the port.
    buffers: u32,
    most_buffers: u32,
}

// SAFETY: the C port belongs to this value, and to the thread that runs it.
unsafe impl Send for MemoryPort {}

/// How much packet memory a port has.
#[derive(Clone, Copy, Debug)]
pub struct Buffers {
    pub count: u32,
    /// Of one buffer, a power of two.
    pub bytes: u32,
    pub headroom_bytes: u32,
}

impl Default for Buffers {
    /// Room for jumbo frames, and for a burst of them with copies.
    fn default() -> Self {
        Buffers { count: 8192, bytes: 16384, headroom_bytes: 256 }
    }
}

impl Buffers {
    /// Bytes of the longest frame that a buffer takes: buffers do not all begin at the same place of a page.
    pub const fn room(self) -> u32 {
        const COLOURS_BYTES: u32 = 1024;
        self.bytes - self.headroom_bytes - COLOURS_BYTES
    }
}

impl MemoryPort {
    pub fn new(buffers: Buffers) -> MemoryPort {
        // SAFETY: plain numbers.
        let raw = unsafe { memory_port_create(buffers.count, buffers.bytes, buffers.headroom_bytes) };
        assert!(!raw.is_null(), "there is address space for {} buffers", buffers.count);
        MemoryPort { raw, trace: None, room: buffers.room(), buffers: buffers.count, most_buffers: buffers.count }
    }

    /// The longest frame that a buffer takes.
    pub fn room(&self) -> u32 {
        self.room
    }

    /// The next run receives `packets` packets of the trace, round and round, `burst` at a time (0: as many as the pipeline takes).
    pub fn load(&mut self, trace: impl Into<Arc<Trace>>, packets: u64, burst: u32) {
        let trace = trace.into();
        assert!(trace.longest() <= self.room, "frames of a trace fit a buffer");
        assert!(!trace.is_empty() || packets == 0, "an empty trace has no packets to give");
        // SAFETY: the trace lives in this value until the next one replaces it.
        unsafe { memory_port_load(self.raw, &trace.raw(), packets, burst) };
        self.trace = Some(trace);
    }

    /// The next run receives `packets` packets more, from where the trace was left.
    pub fn more(&mut self, packets: u64) {
        assert!(self.trace.is_some() || packets == 0, "a trace was loaded");
        // SAFETY: the port is not running: it is borrowed.
        unsafe { memory_port_more(self.raw, packets) };
    }

    /// While `holding`, a run ends without the empty burst that flushes the pipeline: more packets may come. Meanwhile
    /// writers do not wait for the worker: they may do no more than replace a default action, once.
    pub fn hold(&mut self, holding: bool) {
        // SAFETY: the port is not running: it is borrowed.
        unsafe { memory_port_hold(self.raw, u32::from(holding)) };
    }

    /// From the next run on, so many of its buffers are there to be filled, as on a device whose ring has so many descriptors.
    pub fn ring(&mut self, buffers: u32) {
        assert!(buffers <= self.most_buffers && self.held() == 0, "a ring is of buffers that are there");
        // SAFETY: the port is not running: it is borrowed. There are as many buffers, all of them on the stack.
        unsafe { memory_port_ring(self.raw, buffers) };
        self.buffers = buffers;
    }

    /// Begins an empty log of what is sent.
    pub fn keep_sent(&mut self) {
        // SAFETY: the port is not running: it is borrowed.
        unsafe { memory_port_log_restart(self.raw, 1) };
    }

    /// Ends the log.
    pub fn forget_sent(&mut self) {
        // SAFETY: the port is not running: it is borrowed.
        unsafe { memory_port_log_restart(self.raw, 0) };
    }

    /// What was sent since the log was begun; begins anew.
    pub fn take_sent(&mut self) -> Vec<Packet> {
        // SAFETY: as above; the log is copied before it is emptied.
        unsafe {
            let packets = packets_of(&*memory_port_log(self.raw));
            memory_port_log_restart(self.raw, 1);
            packets
        }
    }

    pub fn counts(&self) -> Counts {
        // SAFETY: the port is alive.
        unsafe { memory_port_counts(self.raw).read_volatile() }
    }

    /// Buffers that are somewhere between arrival and departure: none between bursts, or something is lost.
    pub fn held(&self) -> u32 {
        // SAFETY: the port is alive.
        self.buffers - unsafe { memory_port_free(self.raw) }
    }
}

impl WorkerPorts for MemoryPort {
    fn connect(&mut self) -> Connection {
        Connection {
            descriptor: Descriptor::Own,
            port: self.raw.cast::<c_void>(),
            // SAFETY: the port is alive.
            pool: unsafe { memory_port_pool(self.raw) },
            flush: memory_port_flush,
            copy: memory_port_copy,
            length: None,
            longest: self.room,
            clock_ns: 0,
            sleeps: false,
        }
    }

    unsafe fn run(&mut self, worker: *mut abi::Worker, pipeline: *const abi::Pipeline, stop: &AtomicU32) {
        // SAFETY: the caller's promise; the port was connected to this worker.
        unsafe { memory_port_run(worker, self.raw, pipeline, stop) };
    }
}

impl Drop for MemoryPort {
    fn drop(&mut self) {
        // SAFETY: no thread runs it any more.
        unsafe { memory_port_destroy(self.raw) };
    }
}
