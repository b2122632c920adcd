//! Whether a body may read a parameter after it has written it.
//!
//! A write to a field of an invalid header changes nothing (P4_16 8.17). A parameter that such a field is passed for is a variable of its own (6.8),
//! which has what was written to it: where it is read again, it cannot be the field itself.

use super::storage::{Leaf, Storage};
use crate::ast::walk::{declaration_expressions, expressions};
use crate::ast::{Block, Collection, DeclarationId, Expression, ExpressionKind, Statement, StatementKind, SwitchLabel};
use crate::check::{Checked, Reference};

/// Whether some of the storage are fields of headers that are not there as wholes: a write may be lost.
pub fn has_loose_fields(storage: &Storage) -> bool {
    let headers = storage.headers();
    storage.leaves().iter().any(|leaf| matches!(leaf, Leaf::Field(field) if !headers.contains(&field.header)))
}

/// Goes by the order of the text; what follows a write there may follow it, and a loop is gone through twice.
pub fn reads_back(checked: &Checked, body: &Block, parameter: DeclarationId) -> bool {
    let mut uses = Uses { checked, parameter, is_written: false, reads_back: false };
    uses.block(body);
    uses.reads_back
}

struct Uses<'c> {
    checked: &'c Checked<'c>,
    parameter: DeclarationId,
    is_written: bool,
    reads_back: bool,
}

impl Uses<'_> {
    fn block(&mut self, block: &Block) {
        block.statements.iter().for_each(|statement| self.statement(statement));
    }

    fn statement(&mut self, statement: &Statement) {
        match &statement.kind {
            StatementKind::Assign { target, operator, value } => {
                self.expression(value);
                if operator.is_some() || !self.is_parameter(target) {
                    self.expression(target);
                }
                self.is_written |= self.is_parameter(root(target));
            }
            StatementKind::If { condition, accepted, rejected } => {
                self.expression(condition);
                self.statement(accepted);
                rejected.iter().for_each(|rejected| self.statement(rejected));
            }
            StatementKind::Block(block) => self.block(block),
            StatementKind::Switch { subject, cases } => {
                self.expression(subject);
                for case in cases {
                    if let SwitchLabel::Expression(label) = &case.label {
                        self.expression(label);
                    }
                    case.body.iter().for_each(|body| self.block(body));
                }
            }
            StatementKind::For(parts) => {
                parts.initial.iter().for_each(|part| self.statement(part));
                for _ in 0..2 {
                    self.expression(&parts.condition);
                    self.statement(&parts.body);
                    parts.update.iter().for_each(|part| self.statement(part));
                }
            }
            StatementKind::ForIn(parts) => {
                match &parts.collection {
                    Collection::Expression(collection) => self.expression(collection),
                    Collection::Range { low, high } => [low, high].into_iter().for_each(|end| self.expression(end)),
                }
                (0..2).for_each(|_| self.statement(&parts.body));
            }
            StatementKind::Call(value) | StatementKind::Return(Some(value)) => self.expression(value),
            StatementKind::Declare(declaration) => {
                let mut parts = Vec::new();
                declaration_expressions(declaration, &mut |part| parts.push(part));
                parts.into_iter().for_each(|part| self.expression(part));
            }
            StatementKind::Return(None)
            | StatementKind::Empty
            | StatementKind::Break
            | StatementKind::Continue
            | StatementKind::Exit => {}
        }
    }

    /// A call that is given the parameter may read it, then write it. The rest of the expression may be evaluated behind that.
    fn expression(&mut self, whole: &Expression) {
        let (mut mentioned, mut given) = (0, 0);
        expressions(whole, &mut |part| {
            mentioned += usize::from(self.is_parameter(part));
            if let ExpressionKind::Call { arguments, .. } = &part.kind {
                given += arguments.iter().filter(|argument| self.is_parameter(root(&argument.value))).count();
            }
        });
        self.reads_back |= mentioned > 0 && (self.is_written || given > 0 && mentioned > 1);
        self.is_written |= given > 0;
    }

    fn is_parameter(&self, expression: &Expression) -> bool {
        matches!(expression.kind, ExpressionKind::Path(_))
            && *self.checked.reference(expression) == Reference::Declaration(self.parameter)
    }
}

/// What an l-value is a part of.
fn root(target: &Expression) -> &Expression {
    match &target.kind {
        ExpressionKind::Slice { base, .. }
        | ExpressionKind::PlusSlice { base, .. }
        | ExpressionKind::Index { base, .. }
        | ExpressionKind::Member { base, .. } => root(base),
        _ => target,
    }
}
