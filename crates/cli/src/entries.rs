//! `bacus entries`: prints what files of entries come to, and writes them in the compact form.

use clap::Args;
use control::{DataPlane as _, Rehearsal};
use driver::entries::{bound, compact_form, failure, keep, warn};
use driver::failure::Failure;
use driver::options::Source;
use driver::stdout::{counted, print_line};
use driver::{files, frontend};
use std::path::PathBuf;
use std::sync::Arc;

pub const EXAMPLES: &str = "\
Examples:
  bacus entries router.p4 s1-runtime.json            checks the file, counts entries by table
  bacus entries router.p4 routes.stf -o routes.bin   the compact form, for tables of millions
  bacus entries router.p4 commands.txt.gz acl.stf -o all.bin

FILE is STF, a script of simple_switch_CLI, the p4lang tutorials' runtime JSON, or P4Runtime's
WriteRequest (text, JSON, binary) or ReadResponse (text, JSON), as for `bacus run --entries`. The
compact form only has entries with actions; docs/run.md describes it.";

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
    arguments.output.as_deref().map_or(Ok(()), files::check_writable)?;
    let program = frontend::load(&arguments.source)?.program;
    let mut rehearsal = Rehearsal::new(Arc::new(program.clone()));
    let mut kept = Vec::new();
    for file in &arguments.files {
        let bound = bound(&program, file)?;
        if arguments.output.is_some() {
            keep(&program, &bound, &mut kept).map_err(|mistakes| failure(file, &mistakes))?;
        }
        let done = stf::apply(&program, bound, &mut rehearsal).map_err(|mistakes| failure(file, &mistakes))?;
        warn(file, &done.warnings);
    }
    for (id, table) in program.tables.iter() {
        let (entries, own) = (rehearsal.store().entry_count(id) as u64, table.entries.len());
        if entries > 0 {
            let own = if own == 0 { String::new() } else { format!(" ({own} of the program)") };
            print_line!("{}: {}{own}", table.name, counted(entries, "entry", "entries"));
        }
    }
    match &arguments.output {
        Some(path) => {
            files::write(path, &compact_form(&program, &kept))?;
            print_line!("{}: {}", path.display(), counted(kept.len() as u64, "entry", "entries"));
            Ok(())
        }
        None => Ok(()),
    }
}
