//! Programs of users, with their entries and packets.

use super::{APPLICATION_PORT, Workload, application};
use crate::experiment::Case;
use crate::options::Options;
use driver::entries::{self, Origin};
use driver::failure::Failure;
use driver::frontend;
use driver::options::Source;
use measure::program::frames::Frames;
use opt::inputs::Stream;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// Whether a name is a program's file rather than an application.
pub fn is_program(name: &str) -> bool {
    let ending = Path::new(name).extension();
    application(name).is_none() && ending.is_some_and(|ending| ending == "p4" || ending == "hlir")
}

pub fn source(program: &Path, options: &Options) -> Source {
    let (include, define) = (options.include.clone(), options.define.clone());
    let (undefine, warnings) = (options.undefine.clone(), options.warnings.clone());
    Source { program: program.to_path_buf(), include, define, undefine, warnings }
}

/// As they are named, or those beside the program.
fn files(program: &Path, options: &Options) -> Vec<Origin> {
    let beside = program.with_file_name("entries.stf");
    match &options.entries[..] {
        [] if beside.exists() => vec![Origin::File(beside)],
        named => named.to_vec(),
    }
}

/// Entries that a program will have; what is wrong with program, entries or packets shows here, before anything is measured.
pub fn entries_of(program: &str, options: &Options) -> Result<u64, Failure> {
    let path = Path::new(program);
    let loaded = frontend::load(&source(path, options))?;
    let occupancy = entries::occupancy(&loaded.program, &files(path, options))?;
    Frames::read(&packets_of(path, options)?, 0)?;
    Ok(occupancy.tables.values().map(|content| content.entries).sum())
}

pub fn workload(program: &Path, size: u64, options: &Options) -> Workload {
    Workload {
        source: source(program, options),
        externs: Vec::new(),
        files: files(program, options),
        size,
        is_given: true,
        ..Workload::of("")
    }
}

/// The packets of a program: those that are named, or of the test beside it.
fn packets_of(program: &Path, options: &Options) -> Result<PathBuf, Failure> {
    let beside = || program.with_extension("stf");
    let packets = options.packets.clone().unwrap_or_else(beside);
    if packets.exists() {
        return Ok(packets);
    }
    let hint = "hint: name packets with --packets FILE, STF or a capture";
    Err(Failure::input(format!("{}: there is no such file\n{hint}", packets.display())))
}

/// The file whose packets a case is measured with; `None` where they are drawn from the entries.
pub fn packets(case: &Case, options: &Options) -> Result<Option<PathBuf>, Failure> {
    if is_program(&case.application) {
        return packets_of(Path::new(&case.application), options).map(Some);
    }
    Ok(options.packets.clone())
}

/// Gives a workload the packets of a file. Those of a capture come in where an application's do, or on port 0.
pub fn replay(workload: &mut Workload, file: &Path, case: &Case) -> Result<(), Failure> {
    /// A NIC writes whole lines.
    const LINE: u64 = 64;
    let port = if is_program(&case.application) { 0 } else { APPLICATION_PORT };
    let frames = Frames::read(file, port)?;
    let count = frames.frames.len() as u64;
    let bytes: u64 = frames.frames.iter().map(|frame| (frame.bytes.len() as u64).next_multiple_of(LINE)).sum();
    workload.stream = Stream { bytes, packet_bytes: (bytes / count) as u32 };
    workload.buffers = frames.buffers;
    workload.copies = None;
    // What is wrong with the packets shows now, not when they are wanted.
    frames.trace(file)?;
    let (frames, file) = (Arc::new(frames), file.to_path_buf());
    workload.trace = Box::new(move |_| frames.trace(&file).expect("they made a trace before"));
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_are_files_and_applications_are_names() {
        assert!(is_program("examples/router.p4") && is_program("router.hlir"));
        assert!(!is_program("router") && !is_program("l2fwd") && !is_program("router.stf"));
    }
}
