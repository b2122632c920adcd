//! Which files of a crate use each other in a circle: a reader of one of them has to read all.
//!
//! A file uses another if a path in its code leads to an item of that file: from the crate's root (`crate::a::Item`),
//! from a parent (`super::Item`), or through a module below (`child::Item`). A re-exported item belongs to the file
//! that defines it. Modules of tests do not count, and neither do macros' arguments.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use syn::visit::{Visit, visit_item_mod, visit_path};

/// The path of a module from the crate's root, which is the empty one.
type Module = Vec<String>;

/// What one file names. Paths begin at the crate's root.
#[derive(Default)]
struct Source {
    /// Re-exported names, with the paths of what they mean.
    exports: BTreeMap<String, Vec<String>>,
    /// Paths that the code uses.
    used: Vec<Vec<String>>,
}

/// The circles among the files of a crate's `src`, each in the order of the alphabet. Files are named from there.
pub fn circles(files: &[(&Path, &str)]) -> Vec<Vec<String>> {
    let modules: BTreeSet<Module> = files.iter().map(|(file, _)| module(file)).collect();
    let sources: BTreeMap<Module, Source> =
        files.iter().map(|(file, text)| (module(file), source(file, text, &modules))).collect();
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

fn source(file: &Path, text: &str, modules: &BTreeSet<Module>) -> Source {
    let syntax = syn::parse_file(text).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let mut reader = Reader { modules, at: module(file), source: Source::default() };
    reader.visit_file(&syntax);
    reader.source
}

/// Reads the paths of a file. A module in braces belongs to the file, but `super` means another module there.
struct Reader<'m> {
    modules: &'m BTreeSet<Module>,
    at: Module,
    source: Source,
}

impl Reader<'_> {
    /// A path from the root; none if it does not begin with a module of this crate.
    fn rooted(&self, path: &[String]) -> Option<Vec<String>> {
        let (mut base, mut rest) = (self.at.clone(), path);
        match path.first()?.as_str() {
            "crate" => return Some(path[1..].to_vec()),
            "self" => rest = &path[1..],
            "super" => {}
            child => {
                base.push(child.to_string());
                return self.modules.contains(&base).then(|| [&base[..], &path[1..]].concat());
            }
        }
        while let Some(("super", behind)) = rest.split_first().map(|(word, behind)| (word.as_str(), behind)) {
            base.pop()?;
            rest = behind;
        }
        Some([&base[..], rest].concat())
    }

    fn declare(&mut self, path: Vec<String>, name: Option<&syn::Ident>, is_export: bool) {
        let Some(from) = self.rooted(&path) else { return };
        match name.filter(|_| is_export) {
            Some(name) => drop(self.source.exports.insert(name.to_string(), from)),
            None => self.source.used.push(from),
        }
    }

    /// The declarations of a tree as in `a::{b, c::{self, d as e}}`.
    fn expand(&mut self, before: &[String], tree: &syn::UseTree, is_export: bool) {
        match tree {
            syn::UseTree::Path(path) => {
                let before = [before, &[path.ident.to_string()]].concat();
                self.expand(&before, &path.tree, is_export);
            }
            syn::UseTree::Group(group) => {
                for branch in &group.items {
                    self.expand(before, branch, is_export);
                }
            }
            syn::UseTree::Glob(_) => self.declare(before.to_vec(), None, is_export),
            syn::UseTree::Name(syn::UseName { ident }) if ident == "self" => {
                self.declare(before.to_vec(), None, is_export);
            }
            syn::UseTree::Name(syn::UseName { ident }) => {
                self.declare([before, &[ident.to_string()]].concat(), Some(ident), is_export);
            }
            syn::UseTree::Rename(syn::UseRename { ident, rename, .. }) => {
                self.declare([before, &[ident.to_string()]].concat(), Some(rename), is_export);
            }
        }
    }
}

impl<'ast> Visit<'ast> for Reader<'_> {
    fn visit_item_use(&mut self, declaration: &'ast syn::ItemUse) {
        let is_export = !matches!(declaration.vis, syn::Visibility::Inherited);
        self.expand(&[], &declaration.tree, is_export);
    }

    fn visit_item_mod(&mut self, inner: &'ast syn::ItemMod) {
        let is_test = inner.attrs.iter().any(|attribute| {
            attribute.path().is_ident("cfg") && attribute.parse_args::<syn::Ident>().is_ok_and(|word| word == "test")
        });
        if is_test || inner.content.is_none() {
            return;
        }
        self.at.push(inner.ident.to_string());
        visit_item_mod(self, inner);
        self.at.pop();
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let words: Vec<String> = path.segments.iter().map(|segment| segment.ident.to_string()).collect();
        if words.len() > 1
            && let Some(from) = self.rooted(&words)
        {
            self.source.used.push(from);
        }
        visit_path(self, path);
    }
}

/// The files that a file uses.
fn used<'s>(module: &Module, source: &Source, sources: &'s BTreeMap<Module, Source>) -> BTreeSet<&'s Module> {
    let files = source.used.iter().map(|path| file_of(path, sources));
    files.filter(|file| *file != module).collect()
}

/// The file that has what a path from the root names: the longest module of the path, or where that has it from.
fn file_of<'s>(path: &[String], sources: &'s BTreeMap<Module, Source>) -> &'s Module {
    let longest = (0..=path.len()).rev().find_map(|length| sources.get_key_value(&path[..length]));
    let (module, source) = longest.expect("every crate has a root");
    let rest = &path[module.len()..];
    match rest.first().and_then(|name| source.exports.get(name)) {
        Some(from) if from[..] != *path => file_of(&[&from[..], &rest[1..]].concat(), sources),
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
    fn what_is_exported_is_used_where_it_is_defined() {
        let root = ("lib.rs", "mod node;\nmod table;\npub use node::{Kind, Node};\npub use table::Table;\n");
        let inner = ("table/key.rs", "use crate::{Node, Other};\n");
        let table = ("table/mod.rs", "mod key;\npub use key::Key;\nuse crate::node::Kind;\n");
        assert_eq!(circles_of(&[root, ("node.rs", "use crate::Table;\n"), table, inner]), ["node table"]);
        let node = ("node.rs", "use crate::{\n    table::{Key as Field},\n};\n");
        assert_eq!(circles_of(&[root, node, table, inner]), ["node table::key"]);
    }

    #[test]
    fn paths_of_nested_modules_lead_to_their_parents() {
        let root = ("lib.rs", "mod plan;\n");
        let plan = ("plan/mod.rs", "mod cost;\nmod cut;\nfn plan() { cost::of(1); }\n");
        let cut = ("plan/cut.rs", "fn cut() { super::plan(); }\n");
        assert_eq!(
            circles_of(&[root, plan, cut, ("plan/cost.rs", "use super::cut::cut;\n")]),
            ["plan plan::cost plan::cut"]
        );
        assert_eq!(circles_of(&[root, plan, cut, ("plan/cost.rs", "use super::super::other;\n")]), [""; 0]);
        let braces = ("plan/cost.rs", "mod inner {\n    fn of() { super::super::cut::cut() }\n}\n");
        assert_eq!(circles_of(&[root, plan, cut, braces]), ["plan plan::cost plan::cut"]);
        let beside = ("plan/cost.rs", "mod inner {\n    fn of() { super::cut::cut() }\n}\n");
        assert_eq!(circles_of(&[root, plan, cut, beside]), [""; 0]);
    }
}
