//! Which files of a crate use each other in a circle: a reader of one of them has to read all.
//!
//! A file uses another if it names a module or an item by a path from the crate's root (`crate::a::Item`, or `super::Item` in a file beside the root), or
//! declares that it uses what a module below it has (`use child::Item`).
//! What a module re-exports is the file's that has it. Modules of tests do not count.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

/// The path of a module from the crate's root, which is the empty one.
type Module = Vec<String>;

struct Source {
    code: String,
    /// Names that it re-exports, with their paths from the root.
    exports: BTreeMap<String, Vec<String>>,
}

/// The circles among the files of a crate's `src`, each in the order of the alphabet. Files are named from there.
pub fn circles(files: &[(&Path, &str)]) -> Vec<Vec<String>> {
    let modules: BTreeSet<Module> = files.iter().map(|(file, _)| module(file)).collect();
    let sources: BTreeMap<Module, Source> = files
        .iter()
        .map(|(file, text)| {
            let (module, code) = (module(file), code(text));
            let exports = exports(&module, &modules, &code);
            (module, Source { code, exports })
        })
        .collect();
    let uses: BTreeMap<&Module, BTreeSet<&Module>> =
        sources.iter().map(|(module, source)| (module, used(module, source, &sources))).collect();
    let reached: BTreeMap<&Module, BTreeSet<&Module>> =
        uses.keys().map(|module| (*module, reachable(module, &uses))).collect();
    let circle = |module: &&Module| -> BTreeSet<&Module> {
        reached[*module].iter().filter(|other| reached[**other].contains(*module)).copied().collect()
    };
    let circles: BTreeSet<BTreeSet<&Module>> = uses.keys().map(circle).filter(|circle| circle.len() > 1).collect();
    let name = |module: &&Module| if module.is_empty() { "the root".to_string() } else { module.join("::") };
    circles.iter().map(|circle| circle.iter().map(name).collect()).collect()
}

fn module(file: &Path) -> Module {
    let mut parts: Module = file.with_extension("").iter().map(|part| part.to_string_lossy().into_owned()).collect();
    let is_root = parts.len() == 1 && ["lib", "main"].contains(&parts[0].as_str());
    if is_root || parts.last().is_some_and(|last| last == "mod") {
        parts.pop();
    }
    parts
}

/// A text without comments and without its module of tests.
fn code(text: &str) -> String {
    let text = text.split("#[cfg(test)]\nmod ").next().unwrap_or_default();
    text.lines().map(|line| line.split("//").next().unwrap_or_default()).collect::<Vec<&str>>().join("\n")
}

/// The declarations of a text that bring names: whether each re-exports them, and its paths.
fn declarations(code: &str) -> Vec<(bool, Vec<Vec<String>>)> {
    let mut found = Vec::new();
    let mut rest = code;
    while let Some(at) = rest.find("use ") {
        let line = rest[..at].rsplit('\n').next().unwrap_or_default().trim();
        let (tree, behind) = rest[at + 4..].split_once(';').unwrap_or((&rest[at + 4..], ""));
        if line.is_empty() || line.starts_with("pub") {
            let mut paths = Vec::new();
            expand(&[], tree, &mut paths);
            found.push((!line.is_empty(), paths));
            rest = behind;
        } else {
            rest = &rest[at + 4..];
        }
    }
    found
}

/// The paths of a tree as in `a::{b, c::{self, d as e}}`.
fn expand(before: &[String], tree: &str, paths: &mut Vec<Vec<String>>) {
    let (head, branches) = tree.split_once('{').unwrap_or((tree, ""));
    let head = head.split(" as ").next().unwrap_or_default();
    let words = head.split("::").map(str::trim).filter(|word| !word.is_empty() && *word != "self");
    let path: Vec<String> = before.iter().cloned().chain(words.map(str::to_string)).collect();
    if branches.is_empty() {
        paths.push(path);
        return;
    }
    let (mut depth, mut from) = (0, 0);
    for (at, letter) in branches.char_indices() {
        match letter {
            '{' => depth += 1,
            '}' | ',' if depth == 0 => {
                if !branches[from..at].trim().is_empty() {
                    expand(&path, &branches[from..at], paths);
                }
                from = at + 1;
            }
            '}' => depth -= 1,
            _ => {}
        }
    }
}

/// A path from the root, if it is one of this crate that counts.
fn from_root(module: &[String], path: &[String], is_module: impl Fn(&[String]) -> bool) -> Option<Vec<String>> {
    let first = path.first()?;
    let below = [module, path].concat();
    match first.as_str() {
        "crate" => Some(path[1..].to_vec()),
        "super" if module.len() == 1 => Some(path[1..].to_vec()),
        _ => is_module(&below[..module.len() + 1]).then_some(below),
    }
}

fn exports(module: &[String], modules: &BTreeSet<Module>, code: &str) -> BTreeMap<String, Vec<String>> {
    let paths = declarations(code).into_iter().filter(|(is_export, _)| *is_export).flat_map(|(_, paths)| paths);
    let exported =
        |path: Vec<String>| Some((path.last().cloned()?, from_root(module, &path, |other| modules.contains(other))?));
    paths.filter_map(exported).collect()
}

/// The files that a file uses.
fn used<'s>(module: &Module, source: &Source, sources: &'s BTreeMap<Module, Source>) -> BTreeSet<&'s Module> {
    let declared = declarations(&source.code).into_iter().filter(|(is_export, _)| !is_export);
    let named = source.code.match_indices("crate::").map(|(at, _)| {
        let is_part = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == ':';
        let path = source.code[at..].split(|letter| !is_part(letter)).next().unwrap_or_default();
        path.split("::").filter(|word| !word.is_empty()).map(str::to_string).collect()
    });
    let is_declared = |path: &Vec<String>| path.len() > 1;
    let paths = declared.flat_map(|(_, paths)| paths).chain(named.filter(is_declared));
    let is_module = |path: &[String]| sources.contains_key(path);
    let files = paths.filter_map(|path| Some(file_of(&from_root(module, &path, is_module)?, sources)));
    files.filter(|file| *file != module).collect()
}

/// The file that has what a path from the root names: the longest module of the path, or where that has it from.
fn file_of<'s>(path: &[String], sources: &'s BTreeMap<Module, Source>) -> &'s Module {
    let longest = (0..=path.len()).rev().find_map(|length| sources.get_key_value(&path[..length]));
    let (module, source) = longest.expect("every crate has a root");
    match path.get(module.len()).and_then(|name| source.exports.get(name)) {
        Some(from) if from[..] != *path => file_of(&[&from[..], &path[module.len() + 1..]].concat(), sources),
        Some(_) | None => module,
    }
}

fn reachable<'s>(from: &Module, uses: &BTreeMap<&'s Module, BTreeSet<&'s Module>>) -> BTreeSet<&'s Module> {
    let mut reached = BTreeSet::new();
    let mut left: Vec<&Module> = uses[from].iter().copied().collect();
    while let Some(module) = left.pop() {
        if reached.insert(module) {
            left.extend(uses[module].iter().copied());
        }
    }
    reached
}

#[cfg(test)]
mod tests {
    use super::*;

    fn circles_of(files: &[(&str, &str)]) -> Vec<String> {
        let files: Vec<(&Path, &str)> = files.iter().map(|(file, text)| (Path::new(*file), *text)).collect();
        circles(&files).iter().map(|circle| circle.join(" ")).collect()
    }

    #[test]
    fn files_that_use_each_other_are_a_circle() {
        let root = ("lib.rs", "mod a;\nmod b;\nmod c;\n");
        let a = ("a.rs", "use crate::b::{self, Thing};\n");
        let b = ("b.rs", "use std::fmt;\nfn f() -> crate::c::Other { g() }\n");
        assert_eq!(circles_of(&[root, a, b, ("c.rs", "use super::a;\n")]), ["a b c"]);
        assert_eq!(circles_of(&[root, a, b, ("c.rs", "// use crate::a;\n")]), [""; 0]);
        assert_eq!(circles_of(&[root, a, b, ("c.rs", "#[cfg(test)]\nmod tests {\n    use crate::a;\n}\n")]), [""; 0]);
    }

    #[test]
    fn what_is_exported_is_used_where_it_stands() {
        let root = ("lib.rs", "mod node;\nmod table;\npub use node::{Kind, Node};\npub use table::Table;\n");
        let inner = ("table/key.rs", "use crate::{Node, Other};\n");
        let table = ("table/mod.rs", "mod key;\npub use key::Key;\nuse crate::node::Kind;\n");
        assert_eq!(circles_of(&[root, ("node.rs", "use crate::Table;\n"), table, inner]), ["node table"]);
        let node = ("node.rs", "use crate::{\n    table::{Key as Field},\n};\n");
        assert_eq!(circles_of(&[root, node, table, inner]), ["node table::key"]);
    }
}
