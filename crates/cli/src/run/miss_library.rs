//! `--miss-handler`: a shared library of the user that answers packets within the switch, by lines of STF.

use control::{DataPlane, Refusal};
use driver::failure::Failure;
use hlir::{Program, TableId};
use native::MissHandler;
use runtime::MissLibrary;
use std::path::Path;

pub struct LibraryHandler(MissLibrary);

impl LibraryHandler {
    pub fn load(path: &Path) -> Result<LibraryHandler, Failure> {
        let library = MissLibrary::load(path).map_err(|error| Failure::input(format!("--miss-handler: {error}")))?;
        Ok(LibraryHandler(library))
    }
}

impl MissHandler for LibraryHandler {
    fn missed(&mut self, table: TableId, packet: &[u8], plane: &mut dyn DataPlane) -> Result<(), Refusal> {
        let program = plane.store().program().clone();
        let mut refused = None;
        self.0.missed(&program.tables[table].name, packet, &mut |command| {
            let written = write(&program, command, plane);
            let is_written = written.is_ok();
            refused = refused.take().or(written.err());
            is_written
        });
        refused.map_or(Ok(()), |sentence| Err(Refusal::wrong(sentence)))
    }
}

/// Executes a line, or returns why not.
fn write(program: &Program, command: &str, plane: &mut dyn DataPlane) -> Result<(), String> {
    let done = stf::parse(command).and_then(|commands| stf::configure(program, &commands, plane));
    done.map(drop).map_err(|mistakes| {
        let first = mistakes.first().map(|mistake| mistake.message.clone()).unwrap_or_default();
        format!("`{command}`: {first}")
    })
}
