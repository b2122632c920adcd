//! Visitors of the expressions in statements.
//!
//! Each function is one exhaustive `match`: a new kind of statement does not compile until its expressions
//! are visited.

use crate::{Argument, Call, Expression, HashInput, Place, Statement};

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

/// The calls in statements, nested ones too.
pub fn calls(body: &mut [Statement], visit: &mut impl FnMut(&mut Call)) {
    for statement in body {
        if let Statement::Call(call) = statement {
            visit(call);
        }
        nested(statement, &mut |body| calls(body, visit));
    }
}

/// The statements directly within a statement, list by list.
pub fn nested(statement: &mut Statement, visit: &mut dyn FnMut(&mut Vec<Statement>)) {
    match statement {
        Statement::If { then, otherwise, .. } => {
            visit(then);
            visit(otherwise);
        }
        Statement::Scope { body, .. } | Statement::Loop { body, .. } => visit(body),
        Statement::Call(_)
        | Statement::Assign { .. }
        | Statement::SetValid(_)
        | Statement::SetInvalid(_)
        | Statement::CopyHeader { .. }
        | Statement::CopyVarbit { .. }
        | Statement::Leave(_)
        | Statement::Exit
        | Statement::Extract { .. }
        | Statement::Advance(_)
        | Statement::Lookahead { .. }
        | Statement::Verify { .. }
        | Statement::Emit(_)
        | Statement::Truncate(_) => {}
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
