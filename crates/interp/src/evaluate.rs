//! Expressions: what a packet's storage makes of them.

use crate::packet::Packet;
use crate::storage::Layout;
use hlir::value::{Bits, Value};
use hlir::{Binary, Expression, Intrinsic, Unary};
use std::borrow::Cow;

/// All that an expression can read.
pub struct View<'a> {
    pub layout: &'a Layout,
    pub packet: &'a Packet,
    /// Data of the action whose body this is.
    pub parameters: &'a [Value],
    pub clock_ns: u64,
    /// None where no copy is made.
    pub copy: Option<CopyFacts>,
}

/// What a copy is made for.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopyFacts {
    pub port: u32,
    pub instance: u16,
    pub truncation_bytes: u32,
}

impl View<'_> {
    /// Whether a boolean is true. Of its operands, those that decide it are evaluated: expressions have no effects.
    pub fn holds(&self, expression: &Expression) -> bool {
        use Expression::Binary as Of;
        if let Of { operator: Binary::LogicalAnd, left, right } = expression {
            self.holds(left) && self.holds(right)
        } else if let Of { operator: Binary::LogicalOr, left, right } = expression {
            self.holds(left) || self.holds(right)
        } else if let Of { operator: Binary::Equal, left, right } = expression {
            self.bits(left) == self.bits(right)
        } else if let Of { operator: Binary::NotEqual, left, right } = expression {
            self.bits(left) != self.bits(right)
        } else if let Expression::Unary { operator: Unary::Not, operand } = expression {
            !self.holds(operand)
        } else if let Expression::Valid(header) = expression {
            self.packet.storage.is_valid(*header)
        } else {
            self.evaluate(expression).is_true()
        }
    }

    /// The bits of an expression: where they lie, if it reads one place.
    #[inline(always)]
    pub fn bits(&self, expression: &Expression) -> Cow<'_, Bits> {
        if let Expression::Variable(variable) = expression {
            Cow::Borrowed(self.packet.storage.variable_bits(*variable))
        } else if let Expression::Field(field) = expression {
            Cow::Borrowed(self.packet.storage.field_bits(self.layout, *field))
        } else if let Expression::Parameter(index) = expression {
            Cow::Borrowed(&self.parameters[*index as usize].bits)
        } else if let Expression::Constant { value, width } = expression {
            Cow::Owned(Bits::from_big(value, *width))
        } else {
            Cow::Owned(self.evaluate(expression).bits)
        }
    }

    pub fn evaluate(&self, expression: &Expression) -> Value {
        match expression {
            Expression::Bool(value) => Value::bool(*value),
            Expression::Constant { value, width } => Value::big(value, *width),
            Expression::Variable(variable) => self.packet.storage.variable(self.layout, *variable),
            Expression::Field(field) => self.packet.storage.field(self.layout, *field),
            Expression::Valid(_) => Value::bool(self.holds(expression)),
            Expression::Parameter(index) => self.parameters[*index as usize].clone(),
            Expression::Intrinsic(intrinsic) => self.intrinsic(*intrinsic),
            Expression::Unary { operator: Unary::Not, .. } => Value::bool(self.holds(expression)),
            Expression::Binary { operator, .. } if is_decided_early(*operator) => Value::bool(self.holds(expression)),
            Expression::Unary { operator, operand } => self.evaluate(operand).unary(*operator),
            Expression::Binary { operator, left, right } => {
                self.evaluate(left).binary(*operator, &self.evaluate(right))
            }
            Expression::Slice { operand, high, low } => self.evaluate(operand).slice(*high, *low),
            Expression::Extend { operand, width, signed } => self.evaluate(operand).extend(*width, *signed),
            Expression::Choose { condition, then, otherwise } => {
                self.evaluate(if self.holds(condition) { then } else { otherwise })
            }
            Expression::FromBool(operand) => self.evaluate(operand),
            Expression::VarbitLength(field) => Value::word(self.packet.storage.varbit_length(field.header).into(), 32),
            Expression::VarbitEqual(left, right) => Value::bool(
                self.packet.storage.field(self.layout, *left) == self.packet.storage.field(self.layout, *right),
            ),
        }
    }

    fn intrinsic(&self, intrinsic: Intrinsic) -> Value {
        let copy = self.copy.unwrap_or_default();
        let number = match intrinsic {
            Intrinsic::IngressPort => u128::from(self.packet.port),
            Intrinsic::PacketLength => self.packet.bytes.len() as u128,
            Intrinsic::Clock => u128::from(self.clock_ns),
            Intrinsic::CopyPort => u128::from(copy.port),
            Intrinsic::CopyInstance => u128::from(copy.instance),
            Intrinsic::CopyTruncation => u128::from(copy.truncation_bytes),
        };
        Value::word(number, intrinsic.width())
    }
}

/// Whether [`View::holds`] has the meaning of an operator.
fn is_decided_early(operator: Binary) -> bool {
    matches!(operator, Binary::LogicalAnd | Binary::LogicalOr | Binary::Equal | Binary::NotEqual)
}
