//! Statements: assignments, conditions, loops, switches, and where each is allowed.

use std::collections::HashMap;

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::annotations::Before;
use super::checker::{Checker, Place};
use super::results::Reference;
use crate::ast::{
    BinaryOperator, Collection, DeclarationId, DeclarationKind, Expression, ExpressionKind, For, ForIn, PropertyValue,
    Statement, StatementKind, SwitchCase, SwitchLabel,
};
use crate::evaluate::Value;
use crate::types::Type;

impl<'a> Checker<'a> {
    pub fn statement(&mut self, statement: &'a Statement) {
        self.check_annotations(&statement.annotations, Before::Else);
        match &statement.kind {
            StatementKind::Empty => {}
            StatementKind::Assign { target, operator, value } => self.assign(statement.span, target, *operator, value),
            StatementKind::Call(call) => {
                self.expression(call, None);
            }
            StatementKind::If { condition, accepted, rejected } => {
                self.condition(condition, "`if`");
                self.scoped(|checker| checker.statement(accepted));
                if let Some(rejected) = rejected {
                    self.scoped(|checker| checker.statement(rejected));
                }
            }
            StatementKind::Block(block) => self.block(block),
            StatementKind::Switch { subject, cases } => self.switch(statement.span, subject, cases),
            StatementKind::For(parts) => self.for_loop(parts),
            StatementKind::ForIn(parts) => self.for_in(parts),
            StatementKind::Break => self.only_in_loops(statement.span, "break"),
            StatementKind::Continue => self.only_in_loops(statement.span, "continue"),
            StatementKind::Return(value) => self.returned(statement.span, value.as_ref()),
            StatementKind::Exit => {
                if matches!(self.around.place, Place::Function | Place::ParserState | Place::Method) {
                    self.error("invalid", statement.span, "`exit` cannot be used in functions and parsers", "");
                }
            }
            StatementKind::Declare(declaration) => self.declaration(declaration),
        }
    }

    fn condition(&mut self, condition: &'a Expression, of: &str) {
        let of_type = self.value(condition, Some(&Type::Bool));
        if !matches!(of_type, Type::Bool | Type::Unknown) {
            let message = format!("the condition of {of} has to be `bool`, this is `{of_type}`");
            self.type_error(condition.span, message);
        }
    }

    fn assign(&mut self, span: Span, target: &'a Expression, operator: Option<BinaryOperator>, value: &'a Expression) {
        let target_type = self.value(target, None);
        if !target_type.is_unknown() && !self.is_place(target) {
            self.value(value, None);
            self.not_a_place(target);
            return;
        }
        let Some(operator) = operator else {
            self.expression_as(value, &target_type);
            return;
        };
        let value_type = self.value(value, Some(&target_type));
        if target_type.is_unknown() || value_type.is_unknown() {
            return;
        }
        let result = self.compound(span, operator, target, value);
        if !result.is_unknown() && result != target_type {
            self.mismatch(span, &target_type, &result);
        }
    }

    fn not_a_place(&mut self, target: &'a Expression) {
        let mut report = Diagnostic::error("this cannot be the target of an assignment")
            .kind("type-error")
            .label(target.span, "only variables, `out` and `inout` parameters and their parts can be written");
        if let Reference::Declaration(id) = self.out.reference(target) {
            report = report.label(self.node(*id).span(), "declared here");
        }
        self.report(report);
    }

    fn only_in_loops(&mut self, span: Span, word: &str) {
        if self.around.loops == 0 {
            self.error("invalid", span, format!("`{word}` can only be used in a `for` loop"), "");
        }
    }

    fn returned(&mut self, span: Span, value: Option<&'a Expression>) {
        let Some(expected) = self.around.returns.clone() else {
            self.error("invalid", span, "`return` can only be used in functions, actions and controls", "");
            return;
        };
        match (value, &expected) {
            (Some(value), Type::Void) => {
                self.value(value, None);
                self.type_error(span, "a value is returned where nothing is expected");
            }
            (Some(value), expected) => {
                self.expression_as(value, expected);
            }
            (None, Type::Void | Type::Unknown) => {}
            (None, expected) => {
                self.type_error(span, format!("`return` needs a value of type `{expected}`"));
            }
        }
    }

    fn for_loop(&mut self, parts: &'a For) {
        self.scoped(|checker| {
            for statement in &parts.initial {
                checker.statement(statement);
            }
            checker.condition(&parts.condition, "`for`");
            checker.around.loops += 1;
            for statement in &parts.update {
                checker.statement(statement);
            }
            checker.scoped(|checker| checker.statement(&parts.body));
            checker.around.loops -= 1;
        });
    }

    fn for_in(&mut self, parts: &'a ForIn) {
        self.scoped(|checker| {
            let variable = &parts.variable;
            checker.declaration(variable);
            checker.used[variable.id.index()] = true;
            let element = checker.out.declared_type(variable.id).clone();
            match &parts.collection {
                Collection::Range { low, high } => {
                    checker.expression_as(low, &element);
                    checker.expression_as(high, &element);
                }
                Collection::Expression(collection) => checker.loop_over(collection, &element),
            }
            checker.around.loops += 1;
            checker.scoped(|checker| checker.statement(&parts.body));
            checker.around.loops -= 1;
        });
    }

    fn loop_over(&mut self, collection: &'a Expression, element: &Type) {
        let list = Type::List(element.clone().into());
        let of_type = self.value(collection, Some(&list));
        match &of_type {
            Type::ListLiteral { .. } => {
                self.convert_or_report(collection, &of_type, &list);
            }
            Type::Stack { element: part, .. } | Type::List(part) => {
                if !self.unify(element, part) {
                    self.mismatch(collection.span, element, part);
                }
            }
            Type::Unknown => {}
            _ => {
                let message = format!("a loop goes over a range, a list, an array or a header stack, not `{of_type}`");
                self.type_error(collection.span, message);
            }
        }
    }

    fn switch(&mut self, span: Span, subject: &'a Expression, cases: &'a [SwitchCase]) {
        if self.in_parser() {
            self.error("invalid", span, "`switch` cannot be used in parsers", "");
        }
        self.check_default_label(span, cases);
        self.note_switch(span);
        let of_type = self.switch_subject(subject);
        if !cases.is_empty() {
            self.check_exact_exists(subject, &of_type);
        }
        let mut seen: HashMap<String, Span> = HashMap::new();
        if let Some(last) = cases.last().filter(|last| last.body.is_none()) {
            self.warn(
                "missing",
                last.span,
                "fallthrough with no statement",
                "the last label of a `switch` has no block",
            );
        }
        for case in cases {
            if let SwitchLabel::Expression(label) = &case.label {
                let key = match &of_type {
                    Type::ActionRun(table) => self.action_label(label, table.declaration),
                    _ => self.value_label(label, &of_type),
                };
                if let Some(first) = key.and_then(|key| seen.insert(key, label.span)) {
                    self.report(
                        Diagnostic::error("duplicate case label")
                            .kind("invalid")
                            .label(label.span, "second one")
                            .label(first, "first one"),
                    );
                }
            }
            if let Some(body) = &case.body {
                self.block(body);
            }
        }
    }

    fn switch_subject(&mut self, subject: &'a Expression) -> Type {
        let of_type = self.value(subject, None);
        let representation = self.out.representation(&of_type);
        let fits = matches!(
            representation,
            Type::ActionRun(_)
                | Type::Bits { .. }
                | Type::Bool
                | Type::Enum(_)
                | Type::Error
                | Type::Unknown
                | Type::Integer
        );
        if let Type::TableResult(_) = &of_type {
            return self.report(
                Diagnostic::error("a `switch` needs to know which action ran")
                    .kind("type-error")
                    .label(subject.span, "this has more values than that")
                    .hint(format!("write `switch ({subject}.action_run)`")),
            );
        }
        if !fits {
            return self.type_error(subject.span, format!("the value of a `switch` cannot have type `{of_type}`"));
        }
        of_type
    }

    /// A switch over values becomes a table, whose key is matched exactly.
    fn check_exact_exists(&mut self, subject: &'a Expression, of_type: &Type) {
        if !matches!(of_type, Type::ActionRun(_) | Type::Unknown) && !self.match_kinds.contains_key("exact") {
            self.when_run.push(
                Diagnostic::error("a `switch` needs the match kind `exact`")
                    .kind("not-found")
                    .label(subject.span, "")
                    .hint("include `core.p4`, which declares it"),
            );
        }
    }

    fn check_default_label(&mut self, span: Span, cases: &'a [SwitchCase]) {
        let defaults: Vec<Span> = cases
            .iter()
            .filter_map(|case| match &case.label {
                SwitchLabel::Default(place) => Some(*place),
                SwitchLabel::Expression(_) => None,
            })
            .collect();
        if let [first, second, ..] = defaults[..] {
            self.report(
                Diagnostic::error("`switch` has several `default` labels")
                    .kind("invalid")
                    .label(span, "")
                    .label(second, "second one")
                    .label(first, "first one"),
            );
            return;
        }
        let at = cases.iter().position(|case| matches!(case.label, SwitchLabel::Default(_)));
        if let Some(late) = at.and_then(|at| cases.get(at + 1)) {
            self.error("invalid", late.span, "a label follows `default`, which has to be the last one", "");
        }
    }

    /// The label of a `switch` over `action_run`: one of the table's actions.
    fn action_label(&mut self, label: &'a Expression, table: DeclarationId) -> Option<String> {
        let ExpressionKind::Path(path) = &label.kind else {
            self.value(label, None);
            self.type_error(label.span, "a label has to be the name of an action, or `default`");
            return None;
        };
        let found = self.look_up(path.name.as_str(), path.absolute);
        let Some(id) = found.first().copied() else {
            self.not_found(&path.name);
            return None;
        };
        if !self.actions_of(table).contains(&id) {
            self.type_error(label.span, format!("`{}` is not an action of table `{}`", path.name, self.name_of(table)));
            return None;
        }
        self.refer(label, Reference::Declaration(id));
        let of_type = self.out.declared_type(id).clone();
        self.set_type(label, of_type);
        Some(format!("action {}", id.0))
    }

    /// The actions in the list of a table.
    pub fn actions_of(&self, table: DeclarationId) -> Vec<DeclarationId> {
        let Some(DeclarationKind::Table(table)) = self.out.kind(table) else { return Vec::new() };
        let Some(PropertyValue::Actions(list)) = table.find("actions").map(|property| &property.value) else {
            return Vec::new();
        };
        list.iter().filter_map(|reference| self.action_of(&reference.action)).collect()
    }

    /// The action that a resolved reference names.
    pub fn action_of(&self, reference: &Expression) -> Option<DeclarationId> {
        let path = match &reference.kind {
            ExpressionKind::Call { callee, .. } => callee,
            _ => reference,
        };
        match self.out.reference(path) {
            Reference::Declaration(id) => Some(*id),
            _ => None,
        }
    }

    fn value_label(&mut self, label: &'a Expression, of_type: &Type) -> Option<String> {
        let actual = self.value(label, Some(of_type));
        if actual.is_unknown() || of_type.is_unknown() {
            return None;
        }
        let fits = if matches!(actual, Type::SerializableEnum(_)) && matches!(of_type, Type::SerializableEnum(_)) {
            actual == *of_type
        } else {
            self.convert(label, of_type)
        };
        if !fits {
            self.type_error(label.span, format!("a value of type `{of_type}` cannot be compared to `{actual}`"));
            return None;
        }
        match self.value_of(label) {
            Some(Value::Integer(number)) => Some(format!("{number}")),
            Some(Value::Member(id)) => Some(format!("member {}", id.0)),
            Some(Value::Bool(value)) => Some(format!("{value}")),
            Some(_) => None,
            None => {
                self.require_known(label, "a label");
                None
            }
        }
    }
}
