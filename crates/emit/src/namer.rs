//! Spaces of names of C, in which no two things get the same name: neither a thing and another, nor what is made of their names.
//!
//! Much is made of a name by something behind it: beside `run->routes` is `run->routes_misses`, and a table `routes_misses` must not be called that. So
//! a name is given only if all that will be made of it is free, and takes all of it. Ordinary names stay as they are; only who clashes gets a number.

use crate::words;
use std::collections::HashSet;

/// First parts of names that belong to the runtime, or could one day.
const RUNTIME: &[&str] = &[
    "AT",
    "DROP",
    "abi",
    "actions",
    "bacus",
    "bit",
    "bits",
    "btree",
    "budget",
    "burst",
    "checksum",
    "chunk",
    "chunks",
    "compact",
    "compare",
    "copy",
    "counter",
    "crc",
    "crc16",
    "crc32",
    "custom",
    "dir24",
    "direct",
    "exact",
    "exact48",
    "exact60",
    "group",
    "groups",
    "hash",
    "identity",
    "lanes",
    "layout",
    "limbs",
    "list",
    "load",
    "load16",
    "load32",
    "load64",
    "load8",
    "lpm",
    "mbuf",
    "mem",
    "memory",
    "meter",
    "mtr",
    "node",
    "numbers",
    "output",
    "own",
    "packet",
    "path",
    "pending",
    "perfect",
    "picked",
    "piece",
    "pieces",
    "pipeline",
    "pipelined",
    "pool",
    "prefetch",
    "process",
    "queue",
    "random",
    "ranking",
    "record",
    "records",
    "register",
    "released",
    "rte",
    "ruled",
    "rules",
    "run",
    "saturate",
    "saved",
    "scan",
    "scratch",
    "selector",
    "shared",
    "shift",
    "signed",
    "sketch",
    "state",
    "store",
    "store16",
    "store32",
    "store64",
    "store8",
    "table",
    "target",
    "tuple",
    "value",
    "walk",
    "wide",
    "worker",
    "writer",
    "xor16",
];

/// Single names that generated code has everywhere.
const OWN: &[&str] = &[
    "ENDED",
    "GONE",
    "LANES",
    "LEAVES",
    "SENT",
    "action",
    "attach",
    "data",
    "detach",
    "ended",
    "entry",
    "key",
    "next",
    "null",
    "number",
    "parameter",
    "record",
    "resume",
    "start",
];

/// Ends the name of things of which there are any number: `routes_copy#` is in the place of `routes_copy1`, `routes_copy2` and so on.
const ANY_NUMBER: char = '#';

/// One space of names.
pub struct Namer {
    taken: HashSet<String>,
    /// The part before the number, of names that are taken and end in one.
    fronts: HashSet<String>,
    /// Fronts of which every number is taken.
    numbered: HashSet<String>,
}

impl Namer {
    pub fn new<'w>(reserved: impl IntoIterator<Item = &'w str>) -> Namer {
        let mut namer = Namer { taken: HashSet::new(), fronts: HashSet::new(), numbered: HashSet::new() };
        OWN.iter().copied().chain(reserved).for_each(|word| namer.take(word));
        namer
    }

    /// `wish` as a C name, with a number appended if it is taken.
    pub fn unique(&mut self, wish: &str) -> String {
        self.unique_with(wish, |name| vec![name.to_string()])
    }

    /// The same for an enumerator: in capitals, behind a prefix that is the emitter's own.
    pub fn enumerator(&mut self, prefix: &str, wish: &str) -> String {
        let name = format!("{prefix}_{}", identifier(wish).to_uppercase());
        numbered_in(name, &mut [(self, &|name| vec![name.to_string()])])
    }

    /// The same for a name of which this is made in this space.
    pub fn unique_with(&mut self, wish: &str, made: impl Fn(&str) -> Vec<String>) -> String {
        unique_in(wish, &mut [(self, &made)])
    }

    fn is_free(&self, name: &str) -> bool {
        if words::is_word(name) {
            return false;
        }
        match (name.strip_suffix(ANY_NUMBER), front(name)) {
            (Some(numbered), _) => !self.fronts.contains(numbered) && !self.numbered.contains(numbered),
            (None, Some(front)) => !self.taken.contains(name) && !self.numbered.contains(front),
            (None, None) => !self.taken.contains(name),
        }
    }

    pub fn take(&mut self, name: &str) {
        if let Some(numbered) = name.strip_suffix(ANY_NUMBER) {
            self.numbered.insert(numbered.to_string());
            return;
        }
        self.fronts.extend(front(name).map(str::to_string));
        self.taken.insert(name.to_string());
    }
}

/// A space, and what a name makes there: itself, if it is there, and what is named after it.
pub type Made<'n> = (&'n mut Namer, &'n dyn Fn(&str) -> Vec<String>);

/// `wish` as a C name, with a number appended if a name derived from it is taken in some space.
pub fn unique_in(wish: &str, spaces: &mut [Made]) -> String {
    numbered_in(unlike_macros(identifier(wish)), spaces)
}

fn numbered_in(name: String, spaces: &mut [Made]) -> String {
    let is_free = |name: &str| spaces.iter().all(|(namer, made)| made(name).iter().all(|made| namer.is_free(made)));
    let mut unique = name.clone();
    let mut number = 2;
    while !is_free(&unique) {
        unique = format!("{name}_{number}");
        number += 1;
    }
    for (namer, made) in spaces {
        made(&unique).iter().for_each(|made| namer.take(made));
    }
    unique
}

/// `wish` for the top level of the file, where the runtime's names are too: what begins as they do gets its kind in front.
pub fn at_top(wish: &str, kind: &str) -> String {
    let name = identifier(wish);
    let first = name.split('_').next().unwrap_or("");
    if RUNTIME.contains(&first) { format!("{kind}_{name}") } else { name }
}

/// A name that no macro has: one that looks so gets a word of small letters.
fn unlike_macros(name: String) -> String {
    match (words::is_macro(&name), words::is_of_dpdk(&name)) {
        (true, _) => format!("{name}_name"),
        (false, true) => format!("p4_{name}"),
        (false, false) => name,
    }
}

/// The part before the number that ends a name.
fn front(name: &str) -> Option<&str> {
    let front = name.trim_end_matches(|last: char| last.is_ascii_digit());
    (front.len() < name.len()).then_some(front)
}

/// Letters, digits and single underscores, not beginning with a digit. Case is kept.
pub fn identifier(name: &str) -> String {
    let mut out = String::new();
    for character in name.chars() {
        let wanted = if character.is_ascii_alphanumeric() { character } else { '_' };
        if wanted != '_' || (!out.ends_with('_') && !out.is_empty()) {
            out.push(wanted);
        }
    }
    let out = out.trim_end_matches('_');
    match out.chars().next() {
        None => "unnamed".to_string(),
        Some(first) if first.is_ascii_digit() => format!("n{out}"),
        Some(_) => out.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_of_c_and_unique() {
        let mut namer = Namer::new(["front"]);
        let wishes = ["hdr.ipv4", "hdr_ipv4", "hdr.labels[2]", "9lives", "while", "front", "$valid$", "_", "LANES"];
        let names: Vec<String> = wishes.iter().map(|wish| namer.unique(wish)).collect();
        assert_eq!(
            names,
            [
                "hdr_ipv4",
                "hdr_ipv4_2",
                "hdr_labels_2",
                "n9lives",
                "while_2",
                "front_2",
                "valid",
                "unnamed",
                "LANES_name"
            ]
        );
    }

    #[test]
    fn what_is_made_of_a_name_is_its_own() {
        let made = |name: &str| ["", "_key", "_copy#"].map(|part| format!("{name}{part}")).to_vec();
        let mut namer = Namer::new(["a_key"]);
        let mut named = |wish: &str| namer.unique_with(wish, made);
        assert_eq!(named("a"), "a_2", "its key's name is taken");
        assert_eq!(named("b"), "b");
        assert_eq!(named("b_key"), "b_key_2");
        assert_eq!(named("b_copy7"), "b_copy7_2");
        assert_eq!(named("b_copy"), "b_copy", "no number");
        assert_eq!(named("c_copy1"), "c_copy1");
        assert_eq!(named("c"), "c_2", "one of its copies' names is taken");
    }
}
