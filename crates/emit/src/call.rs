//! Calls of stateful and external objects: counters, meters, registers, hashes, checksums, random numbers, messages to the control plane.

use crate::body::{Body, limbs, word_type};
use crate::c::{Expr, Stmt};
use crate::expression::constant;
use crate::table::element_bytes;
use crate::unit::{Unit, number};
use hlir::{Algorithm, Call, Expression, FieldRef, HashInput, MeterId, MeterUnit, Place, RegisterId, TableId};

fn packet_length() -> Expr {
    Expr::call("packet_length", [Expr::name("&state->packet")])
}

/// `worker->shared->NAME[index]`
pub fn shared(array: &str, index: u32) -> Expr {
    shared_by("run->worker", array, index)
}

/// The same, of a worker by its name.
pub fn shared_by(worker: &str, array: &str, index: u32) -> Expr {
    Expr::index(Expr::Name(format!("{worker}->shared->{array}")), Expr::word(index))
}

/// A value as an unsigned C type narrower than it, or the same.
pub fn fitted(value: Expr, from: u32, to: u32) -> Expr {
    if to >= from {
        return value;
    }
    let value = if word_type(from) == word_type(to) { value } else { Expr::cast(word_type(to), value) };
    if to == 32 { value } else { Expr::binary("&", value, constant(crate::field::mask(to), to)) }
}

/// The number of a profile of timeouts, as records have it: 0 is none.
pub fn timer(profile: Expr) -> Expr {
    let low = Expr::binary("&", profile, Expr::word(0xff));
    Expr::binary("+", Expr::cast("uint32_t", low), Expr::word(1))
}

/// The hash of so many bytes.
pub fn hash(unit: &Unit, algorithm: Algorithm, bytes: Expr, count: Expr) -> Expr {
    let parameters = algorithm.crc().map(|crc| Expr::Name(format!("run->{}", unit.names.crcs[number(crc)])));
    Expr::call(hash_function(algorithm), parameters.into_iter().chain([bytes, count]))
}

/// The runtime's function of a hash.
fn hash_function(algorithm: Algorithm) -> &'static str {
    match algorithm {
        Algorithm::Crc32 => "hash_crc32",
        Algorithm::Crc32Custom(_) => "hash_crc32_custom",
        Algorithm::Crc16 => "hash_crc16",
        Algorithm::Crc16Custom(_) => "hash_crc16_custom",
        Algorithm::Identity => "hash_identity",
        Algorithm::InternetChecksum => "hash_csum16",
        Algorithm::Xor16 => "hash_xor16",
        Algorithm::Target => "hash_target",
    }
}

impl Body<'_, '_> {
    /// A call; false if control does not continue after it.
    pub fn call(&mut self, call: &Call) -> bool {
        match call {
            Call::Count { counter, index } => self.count(number(*counter), index.as_ref()),
            Call::ReadRegister { register, index, into } => self.read_register(*register, index, *into),
            Call::WriteRegister { register, index, value } => self.write_register(*register, index, value),
            Call::ExecuteMeter { meter, index, colour, into } => {
                self.execute_meter(*meter, index.as_ref(), colour.as_ref(), *into);
            }
            Call::Hash { algorithm, data, into } => self.hash(*algorithm, data, *into),
            Call::AddChecksum { sum, data, subtract } => {
                self.add_checksum(*sum, data, *subtract);
            }
            Call::Random { low, high, into } => self.random(low, high, *into),
            Call::SendDigest { digest, values } => {
                let (array, count, _) = self.limb_list(values);
                let arguments = [Expr::name("run->worker"), Expr::word(number(*digest) as u32), array, count];
                self.push(Stmt::call("run->worker->shared->digest", arguments));
            }
            Call::Log { format, arguments } => {
                let (array, _, widths) = self.limb_list(arguments);
                let widths = self.word_list(widths);
                let count = Expr::word(arguments.len() as u32);
                let arguments = [Expr::name("run->worker"), Expr::text(format), array, widths, count];
                self.push(Stmt::call("run->worker->shared->log", arguments));
            }
            Call::Assert { condition, text } => {
                let test = self.value(condition);
                let failed = self.nested(|body| {
                    let arguments = [Expr::name("run->worker"), Expr::text(text)];
                    body.push(Stmt::call("run->worker->shared->fail", arguments));
                    body.release();
                });
                self.push(Stmt::when(Expr::unary("!", test), failed));
            }
            Call::AddEntry { table, action, arguments, expiry, into } => {
                self.add_entry(*table, *action as usize, arguments, expiry.as_ref(), *into);
            }
            Call::RestartTimer { expiry } => self.restart_timer(expiry.as_ref()),
            Call::Custom { object, function, arguments, into } => self.custom(*object, function, arguments, *into),
        }
        true
    }

    fn count(&mut self, counter: usize, index: Option<&Expression>) {
        let Some(index) = index else { return self.in_action(|body| body.count_direct(counter as u32)) };
        let declared = self.program().counters.values().nth(counter);
        // The index of a direct counter's element is one that the entry was given, or that of the default action.
        let is_direct = declared.is_some_and(|counter| counter.table.is_some());
        let size = if is_direct { u64::MAX } else { declared.map_or(0, |counter| counter.size) };
        let index = self.amount(index);
        let worker = Expr::name("run->worker");
        let arguments = [worker, Expr::word(counter as u32), Expr::long(size), index, packet_length()];
        self.push(Stmt::call("counter_add", arguments));
    }

    /// Inserts an entry for the key that has just missed. What a profile of timeouts means is the host's business.
    fn add_entry(
        &mut self,
        table: TableId,
        action: usize,
        arguments: &[Expression],
        expiry: Option<&Expression>,
        into: Option<Place>,
    ) {
        if self.action.is_none_or(|(running, _)| running != table) {
            return self.unsupported("inserting an entry into another table");
        }
        let record = self.temporary("added");
        let of = format!("struct {}_record", self.unit.table_name(table));
        let number_of_action = Expr::designated("action", Expr::word(action as u32));
        self.push(Stmt::declare(of, &record, Expr::List(vec![number_of_action])));
        let data = &self.unit.names.actions[number(table)][action];
        let parameters = &self.program().tables[table].actions[action].parameters;
        let names = &self.unit.names.parameters[number(table)][action];
        for ((argument, parameter), name) in arguments.iter().zip(parameters).zip(names) {
            let place = Expr::Name(format!("{record}.{data}.{name}"));
            let width = self.width_of(argument);
            if width != parameter.width {
                self.unsupported("an argument of another width than its parameter");
            } else if width > 64 {
                let array = self.wide(argument);
                self.push(Stmt::call("memcpy", [place, array, Expr::word(8 * limbs(width))]));
            } else {
                let value = self.value(argument);
                self.push(Stmt::set(place, value));
            }
        }
        let pointer = Expr::Name(format!("&{record}"));
        let timer = expiry.map_or(Expr::word(0), |expiry| self.timer(expiry));
        let table = Expr::word(number(table) as u32);
        let arguments = [Expr::name("run->worker"), table, Expr::name("key"), pointer, timer];
        let inserted = Expr::call("run->worker->shared->insert", arguments);
        let hit = Expr::binary("!=", Expr::name("found"), Expr::word(0));
        let failed = self.temporary("failed");
        if self.unit.tracks_insertions() {
            let missed = Expr::binary("==", Expr::name("found"), Expr::word(0));
            self.push(Stmt::Assign(Expr::name("run->insertions"), "+=", missed));
        }
        let whole = Expr::binary("||", hit, Expr::binary("!=", inserted, Expr::name("0")));
        self.push(Stmt::declare("const bool", &failed, whole));
        match into {
            Some(place) => self.put(place, Expr::Name(failed)),
            None => self.push(Stmt::Do(Expr::cast("void", Expr::Name(failed)))),
        }
    }

    /// The number of a profile's timer: 0 is none.
    fn timer(&mut self, profile: &Expression) -> Expr {
        timer(self.amount(profile))
    }

    fn restart_timer(&mut self, expiry: Option<&Expression>) {
        let Some((table, _)) = self.action else {
            return self.unsupported("restarting a timer outside of an action");
        };
        if self.unit.program.has_own_records(table) {
            let (record, clock) = (Expr::name("record"), Expr::name("run->clock_ns"));
            let note = match expiry {
                Some(expiry) => Stmt::call("record_restart", [record, clock, self.timer(expiry)]),
                None => Stmt::call("record_hit", [record, clock]),
            };
            self.push(Stmt::when(Expr::binary("!=", Expr::name("found"), Expr::word(0)), vec![note]));
        }
    }

    fn execute_meter(&mut self, id: MeterId, index: Option<&Expression>, colour: Option<&Expression>, into: Place) {
        let meter = &self.program().meters[id];
        let before = colour.map_or(Expr::word(0), |colour| self.value(colour));
        if let Some(index) = index {
            return self.meter_at(id, index, before, into);
        }
        self.ensure_place(into);
        self.in_action(|body| body.meter_direct(number(id) as u32, meter.unit, before, into));
    }

    fn add_checksum(&mut self, sum: Place, data: &[HashInput], subtract: bool) {
        if self.sum_words((data, subtract), Some(sum), sum, "") {
            return;
        }
        let function = if subtract { "hash_sum_subtract" } else { "hash_sum_add" };
        let (bytes, input) = self.hash_input(data);
        let before = Expr::cast("uint16_t", self.place_value(sum));
        let count = Expr::call("hash_bytes", [Expr::name(format!("&{input}"))]);
        self.put_number(sum, Expr::call(function, [before, bytes, count]), 16);
    }

    /// What only the entry that was hit has, or the default action: an element of its own.
    fn in_action(&mut self, write: impl FnOnce(&mut Self)) {
        match self.action {
            Some(_) => write(self),
            None => self.unsupported("a direct counter or meter outside of an action"),
        }
    }

    pub fn count_direct(&mut self, counter: u32) {
        let element = Expr::call("record_counter_index", [Expr::name("record")]);
        let arguments =
            [Expr::name("run->worker"), Expr::word(counter), Expr::name("UINT64_MAX"), element, packet_length()];
        self.push(Stmt::call("counter_add", arguments));
    }

    fn cost(&self, kind: MeterUnit) -> Expr {
        match kind {
            MeterUnit::Packets => Expr::word(1),
            MeterUnit::Bytes => packet_length(),
        }
    }

    pub fn meter_direct(&mut self, meter: u32, kind: MeterUnit, before: Expr, into: Place) {
        let index = Expr::call("record_counter_index", [Expr::name("record")]);
        let found = Expr::binary("!=", Expr::name("found"), Expr::word(0));
        let measures = Expr::binary("||", found, self.is_configured(meter, index.clone()));
        let code = self.nested(|body| body.meter_element(meter, index, (kind, before), into));
        self.push(Stmt::when(measures, code));
    }

    /// Whether a controller has set rates for this element: that of a default action measures only then.
    fn is_configured(&self, meter: u32, index: Expr) -> Expr {
        Expr::call("meter_is_configured", [Expr::binary("+", shared("meters", meter), index)])
    }

    fn meter_element(&mut self, meter: u32, index: Expr, (kind, before): (MeterUnit, Expr), into: Place) {
        let element = Expr::binary("+", shared("meters", meter), index);
        let colour = Expr::call("meter_execute", [element, self.cost(kind), before, Expr::name("run->clock_ns")]);
        self.put_number(into, colour, 2);
    }

    fn meter_at(&mut self, id: MeterId, index: &Expression, before: Expr, into: Place) {
        self.ensure_place(into);
        let meter = &self.program().meters[id];
        if meter.table.is_some() {
            let (is_entry, element, unit) = (matches!(index, Expression::Parameter(_)), self.amount(index), meter.unit);
            let id = number(id) as u32;
            if is_entry {
                return self.meter_element(id, element, (unit, before), into);
            }
            let measures = self.is_configured(id, element.clone());
            let code = self.nested(|body| body.meter_element(id, element, (unit, before), into));
            return self.push(Stmt::when(measures, code));
        }
        let width = self.width_of(index).min(64);
        let index = self.amount(index);
        let index = self.named(index, width, "index");
        let code = self.nested(|body| {
            let element = Expr::binary("+", shared("meters", number(id) as u32), index.clone());
            let colour =
                Expr::call("meter_execute", [element, body.cost(meter.unit), before, Expr::name("run->clock_ns")]);
            body.put_number(into, colour, 2);
        });
        self.push(Stmt::when(Expr::binary("<", index, Expr::long(meter.size)), code));
    }

    fn ensure_place(&mut self, place: Place) {
        if let Place::Field(field) = place {
            self.ensure(field.header);
        }
    }

    /// What a place of at most 64 bits holds; of a wider one its low limb.
    pub fn place_value(&mut self, place: Place) -> Expr {
        let value = Expression::place(place);
        if self.width_of(&value) > 64 {
            let array = self.wide(&value);
            return Expr::index(array, Expr::word(0));
        }
        self.value(&value)
    }

    /// Puts a number of `width` bits in a place of any width: cut, or with zeros above.
    pub fn put_number(&mut self, into: Place, value: Expr, width: u32) {
        let target = self.program().place_type(into).width();
        if target <= 64 {
            let fits = fitted(value, width, target);
            self.put(into, fits);
            return;
        }
        let array = self.array(target);
        self.push(Stmt::call("wide_from", [array.clone(), value, Expr::word(target)]));
        self.put_wide(into, array, target);
    }

    fn register(&self, register: RegisterId) -> Expr {
        Expr::unary("&", shared("registers", number(register) as u32))
    }

    fn read_register(&mut self, register: RegisterId, index: &Expression, into: Place) {
        self.ensure_place(into);
        let width = self.program().registers[register].width;
        let index = self.amount(index);
        let array = self.register(register);
        if width <= 64 {
            let held = self.temporary("held");
            self.push(Stmt::Declare { of: "uint64_t".to_string(), name: held.clone(), value: None });
            let arguments = [array, index, Expr::word(element_bytes(width)), Expr::Name(format!("&{held}"))];
            let read = Expr::call("state_read", arguments);
            let code = self.nested(|body| body.put_number(into, Expr::Name(held), width.max(33)));
            self.push(Stmt::when(read, code));
            return;
        }
        let held = self.array(width);
        let read = Expr::call("state_read_wide", [array, index, Expr::word(limbs(width)), held.clone()]);
        let code = self.nested(|body| {
            let target = body.program().place_type(into).width();
            if target == width {
                body.put_wide(into, held, width);
            } else {
                body.unsupported("reading a register into a place of another width");
            }
        });
        self.push(Stmt::when(read, code));
    }

    fn write_register(&mut self, register: RegisterId, index: &Expression, value: &Expression) {
        let width = self.program().registers[register].width;
        let given = self.width_of(value);
        let index = self.amount(index);
        let array = self.register(register);
        if width <= 64 && given <= 64 {
            let value = self.value(value);
            let value = fitted(value, given, width);
            self.push(Stmt::call("state_write", [array, index, Expr::word(element_bytes(width)), value]));
        } else if width == given {
            let value = self.wide(value);
            self.push(Stmt::call("state_write_wide", [array, index, Expr::word(limbs(width)), value]));
        } else {
            self.unsupported("writing a register with a value of another width");
        }
    }

    fn hash(&mut self, algorithm: Algorithm, data: &[HashInput], into: Place) {
        if algorithm == Algorithm::InternetChecksum && self.sum_words((data, false), None, into, "~") {
            return;
        }
        let hash = self.hash_value_of(algorithm, data);
        self.put_number(into, hash, 64);
    }

    /// A hash as a number of 64 bits.
    pub fn hash_value_of(&mut self, algorithm: Algorithm, data: &[HashInput]) -> Expr {
        let (bytes, input) = self.hash_input(data);
        hash(self.unit, algorithm, bytes, Expr::call("hash_bytes", [Expr::Name(format!("&{input}"))]))
    }

    /// Gathers what is hashed; gives the bytes and the name of the input.
    fn hash_input(&mut self, data: &[HashInput]) -> (Expr, String) {
        let bytes = self.temporary("bytes");
        let input = self.temporary("input");
        let payload = data.contains(&HashInput::Payload);
        let fixed: u32 = data.iter().map(|piece| self.piece_bits(piece)).sum::<u32>() / 8 + 16;
        // Payload goes to memory of the worker, for it may be long.
        let room = if payload { fixed + 0x10000 } else { fixed };
        self.push(Stmt::Declare { of: "uint8_t".to_string(), name: format!("{bytes}[{room}]"), value: None });
        self.push(Stmt::declare("struct hash_input", &input, Expr::call("hash_begin", [Expr::name(&bytes)])));
        for piece in data {
            self.hash_piece(&input, piece);
        }
        (Expr::Name(bytes), input)
    }

    fn piece_bits(&self, piece: &HashInput) -> u32 {
        match piece {
            HashInput::Bits(value) => self.width_of(value),
            HashInput::Field(field) => self.program().field(*field).width,
            HashInput::Payload => 0,
        }
    }

    fn hash_piece(&mut self, input: &str, piece: &HashInput) {
        let input = Expr::Name(format!("&{input}"));
        match piece {
            HashInput::Bits(value) => self.hash_value(input, value),
            HashInput::Field(field) => {
                let before = self.present.clone();
                let valid = self.header_valid(field.header);
                let code = self.nested(|body| {
                    body.present[number(field.header)] = crate::body::Presence::Present;
                    body.hash_field(input, *field);
                });
                self.present = before;
                self.push(Stmt::when(valid, code));
            }
            HashInput::Payload => self.push(Stmt::call(
                "walk_hash_payload",
                [input, Expr::name("state->packet"), Expr::name("state->cursor")],
            )),
        }
    }

    /// A field of a header that is there.
    pub fn hash_field(&mut self, input: Expr, field: FieldRef) {
        if self.program().field(field).varbit {
            self.hash_varbit(input, field);
        } else {
            self.hash_value(input, &Expression::Field(field));
        }
    }

    fn hash_varbit(&mut self, input: Expr, field: FieldRef) {
        let arguments = [input, self.varbit_address(field), self.header_bits(field.header)];
        self.push(Stmt::call("hash_add_bytes", arguments));
    }

    fn hash_value(&mut self, input: Expr, value: &Expression) {
        let width = self.width_of(value);
        if width == 0 {
            return;
        }
        let (function, value) = match width {
            0..=64 => ("hash_add", self.value(value)),
            _ => ("hash_add_wide", self.wide(value)),
        };
        self.push(Stmt::call(function, [input, value, Expr::word(width)]));
    }

    fn random(&mut self, low: &Expression, high: &Expression, into: Place) {
        let width = self.program().place_type(into).width();
        let base = Expr::call("random_base", [Expr::name("run->worker->seed"), Expr::name("state->number")]);
        let draws = self.temporary("draws");
        self.push(Stmt::declare("uint64_t", &draws, Expr::name("state->draws")));
        let by_pointer = Expr::Name(format!("&{draws}"));
        if width <= 64 {
            let (low, high) = (self.value(low), self.value(high));
            let drawn = Expr::call("random_between", [base, by_pointer, low, high]);
            let drawn = if width <= 32 { Expr::cast("uint32_t", drawn) } else { drawn };
            self.put(into, drawn);
        } else {
            let (low, high) = (self.wide(low), self.wide(high));
            let array = self.array(width);
            self.push(Stmt::call(
                "random_between_wide",
                [base, by_pointer, array.clone(), low, high, Expr::word(width)],
            ));
            self.put_wide(into, array, width);
        }
        self.push(Stmt::set(Expr::name("state->draws"), Expr::Name(draws)));
    }

    fn word_list(&mut self, words: Vec<Expr>) -> Expr {
        if words.is_empty() {
            return Expr::name("NULL");
        }
        let name = self.temporary("widths");
        self.push(Stmt::declare("const uint32_t", format!("{name}[{}]", words.len()), Expr::List(words)));
        Expr::Name(name)
    }

    /// Values as limbs, each beginning a new one; their count, and their widths.
    fn limb_list(&mut self, values: &[Expression]) -> (Expr, Expr, Vec<Expr>) {
        if values.is_empty() {
            return (Expr::name("NULL"), Expr::word(0), Vec::new());
        }
        let mut members = Vec::new();
        let mut widths = Vec::new();
        for value in values {
            let width = self.width_of(value);
            widths.push(Expr::word(width));
            if width <= 64 {
                members.push(self.value(value));
                continue;
            }
            let array = self.wide(value);
            members.extend((0..limbs(width)).map(|limb| Expr::index(array.clone(), Expr::word(limb))));
        }
        let count = Expr::word(members.len() as u32);
        let name = self.temporary("values");
        self.push(Stmt::declare("const uint64_t", format!("{name}[{}]", members.len()), Expr::List(members)));
        (Expr::Name(name), count, widths)
    }
}
