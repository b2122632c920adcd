//! Makes two lookups adjacent: a lookup between them moves before the first, or behind the second, if it is
//! independent of what it passes.

use super::graph::{lead_to, only_next, resumes};
use hlir::join::{Accesses, independent};
use hlir::{Next, NodeId, NodeKind, Program};

/// A lookup that moves before another, which it follows now.
pub struct Moved {
    earlier: NodeId,
    later: NodeId,
    /// The last node before the later one, and what is behind it.
    last: NodeId,
    behind: NodeId,
}

impl Moved {
    pub fn applied(&self, program: &Program) -> Program {
        let mut moved = program.clone();
        lead_to(&mut moved, self.earlier, self.later);
        set_next(&mut moved, self.last, self.behind);
        set_next(&mut moved, self.later, self.earlier);
        moved
    }
}

/// Moves of the lookup between this lookup and the one after next: before both, or behind them.
pub fn brought_together(program: &Program, first: NodeId) -> Vec<Moved> {
    let Some(between) = next_always(program, first) else { return Vec::new() };
    let before_first = moved_before(program, first, between);
    let behind_second = next_always(program, between).and_then(|second| moved_before(program, between, second));
    before_first.into_iter().chain(behind_second).collect()
}

/// The lookup that every packet comes to behind this one.
fn next_always(program: &Program, node: NodeId) -> Option<NodeId> {
    let mut at = only_next(program, node)?;
    for _ in 0..program.nodes.len() {
        if matches!(program.nodes[at].kind, NodeKind::Apply { .. }) {
            return Some(at);
        }
        at = only_next(program, at)?;
    }
    None
}

/// Lookup `later` before `earlier`, where it follows now, if no packet sees a difference.
fn moved_before(program: &Program, earlier: NodeId, later: NodeId) -> Option<Moved> {
    let (NodeKind::Apply { table: first, .. }, NodeKind::Apply { table: second, next: Next::Always(behind), .. }) =
        (&program.nodes[earlier].kind, &program.nodes[later].kind)
    else {
        return None;
    };
    let mut passed = Accesses::of_table(program, *first);
    let (mut at, mut last) = (only_next(program, earlier)?, earlier);
    while at != later {
        if !comes_only_from(program, last, at) {
            return None;
        }
        if let NodeKind::Block { body, .. } = &program.nodes[at].kind {
            passed.add(&Accesses::of_statements(program, body));
        }
        (last, at) = (at, only_next(program, at)?);
    }
    let is_resumed = program.nodes.values().any(|node| resumes(&node.kind).contains(&earlier));
    if !comes_only_from(program, last, later)
        || is_resumed
        || !independent(&passed, &Accesses::of_table(program, *second))
    {
        return None;
    }
    Some(Moved { earlier, later, last, behind: *behind })
}

fn comes_only_from(program: &Program, from: NodeId, to: NodeId) -> bool {
    let others = program.nodes.iter().any(|(id, node)| id != from && node.successors().contains(&to));
    let enters = program.entry == Some(to) || program.parsers.values().any(|it| it.reject == to || it.accept == to);
    !others && !enters
}

fn set_next(program: &mut Program, node: NodeId, to: NodeId) {
    match &mut program.nodes[node].kind {
        NodeKind::Block { next, .. } | NodeKind::Apply { next: Next::Always(next), .. } => *next = to,
        NodeKind::Apply { .. }
        | NodeKind::State { .. }
        | NodeKind::Branch { .. }
        | NodeKind::Deparse { .. }
        | NodeKind::Buffer { .. } => {}
    }
}
