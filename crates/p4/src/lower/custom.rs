//! Externs of the user's own: their objects, and calls of the C functions that are their methods.
//!
//! A method `m` of an extern `E` is the C function `E_m`; where several methods have the name, the number of parameters is added: `E_m_2`. Values
//! with parts are passed part by part. `@payload` on a method, a function or an extern lets it see what is behind the parsed headers.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;
use hlir::{Argument as Passing, Call as Op, Extern, ExternId, ExternObject, Notes, Place};

use super::call::{Body, Passed, Room};
use super::objects::ExternInstance;
use super::scope::Binding as Bound;
use super::storage::Storage;
use super::value::{Target, Value};
use super::{Lowered, Lowering, arithmetic};
use crate::ast::{Attributes, DeclarationId, DeclarationKind, Direction};
use crate::check::{Call, Callee, Node, Source};
use crate::types::Type;

impl<'a> Lowering<'a> {
    /// A call of a C function: scalars in, places out; what has parts is passed part by part.
    pub fn custom_call(
        &mut self,
        span: Span,
        instance: Option<&ExternInstance>,
        call: &Call,
        passed: Vec<Passed>,
    ) -> Lowered<Value> {
        let (object, function) = match (&call.callee, instance) {
            (Callee::Method { method, .. }, Some(instance)) => {
                (self.custom_object(span, instance)?, self.method_in_c(instance, *method))
            }
            (Callee::Function(function), _) => self.custom_function(*function),
            _ => return Err(self.internal(span, "this call of an extern")),
        };
        let mut arguments = if self.sees_payload(call) { vec![Passing::Payload] } else { Vec::new() };
        let name = self.local_name(&function);
        let passing = self.bind(call, passed, &Room::called(&name, Body::Foreign));
        for (binding, (_, bound)) in call.bindings.iter().zip(&passing.bindings) {
            match bound {
                Bound::Value(value) => self.custom_input(value, &mut arguments),
                Bound::Target(Target::Storage(storage)) if binding.source != Source::Omitted => {
                    self.custom_place(storage, binding.direction, &mut arguments);
                }
                Bound::Target(_) => {}
            }
        }
        let result = self.substituted(&call.result);
        let storage = match &result {
            Type::Void => Storage::Nothing,
            result => {
                let name = self.local_name(&format!("result{}", self.line_of(span)));
                self.allocate(result, &name, &Notes::default())
            }
        };
        let mut places = self.scalar_places(&storage);
        let into = if places.len() == 1 { places.pop() } else { None };
        for header in storage.headers() {
            self.set_valid(header);
        }
        arguments.extend(places.into_iter().map(Passing::Out));
        self.call(Op::Custom { object, function, arguments, into });
        self.copy_out(&passing.copies_out);
        Ok(self.load(&storage))
    }

    /// The places of an `out` or `inout` argument.
    fn custom_place(&mut self, storage: &Storage, direction: Direction, into: &mut Vec<Passing>) {
        for header in storage.headers() {
            if direction == Direction::Out {
                self.set_valid(header);
            }
        }
        let pass = if direction == Direction::Out { Passing::Out } else { Passing::InOut };
        into.extend(self.scalar_places(storage).into_iter().map(pass));
    }

    /// The object of an instance, made when it is first called.
    fn custom_object(&mut self, span: Span, instance: &ExternInstance) -> Lowered<ExternId> {
        let key = format!("object {}", instance.name);
        if let Some(known) = self.custom.get(&key) {
            return Ok(*known);
        }
        let mut arguments = Vec::new();
        for (name, value) in &instance.arguments {
            let mut parts = Vec::new();
            self.custom_input(value, &mut parts);
            for part in parts {
                let constant = if let Passing::In(part) = part { constant(&part) } else { None };
                let not_constant = || {
                    Diagnostic::error(format!("`{name}` of `{}` is no constant", instance.name))
                        .kind("invalid")
                        .label(span, "called here")
                };
                arguments.push(constant.ok_or_else(not_constant)?);
            }
        }
        let object = Some(ExternObject { of_type: instance.of_type.name.to_string(), arguments });
        let name = self.names.object(&instance.name);
        let mut notes = instance.notes.clone();
        notes.origin = notes.origin.or_else(|| self.origin(span));
        let id = self.program.externs.alloc(Extern { name, object, notes });
        self.custom.insert(key, id);
        Ok(id)
    }

    fn custom_function(&mut self, function: DeclarationId) -> (ExternId, String) {
        let name = self.checked.node(function).name().to_string();
        let same = self.checked.program.declarations.iter().filter(|other| other.name.as_str() == name).count();
        let name = self.distinguished(name, function, same);
        let key = format!("function {name}");
        if let Some(known) = self.custom.get(&key) {
            return (*known, name);
        }
        let notes = self.notes_of(function);
        let unique = self.names.object(&name);
        let id = self.program.externs.alloc(Extern { name: unique, object: None, notes });
        self.custom.insert(key, id);
        (id, name)
    }

    fn method_in_c(&self, instance: &ExternInstance, method: DeclarationId) -> String {
        let name = format!("{}_{}", instance.of_type.name, self.checked.node(method).name());
        let methods = match self.checked.node(method).owner().map(|owner| self.checked.node(owner)) {
            Some(Node::Declaration(declared)) => match &declared.kind {
                DeclarationKind::Extern(declared) => declared.methods.as_slice(),
                _ => &[],
            },
            _ => &[],
        };
        let same = methods.iter().filter(|other| other.name.text == self.checked.node(method).name().text);
        self.distinguished(name, method, same.count())
    }

    /// The name, with the number of parameters where several have it.
    fn distinguished(&self, name: String, id: DeclarationId, count: usize) -> String {
        if count < 2 { name } else { format!("{name}_{}", self.checked.parameters(id).len()) }
    }

    /// Whether what is called, or the extern that it belongs to, has `@payload`.
    fn sees_payload(&self, call: &Call) -> bool {
        let called = match &call.callee {
            Callee::Method { method, .. } => *method,
            Callee::Function(function) => *function,
            _ => return false,
        };
        let has_payload =
            |attributes: &Attributes| attributes.annotations.iter().any(|it| it.name.as_str() == "payload");
        let owner = self.checked.node(called).owner();
        owner.into_iter().chain([called]).any(|id| self.attributes_of(id).is_some_and(has_payload))
    }

    fn custom_input(&mut self, value: &Value, into: &mut Vec<Passing>) {
        match value {
            Value::Scalar(scalar) => into.push(Passing::In(scalar.clone())),
            Value::Header { id, members } => {
                let made = self.unfold(*id, members);
                self.custom_input(&made, into);
            }
            Value::Made { fields: parts, .. }
            | Value::Struct(parts)
            | Value::Union(parts)
            | Value::Stack { elements: parts, .. } => parts.iter().for_each(|part| self.custom_input(part, into)),
            Value::Integer(number) => {
                let width = u32::try_from(number.bits() + 1).unwrap_or(u32::MAX).max(64);
                into.push(Passing::In(hlir::Expression::constant(arithmetic::bits_of(number, width), width)));
            }
            Value::Void | Value::Text(_) | Value::Varbit(_) | Value::Object(_) | Value::DontCare => {}
        }
    }

    /// The places of all scalars that are not varbit.
    fn scalar_places(&mut self, storage: &Storage) -> Vec<Place> {
        let leaves = storage.leaves();
        let places = leaves.into_iter().map(|leaf| self.place(leaf)).collect::<Vec<Place>>();
        places
            .into_iter()
            .filter(|place| match place {
                Place::Field(field) => !self.program.field(*field).varbit,
                Place::Variable(_) => true,
            })
            .collect()
    }
}

/// The value and width of a constant.
fn constant(value: &hlir::Expression) -> Option<(num_bigint::BigUint, u32)> {
    match value {
        hlir::Expression::Bool(value) => Some((u32::from(*value).into(), 1)),
        value => arithmetic::constant_of(value).map(|(value, width)| (value.clone(), width)),
    }
}
