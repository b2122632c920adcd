//! Counters, meters and registers: by index, or of an entry.

use super::table::counter_value;
use super::{Undo, Writer, only_modify};
use crate::data;
use crate::failure::{Failure, Outcome};
use crate::read::check_default;
use crate::schema::Indexed;
use crate::value;
use control::message::runtime::{self as message, Index, update::Type};
use control::plane::{CounterValue, Element, MeterRates};
use control::{Rate, Update};
use hlir::{CounterId, MeterId};
use std::ops::Range;
use tonic::Code;

impl<'a> Writer<'a> {
    pub(super) fn counter(&mut self, kind: Type, given: &message::CounterEntry) -> Outcome {
        only_modify(kind, "a counter")?;
        let object = find(&self.schema.counters, "counter", given.counter_id)?;
        let range = indices(object, given.index.as_ref())?;
        let Some(data) = &given.data else { return Ok(()) };
        let value = counter_value(data)?;
        for index in range {
            self.write_counter(object.object, Element::Index(index), value)?;
        }
        Ok(())
    }

    pub(super) fn direct_counter(&mut self, kind: Type, given: &message::DirectCounterEntry) -> Outcome {
        only_modify(kind, "a direct counter")?;
        let (table, element) = self.direct(given.table_entry.as_ref())?;
        let Some(counter) = table.counter else {
            return Err(Failure::invalid(format!("table `{}` has no direct counter", table.name)));
        };
        self.plane().store().check_counter(counter, &element)?;
        let Some(data) = &given.data else { return Ok(()) };
        self.write_counter(counter, element, counter_value(data)?)
    }

    pub(super) fn write_counter(&mut self, counter: CounterId, element: Element, value: CounterValue) -> Outcome {
        let plane = self.switch.plane();
        plane.store().check_counter(counter, &element)?;
        let before = plane.read_counter(counter, &element)?;
        plane.write_counter(counter, &element, value)?;
        self.undo.push(Undo::Counter(counter, element, before));
        Ok(())
    }

    pub(super) fn meter(&mut self, kind: Type, given: &message::MeterEntry) -> Outcome {
        only_modify(kind, "a meter")?;
        let object = find(&self.schema.meters, "meter", given.meter_id)?;
        refuse_colours(given.counter_data.as_ref())?;
        let range = indices(object, given.index.as_ref())?;
        let rates = given.config.as_ref().map(meter_rates).transpose()?;
        for index in range {
            self.apply(&Update::SetMeter { meter: object.object, element: Element::Index(index), rates })?;
        }
        Ok(())
    }

    pub(super) fn direct_meter(&mut self, kind: Type, given: &message::DirectMeterEntry) -> Outcome {
        only_modify(kind, "a direct meter")?;
        refuse_colours(given.counter_data.as_ref())?;
        let (table, element) = self.direct(given.table_entry.as_ref())?;
        let Some(meter) = table.meter else {
            return Err(Failure::invalid(format!("table `{}` has no direct meter", table.name)));
        };
        let rates = given.config.as_ref().map(meter_rates).transpose()?;
        let rates = rates.or_else(|| self.default_rates(meter, &element));
        self.apply(&Update::SetMeter { meter, element, rates })
    }

    /// The rates of a direct meter's element to which a controller gives none: those of the array for an entry, and green for a
    /// default action, which has no element in BMv2.
    pub(super) fn default_rates(&mut self, meter: MeterId, element: &Element) -> Option<MeterRates> {
        match element {
            Element::Entry(_) => self.plane().store().array_rates(meter),
            Element::Default(_) | Element::Index(_) => None,
        }
    }

    /// The table and the element of an entry, or of a default action.
    fn direct(&self, given: Option<&message::TableEntry>) -> Outcome<(&'a crate::schema::TableSchema, Element)> {
        let given = given.ok_or_else(|| Failure::invalid("the table entry is not set"))?;
        let table = self.schema.table(given.table_id)?;
        if given.is_default_action {
            check_default(given)?;
            return Ok((table, Element::Default(table.table)));
        }
        Ok((table, Element::Entry(self.key(table, given)?)))
    }

    pub(super) fn register(&mut self, kind: Type, given: &message::RegisterEntry) -> Outcome {
        only_modify(kind, "a register")?;
        let schema = self.schema;
        let register = schema.registers.iter().find(|register| register.indexed.id == given.register_id);
        let register = register.ok_or_else(|| crate::schema::no_such("register", given.register_id))?;
        let range = indices(&register.indexed, given.index.as_ref())?;
        let data = given.data.as_ref().ok_or_else(|| Failure::invalid("the value is not set"))?;
        let value = data::read_element(schema, &register.element, register.width, data, &register.indexed.name)?;
        let object = register.indexed.object;
        let plane = self.switch.plane();
        for index in range {
            plane.store().check_register(object, index, Some(&value))?;
            let before = plane.read_register(object, index)?;
            plane.write_register(object, index, &value)?;
            self.undo.push(Undo::Register(object, index, before));
        }
        Ok(())
    }
}

fn refuse_colours(data: Option<&message::MeterCounterData>) -> Outcome {
    match data {
        Some(_) => Err(Failure::unsupported("meters of this switch do not count by colour")),
        None => Ok(()),
    }
}

pub fn find<'s, T>(objects: &'s [Indexed<T>], kind: &str, id: u32) -> Outcome<&'s Indexed<T>> {
    objects.iter().find(|object| object.id == id).ok_or_else(|| crate::schema::no_such(kind, id))
}

/// One element, or without an index all of them.
pub fn indices<T>(object: &Indexed<T>, index: Option<&Index>) -> Outcome<Range<u64>> {
    let Some(Index { index }) = index else { return Ok(0..object.size) };
    let index = value::count(*index, "the index")?;
    if index >= object.size {
        let sentence = format!("`{}` has the indices 0 to {}, not {index}", object.name, object.size.saturating_sub(1));
        return Err(Failure::new(Code::OutOfRange, sentence));
    }
    Ok(index..index + 1)
}

/// Every meter of P4 has two rates and three colours.
pub fn meter_rates(config: &message::MeterConfig) -> Outcome<MeterRates> {
    if config.eburst != 0 {
        return Err(Failure::invalid("a meter of two rates has no excess burst"));
    }
    let committed = Rate::of_units(value::count(config.cir, "the committed rate")?);
    let committed = (committed, value::count(config.cburst, "the committed burst")?);
    let peak = Rate::of_units(value::count(config.pir, "the peak rate")?);
    let peak = (peak, value::count(config.pburst, "the peak burst")?);
    MeterRates::new(committed, peak).map_err(|falling| Failure::invalid(falling.to_string()))
}
