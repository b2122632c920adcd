//! Expressions of the program as values.

use crate::run::{Result, Run, Running};
use crate::value::{Found, Value};
use hlir::value::Value as Number;
use hlir::{Binary, Expression, Intrinsic};

impl Run<'_> {
    pub fn value(&mut self, expression: &Expression) -> Result<Value> {
        match expression {
            Expression::Bool(truth) => Ok(self.values.bool(*truth)),
            Expression::Constant { value, width } => Ok(self.values.constant(Number::big(value, *width))),
            Expression::Variable(variable) => Ok(self.state.variable(self.program, &mut self.values, *variable)),
            Expression::Field(field) => Ok(self.state.field(self.program, &mut self.values, *field)),
            // Which headers a packet has is the same for all packets of the path.
            Expression::Valid(header) => Ok(self.values.bool(self.state.valid.contains(header))),
            Expression::Parameter(parameter) => self.parameter(*parameter as usize),
            Expression::Intrinsic(Intrinsic::PacketLength) if self.state.has_moved => {
                Err("reads the length of a packet whose headers moved")
            }
            Expression::Intrinsic(Intrinsic::PacketLength) => Ok(self.values.length()),
            Expression::Intrinsic(Intrinsic::IngressPort) => Ok(self.values.port()),
            Expression::Intrinsic(
                Intrinsic::Clock | Intrinsic::CopyPort | Intrinsic::CopyInstance | Intrinsic::CopyTruncation,
            ) => Err("reads the clock"),
            Expression::Unary { operator, operand } => {
                let operand = self.value(operand)?;
                Ok(self.values.unary(*operator, operand))
            }
            Expression::Binary { operator, left, right } => self.binary(*operator, left, right),
            Expression::Slice { operand, high, low } => {
                let operand = self.value(operand)?;
                Ok(self.values.slice(operand, *low, high - low + 1))
            }
            Expression::Extend { operand, width, signed } => {
                let operand = self.value(operand)?;
                Ok(self.values.extend(operand, *width, *signed))
            }
            Expression::Choose { condition, then, otherwise } => {
                let condition = self.value(condition)?;
                match self.values.holds(condition) {
                    Some(holds) => self.value(if holds { then } else { otherwise }),
                    None => {
                        let (then, otherwise) = (self.value(then)?, self.value(otherwise)?);
                        Ok(self.values.choose(condition, then, otherwise))
                    }
                }
            }
            Expression::FromBool(truth) => {
                let truth = self.value(truth)?;
                Ok(self.values.from_bool(truth))
            }
            Expression::VarbitLength(_) | Expression::VarbitEqual(..) => Err("reads a field of varying length"),
        }
    }

    fn binary(&mut self, operator: Binary, left: &Expression, right: &Expression) -> Result<Value> {
        let left = self.value(left)?;
        // If the left side decides, the right one need not be computable: an invalid header has no fields.
        let is_decided = operator == Binary::LogicalAnd && self.values.holds(left) == Some(false)
            || operator == Binary::LogicalOr && self.values.holds(left) == Some(true);
        if is_decided {
            return Ok(left);
        }
        let right = self.value(right)?;
        Ok(self.values.binary(operator, left, right))
    }

    /// A parameter of the running action.
    fn parameter(&mut self, parameter: usize) -> Result<Value> {
        let Running { lookup, table, action, hash } = self.running.ok_or("takes a parameter outside of an action")?;
        let named = &self.program.tables[table].actions[action];
        let declared = &named.parameters[parameter];
        let what = Found::Parameter { action, parameter, low: 0 };
        let value = self.values.found(lookup, what, hash, declared.width);
        self.values.call(value, || format!("{}_{}", named.name.rsplit('.').next().unwrap_or_default(), declared.name));
        Ok(value)
    }
}
