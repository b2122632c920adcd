//! Expressions (8): operands from left to right, `&&`, `||` and `?:` only as far as needed (8.1).

use num_bigint::BigInt;
use p4::ast::{BinaryOperator, Expression, ExpressionKind, Integer};

use super::convert::{cast, convert};
use super::environment::{Binding, Env};
use super::machine::Machine;
use super::operators::{binary, unary};
use super::place::{Step, part};
use super::value::{Bits, Shape, Type, Value, size_in_bits};
use super::{Run, Stop, unsupported};

impl<'a> Machine<'a> {
    pub(super) fn evaluate(&mut self, expression: &'a Expression, env: &Env<'a>) -> Run<Value> {
        match &expression.kind {
            ExpressionKind::Bool(value) => Ok(Value::Bool(*value)),
            ExpressionKind::Integer(literal) => Ok(literal_value(literal)),
            ExpressionKind::String(text) => Ok(Value::String(text.to_string().into())),
            ExpressionKind::Path(path) => match self.lookup(path, env)? {
                Binding::Variable(slot) => Ok(self.slots[slot].clone()),
                Binding::Constant(value) => Ok(value),
                _ => unsupported(format!("{expression} is no value")),
            },
            ExpressionKind::List { elements, .. } => self.list(elements, env),
            ExpressionKind::Structure { fields, .. } => {
                let mut values = Vec::new();
                for field in fields {
                    values.push((field.name.as_str().into(), self.evaluate(&field.value, env)?));
                }
                Ok(Value::Record(values))
            }
            ExpressionKind::Invalid => Ok(Value::Invalid),
            ExpressionKind::DefaultValue => Ok(Value::Default),
            ExpressionKind::Unary { operator, operand } => unary(*operator, self.evaluate(operand, env)?),
            ExpressionKind::Binary { operator, left, right } => self.binary(*operator, left, right, env),
            ExpressionKind::Conditional { condition, accepted, rejected } => {
                self.conditional(condition, (accepted, rejected), env)
            }
            ExpressionKind::Cast { target, operand } => {
                let target = self.resolve(target, env)?;
                Ok(cast(self.evaluate(operand, env)?, &target))
            }
            ExpressionKind::Member { base, member } => self.member(expression, base, member.as_str(), env),
            ExpressionKind::Index { .. } | ExpressionKind::Slice { .. } | ExpressionKind::PlusSlice { .. }
                if self.is_place(expression, env)? =>
            {
                self.referred(expression, env)
            }
            ExpressionKind::Index { base, index } => {
                let base = self.evaluate(base, env)?;
                let index = self.index(index, env)?;
                Ok(part(&base, &Step::Index(index)).0)
            }
            ExpressionKind::Slice { base, high, low } => {
                let base = self.evaluate(base, env)?;
                let (high, low) = (self.size(high, env)?, self.size(low, env)?);
                Ok(part(&base, &Step::Slice { low, width: high + 1 - low }).0)
            }
            ExpressionKind::PlusSlice { base, low, width } => {
                let base = self.evaluate(base, env)?;
                let low = self.index(low, env)?;
                let width = self.size(width, env)?;
                Ok(part(&base, &Step::Slice { low, width }).0)
            }
            ExpressionKind::Call { callee, type_arguments, arguments } => {
                self.call(expression, callee, type_arguments, arguments, env)
            }
            _ => unsupported(format!("`{expression}` as a value")),
        }
    }

    /// 6.7, 8.19: a part of a variable is a reference to storage. Its indexes are evaluated from left to right; only then it is read, so that in
    /// `a[f(a)]` the element is one of what `f` has left in `a`.
    fn referred(&mut self, expression: &'a Expression, env: &Env<'a>) -> Run<Value> {
        let place = self.place(expression, env)?;
        Ok(self.read(&place))
    }

    fn list(&mut self, elements: &'a [Expression], env: &Env<'a>) -> Run<Value> {
        let mut values = Vec::new();
        for element in elements {
            if !(self.leave_out_invalid && self.is_of_invalid_header(element, env)?) {
                values.push(self.evaluate(element, env)?);
            }
        }
        Ok(Value::Tuple(values))
    }

    fn conditional(
        &mut self,
        condition: &'a Expression,
        (accepted, rejected): (&'a Expression, &'a Expression),
        env: &Env<'a>,
    ) -> Run<Value> {
        let taken = self.truth(condition, env)?;
        let (taken, other) = if taken { (accepted, rejected) } else { (rejected, accepted) };
        match self.evaluate(taken, env)? {
            // 8.11.2: both have one type, so a number without a width has that of the other.
            value @ Value::Integer(_) => Ok(convert(value, &self.type_of(other, env)?)),
            value => Ok(value),
        }
    }

    pub(super) fn truth(&mut self, expression: &'a Expression, env: &Env<'a>) -> Run<bool> {
        match self.evaluate(expression, env)? {
            Value::Bool(truth) => Ok(truth),
            _ => unsupported(format!("{expression} is no boolean")),
        }
    }

    fn binary(
        &mut self,
        operator: BinaryOperator,
        left: &'a Expression,
        right: &'a Expression,
        env: &Env<'a>,
    ) -> Run<Value> {
        let first = self.evaluate(left, env)?;
        match (operator, &first) {
            (BinaryOperator::And, Value::Bool(false)) | (BinaryOperator::Or, Value::Bool(true)) => return Ok(first),
            _ => {}
        }
        let second = self.evaluate(right, env)?;
        binary(operator, first, second)
    }

    /// `base.member`: a field, a member of an enumeration, a property of a stack, the result of a table.
    fn member(&mut self, whole: &'a Expression, base: &'a Expression, member: &'a str, env: &Env<'a>) -> Run<Value> {
        if let Some(of) = self.named_type(base, env)? {
            return self.type_member(base, of, member);
        }
        if self.is_place(base, env)? && !matches!(member, "size" | "lastIndex" | "nextIndex") {
            return self.referred(whole, env);
        }
        match self.evaluate(base, env)? {
            Value::Structure(structure) => match structure.of.position(member) {
                Some(at) => {
                    if structure.of.shape == Shape::Header && !structure.valid {
                        self.note_undefined("a field of an invalid header is read");
                    }
                    Ok(structure.fields[at].clone())
                }
                None => unsupported(format!("no field {member}")),
            },
            Value::Stack(stack) => match member {
                "size" => Ok(Value::bits(stack.elements.len(), 32)),
                "nextIndex" => Ok(Value::bits(stack.next, 32)),
                "lastIndex" => {
                    if stack.next == 0 {
                        self.note_undefined("lastIndex of an empty stack");
                    }
                    Ok(Value::bits(BigInt::from(stack.next) - 1, 32))
                }
                "last" if stack.next > 0 => Ok(stack.elements[stack.next - 1].clone()),
                "next" if stack.next < stack.elements.len() => Ok(stack.elements[stack.next].clone()),
                "last" | "next" => Err(Stop::Error("StackOutOfBounds".into())),
                _ => unsupported(format!("no member {member} of a stack")),
            },
            Value::Applied { hit, action } => match member {
                "hit" => Ok(Value::Bool(hit)),
                "miss" => Ok(Value::Bool(!hit)),
                _ => Ok(Value::String(action)),
            },
            other => unsupported(format!("no member {member} of {:?}", other.type_of())),
        }
    }

    fn is_of_invalid_header(&mut self, element: &'a Expression, env: &Env<'a>) -> Run<bool> {
        let ExpressionKind::Member { base, .. } = &element.kind else { return Ok(false) };
        if !(is_plain(base) && self.is_place(base, env)?) {
            return Ok(false);
        }
        let place = self.place(base, env)?;
        Ok(matches!(self.peek(&place), Value::Structure(header) if header.of.shape == Shape::Header && !header.valid))
    }

    /// `E.A`, `error.A` (7.1.2, 7.2.3).
    fn type_member(&mut self, base: &'a Expression, of: Type, member: &'a str) -> Run<Value> {
        match of {
            Type::Error if self.errors.iter().any(|error| &**error == member) => Ok(Value::Error(member.into())),
            Type::Enum(of) => match of.members.iter().find(|known| &***known == member) {
                Some(member) => Ok(Value::Enum(of.clone(), member.clone())),
                None => unsupported(format!("no member {member}")),
            },
            underlying => self.numbered_member(base, &underlying, member),
        }
    }

    /// A member of an enumeration with an underlying type is a constant of it.
    fn numbered_member(&mut self, base: &'a Expression, underlying: &Type, member: &str) -> Run<Value> {
        let ExpressionKind::Path(path) = &base.kind else { return unsupported(format!("no member {member}")) };
        let mut name = path.name.as_str();
        // A typedef of an enumeration has its members.
        loop {
            let declaration = self.globals.get(name).and_then(|all| all.first().copied());
            match declaration.map(|declaration| &declaration.kind) {
                Some(p4::ast::DeclarationKind::Enumeration(enumeration)) => {
                    let found = enumeration.members.iter().find(|known| known.name.as_str() == member);
                    let Some(value) = found.and_then(|found| found.value.as_ref()) else {
                        return unsupported(format!("no member {member}"));
                    };
                    return Ok(convert(self.evaluate(value, &None)?, underlying));
                }
                Some(p4::ast::DeclarationKind::Typedef { target, .. }) => match &target.kind {
                    p4::ast::TypeKind::Named(target) => name = target.name.as_str(),
                    _ => return unsupported(format!("no member {member}")),
                },
                _ => return unsupported(format!("no member {member}")),
            }
        }
    }

    /// Whether an expression names a variable or a part of one.
    pub(super) fn is_place(&mut self, expression: &'a Expression, env: &Env<'a>) -> Run<bool> {
        match &expression.kind {
            ExpressionKind::Path(path) => Ok(matches!(self.lookup(path, env)?, Binding::Variable(_))),
            ExpressionKind::Member { base, .. }
            | ExpressionKind::Index { base, .. }
            | ExpressionKind::Slice { base, .. }
            | ExpressionKind::PlusSlice { base, .. } => self.is_place(base, env),
            _ => Ok(false),
        }
    }

    /// `minSizeInBits()` and its like, of a value (9.1).
    pub(super) fn size_method(of: &Type, method: &str) -> Value {
        let (fixed, variable) = (size_in_bits(of), most_variable(of));
        let bits = if method.starts_with("min") { fixed } else { fixed + variable };
        Value::Integer(BigInt::from(if method.ends_with("Bytes") { bits.div_ceil(8) } else { bits }))
    }
}

fn most_variable(of: &Type) -> usize {
    match of {
        Type::Varbit(most) => *most,
        Type::Structure(of) => of.fields.iter().map(|(_, field)| most_variable(field)).sum(),
        Type::Stack { element, size } => most_variable(element) * size,
        _ => 0,
    }
}

/// Whether an expression calls nothing, so that when its parts are evaluated does not matter.
fn is_plain(expression: &Expression) -> bool {
    !matches!(expression.kind, ExpressionKind::Call { .. }) && expression.children().into_iter().all(is_plain)
}

fn literal_value(literal: &Integer) -> Value {
    match literal.width {
        Some(width) => Value::Bits(Bits::new(&literal.value, width as usize, literal.signed)),
        None => Value::Integer(literal.value.clone()),
    }
}
