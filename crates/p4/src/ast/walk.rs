//! Walks over the syntax tree: every expression of a declaration, a statement or an expression, outermost first.

use super::{
    ActionReference, Block, Collection, Declaration, DeclarationKind, Entry, Expression, ExpressionKind, PropertyValue,
    State, Statement, StatementKind, SwitchLabel, Table, Transition,
};

/// Calls `visit` with every expression of a declaration's body, also those within others; types and parameters are left out.
pub fn declaration_expressions<'a>(declaration: &'a Declaration, visit: &mut dyn FnMut(&'a Expression)) {
    match &declaration.kind {
        DeclarationKind::Control(control) => {
            control.locals.iter().for_each(|local| declaration_expressions(local, visit));
            control.apply.iter().for_each(|body| block_expressions(body, visit));
        }
        DeclarationKind::Parser(parser) => {
            let Some(body) = &parser.body else { return };
            body.locals.iter().for_each(|local| declaration_expressions(local, visit));
            body.states.iter().for_each(|state| state_expressions(state, visit));
        }
        DeclarationKind::Action { body, .. } => block_expressions(body, visit),
        DeclarationKind::Function(function) => function.body.iter().for_each(|body| block_expressions(body, visit)),
        DeclarationKind::Table(table) => table_expressions(table, visit),
        DeclarationKind::Instance(instance) => {
            instance.arguments.iter().for_each(|argument| expressions(&argument.value, visit));
            instance.body.iter().flatten().for_each(|member| declaration_expressions(member, visit));
        }
        DeclarationKind::Variable(variable) => variable.value.iter().for_each(|value| expressions(value, visit)),
        DeclarationKind::Constant(constant) => expressions(&constant.value, visit),
        DeclarationKind::ValueSet(set) => expressions(&set.size, visit),
        DeclarationKind::Enumeration(enumeration) => {
            enumeration.members.iter().flat_map(|member| &member.value).for_each(|value| expressions(value, visit));
        }
        DeclarationKind::Assertion(assertion) => expressions(assertion, visit),
        DeclarationKind::Typedef { .. }
        | DeclarationKind::NewType { .. }
        | DeclarationKind::Structure(_)
        | DeclarationKind::Error(_)
        | DeclarationKind::MatchKind(_)
        | DeclarationKind::Extern(_)
        | DeclarationKind::Package(_) => {}
    }
}

fn state_expressions<'a>(state: &'a State, visit: &mut dyn FnMut(&'a Expression)) {
    state.statements.iter().for_each(|statement| statement_expressions(statement, visit));
    if let Some(Transition::Select { subjects, cases, .. }) = &state.transition {
        let keys = cases.iter().flat_map(|case| &case.keys);
        subjects.iter().chain(keys).for_each(|part| expressions(part, visit));
    }
}

fn table_expressions<'a>(table: &'a Table, visit: &mut dyn FnMut(&'a Expression)) {
    for property in &table.properties {
        match &property.value {
            PropertyValue::Keys(keys) => keys.iter().for_each(|key| expressions(&key.expression, visit)),
            PropertyValue::Actions(listed) => {
                listed.iter().for_each(|ActionReference { action, .. }| expressions(action, visit));
            }
            PropertyValue::Entries(entries) => {
                for Entry { priority, keys, action, .. } in entries {
                    priority.iter().chain(keys).chain([action]).for_each(|part| expressions(part, visit));
                }
            }
            PropertyValue::Expression(value) => expressions(value, visit),
        }
    }
}

/// Calls `visit` with every expression of a statement, also those within others.
pub fn statement_expressions<'a>(statement: &'a Statement, visit: &mut dyn FnMut(&'a Expression)) {
    match &statement.kind {
        StatementKind::Assign { target, value, .. } => {
            expressions(target, visit);
            expressions(value, visit);
        }
        StatementKind::Call(call) => expressions(call, visit),
        StatementKind::If { condition, accepted, rejected } => {
            expressions(condition, visit);
            statement_expressions(accepted, visit);
            if let Some(rejected) = rejected {
                statement_expressions(rejected, visit);
            }
        }
        StatementKind::Block(block) => block_expressions(block, visit),
        StatementKind::Switch { subject, cases } => {
            expressions(subject, visit);
            for case in cases {
                if let SwitchLabel::Expression(label) = &case.label {
                    expressions(label, visit);
                }
                if let Some(body) = &case.body {
                    block_expressions(body, visit);
                }
            }
        }
        StatementKind::For(parts) => {
            parts.initial.iter().chain(&parts.update).for_each(|part| statement_expressions(part, visit));
            expressions(&parts.condition, visit);
            statement_expressions(&parts.body, visit);
        }
        StatementKind::ForIn(parts) => {
            match &parts.collection {
                Collection::Expression(collection) => expressions(collection, visit),
                Collection::Range { low, high } => {
                    expressions(low, visit);
                    expressions(high, visit);
                }
            }
            statement_expressions(&parts.body, visit);
        }
        StatementKind::Return(value) => value.iter().for_each(|value| expressions(value, visit)),
        StatementKind::Declare(declaration) => declaration_expressions(declaration, visit),
        StatementKind::Empty | StatementKind::Break | StatementKind::Continue | StatementKind::Exit => {}
    }
}

pub fn block_expressions<'a>(block: &'a Block, visit: &mut dyn FnMut(&'a Expression)) {
    block.statements.iter().for_each(|statement| statement_expressions(statement, visit));
}

/// Calls `visit` with an expression and all within it, outermost first.
pub fn expressions<'a>(expression: &'a Expression, visit: &mut dyn FnMut(&'a Expression)) {
    visit(expression);
    match &expression.kind {
        ExpressionKind::List { elements, .. } => elements.iter().for_each(|element| expressions(element, visit)),
        ExpressionKind::Structure { fields, .. } => fields.iter().for_each(|field| expressions(&field.value, visit)),
        ExpressionKind::Unary { operand, .. } | ExpressionKind::Cast { operand, .. } => expressions(operand, visit),
        ExpressionKind::Binary { left, right, .. }
        | ExpressionKind::Mask { value: left, mask: right }
        | ExpressionKind::Range { low: left, high: right }
        | ExpressionKind::Index { base: left, index: right } => {
            expressions(left, visit);
            expressions(right, visit);
        }
        ExpressionKind::Conditional { condition: first, accepted: second, rejected: third }
        | ExpressionKind::Slice { base: first, high: second, low: third }
        | ExpressionKind::PlusSlice { base: first, low: second, width: third } => {
            expressions(first, visit);
            expressions(second, visit);
            expressions(third, visit);
        }
        ExpressionKind::Member { base, .. } => expressions(base, visit),
        ExpressionKind::Call { callee, arguments, .. } => {
            expressions(callee, visit);
            arguments.iter().for_each(|argument| expressions(&argument.value, visit));
        }
        ExpressionKind::Bool(_)
        | ExpressionKind::Integer(_)
        | ExpressionKind::String(_)
        | ExpressionKind::Path(_)
        | ExpressionKind::This
        | ExpressionKind::Type(_)
        | ExpressionKind::Invalid
        | ExpressionKind::DefaultValue
        | ExpressionKind::DontCare
        | ExpressionKind::Default
        | ExpressionKind::Erroneous => {}
    }
}
