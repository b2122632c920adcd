//! Edges of the graph, for joins.

use crate::rewrite::dead;
use hlir::{Effect, Next, NodeId, NodeKind, Program};

/// A name that is not among these.
pub fn unique(name: String, taken: &[String]) -> String {
    let mut unique = name;
    while taken.contains(&unique) {
        unique.push('+');
    }
    unique
}

/// Lets every packet that came to `from` come to `to` first. What `to` itself leads to stays, and so do packets
/// that the control plane resumes.
pub fn lead_to(program: &mut Program, from: NodeId, to: NodeId) {
    let onward = |node: NodeId| if node == from { to } else { node };
    for (id, node) in program.nodes.iter_mut().filter(|(id, _)| *id != to) {
        let resumes = resumes(&node.kind);
        if id != from {
            dead::redirect(&mut node.kind, &onward);
        }
        let NodeKind::Buffer { rules, .. } = &mut node.kind else { continue };
        let punts = rules.iter_mut().filter_map(|rule| match &mut rule.effect {
            Effect::Punt { resume, .. } => Some(resume),
            Effect::Drop { .. }
            | Effect::Send { .. }
            | Effect::Unicast { .. }
            | Effect::Replicate { .. }
            | Effect::Clone { .. }
            | Effect::Resubmit { .. }
            | Effect::Recirculate { .. } => None,
        });
        punts.zip(resumes).for_each(|(resume, before)| *resume = before);
    }
    for (_, parser) in program.parsers.iter_mut() {
        parser.accept = onward(parser.accept);
        parser.reject = onward(parser.reject);
    }
    program.entry = program.entry.map(onward);
}

/// Where packets of a buffering manager are resumed.
pub fn resumes(kind: &NodeKind) -> Vec<NodeId> {
    let NodeKind::Buffer { rules, .. } = kind else { return Vec::new() };
    let punts = rules.iter().filter_map(|rule| match &rule.effect {
        Effect::Punt { resume, .. } => Some(*resume),
        Effect::Drop { .. }
        | Effect::Send { .. }
        | Effect::Unicast { .. }
        | Effect::Replicate { .. }
        | Effect::Clone { .. }
        | Effect::Resubmit { .. }
        | Effect::Recirculate { .. } => None,
    });
    punts.collect()
}

/// The one successor of a block, and of a lookup that has one whatever it finds.
pub fn only_next(program: &Program, node: NodeId) -> Option<NodeId> {
    match &program.nodes[node].kind {
        NodeKind::Block { next, exit: None, .. } | NodeKind::Apply { next: Next::Always(next), exit: None, .. } => {
            Some(*next)
        }
        NodeKind::Block { .. }
        | NodeKind::Apply { .. }
        | NodeKind::State { .. }
        | NodeKind::Branch { .. }
        | NodeKind::Deparse { .. }
        | NodeKind::Buffer { .. } => None,
    }
}

/// The lookup that some packets come to straight behind this one.
pub fn next_lookup(program: &Program, node: NodeId) -> Option<NodeId> {
    let mut waiting = program.nodes[node].own_successors();
    waiting.reverse();
    let mut seen = Vec::new();
    while let Some(at) = waiting.pop() {
        if seen.contains(&at) {
            continue;
        }
        seen.push(at);
        match &program.nodes[at].kind {
            NodeKind::Apply { .. } => return Some(at),
            NodeKind::Block { .. } | NodeKind::Branch { .. } => {
                waiting.extend(program.nodes[at].own_successors().into_iter().rev());
            }
            NodeKind::State { .. } | NodeKind::Deparse { .. } | NodeKind::Buffer { .. } => {}
        }
    }
    None
}
