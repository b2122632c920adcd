//! `bacus entries`: says what files of entries come to, and writes them in the compact form.

use super::{binary, failure, read, warn};
use crate::compile;
use crate::failure::Failure;
use crate::frontend;
use crate::options::Source;
use crate::say::say;
use clap::Args;
use hlir::entry::EntryAction;
use hlir::{Entry, Match, Program, TableId};
use interp::PORTS;
use interp::stf::Mistake;
use interp::stf::bind::{Act, Bound, Control};
use std::path::{Path, PathBuf};

pub const EXAMPLES: &str = "\
Examples:
  bacus entries router.p4 s1-runtime.json            are they right, and how many for each table?
  bacus entries router.p4 routes.stf -o routes.bin   the compact form, for tables of millions
  bacus entries router.p4 commands.txt.gz acl.stf -o all.bin

Files are STF, scripts of simple_switch_CLI, the p4lang tutorials' runtime JSON, or P4Runtime's WriteRequest (text, JSON, bytes),
as `bacus run --entries` reads them, too. The compact form has entries with actions and nothing else; docs/run.md describes it.";

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Files of entries, in any form
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Write the entries of all files here, in the compact form
    #[arg(short, long, value_name = "FILE.bin")]
    output: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let program = frontend::load(&arguments.source)?.program;
    let mut switch = interp::Switch::new(&program, 0, PORTS);
    let mut kept = Vec::new();
    for file in &arguments.files {
        let bound = bound(&program, file)?;
        if arguments.output.is_some() {
            keep(&program, &bound, &mut kept).map_err(|mistakes| failure(file, &mistakes))?;
        }
        let done = interp::stf::apply(&program, bound, &mut switch).map_err(|mistakes| failure(file, &mistakes))?;
        warn(file, &done.warnings);
    }
    for (id, table) in program.tables.iter() {
        let (entries, own) = (switch.content(id).entries, table.entries.len());
        if entries > 0 {
            let own = if own == 0 { String::new() } else { format!(" ({own} of the program)") };
            say!("{}: {entries} entries{own}", table.name);
        }
    }
    match &arguments.output {
        Some(path) => {
            compile::write(path, &binary::bytes_of(&program, &kept))?;
            say!("{}: {} entries", path.display(), kept.len());
            Ok(())
        }
        None => Ok(()),
    }
}

fn bound(program: &Program, file: &Path) -> Result<Bound, Failure> {
    read(program, file)?.bind(program).map_err(|mistakes| failure(file, &mistakes))
}

/// What is there in the end of the entries that the steps write. The compact form knows nothing else.
fn keep(program: &Program, bound: &Bound, kept: &mut Vec<(TableId, Entry)>) -> Result<(), Vec<Mistake>> {
    let mut mistakes = Vec::new();
    for step in &bound.steps {
        let Act::Control(control) = &step.act else { continue };
        if let Err(what) = keep_one(program, control, kept) {
            let way_out = "for which the compact form has no place: keep it in a file of its own";
            mistakes.push(Mistake::new(step.place, format!("this {what}, {way_out}")));
        }
    }
    if mistakes.is_empty() { Ok(()) } else { Err(mistakes) }
}

/// What one step makes of the entries; or what it does instead.
fn keep_one(program: &Program, control: &Control, kept: &mut Vec<(TableId, Entry)>) -> Result<(), String> {
    let at = |table: TableId, matches: &[Match], priority: u32| {
        let is_same =
            |(of, entry): &(TableId, Entry)| *of == table && entry.matches == matches && entry.priority == priority;
        kept.iter().rposition(is_same)
    };
    if let Control::Insert(table, entry) | Control::Modify(table, entry) = control {
        if !matches!(entry.action, EntryAction::Call(_)) {
            return Err("refers to an action profile".to_string());
        }
        match (control, at(*table, &entry.matches, entry.priority)) {
            (Control::Modify(..), Some(at)) => kept[at].1 = entry.clone(),
            (Control::Modify(..), None) => return Err("changes an entry of the program".to_string()),
            (_, _) => kept.push((*table, entry.clone())),
        }
        return Ok(());
    }
    if let Control::Delete(key) = control {
        let at = at(key.table, &key.matches, key.priority).ok_or("deletes an entry of the program")?;
        kept.remove(at);
        return Ok(());
    }
    if let Control::SetDefault(table, _) = control {
        return Err(format!("sets the default action of `{}`", program.tables[*table].name));
    }
    if matches!(control, Control::Nothing) { Ok(()) } else { Err("is no entry".to_string()) }
}
