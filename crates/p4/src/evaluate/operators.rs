//! The operators of P4 on numbers, strings and truth values.
//!
//! The operands have passed the type check; `result` is the type of the result, which decides where numbers wrap.

use num_bigint::{BigInt, Sign};

use super::{Value, fits, wrap};
use crate::ast::{BinaryOperator, UnaryOperator};
use crate::types::Type;

/// An operation that has no result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mistake {
    DivisionByZero,
    NegativeDivision,
    NegativeShift,
    /// A number so large that a few more steps would fill the memory.
    TooLarge,
}

/// Numbers of more bits, and longer strings, are refused.
const LARGEST: u32 = 1 << 20;

pub fn unary(operator: UnaryOperator, operand: &Value, result: &Type) -> Option<Value> {
    Some(match (operator, operand) {
        (UnaryOperator::Not, Value::Bool(value)) => Value::Bool(!value),
        (UnaryOperator::Plus, Value::Integer(value)) => Value::Integer(value.clone()),
        (UnaryOperator::Negate, Value::Integer(value)) => within(-value, result),
        (UnaryOperator::Complement, Value::Integer(value)) => within(-value - 1, result),
        _ => return None,
    })
}

/// `Ok(None)` if the operands are not of the kinds that the operator is evaluated on.
pub fn binary(operator: BinaryOperator, left: &Value, right: &Value, result: &Type) -> Result<Option<Value>, Mistake> {
    if let (Value::Integer(left), Value::Integer(right)) = (left, right) {
        return integers(operator, left, right, result);
    }
    Ok(match operator {
        BinaryOperator::Equal => Some(Value::Bool(left == right)),
        BinaryOperator::NotEqual => Some(Value::Bool(left != right)),
        BinaryOperator::And => logical(left, right, |left, right| left && right),
        BinaryOperator::Or => logical(left, right, |left, right| left || right),
        BinaryOperator::Concatenate => match (left, right) {
            (Value::String(left), Value::String(right)) if left.len() + right.len() > LARGEST as usize => {
                return Err(Mistake::TooLarge);
            }
            (Value::String(left), Value::String(right)) => Some(Value::String(format!("{left}{right}").into())),
            _ => None,
        },
        BinaryOperator::Multiply
        | BinaryOperator::Divide
        | BinaryOperator::Modulo
        | BinaryOperator::Add
        | BinaryOperator::Subtract
        | BinaryOperator::SaturatingAdd
        | BinaryOperator::SaturatingSubtract
        | BinaryOperator::ShiftLeft
        | BinaryOperator::ShiftRight
        | BinaryOperator::BitAnd
        | BinaryOperator::BitXor
        | BinaryOperator::BitOr
        | BinaryOperator::Less
        | BinaryOperator::LessOrEqual
        | BinaryOperator::Greater
        | BinaryOperator::GreaterOrEqual => None,
    })
}

fn logical(left: &Value, right: &Value, operation: fn(bool, bool) -> bool) -> Option<Value> {
    Some(Value::Bool(operation(left.boolean()?, right.boolean()?)))
}

fn integers(operator: BinaryOperator, left: &BigInt, right: &BigInt, result: &Type) -> Result<Option<Value>, Mistake> {
    Ok(Some(match operator {
        BinaryOperator::Multiply if left.bits() + right.bits() > u64::from(LARGEST) => return Err(Mistake::TooLarge),
        BinaryOperator::Multiply => within(left * right, result),
        BinaryOperator::Divide => within(divide(left, right)?.0, result),
        BinaryOperator::Modulo => within(divide(left, right)?.1, result),
        BinaryOperator::Add => within(left + right, result),
        BinaryOperator::Subtract => within(left - right, result),
        BinaryOperator::SaturatingAdd => saturated(left + right, result),
        BinaryOperator::SaturatingSubtract => saturated(left - right, result),
        BinaryOperator::BitAnd => within(left & right, result),
        BinaryOperator::BitXor => within(left ^ right, result),
        BinaryOperator::BitOr => within(left | right, result),
        BinaryOperator::ShiftLeft => shift_left(left, right, result)?,
        BinaryOperator::ShiftRight => shift_right(left, right, result)?,
        BinaryOperator::Less => Value::Bool(left < right),
        BinaryOperator::LessOrEqual => Value::Bool(left <= right),
        BinaryOperator::Greater => Value::Bool(left > right),
        BinaryOperator::GreaterOrEqual => Value::Bool(left >= right),
        BinaryOperator::Equal => Value::Bool(left == right),
        BinaryOperator::NotEqual => Value::Bool(left != right),
        BinaryOperator::And | BinaryOperator::Or | BinaryOperator::Concatenate => return Ok(None),
    }))
}

fn divide(left: &BigInt, right: &BigInt) -> Result<(BigInt, BigInt), Mistake> {
    if *right == BigInt::ZERO {
        return Err(Mistake::DivisionByZero);
    }
    if left.sign() == Sign::Minus || right.sign() == Sign::Minus {
        return Err(Mistake::NegativeDivision);
    }
    Ok((left / right, left % right))
}

fn shift_left(left: &BigInt, right: &BigInt, result: &Type) -> Result<Value, Mistake> {
    if right.sign() == Sign::Minus {
        return Err(Mistake::NegativeShift);
    }
    let count = u32::try_from(right).unwrap_or(u32::MAX);
    if let Type::Bits { width, .. } = result
        && count >= *width
    {
        return Ok(Value::Integer(BigInt::ZERO));
    }
    if count > LARGEST || left.bits() > u64::from(LARGEST) {
        return Err(Mistake::TooLarge);
    }
    Ok(within(left << count, result))
}

/// Rounds towards minus infinity, so that a negative number keeps its sign.
fn shift_right(left: &BigInt, right: &BigInt, result: &Type) -> Result<Value, Mistake> {
    if right.sign() == Sign::Minus {
        return Err(Mistake::NegativeShift);
    }
    let count = u32::try_from(right).unwrap_or(u32::MAX);
    Ok(within(left >> count, result))
}

fn within(value: BigInt, result: &Type) -> Value {
    let Type::Bits { width, signed } = result else { return Value::Integer(value) };
    Value::Integer(wrap(&value, *width, *signed))
}

fn saturated(value: BigInt, result: &Type) -> Value {
    let Type::Bits { width, signed } = result else { return Value::Integer(value) };
    if fits(&value, *width, *signed) {
        return Value::Integer(value);
    }
    let one = BigInt::from(1);
    let (smallest, largest) = if *signed {
        let half = &one << width.saturating_sub(1);
        (-&half, half - 1)
    } else {
        (BigInt::ZERO, (one << *width) - 1)
    };
    Value::Integer(if value.sign() == Sign::Minus { smallest } else { largest })
}

/// `left ++ right` of numbers of these widths; `signed` is that of the result.
pub fn concatenate(left: &BigInt, right: &BigInt, right_width: u32, width: u32, signed: bool) -> BigInt {
    wrap(&((left << right_width) + wrap(right, right_width, false)), width, signed)
}

/// `value[high:low]`
pub fn slice(value: &BigInt, high: u32, low: u32) -> BigInt {
    wrap(&(value >> low), high - low + 1, false)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(value: i64) -> Value {
        Value::Integer(BigInt::from(value))
    }

    fn on(operator: BinaryOperator, left: i64, right: i64, result: &Type) -> Result<Option<Value>, Mistake> {
        binary(operator, &number(left), &number(right), result)
    }

    #[test]
    fn arithmetic_wraps_or_saturates_at_the_width_of_the_result() {
        let byte = Type::bits(8);
        let signed = Type::Bits { width: 8, signed: true };
        assert_eq!(on(BinaryOperator::Add, 250, 10, &byte), Ok(Some(number(4))));
        assert_eq!(on(BinaryOperator::Subtract, 3, 5, &byte), Ok(Some(number(254))));
        assert_eq!(on(BinaryOperator::SaturatingAdd, 250, 10, &byte), Ok(Some(number(255))));
        assert_eq!(on(BinaryOperator::SaturatingSubtract, 3, 5, &byte), Ok(Some(number(0))));
        assert_eq!(on(BinaryOperator::SaturatingAdd, 100, 100, &signed), Ok(Some(number(127))));
        assert_eq!(on(BinaryOperator::SaturatingSubtract, -100, 100, &signed), Ok(Some(number(-128))));
        assert_eq!(on(BinaryOperator::Add, 250, 10, &Type::Integer), Ok(Some(number(260))));
        assert_eq!(unary(UnaryOperator::Complement, &number(1), &byte), Some(number(254)));
        assert_eq!(unary(UnaryOperator::Negate, &number(-128), &signed), Some(number(-128)));
    }

    #[test]
    fn what_has_no_result_is_a_mistake() {
        let byte = Type::bits(8);
        assert_eq!(on(BinaryOperator::Divide, 1, 0, &byte), Err(Mistake::DivisionByZero));
        assert_eq!(on(BinaryOperator::Modulo, -1, 2, &Type::Integer), Err(Mistake::NegativeDivision));
        assert_eq!(on(BinaryOperator::ShiftLeft, 1, -1, &byte), Err(Mistake::NegativeShift));
        assert_eq!(on(BinaryOperator::ShiftLeft, 1, 1 << 40, &Type::Integer), Err(Mistake::TooLarge));
    }

    #[test]
    fn shifts_beyond_the_width_leave_nothing_but_the_sign() {
        let byte = Type::bits(8);
        let signed = Type::Bits { width: 8, signed: true };
        assert_eq!(on(BinaryOperator::ShiftLeft, 1, 1 << 40, &byte), Ok(Some(number(0))));
        assert_eq!(on(BinaryOperator::ShiftRight, -1, 1 << 40, &signed), Ok(Some(number(-1))));
        assert_eq!(on(BinaryOperator::ShiftRight, -5, 1, &Type::Integer), Ok(Some(number(-3))));
    }

    #[test]
    fn concatenation_and_slices_count_from_the_high_bit() {
        let joined = concatenate(&BigInt::from(0xA), &BigInt::from(-1), 4, 8, false);
        assert_eq!(joined, BigInt::from(0xAF));
        assert_eq!(slice(&BigInt::from(0xABCD), 11, 4), BigInt::from(0xBC));
        assert_eq!(slice(&BigInt::from(-1), 3, 0), BigInt::from(15));
    }
}
