//! Tables: their properties, keys and actions. Entries are in `entries`.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::annotations::Before;
use super::bindings::Mode;
use super::checker::{Checker, Place, Scope};
use crate::ast::{
    ActionReference, BinaryOperator, Declaration, DeclarationId, DeclarationKind, Expression, ExpressionKind,
    KeyElement, Property, PropertyValue, Table,
};
use crate::evaluate::Value;
use crate::spelling::{similar, with_similar};
use crate::types::Type;

/// Properties of tables that architectures read.
const READ: &[&str] = &[
    "add_on_miss",
    "counters",
    "idle_timeout_with_auto_delete",
    "implementation",
    "meters",
    "pna_direct_counter",
    "pna_direct_meter",
    "pna_idle_timeout",
    "pna_implementation",
    "psa_direct_counter",
    "psa_direct_meter",
    "psa_idle_timeout",
    "psa_implementation",
    "support_timeout",
];

/// Those with a rule of their own.
const WRITTEN: &[&str] = &[
    "actions",
    "default_action",
    "entries",
    "key",
    "largest_priority_wins",
    "pna_empty_group_action",
    "priority_delta",
    "psa_empty_group_action",
    "size",
];

impl<'a> Checker<'a> {
    pub fn table(&mut self, declaration: &'a Declaration, table: &'a Table) {
        let id = declaration.id;
        if self.around.place != Place::ControlLocals {
            self.error("invalid", declaration.name.span, "a table can only be declared in a control", "");
        }
        let nominal = self.nominal(id, Vec::new());
        self.declare_type(id, Type::Table(nominal));
        self.check_distinct(table.properties.iter().map(|property| &property.name));
        self.around.inside.push(id);
        self.scopes.push(Scope::from([(declaration.name.text.clone(), vec![id])]));
        let mut keys = Vec::new();
        if let Some(PropertyValue::Keys(elements)) = table.find("key").map(|property| &property.value) {
            keys = elements.iter().map(|element| self.key(element)).collect();
        }
        if let Some(PropertyValue::Actions(list)) = table.find("actions").map(|property| &property.value) {
            self.action_list(list);
        }
        for property in &table.properties {
            self.check_attributes(&property.attributes);
            self.property(declaration, table, property, &keys);
        }
        self.scopes.pop();
        self.around.inside.pop();
        if table.find("actions").is_none() {
            let message = format!("table `{}`: expected an `actions` property", declaration.name);
            self.error("expected", declaration.name.span, message, "");
        }
        if table.find("default_action").is_none() {
            self.check_no_action(declaration);
        }
        self.note_table(id);
        self.declare(id, &declaration.name);
    }

    /// A table without a default action has `NoAction`, which the core library declares.
    fn check_no_action(&mut self, declaration: &'a Declaration) {
        let found = self.scopes[0].get("NoAction").and_then(|found| found.first()).copied();
        let span = declaration.name.span;
        let Some(id) = found else {
            self.report(
                Diagnostic::error("declaration of the action `NoAction` not found")
                    .kind("not-found")
                    .label(span, "this table names no default action, so it is `NoAction`")
                    .hint("include `core.p4`, or give the table a `default_action`"),
            );
            return;
        };
        self.used[id.index()] = true;
        let place = self.node(id).span();
        match self.out.kind(id) {
            Some(DeclarationKind::Action { parameters, .. }) if parameters.is_empty() => {}
            Some(DeclarationKind::Action { .. }) => {
                self.error("type-error", place, "`NoAction` has to be an action without parameters", "");
            }
            _ => {
                self.error("type-error", place, "`NoAction` has to be an action", "");
            }
        }
    }

    fn key(&mut self, element: &'a KeyElement) -> (Type, Option<DeclarationId>) {
        self.check_annotations(&element.annotations, Before::Else);
        // Keys are evaluated where the table is applied.
        let place = std::mem::replace(&mut self.around.place, Place::ControlApply);
        let of_type = self.value(&element.expression, None);
        self.around.place = place;
        let kind = self.match_kinds.get(&element.match_kind.text).copied();
        match kind {
            Some(kind) => {
                self.out.names.insert(element.match_kind.span, kind);
            }
            None if self.look_up(element.match_kind.as_str(), false).is_empty() => {
                self.unknown_match_kind(element);
            }
            None => {
                let message = format!("`{}` is not a match kind", element.match_kind);
                self.type_error(element.match_kind.span, message);
            }
        }
        self.check_key_name(element);
        if self.value_of(&element.expression).is_some() {
            self.warn("mismatch", element.expression.span, "constant key field", "every lookup has the same key");
        }
        let of_type = if self.may_be_key(&of_type) {
            of_type
        } else {
            self.type_error(element.expression.span, format!("a table key cannot have type `{of_type}`"))
        };
        (of_type, kind)
    }

    fn unknown_match_kind(&mut self, element: &'a KeyElement) {
        let name = element.match_kind.as_str();
        let mut known: Vec<std::sync::Arc<str>> = self.match_kinds.keys().cloned().collect();
        known.sort_unstable();
        let report = Diagnostic::error(format!("{name}: declaration not found"))
            .kind("not-found")
            .label(element.match_kind.span, "no match kind has this name");
        let hint = match similar(known.iter().map(AsRef::as_ref), name) {
            Some(similar) => format!("did you mean `{similar}`?"),
            None if known.is_empty() => "include `core.p4`, which declares `exact`, `lpm` and `ternary`".to_string(),
            None => format!("the match kinds are {}", known.join(", ")),
        };
        self.report(report.hint(hint));
    }

    /// A controller calls a key by what it is; a computed key needs a name.
    fn check_key_name(&mut self, element: &'a KeyElement) {
        let named = element.annotations.iter().any(|annotation| annotation.name.as_str() == "name");
        if !named && !self.has_name(&element.expression) {
            self.report(
                Diagnostic::error("a computed key needs a name")
                    .kind("expected")
                    .label(element.expression.span, "")
                    .hint("give it one: `expression : exact @name(\"key\")`"),
            );
        }
    }

    fn has_name(&self, key: &Expression) -> bool {
        match &key.kind {
            ExpressionKind::Path(_) | ExpressionKind::Erroneous => true,
            ExpressionKind::Member { base, .. } => self.has_name(base),
            ExpressionKind::Index { base, .. } | ExpressionKind::Slice { base, .. } => self.has_name(base),
            ExpressionKind::Binary { operator: BinaryOperator::BitAnd, left, right } => {
                self.has_name(left) && self.has_name(right)
            }
            ExpressionKind::Call { callee, .. } => match &callee.kind {
                ExpressionKind::Member { base, member } => member.as_str() == "isValid" && self.has_name(base),
                _ => false,
            },
            _ => self.value_of(key).is_some(),
        }
    }

    fn may_be_key(&self, of_type: &Type) -> bool {
        matches!(
            self.out.representation(of_type),
            Type::Unknown | Type::Bool | Type::Bits { .. } | Type::Error | Type::Enum(_) | Type::Varbit { .. }
        )
    }

    fn action_list(&mut self, list: &'a [ActionReference]) {
        let mut seen: Vec<(DeclarationId, Span)> = Vec::new();
        for reference in list {
            self.check_annotations(&reference.annotations, Before::ListedAction);
            let Some(id) = self.refer_to_action(&reference.action, Mode::ActionList) else { continue };
            if let Some((_, first)) = seen.iter().find(|(other, _)| *other == id) {
                self.report(
                    Diagnostic::error("duplicate action in the list of a table")
                        .kind("duplicate")
                        .label(reference.span, "second one")
                        .label(*first, "first one"),
                );
            }
            seen.push((id, reference.span));
        }
    }

    fn property(
        &mut self,
        declaration: &'a Declaration,
        table: &'a Table,
        property: &'a Property,
        keys: &[(Type, Option<DeclarationId>)],
    ) {
        match &property.value {
            PropertyValue::Keys(_) | PropertyValue::Actions(_) => {}
            PropertyValue::Entries(entries) => self.entries(declaration, table, property, entries, keys),
            PropertyValue::Expression(value) => match property.name.as_str() {
                "default_action" => self.default_action(declaration, table, value),
                "psa_empty_group_action" | "pna_empty_group_action" => self.empty_group_action(table, value),
                "size" => {
                    let of_type = self.value(value, None);
                    let number = matches!(of_type, Type::Integer | Type::Bits { .. } | Type::Unknown);
                    if !number || !self.is_known(value) {
                        self.error("invalid", value.span, "`size` has to be a constant number", "");
                    }
                }
                "largest_priority_wins" => {
                    let of_type = self.value(value, Some(&Type::Bool));
                    if !matches!(of_type, Type::Bool | Type::Unknown) || !self.is_known(value) {
                        self.error("invalid", value.span, "`largest_priority_wins` has to be a constant `bool`", "");
                    }
                }
                "priority_delta" => self.priority_delta(value),
                _ => {
                    self.making_objects(|checker| checker.expression(value, None));
                    self.check_attachment(declaration.id, property, value);
                    self.check_property_name(property);
                }
            },
        }
    }

    /// Other targets have properties of their own; here they have no effect, and neither does a name that is not quite right.
    fn check_property_name(&mut self, property: &'a Property) {
        let name = property.name.as_str();
        if READ.contains(&name) {
            return;
        }
        let report = Diagnostic::warning(format!("table property `{name}` has no effect here"))
            .kind("ignore-prop")
            .label(property.name.span, "nothing reads it");
        let known: Vec<&str> = READ.iter().chain(WRITTEN).copied().collect();
        self.note_unread(with_similar(report, &known, name));
    }

    fn priority_delta(&mut self, value: &'a Expression) {
        let of_type = self.value(value, None);
        if of_type.is_unknown() {
            return;
        }
        match self.value_of(value) {
            Some(Value::Integer(number)) if *number > num_bigint::BigInt::ZERO => {}
            _ => {
                self.error("invalid", value.span, "`priority_delta` has to be a positive constant number", "");
            }
        }
    }

    fn default_action(&mut self, declaration: &'a Declaration, table: &'a Table, value: &'a Expression) {
        let Some(id) = self.refer_to_action(value, Mode::ActionData) else { return };
        let before = table.properties.iter().take_while(|property| property.name.as_str() != "default_action");
        let list = before.into_iter().find(|property| property.name.as_str() == "actions");
        let Some(PropertyValue::Actions(list)) = list.map(|property| &property.value) else {
            let message = format!("table `{}` has no list of actions before its default action", declaration.name);
            self.type_error(value.span, message);
            return;
        };
        let Some(listed) = self.check_listed(list, id, value) else { return };
        if listed.annotations.iter().any(|annotation| annotation.name.as_str() == "tableonly") {
            self.type_error(value.span, "an action marked `@tableonly` cannot be the default action");
        }
    }

    /// What an empty group of a selector does is one of the table's actions.
    fn empty_group_action(&mut self, table: &'a Table, value: &'a Expression) {
        let Some(id) = self.refer_to_action(value, Mode::ActionData) else { return };
        if let Some(PropertyValue::Actions(list)) = table.find("actions").map(|property| &property.value) {
            self.check_listed(list, id, value);
        }
    }

    /// Whether an action is in the list of the table, with the same arguments for what is bound there.
    pub fn check_listed(
        &mut self,
        list: &'a [ActionReference],
        id: DeclarationId,
        used: &'a Expression,
    ) -> Option<&'a ActionReference> {
        let found = list.iter().find(|reference| self.action_of(&reference.action) == Some(id));
        let Some(listed) = found else {
            self.type_error(used.span, format!("`{}` is not in the table's list of actions", self.name_of(id)));
            return None;
        };
        let (Some(in_list), Some(here)) = (self.out.call(&listed.action), self.out.call(used)) else {
            return Some(listed);
        };
        let mut different = None;
        for (wanted, given) in in_list.bindings.iter().zip(&here.bindings) {
            let wanted = self.out.argument(wanted, arguments_of(&listed.action));
            let given = self.out.argument(given, arguments_of(used));
            if let (Some(wanted), Some(given)) = (wanted, given)
                && !self.same(wanted, given)
            {
                different = Some((wanted.span, given.span));
            }
        }
        if let Some((wanted, given)) = different {
            self.report(
                Diagnostic::error("this argument is not the one in the table's list of actions")
                    .kind("type-error")
                    .label(given, "")
                    .label(wanted, "the one in the list"),
            );
        }
        Some(listed)
    }

    /// Whether two expressions are the same in what they name and compute.
    fn same(&self, left: &Expression, right: &Expression) -> bool {
        if let (Some(left), Some(right)) = (self.value_of(left), self.value_of(right)) {
            return left == right;
        }
        if self.out.reference(left) != self.out.reference(right) {
            return false;
        }
        match (&left.kind, &right.kind) {
            (ExpressionKind::Path(left), ExpressionKind::Path(right)) => left.name.text == right.name.text,
            (ExpressionKind::Member { base: left, .. }, ExpressionKind::Member { base: right, .. }) => {
                self.same(left, right)
            }
            (ExpressionKind::Cast { operand: left_part, .. }, ExpressionKind::Cast { operand: right_part, .. }) => {
                self.out.type_of(left) == self.out.type_of(right) && self.same(left_part, right_part)
            }
            (
                ExpressionKind::Unary { operator: left_operator, operand: left },
                ExpressionKind::Unary { operator: right_operator, operand: right },
            ) => left_operator == right_operator && self.same(left, right),
            (
                ExpressionKind::Index { base: left, index: left_index },
                ExpressionKind::Index { base: right, index: right_index },
            ) => self.same(left, right) && self.same(left_index, right_index),
            (
                ExpressionKind::Binary { left: left_a, right: left_b, operator: left_operator },
                ExpressionKind::Binary { left: right_a, right: right_b, operator: right_operator },
            ) => left_operator == right_operator && self.same(left_a, right_a) && self.same(left_b, right_b),
            (ExpressionKind::List { elements: left, .. }, ExpressionKind::List { elements: right, .. }) => {
                left.len() == right.len() && left.iter().zip(right).all(|(left, right)| self.same(left, right))
            }
            (ExpressionKind::Structure { fields: left, .. }, ExpressionKind::Structure { fields: right, .. }) => {
                left.len() == right.len()
                    && left.iter().all(|left| {
                        let other = right.iter().find(|right| right.name.text == left.name.text);
                        other.is_some_and(|right| self.same(&left.value, &right.value))
                    })
            }
            (
                ExpressionKind::Call { callee: left, arguments: left_arguments, .. },
                ExpressionKind::Call { callee: right, arguments: right_arguments, .. },
            ) => {
                let pairs = left_arguments.iter().zip(right_arguments);
                self.same(left, right)
                    && left_arguments.len() == right_arguments.len()
                    && pairs.into_iter().all(|(left, right)| self.same(&left.value, &right.value))
            }
            (
                ExpressionKind::Slice { base: left_a, high: left_b, low: left_c },
                ExpressionKind::Slice { base: right_a, high: right_b, low: right_c },
            )
            | (
                ExpressionKind::PlusSlice { base: left_a, low: left_b, width: left_c },
                ExpressionKind::PlusSlice { base: right_a, low: right_b, width: right_c },
            )
            | (
                ExpressionKind::Conditional { condition: left_a, accepted: left_b, rejected: left_c },
                ExpressionKind::Conditional { condition: right_a, accepted: right_b, rejected: right_c },
            ) => self.same(left_a, right_a) && self.same(left_b, right_b) && self.same(left_c, right_c),
            _ => false,
        }
    }
}

/// The arguments of an action reference, none for a bare name.
pub(super) fn arguments_of(reference: &Expression) -> &[crate::ast::Argument] {
    match &reference.kind {
        ExpressionKind::Call { arguments, .. } => arguments,
        _ => &[],
    }
}
