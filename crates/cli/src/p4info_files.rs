//! What a P4Runtime controller reads: files with P4Info, and with the entries of the program's own tables.

use control::format::{self, ENDINGS, Format, Kind};
use driver::failure::Failure;
use driver::files;
use hlir::Program;
use std::path::PathBuf;

/// The requested files, each with the format that the ending of its name means.
pub struct Files<'a> {
    info: Vec<(&'a PathBuf, Format)>,
    entries: Vec<(&'a PathBuf, Format)>,
}

impl<'a> Files<'a> {
    /// An unknown ending, and a file that cannot be written, are known before any work is done.
    pub fn of(info: &'a [PathBuf], entries: &'a [PathBuf]) -> Result<Files<'a>, Failure> {
        let formats = |paths: &'a [PathBuf]| {
            let known = paths.iter().map(|path| match Format::of(path) {
                Some(format) => Ok((path, format)),
                None => Err(Failure::input(format!(
                    "{}: the ending does not define the format\nhint: known endings are {ENDINGS}",
                    path.display()
                ))),
            });
            known.collect::<Result<Vec<_>, Failure>>()
        };
        info.iter().chain(entries).try_for_each(|path| files::check_writable(path))?;
        Ok(Files { info: formats(info)?, entries: formats(entries)? })
    }

    pub fn is_empty(&self) -> bool {
        self.info.is_empty() && self.entries.is_empty()
    }

    /// Writes each file whole or not at all.
    pub fn write(&self, program: &Program) -> Result<(), Failure> {
        for (path, format) in &self.info {
            files::write(path, &format::write(Kind::P4Info, &control::p4info(program), *format))?;
        }
        for (path, format) in &self.entries {
            files::write(path, &format::write(Kind::WriteRequest, &control::entries::entries(program), *format))?;
        }
        Ok(())
    }
}
