//! Warnings that follow a body from statement to statement: values read before they are written, fields of headers that
//! are not valid, `out` parameters left unwritten.
//!
//! Only what is declared in a body, and its `out` parameters, is followed. Where that gets lost (an action or table that
//! may write a variable of its control, an index not known) nothing is said: a warning should be worth reading.

use std::collections::{BTreeMap, BTreeSet};

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::results::{Builtin, Callee, Checked, Reference};
use super::unused::silences;
use crate::ast::{
    Annotation, Argument, Block, Collection, Declaration, DeclarationId, DeclarationKind, Direction, Expression,
    ExpressionKind, Parameter, Statement, StatementKind, SwitchCase, SwitchLabel,
};
use crate::evaluate::Value;
use crate::types::Type;

/// A variable and the way to a part of it: `.field`, `[2]`.
type Place = (DeclarationId, String);

/// Variables with more parts than this are not followed.
const MOST_PARTS: usize = 256;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Validity {
    Invalid,
    Unclear,
}

/// What is known at one point of a body.
#[derive(Clone, Default)]
struct Facts {
    /// The parts that may not have been written.
    unset: BTreeSet<Place>,
    /// The headers that are not known to be valid.
    validity: BTreeMap<Place, Validity>,
    /// The point is never reached.
    dead: bool,
}

impl Facts {
    fn join(self, other: Facts) -> Facts {
        if self.dead {
            return other;
        }
        if other.dead {
            return self;
        }
        let mut validity = BTreeMap::new();
        for place in self.validity.keys().chain(other.validity.keys()) {
            let same = self.validity.get(place) == other.validity.get(place);
            let known = if same { self.validity[place] } else { Validity::Unclear };
            validity.insert(place.clone(), known);
        }
        Facts { unset: self.unset.union(&other.unset).cloned().collect(), validity, dead: false }
    }

    /// Forgets everything about a place and its parts: it has been written.
    fn write(&mut self, place: &Place) {
        self.unset.retain(|part| !is_within(part, place));
        self.validity.retain(|part, _| !is_within(part, place));
    }
}

/// Whether a place is another one or a part of it.
fn is_within(part: &Place, whole: &Place) -> bool {
    part.0 == whole.0
        && part.1.strip_prefix(whole.1.as_str()).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
}

pub(super) fn warnings<'a>(checked: &Checked<'a>) -> Vec<Diagnostic> {
    let mut flow = Flow {
        checked,
        facts: Facts::default(),
        outputs: Vec::new(),
        owner: String::new(),
        silent: Vec::new(),
        found: Vec::new(),
        warned: BTreeSet::new(),
    };
    for declaration in &checked.program.declarations {
        flow.declaration(declaration);
    }
    flow.found
}

struct Flow<'a, 'c> {
    checked: &'c Checked<'a>,
    facts: Facts,
    /// The `out` parameters of the body, and its name.
    outputs: Vec<&'a Parameter>,
    owner: String,
    /// Annotations around, among which `@noWarn("kind")` silences a kind of warning.
    silent: Vec<&'a [Annotation]>,
    found: Vec<Diagnostic>,
    warned: BTreeSet<(Span, String)>,
}

impl<'a> Flow<'a, '_> {
    fn declaration(&mut self, declaration: &'a Declaration) {
        match &declaration.kind {
            DeclarationKind::Function(function) => {
                if let Some(body) = &function.body {
                    self.body(declaration, &function.parameters, body);
                }
            }
            DeclarationKind::Action { parameters, body } => {
                self.body(declaration, parameters, body);
            }
            DeclarationKind::Control(control) => {
                for local in &control.locals {
                    self.declaration(local);
                }
                if let Some(apply) = &control.apply {
                    self.body(declaration, &control.parameters, apply);
                }
            }
            DeclarationKind::Instance(instance) => {
                for part in instance.body.iter().flatten() {
                    self.declaration(part);
                }
            }
            _ => {}
        }
    }

    fn body(&mut self, owner: &'a Declaration, parameters: &'a [Parameter], body: &'a Block) {
        self.facts = Facts::default();
        self.owner = owner.name.to_string();
        self.silent = vec![&owner.attributes.annotations, &body.annotations];
        self.outputs = parameters.iter().filter(|parameter| parameter.direction == Direction::Out).collect();
        for parameter in self.outputs.clone() {
            self.declare(parameter.id);
        }
        self.block(body);
        self.leave();
    }

    /// The end of a body, or a `return`: outputs have to be written by now.
    fn leave(&mut self) {
        if self.facts.dead {
            return;
        }
        for output in self.outputs.clone() {
            let whole = (output.id, String::new());
            if self.facts.unset.iter().any(|part| is_within(part, &whole)) {
                let message =
                    format!("out parameter '{}' may be uninitialized when '{}' terminates", output.name, self.owner);
                self.warn("uninitialized-out-param", output.name.span, message);
            }
        }
        self.facts.dead = true;
    }

    fn warn(&mut self, kind: &'static str, span: Span, message: String) {
        if self.silent.iter().any(|annotations| silences(annotations, kind)) {
            return;
        }
        if self.warned.insert((span, message.clone())) {
            self.found.push(Diagnostic::warning(message).kind(kind).label(span, ""));
        }
    }

    /// A variable without a value: none of its parts is set, its headers are invalid.
    fn declare(&mut self, id: DeclarationId) {
        let mut parts = Facts::default();
        let of_type = self.checked.declared_type(id).clone();
        if self.parts_of(&(id, String::new()), &of_type, &mut parts) {
            self.facts.unset.extend(parts.unset);
            self.facts.validity.extend(parts.validity);
        }
    }

    fn parts_of(&self, place: &Place, of_type: &Type, parts: &mut Facts) -> bool {
        if parts.unset.len() + parts.validity.len() > MOST_PARTS {
            return false;
        }
        match of_type {
            Type::Struct(_) | Type::Union(_) => {
                self.checked.fields_of(of_type).iter().all(|field| {
                    self.parts_of(&(place.0, format!("{}.{}", place.1, field.name)), &field.of_type, parts)
                })
            }
            Type::Stack { element, size } => {
                (0..*size).all(|at| self.parts_of(&(place.0, format!("{}[{at}]", place.1)), element, parts))
            }
            Type::Header(_) => {
                parts.validity.insert(place.clone(), Validity::Invalid);
                true
            }
            _ => {
                parts.unset.insert(place.clone());
                true
            }
        }
    }

    fn block(&mut self, block: &'a Block) {
        for statement in &block.statements {
            self.statement(statement);
        }
    }

    fn statement(&mut self, statement: &'a Statement) {
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
                self.branch(condition, accepted, rejected.as_deref())
            }
            StatementKind::Block(block) => self.block(block),
            StatementKind::Switch { subject, cases } => self.switch(subject, cases),
            StatementKind::For(parts) => {
                for statement in &parts.initial {
                    self.statement(statement);
                }
                self.read(&parts.condition);
                let before = self.facts.clone();
                self.statement(&parts.body);
                for statement in &parts.update {
                    self.statement(statement);
                }
                self.facts = std::mem::take(&mut self.facts).join(before);
            }
            StatementKind::ForIn(parts) => {
                match &parts.collection {
                    Collection::Expression(collection) => self.read(collection),
                    Collection::Range { low, high } => {
                        self.read(low);
                        self.read(high);
                    }
                }
                let before = self.facts.clone();
                self.statement(&parts.body);
                self.facts = std::mem::take(&mut self.facts).join(before);
            }
            StatementKind::Break | StatementKind::Continue => {}
            StatementKind::Return(value) => {
                if let Some(value) = value {
                    self.read(value);
                }
                self.leave();
            }
            StatementKind::Exit => self.facts.dead = true,
            StatementKind::Declare(declaration) => self.local(declaration),
        }
    }

    fn local(&mut self, declaration: &'a Declaration) {
        match &declaration.kind {
            DeclarationKind::Variable(variable) => match &variable.value {
                Some(value) => {
                    self.read(value);
                    self.take_over(&(declaration.id, String::new()), value);
                }
                None => self.declare(declaration.id),
            },
            DeclarationKind::Constant(constant) => self.read(&constant.value),
            _ => {}
        }
    }

    fn branch(&mut self, condition: &'a Expression, accepted: &'a Statement, rejected: Option<&'a Statement>) {
        self.read(condition);
        let before = self.facts.clone();
        self.learn(condition);
        self.statement(accepted);
        let after = std::mem::replace(&mut self.facts, before);
        if let Some(rejected) = rejected {
            self.statement(rejected);
        }
        self.facts = std::mem::take(&mut self.facts).join(after);
    }

    /// `if (h.isValid())`: the header is valid inside.
    fn learn(&mut self, condition: &Expression) {
        match &condition.kind {
            ExpressionKind::Binary { operator: crate::ast::BinaryOperator::And, left, right } => {
                self.learn(left);
                self.learn(right);
            }
            ExpressionKind::Call { callee, .. } => {
                if let ExpressionKind::Member { base, member } = &callee.kind
                    && member.as_str() == "isValid"
                    && let Some(place) = self.place(base)
                {
                    self.facts.validity.retain(|part, _| !is_within(part, &place));
                }
            }
            _ => {}
        }
    }

    fn switch(&mut self, subject: &'a Expression, cases: &'a [SwitchCase]) {
        self.read(subject);
        let before = self.facts.clone();
        let complete = cases.iter().any(|case| matches!(case.label, SwitchLabel::Default(_)));
        let mut after = Facts { dead: complete, ..before.clone() };
        for case in cases {
            if let Some(body) = &case.body {
                self.facts = before.clone();
                self.block(body);
                after = after.join(std::mem::take(&mut self.facts));
            }
        }
        self.facts = after;
    }

    fn assign(&mut self, target: &'a Expression, value: &'a Expression) {
        match &target.kind {
            ExpressionKind::Slice { base, .. } | ExpressionKind::PlusSlice { base, .. } => {
                if let Some(place) = self.place(base) {
                    self.facts.write(&place);
                }
            }
            _ => {
                self.check_valid(target);
                if let Some(place) = self.place(target) {
                    self.take_over(&place, value);
                }
            }
        }
    }

    /// What is known of a value holds for the place it is written to.
    fn take_over(&mut self, place: &Place, value: &Expression) {
        let from = self.place(value);
        let moved: Vec<(Place, Validity)> = match &from {
            Some(from) => self
                .facts
                .validity
                .iter()
                .filter(|(part, _)| is_within(part, from))
                .map(|(part, validity)| ((place.0, format!("{}{}", place.1, &part.1[from.1.len()..])), *validity))
                .collect(),
            None => Vec::new(),
        };
        self.facts.write(place);
        self.facts.validity.extend(moved);
        if self.checked.constant(value) == Some(&Value::Invalid) {
            self.facts.validity.insert(place.clone(), Validity::Invalid);
        }
    }

    /// The place an expression names, if it is a variable or a part of one at a known index.
    fn place(&self, expression: &Expression) -> Option<Place> {
        match &expression.kind {
            ExpressionKind::Path(_) => match self.checked.reference(expression) {
                Reference::Declaration(id) => Some((*id, String::new())),
                _ => None,
            },
            ExpressionKind::Member { base, member } => {
                let Reference::Field(_) = self.checked.reference(expression) else { return None };
                let (id, way) = self.place(base)?;
                Some((id, format!("{way}.{member}")))
            }
            ExpressionKind::Index { base, index } => {
                let (id, way) = self.place(base)?;
                let at = self.checked.constant(index)?.integer()?;
                Some((id, format!("{way}[{at}]")))
            }
            _ => None,
        }
    }

    fn written(&self, place: &Place) -> String {
        format!("{}{}", self.checked.node(place.0).name(), place.1)
    }

    /// Warns if a field is accessed whose header is not valid.
    fn check_valid(&mut self, expression: &Expression) {
        let ExpressionKind::Member { base, .. } = &expression.kind else { return };
        if let (Reference::Field(_), Type::Header(_)) = (self.checked.reference(expression), self.checked.type_of(base))
            && let Some(place) = self.place(base)
            && let Some(validity) = self.facts.validity.get(&place)
            && !self.facts.dead
        {
            let how = if *validity == Validity::Invalid { "an invalid" } else { "a potentially invalid" };
            let message = format!("accessing a field of {how} header {}", self.written(&place));
            self.warn("invalid-header", expression.span, message);
        }
    }

    fn read(&mut self, expression: &'a Expression) {
        match &expression.kind {
            ExpressionKind::Call { callee, arguments, .. } => {
                self.call(expression, callee, arguments);
                return;
            }
            ExpressionKind::Path(_) | ExpressionKind::Member { .. } | ExpressionKind::Index { .. } => {
                self.check_valid(expression);
                if self.read_place(expression) {
                    return;
                }
            }
            _ => {}
        }
        for part in parts(expression) {
            self.read(part);
        }
    }

    /// Warns if a place may not have been written. False if the expression is no place that is followed.
    fn read_place(&mut self, expression: &Expression) -> bool {
        let Some(place) = self.place(expression) else { return false };
        let unset = self.facts.unset.iter().any(|part| is_within(part, &place));
        if unset && !self.facts.dead {
            let message = format!("{} may be uninitialized", self.written(&place));
            self.warn("uninitialized-use", expression.span, message);
        }
        true
    }

    fn call(&mut self, expression: &'a Expression, callee: &'a Expression, arguments: &'a [Argument]) {
        let Some(call) = self.checked.call(expression).cloned() else { return };
        if let (Callee::Builtin(builtin), ExpressionKind::Member { base, .. }) = (&call.callee, &callee.kind) {
            self.builtin(*builtin, base);
            return;
        }
        let argument_of = |parameter: usize| self.checked.argument(&call.bindings[parameter], arguments);
        let given: Vec<(Direction, &'a Expression)> = (0..call.bindings.len())
            .filter_map(|at| argument_of(at).map(|value| (call.bindings[at].direction, value)))
            .collect();
        for (direction, value) in &given {
            if *direction != Direction::Out {
                self.read(value);
            }
        }
        // Actions and tables write variables of the control around without being passed them.
        if matches!(call.callee, Callee::Action(_) | Callee::ApplyTable(_)) {
            self.facts.unset.clear();
            self.facts.validity.clear();
        }
        for (direction, value) in given {
            if matches!(direction, Direction::Out | Direction::InOut)
                && let Some(place) = self.place(value)
            {
                self.facts.write(&place);
            }
        }
    }

    fn builtin(&mut self, builtin: Builtin, base: &'a Expression) {
        let Some(place) = self.place(base) else {
            self.forget_around(base);
            return;
        };
        match builtin {
            Builtin::SetValid => self.facts.validity.retain(|part, _| !is_within(part, &place)),
            Builtin::SetInvalid => {
                self.facts.validity.insert(place, Validity::Invalid);
            }
            Builtin::PushFront | Builtin::PopFront => {
                self.facts.validity.retain(|part, _| !is_within(part, &place));
            }
            Builtin::IsValid
            | Builtin::MinSizeInBits
            | Builtin::MaxSizeInBits
            | Builtin::MinSizeInBytes
            | Builtin::MaxSizeInBytes => {}
        }
    }

    /// Something at an unknown index changed: nothing is known about its neighbours either.
    fn forget_around(&mut self, base: &Expression) {
        let (ExpressionKind::Index { base, .. } | ExpressionKind::Member { base, .. }) = &base.kind else { return };
        match self.place(base) {
            Some(place) => self.facts.validity.retain(|part, _| !is_within(part, &place)),
            None => self.forget_around(base),
        }
    }
}

/// The parts of an expression that are read when it is.
fn parts(expression: &Expression) -> Vec<&Expression> {
    match &expression.kind {
        ExpressionKind::List { elements, .. } => elements.iter().collect(),
        ExpressionKind::Structure { fields, .. } => fields.iter().map(|field| &field.value).collect(),
        ExpressionKind::Unary { operand: only, .. } | ExpressionKind::Cast { operand: only, .. } => vec![only],
        ExpressionKind::Member { base, .. } => vec![base],
        ExpressionKind::Binary { left: first, right: second, .. }
        | ExpressionKind::Index { base: first, index: second } => vec![first, second],
        ExpressionKind::Conditional { condition, accepted, rejected } => vec![condition, accepted, rejected],
        ExpressionKind::Slice { base, .. } => vec![base],
        ExpressionKind::PlusSlice { base, low, .. } => vec![base, low],
        _ => Vec::new(),
    }
}
