//! Operators and casts: the signs of P4's types move into HLIR's operators, and what short-circuits with effects becomes a branch.

use hlir::source::Span;
use hlir::{Binary, Expression as Hlir, Type as HlirType, Unary};

use super::arithmetic;
use super::storage::Storage;
use super::value::Value;
use super::{Lowered, Lowering};
use crate::ast::{BinaryOperator, Expression, UnaryOperator};
use crate::evaluate;
use crate::types::Type;

impl<'a> Lowering<'a> {
    pub fn unary_expression(&mut self, operator: UnaryOperator, operand: &'a Expression) -> Lowered<Value> {
        let of_type = self.used_type(operand);
        Ok(match self.expression(operand)? {
            Value::Scalar(value) => Value::Scalar(match operator {
                UnaryOperator::Plus => value,
                UnaryOperator::Negate => arithmetic::unary(Unary::Negate, value),
                UnaryOperator::Complement => arithmetic::unary(Unary::Complement, value),
                UnaryOperator::Not => arithmetic::not(value),
            }),
            Value::Integer(number) => {
                let result = evaluate::unary(operator, &evaluate::Value::Integer(number), &Type::Integer);
                let result = result.and_then(|result| self.constant(&result, &of_type));
                result.ok_or_else(|| self.internal(operand.span, "this operator on an `int`"))?
            }
            _ => return Err(self.internal(operand.span, "an operator on this")),
        })
    }

    pub fn short_circuit(
        &mut self,
        operator: BinaryOperator,
        left: &'a Expression,
        right: &'a Expression,
    ) -> Lowered<Value> {
        let is_and = operator == BinaryOperator::And;
        let first = self.scalar(left)?;
        match arithmetic::boolean_of(&first) {
            Some(known) if known != is_and => return Ok(Value::boolean(known)),
            Some(_) => return self.expression(right),
            None => {}
        }
        let mut second = Ok(Hlir::Bool(false));
        let mut region = self.region(&self.line_of(right.span), |lowering| second = lowering.scalar(right));
        let second = second?;
        if self.is_idle(&region) {
            return Ok(Value::Scalar(if is_and {
                arithmetic::and(first, second)
            } else {
                arithmetic::or(first, second)
            }));
        }
        let storage = self.scratch(&format!("condition{}", self.line_of(left.span)), HlirType::Bool);
        self.assign(&storage, Value::Scalar(first));
        self.extend_region(&mut region, |lowering| lowering.assign(&storage, Value::Scalar(second)));
        let Value::Scalar(first) = self.load(&storage) else { return Ok(Value::Void) };
        let nothing = self.region("", |_| {});
        let (then, otherwise) = if is_and { (region, nothing) } else { (nothing, region) };
        let block = self.current;
        self.branch_to(first, &self.line_of(left.span), then, otherwise);
        self.graph.place_branch(block, self.plain_notes(left.span));
        Ok(self.load(&storage))
    }

    pub fn conditional(
        &mut self,
        condition: &'a Expression,
        accepted: &'a Expression,
        rejected: &'a Expression,
    ) -> Lowered<Value> {
        let condition_value = self.scalar(condition)?;
        match arithmetic::boolean_of(&condition_value) {
            Some(true) => return self.expression(accepted),
            Some(false) => return self.expression(rejected),
            None => {}
        }
        let line = self.line_of(condition.span);
        let (mut yes, mut no) = (Ok(Value::Void), Ok(Value::Void));
        let mut then = self.region(&line, |lowering| yes = lowering.expression(accepted));
        let mut otherwise = self.region(&line, |lowering| no = lowering.expression(rejected));
        let (yes, no) = (yes?, no?);
        if self.is_idle(&then) && self.is_idle(&otherwise) {
            let condition = if yes.is_atom() && no.is_atom() && matches!(yes, Value::Scalar(_)) {
                condition_value
            } else {
                match self.atom(Value::Scalar(condition_value), "condition") {
                    Value::Scalar(condition) => condition,
                    _ => return Ok(Value::Void),
                }
            };
            return Ok(self.choose_value(&condition, yes, no));
        }
        let of_type = self.used_type(accepted);
        let name = self.local_name("chosen");
        let storage = self.allocate(&of_type, &name, &hlir::Notes::default());
        self.extend_region(&mut then, |lowering| lowering.assign(&storage, yes));
        self.extend_region(&mut otherwise, |lowering| lowering.assign(&storage, no));
        let block = self.current;
        self.branch_to(condition_value, &line, then, otherwise);
        self.graph.place_branch(block, self.plain_notes(condition.span));
        Ok(self.load(&storage))
    }

    pub fn binary_expression(
        &mut self,
        whole: &'a Expression,
        operator: BinaryOperator,
        left: &'a Expression,
        right: &'a Expression,
    ) -> Lowered<Value> {
        let mut first = self.expression(left)?;
        let mark = self.mark();
        let second = self.expression(right)?;
        self.settle(&mut first, mark);
        let (left_type, right_type) = (self.used_type(left), self.used_type(right));
        self.operation(whole, operator, (first, &left_type), (second, &right_type))
    }

    /// Applies an operator to values of these types.
    pub fn operation(
        &mut self,
        whole: &'a Expression,
        operator: BinaryOperator,
        (left, left_type): (Value, &Type),
        (right, _): (Value, &Type),
    ) -> Lowered<Value> {
        if matches!(operator, BinaryOperator::Equal | BinaryOperator::NotEqual) {
            let equal = self.equal_values(left, right);
            let result = if operator == BinaryOperator::Equal { equal } else { arithmetic::not(equal) };
            return Ok(Value::Scalar(not_equal_once(result)));
        }
        let (left, right) = match (left, right) {
            (Value::Integer(left), Value::Integer(right)) => {
                let (left, right) = (evaluate::Value::Integer(left), evaluate::Value::Integer(right));
                let result = evaluate::binary(operator, &left, &right, &Type::Integer).ok().flatten();
                let result = result.and_then(|result| self.constant(&result, &Type::Integer));
                return result.ok_or_else(|| self.internal(whole.span, "an operator on these numbers"));
            }
            (Value::Text(left), Value::Text(right)) => return Ok(Value::Text(format!("{left}{right}").into())),
            (left, right) => {
                let (mut left_width, right_width) = (self.scalar_width(&left), self.scalar_width(&right));
                // An amount is none of the left operand's values: it may need more bits than that one has.
                if let Value::Integer(amount) = &right
                    && matches!(operator, BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight)
                {
                    let own = u32::try_from(amount.bits()).unwrap_or(u32::MAX);
                    left_width = left_width.map(|width| width.max(own));
                }
                (self.operand(left, right_width), self.operand(right, left_width))
            }
        };
        let (Some(left), Some(right)) = (left, right) else {
            return Err(self.internal(whole.span, "an operator on these"));
        };
        let (_, signed) = self.number_type(left_type);
        Ok(Value::Scalar(arithmetic::binary(machine_operator(operator, signed), left, right)))
    }

    /// An operand as bits; an `int` takes the width of the other one.
    fn operand(&self, value: Value, other: Option<u32>) -> Option<Hlir> {
        match value {
            Value::Scalar(value) => Some(value),
            Value::Integer(number) => {
                let own = u32::try_from(number.bits()).unwrap_or(u32::MAX);
                let width = other.unwrap_or(own.max(32));
                Some(Hlir::constant(arithmetic::bits_of(&number, width), width))
            }
            _ => None,
        }
    }

    fn scalar_width(&self, value: &Value) -> Option<u32> {
        if let Value::Scalar(value) = value { Some(self.width(value)) } else { None }
    }

    /// Whether two values are equal: part by part, headers by validity first.
    pub fn equal_values(&mut self, left: Value, right: Value) -> Hlir {
        match (left, right) {
            (Value::Scalar(left), Value::Scalar(right)) => arithmetic::equal(left, right),
            (Value::Integer(left), Value::Integer(right)) => Hlir::Bool(left == right),
            (Value::Integer(number), Value::Scalar(other)) | (Value::Scalar(other), Value::Integer(number)) => {
                let width = self.width(&other);
                arithmetic::equal(other, Hlir::constant(arithmetic::bits_of(&number, width), width))
            }
            (Value::Text(left), Value::Text(right)) => Hlir::Bool(left == right),
            (Value::Varbit(left), Value::Varbit(right)) => Hlir::VarbitEqual(left, right),
            (Value::Header { id, members }, right) => {
                let left = self.unfold(id, &members);
                self.equal_values(left, right)
            }
            (left @ Value::Made { .. }, Value::Header { id, members }) => {
                let right = self.unfold(id, &members);
                self.equal_values(left, right)
            }
            (
                Value::Made { valid: left_valid, fields: left, .. },
                Value::Made { valid: right_valid, fields: right, .. },
            ) => {
                let fields = self.all_equal(left, right);
                let both = arithmetic::and(left_valid.clone(), right_valid.clone());
                let neither = arithmetic::and(arithmetic::not(left_valid), arithmetic::not(right_valid));
                arithmetic::or(neither, arithmetic::and(both, fields))
            }
            (Value::Struct(left) | Value::Union(left), Value::Struct(right) | Value::Union(right)) => {
                self.all_equal(left, right)
            }
            (Value::Stack { elements: left, .. }, Value::Stack { elements: right, .. }) => self.all_equal(left, right),
            (Value::Void, Value::Void) => Hlir::Bool(true),
            _ => {
                self.diagnostics.push(self.internal(Span::NONE, "a comparison of these values"));
                Hlir::Bool(true)
            }
        }
    }

    fn all_equal(&mut self, left: Vec<Value>, right: Vec<Value>) -> Hlir {
        let pairs = left.into_iter().zip(right);
        pairs.fold(Hlir::Bool(true), |all, (left, right)| {
            let equal = self.equal_values(left, right);
            arithmetic::and(all, equal)
        })
    }

    /// A cast, explicit or not.
    pub fn convert(&mut self, value: Value, from: &Type, to: &Type) -> Value {
        let (from_type, to_type) = (self.checked.representation(from), self.checked.representation(to));
        match (value, &to_type) {
            (Value::Scalar(value), Type::Bits { width, .. }) => match from_type {
                Type::Bool => Value::Scalar(arithmetic::resize(arithmetic::from_bool(value), 1, *width, false)),
                Type::Bits { width: own, signed } => Value::Scalar(arithmetic::resize(value, own, *width, signed)),
                Type::Integer => {
                    let own = self.width(&value);
                    Value::Scalar(arithmetic::resize(value, own, *width, true))
                }
                _ => Value::Scalar(value),
            },
            (Value::Scalar(value), Type::Bool) => match from_type {
                Type::Bits { width: 1, .. } => Value::Scalar(arithmetic::to_bool(value)),
                _ => Value::Scalar(value),
            },
            (Value::Scalar(value), Type::Integer) => match (arithmetic::constant_of(&value), from_type) {
                (Some((bits, width)), Type::Bits { signed, .. }) => {
                    Value::Integer(arithmetic::number_of(bits, width, signed))
                }
                // An `int` of the packet's is outside of the language; p4c takes it, and 64 bits are enough for what it does.
                (None, Type::Bits { width, signed }) => {
                    Value::Scalar(arithmetic::resize(value, width, width.max(64), signed))
                }
                _ => Value::Scalar(value),
            },
            (Value::Integer(number), _) => self.number(&number, &to_type),
            (Value::Struct(parts), Type::Struct(_) | Type::Tuple(_) | Type::Header(_) | Type::Stack { .. }) => {
                let from = self.part_types(&from_type, parts.len());
                let to = self.part_types(&to_type, parts.len());
                let parts = parts.into_iter().enumerate().map(|(at, part)| match (from.get(at), to.get(at)) {
                    (Some(from), Some(to)) => self.convert(part, from, to),
                    _ => part,
                });
                let parts = parts.collect();
                self.assembled(&to_type, parts)
            }
            (value, _) => value,
        }
    }

    /// Reads a scalar variable of the compiler's own.
    pub fn read(&mut self, storage: &Storage) -> Hlir {
        match self.load(storage) {
            Value::Scalar(value) => value,
            _ => Hlir::Bool(false),
        }
    }
}

/// `a != b`, not `!(a == b)`.
fn not_equal_once(expression: Hlir) -> Hlir {
    match expression {
        Hlir::Unary { operator: Unary::Not, operand } => match *operand {
            Hlir::Binary { operator: Binary::Equal, left, right } => {
                Hlir::Binary { operator: Binary::NotEqual, left, right }
            }
            other => arithmetic::not(other),
        },
        other => other,
    }
}

fn machine_operator(operator: BinaryOperator, signed: bool) -> Binary {
    let by_sign = |unsigned, with_sign| if signed { with_sign } else { unsigned };
    match operator {
        BinaryOperator::Multiply => Binary::Multiply,
        BinaryOperator::Divide => Binary::Divide,
        BinaryOperator::Modulo => Binary::Remainder,
        BinaryOperator::Add => Binary::Add,
        BinaryOperator::Subtract => Binary::Subtract,
        BinaryOperator::SaturatingAdd => by_sign(Binary::AddSaturating, Binary::AddSaturatingSigned),
        BinaryOperator::SaturatingSubtract => by_sign(Binary::SubtractSaturating, Binary::SubtractSaturatingSigned),
        BinaryOperator::Concatenate => Binary::Concat,
        BinaryOperator::ShiftLeft => Binary::ShiftLeft,
        BinaryOperator::ShiftRight => by_sign(Binary::ShiftRight, Binary::ShiftRightSigned),
        BinaryOperator::BitAnd => Binary::And,
        BinaryOperator::BitXor => Binary::Xor,
        BinaryOperator::BitOr => Binary::Or,
        BinaryOperator::Less => by_sign(Binary::Less, Binary::LessSigned),
        BinaryOperator::LessOrEqual => by_sign(Binary::LessEqual, Binary::LessEqualSigned),
        BinaryOperator::Greater => by_sign(Binary::Greater, Binary::GreaterSigned),
        BinaryOperator::GreaterOrEqual => by_sign(Binary::GreaterEqual, Binary::GreaterEqualSigned),
        BinaryOperator::Equal => Binary::Equal,
        BinaryOperator::NotEqual => Binary::NotEqual,
        BinaryOperator::And => Binary::LogicalAnd,
        BinaryOperator::Or => Binary::LogicalOr,
    }
}
