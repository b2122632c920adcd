//! Closed expressions: those over constants and action data alone, which the entry decides.

use crate::value::Value;
use crate::{Binary, Expression, Program, Type};

/// The value of a closed expression with this action data. None if it reads anything else.
pub fn evaluate(expression: &Expression, data: &[Value]) -> Option<Value> {
    let value = |expression: &Expression| evaluate(expression, data);
    Some(match expression {
        Expression::Bool(truth) => Value::bool(*truth),
        Expression::Constant { value, width } => Value::big(value, *width),
        Expression::Parameter(index) => data.get(*index as usize)?.clone(),
        Expression::Unary { operator, operand } => value(operand)?.unary(*operator),
        Expression::Binary { operator, left, right } => value(left)?.binary(*operator, &value(right)?),
        Expression::Slice { operand, high, low } => value(operand)?.slice(*high, *low),
        Expression::Extend { operand, width, signed } => value(operand)?.extend(*width, *signed),
        Expression::Choose { condition, then, otherwise } => {
            return value(if value(condition)?.is_true() { then } else { otherwise });
        }
        Expression::FromBool(operand) => value(operand)?,
        Expression::Variable(_)
        | Expression::Field(_)
        | Expression::Valid(_)
        | Expression::Intrinsic(_)
        | Expression::VarbitLength(_)
        | Expression::VarbitEqual(_, _) => return None,
    })
}

/// Folds an operation whose operands are folded already.
pub(super) fn folded(expression: Expression, program: &Program) -> Expression {
    let Some(value) = evaluate(&expression, &[]) else { return expression };
    match expression.type_in(program, &[]) {
        Type::Bool => Expression::Bool(value.is_true()),
        Type::Bits(width) => Expression::Constant { value: value.bits.to_big(), width },
    }
}

pub(super) fn truth(expression: &Expression) -> Option<bool> {
    if let Expression::Bool(value) = expression { Some(*value) } else { None }
}

/// Whether a logical operation is decided by this operand alone.
pub(super) fn decides(operator: Binary, operand: Option<&Expression>) -> bool {
    match operator {
        Binary::LogicalAnd => operand.and_then(truth) == Some(false),
        Binary::LogicalOr => operand.and_then(truth) == Some(true),
        Binary::Add
        | Binary::Subtract
        | Binary::Multiply
        | Binary::Divide
        | Binary::Remainder
        | Binary::AddSaturating
        | Binary::SubtractSaturating
        | Binary::AddSaturatingSigned
        | Binary::SubtractSaturatingSigned
        | Binary::And
        | Binary::Or
        | Binary::Xor
        | Binary::ShiftLeft
        | Binary::ShiftRight
        | Binary::ShiftRightSigned
        | Binary::Concat
        | Binary::Equal
        | Binary::NotEqual
        | Binary::Less
        | Binary::LessEqual
        | Binary::Greater
        | Binary::GreaterEqual
        | Binary::LessSigned
        | Binary::LessEqualSigned
        | Binary::GreaterSigned
        | Binary::GreaterEqualSigned => false,
    }
}
