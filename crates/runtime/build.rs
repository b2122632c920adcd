//! Compiles the host's C files, and packs the whole C runtime into the binary, so that `bacus` is one self-contained file.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs, io};

fn main() -> io::Result<()> {
    let root = fs::canonicalize("../../runtime")?;
    println!("cargo::rerun-if-changed={}", root.display());
    let mut files = Vec::new();
    collect(&root, &mut files)?;
    files.sort();
    write_embedded(&root, &files)?;
    compile_host(&root, &files);
    Ok(())
}

fn collect(directory: &Path, files: &mut Vec<PathBuf>) -> io::Result<()> {
    for entry in fs::read_dir(directory)? {
        let path = entry?.path();
        let extension = path.extension().and_then(|extension| extension.to_str());
        if path.is_dir() && !path.ends_with("test") {
            collect(&path, files)?;
        } else if matches!(extension, Some("h" | "c")) {
            files.push(path);
        }
    }
    Ok(())
}

/// `EMBEDDED`: each file's path below `runtime/` and its text.
fn write_embedded(root: &Path, files: &[PathBuf]) -> io::Result<()> {
    let mut text = String::from("pub const EMBEDDED: &[(&str, &str)] = &[\n");
    for file in files {
        let name = file.strip_prefix(root).expect("files were found below the root");
        writeln!(text, "    ({:?}, include_str!({:?})),", name.display().to_string(), file)
            .expect("writing to a string does not fail");
    }
    text.push_str("];\n");
    let out = PathBuf::from(env::var("OUT_DIR").expect("cargo sets OUT_DIR"));
    fs::write(out.join("embedded.rs"), text)
}

/// The table writers and the in-memory port. The files of port layers are compiled on the machine that runs them, at first use, and the kernels of the
/// calibration (`probe/`) on the machine that they measure.
fn compile_host(root: &Path, files: &[PathBuf]) {
    const LAYERS: [&str; 6] = ["dpdk", "interface", "native", "spread", "xdp", "without_xdp"];
    let of_layers = |file: &Path| {
        let name = file.file_name().unwrap_or_default().to_string_lossy();
        file.starts_with(root.join("port")) && LAYERS.iter().any(|first| name.starts_with(first))
    };
    let sources = files.iter().filter(|file| file.extension().is_some_and(|extension| extension == "c"));
    cc::Build::new()
        .files(sources.filter(|file| !of_layers(file) && !file.starts_with(root.join("probe"))))
        .include(root)
        .std("c11")
        .flag("-Wpedantic")
        .flag("-Wshadow")
        .warnings(true)
        .extra_warnings(true)
        .warnings_into_errors(true)
        .opt_level(3)
        .compile("bacus_host");
}
