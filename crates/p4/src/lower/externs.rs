//! Calls of what has no body: the language's own methods, core.p4's functions, and those of the architecture.

use hlir::{Binary, Expression as Hlir, FieldRef, HashInput, Statement};

use super::call::{Body, Room};
use super::objects::{ExternInstance, Object, ObjectId};
use super::storage::{Leaf, Storage};
use super::value::{Target, Value};
use super::{Lowered, Lowering, arithmetic, walk};
use crate::ast::{Argument, Declaration, DeclarationKind, Expression, ExpressionKind, Instance};
use crate::check::{Builtin, Call, Callee};

impl<'a> Lowering<'a> {
    pub fn builtin_call(
        &mut self,
        expression: &'a Expression,
        builtin: Builtin,
        callee: &'a Expression,
        arguments: &'a [Argument],
    ) -> Lowered<Value> {
        let crate::ast::ExpressionKind::Member { base, .. } = &callee.kind else {
            return Err(self.internal(callee.span, "this callee"));
        };
        match builtin {
            Builtin::IsValid => {
                let value = self.expression(base)?;
                Ok(Value::Scalar(valid(&value)))
            }
            Builtin::SetValid | Builtin::SetInvalid => {
                let target = self.target(base)?;
                self.each_choice(&target, &mut |lowering, chosen| {
                    let Target::Storage(Storage::Header { id, .. }) = chosen else { return };
                    if builtin == Builtin::SetValid {
                        lowering.set_valid(*id);
                    } else {
                        lowering.set_invalid(*id);
                    }
                });
                Ok(Value::Void)
            }
            Builtin::PushFront | Builtin::PopFront => {
                let target = self.target(base)?;
                let count = match arguments {
                    [count] => self.known_number(&count.value)?,
                    _ => 0,
                };
                self.each_choice(&target, &mut |lowering, chosen| {
                    let Target::Storage(Storage::Stack { elements, next }) = chosen else { return };
                    let next = Storage::Scalar { leaf: Leaf::Slot(*next), of_type: hlir::Type::Bits(32) };
                    if builtin == Builtin::PushFront {
                        lowering.push_front(elements, &next, count as usize);
                    } else {
                        lowering.pop_front(elements, &next, count as usize);
                    }
                });
                Ok(Value::Void)
            }
            Builtin::MinSizeInBits | Builtin::MaxSizeInBits | Builtin::MinSizeInBytes | Builtin::MaxSizeInBytes => {
                let of_type = match self.used_type(base) {
                    crate::types::Type::Name(named) => (*named).clone(),
                    other => other,
                };
                let of_type = self.substituted(&of_type);
                let size = self.checked.size_of(&of_type).unwrap_or_default();
                let number = match builtin {
                    Builtin::MinSizeInBits => size.smallest,
                    Builtin::MinSizeInBytes => size.smallest.div_ceil(8),
                    Builtin::MaxSizeInBytes => size.largest.div_ceil(8),
                    _ => size.largest,
                };
                let result = self.substituted(self.checked.type_of(expression));
                Ok(self.number(&number.into(), &result))
            }
        }
    }

    /// Shifts a stack towards its end; what comes in is invalid.
    fn push_front(&mut self, elements: &[Storage], next: &Storage, count: usize) {
        let size = elements.len();
        let count = count.min(size);
        for at in (count..size).rev() {
            let value = self.load(&elements[at - count]);
            self.assign(&elements[at], value);
        }
        for element in &elements[..count] {
            self.reset_headers(element);
        }
        let before = self.read(next);
        let limit = Hlir::constant((size - count) as u32, 32);
        let room = arithmetic::binary(Binary::Less, before.clone(), limit);
        let more = arithmetic::binary(Binary::Add, before, Hlir::constant(count as u32, 32));
        self.assign(next, Value::Scalar(arithmetic::choose(room, more, Hlir::constant(size as u32, 32))));
    }

    fn pop_front(&mut self, elements: &[Storage], next: &Storage, count: usize) {
        let size = elements.len();
        let count = count.min(size);
        for at in 0..size - count {
            let value = self.load(&elements[at + count]);
            self.assign(&elements[at], value);
        }
        for element in &elements[size - count..] {
            self.reset_headers(element);
        }
        let before = self.read(next);
        let count = Hlir::constant(count as u32, 32);
        let some = arithmetic::binary(Binary::Less, count.clone(), before.clone());
        let fewer = arithmetic::binary(Binary::Subtract, before, count);
        self.assign(next, Value::Scalar(arithmetic::choose(some, fewer, Hlir::constant(0u32, 32))));
    }

    pub fn extern_function(
        &mut self,
        expression: &'a Expression,
        call: &Call,
        arguments: &'a [Argument],
        name: &str,
    ) -> Lowered<Value> {
        match name {
            "verify" => {
                let mut values = self.expressions(arguments.iter().map(|argument| &argument.value))?.into_iter();
                let (Some(Value::Scalar(condition)), Some(Value::Scalar(error))) = (values.next(), values.next())
                else {
                    return Err(self.internal(expression.span, "this `verify`"));
                };
                if arithmetic::boolean_of(&condition) != Some(true) {
                    self.emit(Statement::Verify { condition, error });
                }
                Ok(Value::Void)
            }
            "static_assert" => Ok(Value::boolean(true)),
            _ => self.architecture_function(expression, call, arguments, name),
        }
    }

    pub fn method_call(
        &mut self,
        expression: &'a Expression,
        call: &Call,
        callee: &'a Expression,
        arguments: &'a [Argument],
    ) -> Lowered<Value> {
        let Callee::Method { method, .. } = &call.callee else {
            return Err(self.internal(callee.span, "a method"));
        };
        let name = self.checked.node(*method).name().to_string();
        if let Some((objects, index)) = self.chosen_objects(expression)? {
            return self.method_of_one(expression, (objects, index), &name, call, arguments);
        }
        let object = self.receiver_object(expression)?;
        match self.object(object) {
            Object::Packet => self.packet_call(expression, &name, call, arguments),
            Object::Extern(instance) => {
                if let Some(result) = self.abstract_method(&instance, &name, call, arguments)? {
                    return Ok(result);
                }
                self.architecture_method(expression, &instance, &name, call, arguments)
            }
            Object::Block(_) | Object::Table(_) | Object::Package(_) | Object::ValueSet(_) => {
                Err(self.unsupported(expression.span, format!("the method `{name}` here is")))
            }
        }
    }

    /// The elements of an array of externs, where the one meant is known only at run time.
    fn chosen_objects(&mut self, call: &'a Expression) -> Lowered<Option<(Vec<ObjectId>, Hlir)>> {
        let Some(ExpressionKind::Index { base, index }) = walk::receiver(call).map(|receiver| &receiver.kind) else {
            return Ok(None);
        };
        let Value::Struct(elements) = self.expression(base)? else { return Ok(None) };
        let index = self.scalar(index)?;
        if arithmetic::constant_of(&index).is_some() {
            return Ok(None);
        }
        let objects = elements.iter().filter_map(|element| match element {
            Value::Object(object) => Some(*object),
            _ => None,
        });
        Ok(Some((objects.collect(), index)))
    }

    /// A method of one of several objects: arguments are evaluated once, and nothing happens beyond the end of the array.
    fn method_of_one(
        &mut self,
        expression: &'a Expression,
        (objects, index): (Vec<ObjectId>, Hlir),
        name: &str,
        call: &Call,
        arguments: &'a [Argument],
    ) -> Lowered<Value> {
        let mark = self.mark();
        let mut index = Value::Scalar(index);
        let passed = self.pass(call, arguments)?;
        self.settle(&mut index, mark);
        // Saved: an `out` argument may be what it reads, and objects that follow would compare with that.
        let Value::Scalar(index) = self.save(index, "index") else { return Ok(Value::Void) };
        let width = self.width(&index);
        let call = self.specialised(call);
        let result = self.substituted(&call.result);
        let hint = self.local_name("result");
        let storage = self.allocate(&result, &hint, &hlir::Notes::default());
        let mut failure = None;
        for (at, object) in objects.into_iter().enumerate() {
            let Object::Extern(instance) = self.object(object) else { continue };
            let passed = passed.clone();
            let condition = arithmetic::is_number(index.clone(), at as u64, width);
            self.branch(
                condition,
                "",
                |lowering| match lowering.method_with(expression, &instance, name, &call, passed) {
                    Ok(value) => lowering.assign(&storage, value),
                    Err(diagnostic) => failure = Some(diagnostic),
                },
                |_| {},
            );
        }
        match failure {
            Some(diagnostic) => Err(diagnostic),
            None => Ok(self.load(&storage)),
        }
    }

    /// A method that the instance itself implements.
    fn abstract_method(
        &mut self,
        instance: &ExternInstance,
        name: &str,
        call: &Call,
        arguments: &'a [Argument],
    ) -> Lowered<Option<Value>> {
        let Some(declaration) = instance.declaration else { return Ok(None) };
        let Some(Declaration { kind: DeclarationKind::Instance(Instance { body: Some(body), .. }), .. }) =
            self.checked.node(declaration).declaration()
        else {
            return Ok(None);
        };
        let found = body.iter().find_map(|member| match &member.kind {
            DeclarationKind::Function(function) if member.name.as_str() == name => Some((member, function)),
            _ => None,
        });
        let Some((_, function)) = found else { return Ok(None) };
        let Some(body) = &function.body else { return Ok(None) };
        let passed = self.pass(call, arguments)?;
        let local = self.local_name(name);
        let mut passing = self.bind(call, passed, &Room::called(&local, Body::Unknown));
        // The call names the parameters of the abstract method, the body those of its implementation.
        for ((id, _), parameter) in passing.bindings.iter_mut().zip(&function.parameters) {
            *id = parameter.id;
        }
        let types = call.type_arguments.map(|of_type| self.substituted(of_type));
        let scope = super::scope::Scope::inside(&instance.scope, types);
        let result = self.substituted(&call.result);
        self.inline(name, scope, passing, body, &result).map(Some)
    }

    /// What an extern is asked to hash: the bits of a value, and fields that count only while their header is valid.
    pub fn hash_inputs(&mut self, value: &Value, into: &mut Vec<HashInput>) {
        match value {
            Value::Scalar(_) => match self.as_bits(value.clone()) {
                Some(Hlir::Field(field)) => into.push(HashInput::Field(field)),
                Some(bits) => into.push(HashInput::Bits(bits)),
                None => {}
            },
            Value::Varbit(field) => into.push(HashInput::Field(*field)),
            Value::Header { id, .. } => {
                for field in 0..self.program.headers[*id].fields.len() as u32 {
                    into.push(HashInput::Field(FieldRef { header: *id, field }));
                }
            }
            Value::Struct(parts) | Value::Union(parts) | Value::Stack { elements: parts, .. } => {
                parts.iter().for_each(|part| self.hash_inputs(part, into));
            }
            Value::Made { fields, .. } => fields.iter().for_each(|part| self.hash_inputs(part, into)),
            Value::Integer(number) => {
                let width = u32::try_from(number.bits()).unwrap_or(32).max(1);
                into.push(HashInput::Bits(Hlir::constant(arithmetic::bits_of(number, width), width)));
            }
            Value::Void | Value::Text(_) | Value::Object(_) | Value::DontCare => {}
        }
    }

    /// Runs `act` with a place of this width that `target` is, or that is copied to it afterwards.
    pub fn result_place(&mut self, target: &Target, of_type: hlir::Type, act: impl FnOnce(&mut Self, hlir::Place)) {
        if let Target::Storage(Storage::Scalar { leaf, of_type: own }) = target
            && *own == of_type
        {
            let place = self.place(*leaf);
            if self.program.place_type(place) == of_type {
                return act(self, place);
            }
        }
        let storage = self.scratch("result", of_type);
        if let Storage::Scalar { leaf, .. } = storage {
            let place = self.place(leaf);
            // An operation that leaves its result as it is must find there what the target holds.
            if let Value::Scalar(before) = self.load_target(target)
                && self.expression_type(&before) == of_type
            {
                self.emit(Statement::Assign { target: place, value: before });
            }
            act(self, place);
        }
        let value = self.load(&storage);
        self.store(target, value);
    }

    /// The number of a constructor argument.
    pub fn argument_number(&self, instance: &ExternInstance, name: &str) -> Option<u64> {
        match instance.argument(name)? {
            Value::Scalar(scalar) => arithmetic::constant_of(scalar).and_then(|(number, _)| u64::try_from(number).ok()),
            Value::Integer(number) => u64::try_from(number).ok(),
            _ => None,
        }
    }
}

/// Whether a header or union is valid.
pub fn valid(value: &Value) -> Hlir {
    match value {
        Value::Header { id, .. } => Hlir::Valid(*id),
        Value::Made { valid, .. } => valid.clone(),
        Value::Union(members) => {
            members.iter().fold(Hlir::Bool(false), |any, member| arithmetic::or(any, valid(member)))
        }
        _ => Hlir::Bool(false),
    }
}
