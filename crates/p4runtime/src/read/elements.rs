//! Counters, meters and registers, as controllers read them.

use super::table::{check_default, counter_data, key_of, matching, meter_config};
use super::{Reader, chosen};
use crate::data;
use crate::failure::{Failure, Outcome};
use crate::schema::TableSchema;
use crate::write::{find, indices};
use control::message::runtime::{
    CounterEntry, DirectCounterEntry, DirectMeterEntry, Index, MeterCounterData, MeterEntry, RegisterEntry, TableEntry,
    entity::Entity,
};
use control::plane::Element;

impl<'a> Reader<'a> {
    pub(super) fn counters(&mut self, filter: &CounterEntry) -> Outcome {
        let schema = self.schema;
        if filter.counter_id != 0 {
            find(&schema.counters, "counter", filter.counter_id)?;
        }
        for object in schema.counters.iter().filter(|object| chosen(object.id, filter.counter_id)) {
            // Without a counter the index means nothing.
            let index = filter.index.as_ref().filter(|_| filter.counter_id != 0);
            for index in indices(object, index)? {
                let value = self.switch.plane().read_counter(object.object, &Element::Index(index))?;
                self.answer(Entity::CounterEntry(CounterEntry {
                    counter_id: object.id,
                    index: Some(Index { index: index as i64 }),
                    data: Some(counter_data(value)),
                }));
            }
        }
        Ok(())
    }

    pub(super) fn meters(&mut self, filter: &MeterEntry) -> Outcome {
        let schema = self.schema;
        refuse_colours(filter.counter_data.as_ref())?;
        if filter.meter_id != 0 {
            find(&schema.meters, "meter", filter.meter_id)?;
        }
        for object in schema.meters.iter().filter(|object| chosen(object.id, filter.meter_id)) {
            let index = filter.index.as_ref().filter(|_| filter.meter_id != 0);
            for index in indices(object, index)? {
                let rates = self.switch.plane().store().meter_rates(object.object, &Element::Index(index))?;
                self.answer(Entity::MeterEntry(MeterEntry {
                    meter_id: object.id,
                    index: Some(Index { index: index as i64 }),
                    config: rates.map(meter_config),
                    counter_data: None,
                }));
            }
        }
        Ok(())
    }

    pub(super) fn registers(&mut self, filter: &RegisterEntry) -> Outcome {
        let schema = self.schema;
        if filter.register_id != 0 && !schema.registers.iter().any(|found| found.indexed.id == filter.register_id) {
            return Err(crate::schema::no_such("register", filter.register_id));
        }
        for register in schema.registers.iter().filter(|found| chosen(found.indexed.id, filter.register_id)) {
            let index = filter.index.as_ref().filter(|_| filter.register_id != 0);
            for index in indices(&register.indexed, index)? {
                let element = self.switch.plane().read_register(register.indexed.object, index)?;
                let value = data::write_element(schema, &register.element, register.width, element)?;
                self.answer(Entity::RegisterEntry(RegisterEntry {
                    register_id: register.indexed.id,
                    index: Some(Index { index: index as i64 }),
                    data: Some(value),
                }));
            }
        }
        Ok(())
    }

    pub(super) fn direct_counters(&mut self, filter: &DirectCounterEntry) -> Outcome {
        for (table, element) in self.direct(filter.table_entry.as_ref(), |table| table.counter.is_some(), "counter")? {
            let Some(counter) = table.counter else { continue };
            let value = self.switch.plane().read_counter(counter, &element)?;
            let table_entry = Some(named(self.schema, table, &element));
            let data = Some(counter_data(value));
            self.answer(Entity::DirectCounterEntry(DirectCounterEntry { table_entry, data }));
        }
        Ok(())
    }

    pub(super) fn direct_meters(&mut self, filter: &DirectMeterEntry) -> Outcome {
        refuse_colours(filter.counter_data.as_ref())?;
        for (table, element) in self.direct(filter.table_entry.as_ref(), |table| table.meter.is_some(), "meter")? {
            let Some(meter) = table.meter else { continue };
            let rates = self.switch.plane().store().meter_rates(meter, &element)?;
            let table_entry = Some(named(self.schema, table, &element));
            let config = rates.map(meter_config);
            self.answer(Entity::DirectMeterEntry(DirectMeterEntry { table_entry, config, counter_data: None }));
        }
        Ok(())
    }

    /// The elements that a filter of direct objects names: those of all entries, of a table's entries, of one entry, or of default actions.
    fn direct(
        &mut self,
        filter: Option<&TableEntry>,
        has: impl Fn(&TableSchema) -> bool,
        what: &str,
    ) -> Outcome<Vec<(&'a TableSchema, Element)>> {
        let schema = self.schema;
        let filter = filter.ok_or_else(|| Failure::invalid("the table entry is not set"))?;
        let tables: Vec<&TableSchema> = match filter.table_id {
            0 => schema.tables().filter(|table| has(table)).collect(),
            id => vec![schema.table(id)?],
        };
        if let Some(without) = tables.iter().find(|table| !has(table)) {
            return Err(Failure::invalid(format!("table `{}` has no direct {what}", without.name)));
        }
        if filter.is_default_action {
            check_default(filter)?;
            return Ok(tables.into_iter().map(|table| (table, Element::Default(table.table))).collect());
        }
        let store = self.switch.plane().store();
        if let ([table], false) = (&tables[..], filter.r#match.is_empty()) {
            let found = matching(store, schema, table, filter)?;
            if found.is_empty() {
                return Err(Failure::missing(format!("table `{}` has no such entry", table.name)));
            }
            return Ok(found.iter().map(|stored| (*table, Element::Entry(key_of(table, stored)))).collect());
        }
        let mut found = Vec::new();
        for table in tables {
            let stored = store.entries(table.table);
            let chosen =
                stored.filter(|stored| filter.priority == 0 || filter.priority.try_into() == Ok(stored.entry.priority));
            found.extend(chosen.map(|stored| (table, Element::Entry(key_of(table, &stored)))));
        }
        Ok(found)
    }
}

/// An entry without what it does.
fn named(schema: &crate::schema::Schema, table: &TableSchema, element: &Element) -> TableEntry {
    match element {
        Element::Entry(key) => TableEntry {
            table_id: table.id,
            r#match: table.keys.write(&key.matches, &schema.dictionaries),
            priority: if table.has_priorities { key.priority as i32 } else { 0 },
            ..TableEntry::default()
        },
        Element::Default(_) | Element::Index(_) => {
            TableEntry { table_id: table.id, is_default_action: true, ..TableEntry::default() }
        }
    }
}

fn refuse_colours(data: Option<&MeterCounterData>) -> Outcome {
    match data {
        Some(_) => Err(Failure::unsupported("meters of this switch do not count by colour")),
        None => Ok(()),
    }
}
