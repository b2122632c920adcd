//! The file that `p4c` writes: JSON with a description of the program, and the program itself as HLIR under a key of our own.

use driver::failure::Failure;
use hlir::Program;
use serde_json::{Value, json};

/// Of the program in the file.
const KEY: &str = "bacus";

/// The file for a program.
pub fn of(program: &Program) -> String {
    let mut described = bm_runtime::description::of(program);
    if let Some(object) = described.as_object_mut() {
        let text = hlir::text::print_program(program);
        object.insert(KEY.to_string(), json!({ "version": env!("CARGO_PKG_VERSION"), "hlir": text }));
    }
    format!("{described:#}\n")
}

/// The program in such a file; none in other JSON.
pub fn program_of(json: &str) -> Option<String> {
    if !json.contains(KEY) {
        return None;
    }
    let json: Value = serde_json::from_str(json).ok()?;
    Some(json[KEY]["hlir"].as_str()?.to_string())
}

/// A program's file for `bacus run`: the one that is named, or what is in it.
pub fn unpacked(path: &std::path::Path) -> Result<Option<Unpacked>, Failure> {
    let text = driver::files::text(path)?;
    match program_of(&text) {
        Some(program) => Unpacked::write(&program, path).map(Some),
        None => Ok(None),
    }
}

/// A file with the program's text, which is removed with this.
pub struct Unpacked(pub std::path::PathBuf);

impl Unpacked {
    fn write(text: &str, of: &std::path::Path) -> Result<Unpacked, Failure> {
        let stem = of.file_stem().unwrap_or_default().to_string_lossy();
        let path = std::env::temp_dir().join(format!("bacus-{}-{stem}.hlir", std::process::id()));
        driver::files::write(&path, text.as_bytes())?;
        Ok(Unpacked(path))
    }
}

impl Drop for Unpacked {
    fn drop(&mut self) {
        drop(std::fs::remove_file(&self.0));
    }
}
