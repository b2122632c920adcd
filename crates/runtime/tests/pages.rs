//! Alone in its process, for it takes large pages away from it.
#![allow(unsafe_code)]

use runtime::{Cache, Compiler, Probe};

unsafe extern "C" {
    fn prctl(option: i32, ...) -> i32;
}

const SET_LARGE_PAGES_OFF: i32 = 41;

/// The system takes the advice to use large pages, and gives none.
#[test]
fn pages_are_those_that_were_got() {
    let set_aside = std::fs::read_to_string("/proc/sys/vm/nr_hugepages").unwrap_or_default();
    // SAFETY: the call changes how memory of this process is mapped from now on, and nothing else.
    let is_off = unsafe { prctl(SET_LARGE_PAGES_OFF, 1_u64, 0_u64, 0_u64, 0_u64) } == 0;
    if !is_off || set_aside.trim() != "0" {
        println!("skipped: this system's large pages cannot be switched off for a process");
        return;
    }
    let root = std::env::temp_dir().join(format!("bacus-pages-test-{}", std::process::id()));
    let probe = Probe::open(&Compiler::find(None).unwrap(), &Cache::at(&root).unwrap(), 64 << 20).unwrap();
    assert_eq!(probe.page_bytes(), 4096);
    drop(probe);
    std::fs::remove_dir_all(root).unwrap();
}
