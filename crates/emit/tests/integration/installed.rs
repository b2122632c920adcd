//! Which C compilers this machine has. A test that would use one more prints that it does without.

use std::process::Command;

pub fn compilers() -> Vec<&'static str> {
    let answers = |compiler: &&str| match Command::new(compiler).arg("--version").output() {
        Ok(output) if output.status.success() => true,
        _ => {
            eprintln!("skipped: {compiler} is not installed");
            false
        }
    };
    let names: Vec<&str> = ["gcc", "clang-19", "clang"].into_iter().filter(answers).collect();
    assert!(!names.is_empty(), "no C compiler is installed");
    names
}
