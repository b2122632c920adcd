//! Entries of tables and default actions, as controllers read them.

use super::Reader;
use crate::failure::{Failure, Outcome};
use crate::port::{PortWriter, Written};
use crate::schema::{Schema, TableSchema};
use crate::value::{int32, int64};
use crate::write::entry_key;
use control::Store;
use control::message::runtime::{
    ActionProfileAction, ActionProfileActionSet, CounterData, MeterConfig, TableAction, TableEntry,
    action_profile_action, action_profile_action_set, entity::Entity, table_action, table_entry,
};
use control::note;
use control::plane::{CounterValue, Element, EntryKey, MeterRates};
use control::store::{Origin, Stored};
use hlir::entry::EntryAction;
use hlir::interface::SizeSemantics;
use hlir::{ActionSet, WeightedCall};

impl<'a> Reader<'a> {
    pub(super) fn table_entries(&mut self, filter: &TableEntry) -> Outcome {
        let schema = self.schema;
        if filter.meter_counter_data.is_some() {
            return Err(Failure::unsupported("meters of this switch do not count by colour"));
        }
        let tables: Vec<&TableSchema> = match filter.table_id {
            0 => schema.tables().collect(),
            id => vec![schema.table(id)?],
        };
        let one = filter.table_id != 0;
        if one && filter.time_since_last_hit.is_some() && !tables[0].idle_timeout {
            return Err(Failure::invalid(format!("table `{}` has no idle timeout", tables[0].name)));
        }
        for table in tables {
            if filter.is_default_action {
                self.default_action(table, filter)?;
            } else if !filter.r#match.is_empty() {
                // Without a table there is nothing that a match could be of.
                if !one {
                    return Err(Failure::invalid("a match needs the id of its table"));
                }
                let found = matching(self.switch.plane().store(), schema, table, filter)?;
                self.entries(table, found, filter)?;
            } else {
                self.all_entries(table, filter)?;
            }
        }
        Ok(())
    }

    /// A table can have millions: where nothing but the store is asked, they are encoded one by one as they are found.
    fn all_entries(&mut self, table: &TableSchema, filter: &TableEntry) -> Outcome {
        if asks_switch(table, filter) {
            let found = self.switch.plane().store().entries(table.table).collect();
            return self.entries(table, found, filter);
        }
        let (schema, answers) = (self.schema, &mut self.answers);
        for stored in self.switch.plane().store().entries(table.table) {
            let entry = entry(schema, table, &stored);
            if passes(&entry, filter) {
                let entity = Some(Entity::TableEntry(entry));
                answers.push(&control::message::runtime::Entity { entity });
            }
        }
        Ok(())
    }

    fn entries(&mut self, table: &TableSchema, found: Vec<Stored>, filter: &TableEntry) -> Outcome {
        for stored in found {
            let mut entry = entry(self.schema, table, &stored);
            if !passes(&entry, filter) {
                continue;
            }
            let key = key_of(table, &stored);
            self.direct_objects(table, &mut entry, &Element::Entry(key.clone()), filter)?;
            if filter.time_since_last_hit.is_some() && table.idle_timeout && stored.origin != Origin::Constant {
                let elapsed_ns = int64(self.switch.since_last_hit_ns(&key)?);
                entry.time_since_last_hit = Some(table_entry::IdleTimeout { elapsed_ns });
            }
            self.answer(Entity::TableEntry(entry));
        }
        Ok(())
    }

    fn default_action(&mut self, table: &TableSchema, filter: &TableEntry) -> Outcome {
        check_default(filter)?;
        let schema = self.schema;
        let call = self.switch.plane().store().default_action(table.table);
        let action = table.actions.write(call, &schema.dictionaries).filter(|_| table.has_default);
        let (controller_metadata, metadata) = note::unpack(self.switch.plane().store().default_metadata(table.table));
        let mut entry = TableEntry {
            table_id: table.id,
            action: action.map(|action| TableAction { r#type: Some(table_action::Type::Action(action)) }),
            is_default_action: true,
            is_const: table.has_constant_default,
            controller_metadata,
            metadata,
            ..TableEntry::default()
        };
        if passes(&entry, filter) {
            self.direct_objects(table, &mut entry, &Element::Default(table.table), filter)?;
            self.answer(Entity::TableEntry(entry));
        }
        Ok(())
    }

    /// The counter and the meter that the filter asks for.
    fn direct_objects(
        &mut self,
        table: &TableSchema,
        entry: &mut TableEntry,
        element: &Element,
        filter: &TableEntry,
    ) -> Outcome {
        if let (Some(_), Some(counter)) = (&filter.counter_data, table.counter) {
            entry.counter_data = Some(counter_data(self.switch.plane().read_counter(counter, element)?));
        }
        if let (Some(_), Some(meter)) = (&filter.meter_config, table.meter) {
            entry.meter_config = self.switch.plane().store().meter_rates(meter, element)?.map(meter_config);
        }
        Ok(())
    }
}

/// What the entry of a default action may not have, in a request of any kind (P4Runtime 1.5, 9.1.3 and 9.1.8).
pub fn check_default(given: &TableEntry) -> Outcome {
    if !given.r#match.is_empty() || given.priority != 0 {
        return Err(Failure::invalid("a default action has neither matches nor a priority"));
    }
    if given.idle_timeout_ns != 0 || given.time_since_last_hit.is_some() {
        return Err(Failure::invalid("a default action has no idle timeout"));
    }
    Ok(())
}

/// The entries with the key of a filter. Priority 0 is no filter: entries of each priority may have the key (P4Runtime 1.5, 9.1.6).
pub fn matching(store: &Store, schema: &Schema, table: &TableSchema, filter: &TableEntry) -> Outcome<Vec<Stored>> {
    if table.has_priorities && filter.priority == 0 {
        let matches = table.keys.read(&filter.r#match, &schema.dictionaries)?;
        return Ok(store.of_each_priority(table.table, &matches).collect());
    }
    let key = entry_key(schema, table, filter)?;
    Ok(store.find(&key).into_iter().collect())
}

fn asks_switch(table: &TableSchema, filter: &TableEntry) -> bool {
    (filter.counter_data.is_some() && table.counter.is_some())
        || (filter.meter_config.is_some() && table.meter.is_some())
        || (filter.time_since_last_hit.is_some() && table.idle_timeout)
}

pub fn key_of(table: &TableSchema, stored: &Stored) -> EntryKey {
    let entry = &stored.entry;
    EntryKey { table: table.table, matches: entry.matches.clone(), priority: entry.priority }
}

fn entry(schema: &Schema, table: &TableSchema, stored: &Stored) -> TableEntry {
    let (controller_metadata, metadata) = note::unpack(&stored.metadata);
    TableEntry {
        table_id: table.id,
        r#match: table.keys.write(&stored.entry.matches, &schema.dictionaries),
        action: action(schema, table, stored),
        priority: if table.has_priorities { stored.entry.priority as i32 } else { 0 },
        controller_metadata,
        metadata,
        idle_timeout_ns: int64(stored.idle_timeout_ns),
        is_const: stored.origin == Origin::Constant,
        ..TableEntry::default()
    }
}

fn action(schema: &Schema, table: &TableSchema, stored: &Stored) -> Option<TableAction> {
    use table_action::Type;
    let made = match &stored.entry.action {
        EntryAction::Call(call) => Type::Action(table.actions.write(call, &schema.dictionaries)?),
        EntryAction::Member(member) => Type::ActionProfileMemberId(*member),
        EntryAction::Group(group) => Type::ActionProfileGroupId(*group),
        EntryAction::Set(set) => Type::ActionProfileActionSet(action_set(schema, table, set)),
    };
    Some(TableAction { r#type: Some(made) })
}

fn action_set(schema: &Schema, table: &TableSchema, set: &ActionSet) -> ActionProfileActionSet {
    use action_profile_action::WatchKind;
    use action_profile_action_set::SizeSemantics as Size;
    let (mut ports, attached) = PortWriter::new(&set.note, schema);
    let action = |written: &WeightedCall| ActionProfileAction {
        action: table.actions.write(&written.call, &schema.dictionaries),
        weight: int32(written.weight),
        watch_kind: written.watch.map(|port| match ports.next(port) {
            Written::Bytes(port) => WatchKind::WatchPort(port),
            Written::Number(port) => WatchKind::Watch(int32(port)),
        }),
    };
    let semantics = match set.semantics {
        None => Size::DefaultSizeDeterminedByActionSelector,
        Some(SizeSemantics::SumOfWeights) => Size::SumOfWeights,
        Some(SizeSemantics::SumOfMembers(_)) => Size::SumOfMembers,
    };
    ActionProfileActionSet {
        action_profile_actions: set.actions.iter().map(action).collect(),
        action_selection_mode: attached.first().copied().unwrap_or(0).into(),
        size_semantics: semantics.into(),
    }
}

/// What a filter leaves at its default value is open.
fn passes(entry: &TableEntry, filter: &TableEntry) -> bool {
    let action_id = |action: &Option<TableAction>| match action.as_ref().and_then(|action| action.r#type.as_ref()) {
        Some(table_action::Type::Action(action)) => Some(action.action_id),
        Some(
            table_action::Type::ActionProfileMemberId(_)
            | table_action::Type::ActionProfileGroupId(_)
            | table_action::Type::ActionProfileActionSet(_),
        )
        | None => None,
    };
    let wanted = action_id(&filter.action);
    (filter.priority == 0 || filter.priority == entry.priority)
        && (filter.metadata.is_empty() || filter.metadata == entry.metadata)
        && (filter.controller_metadata == 0 || filter.controller_metadata == entry.controller_metadata)
        && (wanted.is_none() || wanted == action_id(&entry.action))
}

/// The entry of an idle notification; none if it was deleted.
pub fn idle_entry(schema: &Schema, key: &EntryKey, stored: Option<Stored>) -> Option<TableEntry> {
    let (table, stored) = (schema.table_of(key.table)?, stored?);
    let (controller_metadata, metadata) = note::unpack(&stored.metadata);
    Some(TableEntry {
        table_id: table.id,
        r#match: table.keys.write(&key.matches, &schema.dictionaries),
        priority: if table.has_priorities { key.priority as i32 } else { 0 },
        idle_timeout_ns: int64(stored.idle_timeout_ns),
        controller_metadata,
        metadata,
        ..TableEntry::default()
    })
}

pub fn counter_data(value: CounterValue) -> CounterData {
    CounterData { byte_count: int64(value.bytes), packet_count: int64(value.packets) }
}

/// Without the fractions that a Thrift client gave the rates, as P4Runtime has whole units a second. BMv2 cuts them off, too
/// (`PI/src/direct_res_spec.cpp`).
pub fn meter_config(rates: MeterRates) -> MeterConfig {
    MeterConfig {
        cir: int64(rates.committed_rate.whole()),
        cburst: int64(rates.committed_burst),
        pir: int64(rates.peak_rate.whole()),
        pburst: int64(rates.peak_burst),
        eburst: 0,
    }
}
