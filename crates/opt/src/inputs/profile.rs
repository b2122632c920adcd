//! How many packets took each edge of the graph: what `bacus run --profile-out` and `bacus stf --profile-out` count.
//!
//! The text is one line an edge, `COUNT FROM -> TO`, sorted by name; lines that begin with `#` say something to people. Nodes are named, so a profile
//! outlives changes of the program elsewhere; a node that it does not know, or through which nothing came, is estimated as if there were none.

use std::collections::BTreeMap;
use std::fmt::Write as _;

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Profile {
    /// Packets by (from, to).
    pub edges: BTreeMap<(String, String), u64>,
}

impl Profile {
    /// Reads a profile; the message names the line that is wrong.
    pub fn parse(text: &str) -> Result<Profile, String> {
        let mut profile = Profile::default();
        for (index, line) in text.lines().enumerate() {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let parsed = line.split_once(' ').and_then(|(count, edge)| {
                let (from, to) = edge.split_once(" -> ")?;
                Some((count.parse::<u64>().ok()?, from.trim().to_string(), to.trim().to_string()))
            });
            let (count, from, to) =
                parsed.ok_or_else(|| format!("line {}: expected `COUNT FROM -> TO`, found `{line}`", index + 1))?;
            if profile.edges.insert((from, to), count).is_some() {
                return Err(format!("line {}: this edge was counted before", index + 1));
            }
        }
        Ok(profile)
    }

    pub fn print(&self) -> String {
        let mut text = String::from("# Packets on each edge of the graph.\n");
        for ((from, to), count) in &self.edges {
            let _ = writeln!(text, "{count} {from} -> {to}");
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
        let left: u64 = self.edges.iter().filter(|((from, _), _)| from == node).map(|(_, count)| count).sum();
        came.max(left)
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
        assert_eq!((profile.arrived("drop", false), profile.arrived("start", true)), (11, 101));
    }

    #[test]
    fn a_line_that_says_nothing_is_named() {
        for text in ["1 a -> b\nx a -> b\n", "1 a -> b\n1 a b\n", "1 a -> b\n2 a -> b\n", "1 a -> b\n-1 c -> b"] {
            let message = Profile::parse(text).expect_err("it is wrong");
            assert!(message.starts_with("line 2: "), "{message}");
        }
    }
}
