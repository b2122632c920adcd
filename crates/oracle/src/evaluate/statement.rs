//! Statements (12).

use num_bigint::BigInt;
use p4::ast::{
    self, Block, Collection, Declaration, DeclarationKind, Expression, For, ForIn, Statement, StatementKind,
    SwitchLabel,
};

use super::convert::convert;
use super::environment::{Binding, Env, bind};
use super::machine::Machine;
use super::operators::binary;
use super::value::Value;
use super::{Run, unsupported};

/// How a statement ended.
#[derive(Debug)]
pub enum Flow {
    Next,
    Break,
    Continue,
    Return(Value),
}

impl<'a> Machine<'a> {
    /// 12.3: what a block declares is known in it only.
    pub(super) fn block(&mut self, block: &'a Block, env: &Env<'a>) -> Run<Flow> {
        let mut env = env.clone();
        for statement in &block.statements {
            match self.statement(statement, &mut env)? {
                Flow::Next => {}
                other => return Ok(other),
            }
        }
        Ok(Flow::Next)
    }

    fn branch(&mut self, statement: &'a Statement, env: &Env<'a>) -> Run<Flow> {
        self.statement(statement, &mut env.clone())
    }

    pub(super) fn statement(&mut self, statement: &'a Statement, env: &mut Env<'a>) -> Run<Flow> {
        self.step()?;
        match &statement.kind {
            StatementKind::Empty => Ok(Flow::Next),
            StatementKind::Assign { target, operator, value } => {
                self.assign(target, *operator, value, env)?;
                Ok(Flow::Next)
            }
            StatementKind::Call(call) => self.evaluate(call, env).map(|_| Flow::Next),
            StatementKind::If { condition, accepted, rejected } => {
                if self.truth(condition, env)? {
                    self.branch(accepted, env)
                } else {
                    rejected.as_ref().map_or(Ok(Flow::Next), |rejected| self.branch(rejected, env))
                }
            }
            StatementKind::Block(block) => self.block(block, env),
            StatementKind::Switch { subject, cases } => self.switch(subject, cases, env),
            StatementKind::For(parts) => self.for_loop(parts, env),
            StatementKind::ForIn(parts) => self.for_in(parts, env),
            StatementKind::Break => Ok(Flow::Break),
            StatementKind::Continue => Ok(Flow::Continue),
            StatementKind::Return(None) => Ok(Flow::Return(Value::Void)),
            StatementKind::Return(Some(value)) => Ok(Flow::Return(self.evaluate(value, env)?)),
            StatementKind::Exit => Err(super::Stop::Exit),
            StatementKind::Declare(declaration) => {
                *env = self.local(declaration, env)?;
                Ok(Flow::Next)
            }
        }
    }

    /// 12.1: the l-value first, then the value. `a op= e` is `a = a op (e)` with the l-value evaluated once, so that the old value of `a` is
    /// read before `e` is evaluated. (p4c and BMv2 read it afterwards.)
    fn assign(
        &mut self,
        target: &'a Expression,
        operator: Option<ast::BinaryOperator>,
        value: &'a Expression,
        env: &Env<'a>,
    ) -> Run<()> {
        let place = self.place(target, env)?;
        let value = match operator {
            None => self.evaluate(value, env)?,
            Some(operator) => {
                let old = self.read(&place);
                let value = self.evaluate(value, env)?;
                binary(operator, old, value)?
            }
        };
        self.write(&place, value);
        Ok(())
    }

    /// Variables, constants, objects, actions and tables of a parser or control, or of a block.
    pub(super) fn local(&mut self, declaration: &'a Declaration, env: &Env<'a>) -> Run<Env<'a>> {
        let name = declaration.name.as_str();
        let binding = match &declaration.kind {
            DeclarationKind::Variable(variable) => {
                let of = self.resolve(&variable.of_type, env)?;
                let value = match &variable.value {
                    Some(value) => convert(self.evaluate(value, env)?, &of),
                    None => Value::initial(&of),
                };
                Binding::Variable(self.new_slot(value))
            }
            DeclarationKind::Constant(constant) => {
                let of = self.resolve(&constant.of_type, env)?;
                Binding::Constant(convert(self.evaluate(&constant.value, env)?, &of))
            }
            DeclarationKind::Action { .. } | DeclarationKind::Function(_) => {
                Binding::Code(vec![declaration], env.clone())
            }
            DeclarationKind::Table(_) => match self.here()?.tables.get(&declaration.id) {
                Some(table) => Binding::Table(*table, env.clone()),
                None => return unsupported(format!("table {name}")),
            },
            DeclarationKind::ValueSet(_) => match self.here()?.value_sets.get(&declaration.id) {
                Some(set) => Binding::ValueSet(*set),
                None => return unsupported(format!("value set {name}")),
            },
            DeclarationKind::Instance(_) => match self.here()?.children.get(&declaration.id) {
                Some(child) => Binding::Instance(child.clone()),
                None => return unsupported(format!("instance {name}")),
            },
            _ => return unsupported(format!("declaration of {name} here")),
        };
        Ok(bind(env, name, binding))
    }

    pub(super) fn locals(&mut self, locals: &'a [Declaration], env: &Env<'a>) -> Run<Env<'a>> {
        locals.iter().try_fold(env.clone(), |env, local| self.local(local, &env))
    }

    /// 12.7: labels without a body share the next one; `default` is taken where no other label fits.
    fn switch(&mut self, subject: &'a Expression, cases: &'a [ast::SwitchCase], env: &Env<'a>) -> Run<Flow> {
        let value = self.evaluate(subject, env)?;
        let is_run =
            matches!(&subject.kind, ast::ExpressionKind::Member { member, .. } if member.as_str() == "action_run");
        let mut chosen = None;
        for (index, case) in cases.iter().enumerate() {
            let fits = match &case.label {
                SwitchLabel::Default(_) => false,
                SwitchLabel::Expression(label) if is_run => {
                    let ast::ExpressionKind::Path(path) = &label.kind else { continue };
                    matches!(&value, Value::String(action) if **action == *path.name.as_str())
                }
                SwitchLabel::Expression(label) => value.same(&convert(self.evaluate(label, env)?, &value.type_of())),
            };
            if fits {
                chosen = Some(index);
                break;
            }
        }
        let default = || cases.iter().position(|case| matches!(case.label, SwitchLabel::Default(_)));
        let Some(chosen) = chosen.or_else(default) else { return Ok(Flow::Next) };
        match cases[chosen..].iter().find_map(|case| case.body.as_ref()) {
            Some(body) => self.block(body, env),
            None => Ok(Flow::Next),
        }
    }

    /// 12.8 of the language with loops: the parts of `for (a; b; c)` are in a scope of their own.
    fn for_loop(&mut self, parts: &'a For, env: &Env<'a>) -> Run<Flow> {
        let mut env = env.clone();
        for part in &parts.initial {
            self.statement(part, &mut env)?;
        }
        while self.truth(&parts.condition, &env)? {
            self.step()?;
            match self.branch(&parts.body, &env)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                returned @ Flow::Return(_) => return Ok(returned),
            }
            for part in &parts.update {
                self.branch(part, &env)?;
            }
        }
        Ok(Flow::Next)
    }

    /// The collection is evaluated once, before the loop; a range has both its ends.
    fn for_in(&mut self, parts: &'a ForIn, env: &Env<'a>) -> Run<Flow> {
        let DeclarationKind::Variable(variable) = &parts.variable.kind else {
            return unsupported("a loop without a variable");
        };
        let of = self.resolve(&variable.of_type, env)?;
        let values: Vec<Value> = match &parts.collection {
            Collection::Range { low, high } => {
                let low = convert(self.evaluate(low, env)?, &of).number();
                let high = convert(self.evaluate(high, env)?, &of).number();
                let (Some(mut at), Some(high)) = (low, high) else { return unsupported("a range without numbers") };
                let mut values = Vec::new();
                while at <= high {
                    self.step()?;
                    values.push(Value::Integer(at.clone()));
                    at += BigInt::from(1);
                }
                values
            }
            Collection::Expression(collection) => match self.evaluate(collection, env)? {
                Value::Stack(stack) => stack.elements,
                Value::Tuple(elements) => elements,
                _ => return unsupported("a loop over no collection"),
            },
        };
        for value in values {
            self.step()?;
            let slot = self.new_slot(convert(value, &of));
            let inner = bind(env, parts.variable.name.as_str(), Binding::Variable(slot));
            match self.branch(&parts.body, &inner)? {
                Flow::Next | Flow::Continue => {}
                Flow::Break => break,
                returned @ Flow::Return(_) => return Ok(returned),
            }
        }
        Ok(Flow::Next)
    }
}
