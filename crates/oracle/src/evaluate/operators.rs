//! Operators on values (8.5 to 8.10). A number without a width takes the type of the other operand (8.11.2).

use num_bigint::BigInt;
use p4::ast::{BinaryOperator, UnaryOperator};

use super::value::{Bits, Value, wrap};
use super::{Run, unsupported};

pub fn unary(operator: UnaryOperator, operand: Value) -> Run<Value> {
    match (operator, operand) {
        (UnaryOperator::Not, Value::Bool(value)) => Ok(Value::Bool(!value)),
        (UnaryOperator::Plus, value) => Ok(value),
        (UnaryOperator::Negate, Value::Integer(value)) => Ok(Value::Integer(-value)),
        (UnaryOperator::Complement, Value::Integer(value)) => Ok(Value::Integer(!value)),
        (UnaryOperator::Negate, Value::Bits(bits)) => Ok(Value::Bits(Bits::new(&-bits.value, bits.width, bits.signed))),
        (UnaryOperator::Complement, Value::Bits(bits)) => {
            Ok(Value::Bits(Bits::new(&!bits.value, bits.width, bits.signed)))
        }
        (operator, value) => unsupported(format!("{} of {:?}", operator.symbol(), value.type_of())),
    }
}

/// Both operands were evaluated; `&&` and `||` come here only with constants.
pub fn binary(operator: BinaryOperator, left: Value, right: Value) -> Run<Value> {
    use BinaryOperator::{Concatenate, Equal, NotEqual, ShiftLeft, ShiftRight};
    match operator {
        Equal => Ok(Value::Bool(equal(left, right))),
        NotEqual => Ok(Value::Bool(!equal(left, right))),
        ShiftLeft | ShiftRight => shift(operator, left, &right),
        Concatenate => concatenate(left, right),
        _ => arithmetic(operator, left, right),
    }
}

/// 8.5, 8.12, 8.17: operands of one type; a list takes the type of the other side.
fn equal(left: Value, right: Value) -> bool {
    use super::convert::convert;
    let (left_type, right_type) = (left.type_of(), right.type_of());
    let is_literal = |value: &Value| {
        matches!(value, Value::Integer(_) | Value::Tuple(_) | Value::Record(_) | Value::Invalid | Value::Default)
    };
    if is_literal(&left) {
        convert(left, &right_type).same(&right)
    } else if is_literal(&right) {
        left.same(&convert(right, &left_type))
    } else {
        left.same(&right)
    }
}

/// 8.5, 8.7: shifts of any amount; `>>` of `int<W>` keeps the sign.
fn shift(operator: BinaryOperator, left: Value, right: &Value) -> Run<Value> {
    let Some(amount) = right.number() else { return unsupported("shift by no number") };
    if amount < BigInt::ZERO {
        return unsupported("shift by a negative number");
    }
    let bounded = |width: usize| usize::try_from(&amount).unwrap_or(usize::MAX).min(width);
    match (left, operator) {
        (Value::Bits(bits), BinaryOperator::ShiftLeft) => {
            let moved = bits.value << bounded(bits.width);
            Ok(Value::Bits(Bits::new(&moved, bits.width, bits.signed)))
        }
        (Value::Bits(bits), _) => {
            let moved = bits.value >> bounded(bits.width);
            Ok(Value::Bits(Bits::new(&moved, bits.width, bits.signed)))
        }
        (Value::Integer(value), BinaryOperator::ShiftLeft) => Ok(Value::Integer(value << bounded(1 << 20))),
        (Value::Integer(value), _) => Ok(Value::Integer(value >> bounded(1 << 20))),
        (value, _) => unsupported(format!("shift of {:?}", value.type_of())),
    }
}

/// 8.6, 8.8: the left operand is the most significant part and gives the sign. Strings are joined.
fn concatenate(left: Value, right: Value) -> Run<Value> {
    match (left, right) {
        (Value::Bits(left), Value::Bits(right)) => {
            let joined = (left.pattern() << right.width) + right.pattern();
            Ok(Value::Bits(Bits::new(&joined, left.width + right.width, left.signed)))
        }
        (Value::String(left), Value::String(right)) => Ok(Value::String(format!("{left}{right}").into())),
        (left, right) => unsupported(format!("{:?} ++ {:?}", left.type_of(), right.type_of())),
    }
}

fn arithmetic(operator: BinaryOperator, left: Value, right: Value) -> Run<Value> {
    match (left, right) {
        (Value::Bool(left), Value::Bool(right)) => match operator {
            BinaryOperator::And | BinaryOperator::BitAnd => Ok(Value::Bool(left && right)),
            BinaryOperator::Or | BinaryOperator::BitOr => Ok(Value::Bool(left || right)),
            BinaryOperator::BitXor => Ok(Value::Bool(left != right)),
            _ => unsupported(format!("{} of booleans", operator.symbol())),
        },
        (Value::Integer(left), Value::Integer(right)) => {
            if let Some(truth) = compare(operator, &left, &right) {
                return Ok(Value::Bool(truth));
            }
            exact(operator, &left, &right).map(Value::Integer)
        }
        (Value::Bits(left), Value::Integer(right)) => {
            let right = Bits::new(&right, left.width, left.signed);
            fixed(operator, &left, &right)
        }
        (Value::Integer(left), Value::Bits(right)) => {
            let left = Bits::new(&left, right.width, right.signed);
            fixed(operator, &left, &right)
        }
        (Value::Bits(left), Value::Bits(right)) if left.width == right.width && left.signed == right.signed => {
            fixed(operator, &left, &right)
        }
        (left, right) => unsupported(format!("{:?} {} {:?}", left.type_of(), operator.symbol(), right.type_of())),
    }
}

fn compare(operator: BinaryOperator, left: &BigInt, right: &BigInt) -> Option<bool> {
    match operator {
        BinaryOperator::Less => Some(left < right),
        BinaryOperator::LessOrEqual => Some(left <= right),
        BinaryOperator::Greater => Some(left > right),
        BinaryOperator::GreaterOrEqual => Some(left >= right),
        _ => None,
    }
}

/// Arithmetic wraps, saturating operators stay at the ends of the type's range (8.5, 8.7).
fn fixed(operator: BinaryOperator, left: &Bits, right: &Bits) -> Run<Value> {
    if let Some(truth) = compare(operator, &left.value, &right.value) {
        return Ok(Value::Bool(truth));
    }
    let (width, signed) = (left.width, left.signed);
    let saturated = |value: BigInt| {
        let most = (BigInt::from(1) << (width - usize::from(signed))) - 1;
        let least = if signed { BigInt::ZERO - &most - 1 } else { BigInt::ZERO };
        value.max(least).min(most)
    };
    let value = match operator {
        BinaryOperator::SaturatingAdd => saturated(&left.value + &right.value),
        BinaryOperator::SaturatingSubtract => saturated(&left.value - &right.value),
        _ => wrap(&exact(operator, &left.value, &right.value)?, width, signed),
    };
    Ok(Value::Bits(Bits { width, signed, value }))
}

fn exact(operator: BinaryOperator, left: &BigInt, right: &BigInt) -> Run<BigInt> {
    match operator {
        BinaryOperator::Multiply => Ok(left * right),
        BinaryOperator::Add => Ok(left + right),
        BinaryOperator::Subtract => Ok(left - right),
        BinaryOperator::BitAnd => Ok(left & right),
        BinaryOperator::BitXor => Ok(left ^ right),
        BinaryOperator::BitOr => Ok(left | right),
        BinaryOperator::Divide | BinaryOperator::Modulo if *right == BigInt::ZERO => unsupported("division by zero"),
        BinaryOperator::Divide => Ok(left / right),
        BinaryOperator::Modulo => Ok(left % right),
        _ => unsupported(format!("{} of numbers", operator.symbol())),
    }
}
