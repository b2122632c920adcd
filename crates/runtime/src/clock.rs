//! The time stamp counter: what cycles are counted in everywhere.

/// Ticks since the machine started.
#[cfg(target_arch = "x86_64")]
pub fn ticks() -> u64 {
    // SAFETY: reading the counter has no effect; every x86-64 processor has it.
    unsafe { std::arch::x86_64::_rdtsc() }
}
