//! Headers that must not alias the packet that they were extracted from.
//!
//! Usually a header stays in the packet, and writes to it change the packet's bytes: a deparser places them
//! before anything reads the bytes. Without a deparser in between, the packet must stay as it is, so such a
//! header is copied when it is extracted. P4 programs have none, since they end in a deparser.

use crate::deparse::{effect_places, same_packet};
use crate::storage::goes_back;
use hlir::effects::{Part, statement_writes, writes};
use hlir::{Binary, Bytes, Effect, Expression, HeaderId, Node, NodeId, NodeKind, Program, Reentry, Statement};
use std::collections::BTreeSet;

/// Of the headers, those that must be copied because of these reachable nodes.
pub fn unaliased(program: &Program, nodes: &[NodeId]) -> BTreeSet<HeaderId> {
    let showing = Showing::of(program, nodes);
    let mut unaliased = BTreeSet::new();
    if showing.nodes.is_empty() {
        return unaliased;
    }
    for &node in nodes {
        let extracted = extracted(&program.nodes[node]);
        if extracted.is_empty() {
            continue;
        }
        let written: BTreeSet<HeaderId> = until_deparsed(program, node)
            .into_iter()
            .filter(|node| showing.nodes.contains(node))
            .flat_map(|node| written(program, node))
            .collect();
        unaliased.extend(extracted.intersection(&written));
    }
    unaliased
}

/// Nodes from which the packet's bytes are read before a deparser has run.
struct Showing<'p> {
    program: &'p Program,
    nodes: BTreeSet<NodeId>,
}

impl Showing<'_> {
    fn of<'p>(program: &'p Program, nodes: &[NodeId]) -> Showing<'p> {
        let mut showing = Showing { program, nodes: BTreeSet::new() };
        loop {
            let before = showing.nodes.len();
            for &node in nodes.iter().rev() {
                if showing.is_one(node) {
                    showing.nodes.insert(node);
                }
            }
            if showing.nodes.len() == before {
                return showing;
            }
        }
    }

    fn is_one(&self, node: NodeId) -> bool {
        match &self.program.nodes[node].kind {
            NodeKind::Deparse { .. } => false,
            NodeKind::Branch { condition, then, otherwise } => {
                self.shows_where(*then, condition) || self.nodes.contains(otherwise)
            }
            NodeKind::Buffer { rules, otherwise } => {
                rules.iter().any(|rule| self.effect(&rule.effect))
                    || otherwise.is_some_and(|next| self.nodes.contains(&next))
            }
            NodeKind::State { .. } | NodeKind::Block { .. } | NodeKind::Apply { .. } => {
                same_packet(self.program, node).iter().any(|next| self.nodes.contains(next))
            }
        }
    }

    /// The same for packets that reach a node because `condition` holds. A drop may bypass the deparser on
    /// its way to a buffering manager that tests the same condition, so that manager's other effects do not
    /// count.
    fn shows_where(&self, node: NodeId, condition: &Expression) -> bool {
        let NodeKind::Buffer { rules, otherwise } = &self.program.nodes[node].kind else {
            return self.nodes.contains(&node);
        };
        let holding = conjuncts(condition);
        let last = rules.iter().position(|rule| holding.contains(&&rule.condition) && rule.effect.is_last());
        let carried_out = &rules[..last.map_or(rules.len(), |last| last + 1)];
        carried_out.iter().any(|rule| self.effect(&rule.effect))
            || last.is_none() && otherwise.is_some_and(|next| self.nodes.contains(&next))
    }

    /// Whether an effect reads the bytes: the packet leaves, a parser or the control plane reads it, or it
    /// becomes the received packet.
    fn effect(&self, effect: &Effect) -> bool {
        let copied = |copy: &Reentry| match copy.bytes {
            Bytes::Original => false,
            Bytes::Deparsed => true,
            Bytes::Current => self.nodes.contains(&copy.to),
        };
        let comes_in = |copy: &Reentry| copy.bytes == Bytes::Current && goes_back(self.program, vec![copy.to]);
        match effect {
            Effect::Drop { .. } => false,
            Effect::Send { .. } | Effect::Punt { .. } => true,
            Effect::Unicast { to, .. } => self.nodes.contains(to),
            Effect::Replicate { copy, .. } => copied(copy),
            Effect::Clone { copy, .. } | Effect::Resubmit { copy } | Effect::Recirculate { copy } => {
                copied(copy) || comes_in(copy)
            }
        }
    }
}

/// The conjuncts of a condition.
fn conjuncts(condition: &Expression) -> Vec<&Expression> {
    let Expression::Binary { operator: Binary::LogicalAnd, left, right } = condition else { return vec![condition] };
    [conjuncts(left), conjuncts(right)].concat()
}

/// The node, and the nodes that the same packet reaches before a deparser.
fn until_deparsed(program: &Program, node: NodeId) -> BTreeSet<NodeId> {
    let mut reached = BTreeSet::new();
    let mut left = vec![node];
    while let Some(node) = left.pop() {
        let is_deparser = matches!(program.nodes[node].kind, NodeKind::Deparse { .. });
        if !is_deparser && reached.insert(node) {
            left.extend(same_packet(program, node));
        }
    }
    reached
}

fn extracted(node: &Node) -> BTreeSet<HeaderId> {
    let mut headers = BTreeSet::new();
    for statement in node.kind.body() {
        statement.walk(&mut |statement| {
            if let Statement::Extract { header, .. } = statement {
                headers.insert(*header);
            }
        });
    }
    headers
}

/// Headers that a node writes other than by extracting them.
fn written(program: &Program, node: NodeId) -> BTreeSet<HeaderId> {
    let of_part = |part: Part| match part {
        Part::Header(header) => Some(header),
        Part::Variable(_) | Part::Length => None,
    };
    match &program.nodes[node].kind {
        NodeKind::Buffer { rules, .. } => {
            rules.iter().flat_map(|rule| effect_places(&rule.effect)).map(Part::from).filter_map(of_part).collect()
        }
        NodeKind::State { body, .. } => {
            let mut headers = BTreeSet::new();
            for statement in body {
                statement.walk(&mut |statement| {
                    if !matches!(statement, Statement::Extract { .. }) {
                        headers.extend(statement_writes(statement).into_iter().filter_map(of_part));
                    }
                });
            }
            headers
        }
        NodeKind::Block { .. } | NodeKind::Branch { .. } | NodeKind::Apply { .. } | NodeKind::Deparse { .. } => {
            writes(program, node).into_iter().filter_map(of_part).collect()
        }
    }
}
