//! The command under test, and files for it.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::sync::atomic::{AtomicU32, Ordering};

pub fn bacus() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_bacus"));
    command.env("BACUS_CACHE", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache")).env("NO_COLOR", "1");
    command
}

/// The exit code of `bacus` with these arguments, and what it prints.
pub fn ran(arguments: &[&str]) -> (Option<i32>, String) {
    let output = bacus().args(arguments).output().unwrap();
    (output.status.code(), said(&output))
}

/// Standard output, and standard error after it.
pub fn said(output: &Output) -> String {
    [&output.stdout, &output.stderr].map(|text| String::from_utf8_lossy(text).into_owned()).concat()
}

/// A file of the project.
pub fn path(below: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(below)
}

/// An empty directory, another one with each call: tests of this process may choose the same name.
pub fn scratch(name: &str) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let unique = format!("{name}-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join(unique);
    drop(fs::remove_dir_all(&directory));
    fs::create_dir_all(&directory).unwrap();
    directory
}

/// Reports when it is missing, since a test that does nothing passes.
pub fn has_dpdk() -> bool {
    let found = Command::new("pkg-config").args(["--exists", "libdpdk"]).status().is_ok_and(|status| status.success());
    if !found {
        eprintln!("skipped: DPDK's development files are not installed (make setup)");
    }
    found
}

/// The frames of a capture.
pub fn capture(path: &Path) -> Vec<Vec<u8>> {
    let bytes = fs::read(path).unwrap();
    let (mut frames, mut at) = (Vec::new(), 24);
    while at < bytes.len() {
        let length = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap()) as usize;
        frames.push(bytes[at + 16..at + 16 + length].to_vec());
        at += 16 + length;
    }
    frames
}
