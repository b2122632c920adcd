//! Calls: bodies are followed where they are called, knowing what is known of the arguments; of those that are elsewhere, what they write is known.

use super::Flow;
use super::facts::Depth;
use crate::ast::{
    Argument, Block, Declaration, DeclarationId, DeclarationKind, Direction, Expression, ExpressionKind, Parameter,
    State,
};
use crate::check::results::{Call, Callee};
use crate::types::Type;

/// Calls of functions, controls and parsers that are followed in a program; behind that, only what a call may write is looked at.
const MOST_CALLS: u32 = 4096;

/// What is called.
struct Body<'a> {
    parameters: &'a [Parameter],
    locals: &'a [Declaration],
    code: Code<'a>,
}

enum Code<'a> {
    Block(&'a Block),
    States(&'a [State]),
}

impl<'a> Flow<'a, '_> {
    pub fn call(&mut self, expression: &'a Expression, callee: &'a Expression, arguments: &'a [Argument]) {
        let Some(call) = self.checked.call(expression).cloned() else { return };
        match (&call.callee, &callee.kind) {
            (Callee::Builtin(builtin), ExpressionKind::Member { base, .. }) => self.builtin(*builtin, base),
            (Callee::ApplyTable(_), _) => {
                self.runs(expression);
            }
            (Callee::Action(action), _) => self.action(*action, &call, arguments),
            _ => match self.callee(&call.callee) {
                Some((declaration, body)) if self.calls < MOST_CALLS => {
                    self.calls += 1;
                    self.run(declaration, body, &call, arguments);
                }
                _ => self.call_unseen(&call, arguments),
            },
        }
    }

    /// A call of something that has no body here: what it may write is written.
    fn call_unseen(&mut self, call: &Call, arguments: &'a [Argument]) {
        let given = self.given(call, arguments);
        self.check_order(&given);
        self.read_given(&given);
        for (_, direction, value) in given {
            if matches!(direction, Direction::Out | Direction::InOut) {
                self.write(value);
            }
        }
    }

    /// Outputs are not read, but a field that is written in a header that is not valid is lost.
    fn read_given(&mut self, given: &[(DeclarationId, Direction, &'a Expression)]) {
        for (_, direction, value) in given {
            match direction {
                Direction::Out => self.check_valid(value),
                Direction::In | Direction::InOut | Direction::None => self.read(value),
            }
        }
    }

    /// The function, control or parser that a call runs, if its body is known.
    fn callee(&self, callee: &Callee) -> Option<(&'a Declaration, Body<'a>)> {
        let id = match callee {
            Callee::Function(function) => *function,
            Callee::Apply { object } | Callee::ApplyDirect { object } => match object {
                Type::Control(nominal) | Type::Parser(nominal) => nominal.declaration,
                _ => return None,
            },
            Callee::Action(_)
            | Callee::Method { .. }
            | Callee::Constructor { .. }
            | Callee::ApplyTable(_)
            | Callee::Builtin(_) => return None,
        };
        let declaration = self.checked.node(id).declaration()?;
        let (parameters, locals, code): (&'a [Parameter], &'a [Declaration], Code<'a>) = match &declaration.kind {
            DeclarationKind::Function(function) => (&function.parameters, &[], Code::Block(function.body.as_ref()?)),
            DeclarationKind::Control(control) => {
                (&control.parameters, &control.locals, Code::Block(control.apply.as_ref()?))
            }
            DeclarationKind::Parser(parser) => {
                let body = parser.body.as_ref()?;
                (&parser.parameters, &body.locals, Code::States(&body.states))
            }
            _ => return None,
        };
        Some((declaration, Body { parameters, locals, code }))
    }

    /// Warns if what a call writes for one parameter is a part of what it writes for another: the last copy stays.
    fn check_order(&mut self, given: &[(DeclarationId, Direction, &'a Expression)]) {
        let is_written = |direction: &Direction| matches!(direction, Direction::Out | Direction::InOut);
        for (at, (_, _, value)) in given.iter().enumerate().filter(|(_, (_, direction, _))| is_written(direction)) {
            for (_, direction, other) in &given[at + 1..] {
                let mut written = Vec::new();
                if is_written(direction) {
                    written.push(*other);
                }
                self.written_in(other, &mut written);
                if let Some(other) = written.into_iter().find(|other| overlap(&value.to_string(), &other.to_string())) {
                    let message = format!("{other}: 'out' argument has fields in common with {value}");
                    self.warn("ordering", other.span, message);
                }
            }
        }
    }

    /// What calls in an argument write.
    fn written_in(&self, expression: &'a Expression, written: &mut Vec<&'a Expression>) {
        let ExpressionKind::Call { arguments, .. } = &expression.kind else { return };
        let Some(call) = self.checked.call(expression) else { return };
        for (_, direction, value) in self.given(call, arguments) {
            if matches!(direction, Direction::Out | Direction::InOut) {
                written.push(value);
            }
            self.written_in(value, written);
        }
    }

    /// Parameters that an argument is given for, with the direction and the argument.
    fn given(&self, call: &Call, arguments: &'a [Argument]) -> Vec<(DeclarationId, Direction, &'a Expression)> {
        let argument_of = |binding: &crate::check::Binding| {
            let value = self.checked.argument(binding, arguments)?;
            Some((binding.parameter, binding.direction, value))
        };
        call.bindings.iter().filter_map(argument_of).collect()
    }

    /// An action runs here, on the variables of the control around it.
    pub fn action(&mut self, id: DeclarationId, call: &Call, arguments: &'a [Argument]) {
        let Some(declaration) = self.checked.node(id).declaration() else { return };
        let DeclarationKind::Action { parameters, body } = &declaration.kind else { return };
        self.followed.insert(id);
        self.run(declaration, Body { parameters, locals: &[], code: Code::Block(body) }, call, arguments);
    }

    /// Runs a body on what is known of its arguments, and knows of them afterwards what the body has made of them.
    fn run(&mut self, declaration: &'a Declaration, body: Body<'a>, call: &Call, arguments: &'a [Argument]) {
        let given = self.given(call, arguments);
        self.check_order(&given);
        self.read_given(&given);
        for parameter in body.parameters {
            let of_type = self.checked.declared_type(parameter.id).clone();
            let Some(own) = self.layout.declare(self.checked, parameter.id, &of_type, Depth::Everything) else {
                continue;
            };
            let argument = given.iter().find(|(to, _, _)| *to == parameter.id).map(|(_, _, value)| *value);
            match argument {
                _ if parameter.direction == Direction::Out => self.facts.clear(&self.layout, own),
                Some(value) => self.take_over(own, value),
                None => self.facts.write(&self.layout, own),
            }
        }
        self.silent.push(&declaration.attributes.annotations);
        body.locals.iter().for_each(|local| self.local(local));
        match body.code {
            Code::Block(block) => self.body(declaration, body.parameters, block),
            Code::States(states) => {
                self.states(states);
                self.check_outputs(declaration, body.parameters);
            }
        }
        self.silent.pop();
        for (parameter, direction, value) in given {
            if !matches!(direction, Direction::Out | Direction::InOut) {
                continue;
            }
            match (self.layout.root(parameter), self.part(value)) {
                (Some(own), Some(to)) => {
                    let from = self.facts.clone();
                    self.facts.copy(&self.layout, to, &from, own);
                    if matches!(declaration.kind, DeclarationKind::Control(_) | DeclarationKind::Parser(_)) {
                        self.facts.trust(&self.layout, to);
                    }
                }
                _ => self.write(value),
            }
        }
    }
}

/// Whether one of two places, as they are written, is the other or a part of it.
fn overlap(one: &str, other: &str) -> bool {
    let is_within = |part: &str, whole: &str| {
        part.strip_prefix(whole).is_some_and(|rest| rest.is_empty() || rest.starts_with(['.', '[']))
    };
    is_within(one, other) || is_within(other, one)
}
