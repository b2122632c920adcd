//! Visitors of everything in a program that holds expressions, for passes that read or rewrite all of them.
//!
//! Each function is one exhaustive `match`: a new kind of node or statement does not compile until its
//! expressions are visited.

use hlir::{Argument, Call, Effect, Expression, HashInput, NodeKind, Place, Program, Reentry, Rule, Statement};

/// Calls `visit` with each outermost expression of the program.
pub fn expressions(program: &mut Program, visit: &mut impl FnMut(&mut Expression)) {
    for (_, table) in program.tables.iter_mut() {
        table.keys.iter_mut().for_each(|key| visit(&mut key.value));
        table.selector.iter_mut().for_each(&mut *visit);
        for action in &mut table.actions {
            statements(&mut action.body, visit);
        }
    }
    for (_, node) in program.nodes.iter_mut() {
        node_expressions(&mut node.kind, visit);
    }
}

fn node_expressions(kind: &mut NodeKind, visit: &mut impl FnMut(&mut Expression)) {
    match kind {
        NodeKind::State { body, select, .. } => {
            statements(body, visit);
            select.keys.iter_mut().for_each(visit);
        }
        NodeKind::Block { body, .. } | NodeKind::Deparse { body, .. } => statements(body, visit),
        NodeKind::Branch { condition, .. } => visit(condition),
        NodeKind::Apply { .. } => {}
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

pub fn statements(body: &mut [Statement], visit: &mut impl FnMut(&mut Expression)) {
    for statement in body {
        match statement {
            Statement::Assign { value, .. } => visit(value),
            Statement::If { condition, then, otherwise } => {
                visit(condition);
                statements(then, visit);
                statements(otherwise, visit);
            }
            Statement::Scope { body, .. } | Statement::Loop { body, .. } => statements(body, visit),
            Statement::Extract { varbit, .. } => varbit.iter_mut().for_each(&mut *visit),
            Statement::Advance(bits) => visit(bits),
            Statement::Verify { condition, error } => {
                visit(condition);
                visit(error);
            }
            Statement::Truncate(bytes) => visit(bytes),
            Statement::Call(call) => call_expressions(call, visit),
            Statement::SetValid(_)
            | Statement::SetInvalid(_)
            | Statement::CopyHeader { .. }
            | Statement::CopyVarbit { .. }
            | Statement::Leave(_)
            | Statement::Exit
            | Statement::Lookahead { .. }
            | Statement::Emit(_) => {}
        }
    }
}

fn call_expressions(call: &mut Call, visit: &mut impl FnMut(&mut Expression)) {
    match call {
        Call::Count { index, .. } => index.iter_mut().for_each(visit),
        Call::ReadRegister { index, .. } => visit(index),
        Call::WriteRegister { index, value, .. } => {
            visit(index);
            visit(value);
        }
        Call::ExecuteMeter { index, colour, .. } => index.iter_mut().chain(colour).for_each(visit),
        Call::Hash { data, .. } | Call::AddChecksum { data, .. } => {
            data.iter_mut().for_each(|input| input_expressions(input, visit));
        }
        Call::Random { low, high, .. } => {
            visit(low);
            visit(high);
        }
        Call::SendDigest { values, .. } => values.iter_mut().for_each(visit),
        Call::Log { arguments, .. } => arguments.iter_mut().for_each(visit),
        Call::Assert { condition, .. } => visit(condition),
        Call::AddEntry { arguments, expiry, .. } => arguments.iter_mut().chain(expiry).for_each(visit),
        Call::RestartTimer { expiry } => expiry.iter_mut().for_each(visit),
        Call::Custom { arguments, .. } => arguments.iter_mut().for_each(|argument| match argument {
            Argument::In(value) => visit(value),
            Argument::Out(_) | Argument::InOut(_) | Argument::Payload => {}
        }),
    }
}

fn input_expressions(input: &mut HashInput, visit: &mut impl FnMut(&mut Expression)) {
    match input {
        HashInput::Bits(value) => visit(value),
        HashInput::Field(_) | HashInput::Payload => {}
    }
}

/// Places that a call reads beside its expressions.
pub fn call_reads(call: &Call) -> Vec<Place> {
    match call {
        Call::AddChecksum { sum, .. } => vec![*sum],
        Call::Custom { arguments, .. } => arguments
            .iter()
            .filter_map(|argument| match argument {
                Argument::InOut(place) => Some(*place),
                Argument::In(_) | Argument::Out(_) | Argument::Payload => None,
            })
            .collect(),
        Call::Count { .. }
        | Call::ReadRegister { .. }
        | Call::WriteRegister { .. }
        | Call::ExecuteMeter { .. }
        | Call::Hash { .. }
        | Call::Random { .. }
        | Call::SendDigest { .. }
        | Call::Log { .. }
        | Call::Assert { .. }
        | Call::AddEntry { .. }
        | Call::RestartTimer { .. } => Vec::new(),
    }
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
