//! `bacus manual`: the manual pages, made from the flags.

use clap::{Args, CommandFactory as _};
use driver::failure::Failure;
use driver::files;
use driver::stdout::{counted, print_line};
use std::path::{Path, PathBuf};

pub const EXAMPLES: &str = "\
Examples:
  bacus manual man/man1 && man -M man bacus-run
  bacus ctl completion bash                completions for a shell: bash, zsh or fish";

#[derive(Args)]
pub struct Arguments {
    /// The directory for bacus.1, bacus-run.1, …
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let folder = &arguments.folder;
    let mut command = crate::Arguments::command();
    command.build();
    write(folder, "bacus", &command)?;
    let commands: Vec<&clap::Command> =
        command.get_subcommands().filter(|command| command.get_name() != "help").collect();
    for command in &commands {
        write(folder, &format!("bacus-{}", command.get_name()), command)?;
    }
    print_line!("{}: {}", folder.display(), counted(commands.len() as u64 + 1, "page", "pages"));
    Ok(())
}

fn write(folder: &Path, name: &str, command: &clap::Command) -> Result<(), Failure> {
    let path = folder.join(format!("{name}.1"));
    let title = name.to_uppercase();
    let mut text = Vec::new();
    let page = clap_mangen::Man::new(command.clone())
        .title(title)
        .section("1")
        .source(concat!("bacus ", env!("CARGO_PKG_VERSION")))
        .manual("bacus");
    page.render(&mut text).map_err(|error| Failure::unwritable(&path, &error))?;
    files::write(&path, &text)
}
