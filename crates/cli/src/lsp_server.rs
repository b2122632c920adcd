//! `bacus lsp`: the language server, on standard input and output.

use clap::Args;
use driver::failure::Failure;
use driver::flags;
use driver::options::{Source, Warnings};
use std::path::{Path, PathBuf};

pub const EXAMPLES: &str = "\
Examples:
  bacus lsp                            an editor starts it
  bacus lsp -I p4include -D WITH_IPV6  for programs that need these flags

The editor talks to it by the Language Server Protocol on standard input and
output. docs/editors.md has the settings of some editors.";

#[derive(Args)]
pub struct Arguments {
    /// Search included files here, before the bundled architectures
    #[arg(short = 'I', value_name = "DIR", help_heading = "Preprocessing")]
    include: Vec<PathBuf>,
    /// Define a macro
    #[arg(short = 'D', value_name = "NAME[=VALUE]", value_parser = flags::definition, help_heading = "Preprocessing")]
    define: Vec<String>,
    /// Undefine a macro
    #[arg(short = 'U', value_name = "NAME", value_parser = flags::macro_name, help_heading = "Preprocessing")]
    undefine: Vec<String>,
    #[command(flatten)]
    warnings: Warnings,
    /// Standard input and output, as many editors name them; there is no other way
    #[arg(long)]
    stdio: bool,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let Arguments { include, define, undefine, warnings, stdio: _ } = arguments;
    let mut source = Source::plain(Path::new(""));
    source.include.clone_from(include);
    source.define.clone_from(define);
    source.undefine.clone_from(undefine);
    source.warnings = warnings.clone();
    source.check()?;
    lsp::serve(&source).map_err(|error| Failure::input(format!("the editor's connection ended: {error}")))
}
