//! Entries for a switch: from files of the forms that people have, from the compact binary form, or from a generator.
//!
//! What people have are updates of the store; the other two are for millions, and go to the tables first.

mod binary;
mod content;
mod convert;
mod forms;
mod generate;
mod loader;

pub use binary::bytes_of as compact_form;
pub use content::{contents, defaults, facts_of, occupancy, stored};
pub use convert::keep;
pub use generate::{Draws, Filled, fill};

use crate::failure::Failure;
use crate::files;
use crate::stdout::print_line;
use control::Refusal;
use control::plane::Frame;
use forms::{Form, Read};
use hlir::{Program, TableId};
use native::{NativeEngine, Replay};
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Mutex;
use stf::bind::Bound;
use stf::command::{Kind, Word};
use stf::{Command, Configured, Mistake, Place, names};

/// Ports of generated entries, where no switch defines how many there are.
pub const USUAL_PORTS: u32 = 512;

/// Where entries come from, as `--entries` names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// A file of any form, found by its contents.
    File(PathBuf),
    /// `gen:TABLE:COUNT:SEED`
    Generated { table: String, count: u64, seed: u64 },
}

impl fmt::Display for Origin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Origin::File(path) => write!(f, "{}", path.display()),
            Origin::Generated { table, count, seed } => write!(f, "gen:{table}:{count}:{seed}"),
        }
    }
}

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Origin, String> {
        let Some(rest) = text.strip_prefix("gen:") else { return Ok(Origin::File(PathBuf::from(text))) };
        let parts: Vec<&str> = rest.split(':').collect();
        let number = |text: &str| text.replace('_', "").parse::<u64>().ok();
        match parts[..] {
            [table, count, seed] => match (number(count), number(seed)) {
                (Some(count), Some(seed)) => Ok(Origin::Generated { table: table.to_string(), count, seed }),
                _ => Err("COUNT and SEED are numbers: gen:TABLE:COUNT:SEED".to_string()),
            },
            _ => Err("write gen:TABLE:COUNT:SEED, as gen:ingress.routes:100000:1".to_string()),
        }
    }
}

/// Loads all of them, in order; the number of entries. `ports` bounds generated port numbers.
pub fn load<L: Replay>(engine: &mut NativeEngine<'_, L>, origins: &[Origin], ports: u32) -> Result<u64, Failure> {
    // Some entries go to the tables past the engine: joint tables do not follow until all are there.
    engine.clear_joins();
    let count = origins.iter().try_fold(0, |sum, origin| {
        let more = match origin {
            Origin::File(path) => load_file(engine, path)?,
            Origin::Generated { table, count, seed } => generate::load(engine, table, (*count, *seed), ports)?,
        };
        Ok::<u64, Failure>(sum + more)
    })?;
    engine.fill_joins();
    engine.switch().tables().iter().for_each(|table| table.compact());
    engine.check_assumptions().map_err(|refusal| refused("--specialise".to_string(), &refusal))?;
    Ok(count)
}

fn load_file<L: Replay>(engine: &mut NativeEngine<'_, L>, path: &Path) -> Result<u64, Failure> {
    let bytes = files::contents(path)?;
    if is_binary(&bytes) {
        return binary::load(engine, path, &bytes);
    }
    let done = configure(&engine.program(), path, engine)?;
    done.printed.iter().for_each(|line| print_line!("{}: {line}", path.display()));
    Ok(done.steps)
}

/// Whether a file's entries go to the store: those in the compact form are written to the tables alone.
pub fn are_commands(path: &Path) -> bool {
    files::contents(path).is_ok_and(|bytes| !is_binary(&bytes))
}

/// Whether these are entries in the compact form, which are written to the tables alone.
fn is_binary(bytes: &[u8]) -> bool {
    matches!(forms::form(bytes), Ok(Form::Binary))
}

/// Configures any engine with a file that is not in the compact form. Of what has no effect there, the user is warned.
pub fn configure(program: &Program, path: &Path, engine: &mut dyn control::DataPlane) -> Result<Configured, Failure> {
    let bound = bound(program, path)?;
    let done = stf::apply(program, bound, engine).map_err(|mistakes| failure(path, &mistakes))?;
    warn(path, &done.warnings);
    Ok(done)
}

/// What a file that is not in the compact form does to a switch, step by step.
pub fn bound(program: &Program, path: &Path) -> Result<Bound, Failure> {
    read(program, path)?.bind(program).map_err(|mistakes| failure(path, &mistakes))
}

/// The commands of a file that configure a switch.
pub fn read_configuration(program: &Program, path: &Path) -> Result<Vec<Command>, Failure> {
    Ok(read(program, path)?.commands)
}

fn read(program: &Program, path: &Path) -> Result<Read, Failure> {
    let bytes = files::contents(path)?;
    forms::read(program, &bytes).map_err(|mistakes| failure(path, &mistakes))
}

/// Lines of warnings, and of errors, for one file.
const MOST_LINES: usize = 20;

/// What was taken but is hardly meant so, on stderr. A file that is read again is not reported again.
pub fn warn(path: &Path, warnings: &[Mistake]) {
    static WARNED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let is_new = WARNED.lock().is_ok_and(|mut warned| warned.insert(path.to_path_buf()));
    if !is_new {
        return;
    }
    for warning in warnings.iter().take(MOST_LINES) {
        eprintln!("{}:{}:{}: warning: {}", path.display(), warning.place.line, warning.place.column, warning.message);
    }
    if let more @ 1.. = warnings.len().saturating_sub(MOST_LINES) {
        eprintln!("{}: warning: {more} more like these", path.display());
    }
}

/// Mistakes with their place in the user's files, the first ones of many.
pub fn failure(path: &Path, mistakes: &[Mistake]) -> Failure {
    let mut lines = placed(path, &mistakes[..mistakes.len().min(MOST_LINES)]);
    if let more @ 1.. = mistakes.len().saturating_sub(MOST_LINES) {
        lines.push(format!("{}: {more} more like these", path.display()));
    }
    Failure::Input(format!("error: {}\n", lines.join("\nerror: ")))
}

/// A line for each.
pub fn placed(path: &Path, mistakes: &[Mistake]) -> Vec<String> {
    mistakes.iter().map(|mistake| format!("{}:{mistake}", path.display())).collect()
}

/// The packets of an STF file, with their ports.
pub fn packets(path: &Path) -> Result<Vec<Frame>, Failure> {
    let packet = |command: Command| match command.kind {
        Kind::Packet { port, bytes } => Some(Frame { port, bytes }),
        Kind::Expect { .. }
        | Kind::NoPacket
        | Kind::ExpectDigest { .. }
        | Kind::ExpectIdle { .. }
        | Kind::Control(_) => None,
    };
    let bytes = files::contents(path)?;
    let text = String::from_utf8_lossy(&bytes);
    let commands = stf::parse(&text).map_err(|mistakes| failure(path, &mistakes))?;
    Ok(commands.into_iter().filter_map(packet).collect())
}

/// The table that a user means: by its whole name, or by its last parts.
fn find_table(program: &Program, name: &str) -> Result<TableId, Failure> {
    let word = Word { text: name.to_string(), place: Place { line: 1, column: 1 } };
    let found = names::find(&word, "table", program.tables.iter().map(|(_, table)| table.name.as_str()));
    let index = found.map_err(|mistake| Failure::input(mistake.message))?;
    let (id, _) = program.tables.iter().nth(index).expect("the index is that of one of the tables");
    Ok(id)
}

fn refused(place: String, refusal: &Refusal) -> Failure {
    Failure::input(format!("{place}: {refusal}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_files_or_generated() {
        assert_eq!("a/routes.stf".parse(), Ok(Origin::File("a/routes.stf".into())));
        let generated = Origin::Generated { table: "ingress.fib".into(), count: 1_000_000, seed: 7 };
        assert_eq!(generated.to_string().parse(), Ok(generated.clone()));
        assert_eq!("gen:ingress.fib:1_000_000:7".parse(), Ok(generated));
        assert!("gen:fib".parse::<Origin>().is_err() && "gen:fib:x:1".parse::<Origin>().is_err());
    }

    #[test]
    fn of_many_mistakes_the_first_are_shown_and_the_others_counted() {
        let mistake = |line| Mistake::new(Place { line, column: 1 }, "this is no number");
        let shown = |count: u32| failure(Path::new("a.stf"), &(1..=count).map(mistake).collect::<Vec<_>>());
        let lines = |count: u32| shown(count).message().lines().map(str::to_string).collect::<Vec<_>>();
        assert_eq!((lines(2).len(), lines(20).len(), lines(1000).len()), (2, 20, 21));
        assert_eq!(lines(1000)[20], "error: a.stf: 980 more like these");
    }
}
