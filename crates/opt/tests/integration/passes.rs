//! Each file in `passes/` is a program, a line `// ----`, and the result of the pass that its first line
//! names.
//!
//! `UPDATE_EXPECT=1 cargo test -p opt` rewrites the second half; read the difference before you commit it.

use hlir::text::{parse_program, print_program};
use hlir::{Plan, Program, verify};
use opt::inputs::Joins;
use opt::{Inputs, Selection};
use std::path::{Path, PathBuf};
use std::{env, fs};

const DIVIDER: &str = "// ----\n";

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/passes");
    let mut files: Vec<PathBuf> = fs::read_dir(folder)
        .expect("the folder is here")
        .map(|entry| entry.expect("a folder can be read").path())
        .collect();
    files.sort();
    files
}

fn program(text: &str, file: &Path) -> Program {
    let program = parse_program(text).unwrap_or_else(|errors| panic!("{}: {errors:#?}", file.display()));
    let complaints = verify::verify(&program);
    assert!(complaints.is_empty(), "{}: {complaints:#?}", file.display());
    program
}

#[test]
fn passes_rewrite_programs_as_their_files_say() {
    let mut differ = Vec::new();
    let files = files();
    let rewrites = opt::PIPELINE.iter().filter(|pass| !matches!(pass.run, opt::Run::Plan(_))).count();
    assert!(files.len() >= rewrites, "each rewrite has a file; planners have pages in docs/passes");
    for file in &files {
        let text = fs::read_to_string(file).unwrap();
        let (before, expected) = text.split_once(DIVIDER).unwrap_or_else(|| panic!("{}: no divider", file.display()));
        let name = before
            .lines()
            .next()
            .and_then(|line| line.strip_prefix("// pass: "))
            .expect("a first line `// pass: NAME`");
        assert!(opt::pass(name).is_some(), "{}: no pass `{name}`", file.display());
        let mut changed = program(before, file);
        opt::optimize(
            &mut changed,
            &mut Plan::default(),
            // All legal joins: whether one pays is for the model, not for its test.
            &Inputs { joins: Joins::All, ..Inputs::default() },
            &Selection::Only(vec![name.to_string()]),
            None,
        );
        let complaints = verify::verify(&changed);
        assert!(complaints.is_empty(), "{}: what {name} makes is wrong: {complaints:#?}", file.display());
        let actual = print_program(&changed);
        if actual != expected {
            if env::var_os("UPDATE_EXPECT").is_some() {
                fs::write(file, format!("{before}{DIVIDER}{actual}")).unwrap();
            }
            differ.push(format!("{}:\n{actual}", file.display()));
        }
    }
    assert!(differ.is_empty(), "{}", differ.join("\n"));
}

#[test]
fn passes_are_idempotent() {
    for file in files() {
        let text = fs::read_to_string(&file).unwrap();
        let before = text.split_once(DIVIDER).map(|(before, _)| before).unwrap_or(&text);
        let mut once = program(before, &file);
        opt::optimize(&mut once, &mut Plan::default(), &Inputs::default(), &Selection::All, None);
        let mut twice = once.clone();
        opt::optimize(&mut twice, &mut Plan::default(), &Inputs::default(), &Selection::All, None);
        assert_eq!(print_program(&once), print_program(&twice), "{}", file.display());
    }
}
