//! How much memory this process may take: entries beyond it are refused, before the system ends the process.
//!
//! Memory counts once the process has written to it: a large array that nothing uses costs nothing. Tables ask before they grow, and writers before they
//! insert, with a margin below the limit that is kept for deletions.

use std::fs;
use std::sync::atomic::{AtomicU64, Ordering};

unsafe extern "C" {
    fn heap_bytes() -> u64;
}

const NONE: u64 = u64::MAX;
static LIMIT: AtomicU64 = AtomicU64::new(NONE);

/// Of the limit, for all that is no entry.
const MARGIN_PART: u64 = 32;
/// Of the machine's memory, what a switch may take that has no limit of its own.
const SHARE_PERCENT: u64 = 90;

/// Limits the memory of this process from now on.
pub fn set(bytes: u64) {
    LIMIT.store(bytes, Ordering::Relaxed);
}

/// The limit in bytes, if there is one.
pub fn limit() -> Option<u64> {
    Some(LIMIT.load(Ordering::Relaxed)).filter(|limit| *limit != NONE)
}

/// The limit as the end of a sentence about lacking memory.
pub fn described() -> String {
    limit().map(|bytes| format!(": the switch may take {} MiB (--memory)", bytes >> 20)).unwrap_or_default()
}

/// Nine tenths of the memory that the machine, or the container, has.
pub fn of_machine() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let kilobytes =
        text.lines().find_map(|line| line.strip_prefix("MemTotal:")?.split_whitespace().next()?.parse::<u64>().ok());
    let container =
        fs::read_to_string("/sys/fs/cgroup/memory.max").ok().and_then(|text| text.trim().parse::<u64>().ok());
    let total = kilobytes? * 1024;
    Some(container.map_or(total, |most| most.min(total)) / 100 * SHARE_PERCENT)
}

/// Bytes that the process has touched.
pub fn resident() -> u64 {
    const PAGE_BYTES: u64 = 4096;
    let text = fs::read_to_string("/proc/self/statm").unwrap_or_default();
    text.split_whitespace().nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * PAGE_BYTES
}

/// Bytes of the heap that are in use, without those of tables.
pub fn heap() -> u64 {
    // SAFETY: the function reads statistics of the C library.
    unsafe { heap_bytes() }
}

/// Whether a table may take so many bytes more.
pub(crate) fn has_room_for(bytes: usize) -> bool {
    limit().is_none_or(|limit| resident().saturating_add(bytes as u64) <= limit)
}

/// Whether entries may be inserted.
pub fn has_room() -> bool {
    limit().is_none_or(|limit| resident() <= limit - limit / MARGIN_PART)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_heap_has_what_is_allocated() {
        let before = heap();
        let some = vec![1u8; 8 << 20];
        assert!((8 << 20..16 << 20).contains(&(heap() - before)), "{}", some.len());
    }

    #[test]
    fn the_machine_has_more_than_this_process() {
        let (machine, resident) = (of_machine().expect("the system reports it"), resident());
        assert!(resident > 1 << 16 && machine > resident, "{resident} of {machine}");
    }
}
