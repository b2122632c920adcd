//! Expressions of the first stage as vector values: numbers as bit strings, booleans as masks.

use super::bytes::Bits;
use super::run::{Result, Run, UNKNOWN};
use super::{Number, Operator, Step};
use crate::{Binary, Expression, Intrinsic, Type, Unary};
use num_bigint::BigUint;

impl Run<'_> {
    pub fn number(&mut self, value: &BigUint, width: u32) -> Bits {
        let digits = value.to_u32_digits();
        let digit = |index: u32| digits.get(index as usize).copied().unwrap_or(0);
        Bits { width, parts: (0..width.div_ceil(32)).map(|index| self.steps.constant(digit(index))).collect() }
    }

    pub fn each(&mut self, operator: Operator, left: &Bits, right: &Bits) -> Bits {
        let pairs = left.parts.iter().zip(&right.parts);
        Bits { width: left.width, parts: pairs.map(|(a, b)| self.steps.operate(operator, *a, *b)).collect() }
    }

    pub fn compare(&mut self, operator: Operator, left: &Bits, right: &Bits) -> Result<Number> {
        if let (Some(left), Some(right)) = (left.narrow(), right.narrow()) {
            return Ok(self.steps.operate(operator, left, right));
        }
        if operator != Operator::Equal && operator != Operator::NotEqual {
            return Err("orders numbers of more than 32 bits");
        }
        let mut mask = self.steps.mask(true);
        for (left, right) in left.parts.iter().zip(&right.parts) {
            let same = self.steps.operate(Operator::Equal, *left, *right);
            mask = self.steps.operate(Operator::And, mask, same);
        }
        Ok(if operator == Operator::Equal { mask } else { self.steps.not(mask) })
    }

    fn width_of(&self, expression: &Expression) -> u32 {
        self.type_of(expression).width()
    }

    fn is_bool(&self, expression: &Expression) -> bool {
        self.type_of(expression) == Type::Bool
    }

    fn type_of(&self, expression: &Expression) -> Type {
        let widths = self.record.map(|of| self.program.tables[of.table].parameter_widths(of.action));
        self.program.expression_type(expression, &widths.unwrap_or_default())
    }

    /// A boolean as a mask.
    pub fn mask(&mut self, expression: &Expression) -> Result<Number> {
        match expression {
            Expression::Bool(truth) => Ok(self.steps.mask(*truth)),
            // Validity is uniform: no header becomes invalid in the speculative phase.
            Expression::Valid(header) => Ok(self.steps.mask(self.state.headers.contains_key(header))),
            Expression::Unary { operator: Unary::Not, operand } => {
                let mask = self.mask(operand)?;
                Ok(self.steps.not(mask))
            }
            Expression::Binary { operator, left, right } => self.predicate(*operator, left, right),
            Expression::Choose { condition, then, otherwise } => {
                let mask = self.mask(condition)?;
                match self.steps.known(mask) {
                    Some(known) => self.mask(if known == 0 { otherwise } else { then }),
                    None => {
                        let (then, otherwise) = (self.mask(then)?, self.mask(otherwise)?);
                        Ok(self.steps.choose(mask, then, otherwise))
                    }
                }
            }
            Expression::Variable(_) => {
                let bit = self.bits(expression)?.parts[0];
                let zero = self.steps.constant(0);
                Ok(self.steps.operate(Operator::NotEqual, bit, zero))
            }
            Expression::VarbitEqual(..) => Err("compares fields of varying length"),
            Expression::Constant { .. }
            | Expression::Field(_)
            | Expression::Parameter(_)
            | Expression::Intrinsic(_)
            | Expression::Unary { .. }
            | Expression::Slice { .. }
            | Expression::Extend { .. }
            | Expression::FromBool(_)
            | Expression::VarbitLength(_) => Err("takes a number for a truth"),
        }
    }

    fn predicate(&mut self, operator: Binary, left: &Expression, right: &Expression) -> Result<Number> {
        let is_equal = operator == Binary::Equal;
        if (is_equal || operator == Binary::NotEqual) && self.is_bool(left) {
            let (left, right) = (self.mask(left)?, self.mask(right)?);
            let differs = self.steps.operate(Operator::Xor, left, right);
            return Ok(if is_equal { self.steps.not(differs) } else { differs });
        }
        let (operator, is_turned) = plain(operator).ok_or("compares numbers with signs")?;
        if operator == Operator::And || operator == Operator::Or {
            let left = self.mask(left)?;
            // If the left side decides, the right one need not be computable: an invalid header has no
            // fields.
            let decides = if operator == Operator::And { 0 } else { u32::MAX };
            if self.steps.known(left) == Some(decides) {
                return Ok(left);
            }
            let right = self.mask(right)?;
            return Ok(self.steps.operate(operator, left, right));
        }
        let (left, right) = (self.bits(left)?, self.bits(right)?);
        if is_turned { self.compare(operator, &right, &left) } else { self.compare(operator, &left, &right) }
    }

    /// A bit string; a boolean is one bit.
    pub fn bits(&mut self, expression: &Expression) -> Result<Bits> {
        let width = self.width_of(expression);
        if self.is_bool(expression) && !matches!(expression, Expression::Variable(_)) {
            let mask = self.mask(expression)?;
            return Ok(Bits { width: 1, parts: vec![self.steps.fit(mask, 1)] });
        }
        let one = |part: Number| Ok(Bits { width, parts: vec![part] });
        match expression {
            Expression::Constant { value, .. } => Ok(self.number(value, width)),
            Expression::Variable(variable) => match self.state.variables.get(variable) {
                Some(value) => value.clone().ok_or(UNKNOWN),
                None => Ok(self.number(&BigUint::ZERO, width)),
            },
            Expression::Field(field) => match self.state.fields.get(field) {
                Some(value) => value.clone().ok_or(UNKNOWN),
                None => {
                    let bit = self.place_of(*field)?;
                    Ok(self.steps.packet(bit, width, self.phase))
                }
            },
            Expression::Intrinsic(Intrinsic::PacketLength) => one(self.steps.read(Step::Length)),
            Expression::Intrinsic(Intrinsic::IngressPort) => one(self.steps.read(Step::Port)),
            Expression::Unary { operator, operand } => {
                let operand = self.bits(operand)?;
                self.unary(*operator, &operand)
            }
            Expression::Binary { operator, left, right } => {
                let (left, right) = (self.bits(left)?, self.bits(right)?);
                self.binary(*operator, &left, &right)
            }
            Expression::Slice { operand, low, .. } => {
                let operand = self.bits(operand)?;
                Ok(self.steps.slice(&operand, *low, width))
            }
            Expression::Extend { operand, signed: false, .. } => {
                let operand = self.bits(operand)?;
                Ok(self.steps.slice(&operand, 0, width))
            }
            Expression::Choose { condition, then, otherwise } => {
                let mask = self.mask(condition)?;
                match self.steps.known(mask) {
                    Some(known) => self.bits(if known == 0 { otherwise } else { then }),
                    None => {
                        let (then, otherwise) = (self.bits(then)?, self.bits(otherwise)?);
                        Ok(self.chosen(mask, &then, &otherwise))
                    }
                }
            }
            Expression::FromBool(truth) => {
                let mask = self.mask(truth)?;
                one(self.steps.fit(mask, 1))
            }
            Expression::Extend { .. } => Err("extends a number by its sign"),
            Expression::Intrinsic(_) => Err("reads the clock"),
            Expression::VarbitLength(_) => Err("reads the length of a field"),
            Expression::Parameter(parameter) => self.parameter(*parameter as usize, width),
            Expression::Bool(_) | Expression::Valid(_) | Expression::VarbitEqual(..) => {
                Err("uses a boolean as an integer")
            }
        }
    }

    fn unary(&mut self, operator: Unary, operand: &Bits) -> Result<Bits> {
        let width = operand.width;
        match operator {
            Unary::Complement => {
                let all = (BigUint::from(1u32) << width) - 1u32;
                let all = self.number(&all, width);
                Ok(self.each(Operator::Xor, operand, &all))
            }
            Unary::Negate => {
                let zero = self.number(&BigUint::ZERO, width);
                self.binary(Binary::Subtract, &zero, operand)
            }
            Unary::Not => Err("takes a number for a truth"),
        }
    }

    fn binary(&mut self, operator: Binary, left: &Bits, right: &Bits) -> Result<Bits> {
        let width = left.width;
        if operator == Binary::Concat {
            return Ok(self.steps.placed(width + right.width, [(0, right), (right.width, left)]));
        }
        if operator == Binary::ShiftLeft || operator == Binary::ShiftRight {
            return self.shift(operator, left, right);
        }
        let (operator, _) = plain(operator).ok_or("divides, saturates or shifts a sign")?;
        if matches!(operator, Operator::And | Operator::Or | Operator::Xor) {
            return Ok(self.each(operator, left, right));
        }
        let (Some(left), Some(right)) = (left.narrow(), right.narrow()) else {
            return Err("computes with numbers of more than 32 bits");
        };
        let result = self.steps.operate(operator, left, right);
        Ok(Bits { width, parts: vec![self.steps.fit(result, width)] })
    }

    /// A shift by a constant.
    fn shift(&mut self, operator: Binary, value: &Bits, by: &Bits) -> Result<Bits> {
        let amounts: Option<Vec<u32>> = by.parts.iter().map(|part| self.steps.known(*part)).collect();
        let amounts = amounts.ok_or("shifts by what is not a constant")?;
        let width = value.width;
        let is_all = amounts.iter().skip(1).any(|part| *part != 0) || amounts.first().is_some_and(|by| *by >= width);
        let by = amounts.first().copied().unwrap_or(0);
        if is_all {
            return Ok(self.number(&BigUint::ZERO, width));
        }
        if operator == Binary::ShiftRight {
            let high = self.steps.slice(value, by, width - by);
            return Ok(self.steps.slice(&high, 0, width));
        }
        let low = self.steps.slice(value, 0, width - by);
        Ok(self.steps.placed(width, [(by, &low)]))
    }
}

/// The operator on numbers of at most 32 bits, and whether its operands are swapped.
fn plain(operator: Binary) -> Option<(Operator, bool)> {
    match operator {
        Binary::Add => Some((Operator::Add, false)),
        Binary::Subtract => Some((Operator::Subtract, false)),
        Binary::Multiply => Some((Operator::Multiply, false)),
        Binary::And | Binary::LogicalAnd => Some((Operator::And, false)),
        Binary::Or | Binary::LogicalOr => Some((Operator::Or, false)),
        Binary::Xor => Some((Operator::Xor, false)),
        Binary::Equal => Some((Operator::Equal, false)),
        Binary::NotEqual => Some((Operator::NotEqual, false)),
        Binary::Less => Some((Operator::Less, false)),
        Binary::LessEqual => Some((Operator::LessEqual, false)),
        Binary::Greater => Some((Operator::Less, true)),
        Binary::GreaterEqual => Some((Operator::LessEqual, true)),
        Binary::Divide
        | Binary::Remainder
        | Binary::AddSaturating
        | Binary::SubtractSaturating
        | Binary::AddSaturatingSigned
        | Binary::SubtractSaturatingSigned
        | Binary::ShiftLeft
        | Binary::ShiftRight
        | Binary::ShiftRightSigned
        | Binary::Concat
        | Binary::LessSigned
        | Binary::LessEqualSigned
        | Binary::GreaterSigned
        | Binary::GreaterEqualSigned => None,
    }
}
