//! Runs the C preprocessor on a program, with the architectures of the project.

use std::path::Path;
use std::process::Command;

/// The text of a program with its includes, which the directories are searched for.
pub fn preprocess(program: &Path, directories: &[&Path]) -> Result<String, String> {
    let mut command = Command::new("gcc");
    command.args(["-E", "-undef", "-nostdinc", "-x", "assembler-with-cpp", "-D__TARGET_BMV2__"]);
    command.args(directories.iter().flat_map(|directory| [Path::new("-I"), directory]));
    let output = command.env("LC_ALL", "C").arg(program).output().map_err(|error| format!("gcc -E: {error}"))?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// The text of `#include <FILE>`, with the marks of its origin.
pub fn include(file: &str) -> Result<String, String> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../include");
    preprocess(&directory.join(file), &[&directory])
}

/// A program's text behind its architecture.
pub fn joined(architecture: &str, program: &str) -> String {
    format!("{architecture}\n# 1 \"program.p4\"\n{program}")
}
