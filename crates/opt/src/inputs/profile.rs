//! A traffic profile: packets per edge of the graph, and hits, misses and distinct keys per table. `bacus run
//! --profile-out` and `bacus stf --profile-out` write it.
//!
//! The text has a line `COUNT FROM -> TO` per edge, then lines `COUNT hits TABLE`, `COUNT misses TABLE` and
//! `COUNT keys TABLE`, sorted by name. Lines that begin with `#` are comments. Nodes and tables are named, so a profile survives changes
//! elsewhere in the program. A node is estimated as without profile if the profile has no packets at it, or packets from it to a
//! node that it does not lead to. Nodes that a rewrite has taken out of a program are passed through, and nodes that it has put between two
//! others are inserted ([`Profile::of`]).

use hlir::hot_path::table_of;
use hlir::{NodeId, Program};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Profile {
    /// Packets by (from, to).
    pub edges: BTreeMap<(String, String), u64>,
    /// Lookups that found an entry, by table, and that found none.
    pub hits: BTreeMap<String, u64>,
    pub misses: BTreeMap<String, u64>,
    /// Distinct keys by table.
    pub keys: BTreeMap<String, u64>,
}

/// Lookups per distinct key from which on the counted keys are taken to be all keys of the traffic.
const LOOKUPS_A_KEY: u64 = 4;

/// Paths of one length between two nodes, beyond which none is looked for.
const MOST_PATHS: usize = 1000;

impl Profile {
    /// Reads a profile. The message names the wrong line.
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
            let (again, what) = if let Some((count, (from, to))) = edge {
                let edge = (from.trim().to_string(), to.trim().to_string());
                (profile.edges.insert(edge, count), "this edge")
            } else if let Some((count, (what, table))) =
                counted.and_then(|(count, of)| Some((count, of.split_once(' ')?)))
                && let Some((_, counts)) = profile.of_tables_mut().into_iter().find(|(word, _)| *word == what)
            {
                (counts.insert(table.trim().to_string(), count), "this line of the table")
            } else {
                let forms = "`COUNT FROM -> TO`, or `COUNT WORD TABLE` with the word `hits`, `misses` or `keys`";
                return wrong(&format!("expected {forms}, found `{line}`"));
            };
            if again.is_some() {
                return wrong(&format!("{what} was counted before"));
            }
        }
        Ok(profile)
    }

    /// What is counted of tables, by its word.
    fn of_tables_mut(&mut self) -> [(&'static str, &mut BTreeMap<String, u64>); 3] {
        [("hits", &mut self.hits), ("misses", &mut self.misses), ("keys", &mut self.keys)]
    }

    pub fn print(&self) -> String {
        let mut text = String::from("# Packets on each edge of the graph.\n");
        for ((from, to), count) in &self.edges {
            let _ = writeln!(text, "{count} {from} -> {to}");
        }
        let titles = [
            ("hits", &self.hits, "Lookups that found an entry, by table."),
            ("misses", &self.misses, "Lookups that found none."),
            ("keys", &self.keys, "Distinct keys looked up in each table."),
        ];
        for (word, counts, title) in titles {
            if !counts.is_empty() {
                let _ = writeln!(text, "# {title}");
            }
            for (table, count) in counts {
                let _ = writeln!(text, "{count} {word} {table}");
            }
        }
        text
    }

    /// Adds packets of another run.
    pub fn add(&mut self, from: &str, to: &str, count: u64) {
        *self.edges.entry((from.to_string(), to.to_string())).or_default() += count;
    }

    /// Packets that arrived at a node. For the entry, packets that left it, since their arrival is not
    /// counted.
    pub fn arrived(&self, node: &str, is_entry: bool) -> u64 {
        let came: u64 = self.edges.iter().filter(|((_, to), _)| to == node).map(|(_, count)| count).sum();
        if !is_entry {
            return came;
        }
        came.max(self.onward(node).map(|(_, count)| count).sum())
    }

    /// The profile of a program that lacks some of the counted nodes: their packets go on from where they came to where
    /// these nodes led, in the same shares wherever they came from. Where the program has nodes on an edge that was counted,
    /// packets take the shortest path without lookups, if there is one alone.
    pub fn of(&self, program: &Program) -> Cow<'_, Profile> {
        let nodes: BTreeMap<&str, NodeId> = program.nodes.iter().map(|(id, node)| (node.name.as_str(), id)).collect();
        let ends: BTreeSet<&String> = self.edges.keys().flat_map(|(from, to)| [from, to]).collect();
        let mut profile = Cow::Borrowed(self);
        for node in ends.into_iter().filter(|name| !nodes.contains_key(name.as_str())) {
            profile.to_mut().pass_through(node);
        }
        let edges: Vec<(String, String)> = profile.edges.keys().cloned().collect();
        for (from, to) in edges {
            let Some((first, last)) = nodes.get(from.as_str()).zip(nodes.get(to.as_str())) else { continue };
            let Some(path) = shortest_path(program, *first, *last).filter(|path| path.len() > 2) else { continue };
            let path: Vec<String> = path.iter().map(|node| program.nodes[*node].name.clone()).collect();
            profile.to_mut().reroute(&path);
        }
        profile
    }

    /// Packets that were counted from the first of these nodes to the last go through all of them.
    fn reroute(&mut self, path: &[String]) {
        let ends = path.first().cloned().zip(path.last().cloned());
        let Some(count) = ends.and_then(|edge| self.edges.remove(&edge)) else { return };
        path.windows(2).for_each(|pair| self.add(&pair[0], &pair[1], count));
    }

    /// Leaves a node out, unless its packets ended there. Those that went from it to itself are taken to have gone on at
    /// once.
    fn pass_through(&mut self, node: &str) {
        let (mut came, mut went) = (Vec::new(), Vec::new());
        self.edges.retain(|(from, to), count| {
            match (from == node, to == node) {
                (false, true) => came.push((from.clone(), *count)),
                (true, false) => went.push((to.clone(), *count)),
                (true, true) => {}
                (false, false) => return true,
            }
            false
        });
        let all: u128 = went.iter().map(|(_, count)| u128::from(*count)).sum();
        for (from, count) in came {
            if all == 0 {
                self.add(&from, node, count);
            }
            for (to, part) in went.iter().filter(|_| all > 0) {
                let share = u128::from(count) * u128::from(*part) / all;
                self.add(&from, to, u64::try_from(share).unwrap_or(u64::MAX));
            }
        }
    }

    /// The successors of a node with their packets.
    pub fn onward(&self, node: &str) -> impl Iterator<Item = (&str, u64)> {
        let edges = self.edges.iter().filter(move |((from, _), _)| from == node);
        edges.map(|((_, to), count)| (to.as_str(), *count))
    }

    /// The share of a table's lookups that found no entry, if they were counted.
    pub fn miss_share(&self, table: &str) -> Option<f64> {
        let [hits, misses] = [&self.hits, &self.misses].map(|counts| counts.get(table).copied().unwrap_or(0) as f64);
        (hits + misses > 0.0).then(|| misses / (hits + misses))
    }

    /// All distinct keys of a table's lookups, if there were enough lookups to know.
    pub fn all_keys(&self, table: &str, lookups: u64) -> Option<u64> {
        let keys = self.keys.get(table).copied().filter(|keys| *keys > 0)?;
        (lookups / keys >= LOOKUPS_A_KEY).then_some(keys)
    }

    /// The number of nodes and tables that the profile names, and how many of them the program lacks.
    pub fn names(&self, program: &Program) -> (usize, usize) {
        let ends = self.edges.keys().flat_map(|(from, to)| [from, to]);
        let (nodes, tables): (BTreeSet<&String>, BTreeSet<&String>) =
            (ends.collect(), [&self.hits, &self.misses, &self.keys].into_iter().flat_map(BTreeMap::keys).collect());
        let known_nodes: BTreeSet<&String> = program.nodes.values().map(|node| &node.name).collect();
        let known_tables: BTreeSet<&String> = program.tables.values().map(|table| &table.name).collect();
        let unknown = nodes.difference(&known_nodes).count() + tables.difference(&known_tables).count();
        (nodes.len() + tables.len(), unknown)
    }

    /// Whether the profile has packets from the program's entry to another of its nodes. Otherwise no
    /// node would get packets.
    pub fn has_entry(&self, program: &Program) -> bool {
        let Some(entry) = program.entry.map(|entry| &program.nodes[entry].name) else { return false };
        self.onward(entry).any(|(to, count)| count > 0 && program.nodes.values().any(|node| node.name == to))
    }

    pub fn count(&self, from: &str, to: &str) -> Option<u64> {
        self.edges.get(&(from.to_string(), to.to_string())).copied()
    }
}

/// The shortest path without lookups between two nodes of a graph, with both; none if there are two, or none.
fn shortest_path(program: &Program, from: NodeId, to: NodeId) -> Option<Vec<NodeId>> {
    let mut paths = vec![vec![from]];
    let mut seen = BTreeSet::from([from.into_raw().into_u32()]);
    while !paths.is_empty() {
        let mut longer: Vec<Vec<NodeId>> = Vec::new();
        for path in &paths {
            let last = path[path.len() - 1];
            // A joint lookup leads to its sources, and to what is behind them.
            if last != from && table_of(program, last).is_some() {
                continue;
            }
            let mut onward = program.nodes[last].successors();
            if let Some(parser) = program.nodes[last].parser() {
                onward.push(program.parsers[parser].reject);
            }
            onward.sort_by_key(|node| node.into_raw());
            onward.dedup();
            let onward = onward.into_iter().filter(|next| !seen.contains(&next.into_raw().into_u32()));
            longer.extend(onward.map(|next| [&path[..], &[next]].concat()));
        }
        let mut arrived = longer.iter().filter(|path| path.last() == Some(&to));
        match (arrived.next(), arrived.next()) {
            (Some(path), None) => return Some(path.clone()),
            (Some(_), Some(_)) => return None,
            (None, _) => {}
        }
        // Longer paths to these nodes are not the shortest.
        seen.extend(longer.iter().flat_map(|path| path.last()).map(|node| node.into_raw().into_u32()));
        paths = longer;
        if paths.len() > MOST_PATHS {
            return None;
        }
    }
    None
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
            text.ends_with("\n90 start -> routes\n# Distinct keys looked up in each table.\n20 keys routes\n"),
            "{text}"
        );
        assert_eq!(Profile::parse(&text), Ok(profile.clone()));
        assert_eq!(
            (profile.all_keys("routes", 90), profile.all_keys("routes", 79), profile.all_keys("acl", 90)),
            (Some(20), None, None)
        );
        profile.hits.insert("routes".to_string(), 60);
        profile.misses.insert("routes".to_string(), 20);
        assert_eq!(Profile::parse(&profile.print()), Ok(profile.clone()));
        assert_eq!((profile.miss_share("routes"), profile.miss_share("acl")), (Some(0.25), None));
        assert_eq!((profile.arrived("drop", false), profile.arrived("start", true)), (11, 101));
    }

    /// `routes` and its two entries are one lookup in the other program.
    #[test]
    fn packets_pass_through_nodes_that_a_program_lacks() {
        let text = "program p for none\nvariable error: 32\nentry routes\n\
                    node routes: block {} -> queue\nnode queue: buffer { drop \"all\" }\n";
        let program = hlir::text::parse_program(text).unwrap_or_else(|errors| panic!("{errors:?}"));
        let counted = "60 routes -> first\n40 routes -> rest\n60 first -> queue\n30 rest -> second\n10 rest -> queue\n30 second -> queue\n";
        let profile = Profile::parse(counted).expect("a profile");
        assert_eq!(profile.of(&program).edges, Profile::parse("100 routes -> queue").expect("a profile").edges);
        let ended = Profile::parse("90 routes -> queue\n10 routes -> dropped").expect("a profile");
        assert_eq!(ended.of(&program).edges, ended.edges, "where the program drops these packets is not known");
        let whole = Profile::parse("100 routes -> queue\n").expect("a profile");
        assert!(matches!(whole.of(&program), Cow::Borrowed(_)));
    }

    /// A pass has put a block on the edge from `routes` to `queue`, and one on each edge from `other` to `drops`.
    #[test]
    fn packets_take_the_only_shortest_path() {
        let text = "program p for none\nvariable error: 32\nvariable v: 8\nentry routes\n\
                    node routes: branch v == 1 -> routes.counted else other\n\
                    node routes.counted: block {} -> queue\nnode queue: buffer { drop \"all\" }\n\
                    node other: branch v == 2 -> one else two\nnode one: block {} -> drops\nnode two: block {} -> drops\n\
                    node drops: buffer { drop \"some\" }\n";
        let program = hlir::text::parse_program(text).unwrap_or_else(|errors| panic!("{errors:?}"));
        let profile = Profile::parse("90 routes -> queue\n10 routes -> other\n10 other -> drops\n").expect("a profile");
        let expected =
            "90 routes -> routes.counted\n90 routes.counted -> queue\n10 routes -> other\n10 other -> drops\n";
        assert_eq!(profile.of(&program).edges, Profile::parse(expected).expect("a profile").edges);
    }

    #[test]
    fn a_wrong_line_is_named() {
        for text in [
            "1 a -> b\nx a -> b\n",
            "1 a -> b\n1 a b\n",
            "1 a -> b\n2 a -> b\n",
            "1 a -> b\n-1 c -> b",
            "1 a -> b\n1 key a",
            "1 keys t\n2 keys t",
            "1 misses t\n2 misses t",
        ] {
            let message = Profile::parse(text).expect_err("it is wrong");
            assert!(message.starts_with("line 2: "), "{message}");
        }
    }
}
