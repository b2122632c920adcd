//! How many files and connections the process may have open at once.

use std::ffi::c_int;

const NOFILE: c_int = 7;

#[repr(C)]
#[derive(Clone, Copy, Default)]
struct Limit {
    soft: u64,
    hard: u64,
}

unsafe extern "C" {
    fn getrlimit(resource: c_int, limit: *mut Limit) -> c_int;
    fn setrlimit(resource: c_int, limit: *const Limit) -> c_int;
}

/// Raises the limit as far as the system lets an ordinary user (`ulimit -H -n`). How many files may be open now.
pub fn raise_limit() -> usize {
    let mut limit = Limit::default();
    // SAFETY: the struct is the one of 64-bit Linux; both calls only read or write it.
    unsafe {
        if getrlimit(NOFILE, &mut limit) != 0 {
            return 1024;
        }
        let raised = Limit { soft: limit.hard, ..limit };
        if limit.soft < limit.hard && setrlimit(NOFILE, &raised) == 0 {
            limit = raised;
        }
    }
    usize::try_from(limit.soft).unwrap_or(usize::MAX)
}

/// Files that are open now.
pub fn count() -> usize {
    std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_limit_is_that_of_the_system() {
        let limit = raise_limit();
        assert_eq!(raise_limit(), limit);
        assert!(count() > 2 && count() < limit);
        let limits = std::fs::read_to_string("/proc/self/limits").expect("Linux has it");
        let files = limits.lines().find(|line| line.starts_with("Max open files")).expect("it is listed");
        let soft = files.split_whitespace().nth(3).expect("a number");
        assert!(soft == limit.to_string() || soft == "unlimited", "{files}");
    }
}
