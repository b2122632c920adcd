//! What a body contains, asked before it is lowered.

use std::collections::HashSet;

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::Lowering;
use super::fixed::fixed_action;
use crate::ast::walk::{block_expressions, expressions, statement_expressions};
use crate::ast::{
    Block, Declaration, DeclarationId, DeclarationKind, Expression, ExpressionKind, Statement, StatementKind,
};
use crate::check::{Callee, Checked, Node};
use crate::types::Type;

/// Whether a statement contains one that `test` accepts.
pub fn contains(statement: &Statement, test: &dyn Fn(&StatementKind) -> bool) -> bool {
    if test(&statement.kind) {
        return true;
    }
    let block = |block: &Block| block.statements.iter().any(|inner| contains(inner, test));
    match &statement.kind {
        StatementKind::If { accepted, rejected, .. } => {
            contains(accepted, test) || rejected.as_ref().is_some_and(|rejected| contains(rejected, test))
        }
        StatementKind::Block(body) => block(body),
        StatementKind::Switch { cases, .. } => cases.iter().any(|case| case.body.as_ref().is_some_and(block)),
        StatementKind::For(parts) => {
            parts.initial.iter().chain(&parts.update).any(|part| contains(part, test)) || contains(&parts.body, test)
        }
        StatementKind::ForIn(parts) => contains(&parts.body, test),
        StatementKind::Empty
        | StatementKind::Assign { .. }
        | StatementKind::Call(_)
        | StatementKind::Break
        | StatementKind::Continue
        | StatementKind::Return(_)
        | StatementKind::Exit
        | StatementKind::Declare(_) => false,
    }
}

pub fn is_return(kind: &StatementKind) -> bool {
    matches!(kind, StatementKind::Return(_))
}

/// The base of the callee of a call: the receiver of a method.
pub fn receiver(call: &Expression) -> Option<&Expression> {
    let ExpressionKind::Call { callee, .. } = &call.kind else { return None };
    if let ExpressionKind::Member { base, .. } = &callee.kind { Some(base) } else { None }
}

impl<'a> Lowering<'a> {
    /// Whether lowering a statement cuts the graph: it applies a table or a parser, itself or in a control that it applies.
    pub fn cuts(&self, statement: &Statement) -> bool {
        let mut found = false;
        let mut seen = HashSet::new();
        statement_expressions(statement, &mut |expression| {
            found = found || call_cuts(self.checked, expression, &mut seen)
        });
        found
    }

    /// The same of an expression.
    pub fn cuts_in(&self, expression: &Expression) -> bool {
        let mut found = false;
        let mut seen = HashSet::new();
        expressions(expression, &mut |part| found = found || call_cuts(self.checked, part, &mut seen));
        found
    }

    /// A deparser that looks something up: reported where it first does.
    pub fn table_in_deparser(&self, declaration: DeclarationId, deparser: Span) -> Diagnostic {
        let mut place = None;
        if let Node::Declaration(Declaration { kind: DeclarationKind::Control(control), .. }) =
            self.checked.node(declaration)
            && let Some(body) = &control.apply
        {
            block_expressions(body, &mut |expression| {
                if place.is_none() && call_cuts(self.checked, expression, &mut HashSet::new()) {
                    place = Some(expression.span);
                }
            });
        }
        Diagnostic::error("a table cannot be applied in a deparser")
            .kind("unsupported")
            .label(place.unwrap_or(deparser), "looked up here")
            .hint("apply it at the end of the control before, and keep what it finds in metadata")
    }

    pub fn control_cuts(&self, declaration: DeclarationId) -> bool {
        body_cuts(self.checked, declaration, &mut HashSet::new())
    }
}

fn call_cuts(checked: &Checked, expression: &Expression, seen: &mut HashSet<DeclarationId>) -> bool {
    // `t.apply().hit` needs the lookup of any table.
    if let ExpressionKind::Member { base, .. } = &expression.kind
        && let Some(Callee::ApplyTable(_)) = checked.call(base).map(|call| &call.callee)
    {
        return true;
    }
    match checked.call(expression).map(|call| &call.callee) {
        Some(Callee::ApplyTable(table)) => fixed_action(checked, *table).is_none(),
        Some(Callee::Apply { object } | Callee::ApplyDirect { object }) => match object {
            Type::Control(nominal) => body_cuts(checked, nominal.declaration, seen),
            _ => true,
        },
        _ => false,
    }
}

fn body_cuts(checked: &Checked, declaration: DeclarationId, seen: &mut HashSet<DeclarationId>) -> bool {
    let Node::Declaration(found) = checked.node(declaration) else { return true };
    let DeclarationKind::Control(control) = &found.kind else { return true };
    // Of a constructor parameter only the type is known here, not its argument.
    let Some(body) = &control.apply else { return true };
    if !seen.insert(declaration) {
        return false;
    }
    let mut cut = false;
    block_expressions(body, &mut |expression| cut = cut || call_cuts(checked, expression, seen));
    seen.remove(&declaration);
    cut
}
