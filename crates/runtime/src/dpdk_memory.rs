//! The in-memory port for mbufs, which the layer of DPDK has beside its devices. `struct dpdk_memory_layer` in `runtime/port/dpdk.h`.

use crate::abi;
use crate::compile::Descriptor;
use crate::layer::PortLayer;
use crate::memory::{Counts, Packet, RawTrace, SentLog, Trace, memory_port_copy, packets_of};
use crate::worker_ports::{Connection, WorkerPorts};
use std::ffi::c_void;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;

#[repr(C)]
struct RawMemory {
    opaque: [u8; 0],
}

#[repr(C)]
struct Layer {
    create: unsafe extern "C" fn(copies: u32) -> *mut RawMemory,
    destroy: unsafe extern "C" fn(port: *mut RawMemory),
    pool: unsafe extern "C" fn(port: *mut RawMemory) -> *mut abi::Pool,
    load: unsafe extern "C" fn(port: *mut RawMemory, trace: *const RawTrace, packets: u64, burst: u32),
    more: unsafe extern "C" fn(port: *mut RawMemory, packets: u64),
    counts: unsafe extern "C" fn(port: *const RawMemory) -> *const Counts,
    log: unsafe extern "C" fn(port: *const RawMemory) -> *const SentLog,
    log_restart: unsafe extern "C" fn(port: *mut RawMemory, logging: u32),
    flush: unsafe extern "C" fn(worker: *mut abi::Worker),
    run: unsafe extern "C" fn(*mut abi::Worker, *mut RawMemory, *const abi::Pipeline, *const AtomicU32),
}

/// The in-memory port for mbufs: as [`crate::MemoryPort`].
pub struct DpdkMemoryPort {
    layer: &'static Layer,
    copy: unsafe extern "C" fn(packet: *const c_void, length: u16, to: *mut u8),
    descriptor: Descriptor,
    length: Option<unsafe extern "C" fn(packet: *const c_void) -> u32>,
    raw: *mut RawMemory,
    trace: Option<Arc<Trace>>,
}

// SAFETY: the C port belongs to this value.
unsafe impl Send for DpdkMemoryPort {}

impl DpdkMemoryPort {
    pub fn new(dpdk: &Arc<PortLayer>) -> DpdkMemoryPort {
        DpdkMemoryPort::of(dpdk, Descriptor::Mbuf)
    }

    /// One that copies what it knows of an mbuf into own descriptors, and back.
    pub fn copying(dpdk: &Arc<PortLayer>) -> DpdkMemoryPort {
        DpdkMemoryPort::of(dpdk, Descriptor::Own)
    }

    fn of(dpdk: &Arc<PortLayer>, descriptor: Descriptor) -> DpdkMemoryPort {
        // SAFETY: the name is that of a `struct dpdk_memory_layer`, whose version is that of the layer, which has started.
        let layer = unsafe { dpdk.library().get::<*const Layer>(b"bacus_dpdk_memory").map(|layer| &**layer) };
        let layer = layer.expect("the layer is DPDK's");
        // SAFETY: DPDK has started.
        let raw = unsafe { (layer.create)(u32::from(descriptor == Descriptor::Own)) };
        assert!(!raw.is_null(), "there is memory for a port");
        DpdkMemoryPort {
            layer,
            copy: if descriptor == Descriptor::Own { memory_port_copy } else { dpdk.copy() },
            length: dpdk.length().filter(|_| descriptor != Descriptor::Own),
            descriptor,
            raw,
            trace: None,
        }
    }

    /// As [`crate::MemoryPort::load`].
    pub fn load(&mut self, trace: impl Into<Arc<Trace>>, packets: u64, burst: u32) {
        let trace = trace.into();
        assert!(!trace.is_empty() || packets == 0, "an empty trace has no packets to give");
        // SAFETY: the trace lives in this value until the next one replaces it.
        unsafe { (self.layer.load)(self.raw, &trace.raw(), packets, burst) };
        self.trace = Some(trace);
    }

    /// As [`crate::MemoryPort::more`].
    pub fn more(&mut self, packets: u64) {
        assert!(self.trace.is_some() || packets == 0, "a trace was loaded");
        // SAFETY: the port is not running: it is borrowed.
        unsafe { (self.layer.more)(self.raw, packets) };
    }

    pub fn keep_sent(&mut self) {
        // SAFETY: the port is not running: it is borrowed.
        unsafe { (self.layer.log_restart)(self.raw, 1) };
    }

    /// Ends the log.
    pub fn forget_sent(&mut self) {
        // SAFETY: the port is not running: it is borrowed.
        unsafe { (self.layer.log_restart)(self.raw, 0) };
    }

    pub fn take_sent(&mut self) -> Vec<Packet> {
        // SAFETY: as above; the log is copied before it is emptied.
        unsafe {
            let packets = packets_of(&*(self.layer.log)(self.raw));
            (self.layer.log_restart)(self.raw, 1);
            packets
        }
    }

    pub fn counts(&self) -> Counts {
        // SAFETY: the port is alive.
        unsafe { (self.layer.counts)(self.raw).read_volatile() }
    }
}

impl WorkerPorts for DpdkMemoryPort {
    fn connect(&mut self) -> Connection {
        let layer = self.layer;
        Connection {
            descriptor: self.descriptor,
            port: self.raw.cast(),
            // SAFETY: the port is alive.
            pool: unsafe { (layer.pool)(self.raw) },
            flush: layer.flush,
            copy: self.copy,
            length: self.length,
            longest: u32::from(u16::MAX),
            clock_ns: 0,
            sleeps: false,
        }
    }

    unsafe fn run(&mut self, worker: *mut abi::Worker, pipeline: *const abi::Pipeline, stop: &AtomicU32) {
        // SAFETY: the caller's promise.
        unsafe { (self.layer.run)(worker, self.raw, pipeline, stop) }
    }
}

impl Drop for DpdkMemoryPort {
    fn drop(&mut self) {
        // SAFETY: no thread runs it any more.
        unsafe { (self.layer.destroy)(self.raw) };
    }
}
