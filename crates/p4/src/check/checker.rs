//! The state of a check in progress: the tables being filled, the scopes, and its position in the program.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::architecture::Uses;
use super::infer::Inference;
use super::nodes::{self, Node};
use super::results::{Checked, ExpressionFacts, Reference};
use crate::ast::{DeclarationId, Expression, Name, Program};
use crate::evaluate::Value;
use crate::spelling::similar;
use crate::types::{Nominal, Type};

/// The kind of code that is being checked: it decides what may be called and declared there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    TopLevel,
    /// Local declarations of a parser, before its states.
    ParserLocals,
    ParserState,
    /// Local declarations of a control, before its `apply`.
    ControlLocals,
    ControlApply,
    Action,
    Function,
    /// The body of an abstract method, in an instance.
    Method,
}

/// What surrounds the code being checked.
#[derive(Clone, Debug)]
pub(super) struct Surroundings {
    pub place: Place,
    /// What the function around returns; `Void` where `return;` alone is allowed; nothing where none is.
    pub returns: Option<Type>,
    /// Loops around, inside the same body.
    pub loops: u32,
    /// Inside the arguments of an instantiation or a property: constructors may be called.
    pub makes_objects: bool,
    /// The instance whose abstract method is being defined.
    pub this: Option<DeclarationId>,
    /// The declarations around, outermost first: a call of one of them is a recursion.
    pub inside: Vec<DeclarationId>,
}

pub(super) type Scope = HashMap<Arc<str>, Vec<DeclarationId>>;

pub(super) struct Checker<'a> {
    pub out: Checked<'a>,
    pub diagnostics: Vec<Diagnostic>,
    /// What was reported where: an expression that is typed twice is not reported twice.
    reported: HashSet<(Span, String)>,
    /// Mistakes only if the program is to run, that is, has a `main`: a library may leave more open.
    pub when_run: Vec<Diagnostic>,
    pub scopes: Vec<Scope>,
    pub around: Surroundings,
    pub inference: Inference,
    pub errors: HashMap<Arc<str>, DeclarationId>,
    pub match_kinds: HashMap<Arc<str>, DeclarationId>,
    /// By declaration: whether something refers to it.
    pub used: Vec<bool>,
    /// How many parts a value of a declared structure has.
    pub parts: HashMap<DeclarationId, u64>,
    pub uses: Uses,
    /// Declarations that share their name with others, and those others: overloads.
    pub alternatives: HashMap<DeclarationId, Vec<DeclarationId>>,
    /// Externs announced by `extern E;` and declared in full later: the id of the full declaration.
    pub announced: HashMap<DeclarationId, DeclarationId>,
}

impl<'a> Checker<'a> {
    pub fn new(program: &'a Program) -> Checker<'a> {
        let out = Checked {
            program,
            nodes: nodes::index(program),
            expressions: vec![ExpressionFacts::default(); program.expression_count as usize],
            calls: HashMap::new(),
            instances: HashMap::new(),
            declared: vec![Type::Unknown; program.declaration_count as usize],
            underlying: HashMap::new(),
            constants: HashMap::new(),
            names: HashMap::new(),
            numbers: HashMap::new(),
            main: None,
        };
        let around = Surroundings {
            place: Place::TopLevel,
            returns: None,
            loops: 0,
            makes_objects: false,
            this: None,
            inside: Vec::new(),
        };
        Checker {
            out,
            diagnostics: Vec::new(),
            reported: HashSet::new(),
            when_run: Vec::new(),
            scopes: vec![Scope::new()],
            around,
            inference: Inference::default(),
            errors: HashMap::new(),
            match_kinds: HashMap::new(),
            used: vec![false; program.declaration_count as usize],
            parts: HashMap::new(),
            uses: Uses::default(),
            alternatives: HashMap::new(),
            announced: HashMap::new(),
        }
    }

    /// Reports an error with one label and returns the type of things in error.
    pub fn error(&mut self, kind: &'static str, span: Span, message: impl Into<String>, label: &str) -> Type {
        self.report(Diagnostic::error(message).kind(kind).label(span, label))
    }

    pub fn type_error(&mut self, span: Span, message: impl Into<String>) -> Type {
        self.error("type-error", span, message, "")
    }

    pub fn warn(&mut self, kind: &'static str, span: Span, message: impl Into<String>, label: &str) {
        self.report(Diagnostic::warning(message).kind(kind).label(span, label));
    }

    pub fn report(&mut self, diagnostic: Diagnostic) -> Type {
        if self.reported.insert((diagnostic.span(), diagnostic.message().to_owned())) {
            self.diagnostics.push(diagnostic);
        }
        Type::Unknown
    }

    /// Runs `work` with other surroundings and a scope of its own.
    pub fn inside<R>(&mut self, around: Surroundings, work: impl FnOnce(&mut Self) -> R) -> R {
        let outer = std::mem::replace(&mut self.around, around);
        self.scopes.push(Scope::new());
        let result = work(self);
        self.close_scope();
        self.around = outer;
        result
    }

    /// Runs `work` with a scope of its own.
    pub fn scoped<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        self.scopes.push(Scope::new());
        let result = work(self);
        self.close_scope();
        result
    }

    fn close_scope(&mut self) {
        if let Some(scope) = self.scopes.pop() {
            self.warn_unused(&scope);
        }
    }

    /// The surroundings of the body of `owner`.
    pub fn body_of(&self, owner: DeclarationId, place: Place, returns: Option<Type>) -> Surroundings {
        let mut inside = self.around.inside.clone();
        inside.push(owner);
        Surroundings { place, returns, loops: 0, makes_objects: false, this: self.around.this, inside }
    }

    /// Runs `work` where constructors may be called.
    pub fn making_objects<R>(&mut self, work: impl FnOnce(&mut Self) -> R) -> R {
        let before = std::mem::replace(&mut self.around.makes_objects, true);
        let result = work(self);
        self.around.makes_objects = before;
        result
    }

    /// What a name means, innermost scope first.
    pub fn look_up(&mut self, name: &str, absolute: bool) -> Vec<DeclarationId> {
        let scopes = if absolute { &self.scopes[..1] } else { &self.scopes[..] };
        let Some(found) = scopes.iter().rev().find_map(|scope| scope.get(name)).cloned() else { return Vec::new() };
        for id in &found {
            self.used[id.index()] = true;
        }
        found
    }

    pub fn not_found(&mut self, name: &Name) -> Type {
        let similar = self.similar_name(name.as_str());
        let mut report = Diagnostic::error(format!("{name}: declaration not found"))
            .kind("not-found")
            .label(name.span, "nothing of this name is declared before this place");
        if let Some(similar) = similar {
            report = report.hint(format!("did you mean `{similar}`?"));
        }
        self.report(report)
    }

    fn similar_name(&self, name: &str) -> Option<&str> {
        similar(self.scopes.iter().rev().flat_map(|scope| scope.keys()).map(AsRef::as_ref), name)
    }

    pub fn facts(&mut self, expression: &Expression) -> &mut ExpressionFacts {
        &mut self.out.expressions[expression.id.index()]
    }

    pub fn set_type(&mut self, expression: &Expression, of_type: Type) {
        self.facts(expression).of_type = of_type;
    }

    pub fn set_value(&mut self, expression: &Expression, value: Option<Value>) {
        self.facts(expression).value = value;
    }

    pub fn refer(&mut self, expression: &Expression, reference: Reference) {
        self.facts(expression).reference = reference;
    }

    pub fn value_of(&self, expression: &Expression) -> Option<&Value> {
        self.out.constant(expression)
    }

    pub fn declare_type(&mut self, id: DeclarationId, of_type: Type) {
        self.out.declared[id.index()] = of_type;
    }

    pub fn node(&self, id: DeclarationId) -> Node<'a> {
        self.out.node(id)
    }

    pub fn name_of(&self, id: DeclarationId) -> Arc<str> {
        self.node(id).name().text.clone()
    }

    /// A declared type applied to nothing yet.
    pub fn nominal(&self, id: DeclarationId, arguments: Vec<Type>) -> Nominal {
        Nominal { declaration: id, name: self.name_of(id), arguments: arguments.into() }
    }

    pub fn in_parser(&self) -> bool {
        matches!(self.around.place, Place::ParserState | Place::ParserLocals)
    }
}
