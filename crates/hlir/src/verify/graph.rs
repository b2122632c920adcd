//! Checks that every run through the graph ends: only parser states and re-entering packets may form cycles.
//!
//! The program's budgets bound these, and the number of copies; nothing else is bounded.

use super::{Site, Verifier};
use crate::text::{get, number};
use crate::{Effect, NodeId, NodeKind, Program};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Mark {
    New,
    /// On the current depth-first path.
    Open,
    Done,
}

/// Bound of the copy budget: a million copies that re-enter 64 times each take seconds, and more would be no
/// bound at all.
const MOST_COPIES: u32 = 1 << 20;

impl Verifier<'_> {
    /// The copy budget allows some copies, and not any number.
    pub(super) fn budget(&mut self) {
        let copies = self.program.budget.copies;
        let copying = self.program.nodes.values().find(|node| node.effects().any(Effect::multiplies));
        if copies > MOST_COPIES {
            let hint = format!("a budget has at most {MOST_COPIES}");
            self.report(Site::Budget, format!("{copies} copies of one packet are no limit"), &hint);
        } else if let Some(node) = copying.filter(|_| copies == 0) {
            let hint = "of every packet that comes there, all copies would be dropped";
            self.report(Site::Budget, format!("no copies, and node `{}` makes some", node.name), hint);
        }
    }

    /// Depth-first search with an explicit stack: graphs are deeper than the machine's stack.
    pub(super) fn graph(&mut self) {
        let nodes = &self.program.nodes;
        let mut marks = vec![Mark::New; nodes.len()];
        for (root, _) in nodes.iter() {
            let mut path: Vec<(NodeId, Vec<NodeId>)> = Vec::new();
            if marks[number(root) as usize] == Mark::New {
                marks[number(root) as usize] = Mark::Open;
                path.push((root, self.forward(root)));
            }
            while let Some((node, rest)) = path.last_mut() {
                let node = *node;
                let Some(next) = rest.pop() else {
                    marks[number(node) as usize] = Mark::Done;
                    path.pop();
                    continue;
                };
                match marks[number(next) as usize] {
                    Mark::Done => {}
                    Mark::Open => self.cycle(node, next),
                    Mark::New => {
                        marks[number(next) as usize] = Mark::Open;
                        let following = self.forward(next);
                        path.push((next, following));
                    }
                }
            }
        }
    }

    fn cycle(&mut self, from: NodeId, to: NodeId) {
        let name = &self.program.nodes[to].name;
        let hint = "only parser states, and packets that a buffering manager lets enter again, may come back";
        self.report(Site::Node(from), format!("its edge to `{name}` closes a cycle"), hint);
    }

    /// The edges of a node that must not be back edges.
    fn forward(&self, id: NodeId) -> Vec<NodeId> {
        let parser = self.program.nodes[id].parser();
        let is_state = |next: &NodeId| parser.is_some() && self.program.nodes[*next].parser() == parser;
        onward(self.program, id).into_iter().filter(|next| !is_state(next)).collect()
    }
}

/// Where a packet can go from a node without re-entering the graph.
pub(crate) fn onward(program: &Program, id: NodeId) -> Vec<NodeId> {
    let node = &program.nodes[id];
    let edges: Vec<NodeId> = match &node.kind {
        NodeKind::State { parser, .. } => {
            let reject = get(&program.parsers, *parser).map(|parser| parser.reject);
            node.successors().into_iter().chain(reject).collect()
        }
        NodeKind::Buffer { rules, otherwise } => {
            let edges = rules.iter().filter_map(|rule| match &rule.effect {
                Effect::Unicast { to, .. } => Some(*to),
                Effect::Replicate { copy, .. } => Some(copy.to),
                Effect::Drop { .. }
                | Effect::Send { .. }
                | Effect::Clone { .. }
                | Effect::Resubmit { .. }
                | Effect::Recirculate { .. }
                | Effect::Punt { .. } => None,
            });
            edges.chain(*otherwise).collect()
        }
        NodeKind::Block { .. } | NodeKind::Branch { .. } | NodeKind::Apply { .. } | NodeKind::Deparse { .. } => {
            node.successors()
        }
    };
    edges.into_iter().filter(|next| get(&program.nodes, *next).is_some()).collect()
}
