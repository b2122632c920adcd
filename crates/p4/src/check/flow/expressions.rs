//! Expressions: what they read, and what calls in them write.

use super::Flow;
use super::facts::{Facts, Kind, Validity};
use crate::ast::{
    Argument, BinaryOperator, Declaration, DeclarationId, DeclarationKind, Expression, ExpressionKind, PropertyValue,
    Table,
};
use crate::check::results::{Builtin, Callee, Property, Reference};
use crate::evaluate::Value;
use crate::types::Type;

/// Where an expression leads that names a variable or something in one.
enum Where {
    Part(u32),
    /// Something in this part, at an index that is not known, or too deep to be followed.
    Within(u32),
    Nowhere,
}

impl<'a> Flow<'a, '_> {
    fn place(&self, expression: &Expression) -> Where {
        let inside = |base: Where, name: &str| match base {
            Where::Part(base) => self.layout.child(base, name).map_or(Where::Within(base), Where::Part),
            other => other,
        };
        match &expression.kind {
            ExpressionKind::Path(_) => match self.checked.reference(expression) {
                Reference::Declaration(id) => self.layout.root(*id).map_or(Where::Nowhere, Where::Part),
                _ => Where::Nowhere,
            },
            ExpressionKind::Member { base, member } => match self.checked.reference(expression) {
                Reference::Field(_) => inside(self.place(base), member.as_str()),
                Reference::Property(_) => within(self.place(base)),
                _ => Where::Nowhere,
            },
            ExpressionKind::Index { base, index } => {
                match self.checked.constant(index).and_then(|index| index.integer()) {
                    Some(at) => inside(self.place(base), &at.to_string()),
                    None => within(self.place(base)),
                }
            }
            _ => Where::Nowhere,
        }
    }

    pub fn part(&self, expression: &Expression) -> Option<u32> {
        match self.place(expression) {
            Where::Part(part) => Some(part),
            Where::Within(_) | Where::Nowhere => None,
        }
    }

    /// What is known of a value holds for the part that it is written to.
    pub fn take_over(&mut self, to: u32, value: &Expression) {
        let before = self.facts.clone();
        match (&value.kind, self.part(value)) {
            (_, Some(from)) => self.facts.copy(&self.layout, to, &before, from),
            (ExpressionKind::List { elements, .. }, None) if self.checked.constant(value).is_none() => {
                self.facts.write(&self.layout, to);
                let fields = self.checked.fields_of(self.checked.used_type(value));
                for (field, element) in fields.iter().zip(elements) {
                    if let (Some(part), Some(_)) = (self.layout.child(to, &field.name), self.part(element)) {
                        self.take_over(part, element);
                    }
                }
            }
            (_, None) if self.checked.constant(value).is_some() => {
                self.facts.write(&self.layout, to);
                self.checked.constant(value).into_iter().for_each(|constant| self.take_constant(to, constant));
            }
            (ExpressionKind::Index { base: stack, .. }, None) => match self.part(stack) {
                Some(stack) if self.facts.all_invalid(&self.layout, stack) => self.facts.clear(&self.layout, to),
                _ => self.facts.write(&self.layout, to),
            },
            (_, None) => self.facts.write(&self.layout, to),
        }
    }

    /// The headers that a constant has invalid are so in what it is written to.
    fn take_constant(&mut self, to: u32, constant: &Value) {
        match constant {
            Value::Invalid => self.facts.invalidate(&self.layout, to),
            Value::Sequence(parts) | Value::Structure(parts) => {
                let children = self.layout.children(to);
                children.into_iter().zip(parts.iter()).for_each(|(child, part)| self.take_constant(child, part));
            }
            Value::Bool(_)
            | Value::Integer(_)
            | Value::String(_)
            | Value::Member(_)
            | Value::Mask(..)
            | Value::Range(..)
            | Value::Everything => {}
        }
    }

    /// An expression names the storage that is written. If it may be one of several, all may be written.
    pub fn write(&mut self, target: &Expression) {
        match self.place(target) {
            Where::Part(part) => self.facts.write(&self.layout, part),
            // A field's value makes no header valid.
            Where::Within(part) if self.layout.kind(part) != Kind::Header && !self.is_in_header(target) => {
                self.facts.write(&self.layout, part);
            }
            Where::Within(_) | Where::Nowhere => {}
        }
    }

    /// Warns if a field, or something in one, is accessed whose header is not valid.
    pub fn check_valid(&mut self, expression: &Expression) {
        let ExpressionKind::Member { base, .. } = &expression.kind else { return };
        if *self.checked.reference(expression) == Reference::Property(Property::Next) {
            return;
        }
        let Type::Header(_) = self.checked.type_of(base) else { return self.check_valid(base) };
        let validity = match (self.part(base), &base.kind) {
            (Some(part), _) => self.facts.validity(part),
            // The element is unknown: if all are invalid, it is.
            (None, ExpressionKind::Index { base: stack, .. }) => match self.part(stack) {
                Some(stack) if self.facts.all_invalid(&self.layout, stack) => Validity::Invalid,
                _ => return,
            },
            (None, _) => return,
        };
        let how = match validity {
            Validity::Invalid => "an invalid",
            Validity::Doubtful => "a potentially invalid",
            Validity::Valid => return,
        };
        if matches!(self.checked.reference(expression), Reference::Field(_)) && !self.facts.dead {
            let message = format!("accessing a field of {how} header {base}");
            self.warn("invalid-header", expression.span, message);
        }
    }

    fn is_in_header(&self, target: &Expression) -> bool {
        match &target.kind {
            ExpressionKind::Member { base, .. } | ExpressionKind::Index { base, .. } => {
                matches!(self.checked.type_of(base), Type::Header(_)) || self.is_in_header(base)
            }
            _ => false,
        }
    }

    /// Warns of `stack.next` where nothing is extracted into it: it is the element that has no value yet.
    pub fn check_next(&mut self, expression: &Expression) {
        if *self.checked.reference(expression) == Reference::Property(Property::Next) && !self.facts.dead {
            self.warn("uninitialized", expression.span, format!("{expression}: reading uninitialized value"));
        }
    }

    pub fn read(&mut self, expression: &'a Expression) {
        match &expression.kind {
            ExpressionKind::Call { callee, arguments, .. } => self.call(expression, callee, arguments),
            ExpressionKind::Path(_) => self.read_place(expression),
            ExpressionKind::Member { base, .. } => {
                self.check_next(expression);
                self.check_valid(expression);
                self.read_place(expression);
                if self.part(expression).is_none() {
                    self.read_inside(base);
                }
            }
            ExpressionKind::Index { base, index } => {
                self.read(index);
                self.read_place(expression);
                if self.part(expression).is_none() {
                    self.read_inside(base);
                }
            }
            ExpressionKind::Binary { operator, left, right } => {
                self.read(left);
                self.read_second(*operator, left, right);
            }
            ExpressionKind::Conditional { condition, accepted, rejected } => {
                self.read(condition);
                let before = self.facts.clone();
                self.learn(condition, true);
                self.read(accepted);
                let after = std::mem::replace(&mut self.facts, before);
                self.learn(condition, false);
                self.read(rejected);
                self.facts = std::mem::take(&mut self.facts).join(&after);
            }
            ExpressionKind::List { elements, .. } => elements.iter().for_each(|element| self.read(element)),
            ExpressionKind::Structure { fields, .. } => fields.iter().for_each(|field| self.read(&field.value)),
            ExpressionKind::Unary { operand, .. } | ExpressionKind::Cast { operand, .. } => self.read(operand),
            ExpressionKind::Slice { base, .. } => self.read(base),
            ExpressionKind::PlusSlice { base, low, .. } => {
                self.read(base);
                self.read(low);
            }
            ExpressionKind::Mask { value: first, mask: second }
            | ExpressionKind::Range { low: first, high: second } => {
                self.read(first);
                self.read(second);
            }
            _ => {}
        }
    }

    /// The second operand is read under what is known by the first one, if it is read at all.
    fn read_second(&mut self, operator: BinaryOperator, left: &'a Expression, right: &'a Expression) {
        let decides = match operator {
            BinaryOperator::And => true,
            BinaryOperator::Or => false,
            _ => return self.read(right),
        };
        let before = self.facts.clone();
        self.learn(left, decides);
        self.read(right);
        self.facts = std::mem::take(&mut self.facts).join(&before);
    }

    /// The base of something that is no part by itself: only what is computed in it is read.
    fn read_inside(&mut self, base: &'a Expression) {
        match &base.kind {
            ExpressionKind::Path(_) => {}
            ExpressionKind::Member { base: inner, .. } => {
                self.check_next(base);
                self.check_valid(base);
                self.read_inside(inner);
            }
            ExpressionKind::Index { base: inner, index } => {
                self.read(index);
                self.read_inside(inner);
            }
            _ => self.read(base),
        }
    }

    /// Warns if something may not have been written.
    fn read_place(&mut self, expression: &Expression) {
        let Some(part) = self.part(expression) else { return };
        if self.facts.dead {
            return;
        }
        let (all, unset) = match self.layout.kind(part) {
            Kind::Field => (1, usize::from(self.facts.is_unset(part))),
            Kind::Header => self.facts.unset_fields(&self.layout, part),
            Kind::Union | Kind::Stack if self.facts.never_written(&self.layout, part) => (1, 1),
            _ => self.facts.unset_within(&self.layout, part),
        };
        if unset > 0 {
            let how = if unset < all { "not be completely initialized" } else { "be uninitialized" };
            self.warn("uninitialized-use", expression.span, format!("{expression} may {how}"));
        }
    }

    /// A table is applied: what is known behind it, after each action it may run.
    pub fn runs(&mut self, call: &'a Expression) -> Vec<(DeclarationId, Facts)> {
        let (hit, miss, runs) = self.look_up_each(call);
        self.facts = hit.join(&miss);
        runs
    }

    /// What is known after a hit and after a miss.
    pub fn look_up(&mut self, call: &'a Expression) -> (Facts, Facts) {
        let (hit, miss, _) = self.look_up_each(call);
        (hit, miss)
    }

    fn look_up_each(&mut self, call: &'a Expression) -> (Facts, Facts, Vec<(DeclarationId, Facts)>) {
        let table = match self.checked.call(call).map(|call| &call.callee) {
            Some(Callee::ApplyTable(table)) => self.checked.node(*table).declaration(),
            _ => None,
        };
        let Some(Declaration { kind: DeclarationKind::Table(table), .. }) = table else {
            return (self.facts.clone(), self.facts.clone(), Vec::new());
        };
        if let Some(PropertyValue::Keys(keys)) = table.find("key").map(|property| &property.value) {
            keys.iter().for_each(|key| self.read(&key.expression));
        }
        let before = self.facts.clone();
        let mut hit = Facts::nowhere();
        let mut runs = Vec::new();
        for reference in listed(table) {
            self.facts = before.clone();
            if let Some(action) = self.listed_action(reference) {
                runs.push((action, self.facts.clone()));
            }
            hit = hit.join(&self.facts);
        }
        let default = match table.find("default_action").map(|property| &property.value) {
            Some(PropertyValue::Expression(default)) => self.checked.call(default).map(|call| call.callee.clone()),
            _ => None,
        };
        let miss = match default {
            Some(Callee::Action(default)) => {
                runs.iter().find(|(run, _)| *run == default).map(|(_, facts)| facts.clone())
            }
            _ => None,
        };
        (hit, miss.unwrap_or(before), runs)
    }

    fn listed_action(&mut self, reference: &'a Expression) -> Option<DeclarationId> {
        let call = self.checked.call(reference).cloned()?;
        let Callee::Action(action) = call.callee else { return None };
        let arguments: &'a [Argument] = match &reference.kind {
            ExpressionKind::Call { arguments, .. } => arguments,
            _ => &[],
        };
        self.action(action, &call, arguments);
        Some(action)
    }

    pub fn builtin(&mut self, builtin: Builtin, base: &'a Expression) {
        self.read_inside(base);
        match (builtin, self.place(base)) {
            (Builtin::SetValid, Where::Part(part)) => self.facts.set_valid(&self.layout, part),
            (Builtin::SetInvalid, Where::Part(part)) => self.facts.set_invalid(&self.layout, part),
            (Builtin::SetValid | Builtin::PushFront | Builtin::PopFront, Where::Within(part) | Where::Part(part)) => {
                self.facts.write(&self.layout, part);
            }
            _ => {}
        }
    }
}

fn within(base: Where) -> Where {
    match base {
        Where::Part(part) | Where::Within(part) => Where::Within(part),
        Where::Nowhere => Where::Nowhere,
    }
}

/// The actions that a table lists.
fn listed(table: &Table) -> Vec<&Expression> {
    match table.find("actions").map(|property| &property.value) {
        Some(PropertyValue::Actions(list)) => list.iter().map(|reference| &reference.action).collect(),
        _ => Vec::new(),
    }
}
