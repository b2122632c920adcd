//! From a program and its plan to native code: C, a shared object, a loaded pipeline.

use crate::externs::{self, Externs};
use crate::failure::Failure;
use crate::files;
use crate::frontend::{self, Loaded};
use crate::inputs;
use crate::options::{Native, Passes};
use hlir::{Plan, Program};
use indicatif::{ProgressBar, ProgressStyle};
use runtime::{Compiler, Effort, Pipeline, Sanitize};
use std::os::unix::process::CommandExt as _;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

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
    of: hlir::plan::Descriptor,
    (native, externs): (&Native, &Externs),
) -> Result<PathBuf, Failure> {
    let compiler = configured(native, externs)?;
    let bar = progress(format!("compiling {name} with {}", compiler.command()));
    let object = object_of(&compiler, name, c, of);
    bar.finish_and_clear();
    object
}

fn object_of(compiler: &Compiler, name: &str, c: &str, of: hlir::plan::Descriptor) -> Result<PathBuf, Failure> {
    compiler.pipeline(&files::cache()?, name, c, descriptor(of)).map_err(externs::user_failure)
}

fn descriptor(of: hlir::plan::Descriptor) -> runtime::Descriptor {
    match of {
        hlir::plan::Descriptor::Own => runtime::Descriptor::Own,
        hlir::plan::Descriptor::Mbuf => runtime::Descriptor::Mbuf,
    }
}

/// The compiler for a program that calls the user's code.
fn configured(native: &Native, externs: &Externs) -> Result<Compiler, Failure> {
    let mut compiler = compiler(native)?;
    if native.sanitize {
        compiler.sanitize = Sanitize::On;
    }
    compiler.symbols = native.symbols;
    compiler.effort = native.effort;
    compiler.user_code.clone_from(&externs.user);
    Ok(compiler)
}

/// The compiler of everything that packets go through. Where there is none, what was compiled before.
pub fn compiler(native: &Native) -> Result<Compiler, Failure> {
    let mut compiler = Compiler::find_or_cached(native.cc.as_deref())?;
    compiler.vector_bytes = native.vector_bytes;
    compiler.limit.clone_from(&native.limit);
    Ok(compiler)
}

/// Something that takes a while, and of unknown duration.
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
    let code = code(loaded, passes, native, adjust)?;
    Ok((code.pipeline()?, code.program))
}

/// A program as C, before the C compiler has it.
pub struct Code {
    /// As it is compiled.
    pub program: Program,
    c: String,
    descriptor: hlir::plan::Descriptor,
    native: Native,
    externs: Externs,
}

/// Lines of C from which gcc takes about a second: 0.8 to 1 ms a line, measured with `basic` (314 lines), fabric (2,140) and PINS (3,390).
const LINES_OF_A_SECOND: usize = 1000;

impl Code {
    /// Compiled by the C compiler, or found in the cache.
    ///
    /// # Errors
    /// There is no C compiler, or it refuses the text.
    pub fn pipeline(&self) -> Result<Arc<Pipeline>, Failure> {
        self.with(&self.native)
    }

    /// The same beside a switch that runs, whose lines a progress bar would be among.
    ///
    /// # Errors
    /// Those of [`Code::pipeline`].
    pub fn pipeline_without_progress(&self) -> Result<Arc<Pipeline>, Failure> {
        let compiler = configured(&self.native, &self.externs)?;
        let object = object_of(&compiler, &self.program.name, &self.c, self.descriptor)?;
        Ok(Arc::new(Pipeline::load(&object)?))
    }

    /// The same code, compiled sooner than [`Code::pipeline`], which is to follow it; none where this is not worth while.
    ///
    /// # Errors
    /// Those of [`Code::pipeline`].
    pub fn quick_pipeline(&self) -> Result<Option<Arc<Pipeline>>, Failure> {
        if self.c.lines().count() < LINES_OF_A_SECOND || self.native.sanitize {
            return Ok(None);
        }
        let full = configured(&self.native, &self.externs)?;
        let is_there = full.has_pipeline(&files::cache()?, &self.program.name, &self.c, descriptor(self.descriptor));
        match is_there.map_err(externs::user_failure)? {
            true => Ok(None),
            false => self.with(&Native { effort: Effort::Quick, ..self.native.clone() }).map(Some),
        }
    }

    fn with(&self, native: &Native) -> Result<Arc<Pipeline>, Failure> {
        let object = object(&self.program.name, &self.c, self.descriptor, (native, &self.externs))?;
        Ok(Arc::new(Pipeline::load(&object)?))
    }
}

/// A program as C.
///
/// # Errors
/// Mistakes in the plan or the user's code.
pub fn code(loaded: Loaded, passes: &Passes, native: &Native, adjust: impl FnOnce(&mut Plan)) -> Result<Code, Failure> {
    if native.sanitize {
        preload_sanitizer(native)?;
    }
    let externs = externs::find(&loaded.program, native)?;
    let (program, mut plan) = frontend::optimize(loaded, passes, None)?;
    adjust(&mut plan);
    let c = emit(&program, &plan, &externs)?;
    let native = inputs::native_for(passes.machine.as_deref(), native);
    Ok(Code { program, c, descriptor: plan.descriptor, native, externs })
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
