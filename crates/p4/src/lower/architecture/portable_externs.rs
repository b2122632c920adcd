//! The extern objects that PSA and PNA share: what each instance is in the program, and what its methods do.
//!
//! Counters and meters count the bytes that the packet has: a length given by the program itself (DPDK's variants take one) is not used.
//! A `Checksum` that is no ones' complement sum keeps its data until the result is read, since only whole strings can be hashed.

use hlir::{Algorithm, Binary, Call as Op, CounterUnit, Expression as Hlir, HashInput, MeterUnit, Statement};

use super::pna_tables::argument;
use crate::ast::{Expression, ExpressionKind};
use crate::check::{Binding, Call};
use crate::lower::call::Passed;
use crate::lower::objects::{ExternInstance, Handle};
use crate::lower::storage::Storage;
use crate::lower::value::{Target, Value};
use crate::lower::{Lowered, Lowering, arithmetic};
use crate::types::Type;
use hlir::Notes;

const COLOUR: hlir::Type = hlir::Type::Bits(8);
const SUM: hlir::Type = hlir::Type::Bits(16);

impl<'a> Lowering<'a> {
    pub fn portable_handle(&mut self, instance: &ExternInstance) -> Lowered<Handle> {
        let (name, notes) = (instance.name.clone(), instance.notes.clone());
        let size = |parameter: &str| self.argument_number(instance, parameter).unwrap_or(0);
        let unit = self.unit_of(instance);
        Ok(match &*instance.of_type.name {
            "Counter" | "DirectCounter" => {
                let size = size("n_counters");
                let unit = match unit.as_str() {
                    "PACKETS" => CounterUnit::Packets,
                    "BYTES" => CounterUnit::Bytes,
                    _ => CounterUnit::Both,
                };
                let name = self.object_name(&name, instance.declaration);
                let counter = hlir::Counter { name, size, table: None, unit, automatic: false, notes };
                Handle::Counter(self.program.counters.alloc(counter))
            }
            "Meter" | "DirectMeter" => {
                let size = size("n_meters");
                let unit = if unit == "PACKETS" { MeterUnit::Packets } else { MeterUnit::Bytes };
                let name = self.object_name(&name, instance.declaration);
                let meter = hlir::Meter { name, size, table: None, unit, automatic: None, notes };
                Handle::Meter(self.program.meters.alloc(meter), None)
            }
            "Register" => {
                let size = size("size");
                let width =
                    instance.of_type.arguments.first().and_then(|element| self.element_width(element)).unwrap_or(32);
                let initial = instance.argument("initial_value").cloned().map(|value| self.packed(&value));
                let initial = initial.as_ref().and_then(arithmetic::constant_of).map(|(value, _)| value.clone());
                let (name, initial) = (self.object_name(&name, instance.declaration), initial.unwrap_or_default());
                Handle::Register(self.program.registers.alloc(hlir::Register { name, size, width, initial, notes }))
            }
            kind @ ("ActionProfile" | "ActionSelector") => {
                let (size, width) = (size("size"), size("outputWidth") as u32);
                let algorithm = self.portable_algorithm(instance, "algo");
                let selector = hlir::Selector { algorithm, width, largest_group: size as u32 };
                let selector = (kind == "ActionSelector").then_some(selector);
                let name = self.object_name(&name, instance.declaration);
                Handle::Profile(self.program.profiles.alloc(hlir::Profile { name, size, selector, notes }))
            }
            "Digest" => {
                let mut fields = Vec::new();
                if let Some(of_type) = instance.of_type.arguments.first() {
                    let of_type = self.substituted(of_type);
                    self.digest_fields(&of_type, "", &mut fields);
                }
                let name = self.object_name(&name, instance.declaration);
                Handle::Digest(self.program.digests.alloc(hlir::Digest { name, fields, notes }))
            }
            "InternetChecksum" => Handle::Storage(self.checksum_sum(&name)),
            "Checksum" if self.portable_algorithm(instance, "hash") == Algorithm::InternetChecksum => {
                Handle::Storage(self.checksum_sum(&name))
            }
            _ => Handle::None,
        })
    }

    fn checksum_sum(&mut self, name: &str) -> Storage {
        let slot = self.slot(&format!("{name}.sum"), SUM, Notes::default());
        Storage::Scalar { leaf: crate::lower::storage::Leaf::Slot(slot), of_type: SUM }
    }

    /// The member of PSA's or PNA's enumeration that `type` names.
    fn unit_of(&self, instance: &ExternInstance) -> String {
        let number = self.argument_number(instance, "type").unwrap_or(0);
        let kind = if instance.of_type.name.ends_with("Counter") { "Counter" } else { "Meter" };
        self.portable_member(&format!("{kind}Type_t"), number).unwrap_or_default()
    }

    fn portable_member(&self, enumeration: &str, number: u64) -> Option<String> {
        ["PSA", "PNA"].iter().find_map(|prefix| self.enumeration_member(&format!("{prefix}_{enumeration}"), number))
    }

    fn portable_algorithm(&self, instance: &ExternInstance, parameter: &str) -> Algorithm {
        let number = self.argument_number(instance, parameter).unwrap_or(0);
        match self.portable_member("HashAlgorithm_t", number).as_deref() {
            Some("IDENTITY") => Algorithm::Identity,
            Some("CRC32" | "CRC32_CUSTOM") => Algorithm::Crc32,
            Some("CRC16" | "CRC16_CUSTOM") => Algorithm::Crc16,
            Some("ONES_COMPLEMENT16") => Algorithm::InternetChecksum,
            Some(_) | None => Algorithm::Target,
        }
    }

    /// The algorithm of a hash or checksum, whose parameters a controller may set.
    fn portable_calculation(&mut self, instance: &ExternInstance, parameter: &str) -> Algorithm {
        let number = self.argument_number(instance, parameter).unwrap_or(0);
        match self.portable_member("HashAlgorithm_t", number).as_deref() {
            Some("CRC32_CUSTOM") => Algorithm::Crc32Custom(self.custom_crc(&instance.name, 32)),
            Some("CRC16_CUSTOM") => Algorithm::Crc16Custom(self.custom_crc(&instance.name, 16)),
            Some(_) | None => self.portable_algorithm(instance, parameter),
        }
    }

    pub fn portable_method(
        &mut self,
        expression: &'a Expression,
        instance: &ExternInstance,
        name: &str,
        call: &Call,
        passed: Vec<Passed>,
    ) -> Lowered<Value> {
        let data = || {
            passed.iter().find_map(|passed| if let Passed::Value(value) = passed { Some(value.clone()) } else { None })
        };
        let index = argument(self, call, &passed, "index").and_then(|index| self.as_bits(index));
        Ok(match (&*instance.of_type.name, &instance.handle, name) {
            (_, Handle::Counter(counter), "count") => {
                self.call(Op::Count { counter: *counter, index });
                Value::Void
            }
            (_, Handle::Meter(meter, None), "execute" | "dpdk_execute") => {
                let colour = argument(self, call, &passed, "color").and_then(Value::scalar);
                Value::Scalar(self.execute_meter(*meter, index, colour))
            }
            (_, Handle::Register(register), "read") => {
                let Some(index) = index else { return Err(self.internal(expression.span, "this `read`")) };
                let result = self.substituted(&call.result);
                let name = self.local_name(&format!("read{}", self.line_of(expression.span)));
                let storage = self.allocate(&result, &name, &Notes::default());
                self.clear(&storage);
                self.read_register(*register, index, &Target::Storage(storage.clone()), &result);
                self.load(&storage)
            }
            (_, Handle::Register(register), "write") => {
                let value = argument(self, call, &passed, "value");
                let (Some(index), Some(value)) = (index, value) else {
                    return Err(self.internal(expression.span, "this `write`"));
                };
                let value = self.packed(&value);
                self.call(Op::WriteRegister { register: *register, index, value });
                Value::Void
            }
            (_, Handle::Digest(digest), "pack") => {
                let values = data().map_or_else(Vec::new, |data| self.bit_strings(&data));
                self.call(Op::SendDigest { digest: *digest, values });
                Value::Void
            }
            ("Hash", _, "get_hash") => self.portable_hash(expression, instance, call, &passed),
            ("Random", _, "read") => self.portable_random(instance, call),
            ("InternetChecksum" | "Checksum", Handle::Storage(sum), _) => {
                let sum = sum.clone();
                return self.internet_checksum(&sum, name, call, data());
            }
            ("Checksum", Handle::None, _) => self.string_checksum(instance, name, call, data()),
            _ => return self.custom_call(expression.span, Some(instance), call, passed),
        })
    }

    /// The colour that a meter gives the packet, as a member of the program's enumeration; green where the index is out of range.
    fn execute_meter(&mut self, meter: hlir::MeterId, index: Option<Hlir>, colour: Option<Hlir>) -> Hlir {
        let member = |lowering: &Self, name: &str| {
            let found =
                ["PSA_MeterColor_t", "PNA_MeterColor_t"].iter().find_map(|of| lowering.enumeration_number(of, name));
            Hlir::constant(found.unwrap_or(0), 32)
        };
        let [red, green, yellow] = ["RED", "GREEN", "YELLOW"].map(|name| member(self, name));
        let number = |number: u32| Hlir::constant(number, COLOUR.width());
        let colour = colour.map(|colour| {
            let not_green = arithmetic::choose(arithmetic::equal(colour.clone(), yellow.clone()), number(1), number(2));
            arithmetic::choose(arithmetic::equal(colour, green.clone()), number(0), not_green)
        });
        let storage = self.scratch("colour", COLOUR);
        self.assign(&storage, Value::Scalar(number(0)));
        if let Some(into) = self.leaf_place(&storage) {
            self.call(Op::ExecuteMeter { meter, index, colour, into });
        }
        let found = self.read(&storage);
        let not_green = arithmetic::choose(arithmetic::equal(found.clone(), number(1)), yellow, red);
        arithmetic::choose(arithmetic::equal(found, number(0)), green, not_green)
    }

    /// The bits of each part of a value.
    fn bit_strings(&mut self, value: &Value) -> Vec<Hlir> {
        let mut inputs = Vec::new();
        self.hash_inputs(value, &mut inputs);
        let bits = inputs.into_iter().filter_map(|input| match input {
            HashInput::Bits(bits) => Some(bits),
            HashInput::Field(field) => Some(Hlir::Field(field)),
            HashInput::Payload => None,
        });
        bits.collect()
    }

    fn result_width(&self, call: &Call) -> u32 {
        self.scalar_type(&self.substituted(&call.result)).map_or(32, hlir::Type::width)
    }

    /// What `get_hash` reads. Fields follow each other bit by bit; a number of the program's own, a constant or a local variable, takes
    /// whole bytes with zeros in front, as BMv2 gets it.
    fn portable_inputs(&mut self, written: Option<&'a Expression>, data: &Value, into: &mut Vec<HashInput>) {
        match (written.map(|written| &written.kind), data) {
            (Some(ExpressionKind::List { elements, .. }), Value::Struct(parts)) if elements.len() == parts.len() => {
                for (element, part) in elements.iter().zip(parts) {
                    self.portable_inputs(Some(element), part, into);
                }
            }
            (Some(ExpressionKind::Structure { fields, .. }), Value::Struct(parts)) if fields.len() == parts.len() => {
                let names =
                    written.map_or_else(Vec::new, |written| self.checked.fields_of(self.checked.used_type(written)));
                for (field, part) in names.iter().zip(parts) {
                    let element = fields.iter().find(|given| given.name.text == field.name).map(|given| &given.value);
                    self.portable_inputs(element, part, into);
                }
            }
            (Some(ExpressionKind::Cast { operand, .. }), Value::Struct(_)) => {
                self.portable_inputs(Some(operand), data, into);
            }
            (Some(ExpressionKind::Path(_) | ExpressionKind::Integer(_)), Value::Scalar(_)) => {
                if let Some(bits) = self.as_bits(data.clone()) {
                    let width = self.width(&bits);
                    into.push(HashInput::Bits(arithmetic::resize(bits, width, width.next_multiple_of(8), false)));
                }
            }
            _ => self.hash_inputs(data, into),
        }
    }

    fn portable_hash(
        &mut self,
        expression: &'a Expression,
        instance: &ExternInstance,
        call: &Call,
        passed: &[Passed],
    ) -> Value {
        let algorithm = self.portable_calculation(instance, "algo");
        let width = self.result_width(call);
        let mut inputs = Vec::new();
        if let Some(data) = argument(self, call, passed, "data") {
            let ExpressionKind::Call { arguments, .. } = &expression.kind else { return Value::Void };
            let at = |binding: &&Binding| self.checked.node(binding.parameter).name().as_str() == "data";
            let binding = call.bindings.iter().find(at);
            let written = binding.and_then(|binding| self.checked.argument(binding, arguments));
            self.portable_inputs(written, &data, &mut inputs);
        }
        let base = argument(self, call, passed, "base").and_then(|base| self.as_bits(base));
        let largest = argument(self, call, passed, "max").and_then(|largest| self.as_bits(largest));
        let (Some(base), Some(largest)) = (base, largest) else {
            return Value::Scalar(self.hashed(algorithm, inputs, width));
        };
        let wide = 64;
        let widened = |lowering: &Self, value: Hlir| {
            let width = lowering.width(&value);
            arithmetic::resize(value, width, wide, false)
        };
        let (base, largest) = (widened(self, base), widened(self, largest));
        let hash = self.hashed(algorithm, inputs, wide);
        // A remainder by zero is 0, so a maximum of 0 gives the base.
        let value = arithmetic::binary(Binary::Remainder, hash, largest);
        let value = arithmetic::binary(Binary::Add, base, value);
        Value::Scalar(arithmetic::resize(value, wide, width, false))
    }

    fn portable_random(&mut self, instance: &ExternInstance, call: &Call) -> Value {
        let width = self.result_width(call);
        let mut limit = |name: &str| {
            let value = instance.argument(name).cloned().and_then(|value| self.as_bits(value));
            value.unwrap_or_else(|| Hlir::constant(0u32, width))
        };
        let (low, high) = (limit("min"), limit("max"));
        let storage = self.scratch("random", hlir::Type::Bits(width));
        if let Some(into) = self.leaf_place(&storage) {
            self.call(Op::Random { low, high, into });
        }
        self.load(&storage)
    }

    fn internet_checksum(&mut self, sum: &Storage, name: &str, call: &Call, data: Option<Value>) -> Lowered<Value> {
        let Some(place) = self.leaf_place(sum) else { return Ok(Value::Void) };
        match (name, data) {
            ("clear", _) => self.assign(sum, Value::constant(0, 16)),
            ("add" | "update" | "subtract", Some(data)) => {
                let mut inputs = Vec::new();
                self.hash_inputs(&data, &mut inputs);
                self.call(Op::AddChecksum { sum: place, data: inputs, subtract: name == "subtract" });
            }
            ("set_state", Some(state)) => self.assign(sum, state),
            ("get_state", _) => return Ok(self.load(sum)),
            ("get", _) => {
                let value = arithmetic::unary(hlir::Unary::Complement, self.read(sum));
                let width = self.result_width(call);
                return Ok(Value::Scalar(arithmetic::resize(value, 16, width, false)));
            }
            _ => {}
        }
        Ok(Value::Void)
    }

    /// Takes all data out of a checksum. PSA does so whenever the parser or control that has it is applied.
    pub fn clear_checksum(&mut self, instance: &ExternInstance) {
        if let ("Checksum" | "InternetChecksum", Handle::Storage(sum)) = (&*instance.of_type.name, &instance.handle) {
            self.assign(sum, Value::constant(0, 16));
        }
        for header in self.architecture.strings.get(&instance.name).cloned().unwrap_or_default() {
            self.emit(Statement::SetInvalid(header));
        }
    }

    /// A checksum over a string that grows: each `update` has headers of its own for its data, valid once it has run.
    fn string_checksum(&mut self, instance: &ExternInstance, name: &str, call: &Call, data: Option<Value>) -> Value {
        match (name, data) {
            ("clear", _) => {
                self.clear_checksum(instance);
                Value::Void
            }
            ("update", Some(data)) => {
                let mut inputs = Vec::new();
                self.hash_inputs(&data, &mut inputs);
                for input in inputs {
                    self.keep_data(&instance.name, input);
                }
                Value::Void
            }
            ("get", _) => {
                let algorithm = self.portable_calculation(instance, "hash");
                let headers = self.architecture.strings.get(&instance.name).cloned().unwrap_or_default();
                let field = |header| HashInput::Field(hlir::FieldRef { header, field: 0 });
                let inputs = headers.into_iter().map(field).collect();
                let width = self.result_width(call);
                Value::Scalar(self.hashed(algorithm, inputs, width))
            }
            _ => Value::Void,
        }
    }

    fn keep_data(&mut self, instance: &str, input: HashInput) {
        let (valid, width, is_varbit) = match &input {
            HashInput::Bits(bits) => (Hlir::Bool(true), self.width(bits), false),
            HashInput::Field(field) => {
                let found = self.program.field(*field);
                (Hlir::Valid(field.header), found.width, found.varbit)
            }
            HashInput::Payload => return,
        };
        let fields = vec![hlir::Field { name: "data".to_string(), width, varbit: is_varbit }];
        let name = self.names.storage(&format!("{instance}.data"));
        let type_name = "checksum_data".to_string();
        let header = self.program.headers.alloc(hlir::Header { name, type_name, fields, notes: Notes::default() });
        self.architecture.strings.entry(instance.to_string()).or_default().push(header);
        let kept = hlir::FieldRef { header, field: 0 };
        self.emit(Statement::SetInvalid(header));
        self.branch(
            valid,
            "",
            |lowering| {
                lowering.emit(Statement::SetValid(header));
                lowering.emit(match input {
                    HashInput::Field(from) if is_varbit => Statement::CopyVarbit { to: kept, from },
                    HashInput::Field(from) => {
                        Statement::Assign { target: hlir::Place::Field(kept), value: Hlir::Field(from) }
                    }
                    HashInput::Bits(value) => Statement::Assign { target: hlir::Place::Field(kept), value },
                    HashInput::Payload => return,
                });
            },
            |_| {},
        );
    }

    /// The functions of PSA and PNA.
    pub fn portable_function(
        &mut self,
        expression: &'a Expression,
        call: &Call,
        passed: Vec<Passed>,
        name: &str,
    ) -> Lowered<Value> {
        if let Some(result) = self.pna_table_function(expression.span, name, call, &passed)? {
            return Ok(result);
        }
        let values: Vec<Value> = passed
            .iter()
            .filter_map(|passed| if let Passed::Value(value) = passed { Some(value.clone()) } else { None })
            .collect();
        if let ("assert" | "assume", [Value::Scalar(condition)]) = (name, &values[..]) {
            let text = self.sources.snippet(expression.span).to_string();
            self.call(Op::Assert { condition: condition.clone(), text });
            return Ok(Value::Void);
        }
        let of_type = call.bindings.first().map_or(Type::Void, |binding| binding.of_type.clone());
        if let Some(value) = values.first() {
            let other = values.get(1).cloned().unwrap_or(Value::Void);
            if let Some(result) = self.psa_function(name, &of_type, value, &other) {
                return Ok(Value::Scalar(result));
            }
        }
        let result = self.substituted(&call.result);
        match self.pna_function(name, &values, &result) {
            Some(value) => Ok(value),
            None => self.custom_call(expression.span, None, call, passed),
        }
    }
}
