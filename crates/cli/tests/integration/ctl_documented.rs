//! The examples of docs/ctl.md run one after the other, and print what the page has of them; those of README.md run. `UPDATE_EXPECT=1` writes the page anew.

use crate::command::{has_dpdk, path};
use crate::ctl_mistakes::split;
use crate::switch::{Switch, error, folder, objects};
use std::fs;

/// An example of the page: its command, and the lines below it.
const EXAMPLE: &str = "    $ bacus ctl ";

/// Words that are equal, or numbers: packets and time go on.
fn are_alike(found: &str, expected: &str) -> bool {
    let is_number = |word: &str| word.parse::<f64>().is_ok();
    let (found, expected): (Vec<&str>, Vec<&str>) =
        (found.split_whitespace().collect(), expected.split_whitespace().collect());
    let pairs = found.iter().zip(&expected);
    found.len() == expected.len()
        && pairs.into_iter().all(|(found, expected)| found == expected || is_number(found) && is_number(expected))
}

#[test]
fn the_examples_of_the_page_print_what_it_has() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("page"), &[&objects(), "--port", "2=net_ring1"]);
    let page = path("docs/ctl.md");
    let text = fs::read_to_string(&page).unwrap();
    let (before, examples) = text.split_once("## Examples\n").unwrap();
    let mut lines = examples.lines().peekable();
    let mut written = format!("{before}## Examples\n");
    let (mut commands, mut wrong) = (Vec::new(), String::new());
    while let Some(line) = lines.next() {
        written += &format!("{line}\n");
        let Some(command) = line.strip_prefix(EXAMPLE) else { continue };
        let mut expected = String::new();
        while let Some(line) = lines.next_if(|line| line.starts_with("    ") && !line.starts_with(EXAMPLE)) {
            expected += &format!("{}\n", &line[4..]);
        }
        let ran = switch.ctl().args(split(command)).current_dir(path("")).output().unwrap();
        assert!(ran.status.success(), "{command}: {}", error(&ran));
        let found = String::from_utf8(ran.stdout).unwrap();
        // An empty line would end the example.
        let found: Vec<&str> = found.lines().filter(|line| !line.is_empty()).collect();
        found.iter().for_each(|line| written += &format!("    {line}\n"));
        if !are_alike(&found.join("\n"), &expected) {
            wrong += &format!("{command}\n{}\ninstead of\n{expected}\n", found.join("\n"));
        }
        commands.push(command.split_whitespace().next().unwrap().to_string());
    }
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&page, written).unwrap();
    } else {
        assert!(wrong.is_empty(), "{wrong}");
    }
    // Those of batches are in a file.
    let missing = |name: &&str| !["batch", "end"].contains(name) && !commands.iter().any(|command| command == name);
    let missing: Vec<&str> = ::ctl::COMMANDS.iter().map(|usage| usage.name).filter(missing).collect();
    assert!(missing.is_empty(), "docs/ctl.md has no example of {missing:?}");
}

#[test]
fn the_commands_of_readme_run() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("readme"), &[&objects()]);
    let text = fs::read_to_string(path("README.md")).unwrap();
    let commands: Vec<&str> =
        text.split('`').skip(1).step_by(2).filter_map(|code| code.strip_prefix("bacus ctl ")).collect();
    assert!(commands.len() >= 2, "{commands:?}");
    for command in commands {
        let ran = switch.ctl().args(split(command)).output().unwrap();
        assert!(ran.status.success(), "{command}: {}", error(&ran));
    }
}
