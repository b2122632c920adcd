//! Mistakes of `make mutations` are put into lowering as it is: a patch whose place has changed is rewritten with it.

use std::fs;
use std::path::Path;

#[test]
fn every_mutation_has_its_place_in_lowering() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("mutations");
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut patches: Vec<_> = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    patches.sort();
    assert!(!patches.is_empty());
    let misplaced: Vec<String> = patches
        .iter()
        .filter_map(|patch| {
            let text = fs::read_to_string(patch).unwrap();
            let file = text.lines().find_map(|line| line.strip_prefix("--- a/")).expect("a patch names its file");
            let source = fs::read_to_string(root.join(file)).unwrap_or_default();
            let is_there = hunks(&text).iter().all(|old| source.contains(old.as_str()));
            (!is_there).then(|| format!("{}: not in {file}", patch.display()))
        })
        .collect();
    assert!(misplaced.is_empty(), "{}", misplaced.join("\n"));
}

/// What each hunk of a patch expects in the file.
fn hunks(patch: &str) -> Vec<String> {
    let mut hunks: Vec<String> = Vec::new();
    for line in patch.lines() {
        if line.starts_with("@@") {
            hunks.push(String::new());
            continue;
        }
        let Some(hunk) = hunks.last_mut() else { continue };
        if let Some(kept) = line.strip_prefix(' ').or(line.strip_prefix('-')) {
            hunk.push_str(kept);
            hunk.push('\n');
        }
    }
    hunks
}
