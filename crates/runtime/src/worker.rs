//! One worker: the struct that the pipeline sees, and the memory behind each of its pointers.

use crate::abi;
use crate::control::{Control, Host};
use crate::region::Region;
use crate::worker_ports::Connection;
use std::ffi::c_void;

/// Packets that fit the arrays of what is sent and what is freed.
const OUTPUTS: u32 = 1024;

pub(crate) struct Worker {
    /// While a thread runs the worker, only that thread uses it; counts apart.
    pub raw: Box<abi::Worker>,
    pub host: Box<Host>,
    pub control: Box<Control>,
    /// Bytes of the longest packet that its buffers hold, and buffers.
    pub longest: u32,
    pub buffers: u32,
    _out: (Region<*mut c_void>, Region<u16>, Region<u16>),
    _freed: Region<*mut c_void>,
}

// SAFETY: a worker is used by its thread while it runs, and by the control thread else; counts are read as whole words.
unsafe impl Send for Worker {}

impl Worker {
    /// A worker without a pipeline.
    pub fn new(id: u32, port_count: u32, seed: u64, connection: &Connection) -> Worker {
        let control = Box::new(Control::new());
        // SAFETY: the pool of a worker's ports lives as long as they do; no thread runs it yet.
        let buffers = unsafe { connection.pool.as_ref() }.map_or(0, |pool| pool.count);
        let host = Box::new(Host::new(connection, &control));
        let (packets, lengths, ports) =
            (Region::new(OUTPUTS as usize), Region::new(OUTPUTS as usize), Region::new(OUTPUTS as usize));
        let freed = Region::new(OUTPUTS as usize);
        let raw = Box::new(abi::Worker {
            id,
            port_count,
            clock_ns: connection.clock_ns,
            seed: worker_seed(seed, id),
            packet_number: 0,
            shared: std::ptr::null(),
            memory: std::ptr::null_mut(),
            pool: connection.pool,
            flush: Some(connection.flush),
            host: (&raw const *host).cast_mut().cast(),
            out: abi::Output {
                count: 0,
                capacity: OUTPUTS,
                packets: packets.as_mut_ptr(),
                lengths: lengths.as_mut_ptr(),
                ports: ports.as_mut_ptr(),
            },
            freed: abi::Released { count: 0, capacity: OUTPUTS, packets: freed.as_mut_ptr() },
            drops: std::ptr::null_mut(),
            hits: std::ptr::null_mut(),
            misses: std::ptr::null_mut(),
            counters: std::ptr::null(),
            edges: std::ptr::null_mut(),
            key_sketches: std::ptr::null_mut(),
            quiescent: abi::Quiescent::default(),
        });
        let longest = connection.longest;
        Worker { raw, host, control, longest, buffers, _out: (packets, lengths, ports), _freed: freed }
    }
}

/// What a worker draws its random numbers from: packets of several workers have the same numbers. Worker 0 draws as a switch with one worker does.
pub(crate) fn worker_seed(seed: u64, id: u32) -> u64 {
    let mut mixed = u64::from(id).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed = (mixed ^ mixed >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    seed ^ mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workers_have_seeds_of_their_own_and_the_first_has_the_switch_s() {
        let seeds: std::collections::BTreeSet<u64> = (0..64).map(|id| worker_seed(7, id)).collect();
        assert_eq!((worker_seed(7, 0), seeds.len()), (7, 64));
    }
}
