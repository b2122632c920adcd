//! Visitors of everything in a program that holds expressions, for passes that read or rewrite all of them.
//!
//! Each function is one exhaustive `match`: a new kind of node or statement does not compile until its
//! expressions are visited.

pub use hlir::visit::{call_reads, nested, statements};
use hlir::{Effect, Expression, NodeKind, Program, Reentry, Rule, Statement};

/// Calls `visit` with each outermost expression of the program.
pub fn expressions(program: &mut Program, visit: &mut impl FnMut(&mut Expression)) {
    outside_bodies(program, visit);
    bodies(program, &mut |body| statements(body, visit));
}

/// The same without those in statements.
pub fn outside_bodies(program: &mut Program, visit: &mut impl FnMut(&mut Expression)) {
    for (_, table) in program.tables.iter_mut() {
        table.keys.iter_mut().for_each(|key| visit(&mut key.value));
        table.selector.iter_mut().for_each(&mut *visit);
    }
    for (_, node) in program.nodes.iter_mut() {
        node_expressions(&mut node.kind, visit);
    }
}

fn node_expressions(kind: &mut NodeKind, visit: &mut impl FnMut(&mut Expression)) {
    match kind {
        NodeKind::State { select, .. } => select.keys.iter_mut().for_each(visit),
        NodeKind::Branch { condition, .. } => visit(condition),
        NodeKind::Block { .. } | NodeKind::Deparse { .. } | NodeKind::Apply { .. } => {}
        NodeKind::Buffer { rules, .. } => rules.iter_mut().for_each(|rule| rule_expressions(rule, visit)),
    }
}

fn rule_expressions(rule: &mut Rule, visit: &mut impl FnMut(&mut Expression)) {
    visit(&mut rule.condition);
    match &mut rule.effect {
        Effect::Drop { .. } | Effect::Punt { .. } => {}
        Effect::Send { port } => visit(port),
        Effect::Unicast { set, .. } => set.iter_mut().for_each(|(_, value)| visit(value)),
        Effect::Replicate { group, copy } => {
            visit(group);
            copy_expressions(copy, visit);
        }
        Effect::Clone { session, copy } => {
            visit(session);
            copy_expressions(copy, visit);
        }
        Effect::Resubmit { copy } | Effect::Recirculate { copy } => copy_expressions(copy, visit),
    }
}

fn copy_expressions(copy: &mut Reentry, visit: &mut impl FnMut(&mut Expression)) {
    copy.set.iter_mut().for_each(|(_, value)| visit(value));
}

/// Every statement list of the program: node bodies and action bodies.
pub fn bodies(program: &mut Program, visit: &mut impl FnMut(&mut Vec<Statement>)) {
    for (_, table) in program.tables.iter_mut() {
        table.actions.iter_mut().for_each(|action| visit(&mut action.body));
    }
    for (_, node) in program.nodes.iter_mut() {
        match &mut node.kind {
            NodeKind::State { body, .. } | NodeKind::Block { body, .. } | NodeKind::Deparse { body, .. } => visit(body),
            NodeKind::Branch { .. } | NodeKind::Apply { .. } | NodeKind::Buffer { .. } => {}
        }
    }
}
