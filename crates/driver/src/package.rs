//! `--extern pkg:NAME`: the libraries of a package, by the name that pkg-config knows it by.

use crate::failure::Failure;
use std::path::{Path, PathBuf};
use std::process::Command;

/// The name behind `pkg:`; none if it is a file.
pub fn name(written: &Path) -> Option<&str> {
    written.to_str()?.strip_prefix("pkg:")
}

/// The files of its libraries: shared ones, else static ones.
pub fn libraries(name: &str) -> Result<Vec<PathBuf>, Failure> {
    let folder = PathBuf::from(asked(name, "--variable=libdir")?.trim());
    let flags = asked(name, "--libs-only-l")?;
    let names: Vec<&str> = flags.split_whitespace().filter_map(|flag| flag.strip_prefix("-l")).collect();
    if names.is_empty() {
        return Err(Failure::input(format!("--extern pkg:{name}: the package has no library")));
    }
    names.into_iter().map(|library| file(&folder, library, name)).collect()
}

fn file(folder: &Path, library: &str, name: &str) -> Result<PathBuf, Failure> {
    let files = ["so", "a"].map(|ending| folder.join(format!("lib{library}.{ending}")));
    let missing = || {
        let [shared, fixed] = files.each_ref().map(|file| file.display());
        Failure::environment(format!(
            "--extern pkg:{name}: neither {shared} nor {fixed} is there\nhint: install the package's development files, or name the library's file"
        ))
    };
    files.iter().find(|file| file.is_file()).cloned().ok_or_else(missing)
}

fn asked(name: &str, question: &str) -> Result<String, Failure> {
    let failed = |why: &str| {
        Failure::environment(format!(
            "--extern pkg:{name}: {why}\nhint: install the package's development files, or name the library's file"
        ))
    };
    let output = Command::new("pkg-config").args([question, "--", name]).output();
    let output = output.map_err(|error| failed(&format!("pkg-config cannot be run: {error}")))?;
    if !output.status.success() {
        return Err(failed("pkg-config does not know this package"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}
