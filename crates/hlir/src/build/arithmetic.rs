//! Builds HLIR expressions and folds what is constant.
//!
//! Partial evaluation happens here: constructor arguments and unrolled loops make constants of what the checker could not know, and a
//! condition that folds to a constant removes a branch of the program.

use crate::{Binary, Expression, Unary};
use num_bigint::{BigInt, BigUint, Sign};

/// All ones, `width` of them.
pub fn ones(width: u32) -> BigUint {
    (BigUint::from(1u8) << width) - 1u8
}

/// The number of `width` bits that is equal to `value` modulo 2^`width`.
pub fn wrap(value: &BigInt, width: u32, signed: bool) -> BigInt {
    let modulus = BigInt::from(1) << width;
    let mut rest = value % &modulus;
    if rest.sign() == Sign::Minus {
        rest += &modulus;
    }
    if signed && width > 0 && (&rest >> (width - 1)) != BigInt::ZERO {
        rest -= modulus;
    }
    rest
}

/// The bits of a number in two's complement.
pub fn bits_of(value: &BigInt, width: u32) -> BigUint {
    wrap(value, width, false).to_biguint().unwrap_or_default()
}

/// The number that `bits` are in two's complement.
pub fn number_of(bits: &BigUint, width: u32, signed: bool) -> BigInt {
    wrap(&BigInt::from_biguint(Sign::Plus, bits.clone()), width, signed)
}

pub fn constant_of(expression: &Expression) -> Option<(&BigUint, u32)> {
    if let Expression::Constant { value, width } = expression { Some((value, *width)) } else { None }
}

pub fn boolean_of(expression: &Expression) -> Option<bool> {
    if let Expression::Bool(value) = expression { Some(*value) } else { None }
}

pub fn zero(of_type: crate::Type) -> Expression {
    match of_type {
        crate::Type::Bool => Expression::Bool(false),
        crate::Type::Bits(width) => Expression::constant(0u32, width),
    }
}

pub fn not(operand: Expression) -> Expression {
    match operand {
        Expression::Bool(value) => Expression::Bool(!value),
        Expression::Unary { operator: Unary::Not, operand } => *operand,
        other => Expression::unary(Unary::Not, other),
    }
}

pub fn unary(operator: Unary, operand: Expression) -> Expression {
    match (operator, &operand) {
        (Unary::Not, _) => not(operand),
        (Unary::Complement, Expression::Constant { value, width }) => {
            Expression::constant(ones(*width) ^ value, *width)
        }
        (Unary::Negate, Expression::Constant { value, width }) => {
            let negated = -BigInt::from_biguint(Sign::Plus, value.clone());
            Expression::constant(bits_of(&negated, *width), *width)
        }
        (Unary::Complement | Unary::Negate, _) => Expression::unary(operator, operand),
    }
}

pub fn and(left: Expression, right: Expression) -> Expression {
    match (boolean_of(&left), boolean_of(&right)) {
        (Some(true), _) => right,
        (_, Some(true)) => left,
        (Some(false), _) | (_, Some(false)) => Expression::Bool(false),
        (None, None) => Expression::binary(Binary::LogicalAnd, left, right),
    }
}

pub fn or(left: Expression, right: Expression) -> Expression {
    match (boolean_of(&left), boolean_of(&right)) {
        (Some(false), _) => right,
        (_, Some(false)) => left,
        (Some(true), _) | (_, Some(true)) => Expression::Bool(true),
        (None, None) => Expression::binary(Binary::LogicalOr, left, right),
    }
}

pub fn equal(left: Expression, right: Expression) -> Expression {
    binary(Binary::Equal, left, right)
}

/// Whether `value`, `width` bits wide, is this number.
pub fn is_number(value: Expression, number: u64, width: u32) -> Expression {
    if width < 64 && number >> width != 0 {
        return Expression::Bool(false);
    }
    // `next - 1 == i` is `next == i + 1`.
    if let Expression::Binary { operator: Binary::Subtract, left, right } = &value
        && let Some((by, _)) = constant_of(right)
    {
        let sum = (by + number) & ones(width);
        return equal((**left).clone(), Expression::constant(sum, width));
    }
    equal(value, Expression::constant(number, width))
}

pub fn choose(condition: Expression, then: Expression, otherwise: Expression) -> Expression {
    match condition {
        Expression::Bool(true) => then,
        Expression::Bool(false) => otherwise,
        _ if then == otherwise => then,
        condition => Expression::choose(condition, then, otherwise),
    }
}

pub fn slice(operand: Expression, high: u32, low: u32) -> Expression {
    match operand {
        Expression::Constant { value, .. } => {
            Expression::constant((value >> low) & ones(high - low + 1), high - low + 1)
        }
        Expression::Slice { operand, low: below, .. } => Expression::slice(*operand, high + below, low + below),
        operand => Expression::slice(operand, high, low),
    }
}

/// `operand`, `from` bits wide, brought to `to` bits.
pub fn resize(operand: Expression, from: u32, to: u32, signed: bool) -> Expression {
    if from == to {
        return operand;
    }
    if to == 0 {
        return Expression::constant(0u32, 0);
    }
    if to < from {
        return slice(operand, to - 1, 0);
    }
    match operand {
        Expression::Constant { value, .. } => Expression::constant(bits_of(&number_of(&value, from, signed), to), to),
        Expression::Extend { operand, signed: false, .. } if !signed => Expression::extend(*operand, to, false),
        operand => Expression::extend(operand, to, signed),
    }
}

/// A boolean as one bit; a bit of a header that was read as a boolean is that bit again.
pub fn from_bool(operand: Expression) -> Expression {
    match operand {
        Expression::Bool(value) => Expression::constant(u8::from(value), 1),
        Expression::Binary { operator: Binary::Equal, left, right } if is_set_bit(&right) => *left,
        operand => Expression::FromBool(Box::new(operand)),
    }
}

fn is_set_bit(expression: &Expression) -> bool {
    matches!(expression, Expression::Constant { value, width: 1 } if *value == BigUint::from(1u8))
}

/// One bit as a boolean.
pub fn to_bool(operand: Expression) -> Expression {
    match operand {
        Expression::FromBool(inner) => *inner,
        operand => equal(operand, Expression::constant(1u8, 1)),
    }
}

pub fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
    match (operator, &left, &right) {
        (Binary::LogicalAnd, _, _) => return and(left, right),
        (Binary::LogicalOr, _, _) => return or(left, right),
        (_, Expression::Constant { value: a, width }, Expression::Constant { value: b, width: other }) => {
            return fold(operator, (a, *width), (b, *other));
        }
        (Binary::Equal, Expression::Bool(a), Expression::Bool(b)) => return Expression::Bool(a == b),
        (Binary::NotEqual, Expression::Bool(a), Expression::Bool(b)) => return Expression::Bool(a != b),
        (Binary::Equal, Expression::Bool(known), _) => return if *known { right } else { not(right) },
        (Binary::NotEqual, Expression::Bool(known), _) => return if *known { not(right) } else { right },
        (Binary::Equal, _, Expression::Bool(known)) => return if *known { left } else { not(left) },
        (Binary::NotEqual, _, Expression::Bool(known)) => return if *known { not(left) } else { left },
        (Binary::Concat, Expression::Constant { width: 0, .. }, _) => return right,
        (Binary::Concat, _, Expression::Constant { width: 0, .. }) => return left,
        _ => {}
    }
    Expression::binary(operator, left, right)
}

fn fold(operator: Binary, (a, width): (&BigUint, u32), (b, other): (&BigUint, u32)) -> Expression {
    let bits = |value: BigUint| Expression::constant(value & ones(width), width);
    let number = |value: BigInt| Expression::constant(bits_of(&value, width), width);
    let signed = |value: &BigUint| number_of(value, width, true);
    match operator {
        Binary::Add => bits(a + b),
        Binary::Subtract => number(BigInt::from(a.clone()) - BigInt::from(b.clone())),
        Binary::Multiply => bits(a * b),
        Binary::Divide => bits(if *b == BigUint::ZERO { BigUint::ZERO } else { a / b }),
        Binary::Remainder => bits(if *b == BigUint::ZERO { BigUint::ZERO } else { a % b }),
        Binary::AddSaturating => Expression::constant((a + b).min(ones(width)), width),
        Binary::SubtractSaturating => bits(if a > b { a - b } else { BigUint::ZERO }),
        Binary::AddSaturatingSigned => number(clamp(signed(a) + signed(b), width)),
        Binary::SubtractSaturatingSigned => number(clamp(signed(a) - signed(b), width)),
        Binary::And => bits(a & b),
        Binary::Or => bits(a | b),
        Binary::Xor => bits(a ^ b),
        Binary::ShiftLeft => bits(shift(b, width).map_or(BigUint::ZERO, |by| a << by)),
        Binary::ShiftRight => bits(shift(b, width).map_or(BigUint::ZERO, |by| a >> by)),
        Binary::ShiftRightSigned => number(signed(a) >> shift(b, width).unwrap_or(width)),
        Binary::Concat => Expression::constant((a << other) | b, width + other),
        Binary::Equal => Expression::Bool(a == b),
        Binary::NotEqual => Expression::Bool(a != b),
        Binary::Less => Expression::Bool(a < b),
        Binary::LessEqual => Expression::Bool(a <= b),
        Binary::Greater => Expression::Bool(a > b),
        Binary::GreaterEqual => Expression::Bool(a >= b),
        Binary::LessSigned => Expression::Bool(signed(a) < signed(b)),
        Binary::LessEqualSigned => Expression::Bool(signed(a) <= signed(b)),
        Binary::GreaterSigned => Expression::Bool(signed(a) > signed(b)),
        Binary::GreaterEqualSigned => Expression::Bool(signed(a) >= signed(b)),
        Binary::LogicalAnd | Binary::LogicalOr => {
            Expression::binary(operator, Expression::constant(a.clone(), width), Expression::constant(b.clone(), other))
        }
    }
}

/// A shift amount below the width.
fn shift(amount: &BigUint, width: u32) -> Option<u32> {
    u32::try_from(amount).ok().filter(|amount| *amount < width)
}

fn clamp(value: BigInt, width: u32) -> BigInt {
    let half = BigInt::from(1) << width.saturating_sub(1);
    value.clamp(-half.clone(), half - 1)
}

/// Whether evaluating this again costs nothing to speak of, so that it may be written twice.
pub fn is_atom(expression: &Expression) -> bool {
    match expression {
        Expression::Bool(_)
        | Expression::Constant { .. }
        | Expression::Variable(_)
        | Expression::Field(_)
        | Expression::Valid(_)
        | Expression::Parameter(_)
        | Expression::Intrinsic(_)
        | Expression::VarbitLength(_) => true,
        Expression::Slice { operand, .. }
        | Expression::Extend { operand, .. }
        | Expression::FromBool(operand)
        | Expression::Unary { operand, .. } => is_atom(operand),
        Expression::Binary { operator: Binary::Equal | Binary::Subtract, left, right } => {
            is_atom(left) && constant_of(right).is_some()
        }
        Expression::Binary { .. } | Expression::Choose { .. } | Expression::VarbitEqual(_, _) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn byte(value: u32) -> Expression {
        Expression::constant(value, 8)
    }

    #[test]
    fn constants_fold_at_their_width() {
        assert_eq!(binary(Binary::Add, byte(250), byte(10)), byte(4));
        assert_eq!(binary(Binary::Subtract, byte(3), byte(5)), byte(254));
        assert_eq!(binary(Binary::AddSaturatingSigned, byte(100), byte(100)), byte(127));
        assert_eq!(binary(Binary::ShiftRightSigned, byte(0x80), byte(200)), byte(0xFF));
        assert_eq!(binary(Binary::Concat, byte(0xA), Expression::constant(5u8, 4)), Expression::constant(0xA5u32, 12));
        assert_eq!(resize(byte(0x80), 8, 16, true), Expression::constant(0xFF80u32, 16));
        assert_eq!(slice(byte(0xAB), 7, 4), Expression::constant(0xAu8, 4));
    }

    #[test]
    fn a_bit_read_as_a_boolean_is_that_bit_again() {
        let bit = Expression::Parameter(0);
        assert_eq!(from_bool(to_bool(bit.clone())), bit);
    }
}
