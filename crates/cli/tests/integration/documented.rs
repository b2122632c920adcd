//! The `bacus` commands of README and of the pages in docs/ run as they are written.
//!
//! A command is an indented line that begins with `bacus `; a `\` at its end joins the next line, and a comment begins with ` # `. Commands that measure are
//! left out (docs/contributing.md): they take longer, and their output depends on the machine.

use crate::command::{bacus, path, said, scratch};
use std::fs;
use std::os::unix::fs::symlink;

/// Pages whose commands all measure.
const OF_MEASUREMENTS: [&str; 2] = ["bench", "calibration"];

/// Folders of the project that commands name.
const FOLDERS: &[&str] = &["apps", "crates", "docs", "machines"];

/// Commands of a text, each as its words.
fn commands(text: &str) -> Vec<Vec<String>> {
    let joined = text.replace("\\\n", " ");
    let lines = joined.lines().filter_map(|line| line.strip_prefix("    bacus "));
    let words = |line: &str| {
        let command = line.split_once(" # ").map_or(line, |(command, _)| command);
        command.split_whitespace().map(str::to_string).collect()
    };
    lines.map(words).collect()
}

fn measures(words: &[String]) -> bool {
    matches!(words[0].as_str(), "calibrate" | "bench") || words.iter().any(|word| word == "--measure")
}

/// Commands of a page: those that run here, and those that measure.
fn of_page(page: &str) -> (Vec<Vec<String>>, Vec<Vec<String>>) {
    let text = fs::read_to_string(path(&format!("docs/{page}.md"))).expect("the page can be read");
    commands(&text).into_iter().partition(|words| !measures(words))
}

fn commands_run(page: &str) {
    let folder = scratch("documented");
    for name in FOLDERS {
        symlink(path(name), folder.join(name)).expect("the scratch folder can have links");
    }
    let (runnable, _) = of_page(page);
    assert!(!runnable.is_empty(), "docs/{page}.md has no command that can be run");
    for words in runnable {
        let output = bacus().args(&words).current_dir(&folder).output().expect("bacus can be run");
        assert!(output.status.success(), "docs/{page}.md: bacus {}:\n{}", words.join(" "), said(&output));
    }
}

macro_rules! pages {
    ($($page:ident)*) => {
        mod commands_of_the_page_run {
            $(#[test] fn $page() { super::commands_run(stringify!($page)); })*
        }
    };
}

pages! { contributing externs hlir hot_path language model p4info stf }

#[test]
fn commands_of_other_pages_measure() {
    for page in OF_MEASUREMENTS {
        let (runnable, measuring) = of_page(page);
        assert!(runnable.is_empty() && !measuring.is_empty(), "docs/{page}.md: {runnable:?}");
    }
}

/// The indented block of a page that begins with this line.
fn block(text: &str, first: &str) -> String {
    let lines = text.lines().skip_while(|line| line.strip_prefix("    ") != Some(first));
    lines.map_while(|line| line.strip_prefix("    ")).map(|line| format!("{line}\n")).collect()
}

/// README's first program, its packets, and the commands that need neither interfaces nor another machine's time.
#[test]
fn the_first_program_of_the_readme_runs() {
    let folder = scratch("first-program");
    let text = fs::read_to_string(path("README.md")).expect("README can be read");
    fs::write(folder.join("first.p4"), block(&text, "#include <core.p4>")).expect("there is room for a test");
    let packets = block(&text, "add hosts h.ethernet.dst:00:11:22:33:44:55 forward(2)");
    assert!(packets.contains("expect 2 "), "README has no expectation");
    fs::write(folder.join("first.stf"), packets).expect("there is room for a test");
    let run = |command: &str| {
        let words = command.strip_prefix("bacus ").expect("it is a command of bacus").split_whitespace();
        let output = bacus().args(words).current_dir(&folder).output().expect("bacus can be run");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{command}:\n{said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    let shown = block(&text, "$ bacus stf first.p4 first.stf --engine native");
    assert_eq!(
        format!(
            "$ bacus stf first.p4 first.stf --engine native\n{}",
            run("bacus stf first.p4 first.stf --engine native")
        ),
        shown
    );
    let in_table =
        text.lines().filter(|line| line.starts_with('|')).flat_map(|line| line.split('`').skip(1).step_by(2));
    // Those of a running switch have tests of their own.
    let elsewhere =
        ["run", "stat", "trace", "ctl", "calibrate", "bench", "entries"].map(|command| format!("bacus {command}"));
    let runnable =
        in_table.filter(|code| code.starts_with("bacus ") && !elsewhere.iter().any(|it| code.starts_with(it)));
    assert!(runnable.map(run).count() >= 5, "README's table has lost its commands");
}

#[test]
fn a_command_ends_before_its_comment_and_goes_on_behind_a_backslash() {
    let found = commands("bacus --help\n\n    bacus stf a.p4 \\\n        b.stf   # both engines\n");
    assert_eq!(found, [["stf", "a.p4", "b.stf"]]);
}
