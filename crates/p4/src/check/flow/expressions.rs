//! Expressions: what they read, and what calls in them write.

use super::Flow;
use super::facts::{Depth, Facts, Kind, Validity};
use crate::ast::{
    Argument, BinaryOperator, Declaration, DeclarationId, DeclarationKind, Direction, Expression, ExpressionKind,
    PropertyValue, Table,
};
use crate::check::results::{Builtin, Call, Callee, Reference};
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
            (_, None) if self.checked.constant(value) == Some(&Value::Invalid) => {
                self.facts.clear(&self.layout, to);
            }
            (_, None) => self.facts.write(&self.layout, to),
        }
    }

    /// Something is written that an expression names. Of several things, nobody knows which, all may be.
    pub fn write(&mut self, target: &Expression) {
        match self.place(target) {
            Where::Part(part) => self.facts.write(&self.layout, part),
            Where::Within(part) if self.layout.kind(part) != Kind::Header => {
                self.facts.write(&self.layout, part);
            }
            Where::Within(_) | Where::Nowhere => {}
        }
    }

    /// Warns if a field is accessed whose header is not valid.
    pub fn check_valid(&mut self, expression: &Expression) {
        let ExpressionKind::Member { base, .. } = &expression.kind else { return };
        if let (Reference::Field(_), Type::Header(_)) = (self.checked.reference(expression), self.checked.type_of(base))
            && let Some(part) = self.part(base)
            && !self.facts.dead
        {
            let how = match self.facts.validity(part) {
                Validity::Invalid => "an invalid",
                Validity::Doubtful => "a potentially invalid",
                Validity::Valid => return,
            };
            let message = format!("accessing a field of {how} header {base}");
            self.warn("invalid-header", expression.span, message);
        }
    }

    pub fn read(&mut self, expression: &'a Expression) {
        match &expression.kind {
            ExpressionKind::Call { callee, arguments, .. } => self.call(expression, callee, arguments),
            ExpressionKind::Path(_) => self.read_place(expression),
            ExpressionKind::Member { base, .. } => {
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
            _ => {}
        }
    }

    /// The second operand is read under what the first one says, if it is read at all.
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
            _ => self.facts.unset_within(&self.layout, part),
        };
        if unset > 0 {
            let how = if unset < all { "not be completely initialized" } else { "be uninitialized" };
            self.warn("uninitialized-use", expression.span, format!("{expression} may {how}"));
        }
    }

    fn call(&mut self, expression: &'a Expression, callee: &'a Expression, arguments: &'a [Argument]) {
        let Some(call) = self.checked.call(expression).cloned() else { return };
        match (&call.callee, &callee.kind) {
            (Callee::Builtin(builtin), ExpressionKind::Member { base, .. }) => self.builtin(*builtin, base),
            (Callee::ApplyTable(_), _) => {
                self.runs(expression);
            }
            (Callee::Action(action), _) => self.action(*action, &call, arguments),
            _ => {
                let given = self.given(&call, arguments);
                self.check_order(&given);
                given.iter().filter(|(_, out, _)| *out != Direction::Out).for_each(|(_, _, value)| self.read(value));
                for (_, direction, value) in given {
                    if matches!(direction, Direction::Out | Direction::InOut) {
                        self.write(value);
                    }
                }
            }
        }
    }

    /// Warns if what a call writes for one parameter is a part of what it writes for another: the last copy stays.
    fn check_order(&mut self, given: &[(DeclarationId, Direction, &'a Expression)]) {
        let is_written = |direction: &Direction| matches!(direction, Direction::Out | Direction::InOut);
        for (at, (_, _, value)) in given.iter().enumerate().filter(|(_, (_, direction, _))| is_written(direction)) {
            for (_, direction, other) in &given[at + 1..] {
                let mut written = Vec::new();
                if is_written(direction) {
                    written.push(*other);
                }
                self.written_in(other, &mut written);
                if let Some(other) = written.into_iter().find(|other| overlap(&value.to_string(), &other.to_string())) {
                    let message = format!("{other}: 'out' argument has fields in common with {value}");
                    self.warn("ordering", other.span, message);
                }
            }
        }
    }

    /// What calls in an argument write.
    fn written_in(&self, expression: &'a Expression, written: &mut Vec<&'a Expression>) {
        let ExpressionKind::Call { arguments, .. } = &expression.kind else { return };
        let Some(call) = self.checked.call(expression) else { return };
        for (_, direction, value) in self.given(call, arguments) {
            if matches!(direction, Direction::Out | Direction::InOut) {
                written.push(value);
            }
            self.written_in(value, written);
        }
    }

    /// Parameters that an argument is given for, with the direction and the argument.
    fn given(&self, call: &Call, arguments: &'a [Argument]) -> Vec<(DeclarationId, Direction, &'a Expression)> {
        let argument_of = |binding: &crate::check::Binding| {
            let value = self.checked.argument(binding, arguments)?;
            Some((binding.parameter, binding.direction, value))
        };
        call.bindings.iter().filter_map(argument_of).collect()
    }

    /// An action runs here, on the variables of the control around it.
    fn action(&mut self, id: DeclarationId, call: &Call, arguments: &'a [Argument]) {
        let Some(declaration) = self.checked.node(id).declaration() else { return };
        let DeclarationKind::Action { parameters, body } = &declaration.kind else { return };
        self.followed.insert(id);
        let given = self.given(call, arguments);
        self.check_order(&given);
        for (_, _, value) in given.iter().filter(|(_, direction, _)| *direction != Direction::Out) {
            self.read(value);
        }
        for parameter in parameters {
            let of_type = self.checked.declared_type(parameter.id).clone();
            let Some(own) = self.layout.declare(self.checked, parameter.id, &of_type, Depth::Everything) else {
                continue;
            };
            let argument = given.iter().find(|(to, _, _)| *to == parameter.id).map(|(_, _, value)| *value);
            match argument {
                _ if parameter.direction == Direction::Out => self.facts.clear(&self.layout, own),
                Some(value) => self.take_over(own, value),
                None => self.facts.write(&self.layout, own),
            }
        }
        self.silent.push(&declaration.attributes.annotations);
        self.body(declaration, parameters, body);
        self.silent.pop();
        for (parameter, direction, value) in given {
            if !matches!(direction, Direction::Out | Direction::InOut) {
                continue;
            }
            match (self.layout.root(parameter), self.part(value)) {
                (Some(own), Some(to)) => {
                    let from = self.facts.clone();
                    self.facts.copy(&self.layout, to, &from, own);
                }
                _ => self.write(value),
            }
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

    fn builtin(&mut self, builtin: Builtin, base: &'a Expression) {
        self.read_inside(base);
        match (builtin, self.place(base)) {
            (Builtin::SetValid, Where::Part(part)) => self.facts.set_valid(&self.layout, part),
            (Builtin::SetInvalid, Where::Part(part)) => self.facts.invalidate(&self.layout, part),
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

/// Whether one of two places, as they are written, is the other or a part of it.
fn overlap(one: &str, other: &str) -> bool {
    let is_within = |part: &str, whole: &str| {
        part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    is_within(one, other) || is_within(other, one)
}
