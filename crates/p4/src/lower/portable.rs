//! The externs that PSA and PNA have in common: counters, meters, registers, hashes, checksums, random numbers and digests.

use hlir::{Algorithm, Binary, Call as Op, CounterUnit, Expression as Hlir, HashInput, MeterUnit, Statement};

use super::architecture::Architecture;
use super::call::Passed;
use super::objects::{ExternInstance, Handle};
use super::storage::Storage;
use super::value::Value;
use super::{Lowered, Lowering, arithmetic};
use crate::ast::Expression;
use crate::check::Call;
use crate::types::Type;

impl<'a> Lowering<'a> {
    pub fn portable_handle(&mut self, instance: &ExternInstance) -> Lowered<Handle> {
        let notes = instance.notes.clone();
        let unit = self.argument_number(instance, "type").unwrap_or(0);
        let counter_unit = match unit {
            0 => CounterUnit::Packets,
            1 => CounterUnit::Bytes,
            _ => CounterUnit::Both,
        };
        let meter_unit = if unit == 0 { MeterUnit::Packets } else { MeterUnit::Bytes };
        let size = self.argument_number(instance, "size").unwrap_or(0);
        let mut name = || self.names.object(&instance.name);
        Ok(match &*instance.of_type.name {
            "Counter" | "DirectCounter" => {
                let name = name();
                let size = self.argument_number(instance, "n_counters").unwrap_or(0);
                let unit = counter_unit;
                let counter = hlir::Counter { name, size, table: None, unit, automatic: false, notes };
                Handle::Counter(self.program.counters.alloc(counter))
            }
            "Meter" | "DirectMeter" => {
                let name = name();
                let size = self.argument_number(instance, "n_meters").unwrap_or(0);
                let meter = hlir::Meter { name, size, table: None, unit: meter_unit, automatic: None, notes };
                Handle::Meter(self.program.meters.alloc(meter), None)
            }
            "Register" => {
                let name = name();
                let width = instance.of_type.arguments.first().and_then(|cell| self.cell_width(cell)).unwrap_or(32);
                let initial = instance.arguments.get("initial_value").map(|value| self.packed(&value.clone()));
                let initial =
                    initial.and_then(|initial| arithmetic::constant_of(&initial).map(|(bits, _)| bits.clone()));
                let initial = initial.unwrap_or_default();
                Handle::Register(self.program.registers.alloc(hlir::Register { name, size, width, initial, notes }))
            }
            "ActionProfile" => {
                let name = name();
                Handle::Profile(self.program.profiles.alloc(hlir::Profile { name, size, selector: None, notes }))
            }
            "ActionSelector" => {
                let name = name();
                let algorithm = self.portable_algorithm(instance, "algo");
                let width = self.argument_number(instance, "outputWidth").unwrap_or(32) as u32;
                let selector = Some(hlir::Selector { algorithm, width, largest_group: size as u32 });
                Handle::Profile(self.program.profiles.alloc(hlir::Profile { name, size, selector, notes }))
            }
            "Digest" => {
                let name = name();
                let mut fields = Vec::new();
                if let Some(record) = instance.of_type.arguments.first() {
                    self.digest_fields(record, "", &mut fields);
                }
                Handle::Digest(self.program.digests.alloc(hlir::Digest { name, fields, notes }))
            }
            "InternetChecksum" | "Checksum" => {
                let slot = self.slot(&format!("{}.sum", instance.name), hlir::Type::Bits(16), notes);
                let leaf = super::storage::Leaf::Slot(slot);
                Handle::Checksum(Storage::Scalar { leaf, of_type: hlir::Type::Bits(16) })
            }
            _ => Handle::None,
        })
    }

    /// The algorithm that a constructor argument names. PNA has one more than PSA.
    fn portable_algorithm(&self, instance: &ExternInstance, argument: &str) -> Algorithm {
        match self.argument_number(instance, argument).unwrap_or(1) {
            0 => Algorithm::Identity,
            1 => Algorithm::Crc32,
            2 => Algorithm::Crc32Custom,
            3 => Algorithm::Crc16,
            4 => Algorithm::Crc16Custom,
            5 => Algorithm::InternetChecksum,
            _ => Algorithm::Target,
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
        let values: Vec<Value> = passed
            .iter()
            .filter_map(|passed| if let Passed::Value(value) = passed { Some(value.clone()) } else { None })
            .collect();
        match (&instance.handle, name) {
            (Handle::Counter(counter), "count") => {
                let counter = *counter;
                let is_direct = &*instance.of_type.name == "DirectCounter";
                let index =
                    if is_direct { None } else { values.into_iter().next().and_then(|index| self.as_bits(index)) };
                self.call(Op::Count { counter, index });
                Ok(Value::Void)
            }
            (Handle::Meter(meter, _), "execute") => {
                let is_direct = &*instance.of_type.name == "DirectMeter";
                Ok(self.execute_meter(*meter, is_direct, values, call))
            }
            (Handle::Register(register), "read") => {
                let register = *register;
                let index = values.into_iter().next().and_then(|index| self.as_bits(index));
                let Some(index) = index else { return Ok(Value::Void) };
                Ok(self.register_cell(register, index, &call.result))
            }
            (Handle::Register(register), "write") => {
                let register = *register;
                let [index, value] = &values[..] else { return Ok(Value::Void) };
                let Some(index) = self.as_bits(index.clone()) else { return Ok(Value::Void) };
                let value = self.packed(value);
                self.call(Op::WriteRegister { register, index, value });
                Ok(Value::Void)
            }
            (Handle::Digest(digest), "pack") => {
                let digest = *digest;
                let mut inputs = Vec::new();
                values.iter().for_each(|value| self.hash_inputs(value, &mut inputs));
                let values = inputs.into_iter().filter_map(input_bits).collect();
                self.call(Op::SendDigest { digest, values });
                Ok(Value::Void)
            }
            (Handle::Checksum(sum), _) => {
                let sum = sum.clone();
                self.checksum_method(expression, instance, name, &sum, &values, call)
            }
            (Handle::None, "get_hash") => self.get_hash(instance, &values, call),
            (Handle::None, "read") if &*instance.of_type.name == "Random" => Ok(self.random_number(instance, call)),
            _ => self.custom_call(expression.span, &instance.name, name, call, passed),
        }
    }

    fn register_cell(&mut self, register: hlir::RegisterId, index: Hlir, of_type: &Type) -> Value {
        let width = self.program.registers[register].width;
        let cell = self.scratch("cell", hlir::Type::Bits(width));
        if let Storage::Scalar { leaf, .. } = cell {
            self.clear(&cell);
            let into = self.place(leaf);
            self.call(Op::ReadRegister { register, index, into });
        }
        let bits = self.read(&cell);
        let mut high = width;
        let of_type = self.substituted(of_type);
        self.unpacked(&bits, &of_type, &mut high)
    }

    /// Colours are red 0, green 1, yellow 2 there, and green 0, yellow 1, red 2 in HLIR.
    fn execute_meter(&mut self, meter: hlir::MeterId, is_direct: bool, values: Vec<Value>, call: &Call) -> Value {
        let is_colour = |binding: &crate::check::Binding| matches!(binding.of_type, Type::Enum(_));
        let mut values = values.into_iter();
        let index = if is_direct { None } else { values.next().and_then(|index| self.as_bits(index)) };
        let given = if call.bindings.iter().any(is_colour) { values.next() } else { None };
        let colour = given.and_then(|colour| self.as_bits(colour)).map(|colour| {
            let is = |number: u64| arithmetic::is_number(colour.clone(), number, 32);
            let number = |number: u32| Hlir::constant(number, 32);
            arithmetic::choose(is(0), number(2), arithmetic::choose(is(1), number(0), number(1)))
        });
        let result = self.scratch("colour", hlir::Type::Bits(32));
        if let Storage::Scalar { leaf, .. } = result {
            let into = self.place(leaf);
            self.call(Op::ExecuteMeter { meter, index, colour, into });
        }
        let colour = self.read(&result);
        let is = |number: u64| arithmetic::is_number(colour.clone(), number, 32);
        let number = |number: u32| Hlir::constant(number, 32);
        Value::Scalar(arithmetic::choose(is(0), number(1), arithmetic::choose(is(1), number(2), number(0))))
    }

    fn get_hash(&mut self, instance: &ExternInstance, values: &[Value], call: &Call) -> Lowered<Value> {
        let algorithm = self.portable_algorithm(instance, "algo");
        let result = self.substituted(&call.result);
        let (width, _) = self.number_type(&result);
        let mut inputs = Vec::new();
        match values {
            [base, data, max] => {
                self.hash_inputs(data, &mut inputs);
                let hash = self.hashed(algorithm, inputs, algorithm.width());
                let hash = arithmetic::resize(hash, algorithm.width(), 64, false);
                let (base_width, _) = self.number_type(&call.bindings[0].of_type);
                let (max_width, _) = self.number_type(&call.bindings[2].of_type);
                let (Some(base), Some(max)) = (self.as_bits(base.clone()), self.as_bits(max.clone())) else {
                    return Ok(Value::Void);
                };
                let base = arithmetic::resize(base, base_width, 64, false);
                let max = arithmetic::resize(max, max_width, 64, false);
                let rest = arithmetic::binary(Binary::Remainder, hash, max);
                let sum = arithmetic::binary(Binary::Add, base, rest);
                Ok(Value::Scalar(arithmetic::resize(sum, 64, width, false)))
            }
            data => {
                data.iter().for_each(|value| self.hash_inputs(value, &mut inputs));
                Ok(Value::Scalar(self.hashed(algorithm, inputs, width)))
            }
        }
    }

    fn random_number(&mut self, instance: &ExternInstance, call: &Call) -> Value {
        let result = self.substituted(&call.result);
        let of_type = self.scalar_type(&result).unwrap_or(hlir::Type::Bits(32));
        let bound = |lowering: &mut Self, name: &str| {
            let value = instance.arguments.get(name).cloned();
            value.and_then(|value| lowering.as_bits(value)).unwrap_or_else(|| arithmetic::zero(of_type))
        };
        let (low, high) = (bound(self, "min"), bound(self, "max"));
        let storage = self.scratch("random", of_type);
        if let Storage::Scalar { leaf, .. } = storage {
            let into = self.place(leaf);
            self.call(Op::Random { low, high, into });
        }
        self.load(&storage)
    }

    /// InternetChecksum is a sum in a variable; Checksum remembers what it was given since it was last cleared.
    fn checksum_method(
        &mut self,
        expression: &'a Expression,
        instance: &ExternInstance,
        name: &str,
        sum: &Storage,
        values: &[Value],
        call: &Call,
    ) -> Lowered<Value> {
        let mut inputs = Vec::new();
        values.iter().for_each(|value| self.hash_inputs(value, &mut inputs));
        let Storage::Scalar { leaf, .. } = sum else { return Ok(Value::Void) };
        match (&*instance.of_type.name, name) {
            (_, "clear") => {
                self.architecture.pending.insert(instance.name.clone(), Vec::new());
                self.clear(sum);
            }
            ("InternetChecksum", "add" | "subtract") => {
                let into = self.place(*leaf);
                self.call(Op::AddChecksum { sum: into, data: inputs, subtract: name == "subtract" });
            }
            ("InternetChecksum", "get") => {
                let sum = self.read(sum);
                return Ok(Value::Scalar(arithmetic::unary(hlir::Unary::Complement, sum)));
            }
            ("InternetChecksum", "get_state") => return Ok(self.load(sum)),
            ("InternetChecksum", "set_state") => {
                if let Some(state) = values.first() {
                    self.assign(sum, state.clone());
                }
            }
            (_, "update") => {
                let saved: Vec<HashInput> = inputs.into_iter().map(|input| self.saved_input(input)).collect();
                self.architecture.pending.entry(instance.name.clone()).or_default().extend(saved);
            }
            (_, "get") => {
                let data = self.architecture.pending.get(&instance.name).cloned().unwrap_or_default();
                let algorithm = self.portable_algorithm(instance, "hash");
                let result = self.substituted(&call.result);
                let (width, _) = self.number_type(&result);
                return Ok(Value::Scalar(self.hashed(algorithm, data, width)));
            }
            _ => return Err(self.unsupported(expression.span, format!("the method `{name}` is"))),
        }
        Ok(Value::Void)
    }

    /// Data as it is now. Fields stay fields, since those of invalid headers do not count.
    fn saved_input(&mut self, input: HashInput) -> HashInput {
        match input {
            HashInput::Bits(bits) => match self.save(Value::Scalar(bits), "data") {
                Value::Scalar(bits) => HashInput::Bits(bits),
                _ => HashInput::Payload,
            },
            HashInput::Field(_) | HashInput::Payload => input,
        }
    }

    /// The functions that both architectures have; nothing if the name is none of them.
    pub fn portable_function(&mut self, expression: &'a Expression, passed: &[Passed], name: &str) -> Option<Value> {
        match name {
            "assert" | "assume" => {
                if let Some(Passed::Value(Value::Scalar(condition))) = passed.first() {
                    let text = self.sources.snippet(expression.span).to_string();
                    self.emit(Statement::Call(Op::Assert { condition: condition.clone(), text }));
                }
                Some(Value::Void)
            }
            _ => None,
        }
    }

    /// A struct of the architecture's whose fields are shared with others of the same prefix, by name.
    pub fn shared_struct(&mut self, of_type: &Type, prefix: &str) -> Storage {
        let mut members = Vec::new();
        for field in self.checked.fields_of(of_type) {
            let key = format!("{prefix}.{}", field.name);
            let member = match self.architecture.standard.get(&key) {
                Some(known) => known.clone(),
                None => {
                    let notes = self.notes_of(field.id);
                    let name = format!("{}.{key}", self.architecture_name());
                    let made = self.allocate(&field.of_type, &name, &notes);
                    self.architecture.standard.insert(key, made.clone());
                    made
                }
            };
            members.push(member);
        }
        Storage::Struct(members.into())
    }

    pub fn architecture_name(&self) -> &'static str {
        match self.architecture.kind {
            Architecture::V1model => "v1model",
            Architecture::Psa => "psa",
            Architecture::Pna => "pna",
            Architecture::Own => "own",
        }
    }
}

fn input_bits(input: HashInput) -> Option<Hlir> {
    match input {
        HashInput::Bits(bits) => Some(bits),
        HashInput::Field(field) => Some(Hlir::Field(field)),
        HashInput::Payload => None,
    }
}
