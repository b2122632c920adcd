//! `bacus fmt`: formats programs, and changes nothing else about them.

use clap::Args;
use driver::failure::Failure;
use driver::files;
use driver::stdout::{print, print_line};
use hlir::source::SourceMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};

pub const EXAMPLES: &str = "\
Examples:
  bacus fmt router.p4                  rewrite the file
  bacus fmt p4src                      all files *.p4 in a directory, and below
  bacus fmt --check p4src              name the files that would change; exit code 1 if there are any
  bacus fmt - < router.p4              from standard input to standard output, for editors

Comments, preprocessor lines and macros are kept as they are. A file that is
formatted already is not written.";

#[derive(Args)]
pub struct Arguments {
    /// Files, directories with files *.p4, or - for standard input
    #[arg(value_name = "PATH", required = true)]
    paths: Vec<PathBuf>,
    /// Write no file: print the names of those that would change, and fail if there are any
    #[arg(long)]
    check: bool,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    let mut files = Vec::new();
    for path in &arguments.paths {
        if path == Path::new("-") {
            files.push(path.clone());
        } else if path.is_dir() {
            below(path, &mut files)?;
        } else {
            files.push(path.clone());
        }
    }
    let (mut mistakes, mut changes) = (String::new(), 0);
    for file in &files {
        match one(file, arguments.check) {
            Ok(changed) => changes += usize::from(changed),
            // The other files are formatted all the same.
            Err(Failure::Input(mistake)) => mistakes.push_str(&mistake),
            Err(other @ (Failure::Environment(_) | Failure::Reported)) => return Err(other),
        }
    }
    if !mistakes.is_empty() {
        return Err(Failure::Input(mistakes));
    }
    if arguments.check && changes > 0 { Err(Failure::Reported) } else { Ok(()) }
}

/// The programs in a directory and below, by name.
fn below(directory: &Path, files: &mut Vec<PathBuf>) -> Result<(), Failure> {
    let unreadable = |error: std::io::Error| Failure::unreadable(directory, &error);
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory).map_err(unreadable)? {
        entries.push(entry.map_err(unreadable)?.path());
    }
    entries.sort();
    for path in entries {
        if path.is_dir() && !path.is_symlink() {
            below(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "p4") && path.is_file() {
            files.push(path);
        }
    }
    Ok(())
}

/// Formats a file; returns whether that changes it.
fn one(file: &Path, is_check: bool) -> Result<bool, Failure> {
    let is_input = file == Path::new("-");
    let bytes = if is_input {
        let mut bytes = Vec::new();
        std::io::stdin().read_to_end(&mut bytes).map_err(|error| Failure::unreadable(file, &error))?;
        bytes
    } else {
        fs::read(file).map_err(|error| Failure::unreadable(file, &error))?
    };
    let Ok(text) = String::from_utf8(bytes) else {
        let name = file.display();
        return Err(Failure::Input(format!("{name}: expected UTF-8\nhint: iconv -f latin1 -t utf-8 {name}\n")));
    };
    let name = if is_input { "standard input".to_string() } else { file.display().to_string() };
    let formatted = p4::format::format(&text)
        .map_err(|mistake| Failure::diagnostics(&[mistake], &SourceMap::new(&name, &text.replace("\r\n", "\n"))))?;
    let changed = formatted != text;
    match (is_check, is_input) {
        (true, _) if changed => print_line!("{name}"),
        (true, _) => {}
        (false, true) => print(&formatted)?,
        (false, false) if changed => files::write(file, formatted.as_bytes())?,
        (false, false) => {}
    }
    Ok(changed)
}
