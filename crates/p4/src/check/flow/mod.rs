//! Warnings that follow a program from statement to statement: values read before they are written, fields of headers that are not valid,
//! `out` parameters left unwritten.
//!
//! Controls, functions and parsers are followed one by one, from what their parameters are at the start, and once more wherever another one calls
//! them, from what the arguments are there. Actions are followed where they are called and where a table that has them is applied, since they
//! share the variables of the control around. Where something gets lost (an index not known, a variable too large) nothing is reported: a warning
//! should be worth reading.

mod bodies;
mod calls;
mod expressions;
mod facts;
mod parsers;

use std::collections::BTreeSet;

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::results::Checked;
use super::unused::silences;
use crate::ast::{Annotation, Block, Declaration, DeclarationId, DeclarationKind, Direction, Parameter, ParserBody};
use facts::{Depth, Facts, Layout};

pub(super) fn warnings<'a>(checked: &Checked<'a>) -> Vec<Diagnostic> {
    let mut flow = Flow {
        checked,
        layout: Layout::default(),
        facts: Facts::default(),
        returned: Vec::new(),
        loops: Vec::new(),
        silent: Vec::new(),
        followed: BTreeSet::new(),
        calls: 0,
        muted: false,
        found: Vec::new(),
        warned: BTreeSet::new(),
    };
    for declaration in &checked.program.declarations {
        flow.declaration(declaration);
    }
    flow.found
}

/// Where `break` and `continue` lead to.
struct Loop {
    breaks: Facts,
    continues: Facts,
}

struct Flow<'a, 'c> {
    checked: &'c Checked<'a>,
    layout: Layout,
    facts: Facts,
    /// What is known where the bodies around return, innermost last.
    returned: Vec<Facts>,
    loops: Vec<Loop>,
    /// Annotations around, among which `@noWarn("kind")` silences a kind of warning.
    silent: Vec<&'a [Annotation]>,
    /// The actions that were met on the path.
    followed: BTreeSet<DeclarationId>,
    /// Calls that were followed.
    calls: u32,
    /// This path will be followed again, knowing more.
    muted: bool,
    found: Vec<Diagnostic>,
    warned: BTreeSet<(Span, String)>,
}

impl<'a> Flow<'a, '_> {
    fn declaration(&mut self, declaration: &'a Declaration) {
        match &declaration.kind {
            DeclarationKind::Function(function) => {
                if let Some(body) = &function.body {
                    self.start(declaration, &function.parameters);
                    self.body(declaration, &function.parameters, body);
                }
            }
            DeclarationKind::Action { parameters, body } => {
                self.start(declaration, parameters);
                self.body(declaration, parameters, body);
            }
            DeclarationKind::Control(control) => {
                for local in &control.locals {
                    if let DeclarationKind::Instance(_) = &local.kind {
                        self.declaration(local);
                    }
                }
                let Some(apply) = &control.apply else { return };
                self.start(declaration, &control.parameters);
                control.locals.iter().for_each(|local| self.local(local));
                let locals = self.facts.clone();
                self.body(declaration, &control.parameters, apply);
                self.uncalled_actions(&control.locals, locals);
            }
            DeclarationKind::Parser(parser) => {
                let Some(body) = &parser.body else { return };
                self.parser(declaration, &parser.parameters, body);
            }
            DeclarationKind::Instance(instance) => {
                for part in instance.body.iter().flatten() {
                    self.declaration(part);
                }
            }
            _ => {}
        }
    }

    /// Actions without a call are examined for their own variables; whether the variables around them are written is unknown.
    fn uncalled_actions(&mut self, locals: &'a [Declaration], mut around: Facts) {
        for local in locals {
            if let Some(part) = self.layout.root(local.id) {
                around.write(&self.layout, part);
            }
        }
        for local in locals {
            if let DeclarationKind::Action { parameters, body } = &local.kind
                && !self.followed.contains(&local.id)
            {
                self.facts = around.clone();
                self.parameters(parameters);
                self.body(local, parameters, body);
            }
        }
    }

    fn parser(&mut self, declaration: &'a Declaration, parameters: &'a [Parameter], body: &'a ParserBody) {
        self.start(declaration, parameters);
        body.locals.iter().for_each(|local| self.local(local));
        self.states(&body.states);
        self.check_outputs(declaration, parameters);
    }

    fn start(&mut self, owner: &'a Declaration, parameters: &'a [Parameter]) {
        self.facts = Facts::default();
        self.silent = vec![&owner.attributes.annotations];
        self.parameters(parameters);
    }

    /// Outputs have no value at the start, what comes in has one.
    fn parameters(&mut self, parameters: &'a [Parameter]) {
        for parameter in parameters {
            let is_output = parameter.direction == Direction::Out;
            let depth = if is_output { Depth::Everything } else { Depth::Headers };
            let of_type = self.checked.declared_type(parameter.id).clone();
            let Some(part) = self.layout.declare(self.checked, parameter.id, &of_type, depth) else { continue };
            if is_output {
                self.facts.clear(&self.layout, part);
            } else {
                self.facts.write(&self.layout, part);
            }
        }
    }

    /// A variable: with what is known of its value, or without one.
    fn declare(&mut self, id: DeclarationId) -> Option<u32> {
        let of_type = self.checked.declared_type(id).clone();
        let part = self.layout.declare(self.checked, id, &of_type, Depth::Everything)?;
        self.facts.clear(&self.layout, part);
        Some(part)
    }

    /// Follows a body to its end, wherever it returns.
    fn body(&mut self, owner: &'a Declaration, parameters: &'a [Parameter], body: &'a Block) {
        self.returned.push(Facts::nowhere());
        let loops = std::mem::take(&mut self.loops);
        self.silent.push(&body.annotations);
        self.block(body);
        self.silent.pop();
        self.loops = loops;
        if let Some(returned) = self.returned.pop() {
            self.facts = std::mem::take(&mut self.facts).join(&returned);
        }
        self.check_outputs(owner, parameters);
    }

    /// Outputs have to be written at the end of a body. Headers may stay invalid: that is a value.
    fn check_outputs(&mut self, owner: &'a Declaration, parameters: &'a [Parameter]) {
        if self.facts.dead {
            return;
        }
        for output in parameters.iter().filter(|parameter| parameter.direction == Direction::Out) {
            let Some(part) = self.layout.root(output.id) else { continue };
            if self.facts.unset_within(&self.layout, part).1 > 0 {
                let (name, owner) = (&output.name, &owner.name);
                let message = format!("out parameter '{name}' may be uninitialized when '{owner}' terminates");
                self.warn("uninitialized-out-param", output.name.span, message);
            }
        }
    }

    fn warn(&mut self, kind: &'static str, span: Span, message: String) {
        if self.muted || self.silent.iter().any(|annotations| silences(annotations, kind)) {
            return;
        }
        if self.warned.insert((span, message.clone())) {
            self.found.push(Diagnostic::warning(message).kind(kind).label(span, ""));
        }
    }
}
