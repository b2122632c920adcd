//! PSA and PNA as a user meets them: each program beside its STF file, on the interpreter and as native code, packet by packet and in bursts.

use crate::command::{bacus, path, said};
use std::fs;

#[test]
fn programs_do_what_the_architectures_promise() {
    let mut seen = 0;
    for entry in fs::read_dir(path("crates/cli/tests/architectures")).unwrap() {
        let program = entry.unwrap().path();
        if program.extension().is_none_or(|extension| extension != "p4") {
            continue;
        }
        seen += 1;
        let name = program.file_stem().unwrap().to_string_lossy().into_owned();
        for (engine, burst) in [("interp", "1"), ("interp", "64"), ("native", "1"), ("native", "64")] {
            let stf = program.with_extension("stf");
            let ran = bacus().arg("stf").args(["--engine", engine, "--burst", burst]).arg(&program).arg(stf).output();
            let ran = ran.unwrap();
            let said = said(&ran);
            assert!(ran.status.success(), "{name} on {engine}, burst {burst}:\n{said}");
        }
    }
    assert_ne!(seen, 0, "no programs in the folder");
}
