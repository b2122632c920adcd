//! The C preprocessor on P4 source: that of the C compiler, with the bundled architectures.

use crate::failure::Failure;
use crate::files;
use crate::options::Source;
use std::collections::BTreeSet;
use std::fs;
use std::io::Write as _;
use std::path::{Component, Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::OnceLock;

include!(concat!(env!("OUT_DIR"), "/includes.rs"));

/// Tried in this order if the environment has no `CC`.
const COMPILERS: [&str; 3] = ["gcc", "clang", "cc"];

/// Whether a file is one of the architectures that bacus brings, as it is unpacked in the cache.
pub fn is_bundled(file: &Path) -> bool {
    file.to_string_lossy().contains("/include-") && INCLUDES.iter().any(|(name, _)| file.ends_with(name))
}

/// Runs the preprocessor as P4 users expect: no predefined macros, no system headers, line marks and comments kept.
pub fn preprocess(source: &Source) -> Result<String, Failure> {
    // Reported here, in our words: the preprocessor would report it in its own, twice.
    fs::File::open(&source.program).map_err(|error| Failure::unreadable(&source.program, &error))?;
    if source.program.is_dir() {
        return Err(Failure::input(format!("{}: is a directory", source.program.display())));
    }
    let cache = files::cache()?;
    let brought = cache.unpack("include", INCLUDES).map_err(|error| Failure::unwritable(cache.root(), &error))?;
    let text = run(source, &brought, &["-x", "assembler-with-cpp"])?;
    if !has_line_marks(&text) {
        return Ok(text);
    }
    // The language is that of P4's other compilers, in which quotes need no partner. But only in C the preprocessor counts lines from `# 12 "file"`.
    run(source, &brought, &["-x", "c", "-std=gnu99"])
}

/// The same for a text that is to become the program's file: that of an editor. Files that it includes are read from the disk.
pub fn preprocess_text(source: &Source, text: &str) -> Result<String, Failure> {
    let cache = files::cache()?;
    let brought = cache.unpack("include", INCLUDES).map_err(|error| Failure::unwritable(cache.root(), &error))?;
    let (mut command, named) = compiler()?;
    // As a text from standard input, its included files are looked for in the working directory first.
    let absolute = |path: &Path| std::path::absolute(path).unwrap_or_else(|_| path.to_path_buf());
    let include: Vec<PathBuf> = source.include.iter().map(|folder| absolute(folder)).collect();
    let program = absolute(&source.program);
    arguments(&mut command, &Source { include, ..source.clone() }, &brought, &["-x", "assembler-with-cpp"]);
    command.current_dir(program.parent().unwrap_or(Path::new("/"))).arg("-");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let failed = |error| Failure::environment(format!("the C preprocessor `{named} -E` cannot be run: {error}"));
    let mut child = command.spawn().map_err(failed)?;
    let mut input = child.stdin.take();
    let bytes = text.as_bytes();
    let output = std::thread::scope(|scope| {
        // It may end before it has read everything.
        scope.spawn(move || input.take().map(|mut input| input.write_all(bytes)));
        child.wait_with_output()
    });
    let output = output.map_err(failed)?;
    let name = source.program.display().to_string();
    if !output.status.success() {
        return Err(Failure::Input(cpp_errors(&String::from_utf8_lossy(&output.stderr).replace("<stdin>", &name))));
    }
    let beside = program.parent().unwrap_or(Path::new("/"));
    let text = text_of(output.stdout);
    Ok(text.split('\n').map(|line| with_whole_path(line, &name, beside)).collect::<Vec<String>>().join("\n"))
}

/// A line mark with the path of its file from the root, without `..`, so that a file has one name; `program` for standard input.
fn with_whole_path(line: &str, program: &str, beside: &Path) -> String {
    let Some(file) = marked_file(line).filter(|_| line.starts_with('#')) else { return line.to_string() };
    let path = match file {
        "<stdin>" => program.to_string(),
        _ if file.starts_with('<') => return line.to_string(),
        _ => {
            let mut whole = PathBuf::new();
            for part in beside.join(file).components() {
                match part {
                    Component::ParentDir => drop(whole.pop()),
                    Component::CurDir => {}
                    Component::Prefix(_) | Component::RootDir | Component::Normal(_) => whole.push(part),
                }
            }
            whole.display().to_string()
        }
    };
    line.replacen(file, &path, 1)
}

/// Runs the preprocessor for a source language that it knows.
fn run(source: &Source, brought: &Path, language: &[&str]) -> Result<String, Failure> {
    let (mut command, named) = compiler()?;
    arguments(&mut command, source, brought, language);
    let output = command
        .arg(&source.program)
        .output()
        .map_err(|error| Failure::environment(format!("the C preprocessor `{named} -E` cannot be run: {error}")))?;
    if !output.status.success() {
        return Err(Failure::Input(cpp_errors(&String::from_utf8_lossy(&output.stderr))));
    }
    Ok(text_of(output.stdout))
}

fn arguments(command: &mut Command, source: &Source, brought: &Path, language: &[&str]) {
    command.args(["-E", "-C", "-w", "-undef", "-nostdinc"]).args(language);
    // What p4c-bm2-ss defines: what programs do for BMv2 is what they are to do here.
    command.args(["-D__TARGET_BACUS__", "-D__TARGET_BMV2__"]);
    command.args(source.define.iter().map(|define| format!("-D{define}")));
    command.args(source.undefine.iter().map(|undefine| format!("-U{undefine}")));
    let folders = source.include.iter().map(PathBuf::as_path).chain([brought]);
    command.args(folders.flat_map(|directory| [Path::new("-I"), directory]));
    command.env("LC_ALL", "C");
}

/// Whether a file that went into a preprocessed text has line marks of its own.
fn has_line_marks(text: &str) -> bool {
    let files: BTreeSet<&str> = text.lines().filter_map(marked_file).filter(|name| !name.starts_with('<')).collect();
    let lines =
        |file: &&str| fs::read(file).map(text_of).is_ok_and(|text| text.lines().any(|it| marked_file(it).is_some()));
    files.iter().any(lines)
}

/// The file that a line mark names: `f.p4` of `# 12 "f.p4" 2`.
fn marked_file(line: &str) -> Option<&str> {
    let number = line.trim_start().strip_prefix('#')?.trim_start();
    let rest = number.trim_start_matches(|letter: char| letter.is_ascii_digit());
    let (file, _) = rest.trim_start().strip_prefix('"')?.split_once('"')?;
    (rest.len() < number.len()).then_some(file)
}

/// The C compiler that preprocesses, and its name: `$CC`, which may have arguments, else the first that is installed.
fn compiler() -> Result<(Command, String), Failure> {
    let named = std::env::var("CC").unwrap_or_default();
    let mut words = named.split_whitespace();
    if let Some(first) = words.next() {
        let mut command = Command::new(first);
        command.args(words);
        return Ok((command, named.trim().to_string()));
    }
    let is_there =
        |name: &&&str| Command::new(name).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status().is_ok();
    // An editor's server asks with each change.
    static FOUND: OnceLock<&str> = OnceLock::new();
    let found = FOUND.get().copied().or_else(|| COMPILERS.iter().find(is_there).copied());
    if let Some(name) = found {
        let _ = FOUND.set(name);
    }
    match found {
        Some(name) => Ok((Command::new(name), name.to_string())),
        None => Err(Failure::environment(format!(
            "no C compiler to preprocess the program: none of {} can be run\nhint: apt-get install gcc, or name one in the environment variable CC",
            COMPILERS.join(", ")
        ))),
    }
}

/// Comments were written in older character sets, too: what is not UTF-8 is taken for Latin-1, in which any byte is a letter.
fn text_of(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| error.into_bytes().iter().map(|byte| char::from(*byte)).collect())
}

/// The preprocessor's messages in the shape of ours: `file.p4(12): [--Werror=preprocessor] error: ...`.
fn cpp_errors(stderr: &str) -> String {
    let mut text = String::new();
    for line in stderr.lines() {
        let message = ["fatal error: ", "error: "].iter().find_map(|word| line.split_once(word));
        let Some((place, message)) = message else { continue };
        let mut place = place.trim_end_matches([':', ' ']).rsplitn(3, ':');
        let (column, number, file) = (place.next(), place.next(), place.next());
        match (file, number, column) {
            (Some(file), Some(number), Some(_)) => {
                text.push_str(&format!("{file}({number}): [--Werror=preprocessor] error: {message}\n"));
            }
            _ => text.push_str(&format!("error: {message}\n")),
        }
        // As gcc reports it, and as clang does.
        if message.ends_with("No such file or directory") || message.ends_with("' file not found") {
            text.push_str("hint: name the directory of included files with -I\n");
        }
    }
    if text.is_empty() { format!("error: the preprocessor failed\n{stderr}") } else { text }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_marks_name_a_file_behind_a_number() {
        for text in ["# 1 \"a.p4\" 1", "  #  12  \"a.p4\""] {
            assert_eq!(marked_file(text), Some("a.p4"), "{text}");
        }
        for text in ["#include \"a.p4\"", "#line 3 \"a.p4\"", "# \"a.p4\"", "# 12", "x # 12 \"a.p4\""] {
            assert_eq!(marked_file(text), None, "{text}");
        }
    }

    #[test]
    fn a_file_has_one_name_from_the_root() {
        let whole = |line: &str| with_whole_path(line, "/p4/r.p4", Path::new("/p4"));
        assert_eq!(whole("# 1 \"<stdin>\" 2"), "# 1 \"/p4/r.p4\" 2");
        assert_eq!(whole("# 7 \"include/control/../header.p4\" 1"), "# 7 \"/p4/include/header.p4\" 1");
        assert_eq!(whole("# 7 \"/usr/core.p4\" 1"), "# 7 \"/usr/core.p4\" 1");
        assert_eq!(whole("# 0 \"<built-in>\""), "# 0 \"<built-in>\"");
        assert_eq!(whole("x = 1;"), "x = 1;");
    }

    #[test]
    fn messages_of_the_preprocessor_are_in_the_shape_of_ours() {
        let text = cpp_errors("r.p4:3:10: fatal error: x.p4: No such file or directory\ncompilation terminated.\n");
        assert!(text.starts_with("r.p4(3): [--Werror=preprocessor] error: x.p4: No such"), "{text}");
        assert!(text.contains("-I"), "{text}");
        let text = cpp_errors("r.p4:3:10: fatal error: 'x.p4' file not found\n");
        assert!(text.contains("'x.p4' file not found\nhint: name the directory"), "{text}");
    }
}
