//! Which node of the program an instruction of its C belongs to.
//!
//! A node's code is in functions that have its name, inlined wherever they are called, or behind a comment with its name
//! in the functions that run packets from node to node. Lookups of a whole group are in the functions of stages, on lines
//! that name the table. What belongs to no node is the stages' own: packets taken up and put aside, loops, the begin and
//! end of a burst.

use hlir::{NodeId, Program};
use runtime::sampler::{Frame, Places};
use std::collections::BTreeMap;
use std::fs;

/// Behind a node's name: parts of it that are functions of their own.
const FUNCTIONS: [&str; 3] = ["_key", "_act", "_find"];
/// Behind a table's name: what stages keep of its lookups.
const KEPT: [&str; 4] = ["_key", "_hash", "_address", "_group"];

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Part {
    /// The packet source and sink, and everything else outside the pipeline.
    Port,
    Stages,
    Node(String),
}

/// How often each part was seen.
pub struct Parts(BTreeMap<Part, u64>);

impl Parts {
    pub fn new(program: &Program, places: &Places) -> Parts {
        let reader = Reader::new(program, places);
        let mut parts = BTreeMap::new();
        for (chain, count) in places {
            *parts.entry(reader.part(chain)).or_default() += count;
        }
        Parts(parts)
    }

    pub fn count(&self) -> u64 {
        self.0.values().sum()
    }

    pub fn share(&self, part: &Part) -> f64 {
        self.0.get(part).copied().unwrap_or_default() as f64 / self.count().max(1) as f64
    }

    pub fn nodes(&self) -> impl Iterator<Item = (&str, f64)> {
        self.0.keys().filter_map(|part| match part {
            Part::Node(name) => Some((name.as_str(), self.share(part))),
            Part::Port | Part::Stages => None,
        })
    }
}

/// The C text of a pipeline, as far as it distinguishes nodes.
struct Reader<'p> {
    program: &'p Program,
    functions: BTreeMap<String, NodeId>,
    /// By the name in the program.
    named: BTreeMap<&'p str, NodeId>,
    tables: BTreeMap<String, NodeId>,
    /// Lines of the files that instructions come from.
    texts: BTreeMap<String, Vec<String>>,
}

impl<'p> Reader<'p> {
    fn new(program: &'p Program, places: &Places) -> Reader<'p> {
        let names = emit::names(program);
        let mut functions = BTreeMap::new();
        for (node, name) in &names.nodes {
            functions.insert(name.clone(), *node);
            for part in FUNCTIONS {
                functions.entry(format!("{name}{part}")).or_insert(*node);
            }
        }
        let mut tables = BTreeMap::new();
        for (table, name) in &names.tables {
            let applies = |node: NodeId| hlir::hot_path::table_of(program, node) == Some(*table);
            let Some((node, _)) = program.nodes.iter().find(|(node, _)| applies(*node)) else { continue };
            tables.insert(name.clone(), node);
            for part in KEPT {
                tables.entry(format!("{name}{part}")).or_insert(node);
            }
        }
        let mut texts = BTreeMap::new();
        for frame in places.iter().flat_map(|(chain, _)| chain).filter(|frame| frame.file.ends_with(".c")) {
            texts.entry(frame.file.clone()).or_insert_with(|| {
                let text = fs::read_to_string(&frame.file).unwrap_or_default();
                text.lines().map(str::to_string).collect()
            });
        }
        let named = program.nodes.iter().map(|(node, declared)| (declared.name.as_str(), node)).collect();
        Reader { program, functions, named, tables, texts }
    }

    fn part(&self, chain: &[Frame]) -> Part {
        if chain.is_empty() {
            return Part::Port;
        }
        let node = chain.iter().find_map(|frame| self.node(frame));
        node.map_or(Part::Stages, |node| Part::Node(self.program.nodes[node].name.clone()))
    }

    fn node(&self, frame: &Frame) -> Option<NodeId> {
        if let Some(node) = self.functions.get(&frame.function) {
            return Some(*node);
        }
        let text = self.texts.get(&frame.file)?.get(..frame.line)?;
        if runs_nodes(&frame.function) {
            return self.written_in_place(text);
        }
        let mut words = words(text.last()?);
        words.find_map(|word| self.tables.get(word)).copied()
    }

    /// The node whose comment is the last one before the end of the text, unless another node is called behind it.
    fn written_in_place(&self, text: &[String]) -> Option<NodeId> {
        for line in text.iter().rev().take_while(|line| *line != "{") {
            let comment = line.trim().strip_prefix("/* ").and_then(|line| line.strip_suffix(" */"));
            if let Some(comment) = comment {
                let name = comment.split_once(": ").map_or(comment, |(name, _)| name);
                return self.named.get(name).copied();
            }
            if words(line).any(|word| self.functions.contains_key(word)) {
                return None;
            }
        }
        None
    }
}

/// Whether a function runs packets from node to node.
fn runs_nodes(function: &str) -> bool {
    function.starts_with("walk") || function.ends_with("_onward") || function == "path_rest"
}

fn words(line: &str) -> impl Iterator<Item = &str> {
    line.split(|letter: char| !letter.is_ascii_alphanumeric() && letter != '_')
}

#[cfg(test)]
mod tests {
    use super::*;
    use driver::frontend;
    use driver::options::Source;
    use std::path::Path;

    #[test]
    fn functions_belong_to_nodes_and_lines_of_stages_to_tables() {
        let app = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/l2fwd/l2fwd.p4");
        let program = frontend::load(&Source::plain(&app)).expect("the application is right").program;
        let c = std::env::temp_dir().join(format!("bacus-attribute-{}.c", std::process::id()));
        let walk = "{\n\t/* Bridge.smac: l2fwd.p4:1 */\n\tif (state->x)\n\t\tBridge_dmac(run, state);\n\treturn;\n";
        fs::write(&c, format!("int count;\nexact_find_group(run.Bridge_dmac, &Bridge_dmac_group);\n{walk}"))
            .expect("a file is written");
        let frame = |function: &str, file: &str, line| Frame { function: function.into(), file: file.into(), line };
        let text = c.display().to_string();
        let places = vec![
            (Vec::new(), 4),
            (vec![frame("exact_find", "exact.h", 3), frame("Bridge_smac_find", &text, 1)], 3),
            (vec![frame("exact_find", "exact.h", 3), frame("path_lookup_0", &text, 2)], 2),
            (vec![frame("process", &text, 1)], 1),
            (vec![frame("walk", &text, 5)], 6),
            (vec![frame("walk", &text, 7)], 4),
        ];
        let parts = Parts::new(&program, &places);
        fs::remove_file(c).expect("the file is there");
        assert_eq!((parts.share(&Part::Port), parts.share(&Part::Stages)), (0.2, 0.25));
        assert_eq!(parts.nodes().collect::<Vec<_>>(), [("Bridge.dmac", 0.1), ("Bridge.smac", 0.45)]);
    }
}
