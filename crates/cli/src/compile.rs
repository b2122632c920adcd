//! `bacus compile`: a program to native code in a shared object, or to the C it is made of.

use crate::describe;
use crate::entries::Origin;
use crate::externs::{self, Externs};
use crate::failure::Failure;
use crate::frontend::{self, Described, Loaded};
use crate::inputs;
use crate::options::{DescriptorKind, Native, Passes, Source};
use crate::say::print;
use clap::{Args, ValueEnum};
use hlir::{Plan, Program};
use indicatif::{ProgressBar, ProgressStyle};
use runtime::{Cache, Compiler, Pipeline, Sanitize};
use std::fs;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

pub const EXAMPLES: &str = "\
Examples:
  bacus compile router.p4                        writes router.so here
  bacus compile router.p4 -o out/                writes out/router.so
  bacus compile router.p4 --emit c | less        the C that it is made of
  bacus compile router.p4 --cc clang-19 --plan whole.plan
  bacus compile router.p4 --pin part.plan        these decisions stand, the others are planned
  bacus compile router.p4 --p4runtime-files router.p4info.txtpb
                                                 only what a P4Runtime controller reads

The object is for this machine (-march=native) and this version of bacus. With --machine FILE of a machine
whose vectors are narrower, it has no wider ones; with a file of wider ones it has those of this machine.";

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Emit {
    /// A shared object
    So,
    /// C, on standard output or to the file of -o
    C,
}

#[derive(Args)]
pub struct Arguments {
    #[command(flatten)]
    source: Source,
    /// Write here: a file, or a directory (with `/` at its end, or one that exists)
    #[arg(short, long, value_name = "PATH")]
    output: Option<PathBuf>,
    /// What to write [default: so]
    #[arg(long, value_enum)]
    emit: Option<Emit>,
    /// Write P4Info to these files: .txtpb, .json or .bin; without -o and --emit nothing else is written
    #[arg(long, value_name = "FILES", value_delimiter = ',')]
    p4runtime_files: Vec<PathBuf>,
    /// Write the entries of the program's own tables, as a P4Runtime WriteRequest, to these files
    #[arg(long, value_name = "FILES", value_delimiter = ',')]
    p4runtime_entries_files: Vec<PathBuf>,
    /// What a packet is to the code [default: mbuf, or what the plan says]
    #[arg(long, value_enum)]
    descriptor: Option<DescriptorKind>,
    /// What the tables will hold: it decides their data structures; repeatable
    #[arg(long, value_name = "FILE|gen:TABLE:COUNT:SEED")]
    entries: Vec<Origin>,
    #[command(flatten)]
    passes: Passes,
    #[command(flatten)]
    native: Native,
}

pub fn run(arguments: &Arguments) -> Result<(), Failure> {
    arguments.native.check()?;
    let described = describe::Files::of(&arguments.p4runtime_files, &arguments.p4runtime_entries_files)?;
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
    let externs = externs::find(&loaded.program, &arguments.native)?;
    let mut passes = arguments.passes.clone();
    passes.entries.clone_from(&arguments.entries);
    passes.ports.own_descriptor = arguments.descriptor == Some(DescriptorKind::Own);
    passes.descriptor = arguments.descriptor.map(DescriptorKind::plan);
    let (program, mut plan) = frontend::optimize(loaded, &passes, None)?;
    if let Some(descriptor) = arguments.descriptor {
        plan.descriptor = descriptor.plan();
    }
    let c = emit(&program, &plan, &externs)?;
    match arguments.emit.unwrap_or(Emit::So) {
        Emit::C => match target(arguments.output.as_deref(), &program.name, "c") {
            Some(path) => write(&path, c.as_bytes()),
            None => print(&c),
        },
        Emit::So => {
            let native = inputs::native_for(passes.machine.as_deref(), &arguments.native);
            let object = object(&program.name, &c, plan.descriptor, (&native, &externs))?;
            let bytes = fs::read(&object).map_err(|error| Failure::unreadable(&object, &error))?;
            let path = target(arguments.output.as_deref(), &program.name, "so");
            write(&path.unwrap_or_else(|| PathBuf::from(format!("{}.so", program.name))), &bytes)
        }
    }
}

/// The file that `-o` means.
fn target(output: Option<&Path>, name: &str, extension: &str) -> Option<PathBuf> {
    let output = output?;
    let is_directory = output.is_dir() || output.as_os_str().to_string_lossy().ends_with('/');
    Some(if is_directory { output.join(format!("{name}.{extension}")) } else { output.to_path_buf() })
}

pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.map_or(Ok(()), fs::create_dir_all).map_err(|error| Failure::unwritable(path, &error))?;
    runtime::cache::write_whole(path, bytes).map_err(|error| Failure::unwritable(path, &error))
}

/// The C text of a program under a plan.
pub fn emit(program: &Program, plan: &Plan, externs: &Externs) -> Result<String, Failure> {
    let wrong = hlir::verify::verify_plan(program, plan);
    let map = hlir::source::SourceMap::new(&program.name, "");
    if wrong.iter().any(hlir::diagnostic::Diagnostic::is_error) {
        return Err(Failure::diagnostics(&wrong, &map));
    }
    emit::emit_with(program, plan, &externs.code).map_err(|diagnostics| Failure::diagnostics(&diagnostics, &map))
}

pub fn object(
    name: &str,
    c: &str,
    descriptor: hlir::plan::Descriptor,
    (native, externs): (&Native, &Externs),
) -> Result<PathBuf, Failure> {
    let cache = cache()?;
    let mut compiler = compiler(native)?;
    if native.sanitize {
        compiler.sanitize = Sanitize::On;
    }
    compiler.symbols = native.symbols;
    compiler.user_code.clone_from(&externs.user);
    let descriptor = match descriptor {
        hlir::plan::Descriptor::Own => runtime::Descriptor::Own,
        hlir::plan::Descriptor::Mbuf => runtime::Descriptor::Mbuf,
    };
    let bar = progress(format!("compiling {name} with {}", compiler.command()));
    let object = compiler.pipeline(&cache, name, c, descriptor);
    bar.finish_and_clear();
    object.map_err(externs::user_failure)
}

/// The compiler of everything that packets go through.
pub fn compiler(native: &Native) -> Result<Compiler, Failure> {
    let mut compiler = Compiler::find(native.cc.as_deref())?;
    compiler.vector_bytes = native.vector_bytes;
    Ok(compiler)
}

pub fn cache() -> Result<Cache, Failure> {
    Cache::open().map_err(|error| Failure::environment(format!("the cache cannot be used: {error}")))
}

/// Something that takes a while, and of which one cannot say how long.
pub fn progress(text: String) -> ProgressBar {
    let style = ProgressStyle::with_template("{spinner} {msg} ({elapsed})").expect("the template is well formed");
    let bar = ProgressBar::new_spinner().with_style(style).with_message(text);
    bar.enable_steady_tick(Duration::from_millis(100));
    bar
}

/// A program compiled and loaded, with the program as it was compiled.
pub fn pipeline(
    loaded: Loaded,
    passes: &Passes,
    native: &Native,
    adjust: impl FnOnce(&mut Plan),
) -> Result<(Arc<Pipeline>, Program), Failure> {
    if native.sanitize {
        preload_sanitizer(native)?;
    }
    let externs = externs::find(&loaded.program, native)?;
    let (program, mut plan) = frontend::optimize(loaded, passes, None)?;
    adjust(&mut plan);
    let c = emit(&program, &plan, &externs)?;
    let native = inputs::native_for(passes.machine.as_deref(), native);
    let object = object(&program.name, &c, plan.descriptor, (&native, &externs))?;
    Ok((Arc::new(Pipeline::load(&object)?), program))
}

/// A sanitised object needs its library loaded before everything else: this process is replaced by one that does so.
fn preload_sanitizer(native: &Native) -> Result<(), Failure> {
    const MARK: &str = "BACUS_SANITIZED";
    if std::env::var_os(MARK).is_some() {
        return Ok(());
    }
    let libraries = Compiler::find(native.cc.as_deref())?.sanitizer_libraries()?;
    let libraries: Vec<String> = libraries.iter().map(|path| path.display().to_string()).collect();
    let own =
        std::env::current_exe().map_err(|error| Failure::environment(format!("this program's own file: {error}")))?;
    let error = Command::new(own)
        .args(std::env::args_os().skip(1))
        .env("LD_PRELOAD", libraries.join(":"))
        .env("ASAN_OPTIONS", "detect_leaks=0:abort_on_error=0")
        .env("UBSAN_OPTIONS", "print_stacktrace=1")
        .env(MARK, "1")
        .exec();
    Err(Failure::environment(format!("cannot start again with the sanitizer: {error}")))
}
