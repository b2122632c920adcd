//! The ports of a worker, as the switch sees them.

use crate::abi;
use crate::compile::Descriptor;
use std::ffi::c_void;
use std::sync::atomic::AtomicU32;

/// The port side of a worker, as the worker's struct needs it.
pub struct Connection {
    pub descriptor: Descriptor,
    pub port: *mut c_void,
    pub pool: *mut abi::Pool,
    pub flush: unsafe extern "C" fn(worker: *mut abi::Worker),
    /// Copies all bytes of a packet.
    pub copy: unsafe extern "C" fn(packet: *const c_void, length: u16, to: *mut u8),
    /// Bytes of a packet, where a burst does not have them (mbufs).
    pub length: Option<unsafe extern "C" fn(packet: *const c_void) -> u32>,
    /// Bytes of the longest packet that the pool's buffers hold.
    pub longest: u32,
    /// What the worker's clock shows before its first burst: entries may be inserted by then.
    pub clock_ns: u64,
    /// Whether an idle worker may sleep until a packet comes, or the control thread calls it.
    pub sleeps: bool,
}

/// The ports that one worker serves.
pub trait WorkerPorts: Send + 'static {
    /// Addresses that stay good as long as these ports live.
    fn connect(&mut self) -> Connection;

    /// Carries bursts through the pipeline until there is nothing more to come, or `stop` is not 0; counts each end of a burst.
    ///
    /// # Safety
    /// `worker` was made with the connection of these ports and is attached to `pipeline`.
    unsafe fn run(&mut self, worker: *mut abi::Worker, pipeline: *const abi::Pipeline, stop: &AtomicU32);
}
