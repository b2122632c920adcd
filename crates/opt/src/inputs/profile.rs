//! How many packets took each edge of the graph, and how many different keys they asked tables for: what `bacus run --profile-out` and
//! `bacus stf --profile-out` count.
//!
//! The text is one line an edge, `COUNT FROM -> TO`, then one a table, `COUNT keys TABLE`, sorted by name; lines that begin with `#` say something to people.
//! Nodes and tables are named, so a profile outlives changes of the program elsewhere; a node that it does not know, through which nothing came, or from which
//! packets went on to one that is no longer there, is estimated as if there were none.

use hlir::Program;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Profile {
    /// Packets by (from, to).
    pub edges: BTreeMap<(String, String), u64>,
    /// Different keys by table.
    pub keys: BTreeMap<String, u64>,
}

/// Look-ups for each key from which on the profile is taken to know all the keys that the traffic has, rather than the first of them.
const LOOKUPS_A_KEY: u64 = 4;

impl Profile {
    /// Reads a profile; the message names the line that is wrong.
    pub fn parse(text: &str) -> Result<Profile, String> {
        let mut profile = Profile::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let wrong = |what: &str| Err(format!("line {}: {what}", index + 1));
            let counted = line.split_once(' ').and_then(|(count, of)| Some((count.parse::<u64>().ok()?, of.trim())));
            let edge = counted.and_then(|(count, of)| Some((count, of.split_once(" -> ")?)));
            let keys = counted.and_then(|(count, of)| Some((count, of.strip_prefix("keys ")?)));
            let (again, what) = if let Some((count, (from, to))) = edge {
                let edge = (from.trim().to_string(), to.trim().to_string());
                (profile.edges.insert(edge, count), "this edge was counted before")
            } else if let Some((count, table)) = keys {
                (profile.keys.insert(table.trim().to_string(), count), "this table's keys were counted before")
            } else {
                return wrong(&format!("expected `COUNT FROM -> TO` or `COUNT keys TABLE`, found `{line}`"));
            };
            if again.is_some() {
                return wrong(what);
            }
        }
        Ok(profile)
    }

    pub fn print(&self) -> String {
        let mut text = String::from("# Packets on each edge of the graph.\n");
        for ((from, to), count) in &self.edges {
            let _ = writeln!(text, "{count} {from} -> {to}");
        }
        if !self.keys.is_empty() {
            text.push_str("# Different keys that tables were asked for.\n");
        }
        for (table, count) in &self.keys {
            let _ = writeln!(text, "{count} keys {table}");
        }
        text
    }

    /// Adds what another run has counted.
    pub fn add(&mut self, from: &str, to: &str, count: u64) {
        *self.edges.entry((from.to_string(), to.to_string())).or_default() += count;
    }

    /// Packets that came to a node: at the entry, those that left it, since nobody counts how they arrive.
    pub fn arrived(&self, node: &str, is_entry: bool) -> u64 {
        let came: u64 = self.edges.iter().filter(|((_, to), _)| to == node).map(|(_, count)| count).sum();
        if !is_entry {
            return came;
        }
        came.max(self.onward(node).map(|(_, count)| count).sum())
    }

    /// Where packets went from a node, and how many.
    pub fn onward(&self, node: &str) -> impl Iterator<Item = (&str, u64)> {
        let edges = self.edges.iter().filter(move |((from, _), _)| from == node);
        edges.map(|((_, to), count)| (to.as_str(), *count))
    }

    /// All different keys that a table is asked for, if it was asked often enough to know.
    pub fn all_keys(&self, table: &str, lookups: u64) -> Option<u64> {
        let keys = self.keys.get(table).copied().filter(|keys| *keys > 0)?;
        (lookups / keys >= LOOKUPS_A_KEY).then_some(keys)
    }

    /// How many nodes and tables it names, and how many of them a program does not have.
    pub fn names(&self, program: &Program) -> (usize, usize) {
        let ends = self.edges.keys().flat_map(|(from, to)| [from, to]);
        let (nodes, tables): (BTreeSet<&String>, BTreeSet<&String>) = (ends.collect(), self.keys.keys().collect());
        let known_nodes: BTreeSet<&String> = program.nodes.values().map(|node| &node.name).collect();
        let known_tables: BTreeSet<&String> = program.tables.values().map(|table| &table.name).collect();
        let unknown = nodes.difference(&known_nodes).count() + tables.difference(&known_tables).count();
        (nodes.len() + tables.len(), unknown)
    }

    /// Whether it has seen packets go on from a program's entry to another of its nodes: else it says of all that follow that nothing comes there.
    pub fn has_entry(&self, program: &Program) -> bool {
        let Some(entry) = program.entry.map(|entry| &program.nodes[entry].name) else { return false };
        self.onward(entry).any(|(to, count)| count > 0 && program.nodes.values().any(|node| node.name == to))
    }

    pub fn count(&self, from: &str, to: &str) -> Option<u64> {
        self.edges.get(&(from.to_string(), to.to_string())).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn profiles_print_and_read_back() {
        let mut profile = Profile::default();
        profile.add("start", "routes", 90);
        profile.add("start", "drop", 10);
        profile.add("start", "drop", 1);
        assert_eq!(profile.print(), "# Packets on each edge of the graph.\n11 start -> drop\n90 start -> routes\n");
        assert_eq!(Profile::parse(&profile.print()), Ok(profile.clone()));
        profile.keys.insert("routes".to_string(), 20);
        let text = profile.print();
        assert!(
            text.ends_with("\n90 start -> routes\n# Different keys that tables were asked for.\n20 keys routes\n"),
            "{text}"
        );
        assert_eq!(Profile::parse(&text), Ok(profile.clone()));
        assert_eq!(
            (profile.all_keys("routes", 90), profile.all_keys("routes", 79), profile.all_keys("acl", 90)),
            (Some(20), None, None)
        );
        assert_eq!((profile.arrived("drop", false), profile.arrived("start", true)), (11, 101));
    }

    #[test]
    fn a_line_that_says_nothing_is_named() {
        for text in [
            "1 a -> b\nx a -> b\n",
            "1 a -> b\n1 a b\n",
            "1 a -> b\n2 a -> b\n",
            "1 a -> b\n-1 c -> b",
            "1 a -> b\n1 key a",
            "1 keys t\n2 keys t",
        ] {
            let message = Profile::parse(text).expect_err("it is wrong");
            assert!(message.starts_with("line 2: "), "{message}");
        }
    }
}
