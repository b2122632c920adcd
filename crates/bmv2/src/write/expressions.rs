//! Expressions. BMv2 computes without limits, so what may exceed its width is masked, as p4c does.

use super::writer::{Writer, Written};
use hlir::build::arithmetic::ones;
use hlir::{Binary, Expression, Place, Type, Unary};
use num_bigint::BigUint;
use serde_json::{Value, json};

/// A number, with a digit for each four bits.
pub fn number(value: &BigUint, width: u32) -> Value {
    json!({ "type": "hexstr", "value": hex(value, width) })
}

pub fn hex(value: &BigUint, width: u32) -> String {
    let digits = (width.div_ceil(4) as usize).max(1);
    format!("0x{value:0digits$x}")
}

pub fn small(value: u64) -> Value {
    json!({ "type": "hexstr", "value": format!("0x{value:x}") })
}

pub fn field(place: &[String; 2]) -> Value {
    json!({ "type": "field", "value": place })
}

/// An operation; `left` is null if it has one operand.
fn operation(op: &str, left: Value, right: Value) -> Value {
    json!({ "type": "expression", "value": { "op": op, "left": left, "right": right } })
}

fn masked(value: Value, width: u32) -> Value {
    operation("&", value, number(&ones(width), width))
}

/// The bits as a number with a sign.
fn signed(value: Value, width: u32) -> Value {
    operation("two_comp_mod", value, small(width.into()))
}

fn choice(condition: Value, then: Value, otherwise: Value) -> Value {
    json!({ "type": "expression", "value": { "op": "?", "cond": condition, "left": then, "right": otherwise } })
}

pub fn not(condition: Value) -> Value {
    operation("not", Value::Null, condition)
}

/// A boolean as a number.
pub fn as_number(condition: Value) -> Value {
    operation("b2d", Value::Null, condition)
}

impl Writer<'_> {
    fn width(&self, expression: &Expression) -> u32 {
        expression.type_in(self.program, &self.parameters).width()
    }

    fn is_boolean(&self, expression: &Expression) -> bool {
        expression.type_in(self.program, &self.parameters) == Type::Bool
    }

    /// A parameter of a primitive: a number, whatever the expression's type.
    pub(super) fn parameter(&self, expression: &Expression) -> Written<Value> {
        Ok(match expression {
            Expression::Parameter(index) => json!({ "type": "runtime_data", "value": index }),
            Expression::Constant { value, width } => number(value, *width),
            Expression::Variable(_) | Expression::Field(_) => field(&self.place_of(expression)),
            _ => json!({ "type": "expression", "value": self.data(expression)? }),
        })
    }

    /// Where a variable or a field is.
    fn place_of(&self, expression: &Expression) -> [String; 2] {
        match expression {
            Expression::Variable(variable) => self.storage.place(Place::Variable(*variable)),
            Expression::Field(field) => self.storage.place(Place::Field(*field)),
            _ => panic!("only places have a place"),
        }
    }

    /// What a key can be without a computation: a variable, a field, or whether a header is valid.
    pub(super) fn plain(&self, expression: &Expression) -> Option<[String; 2]> {
        match expression {
            Expression::Variable(_) | Expression::Field(_) => Some(self.place_of(expression)),
            Expression::FromBool(condition) => match &**condition {
                Expression::Valid(header) => Some([self.storage.header(*header).to_string(), "$valid$".to_string()]),
                Expression::Variable(_) => self.plain(condition),
                _ => None,
            },
            _ => None,
        }
    }

    /// An expression as a number.
    pub(super) fn data(&self, expression: &Expression) -> Written<Value> {
        Ok(match expression {
            Expression::Constant { value, width } => number(value, *width),
            Expression::Variable(_) | Expression::Field(_) => field(&self.place_of(expression)),
            Expression::Parameter(index) => json!({ "type": "local", "value": index }),
            _ if self.is_boolean(expression) => as_number(self.condition(expression)?),
            Expression::FromBool(condition) => self.data(condition)?,
            Expression::Unary { operator: Unary::Complement, operand } => {
                masked(operation("~", Value::Null, self.data(operand)?), self.width(operand))
            }
            Expression::Unary { operand, .. } => {
                masked(operation("-", small(0), self.data(operand)?), self.width(operand))
            }
            Expression::Binary { operator, left, right } => self.arithmetic(*operator, left, right)?,
            Expression::Slice { operand, high, low } => {
                let value = self.data(operand)?;
                let value = if *low == 0 { value } else { operation(">>", value, small((*low).into())) };
                if high + 1 == self.width(operand) { value } else { masked(value, high - low + 1) }
            }
            Expression::Extend { operand, width, signed: true } => {
                masked(signed(self.data(operand)?, self.width(operand)), *width)
            }
            Expression::Extend { operand, .. } => self.data(operand)?,
            Expression::Choose { condition, then, otherwise } => {
                choice(self.condition(condition)?, self.data(then)?, self.data(otherwise)?)
            }
            Expression::VarbitLength(_) => return self.unsayable("the length of a varbit field"),
            _ => return self.unsayable("what the switch knows of a packet, beside the standard metadata,"),
        })
    }

    fn arithmetic(&self, operator: Binary, left: &Expression, right: &Expression) -> Written<Value> {
        let width = self.width(left);
        let (one, other) = (self.data(left)?, self.data(right)?);
        let with_signs = |one: Value, other: Value| (signed(one, width), signed(other, width));
        let saturated = |cast: &str, sum: Value| operation(cast, sum, small(width.into()));
        Ok(match operator {
            Binary::Add => masked(operation("+", one, other), width),
            Binary::Subtract => masked(operation("-", one, other), width),
            Binary::Multiply => masked(operation("*", one, other), width),
            Binary::Divide | Binary::Remainder => {
                let op = if operator == Binary::Divide { "/" } else { "%" };
                let quotient = operation(op, one, other.clone());
                match right {
                    Expression::Constant { value, .. } if *value != BigUint::ZERO => quotient,
                    // BMv2 would end.
                    _ => choice(operation("==", other, small(0)), small(0), quotient),
                }
            }
            Binary::AddSaturating => saturated("usat_cast", operation("+", one, other)),
            Binary::SubtractSaturating => saturated("usat_cast", operation("-", one, other)),
            Binary::AddSaturatingSigned => {
                let (one, other) = with_signs(one, other);
                masked(saturated("sat_cast", operation("+", one, other)), width)
            }
            Binary::SubtractSaturatingSigned => {
                let (one, other) = with_signs(one, other);
                masked(saturated("sat_cast", operation("-", one, other)), width)
            }
            Binary::And => operation("&", one, other),
            Binary::Or => operation("|", one, other),
            Binary::Xor => operation("^", one, other),
            Binary::ShiftLeft => masked(operation("<<", one, other), width),
            Binary::ShiftRight => operation(">>", one, other),
            Binary::ShiftRightSigned => masked(operation(">>", signed(one, width), other), width),
            Binary::Concat => match self.width(right) {
                0 => one,
                by if width > 0 => operation("|", operation("<<", one, small(by.into())), other),
                _ => other,
            },
            _ => panic!("predicates are booleans"),
        })
    }

    /// A boolean.
    pub(super) fn condition(&self, expression: &Expression) -> Written<Value> {
        Ok(match expression {
            Expression::Bool(value) => json!({ "type": "bool", "value": value }),
            Expression::Variable(_) => operation("d2b", Value::Null, field(&self.place_of(expression))),
            Expression::Valid(header) => {
                let place = [self.storage.header(*header).to_string(), "$valid$".to_string()];
                operation("d2b", Value::Null, field(&place))
            }
            Expression::Unary { operand, .. } => not(self.condition(operand)?),
            Expression::Binary { operator, left, right } => self.predicate(*operator, left, right)?,
            Expression::Choose { condition, then, otherwise } => {
                let (condition, then) = (self.condition(condition)?, self.condition(then)?);
                let first = operation("and", condition.clone(), then);
                operation("or", first, operation("and", not(condition), self.condition(otherwise)?))
            }
            Expression::VarbitEqual(left, right) => {
                operation("==", field(&self.storage.field(*left)), field(&self.storage.field(*right)))
            }
            _ => panic!("numbers are no conditions"),
        })
    }

    fn predicate(&self, operator: Binary, left: &Expression, right: &Expression) -> Written<Value> {
        let op = match operator {
            Binary::LogicalAnd | Binary::LogicalOr => {
                let op = if operator == Binary::LogicalAnd { "and" } else { "or" };
                return Ok(operation(op, self.condition(left)?, self.condition(right)?));
            }
            Binary::Equal => "==",
            Binary::NotEqual => "!=",
            Binary::Less | Binary::LessSigned => "<",
            Binary::LessEqual | Binary::LessEqualSigned => "<=",
            Binary::Greater | Binary::GreaterSigned => ">",
            _ => ">=",
        };
        let (one, other) = (self.data(left)?, self.data(right)?);
        Ok(match operator {
            Binary::LessSigned | Binary::LessEqualSigned | Binary::GreaterSigned | Binary::GreaterEqualSigned => {
                let width = self.width(left);
                operation(op, signed(one, width), signed(other, width))
            }
            _ => operation(op, one, other),
        })
    }
}
