//! Calls (6.8): arguments evaluated and l-values saved from left to right as they are written, copied in, and copied out in the same order when
//! the call ends, however it ends.

use p4::ast::{self, Declaration, DeclarationKind, Direction, Expression, ExpressionKind, Parameter};

use super::convert::convert;
use super::environment::{Binding, Env, Instance, bind};
use super::machine::Machine;
use super::place::Place;
use super::statement::Flow;
use super::types::bind_types;
use super::value::{Type, Value};
use super::{Run, Stop, unsupported};
use std::rc::Rc;

/// What is passed for a parameter.
pub enum Passed<'a> {
    Value(Value),
    /// An `out` argument.
    Out(Place),
    /// An `inout` argument and its value when it was evaluated.
    InOut(Place, Value),
    /// An object, or the packet.
    Object(Binding<'a>),
    /// `_` for an `out` parameter.
    Nothing,
}

pub type Arguments<'a> = Vec<(&'a Parameter, Passed<'a>)>;

impl<'a> Machine<'a> {
    pub(super) fn call(
        &mut self,
        whole: &'a Expression,
        callee: &'a Expression,
        types: &'a [ast::Type],
        arguments: &'a [ast::Argument],
        env: &Env<'a>,
    ) -> Run<Value> {
        self.step()?;
        match &callee.kind {
            ExpressionKind::Member { base, member } => self.method(base, member.as_str(), types, arguments, env),
            ExpressionKind::Path(path) => match self.lookup(path, env)? {
                Binding::Code(overloads, inner) => {
                    let declaration = choose(&overloads, arguments);
                    self.call_code(declaration, &inner, types, arguments, env)
                }
                _ => unsupported(format!("call of {callee}")),
            },
            _ => unsupported(format!("call {whole}")),
        }
    }

    pub(super) fn call_code(
        &mut self,
        declaration: &'a Declaration,
        inner: &Env<'a>,
        types: &'a [ast::Type],
        arguments: &'a [ast::Argument],
        env: &Env<'a>,
    ) -> Run<Value> {
        match &declaration.kind {
            DeclarationKind::Function(function) => {
                let Some(body) = &function.body else {
                    return self.extern_function(declaration.name.as_str(), function, types, arguments, env);
                };
                let passed = self.arguments(&function.parameters, arguments, env)?;
                let given = self.resolve_all(types, env)?;
                let mut inner = bind_types(inner, &function.type_parameters, &given);
                if given.is_empty() {
                    inner = infer(&inner, function, &passed);
                }
                self.invoke(passed, &inner, |machine, env| {
                    let returned = machine.returned(body, env)?;
                    let of = machine.resolve(&function.return_type, &inner)?;
                    Ok(convert(returned, &of))
                })
            }
            DeclarationKind::Action { parameters, body } => {
                let passed = self.arguments(parameters, arguments, env)?;
                self.invoke(passed, inner, |machine, env| machine.returned(body, env))
            }
            _ => unsupported(format!("call of {}", declaration.name)),
        }
    }

    pub(super) fn returned(&mut self, body: &'a ast::Block, env: &Env<'a>) -> Run<Value> {
        match self.block(body, env)? {
            Flow::Return(value) => Ok(value),
            Flow::Next | Flow::Break | Flow::Continue => Ok(Value::Void),
        }
    }

    /// Evaluates arguments, from left to right as they are written; then the defaults of parameters that have none.
    pub(super) fn arguments(
        &mut self,
        parameters: &'a [Parameter],
        arguments: &'a [ast::Argument],
        env: &Env<'a>,
    ) -> Run<Arguments<'a>> {
        let mut passed: Arguments<'a> = Vec::new();
        for (index, argument) in arguments.iter().enumerate() {
            let parameter = match &argument.name {
                Some(name) => parameters.iter().find(|parameter| parameter.name.as_str() == name.as_str()),
                None => parameters.get(index),
            };
            let Some(parameter) = parameter else { return unsupported("an argument without a parameter") };
            passed.push((parameter, self.argument(parameter, &argument.value, env)?));
        }
        for parameter in parameters {
            if passed.iter().any(|(known, _)| known.id == parameter.id) {
                continue;
            }
            if let Some(value) = &parameter.default {
                let value = self.evaluate(value, &None)?;
                passed.push((parameter, Passed::Value(value)));
            }
        }
        Ok(passed)
    }

    fn argument(&mut self, parameter: &Parameter, value: &'a Expression, env: &Env<'a>) -> Run<Passed<'a>> {
        if let ExpressionKind::Path(path) = &value.kind
            && let object @ (Binding::PacketIn | Binding::PacketOut | Binding::Instance(_)) = self.lookup(path, env)?
        {
            return Ok(Passed::Object(object));
        }
        match parameter.direction {
            Direction::None | Direction::In => Ok(Passed::Value(self.evaluate(value, env)?)),
            Direction::Out if matches!(value.kind, ExpressionKind::DontCare) => Ok(Passed::Nothing),
            Direction::Out => Ok(Passed::Out(self.place(value, env)?)),
            Direction::InOut => {
                let place = self.place(value, env)?;
                let before = self.read(&place);
                Ok(Passed::InOut(place, before))
            }
        }
    }

    /// Runs a body on copies of the arguments; `inner` is what its declaration sees.
    pub(super) fn invoke<T>(
        &mut self,
        arguments: Arguments<'a>,
        inner: &Env<'a>,
        body: impl FnOnce(&mut Machine<'a>, &Env<'a>) -> Run<T>,
    ) -> Run<T> {
        let mark = self.slots.len();
        let mut env = inner.clone();
        let mut copies = Vec::new();
        for (parameter, passed) in arguments {
            let binding = match passed {
                Passed::Object(object) => object,
                Passed::Value(value) => {
                    let of = self.resolve(&parameter.of_type, inner)?;
                    Binding::Variable(self.new_slot(convert(value, &of)))
                }
                // 6.8: an `out` parameter begins as a variable without a value: headers invalid, the rest zero.
                Passed::Out(_) | Passed::Nothing => {
                    let of = self.resolve(&parameter.of_type, inner)?;
                    let slot = self.new_slot(Value::initial(&of));
                    if let Passed::Out(place) = passed {
                        copies.push((place, slot));
                    }
                    Binding::Variable(slot)
                }
                Passed::InOut(place, before) => {
                    let slot = self.new_slot(before);
                    copies.push((place, slot));
                    Binding::Variable(slot)
                }
            };
            env = bind(&env, parameter.name.as_str(), binding);
        }
        let result = body(self, &env);
        if !matches!(result, Err(Stop::Unsupported(_))) {
            for (place, slot) in copies {
                let value = self.slots[slot].clone();
                self.write(&place, value);
            }
        }
        self.slots.truncate(mark);
        result
    }

    /// `instance.apply(...)` of a control (14) or parser (13.10).
    pub(super) fn apply_instance(
        &mut self,
        instance: &Rc<Instance<'a>>,
        arguments: &'a [ast::Argument],
        env: &Env<'a>,
    ) -> Run<Value> {
        let parameters = match &instance.declaration.kind {
            DeclarationKind::Control(control) => &control.parameters,
            DeclarationKind::Parser(parser) => &parser.parameters,
            _ => return unsupported(format!("apply of {}", instance.path)),
        };
        let passed = self.arguments(parameters, arguments, env)?;
        self.run_instance(instance, passed)
    }

    pub(super) fn run_instance(&mut self, instance: &Rc<Instance<'a>>, arguments: Arguments<'a>) -> Run<Value> {
        let inner = instance.env.clone();
        self.invoke(arguments, &inner, |machine, env| {
            machine.running.push(instance.clone());
            machine.clear_checksums(instance);
            let result = match &instance.declaration.kind {
                DeclarationKind::Control(control) => machine.run_control(control, env),
                DeclarationKind::Parser(parser) => machine.run_parser(parser, env),
                _ => unsupported(format!("apply of {}", instance.path)),
            };
            machine.running.pop();
            result.map(|()| Value::Void)
        })
    }

    fn run_control(&mut self, control: &'a ast::Control, env: &Env<'a>) -> Run<()> {
        let env = self.locals(&control.locals, env)?;
        match &control.apply {
            Some(body) => self.block(body, &env).map(|_| ()),
            None => unsupported("a control without a body"),
        }
    }
}

/// The overload that the arguments fit by number and name (6.8.3).
fn choose<'a>(overloads: &[&'a Declaration], arguments: &[ast::Argument]) -> &'a Declaration {
    let fits = |declaration: &&Declaration| {
        let parameters = match &declaration.kind {
            DeclarationKind::Function(function) => &function.parameters,
            DeclarationKind::Action { parameters, .. } => parameters,
            _ => return false,
        };
        let is_given = |parameter: &Parameter, index: usize| {
            let named = |argument: &ast::Argument| {
                argument.name.as_ref().is_some_and(|name| name.as_str() == parameter.name.as_str())
            };
            arguments.iter().any(named) || arguments.get(index).is_some_and(|argument| argument.name.is_none())
        };
        arguments.len() <= parameters.len()
            && parameters.iter().enumerate().all(|(index, parameter)| {
                parameter.default.is_some() || parameter.attributes.has("optional") || is_given(parameter, index)
            })
    };
    overloads.iter().copied().find(|declaration| fits(declaration)).unwrap_or(overloads[0])
}

/// Type arguments that are not written: those of the values that are passed (8.20).
fn infer<'a>(env: &Env<'a>, function: &'a ast::Function, passed: &Arguments<'a>) -> Env<'a> {
    let mut env = env.clone();
    for parameter in &function.type_parameters {
        let found = passed.iter().find_map(|(declared, passed)| {
            let is_it =
                matches!(&declared.of_type.kind, ast::TypeKind::Named(path) if path.name.text == parameter.name.text);
            match passed {
                Passed::Value(value) | Passed::InOut(_, value) if is_it => Some(value.type_of()),
                _ => None,
            }
        });
        env = bind(&env, parameter.name.as_str(), Binding::Type(found.unwrap_or(Type::Any)));
    }
    env
}
