//! The calibration's kernels (`runtime/probe/`), compiled on the machine that they measure and called one sample at a time.
//!
//! A sample takes some 0.1 ms. The medians, the choice of working sets and the file are the caller's.

use crate::cache::Cache;
use crate::compile::{Compiler, Failure};
use crate::pages;
use libloading::Library;
use std::fmt;

/// How a line is accessed; the numbers are those of `enum probe_access`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Access {
    Load,
    Gather,
    PrefetchT0,
    PrefetchT1,
    GroupT0,
    GroupT1,
    BusyT0,
    BusyT1,
}

#[repr(C)]
struct Memory {
    lines: *mut u8,
    bytes: usize,
}

struct Kernels {
    free: unsafe extern "C" fn(*mut Memory),
    touch: unsafe extern "C" fn(*const Memory, usize),
    lines: unsafe extern "C" fn(*const Memory, usize, u32, u32) -> i64,
    window: unsafe extern "C" fn(*const Memory, usize, u32) -> i64,
    misses: unsafe extern "C" fn(*const Memory, usize, u32, u32) -> i64,
    apart: unsafe extern "C" fn(*const Memory, usize, u32, u32) -> i64,
    mispredict: unsafe extern "C" fn() -> i64,
    burst: unsafe extern "C" fn(*const Memory, usize, u32) -> i64,
    ticks: unsafe extern "C" fn(u32) -> u64,
    core_clock: unsafe extern "C" fn() -> i64,
}

/// The kernels with the memory that they touch.
pub struct Probe {
    memory: Memory,
    page_bytes: usize,
    kernels: Kernels,
    _library: Library,
}

/// Why there is nothing to measure with.
#[derive(Debug)]
pub enum ProbeError {
    Compile(Failure),
    Load(libloading::Error),
    /// This many bytes are not there.
    Memory(usize),
}

impl fmt::Display for ProbeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            ProbeError::Compile(failure) => failure.fmt(f),
            ProbeError::Load(error) => write!(f, "the compiled kernels cannot be loaded: {error}"),
            ProbeError::Memory(bytes) => write!(f, "there are not {} MB of memory to measure", bytes >> 20),
        }
    }
}

impl std::error::Error for ProbeError {}

impl Probe {
    /// Compiles and loads the kernels, with the largest power of two up to `bytes`, at least 64 MB, that can be had.
    pub fn open(compiler: &Compiler, cache: &Cache, bytes: usize) -> Result<Probe, ProbeError> {
        Probe::open_in(compiler, cache, bytes, b"probe_allocate\0")
    }

    /// The same in pages of 4 KB, as packet buffers have without huge pages.
    pub fn open_small(compiler: &Compiler, cache: &Cache, bytes: usize) -> Result<Probe, ProbeError> {
        Probe::open_in(compiler, cache, bytes, b"probe_allocate_small\0")
    }

    fn open_in(compiler: &Compiler, cache: &Cache, bytes: usize, allocate: &[u8]) -> Result<Probe, ProbeError> {
        let object = compiler.probe(cache).map_err(ProbeError::Compile)?;
        // SAFETY: the object was compiled from our own sources; loading it runs no code of others.
        let library = unsafe { Library::new(&object) }.map_err(ProbeError::Load)?;
        let kernels = Kernels::find(&library).map_err(ProbeError::Load)?;
        // SAFETY: the signature is that of runtime/probe/probe.h.
        let allocate = unsafe { library.get::<unsafe extern "C" fn(*mut Memory, usize) -> i32>(allocate) };
        let allocate = *allocate.map_err(ProbeError::Load)?;
        let mut memory = Memory { lines: std::ptr::null_mut(), bytes: 0 };
        let mut wanted = bytes.next_power_of_two();
        // SAFETY: `memory` is a valid place for the result.
        while unsafe { allocate(&mut memory, wanted) } != 0 {
            wanted /= 2;
            if wanted < 64 << 20 {
                return Err(ProbeError::Memory(wanted));
            }
        }
        // Now that it has been touched. If the system does not report them, assume small ones.
        let page_bytes = pages::bytes_at(memory.lines as usize).unwrap_or(4096);
        Ok(Probe { memory, page_bytes, kernels, _library: library })
    }

    pub fn bytes(&self) -> usize {
        self.memory.bytes
    }

    /// Of the pages that the memory got, which may be smaller than those it requested.
    pub fn page_bytes(&self) -> usize {
        self.page_bytes
    }

    /// Prepares the first `bytes`, a power of two, for `lines`: what a cache keeps of them is there then. A gigabyte takes some 0.1 s.
    pub fn touch(&self, bytes: usize) {
        self.assert_inside(bytes);
        // SAFETY: the working set lies inside the memory.
        unsafe { (self.kernels.touch)(&self.memory, bytes) }
    }

    /// Cycles per line; `None` where the processor cannot do it. `in_flight` is 1 to 128.
    pub fn lines(&self, bytes: usize, access: Access, in_flight: u32) -> Option<f64> {
        self.assert_inside(bytes);
        assert!((1..=128).contains(&in_flight), "the kernels have room for 128 lines");
        // SAFETY: as for `touch`; the number of lines was checked.
        let cycles = unsafe { (self.kernels.lines)(&self.memory, bytes, access as u32, in_flight) };
        (cycles >= 0).then_some(cycles as f64 / 1000.0)
    }

    /// Cycles of two misses with `fillers` instructions between them.
    pub fn window(&self, fillers: u32) -> f64 {
        // SAFETY: the kernel stays inside the memory.
        unsafe { (self.kernels.window)(&self.memory, self.memory.bytes, fillers) as f64 / 1000.0 }
    }

    /// Cycles of so many independent misses, `fillers` instructions, and one miss more.
    pub fn misses(&self, loads: u32, fillers: u32) -> f64 {
        // SAFETY: the kernel stays inside the memory.
        let thousandths = unsafe { (self.kernels.misses)(&self.memory, self.memory.bytes, loads, fillers) };
        assert!(thousandths >= 0, "probe.c has no instructions for {loads} loads and {fillers} fillers");
        thousandths as f64 / 1000.0
    }

    /// Cycles that a line costs more which is the only one on its small page, of which there are `span` bytes, a power of two; next to nothing where pages are
    /// large. `in_flight` is 1 to 128.
    pub fn apart(&self, span: usize, access: Access, in_flight: u32) -> f64 {
        self.assert_inside(span);
        assert!((1..=128).contains(&in_flight), "the kernels have room for 128 lines");
        // SAFETY: the pages lie inside the memory; the number of lines was checked.
        unsafe { (self.kernels.apart)(&self.memory, span, access as u32, in_flight) as f64 / 1000.0 }
    }

    pub fn mispredict(&self) -> f64 {
        // SAFETY: the kernel touches no memory of ours.
        unsafe { (self.kernels.mispredict)() as f64 / 1000.0 }
    }

    /// Cycles for each first touch of a packet in bursts of `burst`, 1 to 4096.
    pub fn burst(&self, burst: u32) -> f64 {
        assert!((1..=4096).contains(&burst), "a sample has 4096 packets");
        // SAFETY: the kernel stays inside the memory.
        unsafe { (self.kernels.burst)(&self.memory, self.memory.bytes, burst) as f64 / 1000.0 }
    }

    /// Ticks of the counter to a microsecond.
    pub fn ticks_per_us(&self) -> f64 {
        const MICROSECONDS: u32 = 2000;
        // SAFETY: the kernel touches no memory of ours.
        unsafe { (self.kernels.ticks)(MICROSECONDS) as f64 / f64::from(MICROSECONDS) }
    }

    /// Cycles of the core to a tick.
    pub fn core_per_tick(&self) -> f64 {
        // SAFETY: the kernel touches no memory of ours.
        unsafe { (self.kernels.core_clock)() as f64 / 1000.0 }
    }

    fn assert_inside(&self, bytes: usize) {
        assert!(
            bytes.is_power_of_two() && (1 << 12..=self.memory.bytes).contains(&bytes),
            "a working set of the memory"
        );
    }
}

impl Drop for Probe {
    fn drop(&mut self) {
        // SAFETY: the memory came from `probe_allocate` and is freed once.
        unsafe { (self.kernels.free)(&mut self.memory) }
    }
}

impl Kernels {
    fn find(library: &Library) -> Result<Kernels, libloading::Error> {
        // SAFETY: the signatures are those of runtime/probe/probe.h.
        unsafe {
            Ok(Kernels {
                free: *library.get(b"probe_free\0")?,
                touch: *library.get(b"probe_touch\0")?,
                lines: *library.get(b"probe_lines\0")?,
                window: *library.get(b"probe_window\0")?,
                misses: *library.get(b"probe_misses\0")?,
                apart: *library.get(b"probe_apart\0")?,
                mispredict: *library.get(b"probe_mispredict\0")?,
                burst: *library.get(b"probe_burst\0")?,
                ticks: *library.get(b"probe_ticks\0")?,
                core_clock: *library.get(b"probe_core_clock\0")?,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kernel_gives_a_sample() {
        let root = std::env::temp_dir().join(format!("bacus-probe-test-{}", std::process::id()));
        let probe = Probe::open(&Compiler::find(None).unwrap(), &Cache::at(&root).unwrap(), 64 << 20).unwrap();
        assert!(probe.bytes() >= 64 << 20 && probe.page_bytes() >= 4096);
        probe.touch(1 << 20);
        let streams = [Access::PrefetchT0, Access::PrefetchT1, Access::BusyT0, Access::BusyT1];
        for access in streams.into_iter().chain([Access::Load, Access::GroupT0, Access::GroupT1]) {
            assert!(probe.lines(1 << 20, access, 8).unwrap() > 0.0);
        }
        assert!(probe.lines(1 << 20, Access::Gather, 16).is_none_or(|cycles| cycles > 0.0));
        assert!(
            probe.window(64) > 0.0
                && probe.misses(64, 640) > probe.misses(1, 0)
                && probe.burst(32) > 0.0
                && (0..9).any(|_| probe.apart(32 << 20, Access::Load, 1) > -1.0)
                && probe.ticks_per_us() > 0.0
                && probe.core_per_tick() > 0.0
        );
        drop(probe);
        std::fs::remove_dir_all(root).unwrap();
    }
}
