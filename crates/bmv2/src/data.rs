//! BMv2's numbers: expressions compute without limits, and what is stored keeps its low bits.
//!
//! HLIR's bit strings have widths. So an expression is lowered for the bits that are needed of it ([`Data::low`]): the low bits of a sum are
//! the sum of the low bits. Where all of the value counts, as in a comparison, the range of values that are possible gives the width
//! ([`Data::exact`]). p4c masks results as its types demand, and the masks disappear into the widths.

use hlir::build::arithmetic;
use hlir::{Binary, Expression, Unary};
use num_bigint::{BigInt, BigUint, Sign};

/// A number of BMv2.
#[derive(Clone, Debug)]
pub enum Data {
    Number(BigInt),
    /// A field, a parameter, or another bit string.
    Bits {
        value: Expression,
        width: u32,
        signed: bool,
    },
    Binary(Operator, Box<Data>, Box<Data>),
    Complement(Box<Data>),
    Choose(Expression, Box<Data>, Box<Data>),
    /// The low bits, as a signed number.
    Wrapped(Box<Data>, u32),
    /// The nearest number that has so many bits.
    Saturated {
        of: Box<Data>,
        width: u32,
        signed: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operator {
    Add,
    Subtract,
    Multiply,
    Divide,
    Remainder,
    ShiftLeft,
    ShiftRight,
    And,
    Or,
    Xor,
}

/// Shifts by more than this are not computed exactly.
const LONGEST_SHIFT: u64 = 4096;

/// A bit string with its width, and how its bits are a number.
pub struct Exact {
    pub value: Expression,
    pub width: u32,
    pub signed: bool,
}

impl Data {
    pub fn number(number: impl Into<BigInt>) -> Data {
        Data::Number(number.into())
    }

    pub fn unsigned(value: Expression, width: u32) -> Data {
        Data::Bits { value, width, signed: false }
    }

    /// A boolean as 0 or 1.
    pub fn of_boolean(value: Expression) -> Data {
        Data::unsigned(arithmetic::from_bool(value), 1)
    }

    pub fn binary(operator: Operator, left: Data, right: Data) -> Data {
        Data::Binary(operator, Box::new(left), Box::new(right))
    }

    pub fn choose(condition: Expression, then: Data, otherwise: Data) -> Data {
        Data::Choose(condition, Box::new(then), Box::new(otherwise))
    }

    /// The number that it is if it is constant.
    pub fn constant(&self) -> Option<BigInt> {
        match self {
            Data::Number(number) => Some(number.clone()),
            Data::Bits { value: Expression::Constant { value, width }, signed, .. } => {
                Some(arithmetic::number_of(value, *width, *signed))
            }
            _ => None,
        }
    }

    /// The least and the largest number that it can be. Nothing if that has no limit.
    fn range(&self) -> Option<(BigInt, BigInt)> {
        Some(match self {
            Data::Number(number) => (number.clone(), number.clone()),
            Data::Bits { width, signed, .. } => limits(*width, *signed),
            Data::Binary(operator, left, right) => range_of(*operator, left.range()?, right.range()?)?,
            Data::Complement(of) => {
                let (low, high) = of.range()?;
                (-high - 1, -low - 1)
            }
            Data::Choose(_, then, otherwise) => {
                let ((a, b), (c, d)) = (then.range()?, otherwise.range()?);
                (a.min(c), b.max(d))
            }
            Data::Wrapped(_, width) => limits(*width, true),
            Data::Saturated { of, width, signed } => {
                let ((low, high), (least, most)) = (of.range()?, limits(*width, *signed));
                (low.clamp(least.clone(), most.clone()), high.clamp(least, most))
            }
        })
    }

    /// All of the number: as many bits as it can have. Nothing if they are not limited.
    pub fn exact(&self) -> Option<Exact> {
        if let Data::Bits { value, width, signed } = self {
            return Some(Exact { value: value.clone(), width: *width, signed: *signed });
        }
        let (low, high) = self.range()?;
        let signed = low.sign() == Sign::Minus;
        let width = if signed { signed_width(&low, &high) } else { (high.bits() as u32).max(1) };
        Some(Exact { value: self.low(width)?, width, signed })
    }

    /// The low bits of the number, in two's complement. Nothing if what they depend on has no limit.
    pub fn low(&self, width: u32) -> Option<Expression> {
        if let Some(number) = self.constant() {
            return Some(Expression::constant(arithmetic::bits_of(&number, width), width));
        }
        Some(match self {
            Data::Number(number) => Expression::constant(arithmetic::bits_of(number, width), width),
            Data::Bits { value, width: from, signed } => arithmetic::resize(value.clone(), *from, width, *signed),
            Data::Binary(operator, left, right) => low_of(*operator, left, right, width)?,
            Data::Complement(of) => arithmetic::unary(Unary::Complement, of.low(width)?),
            Data::Choose(condition, then, otherwise) => {
                arithmetic::choose(condition.clone(), then.low(width)?, otherwise.low(width)?)
            }
            Data::Wrapped(of, from) => arithmetic::resize(of.low(*from)?, *from, width, true),
            Data::Saturated { of, width: to, signed } => {
                arithmetic::resize(saturated(of, *to, *signed)?, *to, width, *signed)
            }
        })
    }

    /// Whether it is not 0.
    pub fn is_set(&self) -> Option<Expression> {
        let Exact { value, width, .. } = self.exact()?;
        Some(if width == 1 {
            arithmetic::to_bool(value)
        } else {
            arithmetic::binary(Binary::NotEqual, value, Expression::constant(0u32, width))
        })
    }
}

/// `left operator right`, an unsigned comparison; operands of any sign are compared as numbers.
pub fn compare(operator: Binary, left: &Data, right: &Data) -> Option<Expression> {
    let (a, b) = (left.exact()?, right.exact()?);
    let signed = a.signed || b.signed;
    // An unsigned number needs a bit more to be a signed one.
    let needed = |exact: &Exact| exact.width + u32::from(signed && !exact.signed);
    let width = needed(&a).max(needed(&b));
    let bring = |exact: Exact| arithmetic::resize(exact.value, exact.width, width, exact.signed);
    let operator = match operator {
        Binary::Less if signed => Binary::LessSigned,
        Binary::LessEqual if signed => Binary::LessEqualSigned,
        Binary::Greater if signed => Binary::GreaterSigned,
        Binary::GreaterEqual if signed => Binary::GreaterEqualSigned,
        other => other,
    };
    Some(arithmetic::binary(operator, bring(a), bring(b)))
}

fn limits(width: u32, signed: bool) -> (BigInt, BigInt) {
    if signed && width > 0 {
        let half = BigInt::from(1) << (width - 1);
        return (-half.clone(), half - 1);
    }
    (BigInt::ZERO, BigInt::from(arithmetic::ones(width)))
}

/// Bits of a signed number between these.
fn signed_width(low: &BigInt, high: &BigInt) -> u32 {
    let of_low = (-low - 1u8).bits() as u32;
    of_low.max(high.bits() as u32) + 1
}

fn range_of(operator: Operator, (a, b): (BigInt, BigInt), (c, d): (BigInt, BigInt)) -> Option<(BigInt, BigInt)> {
    let is_unsigned = a.sign() != Sign::Minus && c.sign() != Sign::Minus;
    Some(match operator {
        Operator::Add => (a + c, b + d),
        Operator::Subtract => (a - d, b - c),
        Operator::Multiply => {
            let products = [&a * &c, &a * &d, &b * &c, &b * &d];
            (products.iter().min()?.clone(), products.iter().max()?.clone())
        }
        Operator::Divide if is_unsigned => (BigInt::ZERO, b),
        Operator::Remainder if is_unsigned => (BigInt::ZERO, b.min(d)),
        Operator::Divide | Operator::Remainder => return None,
        Operator::ShiftLeft => {
            let (least, most) = (amount(&c)?, amount(&d).filter(|most| *most <= LONGEST_SHIFT)?);
            let low = if a.sign() == Sign::Minus { &a << most } else { &a << least };
            let high = if b.sign() == Sign::Minus { &b << least } else { &b << most };
            (low, high)
        }
        Operator::ShiftRight => {
            let least = amount(&c)?.min(LONGEST_SHIFT);
            let most = amount(&d).unwrap_or(LONGEST_SHIFT).min(LONGEST_SHIFT);
            let shifted = [&a >> least, &a >> most, &b >> least, &b >> most];
            (shifted.iter().min()?.clone(), shifted.iter().max()?.clone())
        }
        Operator::And if a.sign() != Sign::Minus || c.sign() != Sign::Minus => {
            let high = match (a.sign() != Sign::Minus, c.sign() != Sign::Minus) {
                (true, true) => b.min(d),
                (true, false) => b,
                (false, _) => d,
            };
            (BigInt::ZERO, high)
        }
        Operator::Or | Operator::Xor if is_unsigned => (BigInt::ZERO, limits(b.bits().max(d.bits()) as u32, false).1),
        Operator::And | Operator::Or | Operator::Xor => limits(signed_width(&a, &b).max(signed_width(&c, &d)), true),
    })
}

fn amount(number: &BigInt) -> Option<u64> {
    u64::try_from(number).ok()
}

fn low_of(operator: Operator, left: &Data, right: &Data, width: u32) -> Option<Expression> {
    let plain = |operator| Some(arithmetic::binary(operator, left.low(width)?, right.low(width)?));
    match operator {
        Operator::Add => plain(Binary::Add),
        Operator::Subtract => plain(Binary::Subtract),
        Operator::Multiply => plain(Binary::Multiply),
        Operator::Or => plain(Binary::Or),
        Operator::Xor => plain(Binary::Xor),
        Operator::And => match (left.constant(), right.constant()) {
            (_, Some(mask)) => masked(left, &mask, width),
            (Some(mask), _) => masked(right, &mask, width),
            (None, None) => plain(Binary::And),
        },
        Operator::Divide | Operator::Remainder => {
            let (a, b) = (left.exact()?, right.exact()?);
            let both = a.width.max(b.width);
            let bring = |exact: Exact| arithmetic::resize(exact.value, exact.width, both, false);
            let operator = if operator == Operator::Divide { Binary::Divide } else { Binary::Remainder };
            if a.signed || b.signed {
                return None;
            }
            Some(arithmetic::resize(arithmetic::binary(operator, bring(a), bring(b)), both, width, false))
        }
        Operator::ShiftLeft => {
            if let Some(by) = right.constant() {
                return shifted_left(left, amount(&by)?, width);
            }
            let by = right.exact().filter(|by| !by.signed)?.value;
            Some(arithmetic::binary(Binary::ShiftLeft, left.low(width)?, by))
        }
        Operator::ShiftRight => shifted_right(left, right, width),
    }
}

fn shifted_left(of: &Data, by: u64, width: u32) -> Option<Expression> {
    if by >= u64::from(width) {
        return Some(Expression::constant(0u32, width));
    }
    if by == 0 {
        return of.low(width);
    }
    Some(arithmetic::binary(Binary::ShiftLeft, of.low(width)?, Expression::constant(by, 32)))
}

fn shifted_right(of: &Data, by: &Data, width: u32) -> Option<Expression> {
    let Exact { value, width: from, signed } = of.exact()?;
    if let Some(by) = by.constant() {
        let by = amount(&by)?;
        if by >= u64::from(from) && !signed {
            return Some(Expression::constant(0u32, width));
        }
        let by = by.min(u64::from(from) - 1) as u32;
        return Some(arithmetic::resize(slice(value, from, by), from - by, width, signed));
    }
    let by = by.exact().filter(|by| !by.signed)?.value;
    let operator = if signed { Binary::ShiftRightSigned } else { Binary::ShiftRight };
    Some(arithmetic::resize(arithmetic::binary(operator, value, by), from, width, signed))
}

/// The bits of a value from `low` on.
fn slice(value: Expression, width: u32, low: u32) -> Expression {
    if low == 0 { value } else { arithmetic::slice(value, width - 1, low) }
}

/// `of & mask`: no more bits are computed than the mask lets through.
fn masked(of: &Data, mask: &BigInt, width: u32) -> Option<Expression> {
    let kept = match mask.to_biguint() {
        Some(mask) => width.min((mask.bits() as u32).max(1)),
        None => width,
    };
    let mask = arithmetic::bits_of(mask, kept);
    if mask == BigUint::ZERO {
        return Some(Expression::constant(0u32, width));
    }
    let all = mask == arithmetic::ones(kept);
    // What has no more bits than the mask is not changed by it.
    if all && of.exact_width().is_some_and(|own| own <= kept) {
        return of.low(width);
    }
    let value = of.low(kept)?;
    let value = if all { value } else { arithmetic::binary(Binary::And, value, Expression::constant(mask, kept)) };
    Some(arithmetic::resize(value, kept, width, false))
}

impl Data {
    /// The bits of a number that is never negative.
    fn exact_width(&self) -> Option<u32> {
        let (low, high) = self.range()?;
        (low.sign() != Sign::Minus).then_some((high.bits() as u32).max(1))
    }
}

fn saturated(of: &Data, width: u32, signed: bool) -> Option<Expression> {
    if let Data::Binary(operator @ (Operator::Add | Operator::Subtract), left, right) = of {
        let fits = |part: &Data| {
            let (least, most) = limits(width, signed);
            part.range().is_some_and(|(low, high)| least <= low && high <= most)
        };
        if fits(left) && fits(right) {
            let operator = match (operator, signed) {
                (Operator::Add, false) => Binary::AddSaturating,
                (Operator::Add, true) => Binary::AddSaturatingSigned,
                (_, false) => Binary::SubtractSaturating,
                (_, true) => Binary::SubtractSaturatingSigned,
            };
            return Some(arithmetic::binary(operator, left.low(width)?, right.low(width)?));
        }
    }
    let (least, most) = limits(width, signed);
    let constant = |number: &BigInt| Expression::constant(arithmetic::bits_of(number, width), width);
    let below = compare(Binary::Less, of, &Data::Number(least.clone()))?;
    let above = compare(Binary::Greater, of, &Data::Number(most.clone()))?;
    let within = arithmetic::choose(above, constant(&most), of.low(width)?);
    Some(arithmetic::choose(below, constant(&least), within))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlir::{Expression as Hlir, VariableId};

    fn byte() -> Data {
        Data::unsigned(Hlir::Variable(VariableId::from_raw(0.into())), 8)
    }

    fn shown(value: Option<Expression>) -> String {
        format!("{:?}", value.expect("the number is limited"))
    }

    #[test]
    fn a_mask_is_the_width_of_what_is_computed() {
        let sum = Data::binary(Operator::Add, byte(), Data::number(1));
        let masked = Data::binary(Operator::And, sum.clone(), Data::number(0xff));
        assert_eq!(masked.low(8), sum.low(8));
        assert!(shown(masked.low(16)).contains("Extend"), "the carry is cut off before it is widened");
        assert!(!shown(sum.low(16)).contains("Slice"));
    }

    #[test]
    fn a_comparison_sees_the_carry_and_the_sign() {
        let sum = Data::binary(Operator::Add, byte(), byte());
        assert_eq!(sum.exact().map(|exact| (exact.width, exact.signed)), Some((9, false)));
        let difference = Data::binary(Operator::Subtract, byte(), byte());
        assert_eq!(difference.exact().map(|exact| (exact.width, exact.signed)), Some((9, true)));
        assert!(shown(compare(Binary::Less, &difference, &Data::number(0))).contains("LessSigned"));
    }

    #[test]
    fn constants_are_numbers_of_any_sign() {
        let minus = Data::binary(Operator::Subtract, Data::number(3), Data::number(5));
        assert_eq!(minus.low(4), Some(Hlir::constant(14u8, 4)));
        let wrapped = Data::Wrapped(Box::new(Data::number(200)), 8);
        assert_eq!(compare(Binary::Less, &wrapped, &Data::number(0)), Some(Hlir::Bool(true)));
        let limited = Data::Saturated { of: Box::new(Data::number(300)), width: 8, signed: false };
        assert_eq!(limited.low(8), Some(Hlir::constant(255u8, 8)));
    }

    #[test]
    fn a_shift_without_a_limit_has_low_bits_only() {
        let amount = Data::unsigned(Hlir::Variable(VariableId::from_raw(0.into())), 32);
        let shifted = Data::binary(Operator::ShiftLeft, byte(), amount);
        assert!(shifted.low(8).is_some());
        assert!(shifted.exact().is_none());
    }
}
