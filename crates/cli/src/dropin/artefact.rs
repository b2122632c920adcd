//! The file that `p4c` writes: JSON with a description of the program, and the program itself as HLIR under a key of our own.

use driver::embedded::KEY;
use hlir::Program;
use serde_json::json;

/// The file for a program.
pub fn of(program: &Program) -> String {
    let mut described = bm_runtime::description::of(program);
    if let Some(object) = described.as_object_mut() {
        let text = hlir::text::print_program(program);
        object.insert(KEY.to_string(), json!({ "version": env!("CARGO_PKG_VERSION"), "hlir": text }));
    }
    format!("{described:#}\n")
}
