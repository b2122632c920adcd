//! What is settled when a packet of the hot path commits, or comes to a later stage: it goes on along the path
//! wherever it did so in the speculative phase. The C compiler is told, so that it drops the checks.
//!
//! A check of a block often counts before it drops. The C compiler keeps such a check, for the sake of the count,
//! even if it is told that the block does not end there. So the code of a settled node has no such arms.

use super::HotPath;
use crate::c::{Expr, Item, Stmt};
use crate::node::{Written, stage};
use hlir::hot_path::has_lasting_outcome;

impl HotPath<'_> {
    /// Whether a packet of the hot path goes on along it at a place: it was there in the speculative phase, and lookups
    /// up to there have the same outcome. The default action's record could be another one by now, and so could a
    /// group's member.
    pub(super) fn is_settled(&self, place: usize) -> bool {
        place < self.last()
            && self.plan.nodes[..=place].iter().all(|node| has_lasting_outcome(self.unit.program, *node))
    }

    /// The code of a settled node without the arms that lead off the path, as a function of its own; none if it has none.
    pub(super) fn settled_item(&self, place: usize, written: &Written) -> Option<(String, Vec<Item>)> {
        let title = match self.is_found(place) {
            true => format!("{}_act", self.title(place)),
            false => self.title(place).to_string(),
        };
        let (of, parameters, mut body) = written.items.iter().find_map(|item| match item {
            Item::Function { of, name, parameters, body } if *name == title => Some((of, parameters, body.clone())),
            Item::Function { .. }
            | Item::Comment(_)
            | Item::Directive(_)
            | Item::Enum { .. }
            | Item::Struct(_)
            | Item::Variable { .. }
            | Item::Blank => None,
        })?;
        if !without_exits(&mut body, &self.at(place + 1)) {
            return None;
        }
        let settled = format!("{title}_settled");
        let about = format!("{} for a packet that stays on the path.", self.unit.node(self.plan.nodes[place]).name);
        let more: Vec<&str> = parameters[2..].iter().map(String::as_str).collect();
        let mut items = vec![Item::Comment(about)];
        items.extend(stage(&settled, of, body, &more));
        Some((settled, items))
    }
}

/// Replaces statements that all end elsewhere than at `next`. Whether there were any.
fn without_exits(body: &mut Vec<Stmt>, next: &Expr) -> bool {
    let is_return = |statement: &Stmt| matches!(statement, Stmt::Return(_));
    if body.last().is_some_and(is_return) && body.iter().all(|statement| ends_elsewhere(statement, next)) {
        *body = vec![Stmt::call("__builtin_unreachable", [])];
        return true;
    }
    let mut any = false;
    for inner in body.iter_mut().flat_map(Stmt::bodies_mut) {
        any |= without_exits(inner, next);
    }
    any
}

/// Whether control can leave a statement only for what follows, or for another node than `next`.
fn ends_elsewhere(statement: &Stmt, next: &Expr) -> bool {
    match statement {
        // What a function returns may be any node.
        Stmt::Return(to) => matches!(to, Some(Expr::Name(_))) && to.as_ref() != Some(next),
        // Labels and jumps stay together.
        Stmt::Label(_) | Stmt::Goto(_) | Stmt::Break => false,
        Stmt::Declare { .. }
        | Stmt::Assign(..)
        | Stmt::Do(_)
        | Stmt::If { .. }
        | Stmt::Switch { .. }
        | Stmt::Count { .. }
        | Stmt::While(..)
        | Stmt::Block(_)
        | Stmt::Comment(_)
        | Stmt::Blank => statement.bodies().into_iter().flatten().all(|inner| ends_elsewhere(inner, next)),
    }
}
