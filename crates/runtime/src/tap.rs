//! Copies of the packets that workers receive, for a trace or a sample.
//!
//! While it is off it costs nothing: workers run the pipeline itself. While it is on, they run a copy of the pipeline's struct whose `process` puts the
//! packets of a burst into a queue before it calls the pipeline's own. A packet that finds the queue full is not copied, and counted. A worker changes from
//! one to the other at the end of a burst, as it does for another pipeline; also by itself, when it has copied as many packets as were wanted.

use crate::abi;
use crate::control::host;
use crate::ring::Ring;
use std::cell::UnsafeCell;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicPtr, AtomicU64, Ordering};

/// Bytes of packets that wait for the trace, of each worker. Memory is taken when it is first used.
const BYTES: u64 = 1 << 22;

/// A packet that a worker has received.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Tapped {
    pub port: u16,
    /// On the worker's clock.
    pub clock_ns: u64,
    pub bytes: Vec<u8>,
}

/// See the module; of one worker.
pub(crate) struct Tap {
    /// Packets that are still to be copied; 0: it is off.
    left: AtomicU64,
    ring: Ring,
    /// The copy of the pipeline's struct. Written and read by the worker's thread alone.
    copy: UnsafeCell<MaybeUninit<abi::Pipeline>>,
    real: AtomicPtr<abi::Pipeline>,
}

impl Tap {
    pub fn new() -> Tap {
        Tap {
            left: AtomicU64::new(0),
            ring: Ring::new(BYTES),
            copy: UnsafeCell::new(MaybeUninit::uninit()),
            real: AtomicPtr::default(),
        }
    }

    /// Copies so many received packets from now on, to the end of the burst that has the last of them. What waits is discarded.
    ///
    /// # Safety
    /// No other thread reads what is copied.
    pub unsafe fn want(&self, packets: u64) {
        // SAFETY: the caller's promise.
        unsafe { self.ring.drain(usize::MAX, |_, _| (), &mut Vec::new()) };
        self.ring.take_lost();
        self.left.store(packets, Ordering::Release);
    }

    /// The oldest packets that were copied, at most so many, and how many found no room since this was last called.
    ///
    /// # Safety
    /// No other thread reads what is copied.
    pub unsafe fn take(&self, most: usize, into: &mut Vec<Tapped>) -> u64 {
        let read = |port: u32, bytes: &[u8]| {
            let (clock, bytes) = bytes.split_at(size_of::<u64>());
            let clock_ns = clock.try_into().map_or(0, u64::from_le_bytes);
            Tapped { port: port as u16, clock_ns, bytes: bytes.to_vec() }
        };
        // SAFETY: the caller's promise.
        unsafe { self.ring.drain(most, read, into) };
        self.ring.take_lost()
    }

    /// The pipeline behind what a worker runs.
    pub fn real(&self, runs: *const abi::Pipeline) -> *const abi::Pipeline {
        if runs == self.copy.get().cast_const().cast() { self.real.load(Ordering::Relaxed) } else { runs }
    }

    /// What the worker runs from now on for this pipeline.
    ///
    /// # Safety
    /// By the worker's thread, between two bursts; the pipeline outlives the worker's attachment to it.
    pub unsafe fn chosen(&self, pipeline: *const abi::Pipeline) -> *const abi::Pipeline {
        if self.left.load(Ordering::Acquire) == 0 {
            return pipeline;
        }
        self.real.store(pipeline.cast_mut(), Ordering::Relaxed);
        let copy = self.copy.get().cast::<abi::Pipeline>();
        // SAFETY: the caller's promise: nothing else reads the copy now.
        unsafe {
            copy.copy_from_nonoverlapping(pipeline, 1);
            (*copy).process = process;
        }
        copy
    }

    /// # Safety
    /// By the worker's thread; the burst is one that it has received.
    unsafe fn copy_burst(&self, worker: *mut abi::Worker, burst: *const abi::Burst) {
        // SAFETY: abi.h defines the burst; the port layer knows its packets; the worker's thread alone writes to the ring.
        unsafe {
            let (host, burst) = (host(worker).0, &*burst);
            let clock = (*worker).clock_ns.to_le_bytes();
            for at in 0..burst.count as usize {
                let packet = *burst.packets.add(at);
                let length = match host.length {
                    Some(length) => u16::try_from(length(packet)).unwrap_or(u16::MAX),
                    None if !burst.lengths.is_null() => *burst.lengths.add(at),
                    None => return,
                };
                let port = u32::from(*burst.ports.add(at));
                let Some(to) = self.ring.begin(port, &[&clock], usize::from(length)) else { continue };
                (host.copy)(packet, length, to);
                self.ring.end();
            }
            let count = burst.count.into();
            let less = |left: u64| Some(left.saturating_sub(count));
            let before = self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).unwrap_or(0);
            if before <= count {
                host.call();
            }
        }
    }
}

// SAFETY: the copy is for the worker's thread alone; all else is atomic, or a ring with one thread at each side.
unsafe impl Sync for Tap {}

/// `process` of the copy.
unsafe extern "C" fn process(worker: *mut abi::Worker, burst: *mut abi::Burst) {
    // SAFETY: the worker is attached to the pipeline behind the copy.
    unsafe {
        let tap = &host(worker).1.tap;
        tap.copy_burst(worker, burst);
        let real = tap.real.load(Ordering::Relaxed);
        ((*real).process)(worker, burst);
    }
}
