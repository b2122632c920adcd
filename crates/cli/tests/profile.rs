//! What `--profile-out` writes, and that `--profile` reads it.
#![allow(clippy::unwrap_used)]

mod command;

use command::{bacus, path, scratch};
use std::fs;

#[test]
fn a_profile_counts_packets_on_edges_and_different_keys() {
    let file = scratch("profile").join("keyless.profile");
    let (program, packets) = (path("crates/cli/tests/plans/keyless.p4"), path("crates/cli/tests/plans/keyless.stf"));
    // The switch is reset between the two files, which ask for the same keys.
    let ran = bacus()
        .args(["stf", "--engine", "native", "--profile-out"])
        .arg(&file)
        .arg(&program)
        .args([&packets, &packets])
        .output()
        .unwrap();
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let text = fs::read_to_string(&file).unwrap();
    // Seven packets in each file, of three sources; the table without keys is asked for none.
    assert!(text.lines().any(|line| line == "14 MyIngress.always -> MyIngress.first"), "{text}");
    let keys: Vec<&str> = text.lines().filter(|line| !line.starts_with('#') && line.contains(" keys ")).collect();
    assert_eq!(keys, ["3 keys MyIngress.first"], "{text}");
    let read = bacus().arg("show").args(["--after", "all", "--profile"]).arg(&file).arg(&program).output().unwrap();
    assert!(read.status.success(), "{}", String::from_utf8_lossy(&read.stderr));
}
