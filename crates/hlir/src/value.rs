//! Bit strings of any width: one machine word of 128 bits where that is enough, a big integer beyond.
//!
//! Every operation of HLIR is here, once for words and once for big integers; the width alone decides which, so two values of one width always
//! have the same form and compare by it.

use crate::{Binary, Unary};
use num_bigint::BigUint;
use std::cmp::Ordering;

/// Widths up to this are kept in a machine word.
pub const WORD: u32 = 128;

/// The bits themselves. `Wide` exactly when the width exceeds [`WORD`].
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bits {
    Word(u128),
    Wide(BigUint),
}

/// A bit string and its width; a boolean is one bit.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Value {
    pub width: u32,
    pub bits: Bits,
}

#[inline]
fn mask(width: u32) -> u128 {
    if width >= WORD { u128::MAX } else { (1 << width) - 1 }
}

/// The low 128 bits.
#[inline]
fn low_word(value: &BigUint) -> u128 {
    let mut digits = value.iter_u64_digits();
    let low = digits.next().unwrap_or(0);
    u128::from(low) | u128::from(digits.next().unwrap_or(0)) << 64
}

fn wide_mask(width: u32) -> BigUint {
    (BigUint::from(1u8) << width) - 1u8
}

impl Bits {
    /// `value` cut to `width` bits.
    #[inline]
    pub fn from_big(value: &BigUint, width: u32) -> Bits {
        if width <= WORD { Bits::Word(low_word(value) & mask(width)) } else { Bits::wide(value, width) }
    }

    #[cold]
    fn wide(value: &BigUint, width: u32) -> Bits {
        Bits::Wide(if value.bits() > u64::from(width) { value & wide_mask(width) } else { value.clone() })
    }

    #[inline]
    pub fn from_word(value: u128, width: u32) -> Bits {
        if width <= WORD { Bits::Word(value & mask(width)) } else { Bits::Wide(BigUint::from(value)) }
    }

    #[inline]
    pub fn zero(width: u32) -> Bits {
        Bits::from_word(0, width)
    }

    pub fn ones(width: u32) -> Bits {
        if width <= WORD { Bits::Word(mask(width)) } else { Bits::Wide(wide_mask(width)) }
    }

    pub fn to_big(&self) -> BigUint {
        match self {
            Bits::Word(word) => BigUint::from(*word),
            Bits::Wide(wide) => wide.clone(),
        }
    }

    /// The value, or the largest `u64` if it is larger than that: for indices and amounts, where both are out of range.
    #[inline]
    pub fn to_u64(&self) -> u64 {
        match self {
            Bits::Word(word) => u64::try_from(*word).unwrap_or(u64::MAX),
            Bits::Wide(wide) => u64::try_from(wide).unwrap_or(u64::MAX),
        }
    }

    #[inline]
    pub fn is_zero(&self) -> bool {
        match self {
            Bits::Word(word) => *word == 0,
            Bits::Wide(wide) => *wide == BigUint::ZERO,
        }
    }

    #[inline]
    pub fn and(&self, other: &Bits) -> Bits {
        match (self, other) {
            (Bits::Word(left), Bits::Word(right)) => Bits::Word(left & right),
            (Bits::Word(word), Bits::Wide(wide)) | (Bits::Wide(wide), Bits::Word(word)) => {
                Bits::Wide(wide & BigUint::from(*word))
            }
            (Bits::Wide(left), Bits::Wide(right)) => Bits::Wide(left & right),
        }
    }
}

impl Value {
    #[inline]
    pub fn word(value: u128, width: u32) -> Value {
        Value { width, bits: Bits::from_word(value, width) }
    }

    #[inline]
    pub fn bool(value: bool) -> Value {
        Value { width: 1, bits: Bits::Word(u128::from(value)) }
    }

    #[inline]
    pub fn big(value: &BigUint, width: u32) -> Value {
        Value { width, bits: Bits::from_big(value, width) }
    }

    #[inline]
    pub fn is_true(&self) -> bool {
        !self.bits.is_zero()
    }

    #[inline]
    pub fn to_u64(&self) -> u64 {
        self.bits.to_u64()
    }

    /// The most significant bit.
    fn sign(&self) -> bool {
        match &self.bits {
            _ if self.width == 0 => false,
            Bits::Word(word) => word >> (self.width - 1) & 1 == 1,
            Bits::Wide(wide) => wide.bit(u64::from(self.width - 1)),
        }
    }

    /// The same number in another width: cut, or with zeros above.
    #[inline]
    pub fn resize(self, width: u32) -> Value {
        let bits = match self.bits {
            Bits::Word(word) => Bits::from_word(word, width),
            Bits::Wide(wide) if width > WORD && width >= self.width => Bits::Wide(wide),
            Bits::Wide(wide) => Bits::from_big(&wide, width),
        };
        Value { width, bits }
    }

    #[inline]
    pub fn extend(self, width: u32, signed: bool) -> Value {
        let fill = signed && self.sign() && width > self.width;
        let narrow = self.width;
        let extended = self.resize(width);
        if !fill {
            return extended;
        }
        let above = Value { width, bits: Bits::ones(width) }.shift_left(u64::from(narrow));
        extended.bitwise(&above, |a, b| a | b, |a, b| a | b)
    }

    #[inline]
    pub fn slice(self, high: u32, low: u32) -> Value {
        self.shift_right(u64::from(low)).resize(high - low + 1)
    }

    #[inline]
    pub fn unary(self, operator: Unary) -> Value {
        match operator {
            Unary::Not => Value::bool(!self.is_true()),
            Unary::Complement => {
                let ones = Value { width: self.width, bits: Bits::ones(self.width) };
                self.bitwise(&ones, |a, b| a ^ b, |a, b| a ^ b)
            }
            Unary::Negate => Value::word(0, self.width).subtract(&self),
        }
    }

    #[inline]
    pub fn binary(self, operator: Binary, right: &Value) -> Value {
        match operator {
            Binary::Add => self.add(right),
            Binary::Subtract => self.subtract(right),
            Binary::Multiply => self.arithmetic(right, u128::wrapping_mul, |a, b| a * b),
            Binary::Divide => self.divide(right, |a, b| a / b, |a, b| a / b),
            Binary::Remainder => self.divide(right, |a, b| a % b, |a, b| a % b),
            Binary::AddSaturating => self.add_saturating(right),
            Binary::SubtractSaturating => self.subtract_saturating(right),
            Binary::AddSaturatingSigned => self.add_saturating_signed(right),
            Binary::SubtractSaturatingSigned => self.subtract_saturating_signed(right),
            Binary::And => self.bitwise(right, |a, b| a & b, |a, b| a & b),
            Binary::Or => self.bitwise(right, |a, b| a | b, |a, b| a | b),
            Binary::Xor => self.bitwise(right, |a, b| a ^ b, |a, b| a ^ b),
            Binary::ShiftLeft => self.shift_left(right.to_u64()),
            Binary::ShiftRight => self.shift_right(right.to_u64()),
            Binary::ShiftRightSigned => self.shift_right_signed(right.to_u64()),
            Binary::Concat => self.concat(right),
            Binary::Equal => Value::bool(self.bits == right.bits),
            Binary::NotEqual => Value::bool(self.bits != right.bits),
            Binary::Less => Value::bool(self.bits < right.bits),
            Binary::LessEqual => Value::bool(self.bits <= right.bits),
            Binary::Greater => Value::bool(self.bits > right.bits),
            Binary::GreaterEqual => Value::bool(self.bits >= right.bits),
            Binary::LessSigned => Value::bool(self.compare_signed(right).is_lt()),
            Binary::LessEqualSigned => Value::bool(self.compare_signed(right).is_le()),
            Binary::GreaterSigned => Value::bool(self.compare_signed(right).is_gt()),
            Binary::GreaterEqualSigned => Value::bool(self.compare_signed(right).is_ge()),
            Binary::LogicalAnd => Value::bool(self.is_true() && right.is_true()),
            Binary::LogicalOr => Value::bool(self.is_true() || right.is_true()),
        }
    }

    #[inline]
    fn arithmetic(self, right: &Value, word: fn(u128, u128) -> u128, wide: fn(BigUint, &BigUint) -> BigUint) -> Value {
        let width = self.width;
        match (self.bits, &right.bits) {
            (Bits::Word(left), Bits::Word(right)) => Value::word(word(left, *right), width),
            (Bits::Wide(left), Bits::Wide(right)) => Value::big(&wide(left, right), width),
            (Bits::Word(_), Bits::Wide(_)) | (Bits::Wide(_), Bits::Word(_)) => {
                panic!("both operands of an arithmetic operation have the same width")
            }
        }
    }

    #[inline]
    fn bitwise(self, right: &Value, word: fn(u128, u128) -> u128, wide: fn(BigUint, &BigUint) -> BigUint) -> Value {
        self.arithmetic(right, word, wide)
    }

    #[inline]
    fn add(self, right: &Value) -> Value {
        self.arithmetic(right, u128::wrapping_add, |a, b| a + b)
    }

    #[inline]
    fn subtract(self, right: &Value) -> Value {
        let width = self.width;
        match (&self.bits, &right.bits) {
            (Bits::Wide(left), Bits::Wide(right)) => Value::big(&((BigUint::from(1u8) << width) + left - right), width),
            _ => self.arithmetic(right, u128::wrapping_sub, |a, _| a),
        }
    }

    fn divide(self, right: &Value, word: fn(u128, u128) -> u128, wide: fn(BigUint, &BigUint) -> BigUint) -> Value {
        if right.is_true() { self.arithmetic(right, word, wide) } else { Value::word(0, self.width) }
    }

    fn add_saturating(self, right: &Value) -> Value {
        let left = self.bits.clone();
        let sum = self.add(right);
        if sum.bits < left { Value { width: sum.width, bits: Bits::ones(sum.width) } } else { sum }
    }

    fn subtract_saturating(self, right: &Value) -> Value {
        if right.bits > self.bits { Value::word(0, self.width) } else { self.subtract(right) }
    }

    fn add_saturating_signed(self, right: &Value) -> Value {
        let (negative, same_sign) = (self.sign(), self.sign() == right.sign());
        let sum = self.add(right);
        if same_sign && sum.sign() != negative { Value::extreme(sum.width, negative) } else { sum }
    }

    fn subtract_saturating_signed(self, right: &Value) -> Value {
        let (negative, other_sign) = (self.sign(), self.sign() != right.sign());
        let difference = self.subtract(right);
        if other_sign && difference.sign() != negative {
            Value::extreme(difference.width, negative)
        } else {
            difference
        }
    }

    /// The most negative or most positive signed number.
    fn extreme(width: u32, negative: bool) -> Value {
        let most_negative = Value::word(1, width).shift_left(u64::from(width.saturating_sub(1)));
        if negative { most_negative } else { most_negative.unary(Unary::Complement) }
    }

    #[inline]
    fn shift_left(self, amount: u64) -> Value {
        if amount >= u64::from(self.width) {
            return Value::word(0, self.width);
        }
        let bits = match self.bits {
            Bits::Word(word) => Bits::Word(word << amount & mask(self.width)),
            Bits::Wide(wide) => Bits::from_big(&(wide << amount), self.width),
        };
        Value { width: self.width, bits }
    }

    #[inline]
    fn shift_right(self, amount: u64) -> Value {
        if amount >= u64::from(self.width) {
            return Value::word(0, self.width);
        }
        let bits = match self.bits {
            Bits::Word(word) => Bits::Word(word >> amount),
            Bits::Wide(wide) => Bits::Wide(wide >> amount),
        };
        Value { width: self.width, bits }
    }

    fn shift_right_signed(self, amount: u64) -> Value {
        let width = self.width;
        let amount = amount.min(u64::from(width.saturating_sub(1)));
        let kept = width - amount as u32;
        self.shift_right(amount).resize(kept).extend(width, true)
    }

    #[inline]
    fn concat(self, right: &Value) -> Value {
        let width = self.width + right.width;
        let above = self.resize(width).shift_left(u64::from(right.width));
        above.bitwise(&right.clone().resize(width), |a, b| a | b, |a, b| a | b)
    }

    fn compare_signed(&self, right: &Value) -> Ordering {
        match (self.sign(), right.sign()) {
            (true, false) => Ordering::Less,
            (false, true) => Ordering::Greater,
            (true, true) | (false, false) => self.bits.cmp(&right.bits),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WIDTHS: [u32; 9] = [1, 7, 8, 33, 64, 65, 128, 129, 200];

    fn all_ones(width: u32) -> Value {
        Value { width, bits: Bits::ones(width) }
    }

    fn number(value: u128, width: u32) -> Value {
        Value::word(value, width)
    }

    #[test]
    fn arithmetic_wraps_at_every_width() {
        for width in WIDTHS {
            let one = number(1, width);
            assert_eq!(all_ones(width).binary(Binary::Add, &one), number(0, width), "{width}");
            assert_eq!(number(0, width).binary(Binary::Subtract, &one), all_ones(width), "{width}");
            assert_eq!(one.clone().unary(Unary::Negate), all_ones(width), "{width}");
            assert_eq!(all_ones(width).binary(Binary::Multiply, &all_ones(width)), one, "{width}");
            assert_eq!(number(0, width).unary(Unary::Complement), all_ones(width), "{width}");
        }
        assert_eq!(number(100, 7).binary(Binary::Add, &number(100, 7)), number(72, 7));
    }

    #[test]
    fn division_by_zero_is_zero() {
        for width in WIDTHS {
            let (ones, zero) = (all_ones(width), number(0, width));
            assert_eq!(ones.clone().binary(Binary::Divide, &zero), zero, "{width}");
            assert_eq!(ones.clone().binary(Binary::Remainder, &zero), zero, "{width}");
            assert_eq!(ones.clone().binary(Binary::Divide, &ones), number(1, width), "{width}");
        }
        assert_eq!(number(200, 8).binary(Binary::Remainder, &number(64, 8)), number(8, 8));
    }

    #[test]
    fn saturation_stops_at_the_ends() {
        for width in WIDTHS {
            let (ones, one, zero) = (all_ones(width), number(1, width), number(0, width));
            assert_eq!(ones.clone().binary(Binary::AddSaturating, &one), ones, "{width}");
            assert_eq!(zero.clone().binary(Binary::SubtractSaturating, &one), zero, "{width}");
        }
        for width in WIDTHS.into_iter().filter(|width| *width > 1) {
            let (one, least) = (number(1, width), Value::extreme(width, true));
            let most = Value::extreme(width, false);
            assert_eq!(most.clone().binary(Binary::AddSaturatingSigned, &one), most, "{width}");
            assert_eq!(least.clone().binary(Binary::SubtractSaturatingSigned, &one), least, "{width}");
            assert_eq!(least.clone().binary(Binary::AddSaturatingSigned, &all_ones(width)), least, "{width}");
            let minus_one = all_ones(width);
            assert_eq!(one.clone().binary(Binary::AddSaturatingSigned, &minus_one), number(0, width), "{width}");
        }
    }

    #[test]
    fn shifts_beyond_the_width_leave_nothing_but_the_sign() {
        for width in WIDTHS {
            for amount in [u128::from(width), u128::from(width) + 1, u128::MAX] {
                let amount = number(amount, 128);
                let ones = all_ones(width);
                assert_eq!(ones.clone().binary(Binary::ShiftLeft, &amount), number(0, width), "{width}");
                assert_eq!(ones.clone().binary(Binary::ShiftRight, &amount), number(0, width), "{width}");
                assert_eq!(ones.clone().binary(Binary::ShiftRightSigned, &amount), ones, "{width}");
            }
        }
        assert_eq!(number(0b1000_0000, 8).binary(Binary::ShiftRightSigned, &number(3, 4)), number(0b1111_0000, 8));
        let wide = number(1, 200).binary(Binary::ShiftLeft, &number(199, 8));
        assert_eq!(wide.clone().binary(Binary::ShiftRight, &number(199, 8)), number(1, 200));
        assert_eq!(wide.binary(Binary::ShiftRightSigned, &number(199, 8)), all_ones(200));
        let huge_amount = number(1, 200).binary(Binary::ShiftLeft, &number(190, 8));
        assert_eq!(all_ones(8).binary(Binary::ShiftRight, &huge_amount), number(0, 8));
    }

    #[test]
    fn slices_extensions_and_concatenations_cross_the_word() {
        let left = number(0xabcd, 100);
        let joined = left.clone().binary(Binary::Concat, &number(0x1234, 100));
        assert_eq!(joined.width, 200);
        assert_eq!(joined.clone().slice(99, 0), number(0x1234, 100));
        assert_eq!(joined.clone().slice(199, 100), left);
        assert_eq!(joined.slice(115, 96), number(0xabcd0, 20));
        assert_eq!(number(0x80, 8).extend(200, true).slice(199, 192), number(0xff, 8));
        assert_eq!(number(0x80, 8).extend(200, false), number(0x80, 200));
        assert_eq!(number(0x80, 8).extend(128, true).slice(127, 120), number(0xff, 8));
        assert_eq!(number(1, 1).extend(7, true), number(0x7f, 7));
    }

    #[test]
    fn signed_comparison_differs_from_unsigned() {
        for width in WIDTHS.into_iter().filter(|width| *width > 1) {
            let (minus_one, one) = (all_ones(width), number(1, width));
            assert!(minus_one.clone().binary(Binary::LessSigned, &one).is_true(), "{width}");
            assert!(minus_one.clone().binary(Binary::Greater, &one).is_true(), "{width}");
            assert!(one.clone().binary(Binary::GreaterEqualSigned, &one).is_true(), "{width}");
            assert!(one.binary(Binary::GreaterSigned, &minus_one).is_true(), "{width}");
        }
    }
}
