//! Expressions: what a packet's storage makes of them.

use crate::storage::{Layout, Storage};
use hlir::value::Value;
use hlir::{Expression, Intrinsic};

/// All that an expression can read.
pub struct View<'a> {
    pub layout: &'a Layout,
    pub storage: &'a Storage,
    /// Data of the action whose body this is.
    pub parameters: &'a [Value],
    pub facts: Facts,
}

/// What the switch knows of the packet in hand.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    pub ingress_port: u32,
    pub length_bytes: usize,
    pub clock_ns: u64,
    pub copy: CopyFacts,
}

/// What a copy is made for. All zero where no copy is made.
#[derive(Clone, Copy, Debug, Default)]
pub struct CopyFacts {
    pub port: u32,
    pub instance: u16,
    pub truncation_bytes: u32,
}

impl View<'_> {
    pub fn evaluate(&self, expression: &Expression) -> Value {
        match expression {
            Expression::Bool(value) => Value::bool(*value),
            Expression::Constant { value, width } => Value::big(value, *width),
            Expression::Variable(variable) => self.storage.variable(self.layout, *variable),
            Expression::Field(field) => self.storage.field(self.layout, *field),
            Expression::Valid(header) => Value::bool(self.storage.is_valid(*header)),
            Expression::Parameter(index) => self.parameters[*index as usize].clone(),
            Expression::Intrinsic(intrinsic) => self.facts.intrinsic(*intrinsic),
            Expression::Unary { operator, operand } => self.evaluate(operand).unary(*operator),
            Expression::Binary { operator, left, right } => {
                self.evaluate(left).binary(*operator, &self.evaluate(right))
            }
            Expression::Slice { operand, high, low } => self.evaluate(operand).slice(*high, *low),
            Expression::Extend { operand, width, signed } => self.evaluate(operand).extend(*width, *signed),
            Expression::Choose { condition, then, otherwise } => {
                self.evaluate(if self.evaluate(condition).is_true() { then } else { otherwise })
            }
            Expression::FromBool(operand) => self.evaluate(operand),
            Expression::VarbitLength(field) => Value::word(self.storage.varbit_length(field.header).into(), 32),
            Expression::VarbitEqual(left, right) => {
                Value::bool(self.storage.field(self.layout, *left) == self.storage.field(self.layout, *right))
            }
        }
    }
}

impl Facts {
    fn intrinsic(&self, intrinsic: Intrinsic) -> Value {
        let number = match intrinsic {
            Intrinsic::IngressPort => u128::from(self.ingress_port),
            Intrinsic::PacketLength => self.length_bytes as u128,
            Intrinsic::Clock => u128::from(self.clock_ns),
            Intrinsic::CopyPort => u128::from(self.copy.port),
            Intrinsic::CopyInstance => u128::from(self.copy.instance),
            Intrinsic::CopyTruncation => u128::from(self.copy.truncation_bytes),
        };
        Value::word(number, intrinsic.width())
    }
}
