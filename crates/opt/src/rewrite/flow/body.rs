//! Follows a packet through statements: what is known behind them, and what is left of them.

use super::super::constants::{fold_expression, known};
use super::state::{Layout, State, constant};
use crate::analyze::drops::place_of;
use hlir::effects::{Part, call_places, statement_writes};
use hlir::statement::Label;
use hlir::{Binary, Call, Expression, Place, Program, Statement, Unary};

/// Where packets leave a body other than at its end, and what is known of them there.
#[derive(Default)]
pub(super) struct Ends {
    pub exit: Option<State>,
    /// A statement of a parser failed.
    pub failed: Option<State>,
    left: Vec<(Label, Option<State>)>,
}

/// Adds packets to those that reach a point. Returns whether less is known there than before.
pub(super) fn merge(at: &mut Option<State>, state: &State) -> bool {
    match at {
        Some(known) => known.merge(state),
        None => {
            *at = Some(state.clone());
            true
        }
    }
}

/// The same, where it does not matter what is lost.
pub(super) fn join(at: &mut Option<State>, state: &State) {
    let _ = merge(at, state);
}

pub(super) struct Follow<'p> {
    pub program: &'p Program,
    pub layout: Layout,
}

impl Follow<'_> {
    /// What is left of an expression where constants are known.
    pub fn fold(&self, expression: &Expression, state: &State) -> Expression {
        let mut folded = expression.clone();
        self.substitute(&mut folded, state);
        fold_expression(&mut folded, self.program);
        folded
    }

    fn substitute(&self, expression: &mut Expression, state: &State) {
        match expression {
            Expression::Unary { operand, .. }
            | Expression::Slice { operand, .. }
            | Expression::Extend { operand, .. }
            | Expression::FromBool(operand) => self.substitute(operand, state),
            Expression::Binary { left, right, .. } => {
                self.substitute(left, state);
                self.substitute(right, state);
            }
            Expression::Choose { condition, then, otherwise } => {
                self.substitute(condition, state);
                self.substitute(then, state);
                self.substitute(otherwise, state);
            }
            Expression::Variable(_) | Expression::Field(_) => {
                let place = place_of(expression).expect("both are places");
                if let Some(value) = self.layout.value(state, place) {
                    *expression = constant(value, self.program.place_type(place));
                }
            }
            Expression::Valid(header) => {
                if let Some(valid) = state.is_valid(*header) {
                    *expression = Expression::Bool(valid);
                }
            }
            Expression::Bool(_)
            | Expression::Constant { .. }
            | Expression::Parameter(_)
            | Expression::Intrinsic(_)
            | Expression::VarbitLength(_)
            | Expression::VarbitEqual(_, _) => {}
        }
    }

    /// What is known where a condition had the result `outcome`.
    pub fn assume(&mut self, condition: &Expression, outcome: bool, state: &mut State) {
        match condition {
            Expression::Valid(header) => state.assume_valid(*header, outcome),
            Expression::Variable(variable) => {
                self.layout.set(state, Place::Variable(*variable), Some(hlir::value::Value::bool(outcome)));
            }
            Expression::Unary { operator: Unary::Not, operand } => self.assume(operand, !outcome, state),
            Expression::Binary { operator: Binary::Equal, left, right } if outcome => {
                self.assume_equal(left, right, state)
            }
            Expression::Binary { operator: Binary::NotEqual, left, right } if !outcome => {
                self.assume_equal(left, right, state);
            }
            Expression::Binary { operator: Binary::LogicalAnd, left, right } if outcome => {
                self.assume(left, true, state);
                self.assume(right, true, state);
            }
            Expression::Binary { operator: Binary::LogicalOr, left, right } if !outcome => {
                self.assume(left, false, state);
                self.assume(right, false, state);
            }
            Expression::Bool(_)
            | Expression::Constant { .. }
            | Expression::Field(_)
            | Expression::Parameter(_)
            | Expression::Intrinsic(_)
            | Expression::Unary { .. }
            | Expression::Binary { .. }
            | Expression::Slice { .. }
            | Expression::Extend { .. }
            | Expression::Choose { .. }
            | Expression::FromBool(_)
            | Expression::VarbitLength(_)
            | Expression::VarbitEqual(_, _) => {}
        }
    }

    fn assume_equal(&mut self, left: &Expression, right: &Expression, state: &mut State) {
        let (place, value) = match (place_of(left), known(right)) {
            (Some(place), Some(value)) => (place, value),
            (_, _) => match (place_of(right), known(left)) {
                (Some(place), Some(value)) => (place, value),
                (_, _) => return,
            },
        };
        self.layout.set(state, place, Some(value));
    }

    /// What is left of a body, and what is known at its end; nothing, if no packet reaches that.
    pub fn body(&mut self, body: &[Statement], state: &mut Option<State>, ends: &mut Ends) -> Vec<Statement> {
        let mut left = Vec::with_capacity(body.len());
        for statement in body {
            if state.is_none() {
                break;
            }
            self.statement(statement, state, ends, &mut left);
        }
        left
    }

    fn statement(&mut self, statement: &Statement, at: &mut Option<State>, ends: &mut Ends, left: &mut Vec<Statement>) {
        let Some(state) = at else { return };
        let mut folded = statement.clone();
        match statement {
            Statement::If { condition, then, otherwise } => {
                let condition = self.fold(condition, state);
                return self.choose(condition, (then, otherwise), at, ends, left);
            }
            Statement::Scope { label, body } => {
                ends.left.push((label.clone(), None));
                let body = self.body(body, at, ends);
                let behind = ends.left.pop().and_then(|(_, state)| state);
                behind.iter().for_each(|behind| join(at, behind));
                folded = Statement::Scope { label: label.clone(), body };
            }
            Statement::Loop { label, body } => {
                self.forget_writes(body, state);
                ends.left.push((label.clone(), None));
                let body = self.body(body, at, ends);
                *at = ends.left.pop().and_then(|(_, state)| state);
                folded = Statement::Loop { label: label.clone(), body };
            }
            Statement::Leave(label) => {
                let of_label = ends.left.iter_mut().rev().find(|(name, _)| name == label);
                of_label.into_iter().for_each(|(_, behind)| join(behind, state));
                *at = None;
            }
            Statement::Exit => {
                join(&mut ends.exit, state);
                *at = None;
            }
            Statement::Assign { .. }
            | Statement::SetValid(_)
            | Statement::SetInvalid(_)
            | Statement::CopyHeader { .. }
            | Statement::CopyVarbit { .. }
            | Statement::Emit(_)
            | Statement::Truncate(_)
            | Statement::Call(_) => {
                self.fold_leaf(&mut folded, state);
                if !self.change(&folded, state) {
                    return;
                }
            }
            Statement::Extract { .. }
            | Statement::Advance(_)
            | Statement::Lookahead { .. }
            | Statement::Verify { .. } => {
                self.fold_leaf(&mut folded, state);
                if !self.parse(&folded, state, ends) {
                    return;
                }
            }
        }
        left.push(folded);
    }

    /// Folds the expressions of a statement without inner ones.
    fn fold_leaf(&self, statement: &mut Statement, state: &State) {
        hlir::visit::statements(std::slice::from_mut(statement), &mut |value| *value = self.fold(value, state));
    }

    fn choose(
        &mut self,
        condition: Expression,
        (then, otherwise): (&[Statement], &[Statement]),
        at: &mut Option<State>,
        ends: &mut Ends,
        left: &mut Vec<Statement>,
    ) {
        if let Expression::Bool(outcome) = condition {
            let arm = self.body(if outcome { then } else { otherwise }, at, ends);
            return left.extend(arm);
        }
        let mut arms = [at.clone(), at.take()];
        for (state, outcome) in arms.iter_mut().zip([true, false]) {
            state.iter_mut().for_each(|state| self.assume(&condition, outcome, state));
        }
        let [first, second] = &mut arms;
        let then = self.body(then, first, ends);
        let otherwise = self.body(otherwise, second, ends);
        arms.iter().flatten().for_each(|state| join(at, state));
        left.push(Statement::If { condition, then, otherwise });
    }

    fn forget_writes(&mut self, body: &[Statement], state: &mut State) {
        for statement in body {
            statement.walk(&mut |inner| {
                for part in statement_writes(inner) {
                    match part {
                        Part::Variable(variable) => self.layout.set(state, Place::Variable(variable), None),
                        Part::Header(header) => self.layout.forget_header(state, header),
                        Part::Length => {}
                    }
                }
            });
        }
    }

    /// Makes a change to what is known. Returns whether the statement changes anything that was not so before.
    fn change(&mut self, statement: &Statement, state: &mut State) -> bool {
        match statement {
            Statement::Assign { target, value } => {
                let value = known(value);
                let is_new = value.is_none() || self.layout.value(state, *target) != value.as_ref();
                self.layout.set(state, *target, value);
                is_new
            }
            Statement::SetValid(header) => {
                let is_new = state.is_valid(*header) != Some(true);
                self.layout.set_valid(state, *header);
                is_new
            }
            Statement::SetInvalid(header) => {
                let is_new = state.is_valid(*header) != Some(false);
                state.assume_valid(*header, false);
                is_new
            }
            Statement::CopyHeader { to, from } => {
                let neither = [to, from].map(|header| state.is_valid(*header)) == [Some(false); 2];
                self.layout.copy_header(state, *to, *from);
                !neither
            }
            Statement::CopyVarbit { to, .. } => {
                self.layout.set(state, Place::Field(*to), None);
                true
            }
            Statement::Emit(header) => state.is_valid(*header) != Some(false),
            Statement::Call(call) => {
                self.call(call, state);
                true
            }
            Statement::Truncate(_)
            | Statement::If { .. }
            | Statement::Scope { .. }
            | Statement::Loop { .. }
            | Statement::Leave(_)
            | Statement::Exit
            | Statement::Extract { .. }
            | Statement::Advance(_)
            | Statement::Lookahead { .. }
            | Statement::Verify { .. } => true,
        }
    }

    fn call(&mut self, call: &Call, state: &mut State) {
        call_places(call).into_iter().for_each(|place| self.layout.set(state, place, None));
    }

    /// A statement of a parser, which may fail. Returns whether it does anything.
    fn parse(&mut self, statement: &Statement, state: &mut State, ends: &mut Ends) -> bool {
        if let Statement::Verify { condition: Expression::Bool(true), .. } = statement {
            return false;
        }
        join(&mut ends.failed, state);
        match statement {
            Statement::Extract { header, .. } => self.layout.extract(state, *header),
            Statement::Lookahead { into, .. } => self.layout.set(state, Place::Variable(*into), None),
            Statement::Verify { condition, .. } => self.assume(condition, true, state),
            Statement::Advance(_)
            | Statement::Assign { .. }
            | Statement::SetValid(_)
            | Statement::SetInvalid(_)
            | Statement::CopyHeader { .. }
            | Statement::CopyVarbit { .. }
            | Statement::If { .. }
            | Statement::Scope { .. }
            | Statement::Loop { .. }
            | Statement::Leave(_)
            | Statement::Exit
            | Statement::Emit(_)
            | Statement::Truncate(_)
            | Statement::Call(_) => {}
        }
        true
    }
}
