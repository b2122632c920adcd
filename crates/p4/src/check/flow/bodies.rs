//! Statements: where they lead, and what is known behind them.

use super::facts::Facts;
use super::{Flow, Loop};
use crate::ast::{
    BinaryOperator, Block, Collection, Declaration, DeclarationId, DeclarationKind, Expression, ExpressionKind,
    Statement, StatementKind, SwitchCase, SwitchLabel, UnaryOperator,
};
use crate::check::results::{Callee, Property, Reference};

impl<'a> Flow<'a, '_> {
    pub fn block(&mut self, block: &'a Block) {
        self.silent.push(&block.annotations);
        for statement in &block.statements {
            self.statement(statement);
        }
        self.silent.pop();
    }

    pub fn statement(&mut self, statement: &'a Statement) {
        match &statement.kind {
            StatementKind::Empty => {}
            StatementKind::Assign { target, operator, value } => {
                self.read(value);
                if operator.is_some() {
                    self.read(target);
                }
                self.assign(target, value);
            }
            StatementKind::Call(call) => self.read(call),
            StatementKind::If { condition, accepted, rejected } => {
                self.branch(condition, accepted, rejected.as_deref());
            }
            StatementKind::Block(block) => self.block(block),
            StatementKind::Switch { subject, cases } => self.switch(subject, cases),
            StatementKind::For(parts) => {
                for statement in &parts.initial {
                    self.statement(statement);
                }
                self.repeat(Some(&parts.condition), &parts.body, &parts.update);
            }
            StatementKind::ForIn(parts) => {
                match &parts.collection {
                    Collection::Expression(collection) => self.read(collection),
                    Collection::Range { low, high } => {
                        self.read(low);
                        self.read(high);
                    }
                }
                self.repeat(None, &parts.body, &[]);
            }
            StatementKind::Break => {
                let facts = std::mem::replace(&mut self.facts, Facts::nowhere());
                if let Some(around) = self.loops.last_mut() {
                    around.breaks = std::mem::take(&mut around.breaks).join(&facts);
                }
            }
            StatementKind::Continue => {
                let facts = std::mem::replace(&mut self.facts, Facts::nowhere());
                if let Some(around) = self.loops.last_mut() {
                    around.continues = std::mem::take(&mut around.continues).join(&facts);
                }
            }
            StatementKind::Return(value) => {
                if let Some(value) = value {
                    self.read(value);
                }
                let facts = std::mem::replace(&mut self.facts, Facts::nowhere());
                if let Some(returned) = self.returned.last_mut() {
                    *returned = std::mem::take(returned).join(&facts);
                }
            }
            StatementKind::Exit => self.facts.dead = true,
            StatementKind::Declare(declaration) => self.local(declaration),
        }
    }

    pub fn local(&mut self, declaration: &'a Declaration) {
        match &declaration.kind {
            DeclarationKind::Variable(variable) => {
                if let Some(value) = &variable.value {
                    self.read(value);
                }
                let part = self.declare(declaration.id);
                if let (Some(part), Some(value)) = (part, &variable.value) {
                    self.take_over(part, value);
                }
            }
            DeclarationKind::Constant(constant) => self.read(&constant.value),
            _ => {}
        }
    }

    /// A loop: once without a word, to learn what is known when it comes round again.
    fn repeat(&mut self, condition: Option<&'a Expression>, body: &'a Statement, update: &'a [Statement]) {
        let muted = std::mem::replace(&mut self.muted, true);
        let before = self.facts.clone();
        let (_, again) = self.once(condition, body, update);
        self.muted = muted;
        self.facts = before.join(&again);
        let (left, again) = self.once(condition, body, update);
        self.facts = left.join(&again);
    }

    /// What is known where the loop ends, and where it begins again.
    fn once(
        &mut self,
        condition: Option<&'a Expression>,
        body: &'a Statement,
        update: &'a [Statement],
    ) -> (Facts, Facts) {
        if let Some(condition) = condition {
            self.read(condition);
        }
        let ended = self.facts.clone();
        self.loops.push(Loop { breaks: Facts::nowhere(), continues: Facts::nowhere() });
        self.statement(body);
        let around = self.loops.pop().unwrap_or(Loop { breaks: Facts::nowhere(), continues: Facts::nowhere() });
        self.facts = std::mem::take(&mut self.facts).join(&around.continues);
        for statement in update {
            self.statement(statement);
        }
        (ended.join(&around.breaks), self.facts.clone())
    }

    fn branch(&mut self, condition: &'a Expression, accepted: &'a Statement, rejected: Option<&'a Statement>) {
        let (hit, miss) = match hit_of(condition) {
            Some((call, property)) if self.is_hit(condition) => {
                let (hit, miss) = self.look_up(call);
                if property { (hit, miss) } else { (miss, hit) }
            }
            _ => {
                self.read(condition);
                (self.facts.clone(), self.facts.clone())
            }
        };
        self.facts = hit;
        self.learn(condition, true);
        self.statement(accepted);
        let after = std::mem::replace(&mut self.facts, miss);
        self.learn(condition, false);
        if let Some(rejected) = rejected {
            self.statement(rejected);
        }
        self.facts = std::mem::take(&mut self.facts).join(&after);
    }

    fn is_hit(&self, condition: &Expression) -> bool {
        let subject = match &condition.kind {
            ExpressionKind::Unary { operand, .. } => operand,
            _ => condition,
        };
        let of_table = match &subject.kind {
            ExpressionKind::Member { base, .. } => {
                matches!(self.checked.call(base).map(|call| &call.callee), Some(Callee::ApplyTable(_)))
            }
            _ => false,
        };
        of_table && matches!(self.checked.reference(subject), Reference::Property(Property::Hit | Property::Miss))
    }

    /// What is known of headers if a condition is `truth`.
    pub fn learn(&mut self, condition: &Expression, truth: bool) {
        match &condition.kind {
            ExpressionKind::Unary { operator: UnaryOperator::Not, operand } => self.learn(operand, !truth),
            ExpressionKind::Binary { operator: BinaryOperator::And, left, right } if truth => {
                self.learn(left, true);
                self.learn(right, true);
            }
            ExpressionKind::Binary { operator: BinaryOperator::Or, left, right } if !truth => {
                self.learn(left, false);
                self.learn(right, false);
            }
            ExpressionKind::Call { callee, .. } if truth => {
                if let ExpressionKind::Member { base, member } = &callee.kind
                    && member.as_str() == "isValid"
                    && let Some(part) = self.part(base)
                {
                    self.facts.learn_valid(&self.layout, part);
                }
            }
            _ => {}
        }
    }

    fn switch(&mut self, subject: &'a Expression, cases: &'a [SwitchCase]) {
        let runs = match &subject.kind {
            ExpressionKind::Member { base, .. }
                if *self.checked.reference(subject) == Reference::Property(Property::ActionRun) =>
            {
                self.runs(base)
            }
            _ => {
                self.read(subject);
                Vec::new()
            }
        };
        let before = self.facts.clone();
        let complete = cases.iter().any(|case| matches!(case.label, SwitchLabel::Default(_)));
        let mut after = if complete { Facts::nowhere() } else { before.clone() };
        let mut entering = Facts::nowhere();
        for case in cases {
            let known = label_action(self.checked, &case.label);
            let known = known.and_then(|action| runs.iter().find(|(run, _)| *run == action));
            entering = entering.join(known.map_or(&before, |(_, facts)| facts));
            if let Some(body) = &case.body {
                self.facts = std::mem::replace(&mut entering, Facts::nowhere());
                self.block(body);
                after = after.join(&self.facts);
            }
        }
        self.facts = after;
    }

    fn assign(&mut self, target: &'a Expression, value: &'a Expression) {
        match &target.kind {
            ExpressionKind::Slice { base, .. } | ExpressionKind::PlusSlice { base, .. } => {
                // The bits around stay what they were.
                self.read(base);
                self.write(base);
            }
            _ => {
                self.check_next(target);
                self.check_valid(target);
                let invalid = self.part(value).is_some_and(|part| self.facts.all_invalid(&self.layout, part));
                match self.part(target) {
                    Some(part) => self.take_over(part, value),
                    // An invalid header in one of several: those that are valid may stay so.
                    None if invalid => {}
                    None => self.write(target),
                }
            }
        }
    }
}

/// The application in `t.apply().hit` or `.miss`, perhaps behind a `!`, and whether it asks for a hit.
fn hit_of(condition: &Expression) -> Option<(&Expression, bool)> {
    match &condition.kind {
        ExpressionKind::Unary { operator: UnaryOperator::Not, operand } => {
            hit_of(operand).map(|(call, hit)| (call, !hit))
        }
        ExpressionKind::Member { base, member } => match member.as_str() {
            "hit" => Some((base, true)),
            "miss" => Some((base, false)),
            _ => None,
        },
        _ => None,
    }
}

fn label_action(checked: &crate::check::Checked, label: &SwitchLabel) -> Option<DeclarationId> {
    let SwitchLabel::Expression(label) = label else { return None };
    match checked.reference(label) {
        Reference::Declaration(action) => Some(*action),
        _ => None,
    }
}
