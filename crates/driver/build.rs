//! Packs the architectures' P4 files into the binary, so that programs find `core.p4` and `v1model.p4` wherever `bacus` is installed.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = fs::canonicalize("../../include")?;
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files: Vec<PathBuf> = fs::read_dir(&root)?.map(|entry| Ok(entry?.path())).collect::<io::Result<_>>()?;
    files.retain(|file| file.extension().is_some_and(|extension| extension == "p4"));
    files.sort();
    let mut text = String::from("const INCLUDES: &[(&str, &str)] = &[\n");
    for file in &files {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        writeln!(text, "    ({name:?}, include_str!({file:?})),").expect("writing to a string does not fail");
    }
    text.push_str("];\n");
    fs::write(PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR")).join("includes.rs"), text)
}
