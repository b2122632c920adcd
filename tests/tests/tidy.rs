//! Rules that a compiler does not check: dependencies of crates, lengths of files, and words that files do not have.
//!
//! All violations are reported in one run, each with file and line.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use tests::modules::circles;
use tests::project;

const LONGEST_FILE: usize = 600;
const LONGEST_LINE: usize = 160;

/// The crates of the project that each crate may use (ARCHITECTURE.md, "Dependencies").
const MAY_USE: [(&str, &[&str]); 25] = [
    ("hlir", &[]),
    ("persist", &[]),
    ("runtime", &[]),
    ("gnmi", &[]),
    ("p4", &["hlir"]),
    ("bmv2", &["hlir"]),
    ("interp", &["hlir", "control"]),
    ("stf", &["hlir", "control"]),
    ("equivalence", &["hlir", "control", "interp", "stf"]),
    ("schedule", &["hlir"]),
    ("opt", &["hlir", "schedule"]),
    ("emit", &["hlir", "schedule"]),
    ("control", &["hlir"]),
    ("p4runtime", &["hlir", "control"]),
    ("bm_runtime", &["hlir", "control", "p4runtime", "stf"]),
    ("runtime_cli", &["hlir", "bm_runtime", "stf"]),
    ("ctl", &["hlir", "control", "p4runtime", "stf"]),
    ("oracle", &["hlir", "p4", "interp", "stf", "control", "schedule"]),
    ("native", &["hlir", "runtime", "control"]),
    ("driver", &["hlir", "runtime", "p4", "bmv2", "interp", "stf", "opt", "schedule", "emit", "control", "native"]),
    ("lsp", &["hlir", "p4", "driver"]),
    ("measure", &["hlir", "runtime", "interp", "opt", "emit", "control", "native", "driver"]),
    (
        "bench",
        &[
            "hlir",
            "runtime",
            "interp",
            "stf",
            "equivalence",
            "opt",
            "schedule",
            "control",
            "native",
            "driver",
            "measure",
        ],
    ),
    (
        "cli",
        &[
            "bm_runtime",
            "runtime_cli",
            "bmv2",
            "ctl",
            "p4runtime",
            "persist",
            "gnmi",
            "hlir",
            "lsp",
            "p4",
            "runtime",
            "interp",
            "stf",
            "equivalence",
            "opt",
            "schedule",
            "control",
            "native",
            "driver",
            "measure",
            "bench",
        ],
    ),
    (
        "tests",
        &["hlir", "runtime", "p4", "bmv2", "interp", "stf", "equivalence", "opt", "schedule", "emit", "control", "cli"],
    ),
];

/// What the tests of a crate may use beside.
const TESTS_MAY_USE: [(&str, &str); 11] = [
    ("stf", "interp"),
    ("native", "driver"),
    ("native", "interp"),
    ("p4runtime", "p4"),
    ("p4runtime", "interp"),
    ("bm_runtime", "p4"),
    ("bm_runtime", "interp"),
    ("runtime_cli", "control"),
    ("runtime_cli", "interp"),
    ("runtime_cli", "p4"),
    ("runtime_cli", "p4runtime"),
];

/// Files of a crate that may use each other in a circle, at most.
const LARGEST_CIRCLE: usize = 3;

/// The larger circles: the crate, one file of the circle, how many files it may have, and why it is one.
const KNOWN_CIRCLES: [(&str, &str, usize, &str); 13] = [
    ("bench", "experiment", 12, "applications name their experiments, and experiments name applications"),
    ("cli", "control_bench", 6, "each measure uses the switch that the module starts"),
    ("cli", "run", 6, "each part of a run uses its options and ports"),
    ("control", "join", 4, "sources, layout and places of a joint table refer to the table"),
    ("control", "message", 8, "messages are built from P4Info, and P4Info is a message"),
    ("driver", "entries", 5, "each form of an entry file gives the entries that the module defines"),
    ("emit", "body", 16, "the statements, expressions, calls and headers of a node write each other's C"),
    ("measure", "calibrate::stages", 4, "calibration by stages, by ports and by vectors use each other's samples"),
    ("opt", "model", 6, "a stage is rated by its lookups' stalls along the path, and stalls by the stages around them"),
    ("oracle", "evaluate::statement", 17, "statements, calls and externs evaluate each other"),
    ("oracle", "generate", 7, "each form draws other forms inside"),
    ("p4", "check::checker", 6, "types, bindings and limits are found together"),
    ("p4", "lower", 18, "statements, calls, controls and parsers lower each other"),
];

/// The folders of `runtime/` whose headers the files of each folder may include, besides those of `runtime/` itself.
const MAY_INCLUDE: [(&str, &[&str]); 5] = [
    ("table", &["table"]),
    ("packet", &["packet", "table"]),
    ("extern", &["extern"]),
    ("port", &["port", "packet"]),
    ("probe", &["probe"]),
];

/// Words of pages and comments that are no terms of the field, each with what to write instead (docs/contributing.md, "Rules").
const NOT_IN_PAGES: [(&str, &str); 17] = [
    ("cell", "element, counter index"),
    ("cells", "elements, counter indices"),
    ("dear", "expensive"),
    ("dearer", "more expensive"),
    ("guessed wrong", "mispredicted"),
    ("in its turn", "in order, in the commit phase"),
    ("leavers", "side exits"),
    ("nobody", "the thing that the sentence is about"),
    ("on their way", "outstanding"),
    ("patience", "timeout"),
    ("says", "states, reports, defines"),
    ("somebody", "the thing that the sentence is about"),
    ("stands", "is, is stored, is defined"),
    ("stations", "hosts"),
    ("tells", "reports, shows, distinguishes"),
    ("told", "reported, notified"),
    ("whoever", "the thing that the sentence is about"),
];

/// Files that git tracks, or would.
fn files() -> Vec<PathBuf> {
    let listed = Command::new("git")
        .args(["ls-files", "--cached", "--others", "--exclude-standard"])
        .current_dir(project())
        .output()
        .expect("git lists the project's files");
    assert!(listed.status.success(), "git ls-files failed: {}", String::from_utf8_lossy(&listed.stderr));
    let listed = String::from_utf8(listed.stdout).expect("file names are UTF-8");
    let files: Vec<PathBuf> = listed.lines().map(PathBuf::from).filter(|file| project().join(file).exists()).collect();
    assert!(files.len() > 20, "only {} files: this is not the project", files.len());
    files
}

fn has_ending(file: &Path, endings: &[&str]) -> bool {
    file.extension().and_then(|ending| ending.to_str()).is_some_and(|ending| endings.contains(&ending))
}

fn read(file: &Path) -> String {
    fs::read_to_string(project().join(file)).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

fn assert_none(violations: &[String]) {
    assert!(violations.is_empty(), "\n{}", violations.join("\n"));
}

#[test]
fn source_files_are_short_enough_to_read() {
    let mut violations = Vec::new();
    for file in files().iter().filter(|file| has_ending(file, &["rs", "c", "h", "py", "sh", "p4"])) {
        let text = read(file);
        let lines = text.lines().count();
        if lines > LONGEST_FILE {
            violations.push(format!("{}: {lines} lines, {LONGEST_FILE} allowed: split it by idea", file.display()));
        }
        // What a test expects is as wide as what is shown.
        if file.components().any(|part| part.as_os_str() == "tests") {
            continue;
        }
        for (number, line) in text.lines().enumerate().filter(|(_, line)| line.chars().count() > LONGEST_LINE) {
            let width = line.chars().count();
            violations.push(format!("{}:{}: {width} characters, {LONGEST_LINE} allowed", file.display(), number + 1));
        }
    }
    assert_none(&violations);
}

/// `scripts/test` leaves out documentation tests: with none to run, they would still read every crate.
#[test]
fn documentation_has_no_tests() {
    let mut violations = Vec::new();
    for file in files().iter().filter(|file| has_ending(file, &["rs"])) {
        let mut in_block = false;
        for (number, line) in read(file).lines().enumerate() {
            let line = line.trim_start();
            let Some(comment) = line.strip_prefix("///").or_else(|| line.strip_prefix("//!")) else { continue };
            let Some(language) = comment.trim_start().strip_prefix("```") else { continue };
            if !in_block && language != "text" {
                violations.push(format!("{}:{}: write ```text, or a test", file.display(), number + 1));
            }
            in_block = !in_block;
        }
    }
    assert_none(&violations);
}

#[test]
fn text_files_are_clean() {
    // Built from pieces, so that this file does not find itself.
    let left_over =
        [["TO", "DO"], ["FIX", "ME"], ["XX", "X"], ["to", "do!("], ["unimple", "mented!("]].map(|word| word.concat());
    let mut violations = Vec::new();
    for file in files().iter().filter(|file| has_ending(file, &["rs", "c", "h", "py", "sh", "p4", "md", "toml", "yml"]))
    {
        let text = read(file);
        for (number, line) in text.lines().enumerate() {
            let place = format!("{}:{}", file.display(), number + 1);
            if line.ends_with([' ', '\t', '\r']) {
                violations.push(format!("{place}: white space at the end of the line"));
            }
            for word in left_over.iter().filter(|word| line.contains(word.as_str())) {
                violations.push(format!("{place}: `{word}`: open an issue, or do it"));
            }
        }
        if !text.is_empty() && !text.ends_with('\n') {
            violations.push(format!("{}: no newline at the end", file.display()));
        }
    }
    assert_none(&violations);
}

/// Files with comments on tables that are shown, whose parts have no other word, and this one.
const SHOW_CELLS: [&str; 2] = ["crates/ctl/src/output.rs", "crates/opt/src/explain/html.rs"];

/// The comments of a source file, each at its line, and nothing else.
fn comments(text: &str) -> String {
    let comment = |line: &str| {
        let is_whole = ["//", "/*", "* "].iter().any(|start| line.trim_start().starts_with(start));
        let behind = || [" // ", "/*"].iter().filter_map(|start| line.find(start)).min();
        let from = if is_whole { Some(0) } else { behind() };
        from.map_or_else(String::new, |from| line[from..].trim_start().to_string() + "\n")
    };
    text.lines().map(|line| if comment(line).is_empty() { "\n".to_string() } else { comment(line) }).collect()
}

/// The lines of a page with a word that pages do not use, outside of code.
fn wrong_words(page: &str) -> Vec<(usize, &'static str, &'static str)> {
    let mut in_block = false;
    let mut found = Vec::new();
    for (number, line) in page.lines().enumerate() {
        in_block ^= line.starts_with("```");
        if in_block || line.starts_with("    ") {
            continue;
        }
        // Parts in backquotes are code: the parts with odd numbers.
        let prose: Vec<&str> = line.split('`').step_by(2).collect();
        let is_end = |character: char| !character.is_alphanumeric() && character != '_';
        let words: Vec<String> = prose.join(" ` ").split(is_end).map(str::to_lowercase).collect();
        let words = format!(" {} ", words.join(" "));
        let of_line = NOT_IN_PAGES.into_iter().filter(|(word, _)| words.contains(&format!(" {word} ")));
        found.extend(of_line.map(|(word, instead)| (number + 1, word, instead)));
    }
    found
}

#[test]
fn pages_use_the_words_of_the_field() {
    let mut violations = Vec::new();
    for file in files().iter().filter(|file| has_ending(file, &["md"])) {
        for (line, word, instead) in wrong_words(&read(file)) {
            violations.push(format!("{}:{line}: `{word}`: write {instead}", file.display()));
        }
    }
    assert_none(&violations);
}

#[test]
fn comments_use_the_words_of_the_field() {
    let mut violations = Vec::new();
    // This file names the words.
    let is_source = |file: &&PathBuf| has_ending(file, &["rs", "c", "h", "p4"]) && !file.ends_with(file!());
    for file in files().iter().filter(is_source) {
        let shows_cells = SHOW_CELLS.iter().any(|shows| file.ends_with(shows));
        for (line, word, instead) in wrong_words(&comments(&read(file))) {
            if !(shows_cells && word.starts_with("cell")) {
                violations.push(format!("{}:{line}: `{word}`: write {instead}", file.display()));
            }
        }
    }
    assert_none(&violations);
}

#[test]
fn words_of_comments_are_found_in_comments_only() {
    let source =
        ["/// The cell of a counter.", "let cell = tells; // It tells `says`.", "int says; /* nobody */", " * told"]
            .join("\n");
    let found: Vec<(usize, &str)> =
        wrong_words(&comments(&source)).iter().map(|(line, word, _)| (*line, *word)).collect();
    assert_eq!(found, [(1, "cell"), (2, "tells"), (3, "nobody"), (4, "told")]);
}

#[test]
fn words_of_pages_are_found_in_prose_only() {
    let page = "The table says so.\n\n    it says so\n\n```text\nhe says\n```\nNobody, in its turn.\n`says` is code\nsaysayer\n";
    let found: Vec<(usize, &str)> = wrong_words(page).iter().map(|(line, word, _)| (*line, *word)).collect();
    assert_eq!(found, [(1, "says"), (8, "in its turn"), (8, "nobody")]);
}

#[test]
fn every_file_opens_with_its_purpose() {
    let mut violations = Vec::new();
    for file in files() {
        let opening = match file.extension().and_then(|ending| ending.to_str()) {
            Some("rs") => ["//! ", "//! "],
            Some("c" | "h" | "p4") => ["/* ", "// "],
            Some(_) | None => continue,
        };
        if !opening.iter().any(|opening| read(&file).starts_with(opening)) {
            violations.push(format!("{}: does not open with `{}` and what it is for", file.display(), opening[0]));
        }
    }
    assert_none(&violations);
}

#[test]
fn unsafe_code_stays_in_the_runtime() {
    let keyword = ["un", "safe"].concat();
    let mut violations = Vec::new();
    for file in files().iter().filter(|file| has_ending(file, &["rs"]) && !file.starts_with("crates/runtime")) {
        for (number, line) in read(file).lines().enumerate() {
            let code = line.split("//").next().unwrap_or("");
            if [" {", " fn", " impl", " extern"].iter().any(|next| code.contains(&format!("{keyword}{next}"))) {
                violations.push(format!("{}:{}: only crates/runtime may do this", file.display(), number + 1));
            }
        }
    }
    assert_none(&violations);
}

/// The names below `[dependencies]`, `[dev-dependencies]` or `[build-dependencies]` of a manifest, each with its section.
fn dependencies(manifest: &str) -> BTreeSet<(String, String)> {
    let mut names = BTreeSet::new();
    let mut section = "";
    for line in manifest.lines().map(str::trim) {
        if let Some(begun) = line.strip_prefix('[') {
            section = begun.trim_end_matches(']');
        } else if section.ends_with("dependencies")
            && let Some(name) = line.split(['.', '=', ' ']).next().filter(|name| !name.is_empty())
        {
            names.insert((section.to_string(), name.to_string()));
        }
    }
    names
}

#[test]
fn crates_use_only_what_they_may() {
    let may_use: BTreeMap<&str, &[&str]> = MAY_USE.into_iter().collect();
    let mut violations = Vec::new();
    let mut seen = 0;
    for file in files().iter().filter(|file| file.ends_with("Cargo.toml") && file.components().count() > 1) {
        let name =
            file.parent().and_then(Path::file_name).and_then(|name| name.to_str()).expect("a crate has a directory");
        let Some(allowed) = may_use.get(name) else {
            if !file.starts_with("fuzz") {
                violations.push(format!("{}: crate `{name}` is not in the table of dependencies", file.display()));
            }
            continue;
        };
        seen += 1;
        for (section, known) in dependencies(&read(file)) {
            let is_of_tests = section == "dev-dependencies" && TESTS_MAY_USE.contains(&(name, known.as_str()));
            if may_use.contains_key(known.as_str()) && !allowed.contains(&known.as_str()) && !is_of_tests {
                violations.push(format!("{}: `{name}` may not use `{known}`", file.display()));
            }
        }
    }
    assert_eq!(seen, MAY_USE.len(), "crates of the table that exist");
    assert_none(&violations);
}

#[test]
fn files_use_each_other_in_small_circles_only() {
    let files = files();
    let mut violations = Vec::new();
    for (name, _) in MAY_USE.iter().filter(|(name, _)| *name != "tests") {
        let folder = Path::new("crates").join(name).join("src");
        let of_crate = files.iter().filter(|file| file.starts_with(&folder) && has_ending(file, &["rs"]));
        let texts: Vec<(&Path, String)> =
            of_crate.map(|file| (file.strip_prefix(&folder).expect("it lies there"), read(file))).collect();
        let texts: Vec<(&Path, &str)> = texts.iter().map(|(file, text)| (*file, text.as_str())).collect();
        violations.extend(wrong_circles(name, circles(&texts)));
    }
    assert_none(&violations);
}

/// The circles of a crate that are larger than they may be, and known ones that are gone.
fn wrong_circles(name: &str, circles: Vec<Vec<String>>) -> Vec<String> {
    let large: Vec<Vec<String>> = circles.into_iter().filter(|circle| circle.len() > LARGEST_CIRCLE).collect();
    let known = || KNOWN_CIRCLES.iter().filter(|(of, ..)| *of == name);
    let too_large = large.iter().filter_map(|circle| {
        let allowed = known().find(|(_, file, ..)| circle.iter().any(|member| member == file));
        let allowed = allowed.map_or(LARGEST_CIRCLE, |(_, _, files, _)| *files);
        let files = circle.len();
        let members = circle.join(", ");
        (files > allowed).then(|| format!("crates/{name}: {files} files in a circle, {allowed} allowed: {members}"))
    });
    let is_gone = |file: &str| !large.iter().any(|circle| circle.iter().any(|member| member == file));
    let gone = known().filter(|(_, file, ..)| is_gone(file));
    let gone = gone.map(|(_, file, ..)| format!("crates/{name}: `{file}` is in no large circle: take it out"));
    too_large.chain(gone).collect()
}

#[test]
fn circles_beyond_the_known_ones_are_found() {
    let circle = |files: &[&str]| files.iter().map(|file| file.to_string()).collect::<Vec<String>>();
    assert_eq!(wrong_circles("native", vec![circle(&["a", "b", "c"])]), [""; 0]);
    assert_eq!(wrong_circles("native", vec![circle(&["a", "b", "c", "d"])]).len(), 1);
    let emit = |circle| wrong_circles("emit", vec![circle]);
    let of = |files: usize| (1..files).map(|file| file.to_string()).chain(["body".to_string()]).collect();
    assert_eq!(emit(of(16)), [""; 0]);
    assert_eq!(emit(of(17)).len(), 1);
    assert_eq!(emit(of(2)), ["crates/emit: `body` is in no large circle: take it out"]);
}

#[test]
fn folders_of_the_data_plane_include_only_what_they_may() {
    let mut violations = Vec::new();
    for (folder, allowed) in MAY_INCLUDE {
        let of_folder = |file: &&PathBuf| file.starts_with(Path::new("runtime").join(folder));
        for file in files().iter().filter(of_folder) {
            for (number, line) in read(file).lines().enumerate() {
                let named = line.strip_prefix("#include \"").and_then(|rest| rest.split_once('/'));
                if let Some((other, _)) = named.filter(|(other, _)| !allowed.contains(other)) {
                    let place = format!("{}:{}", file.display(), number + 1);
                    violations.push(format!("{place}: `{folder}` may not include `{other}`"));
                }
            }
        }
    }
    assert_none(&violations);
}

#[test]
fn architecture_fits_a_page() {
    let lines = read(Path::new("ARCHITECTURE.md")).lines().count();
    assert!(lines <= 150, "ARCHITECTURE.md has {lines} lines, 150 allowed");
}
