//! `bacus compile`: a program to native code in a shared object, or to the C it is made of.

use crate::dropin::artefact;
use crate::p4info_files;
use clap::{Args, ValueEnum};
use driver::entries::Origin;
use driver::failure::Failure;
use driver::files::{check_writable, write};
use driver::frontend::{self, Described};
use driver::options::{DescriptorKind, Native, Passes, Source};
use driver::stdout::print;
use driver::{compile, externs, inputs};
use std::fs;
use std::path::{Path, PathBuf};

pub const EXAMPLES: &str = "\
Examples:
  bacus compile router.p4                        writes router.so here
  bacus compile router.p4 -o out/                writes out/router.so
  bacus compile router.p4 --emit c | less        the emitted C
  bacus compile router.p4 --emit bmv2-json -o router.json
                                                 JSON for BMv2's simple_switch
  bacus compile router.p4 --cc clang-19 --plan whole.plan
  bacus compile router.p4 --pin part.plan        fixes these decisions, plans the others
  bacus compile router.p4 --p4runtime-files router.p4info.txtpb
                                                 P4Info only, for P4Runtime controllers

The shared object is for this machine (-march=native) and this version of bacus. Its vectors are
at most as wide as those of this machine, and of the machine file of --machine.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Emit {
    /// A shared object
    So,
    /// C, on standard output or to the file of -o
    C,
    /// JSON for BMv2's simple_switch, likewise; of v1model programs
    Bmv2Json,
}

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Write here: a file, or a directory (with `/` at its end, or one that exists)
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// Output form [default: so]
    #[arg(long, value_enum)]
    emit: Option<Emit>,
    /// Write P4Info to these files: .txtpb, .json or .bin; without -o and --emit nothing else is written
    #[arg(long, value_name = "FILES", value_delimiter = ',')]
    p4runtime_files: Vec<PathBuf>,
    /// Write the entries of the program's own tables, as a P4Runtime WriteRequest, to these files
    #[arg(long, value_name = "FILES", value_delimiter = ',')]
    p4runtime_entries_files: Vec<PathBuf>,
    /// Packet descriptor [default: mbuf, or the plan's]
    #[arg(long, value_enum)]
    descriptor: Option<DescriptorKind>,
    /// Expected table contents, which decide the data structures; repeatable
    #[arg(long, value_name = "FILE|gen:TABLE:COUNT:SEED")]
    entries: Vec<Origin>,
    /// Specialise the code for exactly the contents of --entries; with --emit c alone
    #[arg(long, requires = "entries", help_heading = "Optimizing")]
    specialise: bool,
    #[command(flatten)]
    passes: Passes,
    #[command(flatten)]
    native: Native,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.native.check()?;
    let described = p4info_files::Files::of(&arguments.p4runtime_files, &arguments.p4runtime_entries_files)?;
    if !described.is_empty() && arguments.output.is_none() && arguments.emit.is_none() {
        let Described { program, refused } = frontend::load_interface(&arguments.source)?;
        described.write(&program)?;
        return refused.map_or(Ok(()), Err);
    }
    let loaded = if described.is_empty() {
        frontend::load(&arguments.source)?
    } else {
        let (loaded, interface) = frontend::load_with_interface(&arguments.source)?;
        described.write(&interface)?;
        loaded
    };
    let form = arguments.emit.unwrap_or(Emit::So);
    if arguments.specialise && form == Emit::So {
        let why = "a shared object cannot refuse writes that its code is not specialised for";
        return Err(Failure::input(format!(
            "--specialise: {why}\nhint: --emit c shows the code; `bacus stf --specialise` and `bacus bench` run it"
        )));
    }
    let path = arguments.path(&loaded.program.name, form);
    path.as_deref().map_or(Ok(()), check_writable)?;
    if form == Emit::Bmv2Json {
        let json = artefact::bmv2_json(&loaded.program, &arguments.source.program)?;
        return output(path.as_deref(), format!("{json:#}\n").as_bytes());
    }
    let externs = externs::find(&loaded.program, &arguments.native)?;
    let mut passes = arguments.passes.clone();
    passes.entries.clone_from(&arguments.entries);
    passes.is_specialised = arguments.specialise;
    passes.ports.own_descriptor = arguments.descriptor == Some(DescriptorKind::Own);
    passes.descriptor = arguments.descriptor.map(DescriptorKind::plan);
    let (program, mut plan) = frontend::optimize(loaded, &passes, None)?;
    if let Some(descriptor) = arguments.descriptor {
        plan.descriptor = descriptor.plan();
    }
    let c = compile::emit(&program, &plan, &externs)?;
    let bytes = match form {
        Emit::C | Emit::Bmv2Json => c.into_bytes(),
        Emit::So => {
            let native = inputs::native_for(passes.machine.as_deref(), &arguments.native);
            let object = compile::object(&program.name, &c, plan.descriptor, (&native, &externs))?;
            fs::read(&object).map_err(|error| Failure::unreadable(&object, &error))?
        }
    };
    output(path.as_deref(), &bytes)
}

/// To the file, or to standard output.
fn output(path: Option<&Path>, bytes: &[u8]) -> Result<(), Failure> {
    match path {
        Some(path) => write(path, bytes),
        None => print(&String::from_utf8_lossy(bytes)),
    }
}

impl Arguments {
    /// The file to write; none for text on standard output.
    fn path(&self, name: &str, form: Emit) -> Option<PathBuf> {
        match form {
            Emit::C => target(self.output.as_deref(), name, "c"),
            Emit::Bmv2Json => target(self.output.as_deref(), name, "json"),
            Emit::So => {
                let named = target(self.output.as_deref(), name, "so");
                Some(named.unwrap_or_else(|| PathBuf::from(format!("{name}.so"))))
            }
        }
    }
}

/// The file that `-o` means.
fn target(output: Option<&Path>, name: &str, extension: &str) -> Option<PathBuf> {
    let output = output?;
    let is_directory = output.is_dir() || output.as_os_str().to_string_lossy().ends_with('/');
    Some(if is_directory { output.join(format!("{name}.{extension}")) } else { output.to_path_buf() })
}
