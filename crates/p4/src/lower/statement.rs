//! Statements. A mistake in one is reported, and lowering goes on with the next.

use super::scope::Binding;
use super::value::Target;
use super::{Lowered, Lowering, arithmetic};
use crate::ast::{
    BinaryOperator, Declaration, DeclarationKind, Expression, ExpressionKind, Statement, StatementKind, SwitchCase,
    SwitchLabel,
};
use crate::check::{Callee, Property, Reference};

impl<'a> Lowering<'a> {
    pub fn statements(&mut self, statements: &'a [Statement]) {
        for statement in statements {
            if !self.graph.is_open(self.current) {
                self.note_calls_in(statement);
                continue;
            }
            let result = self.nested(statement.span, |lowering| lowering.statement(statement));
            self.report(result);
        }
    }

    fn statement(&mut self, statement: &'a Statement) -> Lowered<()> {
        match &statement.kind {
            StatementKind::Empty => {}
            StatementKind::Assign { target, operator, value } => self.assignment(target, *operator, value)?,
            StatementKind::Call(call) => {
                self.expression(call)?;
            }
            StatementKind::If { condition, accepted, rejected } => {
                self.if_statement(condition, accepted, rejected.as_deref())?;
            }
            StatementKind::Block(block) => self.statements(&block.statements),
            StatementKind::Switch { subject, cases } => self.switch(subject, cases)?,
            StatementKind::For(parts) => self.for_loop(statement.span, parts)?,
            StatementKind::ForIn(parts) => self.for_in_loop(statement.span, parts)?,
            StatementKind::Break | StatementKind::Continue => {
                let innermost = self.frames.last().and_then(|frame| frame.loops.last()).cloned();
                let Some(innermost) = innermost else {
                    return Err(self.internal(statement.span, "a jump out of no loop"));
                };
                let is_break = matches!(statement.kind, StatementKind::Break);
                self.jump(if is_break { &innermost.on_break } else { &innermost.on_continue });
            }
            StatementKind::Return(value) => {
                let value = value.as_ref().map(|value| self.expression(value)).transpose()?;
                self.return_statement(value);
            }
            StatementKind::Exit => self.exit_statement(),
            StatementKind::Declare(declaration) => self.declare(declaration)?,
        }
        Ok(())
    }

    fn assignment(
        &mut self,
        target: &'a Expression,
        operator: Option<BinaryOperator>,
        value: &'a Expression,
    ) -> Lowered<()> {
        let mut place = self.target(target)?;
        // `a op= e` is `a = a op e`: the left operand is read before `e` runs.
        let mut before = operator.map(|_| self.load_target(&place));
        let mark = self.mark();
        let result = self.expression(value)?;
        before.iter_mut().for_each(|before| self.settle(before, mark));
        self.settle_target(&mut place, mark);
        let result = match operator.zip(before) {
            None => result,
            Some((operator, before)) => {
                let (left, right) = (self.used_type(target), self.used_type(value));
                match operator {
                    BinaryOperator::And | BinaryOperator::Or => {
                        return Err(self.internal(target.span, "this compound assignment"));
                    }
                    _ => self.operation(target, operator, (before, &left), (result, &right))?,
                }
            }
        };
        self.store(&place, result);
        Ok(())
    }

    fn if_statement(
        &mut self,
        condition: &'a Expression,
        accepted: &'a Statement,
        rejected: Option<&'a Statement>,
    ) -> Lowered<()> {
        let line = self.line_of(condition.span);
        if let Some((hit, miss)) = self.jumping_condition(condition)? {
            let then = self.in_block(hit, |lowering| lowering.statements(std::slice::from_ref(accepted)));
            let otherwise = self.in_block(miss, |lowering| {
                if let Some(rejected) = rejected {
                    lowering.statements(std::slice::from_ref(rejected));
                }
            });
            self.continue_after(&line, &[then, otherwise]);
            return Ok(());
        }
        let notes = self.plain_notes(condition.span);
        let condition = self.scalar(condition)?;
        let block = self.current;
        self.branch(
            condition,
            &line,
            |lowering| lowering.statements(std::slice::from_ref(accepted)),
            |lowering| {
                if let Some(rejected) = rejected {
                    lowering.statements(std::slice::from_ref(rejected));
                }
            },
        );
        self.graph.place_branch(block, notes);
        Ok(())
    }

    /// Lowers into a block that exists; the last block of it.
    pub fn in_block(&mut self, block: hlir::NodeId, lower: impl FnOnce(&mut Self)) -> hlir::NodeId {
        let before = std::mem::replace(&mut self.current, block);
        lower(self);
        std::mem::replace(&mut self.current, before)
    }

    /// A condition that is the hit or miss of a table: where it leads if it is true and if it is false.
    fn jumping_condition(&mut self, condition: &'a Expression) -> Lowered<Option<(hlir::NodeId, hlir::NodeId)>> {
        match &condition.kind {
            ExpressionKind::Unary { operator: crate::ast::UnaryOperator::Not, operand } => {
                Ok(self.jumping_condition(operand)?.map(|(hit, miss)| (miss, hit)))
            }
            ExpressionKind::Member { base, .. } => match self.checked.reference(condition) {
                Reference::Property(Property::Hit) => Ok(Some(self.apply_for_hit(base)?)),
                Reference::Property(Property::Miss) => {
                    Ok(Some(self.apply_for_hit(base)?).map(|(hit, miss)| (miss, hit)))
                }
                _ => Ok(None),
            },
            _ => Ok(None),
        }
    }

    fn declare(&mut self, declaration: &'a Declaration) -> Lowered<()> {
        match &declaration.kind {
            DeclarationKind::Variable(variable) => {
                let of_type = self.substituted(self.checked.declared_type(declaration.id));
                let value = variable.value.as_ref().map(|value| self.expression(value)).transpose()?;
                let name = self.local_name(declaration.name.as_str());
                let notes = self.notes_of(declaration.id);
                let storage = self.allocate(&of_type, &name, &notes);
                self.scope.bind(declaration.id, Binding::Target(Target::Storage(storage.clone())));
                match value {
                    Some(value) => self.assign(&storage, value),
                    None if self.repeated => self.clear(&storage),
                    None => {}
                }
                Ok(())
            }
            DeclarationKind::Constant(constant) => self.declare_constant(declaration, &constant.value),
            DeclarationKind::Instance(instance) => {
                let name = Self::qualified(&self.path.clone(), &self.external_name(declaration.id));
                self.instantiate_declaration(declaration, instance, &name)
            }
            _ => Err(self.internal(declaration.span, "this declaration among statements")),
        }
    }

    fn switch(&mut self, subject: &'a Expression, cases: &'a [SwitchCase]) -> Lowered<()> {
        if let ExpressionKind::Member { base, .. } = &subject.kind
            && *self.checked.reference(subject) == Reference::Property(Property::ActionRun)
        {
            return self.switch_on_action(base, cases);
        }
        let value = self.expression(subject)?;
        let value = self.atom(value, "subject");
        let mut arms: Vec<(hlir::Expression, &'a [Statement])> = Vec::new();
        let mut default: Option<&'a [Statement]> = None;
        let mut condition = hlir::Expression::Bool(false);
        let mut is_default = false;
        for case in cases {
            match &case.label {
                SwitchLabel::Default(_) => is_default = true,
                SwitchLabel::Expression(label) => {
                    let label = self.expression(label)?;
                    let equal = self.equal_values(value.clone(), label);
                    condition = arithmetic::or(condition, equal);
                }
            }
            let Some(body) = &case.body else { continue };
            let condition = std::mem::replace(&mut condition, hlir::Expression::Bool(false));
            if std::mem::take(&mut is_default) {
                // Labels that share the body of `default` need no test: whatever no other case takes ends here.
                default = Some(&body.statements);
            } else {
                arms.push((condition, &body.statements));
            }
        }
        self.switch_arms(&arms, default.unwrap_or(&[]), &self.line_of(subject.span));
        Ok(())
    }

    fn switch_arms(&mut self, arms: &[(hlir::Expression, &'a [Statement])], default: &'a [Statement], line: &str) {
        let Some(((condition, body), rest)) = arms.split_first() else { return self.statements(default) };
        self.branch(
            condition.clone(),
            line,
            |lowering| lowering.statements(body),
            |lowering| lowering.switch_arms(rest, default, line),
        );
    }

    fn switch_on_action(&mut self, base: &'a Expression, cases: &'a [SwitchCase]) -> Lowered<()> {
        let table = self.prepare_table(base)?;
        let line = self.line_of(base.span);
        let otherwise = self.add_block(&format!("default{line}"));
        let mut targets: Vec<(u32, hlir::NodeId)> = Vec::new();
        let mut bodies: Vec<(hlir::NodeId, &'a [Statement])> = Vec::new();
        let mut waiting: Vec<u32> = Vec::new();
        let mut is_default = false;
        for case in cases {
            match &case.label {
                SwitchLabel::Default(_) => is_default = true,
                SwitchLabel::Expression(label) => {
                    if let Some(action) = self.action_label(&table.actions, label)? {
                        waiting.push(action);
                    }
                }
            }
            let Some(body) = &case.body else { continue };
            let block =
                if std::mem::take(&mut is_default) { otherwise } else { self.add_block(&format!("case{line}")) };
            targets.extend(waiting.drain(..).map(|action| (action, block)));
            bodies.push((block, &body.statements));
        }
        self.end_in_table(&table, hlir::Next::Actions { cases: targets, otherwise }, base.span)?;
        let mut ends = Vec::new();
        if !bodies.iter().any(|(block, _)| *block == otherwise) {
            ends.push(otherwise);
        }
        for (block, body) in bodies {
            ends.push(self.in_block(block, |lowering| lowering.statements(body)));
        }
        self.continue_after(&line, &ends);
        Ok(())
    }

    fn action_label(&self, actions: &[crate::ast::DeclarationId], label: &Expression) -> Lowered<Option<u32>> {
        let id = match (self.checked.reference(label), self.checked.call(label).map(|call| &call.callee)) {
            (Reference::Declaration(id), _) | (_, Some(Callee::Action(id))) => *id,
            _ => return Err(self.internal(label.span, "a case that names no action")),
        };
        Ok(actions.iter().position(|action| *action == id).map(|at| at as u32))
    }
}
