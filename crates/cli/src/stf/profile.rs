//! `bacus stf --profile-out`: what the packets of all files have done, on either engine.

use crate::interpreted;
use driver::failure::Failure;
use driver::{files, inputs};
use hlir::Program;
use hlir::value::Bits;
use native::NativeEngine;
use std::collections::HashSet;
use std::path::Path;

/// Into a file, if one is named, what native code has counted.
pub fn write<L: runtime::WorkerPorts>(path: Option<&Path>, engine: &mut NativeEngine<'_, L>) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let counts = engine.counts();
    inputs::write_profile(path, engine.switch().pipeline().description(), &counts)
}

/// Into a file, if one is named, what the interpreter of a program has counted.
pub fn write_interpreted(
    path: Option<&Path>,
    program: &Program,
    engine: &mut interp::Switch<'_>,
) -> Result<(), Failure> {
    let Some(path) = path else { return Ok(()) };
    let mut profile = interpreted::profile(program, &engine.take_counts());
    for (table, keys) in program.tables.values().zip(engine.take_keys()) {
        let different: HashSet<Vec<Bits>> = keys.into_iter().filter(|key| !key.is_empty()).collect();
        if !different.is_empty() {
            profile.keys.insert(table.name.clone(), different.len() as u64);
        }
    }
    files::write(path, profile.print().as_bytes())
}
