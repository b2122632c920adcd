//! The file that `p4c` writes: BMv2's JSON, and the program itself as HLIR under a key of our own.

use driver::embedded::KEY;
use driver::failure::Failure;
use hlir::Program;
use serde_json::{Value, json};
use std::path::Path;

/// BMv2's JSON of a program that was read from this file.
///
/// # Errors
/// What the JSON has no form for, with its place.
pub fn bmv2_json(program: &Program, source: &Path) -> Result<Value, Failure> {
    let mut written = bmv2::write(program).map_err(Failure::input)?;
    written["program"] = json!(source.display().to_string());
    Ok(written)
}

/// The file for a program. BMv2 and other readers do not look at the key.
pub fn of(program: &Program, source: &Path) -> Result<String, Failure> {
    let mut written = bmv2_json(program, source)?;
    let text = hlir::text::print_program(program);
    written[KEY] = json!({ "version": env!("CARGO_PKG_VERSION"), "hlir": text });
    Ok(format!("{written:#}\n"))
}
