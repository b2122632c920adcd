//! Expressions of at most 64 bits as C expressions; wider ones are in `wide.rs`.
//!
//! A value of up to 32 bits is a `uint32_t`, up to 64 a `uint64_t`, always below 2^width, so that only operators that can leave that range are
//! followed by a mask. Signed operators work on biased values: the sign bit flipped, order is that of unsigned numbers.

use crate::body::{Body, word_type};
use crate::c::Expr;
use crate::field::mask;
use hlir::{Binary, Expression, Intrinsic, Place, Unary};
use num_bigint::BigUint;

/// The low 64 bits of a constant.
pub fn low_limb(value: &BigUint) -> u64 {
    value.iter_u64_digits().next().unwrap_or(0)
}

/// A number in the C type of its width.
pub fn constant(value: u64, width: u32) -> Expr {
    if width <= 32 { Expr::word(value as u32) } else { Expr::long(value) }
}

pub fn ones(width: u32) -> Expr {
    constant(mask(width), width)
}

pub fn sign(width: u32) -> Expr {
    constant(1 << (width - 1), width)
}

/// `value` cut to `width` bits, where it may have more.
pub fn masked(value: Expr, width: u32) -> Expr {
    if width == 32 || width == 64 { value } else { Expr::binary("&", value, ones(width)) }
}

/// `value` of `from` bits in the C type of `to` bits.
pub fn converted(value: Expr, from: u32, to: u32) -> Expr {
    if word_type(from) == word_type(to) {
        return value;
    }
    match value.number() {
        Some(number) => constant(number & mask(to), to),
        None => Expr::cast(word_type(to), value),
    }
}

impl Body<'_, '_> {
    /// The C expression of a boolean, or of a value of at most 64 bits.
    pub fn value(&mut self, value: &Expression) -> Expr {
        match value {
            Expression::Bool(true) => Expr::name("true"),
            Expression::Bool(false) => Expr::name("false"),
            Expression::Constant { value, width } => constant(low_limb(value), *width),
            Expression::Variable(variable) => self.place(Place::Variable(*variable)),
            Expression::Field(field) => {
                self.ensure(field.header);
                self.load(*field)
            }
            Expression::Valid(header) => self.header_valid(*header),
            Expression::Parameter(index) => self.parameter(*index),
            Expression::Intrinsic(intrinsic) => intrinsic_value(*intrinsic),
            Expression::Unary { operator, operand } => self.unary(*operator, operand),
            Expression::Binary { operator, left, right } => self.binary(*operator, left, right),
            Expression::Slice { operand, high, low } => self.slice(operand, *high, *low),
            Expression::Extend { operand, width, signed } => self.extend(operand, *width, *signed),
            Expression::Choose { condition, then, otherwise } => {
                let condition = self.value(condition);
                Expr::conditional(condition, self.value(then), self.value(otherwise))
            }
            Expression::FromBool(operand) => Expr::cast("uint32_t", self.value(operand)),
            Expression::VarbitLength(field) => self.header_bits(field.header),
            Expression::VarbitEqual(left, right) => self.varbit_equal(*left, *right),
        }
    }

    /// What a narrow variable or field holds.
    pub fn place(&mut self, place: Place) -> Expr {
        match place {
            Place::Variable(variable) => Expr::Name(format!("state->{}", self.unit.variable_name(variable))),
            Place::Field(field) => self.value(&Expression::Field(field)),
        }
    }

    fn parameter(&mut self, index: u32) -> Expr {
        let Some((table, action)) = self.action else {
            self.unsupported("a parameter outside of an action");
            return Expr::word(0);
        };
        Expr::Name(self.unit.names.parameters[crate::unit::number(table)][action][index as usize].clone())
    }

    fn unary(&mut self, operator: Unary, operand: &Expression) -> Expr {
        let width = self.width_of(operand);
        let value = self.value(operand);
        match operator {
            Unary::Not => Expr::unary("!", value),
            Unary::Complement if width == 0 => Expr::word(0),
            // A compiler warns of `~` on what it knows to be a boolean.
            Unary::Complement if width == 1 => Expr::binary("^", value, Expr::word(1)),
            Unary::Complement => masked(Expr::unary("~", value), width),
            Unary::Negate => masked(Expr::binary("-", constant(0, width), value), width),
        }
    }

    fn binary(&mut self, operator: Binary, left: &Expression, right: &Expression) -> Expr {
        let width = self.width_of(left);
        if operator.is_predicate() && width > 64 {
            return self.wide_predicate(operator, left, right);
        }
        match operator {
            Binary::ShiftLeft | Binary::ShiftRight | Binary::ShiftRightSigned => self.shift(operator, left, right),
            Binary::Concat => self.concat(left, right),
            _ if width == 0 => self.empty(operator),
            Binary::Divide | Binary::Remainder => self.divide(operator, left, right),
            Binary::AddSaturating
            | Binary::SubtractSaturating
            | Binary::AddSaturatingSigned
            | Binary::SubtractSaturatingSigned => self.saturate(operator, left, right),
            Binary::Add | Binary::Subtract | Binary::Multiply => {
                let symbol = symbol(operator);
                let (left, right) = (self.value(left), self.value(right));
                masked(Expr::binary(symbol, left, right), width)
            }
            Binary::LessSigned | Binary::LessEqualSigned | Binary::GreaterSigned | Binary::GreaterEqualSigned => {
                let left = self.biased(left);
                let right = self.biased(right);
                Expr::binary(symbol(operator), left, right)
            }
            Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::Equal
            | Binary::NotEqual
            | Binary::Less
            | Binary::LessEqual
            | Binary::Greater
            | Binary::GreaterEqual
            | Binary::LogicalAnd
            | Binary::LogicalOr => {
                let left = self.value(left);
                let right = self.value(right);
                Expr::binary(symbol(operator), left, right)
            }
        }
    }

    /// An operator on values without bits.
    fn empty(&mut self, operator: Binary) -> Expr {
        let equal = matches!(
            operator,
            Binary::Equal
                | Binary::LessEqual
                | Binary::GreaterEqual
                | Binary::LessEqualSigned
                | Binary::GreaterEqualSigned
        );
        match operator.is_predicate() {
            true => Expr::name(if equal { "true" } else { "false" }),
            false => Expr::word(0),
        }
    }

    fn biased(&mut self, value: &Expression) -> Expr {
        let width = self.width_of(value);
        let value = self.value(value);
        match value.number() {
            Some(number) => constant(number ^ (1 << (width - 1)), width),
            None => Expr::binary("^", value, sign(width)),
        }
    }

    fn divide(&mut self, operator: Binary, left: &Expression, right: &Expression) -> Expr {
        let width = self.width_of(left);
        let dividend = self.value(left);
        let divisor = self.value(right);
        match divisor.number() {
            Some(0) => constant(0, width),
            Some(_) => Expr::binary(symbol(operator), dividend, divisor),
            None => {
                let divisor = self.named(divisor, width, "divisor");
                let quotient = Expr::binary(symbol(operator), dividend, divisor.clone());
                Expr::conditional(Expr::binary("!=", divisor, constant(0, width)), quotient, constant(0, width))
            }
        }
    }

    /// Saturation below and above; the signed kind on biased values, where it is the unsigned kind around the middle.
    fn saturate(&mut self, operator: Binary, left: &Expression, right: &Expression) -> Expr {
        let width = self.width_of(left);
        let left = self.value(left);
        let left = self.named(left, width, "left");
        let right = self.value(right);
        let right = self.named(right, width, "right");
        if operator == Binary::AddSaturating {
            let room = Expr::binary("-", ones(width), left.clone());
            let fits = Expr::binary("<=", right.clone(), room);
            return Expr::conditional(fits, Expr::binary("+", left, right), ones(width));
        }
        if operator == Binary::SubtractSaturating {
            let fits = Expr::binary("<=", right.clone(), left.clone());
            return Expr::conditional(fits, Expr::binary("-", left, right), constant(0, width));
        }
        self.saturate_signed(operator, left, right, width)
    }

    /// Overflow of a signed sum shows in the signs; the result is then the end of the range on the left operand's side.
    fn saturate_signed(&mut self, operator: Binary, left: Expr, right: Expr, width: u32) -> Expr {
        let adds = operator == Binary::AddSaturatingSigned;
        let whole = Expr::binary(if adds { "+" } else { "-" }, left.clone(), right.clone());
        let whole = self.named(masked(whole, width), width, "whole");
        let other = if adds { Expr::binary("^", whole.clone(), right) } else { Expr::binary("^", left.clone(), right) };
        let changed = Expr::binary("^", whole.clone(), left.clone());
        let overflow = Expr::binary("&", Expr::binary("&", changed, other), sign(width));
        let negative = Expr::binary("!=", Expr::binary("&", left, sign(width)), constant(0, width));
        let limit = Expr::conditional(negative, sign(width), constant(mask(width - 1), width));
        Expr::conditional(Expr::binary("!=", overflow, constant(0, width)), limit, whole)
    }

    /// A shift amount as a C expression: wide ones saturate, since they exceed every width anyway.
    pub fn amount(&mut self, amount: &Expression) -> Expr {
        let width = self.width_of(amount);
        if width <= 64 {
            return self.value(amount);
        }
        let array = self.wide(amount);
        let name = self.temporary("amount");
        let number = Expr::call("wide_to_saturating", [array, Expr::word(width)]);
        self.push(crate::c::Stmt::declare("const uint64_t", &name, number));
        Expr::Name(name)
    }

    fn shift(&mut self, operator: Binary, left: &Expression, right: &Expression) -> Expr {
        let width = self.width_of(left);
        if width == 0 {
            return Expr::word(0);
        }
        let signed = operator == Binary::ShiftRightSigned;
        let value = if signed { self.biased(left) } else { self.value(left) };
        let amount = self.amount(right);
        let amount_width = self.width_of(right).min(64);
        let shifted = |amount: Expr| shifted(operator, value.clone(), amount, width);
        if let Some(number) = amount.number() {
            let last = u64::from(width) - 1;
            return if number <= last || signed {
                shifted(Expr::word(number.min(last) as u32))
            } else {
                constant(0, width)
            };
        }
        if amount_width < 32 && 1u64 << amount_width <= u64::from(width) {
            return shifted(amount);
        }
        let amount = self.named(amount, amount_width, "amount");
        let within = Expr::binary("<", amount.clone(), constant(u64::from(width), amount_width.max(width.ilog2() + 1)));
        if signed {
            let last = constant(u64::from(width) - 1, amount_width);
            return shifted(Expr::conditional(within, amount, last));
        }
        Expr::conditional(within, shifted(amount), constant(0, width))
    }

    fn concat(&mut self, left: &Expression, right: &Expression) -> Expr {
        let (high, low) = (self.width_of(left), self.width_of(right));
        let width = high + low;
        if high == 0 {
            return self.value(right);
        }
        if low == 0 {
            return self.value(left);
        }
        let upper = self.value(left);
        let upper = Expr::binary("<<", converted(upper, high, width), Expr::word(low));
        let lower = self.value(right);
        if lower.number() == Some(0) { upper } else { Expr::binary("|", upper, lower) }
    }

    fn slice(&mut self, operand: &Expression, high: u32, low: u32) -> Expr {
        let from = self.width_of(operand);
        let width = high - low + 1;
        if let Expression::Field(field) = operand
            && width <= 64
        {
            self.ensure(field.header);
            return self.load_from(*field, from - 1 - high, width);
        }
        if from > 64 {
            let array = self.wide(operand);
            return crate::wide::bits_of(&array, high, low);
        }
        let mut value = self.value(operand);
        if low > 0 {
            value = Expr::binary(">>", value, Expr::word(low));
        }
        value = converted(value, from, width);
        if high + 1 < from { masked(value, width) } else { value }
    }

    fn extend(&mut self, operand: &Expression, width: u32, signed: bool) -> Expr {
        let from = self.width_of(operand);
        let value = self.value(operand);
        if from == 0 {
            return constant(0, width);
        }
        if !signed || from >= width {
            return converted(value, from, width);
        }
        let bias = constant(1 << (from - 1), width);
        let value = converted(value, from, width);
        masked(Expr::binary("-", Expr::binary("^", value, bias.clone()), bias), width)
    }

    fn varbit_equal(&mut self, left: hlir::FieldRef, right: hlir::FieldRef) -> Expr {
        self.ensure(left.header);
        self.ensure(right.header);
        let lengths = (self.header_bits(left.header), self.header_bits(right.header));
        let bytes = Expr::binary("/", lengths.0.clone(), Expr::word(8));
        let compared = Expr::call("memcmp", [self.varbit_address(left), self.varbit_address(right), bytes]);
        let same = Expr::binary("==", compared, Expr::name("0"));
        Expr::binary("&&", Expr::binary("==", lengths.0, lengths.1), same)
    }

    /// The first byte of a varbit field.
    pub fn varbit_address(&self, field: hlir::FieldRef) -> Expr {
        let header = &self.program().headers[field.header];
        let bytes = header.fields[..field.field as usize].iter().map(|field| field.width).sum::<u32>() / 8;
        let start = self.header(field.header);
        if bytes == 0 { start } else { Expr::binary("+", start, Expr::word(bytes)) }
    }
}

/// A shift by less than the width; of a biased value, if it is signed.
fn shifted(operator: Binary, value: Expr, amount: Expr, width: u32) -> Expr {
    if operator == Binary::ShiftLeft {
        return masked(Expr::binary("<<", value, amount), width);
    }
    let right = Expr::binary(">>", value, amount.clone());
    if operator == Binary::ShiftRight {
        return right;
    }
    masked(Expr::binary("-", right, Expr::binary(">>", sign(width), amount)), width)
}

fn intrinsic_value(intrinsic: Intrinsic) -> Expr {
    match intrinsic {
        Intrinsic::IngressPort => Expr::name("state->port"),
        Intrinsic::PacketLength => Expr::call("packet_length", [Expr::name("&state->packet")]),
        Intrinsic::Clock => Expr::name("run->clock_ns"),
        Intrinsic::CopyPort => Expr::name("member->port"),
        Intrinsic::CopyInstance => Expr::binary("&", Expr::name("member->instance"), Expr::word(0xffff)),
        Intrinsic::CopyTruncation => Expr::name("truncation"),
    }
}

/// C's operator for what both have.
pub fn symbol(operator: Binary) -> &'static str {
    match operator {
        Binary::Add | Binary::AddSaturating | Binary::AddSaturatingSigned => "+",
        Binary::Subtract | Binary::SubtractSaturating | Binary::SubtractSaturatingSigned => "-",
        Binary::Multiply => "*",
        Binary::Divide => "/",
        Binary::Remainder => "%",
        Binary::And => "&",
        Binary::Or | Binary::Concat => "|",
        Binary::Xor => "^",
        Binary::ShiftLeft => "<<",
        Binary::ShiftRight | Binary::ShiftRightSigned => ">>",
        Binary::Equal => "==",
        Binary::NotEqual => "!=",
        Binary::Less | Binary::LessSigned => "<",
        Binary::LessEqual | Binary::LessEqualSigned => "<=",
        Binary::Greater | Binary::GreaterSigned => ">",
        Binary::GreaterEqual | Binary::GreaterEqualSigned => ">=",
        Binary::LogicalAnd => "&&",
        Binary::LogicalOr => "||",
    }
}
