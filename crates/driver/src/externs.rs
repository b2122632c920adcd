//! `--extern`: the user's C code for the externs that no architecture defines. docs/externs.md is its manual.
//!
//! Sources and headers are included in what is compiled, objects and libraries are linked with it. What a program calls and no file has is reported before
//! anything is compiled, at the place where the program declares it.

use crate::failure::Failure;
use crate::files;
use crate::options::Native;
use emit::CustomCode;
use hlir::diagnostic::Diagnostic;
use hlir::externs::{Function, functions, objects};
use hlir::source::{SourceMap, Span};
use hlir::{ExternId, Origin, Program};
use runtime::{Cache, Compiler, ExternLibrary, UserCode};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

/// The code that a program needs, found.
#[derive(Clone, Debug, Default)]
pub struct Externs {
    pub code: CustomCode,
    /// Nothing where the program calls no code of the user's.
    pub user: Option<UserCode>,
}

/// Finds every C function that the program calls; `native` names the files.
pub fn find(program: &Program, native: &Native) -> Result<Externs, Failure> {
    let given = native.extern_files()?;
    let needed = needed(program);
    if needed.is_empty() {
        report_unused(native);
        return Ok(Externs::default());
    }
    let mut externs = Externs { user: Some(UserCode::default()), ..Externs::default() };
    let mut text = String::new();
    let (mut linked, mut places): (Vec<Vec<u8>>, String) = Default::default();
    for file in &given {
        let path = fs::canonicalize(file).map_err(|error| Failure::unreadable(file, &error))?;
        if is_source(&path) {
            let compiler = Compiler::find_or_cached(native.cc.as_deref())?;
            text.push_str(&compiler.preprocess(&files::cache()?, &path).map_err(user_failure)?);
            externs.code.includes.push(path.display().to_string());
        } else {
            linked.push(fs::read(&path).map_err(|error| Failure::unreadable(file, &error))?);
            // A pipeline that is cached names its libraries by their paths.
            places.push_str(&format!("{}\n", path.display()));
            externs.user.iter_mut().for_each(|user| user.linked.push(path.clone()));
        }
    }
    let mut missing = Vec::new();
    for function in &needed {
        if has_word(text.as_bytes(), &function.name) {
            continue;
        }
        if linked.iter().any(|file| has_word(file, &function.name)) {
            externs.code.linked.insert(function.name.clone());
        } else {
            missing.push(function);
        }
    }
    if !missing.is_empty() {
        let messages = missing.into_iter().map(|function| function.message(program)).collect();
        return Err(Failure::Input(messages));
    }
    let fingerprint = linked.iter().fold(text + &places, |text, file| format!("{text}\n{}", fingerprint(file)));
    externs.user.iter_mut().for_each(|user| user.fingerprint.clone_from(&fingerprint));
    Ok(externs)
}

/// Reports once which files no program calls.
fn report_unused(native: &Native) {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    if !native.externs.is_empty() && !REPORTED.swap(true, Ordering::Relaxed) {
        let files: Vec<String> = native.externs.iter().map(|file| file.display().to_string()).collect();
        eprintln!("warning: --extern {}: the program calls no functions in C", files.join(", "));
    }
}

/// A function that has to be there.
struct Needed {
    name: String,
    prototype: String,
    declared: ExternId,
    /// How it is called elsewhere, if that is another way.
    other: Option<String>,
}

fn needed(program: &Program) -> Vec<Needed> {
    let mut needed: Vec<Needed> = Vec::new();
    let mut add = |name: String, prototype: String, declared: ExternId| match needed
        .iter_mut()
        .find(|known| known.name == name)
    {
        Some(known) if known.prototype != prototype => known.other = Some(prototype),
        Some(_) => {}
        None => needed.push(Needed { name, prototype, declared, other: None }),
    };
    for id in objects(program) {
        let prototypes = emit::object_prototypes(program, id).into_iter();
        prototypes.for_each(|(name, prototype)| add(name, prototype, id));
    }
    let calls: Vec<Function> = functions(program);
    calls.iter().for_each(|function| add(function.name.clone(), function.prototype(), function.declared));
    needed
}

impl Needed {
    /// What is wrong with it, at the place where the program declares it.
    fn message(&self, program: &Program) -> String {
        let notes = &program.externs[self.declared].notes;
        let (map, span) = notes.origin.as_ref().map_or_else(nowhere, located);
        let name = &self.name;
        let diagnostic = match &self.other {
            None => Diagnostic::error(format!("the program calls `{name}`, a function in C that no file has"))
                .label(span, "its code is not P4's")
                .hint(format!("write it in C, and name the file with --extern FILE.c:\n      {};", self.prototype)),
            Some(other) => Diagnostic::error(format!("the program calls `{name}`, a function in C, in two ways"))
                .label(span, "of this extern")
                .hint(format!("give the two different names:\n      {};\n      {other};", self.prototype)),
        };
        diagnostic.kind("extern").render(&map)
    }
}

fn nowhere() -> (SourceMap, Span) {
    (SourceMap::new("", ""), Span::NONE)
}

/// The file that an origin names, with the place in it.
fn located(origin: &Origin) -> (SourceMap, Span) {
    let Ok(text) = fs::read_to_string(&origin.file) else { return nowhere() };
    let starts = std::iter::once(0).chain(text.match_indices('\n').map(|(at, _)| at + 1));
    let starts: Vec<usize> = starts.collect();
    let place = |line: u32, column: u32| {
        let start = starts.get(line.saturating_sub(1) as usize).copied().unwrap_or(text.len());
        (start + column.saturating_sub(1) as usize).min(text.len()) as u32
    };
    let span = Span::new(place(origin.line, origin.column), place(origin.end_line, origin.end_column));
    (SourceMap::new(&origin.file, &text), span)
}

fn is_source(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "c" || extension == "h")
}

/// Whether a name is in a text or an object file, not as a part of another.
fn has_word(text: &[u8], word: &str) -> bool {
    let is_part = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let mut from = 0;
    while let Some(at) = text[from..].windows(word.len()).position(|window| window == word.as_bytes()) {
        let (start, end) = (from + at, from + at + word.len());
        if !is_part(start.checked_sub(1).and_then(|before| text.get(before))) && !is_part(text.get(end)) {
            return true;
        }
        from = start + 1;
    }
    false
}

fn fingerprint(bytes: &[u8]) -> String {
    let mut hash = runtime::cache::Hash::new();
    hash.add(bytes);
    hash.hex()
}

/// The user's own code is wrong, not the machine.
pub fn user_failure(failure: runtime::compile::Failure) -> Failure {
    match failure {
        runtime::compile::Failure::RejectedUser { .. } => Failure::input(failure),
        runtime::compile::Failure::NoCompiler { .. }
        | runtime::compile::Failure::NoDpdk
        | runtime::compile::Failure::Rejected { .. }
        | runtime::compile::Failure::Io { .. } => failure.into(),
    }
}

/// The same code for the interpreter; nothing where the program calls none.
pub struct ForInterpreter {
    library: Option<PathBuf>,
}

struct Bound(ExternLibrary);

impl interp::externs::Externs for Bound {
    fn reset(&mut self) -> Result<(), String> {
        self.0.reset()
    }

    fn call(
        &mut self,
        function: &str,
        object: Option<usize>,
        payload: Option<&mut Vec<u8>>,
        limbs: &mut [u64],
    ) -> bool {
        self.0.call(function, object, payload, limbs)
    }
}

impl ForInterpreter {
    pub fn compile(program: &Program, native: &Native) -> Result<ForInterpreter, Failure> {
        let externs = find(program, native)?;
        let Some(user) = externs.user else { return Ok(ForInterpreter { library: None }) };
        let mut compiler = Compiler::find_or_cached(native.cc.as_deref())?;
        compiler.user_code = Some(user);
        let cache: Cache = files::cache()?;
        let c = emit::extern_library(program, &externs.code);
        let library = compiler.extern_library(&cache, &program.name, &c).map_err(user_failure)?;
        // What cannot be loaded is reported here, before a packet comes.
        ExternLibrary::load(&library)?;
        Ok(ForInterpreter { library: Some(library) })
    }

    /// Functions and objects for one more interpreter.
    pub fn bind(&self) -> Option<Box<dyn interp::externs::Externs>> {
        let library = ExternLibrary::load(self.library.as_deref()?).ok()?;
        Some(Box::new(Bound(library)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_whole() {
        assert!(has_word(b"uint64_t fold(uint64_t x)", "fold"));
        assert!(has_word(b"\0fold\0", "fold"));
        assert!(!has_word(b"unfold(x) folder fold_2", "fold"));
    }
}
