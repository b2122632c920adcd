//! Entries for a switch: from STF text, from the compact binary form, or from a generator.
//!
//! Text goes through the control plane's books and is for people; the other two go straight to the tables and are for millions.

mod binary;
mod content;
mod generate;
mod loader;

pub use content::occupancy;

use crate::failure::Failure;
use crate::native::{NativeEngine, Replay};
use crate::say::say;
use hlir::{Program, TableId};
use interp::engine::{Frame, Refusal};
use interp::stf::command::{Control, Kind};
use interp::stf::{Command, Configured};
use std::fs;
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// Ports of generated entries, where no switch says how many there are.
pub const USUAL_PORTS: u32 = 512;

/// Where entries come from, as `--entries` names it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Origin {
    /// STF commands that configure a switch.
    Text(PathBuf),
    /// The compact binary form: a file ending in `.bin`.
    Binary(PathBuf),
    /// `gen:TABLE:COUNT:SEED`
    Generated { table: String, count: u64, seed: u64 },
}

impl FromStr for Origin {
    type Err = String;

    fn from_str(text: &str) -> Result<Origin, String> {
        let Some(rest) = text.strip_prefix("gen:") else {
            let path = PathBuf::from(text);
            let binary = path.extension().is_some_and(|extension| extension == "bin");
            return Ok(if binary { Origin::Binary(path) } else { Origin::Text(path) });
        };
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
    let count = origins.iter().try_fold(0, |sum, origin| {
        Ok::<u64, Failure>(
            sum + match origin {
                Origin::Text(path) => load_text(engine, path)?,
                Origin::Binary(path) => binary::load(engine, path)?,
                Origin::Generated { table, count, seed } => generate::load(engine, table, (*count, *seed), ports)?,
            },
        )
    })?;
    engine.switch().tables().iter().for_each(|table| table.compact());
    Ok(count)
}

fn load_text<L: Replay>(engine: &mut NativeEngine<'_, L>, path: &Path) -> Result<u64, Failure> {
    let done = configure(engine.program(), path, engine)?;
    warn(path, &done.warnings);
    done.printed.iter().for_each(|line| say!("{}: {line}", path.display()));
    Ok(done.steps)
}

/// What was taken but is hardly meant so, on stderr.
pub fn warn(path: &Path, warnings: &[interp::stf::Mistake]) {
    for warning in warnings {
        eprintln!("{}:{}:{}: warning: {}", path.display(), warning.place.line, warning.place.column, warning.message);
    }
}

/// Runs what configures a switch in an STF file on any engine; packets and expectations are left out.
pub fn configure(program: &Program, path: &Path, engine: &mut dyn interp::Engine) -> Result<Configured, Failure> {
    let commands = read_configuration(path)?;
    interp::stf::run::configure(program, &commands, engine).map_err(|mistakes| failure(path, &mistakes))
}

/// The commands of an STF file that configure a switch.
pub fn read_configuration(path: &Path) -> Result<Vec<Command>, Failure> {
    Ok(read_commands(path)?.into_iter().filter(|command| configures(&command.kind)).collect())
}

/// The commands of an STF file.
fn read_commands(path: &Path) -> Result<Vec<Command>, Failure> {
    let text = fs::read_to_string(path).map_err(|error| Failure::unreadable(path, &error))?;
    interp::stf::parse(&text).map_err(|mistakes| failure(path, &mistakes))
}

/// Mistakes with their place in the user's files.
pub fn failure(path: &Path, mistakes: &[interp::stf::Mistake]) -> Failure {
    Failure::Input(format!("error: {}\n", placed(path, mistakes).join("\nerror: ")))
}

/// A line for each.
pub fn placed(path: &Path, mistakes: &[interp::stf::Mistake]) -> Vec<String> {
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
    Ok(read_commands(path)?.into_iter().filter_map(packet).collect())
}

/// Whether a command makes a switch what it is, rather than testing it.
fn configures(kind: &Kind) -> bool {
    match kind {
        Kind::Packet { .. }
        | Kind::Expect { .. }
        | Kind::NoPacket
        | Kind::ExpectDigest { .. }
        | Kind::ExpectIdle { .. } => false,
        Kind::Control(control) => !matches!(
            control,
            Control::CheckCounter { .. } | Control::Clock { .. } | Control::Seed { .. } | Control::Wait
        ),
    }
}

/// The table that a user means: by its whole name, or the end of it that only one has.
fn find_table(program: &Program, name: &str) -> Result<TableId, Failure> {
    let exact = program.tables.iter().find(|(_, table)| table.name == name);
    let fitting: Vec<TableId> =
        program.tables.iter().filter(|(_, table)| table.name.ends_with(name)).map(|(id, _)| id).collect();
    match (exact, &fitting[..]) {
        (Some((id, _)), _) => Ok(id),
        (None, [id]) => Ok(*id),
        (None, []) => {
            let names: Vec<&str> = program.tables.iter().map(|(_, table)| table.name.as_str()).collect();
            Err(Failure::input(format!("there is no table `{name}`\nhint: tables are {}", names.join(", "))))
        }
        (None, _) => {
            let names: Vec<&str> = fitting.iter().map(|id| program.tables[*id].name.as_str()).collect();
            Err(Failure::input(format!("`{name}` may be {}", names.join(" or "))))
        }
    }
}

fn refused(place: String, refusal: &Refusal) -> Failure {
    Failure::input(format!("{place}: {refusal}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_told_apart_by_their_names() {
        assert_eq!("a/routes.stf".parse(), Ok(Origin::Text("a/routes.stf".into())));
        assert_eq!("routes.bin".parse(), Ok(Origin::Binary("routes.bin".into())));
        let generated = Origin::Generated { table: "ingress.fib".into(), count: 1_000_000, seed: 7 };
        assert_eq!("gen:ingress.fib:1_000_000:7".parse(), Ok(generated));
        assert!("gen:fib".parse::<Origin>().is_err() && "gen:fib:x:1".parse::<Origin>().is_err());
    }
}
