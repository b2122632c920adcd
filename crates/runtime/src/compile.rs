//! Compiles generated C with the user's compiler, once for each content.
//!
//! What comes out is kept in the cache under a hash of the C text, the runtime, the compiler's version, the flags and the processor (for
//! `-march=native`), so that a second start of the same program compiles nothing. Where no compiler can be run, what any compiler has made of the same
//! runs: the version is a part of the name of its own.

use crate::cache::{Cache, Hash};
use crate::file_lock::FileLock;
use crate::layer_object::Installed;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Receiver};
use std::time::{Duration, Instant};
use std::{fmt, fs, io};

/// What a packet is to the code that is compiled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Descriptor {
    /// DPDK's `struct rte_mbuf`.
    Mbuf,
    /// The address of its first byte.
    Own,
}

/// Whether the code watches itself for bad accesses and undefined behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Sanitize {
    #[default]
    Off,
    On,
}

/// Whether objects have the line of C that each instruction was made from. Their code is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Symbols {
    #[default]
    None,
    Lines,
}

/// Warnings are errors, but for those that depend on how far a compiler's optimizer sees, about which a user's next gcc may be wrong, for comparisons of
/// which the program fixes the outcome, and for clang's warnings about processors that it takes for newer ones. (A warning that gcc 10 does not know is off:
/// naming it in `-Wno-error=` would be an error.)
/// Without `movbe`: gcc turns registers through the stack for its sake. Without vectors of neighbouring scalars: it packs counters and pointers that are in
/// registers, to unpack them at once (l2l3acl: a sixth of its cycles).
#[rustfmt::skip]
const PIPELINE_FLAGS: [&str; 24] = [
    "-O3", "-march=native", "-mno-movbe", "-fno-tree-slp-vectorize", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror",
    "-Wno-error=array-bounds", "-Wno-error=maybe-uninitialized", "-Wno-error=uninitialized", "-Wno-error=nonnull",
    "-Wno-error=restrict", "-Wno-error=stringop-overflow", "-Wno-stringop-overread", "-Wno-dangling-pointer", "-Wno-use-after-free",
    "-Wno-error=bool-compare", "-Wno-error=bool-operation", "-Wno-error=tautological-compare", "-Wno-error=type-limits",
    "-Wno-unknown-warning-option", "-Wno-invalid-feature-combination",
];

/// With code of the user's: its warnings are its own, but for a call that does not fit its function.
#[rustfmt::skip]
const USER_FLAGS: [&str; 4] = [
    "-Wno-error", "-Werror=incompatible-pointer-types", "-Werror=int-conversion", "-Werror=implicit-function-declaration",
];

/// A C compiler that answers, or what earlier ones have left in the cache.
#[derive(Clone, Debug)]
pub struct Compiler {
    command: String,
    version: Version,
    pub sanitize: Sanitize,
    pub symbols: Symbols,
    /// Bytes of the widest vectors that code may have, where this processor may have wider ones; else it has those of this processor.
    pub vector_bytes: Option<u32>,
    pub user_code: Option<UserCode>,
    pub effort: Effort,
    /// When a compilation is ended early.
    pub limit: Option<Limit>,
}

/// When a compilation is ended, with all processes that it has started, whether there is a result or not.
#[derive(Clone, Debug)]
pub struct Limit {
    pub time: Duration,
    /// Set by another thread that needs no result any more.
    pub is_cancelled: Arc<AtomicBool>,
}

impl Limit {
    pub fn of_time(time: Duration) -> Limit {
        Limit { time, is_cancelled: Arc::default() }
    }
}

/// How much time the C compiler spends on optimizing a pipeline.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Effort {
    #[default]
    Full,
    /// A fourth to a half of the time (fabric 0.9 s of 1.7 s, PINS 0.9 s of 3.5 s); the code is slower.
    Quick,
}

#[derive(Clone, Debug)]
enum Version {
    Of(String),
    /// No compiler can be run: the reason.
    Absent(String),
}

/// C code of the user's that pipelines call. Its own warnings are no errors, and it may use what POSIX and GNU have beyond C11.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct UserCode {
    /// Files to link: `.so`, `.a`, `.o`.
    pub linked: Vec<PathBuf>,
    /// Everything that its sources are made of, so that a change is another object.
    pub fingerprint: String,
}

/// Why there is no pipeline, as sentences for the user.
#[derive(Debug)]
pub enum Failure {
    NoCompiler {
        tried: String,
        reason: String,
    },
    NoDpdk,
    /// The compiler refuses the C text: a defect of this program, not of the user's.
    Rejected {
        command: String,
        c: PathBuf,
        errors: String,
    },
    /// The compiler refuses the C text together with the user's own.
    RejectedUser {
        command: String,
        errors: String,
    },
    Io {
        what: String,
        error: io::Error,
    },
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Failure::NoCompiler { tried, reason } => write!(
                f,
                "no C compiler: {tried} cannot be run ({reason})\nhint: install gcc (apt-get install gcc), or name another one with --cc; \
                 what was compiled before needs none"
            ),
            Failure::NoDpdk => write!(
                f,
                "DPDK's development files are not installed (pkg-config does not know libdpdk)\n\
                 hint: apt-get install libdpdk-dev. Captures, NICs and the models copying and overlaying need them; \
                 interfaces of the kernel (--port 1=eth1) do not"
            ),
            Failure::Rejected { command, c, errors } => write!(
                f,
                "the C compiler refuses the generated code; this is a defect of bacus, please report it\n\
                 command: {command}\ncode: {}\n{errors}",
                c.display()
            ),
            Failure::RejectedUser { command, errors } => {
                write!(f, "the C compiler refuses the code of the program's externs\ncommand: {command}\n{errors}")
            }
            Failure::Io { what, error } => write!(f, "{what}: {error}"),
        }
    }
}

impl std::error::Error for Failure {}

impl Compiler {
    /// The compiler named by the user, else gcc, else clang.
    pub fn find(named: Option<&str>) -> Result<Compiler, Failure> {
        let candidates: &[&str] = match &named {
            Some(command) => &[command],
            None => &["gcc", "clang"],
        };
        let mut reason = String::new();
        for command in candidates {
            match output_within(Command::new(command).arg("--version"), &Limit::of_time(VERSION_LIMIT)) {
                Ok(Output { status, stdout, .. }) if status.success() && stdout.trim_ascii().is_empty() => {
                    reason = format!("`{command} --version` prints nothing, as no C compiler does");
                }
                Ok(Output { status, stdout, .. }) if status.success() => {
                    let version = String::from_utf8_lossy(&stdout).into_owned();
                    return Ok(Compiler::new(command, Version::Of(version)));
                }
                Ok(output) => reason = format!("`{command} --version` ends with {}", output.status),
                Err(error) => reason = error.to_string(),
            }
        }
        Err(Failure::NoCompiler { tried: candidates.join(", "), reason })
    }

    /// The same; if the user has named none and none can be run, what was compiled before.
    pub fn find_or_cached(named: Option<&str>) -> Result<Compiler, Failure> {
        match Compiler::find(named) {
            Err(Failure::NoCompiler { tried, reason }) if named.is_none() => {
                Ok(Compiler::new(&tried, Version::Absent(reason)))
            }
            found => found,
        }
    }

    fn new(command: &str, version: Version) -> Compiler {
        Compiler {
            command: command.to_string(),
            version,
            sanitize: Sanitize::Off,
            symbols: Symbols::None,
            vector_bytes: None,
            user_code: None,
            effort: Effort::Full,
            limit: None,
        }
    }

    pub fn command(&self) -> &str {
        &self.command
    }

    /// The first line of the compiler's version.
    pub fn version(&self) -> &str {
        match &self.version {
            Version::Of(version) => version.lines().next().unwrap_or(""),
            Version::Absent(_) => "none",
        }
    }

    pub(crate) fn is_there(&self) -> bool {
        matches!(self.version, Version::Of(_))
    }

    /// Refuses to go on without a compiler.
    fn check_is_there(&self) -> Result<(), Failure> {
        match &self.version {
            Version::Of(_) => Ok(()),
            Version::Absent(reason) => Err(Failure::NoCompiler { tried: self.command.clone(), reason: reason.clone() }),
        }
    }

    /// Compiles a pipeline's C text to a shared object in the cache.
    pub fn pipeline(&self, cache: &Cache, name: &str, c: &str, descriptor: Descriptor) -> Result<PathBuf, Failure> {
        let (flags, installed) = self.pipeline_flags(descriptor)?;
        self.shared_object(cache, name, &Source::Text(c), &flags, &installed)
    }

    /// Whether [`Compiler::pipeline`] finds its object in the cache.
    pub fn has_pipeline(&self, cache: &Cache, name: &str, c: &str, descriptor: Descriptor) -> Result<bool, Failure> {
        let (flags, installed) = self.pipeline_flags(descriptor)?;
        let runtime = cache.runtime().map_err(io_failure("cannot unpack the runtime"))?;
        let beginning = self.object_name(&runtime, name, &Source::Text(c), &flags);
        let directory = cache.root().join("pipelines");
        Ok(match &self.version {
            Version::Of(version) => directory.join(of_machine(&beginning, version, &installed)).is_file(),
            Version::Absent(_) => newest(&directory, &beginning).is_some(),
        })
    }

    fn pipeline_flags(&self, descriptor: Descriptor) -> Result<(Vec<String>, Installed), Failure> {
        let mut flags: Vec<String> = PIPELINE_FLAGS.map(String::from).into();
        let mut installed = Installed::default();
        match descriptor {
            Descriptor::Own => flags.push(if self.user_code.is_some() { "-std=gnu11" } else { "-std=c11" }.into()),
            // DPDK's headers use `asm` and `typeof`.
            Descriptor::Mbuf => {
                flags.push("-std=gnu11".into());
                installed.headers = self.dpdk()?.headers;
            }
        }
        self.extend_flags(&mut flags);
        Ok((flags, installed))
    }

    fn extend_flags(&self, flags: &mut Vec<String>) {
        flags.extend(self.vector_flag());
        if self.user_code.is_some() {
            flags.extend(USER_FLAGS.map(String::from));
        }
        if self.symbols == Symbols::Lines {
            // The binutils read older debugging formats of every compiler.
            flags.push("-gdwarf-4".to_string());
        }
        if self.effort == Effort::Quick {
            // The last level counts. -O0 takes longer: it leaves more code to write.
            flags.push("-Og".to_string());
        }
        if self.sanitize == Sanitize::On {
            // The last level counts. Checks leave the optimizer little to do and make its passes expensive: gcc takes half the time of -O1, a sixth of -O3.
            let sanitizers =
                "-Og -g1 -fno-omit-frame-pointer -fsanitize=address,undefined -fno-sanitize-recover=undefined";
            flags.extend(sanitizers.split(' ').map(String::from));
        }
    }

    /// Takes wider vectors away from what `-march=native` gives, and gives none: so a width that this processor lacks is no harm. Of AVX-512 everything
    /// rests on its foundation, and all of AVX-512 on AVX2; `runtime/table/vectors.h` decides what tables do then.
    pub(crate) fn vector_flag(&self) -> Option<String> {
        match self.vector_bytes? {
            ..32 => Some("-mno-avx2".to_string()),
            32..64 => Some("-mno-avx512f".to_string()),
            64.. => None,
        }
    }

    /// Compiles the library through which the interpreter calls the user's code.
    pub fn extern_library(&self, cache: &Cache, name: &str, c: &str) -> Result<PathBuf, Failure> {
        let mut flags: Vec<String> =
            ["-O2", "-march=native", "-std=gnu11", "-Wall", "-Wextra"].map(String::from).into();
        self.extend_flags(&mut flags);
        self.shared_object(cache, &format!("{name}-externs"), &Source::Text(c), &flags, &Installed::default())
    }

    /// A file of the user's after the preprocessor: everything that it is made of.
    pub fn preprocess(&self, cache: &Cache, file: &Path) -> Result<String, Failure> {
        self.check_is_there()?;
        let runtime = cache.runtime().map_err(io_failure("cannot unpack the runtime"))?;
        let mut command = Command::new(&self.command);
        command.env_remove("LD_PRELOAD").args(["-E", "-P", "-std=gnu11", "-I"]).arg(&runtime).arg(file);
        let shown = format!("{command:?}").replace('"', "");
        let output = command.output().map_err(io_failure(&shown))?;
        if output.status.success() {
            return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
        }
        let errors = String::from_utf8_lossy(&output.stderr).into_owned();
        Err(Failure::RejectedUser { command: shown, errors })
    }

    /// Compiles a pipeline written by hand, with `flags` of its own; those of mbufs are linked with all of DPDK's libraries.
    pub fn by_hand(
        &self,
        cache: &Cache,
        name: &str,
        file: &Path,
        descriptor: Descriptor,
        flags: &[String],
    ) -> Result<PathBuf, Failure> {
        let mut all: Vec<String> =
            ["-O3", "-march=native", "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Wextra"].map(String::from).into();
        all.extend(self.vector_flag());
        all.extend_from_slice(flags);
        let installed = match descriptor {
            Descriptor::Own => Installed::default(),
            Descriptor::Mbuf => self.dpdk()?,
        };
        self.shared_object(cache, name, &Source::Files(&[file.to_path_buf()]), &all, &installed)
    }

    /// Compiles the kernels of the calibration for this machine, with all vectors that it has: they find out what it is.
    pub fn probe(&self, cache: &Cache) -> Result<PathBuf, Failure> {
        let flags: Vec<String> = ["-O3", "-march=native", "-std=gnu11", "-Wall", "-Wextra"].map(String::from).into();
        let runtime = cache.runtime().map_err(io_failure("cannot unpack the runtime"))?;
        let source = [runtime.join("probe/probe.c")];
        self.shared_object(cache, "bacus_probe", &Source::Files(&source), &flags, &Installed::default())
    }

    /// The runtime libraries that have to be loaded before a sanitised pipeline, for `LD_PRELOAD`.
    pub fn sanitizer_libraries(&self) -> Result<Vec<PathBuf>, Failure> {
        self.check_is_there()?;
        let candidates = [["libasan.so", "libubsan.so"], ["libclang_rt.asan.so", "libclang_rt.ubsan_standalone.so"]];
        let find = |library: &str| -> Result<Option<PathBuf>, Failure> {
            let output = Command::new(&self.command)
                .arg(format!("-print-file-name={library}"))
                .output()
                .map_err(io_failure(&self.command))?;
            let path = PathBuf::from(String::from_utf8_lossy(&output.stdout).trim());
            Ok(fs::canonicalize(path).ok())
        };
        for libraries in candidates {
            let found: Vec<Option<PathBuf>> =
                libraries.iter().map(|library| find(library)).collect::<Result<_, _>>()?;
            if found[0].is_some() {
                return Ok(found.into_iter().flatten().collect());
            }
        }
        let reason = "it has no address sanitizer".to_string();
        Err(Failure::NoCompiler { tried: format!("{} with --sanitize", self.command), reason })
    }

    pub(crate) fn shared_object(
        &self,
        cache: &Cache,
        name: &str,
        source: &Source<'_>,
        flags: &[String],
        installed: &Installed,
    ) -> Result<PathBuf, Failure> {
        let runtime = cache.runtime().map_err(io_failure("cannot unpack the runtime"))?;
        let directory = cache.root().join("pipelines");
        fs::create_dir_all(&directory).map_err(io_failure(&directory.display().to_string()))?;
        let beginning = self.object_name(&runtime, name, source, flags);
        let Version::Of(version) = &self.version else {
            let made = newest(&directory, &beginning);
            return made.map_or_else(|| self.check_is_there().map(|()| PathBuf::new()), Ok);
        };
        let object = directory.join(of_machine(&beginning, version, installed));
        if object.is_file() {
            return Ok(object);
        }
        // Without locks, as some network file systems are, each process compiles for itself.
        let _lock = FileLock::take(&object.with_extension("lock")).ok();
        if object.is_file() {
            return Ok(object);
        }
        let files = match source {
            Source::Files(files) => files.to_vec(),
            Source::Text(text) => {
                let c = object.with_extension("c");
                crate::cache::write_whole(&c, text.as_bytes()).map_err(io_failure(&c.display().to_string()))?;
                vec![c]
            }
        };
        let fresh = cache.fresh(name);
        let mut command = Command::new(&self.command);
        // What is loaded into this process to watch a sanitised pipeline is not for the compiler.
        command.env_remove("LD_PRELOAD");
        command
            .args(flags)
            .args(&installed.headers)
            .args(["-shared", "-fPIC"])
            .arg("-I")
            .arg(&runtime)
            .args(&files)
            .arg("-o")
            .arg(&fresh);
        let user = self.user_code.as_ref().filter(|_| matches!(source, Source::Text(_)));
        command.args(user.iter().flat_map(|code| &code.linked));
        let result = run(command.args(&installed.libraries), &files[0], self.limit.as_ref());
        if result.is_err() {
            drop(fs::remove_file(&fresh));
        }
        result.map_err(|failure| match (failure, user) {
            (Failure::Rejected { command, errors, .. }, Some(_)) => Failure::RejectedUser { command, errors },
            (failure, _) => failure,
        })?;
        if !fresh.is_file() {
            let reason = "it ends as if all were well, and compiles nothing".to_string();
            return Err(Failure::NoCompiler { tried: self.command.clone(), reason });
        }
        fs::rename(&fresh, &object).map_err(io_failure(&object.display().to_string()))?;
        Ok(object)
    }

    /// The beginning of an object's name, before what the machine has.
    fn object_name(&self, runtime: &Path, name: &str, source: &Source<'_>, flags: &[String]) -> String {
        format!("{name}-{}-", self.input_hash(runtime, source, flags).hex())
    }

    /// Everything that an object is made from, but for what the machine has: the version of the compiler, and packages.
    fn input_hash(&self, runtime: &Path, source: &Source<'_>, flags: &[String]) -> Hash {
        let mut hash = Hash::new();
        hash.add(runtime.as_os_str().as_encoded_bytes()).add(processor().as_bytes());
        for flag in flags {
            hash.add(flag.as_bytes());
        }
        match source {
            Source::Text(text) => {
                hash.add(text.as_bytes());
                let fingerprint = self.user_code.as_ref().map_or("", |code| &code.fingerprint);
                hash.add(fingerprint.as_bytes());
            }
            // They lie in directories that are named by what is in them.
            Source::Files(files) => files.iter().for_each(|file| {
                hash.add(file.as_os_str().as_encoded_bytes());
            }),
        }
        hash
    }
}

/// The whole name of an object.
fn of_machine(beginning: &str, version: &str, installed: &Installed) -> String {
    let mut hash = Hash::new();
    hash.add(version.as_bytes());
    for flag in installed.headers.iter().chain(&installed.libraries) {
        hash.add(flag.as_bytes());
    }
    format!("{beginning}{}.so", &hash.hex()[..16])
}

/// The newest object of a directory whose name begins so.
fn newest(directory: &Path, beginning: &str) -> Option<PathBuf> {
    let is_meant = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with(beginning) && name.ends_with(".so")
    };
    let objects = fs::read_dir(directory).ok()?.flatten().map(|entry| entry.path()).filter(is_meant);
    objects.max_by_key(|path| fs::metadata(path).and_then(|of| of.modified()).ok())
}

pub(crate) enum Source<'a> {
    Text(&'a str),
    Files(&'a [PathBuf]),
}

fn run(command: &mut Command, c: &Path, limit: Option<&Limit>) -> Result<(), Failure> {
    let shown = format!("{command:?}").replace('"', "");
    let output = match limit {
        Some(limit) => output_within(command, limit),
        None => command.output(),
    };
    let output = output.map_err(io_failure(&shown))?;
    if output.status.success() {
        return Ok(());
    }
    let errors = String::from_utf8_lossy(&output.stderr);
    let errors = errors.lines().take(20).collect::<Vec<_>>().join("\n");
    match output.status.signal() {
        Some(signal) => Err(Failure::NoCompiler { tried: shown, reason: format!("it was killed by signal {signal}") }),
        None => Err(Failure::Rejected { command: shown, c: c.to_path_buf(), errors }),
    }
}

/// A compiler that does not give its version in this time hangs.
const VERSION_LIMIT: Duration = Duration::from_secs(10);

/// The output of a command that ends within the limit. Else it is killed, with the processes that it has started.
fn output_within(command: &mut Command, limit: &Limit) -> io::Result<Output> {
    /// Between two looks.
    const LOOK: Duration = Duration::from_millis(10);
    /// For the last of the text of a command that has ended.
    const LEFT_BEHIND: Duration = Duration::from_secs(1);
    let start = Instant::now();
    let mut child =
        command.process_group(0).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let texts = (read(child.stdout.take()), read(child.stderr.take()));
    loop {
        if let Some(status) = child.try_wait()? {
            // A process that it leaves behind may keep the pipes open.
            let text = |from: Receiver<Vec<u8>>| from.recv_timeout(LEFT_BEHIND).unwrap_or_default();
            return Ok(Output { status, stdout: text(texts.0), stderr: text(texts.1) });
        }
        let is_cancelled = limit.is_cancelled.load(Ordering::Relaxed);
        if is_cancelled || start.elapsed() >= limit.time {
            let group = format!("kill -KILL -{}", child.id());
            drop(Command::new("sh").args(["-c", &group]).stderr(Stdio::null()).status());
            drop(child.kill());
            child.wait()?;
            if is_cancelled {
                return Err(io::Error::new(io::ErrorKind::Interrupted, "it was cancelled"));
            }
            let why = format!("it has not ended within {:?}, and was killed", limit.time);
            return Err(io::Error::new(io::ErrorKind::TimedOut, why));
        }
        std::thread::sleep(LOOK);
    }
}

/// What comes out of a pipe, when it is closed.
fn read(pipe: Option<impl io::Read + Send + 'static>) -> Receiver<Vec<u8>> {
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || {
        let mut text = Vec::new();
        pipe.map(|mut pipe| pipe.read_to_end(&mut text));
        drop(sender.send(text));
    });
    receiver
}

/// What `-march=native` depends on.
fn processor() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let lines = text.lines().take_while(|line| !line.is_empty());
    lines.filter(|line| line.starts_with("model") || line.starts_with("flags")).collect()
}

pub(crate) fn io_failure(what: &str) -> impl Fn(io::Error) -> Failure + use<> {
    let what = what.to_string();
    move |error| Failure::Io { what: what.clone(), error }
}

#[cfg(test)]
mod tests;
