//! Tables that packets change: entries added on a miss, and the idle timers of the entries that are hit.

use hlir::source::Span;
use hlir::{Call as Op, Expression as Hlir, TableId};

use crate::ast::{self, Declaration, DeclarationId, DeclarationKind, ExpressionKind, PropertyValue};
use crate::check::{Call, Callee, Source};
use crate::lower::call::Passed;
use crate::lower::table::expression_property;
use crate::lower::value::Value;
use crate::lower::{Lowered, Lowering, arithmetic};
use crate::types::Type;

/// The table and the action of it that is being lowered.
#[derive(Clone, Copy, Debug)]
pub struct InTable {
    pub table: TableId,
    pub declaration: DeclarationId,
    pub action: DeclarationId,
}

impl<'a> Lowering<'a> {
    /// `add_entry`, `add_entry_if`, and what restarts a timer; `None` for functions that are none of these.
    pub fn pna_table_function(
        &mut self,
        span: Span,
        name: &str,
        call: &Call,
        passed: &[Passed],
    ) -> Lowered<Option<Value>> {
        let given = |lowering: &Self, name: &str| argument(lowering, call, passed, name);
        let profile = given(self, "expire_time_profile_id").and_then(|value| self.as_bits(value));
        match name {
            "add_entry" => self.add_entry(span, call, passed, Hlir::Bool(true)).map(Some),
            "add_entry_if" => {
                let condition = given(self, "do_add_entry").and_then(Value::scalar).unwrap_or(Hlir::Bool(true));
                self.add_entry(span, call, passed, condition).map(Some)
            }
            "restart_expire_timer" => {
                self.restart_timer(span, name, Hlir::Bool(true), None)?;
                Ok(Some(Value::Void))
            }
            "set_entry_expire_time" => {
                self.restart_timer(span, name, Hlir::Bool(true), profile)?;
                Ok(Some(Value::Void))
            }
            "set_entry_expire_time_if" => {
                let condition = given(self, "condition").and_then(Value::scalar).unwrap_or(Hlir::Bool(true));
                self.restart_timer(span, name, condition, profile)?;
                Ok(Some(Value::Void))
            }
            "update_expire_info" => {
                let condition = |name| given(self, name).and_then(Value::scalar).unwrap_or(Hlir::Bool(true));
                let (restart, with_profile) = (condition("update_aging_info"), condition("update_expire_time"));
                let changes = arithmetic::and(restart.clone(), with_profile.clone());
                self.restart_timer(span, name, changes, profile)?;
                self.restart_timer(span, name, arithmetic::and(restart, arithmetic::not(with_profile)), None)?;
                Ok(Some(Value::Void))
            }
            _ => Ok(None),
        }
    }

    fn restart_timer(&mut self, span: Span, name: &str, condition: Hlir, expiry: Option<Hlir>) -> Lowered<()> {
        if self.in_table.is_none() {
            return Err(misplaced(span, name, "it is about the entry that was hit: call it in an action of a table"));
        }
        self.branch(condition, "", |lowering| lowering.call(Op::RestartTimer { expiry }), |_| {});
        Ok(())
    }

    fn add_entry(&mut self, span: Span, call: &Call, passed: &[Passed], condition: Hlir) -> Lowered<Value> {
        let hint = "call it in the default action of a table with `add_on_miss = true`";
        let Some(InTable { table, declaration, action: caller }) = self.in_table else {
            return Err(misplaced(span, "add_entry", hint));
        };
        let Some(Declaration { kind: DeclarationKind::Table(declared), .. }) =
            self.checked.node(declaration).declaration()
        else {
            return Err(self.internal(span, "an insertion into this table"));
        };
        self.check_learning(span, declared, caller)?;
        let Some(Value::Text(wanted)) = argument(self, call, passed, "action_name") else {
            return Err(self.internal(span, "an action name that is no text"));
        };
        let (action, expected) = self.learnt_action(span, declared, &wanted)?;
        let mut arguments = Vec::new();
        if let Some(parameters) = argument(self, call, passed, "action_params") {
            self.flat_bits(&parameters, &mut arguments);
        }
        let widths: Vec<u32> = arguments.iter().map(|argument| self.width(argument)).collect();
        if widths != expected {
            return Err(hlir::diagnostic::Diagnostic::error(format!(
                "the parameters given do not fit action `{wanted}`"
            ))
            .kind("type-error")
            .label(span, format!("the action takes {expected:?} bits, and is given {widths:?}")));
        }
        let expiry = argument(self, call, passed, "expire_time_profile_id").and_then(|value| self.as_bits(value));
        let failed = self.scratch("insert_failed", hlir::Type::Bool);
        self.assign(&failed, Value::boolean(true));
        let into = self.leaf_place(&failed);
        self.branch(
            condition,
            "",
            |lowering| lowering.call(Op::AddEntry { table, action, arguments, expiry, into }),
            |_| {},
        );
        let failed = self.read(&failed);
        // A boolean is true if it worked, a number is 0 if it did.
        let result = self.substituted(&call.result);
        Ok(Value::Scalar(match self.scalar_type(&result) {
            Some(hlir::Type::Bits(width)) => arithmetic::resize(arithmetic::from_bool(failed), 1, width, false),
            Some(hlir::Type::Bool) | None => arithmetic::not(failed),
        }))
    }

    /// Entries are added by the default action of a table with `add_on_miss`.
    fn check_learning(&self, span: Span, table: &'a ast::Table, caller: DeclarationId) -> Lowered<()> {
        let is_learning = expression_property(table, "add_on_miss")
            .is_some_and(|value| matches!(value.kind, ExpressionKind::Bool(true)));
        if !is_learning {
            return Err(misplaced(span, "add_entry", "give the table the property `add_on_miss = true`"));
        }
        let default = expression_property(table, "default_action").and_then(|default| self.checked.call(default));
        if default.map(|default| &default.callee) != Some(&Callee::Action(caller)) {
            return Err(misplaced(span, "add_entry", "only the default action of a table may add entries"));
        }
        Ok(())
    }

    /// The number of an action of the table, and the widths of what an entry gives it.
    fn learnt_action(&self, span: Span, table: &'a ast::Table, wanted: &str) -> Lowered<(u32, Vec<u32>)> {
        let references: &'a [ast::ActionReference] = match table.find("actions").map(|property| &property.value) {
            Some(PropertyValue::Actions(references)) => references,
            _ => &[],
        };
        for (at, reference) in references.iter().enumerate() {
            let Some(call) = self.checked.call(&reference.action) else { continue };
            let Callee::Action(action) = call.callee else { continue };
            if self.checked.node(action).name().as_str() != wanted && self.external_name(action) != wanted {
                continue;
            }
            let from_entry = call.bindings.iter().filter(|binding| binding.source == Source::ControlPlane);
            let mut widths = Vec::new();
            for binding in from_entry {
                self.flat_widths(&self.substituted(&binding.of_type), &mut widths);
            }
            return Ok((at as u32, widths));
        }
        Err(hlir::diagnostic::Diagnostic::error(format!("the table has no action `{wanted}`"))
            .kind("not-found")
            .label(span, "to be added here")
            .hint("name one of the table's `actions`"))
    }

    fn flat_widths(&self, of_type: &Type, into: &mut Vec<u32>) {
        match self.scalar_type(of_type) {
            Some(scalar) => into.push(scalar.width()),
            None => self.part_types(of_type, 0).iter().for_each(|part| self.flat_widths(part, into)),
        }
    }

    /// The scalars of a value, as bits.
    fn flat_bits(&mut self, value: &Value, into: &mut Vec<Hlir>) {
        match value {
            Value::Struct(parts) | Value::Made { fields: parts, .. } => {
                parts.iter().for_each(|part| self.flat_bits(part, into));
            }
            Value::Header { id, members } => {
                let made = self.unfold(*id, members);
                self.flat_bits(&made, into);
            }
            Value::Scalar(_) => into.extend(self.as_bits(value.clone())),
            Value::Void
            | Value::Integer(_)
            | Value::Text(_)
            | Value::Varbit(_)
            | Value::Union(_)
            | Value::Stack { .. }
            | Value::Object(_)
            | Value::DontCare => {}
        }
    }
}

/// The value given for the parameter of this name.
pub fn argument(lowering: &Lowering, call: &Call, passed: &[Passed], name: &str) -> Option<Value> {
    let is_wanted = |binding: &crate::check::Binding| lowering.checked.node(binding.parameter).name().as_str() == name;
    let at = call.bindings.iter().position(is_wanted)?;
    match passed.get(at)? {
        Passed::Value(value) => Some(value.clone()),
        Passed::Target(_) | Passed::Nothing => None,
    }
}

fn misplaced(span: Span, name: &str, hint: &str) -> hlir::diagnostic::Diagnostic {
    hlir::diagnostic::Diagnostic::error(format!("`{name}` cannot be called here"))
        .kind("invalid")
        .label(span, "here")
        .hint(hint)
}
