//! Calls: counters, registers, meters, hashes, and the other objects that outlive a packet.

use crate::aging::{Idle, Timer};
use crate::bytes::BitString;
use crate::execute::{Interrupt, Walker};
use crate::hash;
use crate::meter::{Colour, MeterElement};
use crate::script::Chooser;
use crate::state::index_of;
use crate::storage::number;
use crate::tables::Invocation;
use control::plane::{CounterValue, DigestRecord};
use hlir::DEFAULT_INDEX;
use hlir::value::Value;
use hlir::{Call, CounterId, Expression, HashInput, MeterId, MeterUnit, Place, TableId};

impl<'p> Walker<'_, 'p> {
    pub fn call(&mut self, call: &'p Call) -> Result<(), Interrupt<'p>> {
        match call {
            Call::Count { counter, index } => self.count(*counter, index.as_ref()),
            Call::ReadRegister { register, index, into } => {
                let index = self.value(index).to_u64();
                if let Some(value) = self.switch.state.register(*register, index) {
                    self.put(*into, value);
                }
            }
            Call::WriteRegister { register, index, value } => {
                let (index, value) = (self.value(index).to_u64(), self.value(value));
                self.switch.state.set_register(*register, index, value.bits);
            }
            Call::ExecuteMeter { meter, index, colour, into } => {
                self.meter(*meter, index.as_ref(), colour.as_ref(), *into);
            }
            Call::Hash { algorithm, data, into } => {
                let hash = self.switch.state.hash(*algorithm, &self.hash_data(data));
                self.put(*into, Value::word(hash.into(), 64));
            }
            Call::AddChecksum { sum, data, subtract } => self.add_checksum(*sum, data, *subtract),
            Call::Random { low, high, into } => self.random(low, high, *into),
            Call::SendDigest { digest, values } => {
                let values = values.iter().map(|value| self.value(value).bits.to_big()).collect();
                self.switch.outcome.digests.push(DigestRecord { digest: *digest, values });
            }
            Call::Log { format, arguments } => self.log(format, arguments),
            Call::Assert { condition, text } => {
                if !self.view().holds(condition) {
                    return Err(Interrupt::Stop(format!("assertion failed: {text}")));
                }
            }
            Call::AddEntry { table, action, arguments, expiry, into } => {
                let idle = Idle {
                    timer: self.profile(expiry.as_ref()).map(Timer::Profile),
                    restarted_ns: self.switch.state.clock_ns,
                    ..Idle::default()
                };
                self.add_entry(*table, *action, arguments, idle, *into);
            }
            Call::RestartTimer { expiry } => {
                if let Some((table, entry)) = self.hit() {
                    let (profile, now) = (self.profile(expiry.as_ref()), self.switch.state.clock_ns);
                    self.switch.state.table_mut(table).restart(entry, profile, now);
                }
            }
            Call::Custom { object, function, arguments, into } => self.custom(*object, function, arguments, *into)?,
        }
        Ok(())
    }

    fn count(&mut self, counter: CounterId, index: Option<&Expression>) {
        let bytes = self.packet.bytes.len() as u64;
        let index = index.map(|index| self.value(index).to_u64());
        let (of, own) = (self.switch.program.counters[counter].table, self.own_index());
        let state = &mut self.switch.state;
        let element = match (index, of, own) {
            // Of a source of a joint table: hidden actions know the index of its entry.
            (Some(index), Some(table), _) => state.direct_counter(counter, table, index),
            (Some(index), None, _) => state.counter_element(counter, index),
            (None, _, Some((table, index))) => state.direct_counter(counter, table, index),
            (None, _, None) => None,
        };
        if let Some(CounterValue { packets, bytes: total }) = element {
            *packets += 1;
            *total += bytes;
        }
    }

    /// The table whose action is running, and the index that the entry or the default action has in its direct counters and meters.
    fn own_index(&self) -> Option<(TableId, u64)> {
        let running = self.running.as_ref()?;
        Some((running.table, running.entry.map_or(DEFAULT_INDEX, index_of)))
    }

    /// The table whose action is running, and the entry that was hit.
    fn hit(&self) -> Option<(TableId, usize)> {
        let running = self.running.as_ref()?;
        Some((running.table, running.entry?))
    }

    fn meter(&mut self, meter: MeterId, index: Option<&Expression>, colour: Option<&Expression>, into: Place) {
        let before = colour.map_or(Colour::Green, |colour| Colour::from_number(self.value(colour).to_u64()));
        let cost = self.meter_cost(meter);
        let index = index.map(|index| self.value(index).to_u64());
        let (of, own) = (self.switch.program.meters[meter].table, self.own_index());
        let state = &mut self.switch.state;
        let now = state.clock_ns;
        let element = match (index, of, own) {
            (Some(index), Some(table), _) => measuring(state.direct_meter(meter, table, index), index),
            (Some(index), None, _) => state.meter_element(meter, index),
            (None, _, Some((table, index))) => measuring(state.direct_meter(meter, table, index), index),
            (None, _, None) => None,
        };
        if let Some(element) = element {
            let colour = MeterElement::execute(element, cost, before, now);
            self.put(into, Value::word(colour.number(), 8));
        }
    }

    fn meter_cost(&self, meter: MeterId) -> u64 {
        match self.switch.program.meters[meter].unit {
            MeterUnit::Packets => 1,
            MeterUnit::Bytes => self.packet.bytes.len() as u64,
        }
    }

    /// What counts and measures every packet of a table by itself: for the entry that was hit, or for the default action.
    pub fn run_automatic(&mut self, table: TableId, entry: Option<usize>) {
        let index = entry.map_or(DEFAULT_INDEX, index_of);
        let program = self.switch.program;
        for at in 0..self.switch.state.direct_counters[number(table)].len() {
            let counter = self.switch.state.direct_counters[number(table)][at];
            if program.counters[counter].automatic {
                self.count(counter, None);
            }
        }
        let now = self.switch.state.clock_ns;
        for at in 0..self.switch.state.direct_meters[number(table)].len() {
            let meter = self.switch.state.direct_meters[number(table)][at];
            let Some(into) = program.meters[meter].automatic else { continue };
            let cost = self.meter_cost(meter);
            if let Some(element) = measuring(self.switch.state.direct_meter(meter, table, index), index) {
                let colour = element.execute(cost, Colour::Green, now);
                self.put(into, Value::word(colour.number(), 8));
            }
        }
    }

    pub fn hash_data(&self, data: &[HashInput]) -> Vec<u8> {
        let mut string = BitString::with_room(64);
        for input in data {
            match input {
                HashInput::Bits(value) => string.push(&self.value(value)),
                HashInput::Field(field) => {
                    if self.packet.storage.is_valid(field.header) {
                        string.push(&self.packet.storage.field(&self.switch.layout, *field));
                    }
                }
                HashInput::Payload => string.push_bytes(self.packet.payload()),
            }
        }
        string.into_bytes()
    }

    fn add_checksum(&mut self, sum: Place, data: &[HashInput], subtract: bool) {
        let bytes = self.hash_data(data);
        let before = self.value(&Expression::place(sum)).to_u64() as u16;
        let after = if subtract {
            hash::ones_complement_subtract(before, &bytes)
        } else {
            hash::ones_complement_sum(before, &bytes)
        };
        self.put(sum, Value::word(after.into(), 16));
    }

    fn random(&mut self, low: &Expression, high: &Expression, into: Place) {
        let (low, high) = (self.value(low), self.value(high));
        let width = self.switch.layout.place_width(into);
        let (low, high) = (low.bits.to_big(), high.bits.to_big());
        let mut number = self.packet.draws.between(&low, &high, width);
        if self.switch.is_followed() && high >= low {
            let options = u128::try_from(&high - &low).map_or(u128::MAX, |last| last.saturating_add(1));
            number = low + self.switch.pick(Chooser::Random, options);
        }
        self.put(into, Value::big(&number, width));
    }

    fn log(&mut self, format: &str, arguments: &[Expression]) {
        let mut pieces = format.split("{}");
        let mut line = pieces.next().unwrap_or_default().to_string();
        let mut arguments = arguments.iter();
        for piece in pieces {
            match arguments.next() {
                Some(argument) => line.push_str(&self.value(argument).bits.to_big().to_string()),
                None => line.push_str("{}"),
            }
            line.push_str(piece);
        }
        self.switch.outcome.log.push(line);
    }

    /// The number of a profile: its low eight bits.
    fn profile(&self, expiry: Option<&Expression>) -> Option<u8> {
        expiry.map(|expiry| self.value(expiry).to_u64() as u8)
    }

    fn add_entry(&mut self, table: TableId, action: u32, arguments: &[Expression], idle: Idle, into: Option<Place>) {
        let parameters = &self.switch.program.tables[table].actions[action as usize].parameters;
        let arguments = arguments.iter().zip(parameters);
        let arguments = arguments.map(|(argument, parameter)| self.value(argument).resize(parameter.width)).collect();
        let missed = self.running.as_ref().filter(|running| running.table == table && running.entry.is_none());
        let inserted = match missed.map(|running| running.key.clone()) {
            Some(key) => self.switch.state.table_mut(table).insert_missed(&key, Invocation { action, arguments }, idle),
            None => false,
        };
        if let Some(into) = into {
            self.put(into, Value::bool(!inserted));
        }
    }
}

/// The direct meter with this index, if it measures: that of a default action only with rates, so that a miss leaves the colour as it is where no
/// controller has set any.
fn measuring(element: Option<&mut MeterElement>, index: u64) -> Option<&mut MeterElement> {
    element.filter(|element| index != DEFAULT_INDEX || element.rates().is_some())
}
