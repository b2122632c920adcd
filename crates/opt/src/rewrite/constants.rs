//! Constant folding: expressions, conditions, selects and rules of the buffering manager.
//!
//! Lowering leaves masks of casts, conditions of inlined code and default arguments behind. They are folded
//! here, so that later passes and readers of the generated C see the remaining program only.

use crate::{Inputs, visit};
use hlir::value::Value;
use hlir::{Binary, Expression, KeySet, NodeKind, Program, Rule, Select, Statement, Type, Unary};

pub fn fold(program: &mut Program, _: &Inputs) {
    let types = program.clone();
    visit::expressions(program, &mut |expression| fold_expression(expression, &types));
    visit::bodies(program, &mut |body| fold_body(body));
    for (_, node) in program.nodes.iter_mut() {
        fold_node(&mut node.kind);
    }
}

fn truth(expression: &Expression) -> Option<bool> {
    if let Expression::Bool(value) = expression { Some(*value) } else { None }
}

/// The value of a constant.
pub(super) fn known(expression: &Expression) -> Option<Value> {
    if let Expression::Constant { value, width } = expression {
        return Some(Value::big(value, *width));
    }
    truth(expression).map(Value::bool)
}

fn constant(value: &Value, kind: Type) -> Expression {
    match kind {
        Type::Bool => Expression::Bool(value.is_true()),
        Type::Bits(width) => Expression::Constant { value: value.bits.to_big(), width },
    }
}

/// Folds from the leaves up. Only constants fold, so the types of parameters do not matter here.
pub(super) fn fold_expression(expression: &mut Expression, program: &Program) {
    match expression {
        Expression::Unary { operand, .. }
        | Expression::Slice { operand, .. }
        | Expression::Extend { operand, .. }
        | Expression::FromBool(operand) => fold_expression(operand, program),
        Expression::Binary { left, right, .. } => {
            fold_expression(left, program);
            fold_expression(right, program);
        }
        Expression::Choose { condition, then, otherwise } => {
            fold_expression(condition, program);
            fold_expression(then, program);
            fold_expression(otherwise, program);
        }
        Expression::Bool(_)
        | Expression::Constant { .. }
        | Expression::Variable(_)
        | Expression::Field(_)
        | Expression::Valid(_)
        | Expression::Parameter(_)
        | Expression::Intrinsic(_)
        | Expression::VarbitLength(_)
        | Expression::VarbitEqual(_, _) => {}
    }
    if let Some(folded) = computed(expression, program).or_else(|| simplified(expression)) {
        *expression = folded;
    }
}

/// The value of an operation on constants.
fn computed(expression: &Expression, program: &Program) -> Option<Expression> {
    let value = match expression {
        Expression::Unary { operator, operand } => known(operand)?.unary(*operator),
        Expression::Binary { operator, left, right } => known(left)?.binary(*operator, &known(right)?),
        Expression::Slice { operand, high, low } => known(operand)?.slice(*high, *low),
        Expression::Extend { operand, width, signed } => known(operand)?.extend(*width, *signed),
        Expression::FromBool(operand) => known(operand)?,
        Expression::Choose { .. }
        | Expression::Bool(_)
        | Expression::Constant { .. }
        | Expression::Variable(_)
        | Expression::Field(_)
        | Expression::Valid(_)
        | Expression::Parameter(_)
        | Expression::Intrinsic(_)
        | Expression::VarbitLength(_)
        | Expression::VarbitEqual(_, _) => return None,
    };
    Some(constant(&value, expression.type_in(program, &[])))
}

/// Simplifies an operator with one known operand.
fn simplified(expression: &Expression) -> Option<Expression> {
    match expression {
        Expression::Choose { condition, then, otherwise } => {
            truth(condition).map(|condition| if condition { (**then).clone() } else { (**otherwise).clone() })
        }
        Expression::Binary { operator: Binary::LogicalAnd, left, right } => logical(left, right, true),
        Expression::Binary { operator: Binary::LogicalOr, left, right } => logical(left, right, false),
        Expression::Binary { operator, left, right } => neutral(*operator, left, right).cloned(),
        Expression::Unary { .. }
        | Expression::Slice { .. }
        | Expression::Extend { .. }
        | Expression::FromBool(_)
        | Expression::Bool(_)
        | Expression::Constant { .. }
        | Expression::Variable(_)
        | Expression::Field(_)
        | Expression::Valid(_)
        | Expression::Parameter(_)
        | Expression::Intrinsic(_)
        | Expression::VarbitLength(_)
        | Expression::VarbitEqual(_, _) => None,
    }
}

/// A conjunction (`neutral` is true) or disjunction of which one side is known.
fn logical(left: &Expression, right: &Expression, neutral: bool) -> Option<Expression> {
    match (truth(left), truth(right)) {
        (Some(value), _) if value == neutral => Some(right.clone()),
        (_, Some(value)) if value == neutral => Some(left.clone()),
        (Some(value), _) | (_, Some(value)) => Some(Expression::Bool(value)),
        (None, None) => None,
    }
}

/// The other operand of one that changes nothing: of `x | 0`, `x >> 0`, `x & 0xff` of eight bits.
fn neutral<'a>(operator: Binary, left: &'a Expression, right: &'a Expression) -> Option<&'a Expression> {
    let is_zero = |one: &Expression| known(one).is_some_and(|value| !value.is_true());
    let is_all_ones = |one: &Expression| known(one).is_some_and(|value| !value.unary(Unary::Complement).is_true());
    match operator {
        Binary::Or | Binary::Xor | Binary::Add | Binary::AddSaturating | Binary::AddSaturatingSigned => {
            if is_zero(right) { Some(left) } else { is_zero(left).then_some(right) }
        }
        Binary::Subtract
        | Binary::SubtractSaturating
        | Binary::SubtractSaturatingSigned
        | Binary::ShiftLeft
        | Binary::ShiftRight
        | Binary::ShiftRightSigned => is_zero(right).then_some(left),
        Binary::And => {
            if is_all_ones(right) {
                Some(left)
            } else {
                is_all_ones(left).then_some(right)
            }
        }
        Binary::Multiply
        | Binary::Divide
        | Binary::Remainder
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
        | Binary::GreaterEqualSigned
        | Binary::LogicalAnd
        | Binary::LogicalOr => None,
    }
}

/// Replaces a decided `if` by its statements.
fn fold_body(body: &mut Vec<Statement>) {
    let mut folded = Vec::with_capacity(body.len());
    for mut statement in std::mem::take(body) {
        hlir::visit::nested(&mut statement, &mut fold_body);
        if let Statement::If { condition, then, otherwise } = &mut statement
            && let Some(decision) = truth(condition)
        {
            folded.append(if decision { then } else { otherwise });
        } else {
            folded.push(statement);
        }
    }
    *body = folded;
}

fn fold_node(kind: &mut NodeKind) {
    match kind {
        NodeKind::Branch { condition, then, otherwise } => {
            if let Some(condition) = truth(condition) {
                let next = if condition { *then } else { *otherwise };
                *kind = NodeKind::Block { body: Vec::new(), next, exit: None };
            }
        }
        NodeKind::State { select, .. } => fold_select(select),
        NodeKind::Buffer { rules, .. } => fold_rules(rules),
        NodeKind::Block { .. } | NodeKind::Apply { .. } | NodeKind::Deparse { .. } => {}
    }
}

/// A select over constants takes its first matching case. A value set belongs to the control plane, so it
/// ends the search.
pub(super) fn fold_select(select: &mut Select) {
    let Some(keys) = select.keys.iter().map(known).collect::<Option<Vec<Value>>>() else { return };
    if keys.is_empty() {
        return;
    }
    for case in &select.cases {
        let matches: Option<Vec<bool>> = case.sets.iter().zip(&keys).map(|(set, key)| set_has(set, key)).collect();
        match matches {
            None => return,
            Some(matches) if matches.iter().all(|matches| *matches) => {
                let to = case.to;
                *select = Select { keys: Vec::new(), cases: Vec::new(), otherwise: Some(to) };
                return;
            }
            Some(_) => {}
        }
    }
    select.keys.clear();
    select.cases.clear();
}

pub(super) fn set_has(set: &KeySet, key: &Value) -> Option<bool> {
    let key = key.bits.to_big();
    match set {
        KeySet::Any => Some(true),
        KeySet::Value(value) => Some(key == *value),
        KeySet::Mask { value, mask } => Some(&key & mask == value & mask),
        KeySet::Range { low, high } => Some(*low <= key && key <= *high),
        KeySet::Set(_) => None,
    }
}

/// Removes rules that never hold, and all rules after one that always holds and ends the packet.
pub(super) fn fold_rules(rules: &mut Vec<Rule>) {
    rules.retain(|rule| truth(&rule.condition) != Some(false));
    let last = rules.iter().position(|rule| truth(&rule.condition) == Some(true) && rule.effect.is_last());
    if let Some(last) = last {
        rules.truncate(last + 1);
    }
}
