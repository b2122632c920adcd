//! `p4c` and `p4c-bm2-ss`: checks a program, and writes P4Info and the file that `simple_switch` loads.

use super::{artefact, parsed};
use crate::p4info_files;
use clap::Parser;
use driver::failure::Failure;
use driver::files;
use driver::frontend;
use driver::options::Source;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

const NOTES: &str = "\
The output has the format of BMv2's JSON. The key `bacus` has the program as HLIR, which simple_switch of
bacus reads in place of the rest.";

/// Compile a P4_16 program for v1model
#[derive(Parser)]
#[command(name = "p4c", version, after_help = NOTES)]
struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Write the program here; to p4c, a name that does not end in .json is that of a directory, which it makes
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Version of the language: p4-16, or 16
    #[arg(long, visible_alias = "p4v", value_name = "VERSION", value_parser = ["p4-16", "16", "p4_16"])]
    std: Option<String>,
    /// Target and architecture, as bmv2-ss-p4org
    #[arg(short = 'b', long, value_name = "TARGET", value_parser = target)]
    backend: Option<String>,
    /// Target: bmv2
    #[arg(long, value_name = "TARGET", value_parser = target)]
    target: Option<String>,
    /// Architecture: v1model
    #[arg(short = 'a', long, value_name = "ARCHITECTURE", value_parser = ["v1model", "ss"])]
    arch: Option<String>,
    /// Write P4Info to these files: .txtpb, .json or .bin
    #[arg(long, value_name = "FILES", value_delimiter = ',')]
    p4runtime_files: Vec<PathBuf>,
    /// Write P4Info to this file in the text format
    #[arg(long, value_name = "FILE")]
    p4runtime_file: Option<PathBuf>,
    /// Format of --p4runtime-file: text, json or binary
    #[arg(long, value_name = "FORMAT", value_parser = ["text", "json", "binary"])]
    p4runtime_format: Option<String>,
    /// Write the entries of the program's own tables to these files
    #[arg(long, alias = "p4runtime-entries-file", value_name = "FILES", value_delimiter = ',')]
    p4runtime_entries_files: Vec<PathBuf>,
    /// Accepted: the user's own externs are in the program anyway
    #[arg(long)]
    emit_externs: bool,
    /// Accepted: errors have their places anyway
    #[arg(short = 'g')]
    debug: bool,
    #[command(flatten)]
    accepted: Accepted,
    /// Accepted: nothing more is printed
    #[arg(short = 'v', long, action = clap::ArgAction::Count)]
    verbose: u8,
    /// Accepted: this compiler always optimizes, for the machine of the switch
    #[arg(short = 'O', value_name = "LEVEL", num_args = 0..=1, require_equals = true, default_missing_value = "")]
    optimize: Option<String>,
}

/// Flags of p4c about how it compiles, which change nothing here
#[derive(clap::Args)]
#[command(next_help_heading = "Accepted without effect")]
struct Accepted {
    /// Parsers within others are compiled as one anyway
    #[arg(long)]
    parser_inline_opt: bool,
    /// Loops are compiled as loops
    #[arg(long = "loopsUnroll")]
    loops_unroll: bool,
    /// Messages of the compiler's developers
    #[arg(long)]
    ndebug: bool,
    #[arg(short = 'T', value_name = "LEVELS", help = "Messages of the compiler's developers")]
    log: Vec<String>,
    /// Intermediate programs are printed by `bacus show`
    #[arg(long, value_name = "PASSES")]
    top4: Vec<String>,
    /// As --top4
    #[arg(long, value_name = "DIR")]
    dump: Option<PathBuf>,
    /// Passes cannot be left out
    #[arg(long = "excludeFrontendPasses", value_name = "PASSES")]
    exclude_frontend_passes: Vec<String>,
    /// As --excludeFrontendPasses
    #[arg(long = "excludeMidendPasses", value_name = "PASSES")]
    exclude_midend_passes: Vec<String>,
    /// All errors are reported
    #[arg(long = "maxErrorCount", value_name = "N")]
    max_error_count: Option<u32>,
    /// Files of the compilers that the driver calls
    #[arg(long)]
    save_temps: bool,
    /// The language of the program is P4_16
    #[arg(short = 'x', value_name = "LANGUAGE", value_parser = ["p4-16", "p4_16", "16"])]
    language: Option<String>,
}

/// Targets by the names that p4c has for those with v1model.
fn target(text: &str) -> Result<String, String> {
    let known = ["bmv2", "bmv2-ss", "bmv2-v1model-p4org", "bmv2-ss-p4org", "simple_switch"];
    match known.contains(&text) {
        true => Ok(text.to_string()),
        false => {
            Err(format!("this compiler is for bmv2 with v1model ({}); `bacus compile` knows others", known.join(", ")))
        }
    }
}

/// Which of the two commands it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// `p4c`, which calls the compilers of all targets.
    Driver,
    /// `p4c-bm2-ss`.
    Compiler,
}

/// The driver's `-Xp4c ARGUMENT` and `-Xp4c=ARGUMENT`, as the arguments themselves: there is one compiler.
fn without_driver(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let (mut plain, mut is_next) = (Vec::new(), false);
    for argument in arguments {
        let text = argument.to_str().unwrap_or_default();
        if let Some(of_compiler) = if is_next { Some(text) } else { text.strip_prefix("-Xp4c=") } {
            plain.extend(of_compiler.split_whitespace().map(OsString::from));
            is_next = false;
        } else if text == "-Xp4c" {
            is_next = true;
        } else {
            plain.push(argument);
        }
    }
    plain
}

pub fn run(arguments: impl Iterator<Item = OsString>, kind: Kind) -> Result<(), Failure> {
    let mut arguments: Arguments = parsed(without_driver(arguments).into_iter());
    arguments.output = Some(output(arguments.output.as_deref(), &arguments.source.program, kind));
    if let Some(file) = arguments.p4runtime_file.take() {
        arguments.p4runtime_files.push(with_format(&file, arguments.p4runtime_format.as_deref()));
        return compile(&arguments, Some(&file), kind);
    }
    compile(&arguments, None, kind)
}

/// A name whose ending means the format: --p4runtime-file may have any name.
fn with_format(file: &Path, format: Option<&str>) -> PathBuf {
    let ending = match format {
        Some("json") => "json",
        Some("binary") => "bin",
        Some(_) | None => "txtpb",
    };
    let mut name = file.as_os_str().to_os_string();
    name.push(format!(".{ending}"));
    PathBuf::from(name)
}

fn compile(arguments: &Arguments, renamed: Option<&Path>, kind: Kind) -> Result<(), Failure> {
    let described = p4info_files::Files::of(&arguments.p4runtime_files, &arguments.p4runtime_entries_files)?;
    let (loaded, interface) = frontend::load_with_interface(&arguments.source)?;
    let written = artefact::of(&loaded.program, &arguments.source.program)?;
    described.write(&interface)?;
    if let (Some(file), Some(written)) = (renamed, arguments.p4runtime_files.last()) {
        std::fs::rename(written, file).map_err(|error| Failure::unwritable(file, &error))?;
    }
    let Some(path) = &arguments.output else { return Ok(()) };
    if let Some(folder) = path.parent().filter(|_| kind == Kind::Driver) {
        std::fs::create_dir_all(folder).map_err(|error| Failure::unwritable(folder, &error))?;
    }
    files::write(path, written.as_bytes())
}

/// The file to write: beside nothing else, it is named as the program, in this directory.
fn output(given: Option<&Path>, program: &Path, kind: Kind) -> PathBuf {
    let named = Path::new(program.file_name().unwrap_or_default()).with_extension("json");
    let is_folder = |path: &Path| {
        let is_file = kind == Kind::Compiler || path.extension().is_some_and(|extension| extension == "json");
        path.is_dir() || path.as_os_str().to_string_lossy().ends_with('/') || !is_file
    };
    match given {
        None => named,
        Some(path) if is_folder(path) => path.join(named),
        Some(path) => path.to_path_buf(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_that_change_nothing_are_taken() {
        let taken = |line: &str| {
            let arguments = without_driver(line.split('|').map(OsString::from));
            Arguments::try_parse_from(arguments).map(|arguments| arguments.p4runtime_files)
        };
        let line = "p4c|-x|p4-16|-Xp4c|--p4runtime-files a.txtpb -g|-Xp4c=--ndebug|--loopsUnroll|--maxErrorCount|5|-T|x:3|b.p4";
        assert_eq!(taken(line).expect("all are known"), [PathBuf::from("a.txtpb")]);
        assert!(taken("p4c|-x|p4-14|b.p4").is_err() && taken("p4c|--testJson|b.p4").is_err());
    }

    #[test]
    fn the_output_is_named_as_the_program() {
        let output = |given: Option<&str>, kind| output(given.map(Path::new), Path::new("a/basic.p4"), kind);
        for kind in [Kind::Driver, Kind::Compiler] {
            assert_eq!(output(None, kind), Path::new("basic.json"));
            assert_eq!(output(Some("build/"), kind), Path::new("build/basic.json"));
            assert_eq!(output(Some("x.json"), kind), Path::new("x.json"));
        }
        assert_eq!(output(Some("build"), Kind::Driver), Path::new("build/basic.json"));
        assert_eq!(output(Some("build"), Kind::Compiler), Path::new("build"));
    }
}
