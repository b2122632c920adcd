//! Random programs: the emitter refuses them by name or writes C that compiles without a warning.

use crate::generate::{Generator, Manners};
use crate::installed;
use hlir::plan::{Descriptor, Plan};
use std::path::{Path, PathBuf};
use std::process::Command;

/// With the functions of random externs, which a user would bring.
#[rustfmt::skip]
const FLAGS: &[&str] = &[
    "-std=c11", "-O1", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror", "-fPIC", "-c", "-o", "/dev/null",
    "-Dseal(...)=0", "-DCipher_open(...)=0", "-DCipher_new(...)=NULL", "-DCipher_delete(object)=(void)(object)",
];

/// Numbers that look random and are the same in every run.
fn choices(seed: u64) -> Vec<u32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 16) as u32
    };
    let count = next() % 2000;
    (0..count).map(|_| next()).collect()
}

#[test]
fn random_programs_compile_without_a_warning() {
    let runtime = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtime");
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let count: u64 = std::env::var("RANDOM_PROGRAMS").ok().and_then(|text| text.parse().ok()).unwrap_or(12);
    let compilers = installed::compilers();
    let mut compiled = 0;
    for seed in 1..=count {
        let program = Generator::new(&choices(seed), Manners::Orderly).program();
        let plan = Plan { descriptor: Descriptor::Own, ..Plan::default() };
        let c = match emit::emit(&program, &plan) {
            Ok(c) => c,
            Err(refusals) => {
                refusals.iter().for_each(|refusal| println!("{seed}: {}", refusal.message()));
                continue;
            }
        };
        let path = folder.join(format!("random_{seed}.c"));
        std::fs::write(&path, c).expect("the C can be written");
        let compiler = compilers[seed as usize % compilers.len()];
        let output = Command::new(compiler).args(FLAGS).arg("-I").arg(&runtime).arg(&path).output();
        let output = output.unwrap_or_else(|error| panic!("{compiler}: {error}"));
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{}:\n{errors}", path.display());
        compiled += 1;
    }
    assert!(compiled > 0, "some of {count} programs are for the emitter");
}
