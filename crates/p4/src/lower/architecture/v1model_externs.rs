//! v1model's extern objects and functions: each call becomes an operation of HLIR, or a note for the buffering managers.

use hlir::build::v1model::{NO_LIST, Request};
use hlir::{Algorithm, Binary, Call as Op, CounterUnit, Expression as Hlir, HashInput, MeterUnit, Statement};

use crate::ast::walk::declaration_expressions;
use crate::ast::{Expression, ExpressionKind};
use crate::check::{Call, Callee, Reference};
use crate::lower::call::Passed;
use crate::lower::effects::Reads;
use crate::lower::objects::{ExternInstance, Handle};
use crate::lower::storage::Storage;
use crate::lower::value::{Target, Value};
use crate::lower::{Lowered, Lowering, arithmetic};
use crate::types::Type;

impl<'a> Lowering<'a> {
    pub fn v1model_handle(&mut self, instance: &ExternInstance) -> Lowered<Handle> {
        let name = instance.name.clone();
        let notes = instance.notes.clone();
        let size = self.argument_number(instance, "size").unwrap_or(0);
        let unit = self.argument_number(instance, "type").unwrap_or(0);
        let counter_unit = match unit {
            0 => CounterUnit::Packets,
            1 => CounterUnit::Bytes,
            _ => CounterUnit::Both,
        };
        let meter_unit = if unit == 0 { MeterUnit::Packets } else { MeterUnit::Bytes };
        Ok(match &*instance.of_type.name {
            kind @ ("counter" | "direct_counter") => {
                let automatic = kind == "direct_counter";
                let name = self.object_name(&name, instance.declaration);
                let counter = hlir::Counter { name, size, table: None, unit: counter_unit, automatic, notes };
                Handle::Counter(self.program.counters.alloc(counter))
            }
            "meter" => {
                let name = self.object_name(&name, instance.declaration);
                let meter = hlir::Meter { name, size, table: None, unit: meter_unit, automatic: None, notes };
                Handle::Meter(self.program.meters.alloc(meter), None)
            }
            "direct_meter" => {
                let name = self.object_name(&name, instance.declaration);
                let width = instance.of_type.arguments.first().map_or(32, |argument| self.number_type(argument).0);
                let colour = self.hidden(&format!("colour.{name}"), hlir::Type::Bits(width));
                let Storage::Scalar { leaf, .. } = colour else { return Ok(Handle::None) };
                let place = self.place(leaf);
                let meter = hlir::Meter { name, size: 0, table: None, unit: meter_unit, automatic: Some(place), notes };
                Handle::Meter(self.program.meters.alloc(meter), Some(place))
            }
            "register" => {
                let name = self.object_name(&name, instance.declaration);
                let width =
                    instance.of_type.arguments.first().and_then(|element| self.element_width(element)).unwrap_or(32);
                let initial = Default::default();
                Handle::Register(self.program.registers.alloc(hlir::Register { name, size, width, initial, notes }))
            }
            "action_profile" => {
                let name = self.object_name(&name, instance.declaration);
                Handle::Profile(self.program.profiles.alloc(hlir::Profile { name, size, selector: None, notes }))
            }
            "action_selector" => {
                let name = self.object_name(&name, instance.declaration);
                let number = self.argument_number(instance, "algorithm").unwrap_or(0);
                let algorithm = algorithm(number).unwrap_or(Algorithm::Target);
                let width = self.argument_number(instance, "outputWidth").unwrap_or(32) as u32;
                let selector = Some(hlir::Selector { algorithm, width, largest_group: size as u32 });
                Handle::Profile(self.program.profiles.alloc(hlir::Profile { name, size, selector, notes }))
            }
            _ => Handle::None,
        })
    }

    /// The bits of an element of a register.
    pub fn element_width(&self, of_type: &Type) -> Option<u32> {
        match self.scalar_type(of_type) {
            Some(scalar) => Some(scalar.width()),
            None => {
                let widths = self.part_types(of_type, 0).into_iter().map(|part| self.element_width(&part));
                let widths: Option<Vec<u32>> = widths.collect();
                widths.map(|widths| widths.iter().sum())
            }
        }
    }

    /// All bits of a value, one behind the other.
    pub fn packed(&mut self, value: &Value) -> Hlir {
        let mut inputs = Vec::new();
        self.hash_inputs(value, &mut inputs);
        let mut bits = Hlir::constant(0u32, 0);
        for input in inputs {
            let more = match input {
                HashInput::Bits(more) => more,
                HashInput::Field(field) => Hlir::Field(field),
                HashInput::Payload => continue,
            };
            bits = arithmetic::binary(Binary::Concat, bits, more);
        }
        bits
    }

    /// The value of a type that these bits are.
    pub fn unpacked(&mut self, bits: &Hlir, of_type: &Type, high: &mut u32) -> Value {
        if let Some(scalar) = self.scalar_type(of_type) {
            let width = scalar.width();
            if width == 0 {
                return Value::Scalar(Hlir::constant(0u32, 0));
            }
            let part = if *high == width && self.width(bits) == width {
                bits.clone()
            } else {
                arithmetic::slice(bits.clone(), *high - 1, *high - width)
            };
            *high -= width;
            return Value::Scalar(if scalar == hlir::Type::Bool { arithmetic::to_bool(part) } else { part });
        }
        let types = self.part_types(of_type, 0);
        let parts = types.iter().map(|part| self.unpacked(bits, part, high)).collect();
        self.assembled(of_type, parts)
    }

    pub fn v1model_method(
        &mut self,
        expression: &'a Expression,
        instance: &ExternInstance,
        name: &str,
        call: &Call,
        passed: Vec<Passed>,
    ) -> Lowered<Value> {
        let mut passed = passed.into_iter();
        match (&instance.handle, name) {
            (Handle::Counter(counter), "count") => {
                let counter = *counter;
                // A direct counter counts each packet by itself.
                if let Some(Passed::Value(index)) = passed.next() {
                    let index = self.as_bits(index);
                    self.call(Op::Count { counter, index });
                }
            }
            (Handle::Register(register), "read") => {
                let register = *register;
                let (Some(Passed::Target(result)), Some(Passed::Value(index))) = (passed.next(), passed.next()) else {
                    return Err(self.internal(expression.span, "this `read`"));
                };
                let of_type = call.bindings[0].of_type.clone();
                let Some(index) = self.as_bits(index) else { return Ok(Value::Void) };
                self.read_register(register, index, &result, &of_type);
            }
            (Handle::Register(register), "write") => {
                let register = *register;
                let (Some(Passed::Value(index)), Some(Passed::Value(value))) = (passed.next(), passed.next()) else {
                    return Err(self.internal(expression.span, "this `write`"));
                };
                let Some(index) = self.as_bits(index) else { return Ok(Value::Void) };
                let value = self.packed(&value);
                self.call(Op::WriteRegister { register, index, value });
            }
            (Handle::Meter(meter, None), "execute_meter") => {
                let meter = *meter;
                let (Some(Passed::Value(index)), Some(Passed::Target(result))) = (passed.next(), passed.next()) else {
                    return Err(self.internal(expression.span, "this `execute_meter`"));
                };
                let index = self.as_bits(index);
                let of_type = self.scalar_type(&call.bindings[1].of_type).unwrap_or(hlir::Type::Bits(32));
                self.result_place(&result, of_type, |lowering, into| {
                    lowering.call(Op::ExecuteMeter { meter, index, colour: None, into });
                });
            }
            (Handle::Meter(_, Some(colour)), "read") => {
                let colour = Value::Scalar(Hlir::place(*colour));
                if let Some(Passed::Target(result)) = passed.next() {
                    self.store(&result, colour);
                }
            }
            (Handle::None, "get") if &*instance.of_type.name == "Checksum16" => {
                let Some(Passed::Value(data)) = passed.next() else { return Ok(Value::Void) };
                let mut inputs = Vec::new();
                self.hash_inputs(&data, &mut inputs);
                let sum = self.hashed(Algorithm::InternetChecksum, inputs, 16);
                return Ok(Value::Scalar(sum));
            }
            _ => return self.custom_call(expression.span, Some(instance), call, passed.collect()),
        }
        Ok(Value::Void)
    }

    pub fn read_register(&mut self, register: hlir::RegisterId, index: Hlir, result: &Target, of_type: &Type) {
        let width = self.program.registers[register].width;
        if self.scalar_type(of_type) == Some(hlir::Type::Bits(width)) {
            self.result_place(result, hlir::Type::Bits(width), |lowering, into| {
                lowering.call(Op::ReadRegister { register, index, into });
            });
            return;
        }
        let element = self.scratch("element", hlir::Type::Bits(width));
        let before = self.load_target(result);
        let before = self.packed(&before);
        self.assign(&element, Value::Scalar(before));
        let Storage::Scalar { leaf, .. } = element else { return };
        let into = self.place(leaf);
        self.call(Op::ReadRegister { register, index, into });
        let bits = self.read(&element);
        let mut high = width;
        let value = self.unpacked(&bits, of_type, &mut high);
        self.store(result, value);
    }

    /// The hash of these inputs, in a variable.
    pub fn hashed(&mut self, algorithm: Algorithm, data: Vec<HashInput>, width: u32) -> Hlir {
        let storage = self.scratch("hash", hlir::Type::Bits(width));
        if let Storage::Scalar { leaf, .. } = storage {
            let into = self.place(leaf);
            self.call(Op::Hash { algorithm, data, into });
        }
        self.read(&storage)
    }

    pub fn v1model_function(
        &mut self,
        expression: &'a Expression,
        call: &Call,
        passed: Vec<Passed>,
        name: &str,
    ) -> Lowered<Value> {
        let text = self.sources.snippet(expression.span).to_string();
        match name {
            "mark_to_drop" => self.mark_to_drop(),
            "hash" => self.v1model_hash(expression, call, passed)?,
            "random" => {
                let mut passed = passed.into_iter();
                let (Some(Passed::Target(result)), Some(Passed::Value(low)), Some(Passed::Value(high))) =
                    (passed.next(), passed.next(), passed.next())
                else {
                    return Err(self.internal(expression.span, "this `random`"));
                };
                let of_type = self.scalar_type(&call.bindings[0].of_type).unwrap_or(hlir::Type::Bits(32));
                let (Some(low), Some(high)) = (self.as_bits(low), self.as_bits(high)) else { return Ok(Value::Void) };
                self.result_place(&result, of_type, |lowering, into| lowering.call(Op::Random { low, high, into }));
            }
            "digest" => self.v1model_digest(call, passed)?,
            "verify_checksum" | "verify_checksum_with_payload" => {
                self.verify_checksum(expression, passed, name.ends_with("payload"))?;
            }
            "update_checksum" | "update_checksum_with_payload" => {
                self.update_checksum(expression, call, passed, name.ends_with("payload"))?;
            }
            "clone" | "clone3" | "clone_preserving_field_list" => self.request_clone(expression, name, passed)?,
            "resubmit" | "resubmit_preserving_field_list" => {
                self.request(Request::Resubmit, expression, name.contains("preserving"), passed.first().cloned())?;
            }
            "recirculate" | "recirculate_preserving_field_list" => {
                self.request(Request::Recirculate, expression, name.contains("preserving"), passed.first().cloned())?;
            }
            "truncate" => self.request_truncate(passed),
            "assert" | "assume" => {
                if let Some(Passed::Value(Value::Scalar(condition))) = passed.into_iter().next() {
                    self.call(Op::Assert { condition, text });
                }
            }
            "log_msg" => self.log_message(passed),
            _ => return self.custom_call(expression.span, None, call, passed),
        }
        Ok(Value::Void)
    }

    fn mark_to_drop(&mut self) {
        self.assign_standard("egress_spec", self.drop_port());
        if self.architecture.uses_multicast {
            self.assign_standard("mcast_grp", Hlir::constant(0u32, 32));
        }
    }

    fn assign_standard(&mut self, name: &str, value: Hlir) {
        if let Some(target) = self.standard_place(name) {
            let value = self.as_standard(name, value);
            self.emit(Statement::Assign { target, value });
        }
    }

    /// Whether the program itself names a field of the standard metadata.
    pub fn mentions_field(&self, name: &str) -> bool {
        let mut found = false;
        let mut visit = |expression: &'a Expression| {
            if let ExpressionKind::Member { member, .. } = &expression.kind {
                found |= member.as_str() == name && matches!(self.checked.reference(expression), Reference::Field(_));
            }
        };
        self.every_expression(&mut visit);
        found
    }

    /// Calls `visit` with all expressions in bodies of the program.
    pub fn every_expression(&self, visit: &mut dyn FnMut(&'a Expression)) {
        for declaration in &self.checked.program.declarations {
            declaration_expressions(declaration, visit);
        }
    }

    /// Whether calls of these functions name different field lists.
    fn has_several_lists(&self, functions: &[&str], clone_type: Option<u32>) -> bool {
        let mut lists = Vec::new();
        // The older form names fields, and they may be others wherever an action with this call is used.
        let mut names_fields = false;
        self.every_expression(&mut |expression| {
            let ExpressionKind::Call { arguments, .. } = &expression.kind else { return };
            let Some(Callee::Function(function)) = self.checked.call(expression).map(|call| &call.callee) else {
                return;
            };
            if !functions.contains(&self.checked.node(*function).name().as_str()) {
                return;
            }
            let member = arguments.first().and_then(|argument| self.checked.constant(&argument.value));
            if let (Some(wanted), Some(crate::evaluate::Value::Member(member))) = (clone_type, member)
                && self.checked.number(*member) != Some(wanted)
            {
                return;
            }
            let list = arguments.last().and_then(|argument| self.checked.constant(&argument.value)).cloned();
            names_fields |= list.is_none() && !arguments.is_empty();
            let list = format!("{:?} {list:?}", arguments.len());
            if !lists.contains(&list) {
                lists.push(list);
            }
        });
        names_fields || lists.len() > 1
    }

    fn request_clone(&mut self, expression: &'a Expression, name: &str, passed: Vec<Passed>) -> Lowered<()> {
        let mut passed = passed.into_iter();
        let (Some(Passed::Value(kind)), Some(Passed::Value(session))) = (passed.next(), passed.next()) else {
            return Err(self.internal(expression.span, "this `clone`"));
        };
        let request = if kind == Value::constant(0, 32) { Request::CloneIngress } else { Request::CloneEgress };
        let Some(session) = self.as_bits(session) else { return Ok(()) };
        let session = arithmetic::resize(session.clone(), self.width(&session), 32, false);
        let storage = self.hidden(&request.session_name(), hlir::Type::Bits(32));
        self.assign(&storage, Value::Scalar(session));
        let rest = if name == "clone" { None } else { passed.next() };
        self.request(request, expression, name.contains("preserving"), rest)
    }

    /// Notes what the program asks for, and the field list it keeps.
    fn request(
        &mut self,
        request: Request,
        expression: &'a Expression,
        by_number: bool,
        list: Option<Passed>,
    ) -> Lowered<()> {
        let list = match list {
            Some(Passed::Value(value)) if by_number => match &value {
                Value::Scalar(Hlir::Constant { value, .. }) => u32::try_from(value).unwrap_or(NO_LIST),
                _ => return Err(self.unsupported(expression.span, "a field list chosen at run time is")),
            },
            // The older form names the fields themselves.
            Some(Passed::Value(value)) => self.list_of_fields(&value),
            Some(_) | None => NO_LIST,
        };
        let lists = self.architecture.requests.entry(request).or_default();
        if !lists.contains(&list) {
            lists.push(list);
        }
        if request == Request::CloneIngress {
            self.standard_place("instance_type");
        }
        let flag = self.hidden(request.name(), hlir::Type::Bool);
        self.assign(&flag, Value::boolean(true));
        let (functions, clone_type): (&[&str], Option<u32>) = match request {
            Request::CloneIngress => (&["clone", "clone3", "clone_preserving_field_list"], Some(0)),
            Request::CloneEgress => (&["clone", "clone3", "clone_preserving_field_list"], Some(1)),
            Request::Resubmit => (&["resubmit", "resubmit_preserving_field_list"], None),
            Request::Recirculate => (&["recirculate", "recirculate_preserving_field_list"], None),
        };
        if self.has_several_lists(functions, clone_type) {
            let number = self.hidden(&request.list_name(), hlir::Type::Bits(32));
            self.assign(&number, Value::constant(u64::from(list), 32));
        }
        Ok(())
    }

    /// A list for the variables that a value reads.
    fn list_of_fields(&mut self, value: &Value) -> u32 {
        let reads = Reads::of(value);
        let slots: Vec<_> = self
            .architecture
            .metadata
            .iter()
            .copied()
            .filter(|slot| {
                let variable = self.slots.variable(*slot);
                variable.is_some_and(|variable| reads.conflicts(&crate::lower::effects::Touch::Variable(variable)))
            })
            .collect();
        if slots.is_empty() {
            return NO_LIST;
        }
        let known = self.architecture.lists.iter().find(|(number, list)| **number > 255 && **list == slots);
        if let Some((number, _)) = known {
            return *number;
        }
        let number = 256 + self.architecture.lists.len() as u32;
        self.architecture.lists.insert(number, slots);
        number
    }

    fn request_truncate(&mut self, passed: Vec<Passed>) {
        let Some(Passed::Value(Value::Scalar(length))) = passed.into_iter().next() else { return };
        let length = arithmetic::resize(length.clone(), self.width(&length), 32, false);
        let flag = self.hidden("truncate", hlir::Type::Bool);
        let shortest = self.hidden("truncate_length", hlir::Type::Bits(32));
        let (asked, before) = (self.read(&flag), self.read(&shortest));
        // The shortest of all calls counts.
        let longer = arithmetic::binary(Binary::Less, before, length.clone());
        let keep = arithmetic::and(asked, longer);
        self.branch(keep, "", |_| {}, |lowering| lowering.assign(&shortest, Value::Scalar(length)));
        self.assign(&flag, Value::boolean(true));
    }
}

/// Members of HashAlgorithm whose parameters a controller can set.
pub const CRC32_CUSTOM: u64 = 1;
pub const CRC16_CUSTOM: u64 = 3;

/// The member of HashAlgorithm with this number, with the parameters of the start; nothing for `random`.
pub fn algorithm(number: u64) -> Option<Algorithm> {
    Some(match number {
        0 | CRC32_CUSTOM => Algorithm::Crc32,
        2 | CRC16_CUSTOM => Algorithm::Crc16,
        4 => return None,
        5 => Algorithm::Identity,
        6 => Algorithm::InternetChecksum,
        _ => Algorithm::Xor16,
    })
}
