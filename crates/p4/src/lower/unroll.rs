//! Loops that apply tables: the graph has no cycles, so they are unrolled, each iteration into nodes of its own.
//!
//! A loop whose number of iterations is known is unrolled as a whole. Where the packet decides when it ends, `RUN_TIME_ITERATIONS` are made, each
//! behind a branch; a packet that wants more is dropped and counted under `loop budget`, on either engine.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;
use hlir::{Binary, Effect, Expression as Hlir, NodeId, Notes, Rule};
use num_bigint::{BigInt, BigUint};

use super::control::{Jump, LoopFrame};
use super::graph::EndKind;
use super::loops::is_known;
use super::scope::Binding;
use super::storage::Storage;
use super::value::Value;
use super::{Lowered, Lowering, arithmetic};
use crate::ast::walk::expressions;
use crate::ast::{
    BinaryOperator, Declaration, DeclarationId, DeclarationKind, Expression, ExpressionKind, For, ForIn, Statement,
    StatementKind, UnaryOperator, Variable,
};
use crate::check::{Property, Reference};

/// More iterations than this are not unrolled.
const UNROLL_LIMIT: usize = 1024;
/// Iterations of a loop whose end the packet decides.
const RUN_TIME_ITERATIONS: usize = 64;
/// Iterations of such loops in each other, multiplied.
const NESTED_ITERATIONS: usize = 4096;

/// What begins an iteration.
enum Step<T> {
    /// It comes in any case.
    Certain(T),
    /// It comes where a branch that was added leads on.
    IfReached(T),
    End,
}

impl<'a> Lowering<'a> {
    /// Runs `body` once for each step of an unrolled loop; `break` and `continue` become edges. `next_step` gets the end of the loop.
    fn unrolled<T>(
        &mut self,
        span: Span,
        mut next_step: impl FnMut(&mut Self, usize, NodeId) -> Lowered<Step<T>>,
        mut body: impl FnMut(&mut Self, T),
    ) -> Lowered<()> {
        let end = self.add_block(&format!("after{}", self.line_of(span)));
        let repeated = std::mem::replace(&mut self.repeated, true);
        let around = self.run_time_iterations;
        let mut result = Ok(());
        let mut uncertain = 0;
        for step in 0.. {
            let item = match next_step(self, step, end) {
                Ok(Step::Certain(item)) => item,
                Ok(Step::IfReached(item)) => {
                    uncertain += 1;
                    self.run_time_iterations = around * RUN_TIME_ITERATIONS;
                    item
                }
                Ok(Step::End) => break,
                Err(diagnostic) => {
                    result = Err(diagnostic);
                    break;
                }
            };
            if uncertain > RUN_TIME_ITERATIONS {
                self.drop_by_loop_budget(span);
                break;
            }
            if step >= UNROLL_LIMIT || self.run_time_iterations > NESTED_ITERATIONS {
                result = Err(too_long(span));
                break;
            }
            let next = self.add_block(&format!("next{}", self.line_of(span)));
            self.enter_loop(LoopFrame { on_break: Jump::Goto(end), on_continue: Jump::Goto(next) });
            let known_mistakes = self.diagnostics.len();
            body(self, item);
            self.leave_loop();
            if self.diagnostics.len() > known_mistakes {
                // Further iterations would only repeat it.
                break;
            }
            let went_on = self.graph.is_open(self.current);
            if went_on {
                self.graph.goto(self.current, next);
            }
            self.current = next;
            if !went_on && !self.graph.leads_to(next) {
                self.graph.block_mut(next).closed = true;
                break;
            }
        }
        self.run_time_iterations = around;
        self.repeated = repeated;
        if self.graph.is_open(self.current) {
            self.graph.goto(self.current, end);
        }
        self.current = end;
        result
    }

    /// Ends the path of a packet that wants more iterations than there are.
    fn drop_by_loop_budget(&mut self, span: Span) {
        let rule = Rule { condition: Hlir::Bool(true), effect: Effect::Drop { reason: "loop budget".to_string() } };
        let name = self.node_name(&format!("over{}", self.line_of(span)));
        let kind = EndKind::Buffer { rules: vec![rule], otherwise: None };
        let current = self.current;
        self.graph.end(current, name, Notes::default(), kind);
    }

    pub(super) fn unrolled_for(&mut self, span: Span, parts: &'a For) -> Lowered<()> {
        let known = self.known_variables(parts);
        for statement in &parts.initial {
            if !self.declare_known(statement, &known)? {
                self.statements(std::slice::from_ref(statement));
            }
        }
        self.unrolled(
            span,
            |lowering, step, end| {
                if step > 0 {
                    for statement in &parts.update {
                        if !lowering.update_known(statement)? {
                            lowering.statements(std::slice::from_ref(statement));
                        }
                    }
                }
                lowering.go_on_if(&parts.condition, end)
            },
            |lowering, ()| lowering.statements(std::slice::from_ref(&parts.body)),
        )
    }

    /// Goes on in a new block where the condition holds, and at `end` where it does not.
    fn go_on_if(&mut self, condition: &'a Expression, end: NodeId) -> Lowered<Step<()>> {
        if !self.cuts_in(condition) {
            let condition = self.scalar(condition)?;
            return Ok(match arithmetic::boolean_of(&condition) {
                Some(true) => Step::Certain(()),
                Some(false) => Step::End,
                None => {
                    self.go_on_where(condition, end);
                    Step::IfReached(())
                }
            });
        }
        let on = self.add_block(&format!("on{}", self.line_of(condition.span)));
        let reached = self.jump_on(condition, on, end)?;
        self.current = on;
        self.graph.block_mut(on).closed = !reached;
        Ok(if reached { Step::IfReached(()) } else { Step::End })
    }

    fn go_on_where(&mut self, condition: Hlir, end: NodeId) {
        let on = self.add_block("on");
        self.end_in_branch(condition, "", on, end);
        self.current = on;
    }

    fn end_in_branch(&mut self, condition: Hlir, line: &str, then: NodeId, otherwise: NodeId) {
        if self.graph.is_open(self.current) {
            let name = self.node_name(&format!("if{line}"));
            let kind = EndKind::Branch { condition, then, otherwise };
            self.graph.end(self.current, name, Notes::default(), kind);
        }
    }

    /// Lowers a condition that applies tables into edges: to `yes` where it holds, to `no` where it does not. Whether `yes` can be reached.
    fn jump_on(&mut self, condition: &'a Expression, yes: NodeId, no: NodeId) -> Lowered<bool> {
        match &condition.kind {
            ExpressionKind::Unary { operator: UnaryOperator::Not, operand } => {
                let after = self.add_block("not");
                self.jump_on(operand, no, after)?;
                let reached = self.graph.leads_to(after);
                self.current = after;
                self.graph.block_mut(after).closed = !reached;
                if reached {
                    self.graph.goto(after, yes);
                }
                Ok(reached)
            }
            ExpressionKind::Binary { operator: BinaryOperator::And, left, right } => {
                let between = self.add_block(&format!("and{}", self.line_of(right.span)));
                if !self.jump_on(left, between, no)? {
                    return Ok(false);
                }
                self.current = between;
                self.jump_on(right, yes, no)
            }
            ExpressionKind::Binary { operator: BinaryOperator::Or, left, right } => {
                let between = self.add_block(&format!("or{}", self.line_of(right.span)));
                let first = self.jump_on(left, yes, between)?;
                if !self.graph.leads_to(between) {
                    return Ok(first);
                }
                self.current = between;
                Ok(self.jump_on(right, yes, no)? | first)
            }
            ExpressionKind::Member { base, .. } => {
                let (yes, no) = match self.checked.reference(condition) {
                    Reference::Property(Property::Hit) => (yes, no),
                    Reference::Property(Property::Miss) => (no, yes),
                    _ => return self.jump_plainly(condition, yes, no),
                };
                let (hit, miss) = self.apply_for_hit(base)?;
                self.graph.goto(hit, yes);
                self.graph.goto(miss, no);
                Ok(true)
            }
            _ => self.jump_plainly(condition, yes, no),
        }
    }

    fn jump_plainly(&mut self, condition: &'a Expression, yes: NodeId, no: NodeId) -> Lowered<bool> {
        let line = self.line_of(condition.span);
        let value = self.scalar(condition)?;
        let known = arithmetic::boolean_of(&value);
        match known {
            Some(known) if self.graph.is_open(self.current) => {
                let current = self.current;
                self.graph.goto(current, if known { yes } else { no });
            }
            _ => self.end_in_branch(value, &line, yes, no),
        }
        Ok(known != Some(false))
    }

    /// Loop variables that are constants in each iteration: they start as one, and only the loop's own updates write them, computing from constants.
    fn known_variables(&self, parts: &'a For) -> Vec<DeclarationId> {
        let declared = parts.initial.iter().filter_map(|initial| match &initial.kind {
            StatementKind::Declare(declaration) => Some(&**declaration),
            _ => None,
        });
        let declared: Vec<&'a Declaration> = declared.collect();
        let mut known: Vec<DeclarationId> = declared.iter().map(|declaration| declaration.id).collect();
        loop {
            let before = known.len();
            let among = known.clone();
            known.retain(|id| declared.iter().any(|found| found.id == *id && self.stays_known(found, parts, &among)));
            if known.len() == before {
                return known;
            }
        }
    }

    /// Whether a variable is a constant in each iteration, if `known` are.
    fn stays_known(&self, declaration: &'a Declaration, parts: &'a For, known: &[DeclarationId]) -> bool {
        let DeclarationKind::Variable(Variable { value: Some(value), .. }) = &declaration.kind else { return false };
        let id = declaration.id;
        let is_known_update = |update: &'a Statement| match &update.kind {
            StatementKind::Assign { target, value, .. }
                if *self.checked.reference(target) == Reference::Declaration(id) =>
            {
                self.is_computed_from(value, known)
            }
            _ => !self.may_write(update, id),
        };
        self.is_computed_from(value, known)
            && parts.update.iter().all(is_known_update)
            && !self.may_write(&parts.body, id)
            && !self.may_change(&parts.condition, id)
    }

    /// Whether an expression computes from constants and these variables, without a call.
    fn is_computed_from(&self, expression: &'a Expression, known: &[DeclarationId]) -> bool {
        let mut computed = true;
        expressions(expression, &mut |part| match &part.kind {
            ExpressionKind::Call { .. } => computed = false,
            ExpressionKind::Path(_) if self.checked.constant(part).is_none() => {
                computed &= match self.checked.reference(part) {
                    Reference::Declaration(id) => {
                        known.contains(id)
                            || matches!(self.scope.lookup(*id), Some(Binding::Value(value)) if is_known(&value))
                    }
                    _ => false,
                };
            }
            _ => {}
        });
        computed
    }

    fn declare_known(&mut self, statement: &'a Statement, known: &[DeclarationId]) -> Lowered<bool> {
        let StatementKind::Declare(declaration) = &statement.kind else { return Ok(false) };
        let DeclarationKind::Variable(Variable { value: Some(value), .. }) = &declaration.kind else {
            return Ok(false);
        };
        if !known.contains(&declaration.id) {
            return Ok(false);
        }
        let value = self.expression(value)?;
        self.scope.bind(declaration.id, Binding::Value(value));
        Ok(true)
    }

    fn update_known(&mut self, statement: &'a Statement) -> Lowered<bool> {
        let StatementKind::Assign { target, operator, value } = &statement.kind else { return Ok(false) };
        let Reference::Declaration(id) = self.checked.reference(target).clone() else { return Ok(false) };
        let Some(Binding::Value(before)) = self.scope.lookup(id) else { return Ok(false) };
        // A known variable is updated by constants.
        let mut result = self.expression(value)?;
        if let Some(operator) = operator {
            let (left, right) = (self.used_type(target), self.used_type(value));
            result = self.operation(target, *operator, (before, &left), (result, &right))?;
        }
        self.scope.bind(id, Binding::Value(result));
        Ok(true)
    }

    pub(super) fn unrolled_range(
        &mut self,
        span: Span,
        parts: &'a ForIn,
        stored: Option<&Storage>,
        (low, high): (BigInt, BigInt),
        width: u32,
    ) -> Lowered<()> {
        self.unrolled(
            span,
            |_, step, _| {
                let at = &low + step;
                Ok(if at <= high { Step::Certain(at) } else { Step::End })
            },
            |lowering, at| {
                let value = Value::Scalar(Hlir::constant(arithmetic::bits_of(&at, width), width));
                match stored {
                    Some(variable) => lowering.assign(variable, value),
                    None => lowering.scope.bind(parts.variable.id, Binding::Value(value)),
                }
                lowering.statements(std::slice::from_ref(&parts.body));
            },
        )
    }

    /// A range with an end that the packet decides: the loop counts in a variable of its own.
    pub(super) fn unrolled_run_time_range(
        &mut self,
        span: Span,
        parts: &'a ForIn,
        variable: &Storage,
        (low, high): (Hlir, Hlir),
        (width, signed): (u32, bool),
    ) -> Lowered<()> {
        let counter = self.scratch(&format!("at{}", self.line_of(span)), hlir::Type::Bits(width));
        let Value::Scalar(high) = self.save(Value::Scalar(high), "end") else { return Ok(()) };
        self.assign(&counter, Value::Scalar(low));
        let at_most = if signed { Binary::LessEqualSigned } else { Binary::LessEqual };
        self.unrolled(
            span,
            |lowering, step, end| {
                let at = lowering.read(&counter);
                if step == 0 {
                    lowering.go_on_where(arithmetic::binary(at_most, at, high.clone()), end);
                } else {
                    lowering.go_on_where(arithmetic::binary(Binary::NotEqual, at.clone(), high.clone()), end);
                    let one = Hlir::constant(BigUint::from(1u8), width);
                    lowering.assign(&counter, Value::Scalar(arithmetic::binary(Binary::Add, at, one)));
                }
                Ok(Step::IfReached(()))
            },
            |lowering, ()| {
                let at = lowering.read(&counter);
                lowering.assign(variable, Value::Scalar(at));
                lowering.statements(std::slice::from_ref(&parts.body));
            },
        )
    }

    pub(super) fn unrolled_elements(
        &mut self,
        span: Span,
        parts: &'a ForIn,
        variable: &Storage,
        elements: Vec<Value>,
    ) -> Lowered<()> {
        self.unrolled(
            span,
            |_, step, _| Ok(elements.get(step).cloned().map_or(Step::End, Step::Certain)),
            |lowering, element| {
                lowering.assign(variable, element);
                lowering.statements(std::slice::from_ref(&parts.body));
            },
        )
    }
}

fn too_long(span: Span) -> Diagnostic {
    Diagnostic::error(format!("a loop with tables of more than {UNROLL_LIMIT} iterations"))
        .kind("overlimit")
        .label(span, "here")
        .hint(format!(
            "each iteration is made anew: give the loop fewer, or do not nest loops whose ends the packet decides ({RUN_TIME_ITERATIONS} each)"
        ))
}
