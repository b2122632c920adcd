//! Entries of tables and default actions.

use super::{Undo, Writer};
use crate::failure::{Failure, Outcome};
use crate::read::check_default;
use crate::schema::TableSchema;
use crate::value;
use control::message::runtime::{self as message, TableAction, entity::Entity, table_action, update::Type};
use control::note;
use control::plane::{CounterValue, Element, EntryKey};
use control::store::{Origin, Stored};
use control::{Record, Update};
use hlir::entry::EntryAction;
use hlir::{Entry, Scope};
use tonic::Code;

impl<'a> Writer<'a> {
    pub(super) fn table_entry(&mut self, kind: Type, given: &message::TableEntry) -> Outcome {
        let table = self.schema.table(given.table_id)?;
        // For every kind of update (P4Runtime 1.5, 9.1).
        if given.is_const {
            return Err(Failure::invalid("`is_const` is only read: constant entries are those of the program"));
        }
        if given.is_default_action {
            return self.default_entry(kind, table, given);
        }
        if kind == Type::Delete {
            let key = self.key(table, given)?;
            return self.delete_entry(table, &key);
        }
        check_direct(table, given)?;
        let key = self.key(table, given)?;
        match kind {
            Type::Insert => self.insert_entry(table, key, given),
            Type::Modify | Type::Delete | Type::Unspecified => self.modify_entry(table, key, given),
        }
    }

    /// What identifies an entry.
    pub(super) fn key(&self, table: &TableSchema, given: &message::TableEntry) -> Outcome<EntryKey> {
        entry_key(self.schema, table, given)
    }

    fn insert_entry(&mut self, table: &TableSchema, key: EntryKey, given: &message::TableEntry) -> Outcome {
        let update = self.insertion(table, key, given)?;
        self.apply(&update)?;
        if !has_extras(given) && !self.has_array_rates(table) {
            return Ok(());
        }
        let Update::Insert { table: of, entry } = update else { return Ok(()) };
        let key = EntryKey { table: of, matches: entry.matches, priority: entry.priority };
        let note = note::pack(given.controller_metadata, &given.metadata);
        if !note.is_empty() {
            self.apply(&Update::Record(Record::Metadata { key: key.clone(), metadata: note }))?;
        }
        if given.idle_timeout_ns > 0 {
            let nanoseconds = given.idle_timeout_ns as u64;
            self.apply(&Update::SetIdleTimeout { key: key.clone(), nanoseconds })?;
        }
        self.set_direct(table, &Element::Entry(key), given)
    }

    fn insertion(&self, table: &TableSchema, key: EntryKey, given: &message::TableEntry) -> Outcome<Update> {
        let action = given.action.as_ref().ok_or_else(|| Failure::invalid("an entry needs an action"))?;
        let action = self.entry_action(table, action)?;
        let entry = Entry { matches: key.matches, priority: key.priority, action, constant: false };
        Ok(Update::Insert { table: key.table, entry })
    }

    /// The updates up to the first that is no new entry, brings more than an action, or is wrong.
    pub(super) fn leading_insertions(&mut self, updates: &[message::Update]) -> Vec<Update> {
        updates.iter().map_while(|update| self.plain_insertion(update)).collect()
    }

    fn plain_insertion(&mut self, update: &message::Update) -> Option<Update> {
        let Some(Entity::TableEntry(given)) = update.entity.as_ref()?.entity.as_ref() else { return None };
        let is_more = given.is_const || given.is_default_action || has_extras(given);
        if update.r#type() != Type::Insert || is_more {
            return None;
        }
        let table = self.schema.table(given.table_id).ok()?;
        check_direct(table, given).ok()?;
        // Rates come behind the entry.
        if self.has_array_rates(table) {
            return None;
        }
        self.insertion(table, self.key(table, given).ok()?, given).ok()
    }

    /// Whether entries without rates of their own get some.
    fn has_array_rates(&mut self, table: &TableSchema) -> bool {
        table.meter.is_some_and(|meter| self.plane().store().array_rates(meter).is_some())
    }

    fn modify_entry(&mut self, table: &TableSchema, key: EntryKey, given: &message::TableEntry) -> Outcome {
        let before = self.plane().store().find(&key);
        if let Some(before) = &before {
            if before.origin == Origin::Constant && given.action.is_some() {
                let sentence = format!("table `{}` keeps the action of this entry constant", table.name);
                return Err(Failure::new(Code::PermissionDenied, sentence));
            }
        } else if !self.schema.program.tables[table.table].add_on_miss {
            return Err(Failure::missing(format!("table `{}` has no such entry", table.name)));
        }
        if let Some(action) = &given.action {
            let action = self.entry_action(table, action)?;
            let (matches, priority) = (key.matches.clone(), key.priority);
            let entry = Entry { matches, priority, action, constant: false };
            self.apply(&Update::Modify { table: key.table, entry })?;
        }
        let constant = before.as_ref().is_some_and(|before| before.origin == Origin::Constant);
        if !constant && let Some(before) = before {
            self.modify_extras(table, &key, given, &before)?;
        }
        self.set_direct(table, &Element::Entry(key), given)
    }

    fn modify_extras(
        &mut self,
        table: &TableSchema,
        key: &EntryKey,
        given: &message::TableEntry,
        before: &Stored,
    ) -> Outcome {
        let note = note::pack(given.controller_metadata, &given.metadata);
        if note != before.metadata {
            self.apply(&Update::Record(Record::Metadata { key: key.clone(), metadata: note }))?;
        }
        let nanoseconds = given.idle_timeout_ns as u64;
        if table.idle_timeout && nanoseconds != before.idle_timeout_ns {
            self.apply(&Update::SetIdleTimeout { key: key.clone(), nanoseconds })?;
        }
        Ok(())
    }

    fn delete_entry(&mut self, table: &TableSchema, key: &EntryKey) -> Outcome {
        if self.rolls_back {
            self.remember(table, key)?;
        }
        self.apply(&Update::Delete(key.clone()))
    }

    /// The counter of an entry is the data plane's, and comes back behind the entry.
    fn remember(&mut self, table: &TableSchema, key: &EntryKey) -> Outcome {
        let Some(counter) = table.counter else { return Ok(()) };
        let before = self.plane().store().find(key).filter(|before| before.origin != Origin::Constant);
        if before.is_some() {
            let element = Element::Entry(key.clone());
            let value = self.plane().read_counter(counter, &element)?;
            self.undo.push(Undo::Counter(counter, element, value));
        }
        Ok(())
    }

    fn entry_action(&self, table: &TableSchema, given: &TableAction) -> Outcome<EntryAction> {
        let Some(given) = &given.r#type else {
            return Err(Failure::invalid("the entry's action is not set"));
        };
        let wrong = |what: &str| Err(Failure::invalid(format!("entries of table `{}` {what}", table.name)));
        let named = |id: u32, what: &str| match id {
            0 => Err(Failure::invalid(format!("0 is no {what}"))),
            id => Ok(id),
        };
        match (table.profile, given) {
            (None, table_action::Type::Action(action)) => {
                let call = table.actions.read(action, Scope::DefaultOnly, &self.schema.dictionaries)?;
                Ok(EntryAction::Call(call))
            }
            (None, _) => wrong("have an action of their own"),
            (Some(_), table_action::Type::Action(_)) => wrong("refer to members or groups of their action profile"),
            (Some(_), table_action::Type::ActionProfileMemberId(member)) => {
                Ok(EntryAction::Member(named(*member, "member")?))
            }
            (Some((profile, _)), given) => {
                if self.schema.profile(profile)?.selector.is_none() {
                    return wrong("refer to members: their action profile has no groups");
                }
                match given {
                    table_action::Type::ActionProfileGroupId(group) => Ok(EntryAction::Group(named(*group, "group")?)),
                    table_action::Type::ActionProfileActionSet(set) => {
                        Ok(EntryAction::Set(self.action_set(table, set)?))
                    }
                    table_action::Type::Action(_) | table_action::Type::ActionProfileMemberId(_) => {
                        wrong("refer to members or groups of their action profile")
                    }
                }
            }
        }
    }

    fn default_entry(&mut self, kind: Type, table: &TableSchema, given: &message::TableEntry) -> Outcome {
        super::only_modify(kind, "a default action")?;
        check_default(given)?;
        check_direct(table, given)?;
        if table.profile.is_some() {
            let sentence = format!("table `{}` has an action profile, so its default action is constant", table.name);
            return Err(Failure::new(Code::PermissionDenied, sentence));
        }
        let action = given.action.as_ref().and_then(|action| action.r#type.as_ref());
        let (call, note) = match action {
            None => (self.schema.program.tables[table.table].default.clone(), Vec::new()),
            Some(table_action::Type::Action(action)) => {
                let call = table.actions.read(action, Scope::TableOnly, &self.schema.dictionaries)?;
                (call, note::pack(given.controller_metadata, &given.metadata))
            }
            Some(_) => return Err(Failure::invalid("a default action is an action")),
        };
        self.apply(&Update::SetDefault { table: table.table, call })?;
        if self.plane().store().default_metadata(table.table) != note {
            self.apply(&Update::Record(Record::DefaultMetadata { table: table.table, metadata: note }))?;
        }
        // Apart from that, it is an entry like any other (P4Runtime 1.5, 9.1.3); without an action, its meter is reset with it.
        self.set_direct(table, &Element::Default(table.table), given)
    }

    /// The counter and the meter of an entry or of a default action. A counter that is left out stays, a meter is reset (P4Runtime 1.5, 9.1.7).
    /// Its default is that of the array, where clients of BMv2's Thrift have set one.
    fn set_direct(&mut self, table: &TableSchema, element: &Element, given: &message::TableEntry) -> Outcome {
        if let (Some(data), Some(counter)) = (&given.counter_data, table.counter) {
            self.write_counter(counter, element.clone(), counter_value(data)?)?;
        }
        let Some(meter) = table.meter else { return Ok(()) };
        let rates = given.meter_config.as_ref().map(super::elements::meter_rates).transpose()?;
        let rates = rates.or_else(|| self.default_rates(meter, element));
        if rates.is_some() || self.plane().store().meter_rates(meter, element)?.is_some() {
            self.apply(&Update::SetMeter { meter, element: element.clone(), rates })?;
        }
        Ok(())
    }
}

fn has_extras(given: &message::TableEntry) -> bool {
    given.idle_timeout_ns > 0
        || given.controller_metadata != 0
        || !given.metadata.is_empty()
        || given.counter_data.is_some()
        || given.meter_config.is_some()
}

pub fn entry_key(
    schema: &crate::schema::Schema,
    table: &TableSchema,
    given: &message::TableEntry,
) -> Outcome<EntryKey> {
    let matches = table.keys.read(&given.r#match, &schema.dictionaries)?;
    let priority = match (table.has_priorities, given.priority) {
        (true, 1..) | (false, 0) => given.priority as u32,
        (true, _) => {
            return Err(Failure::invalid(format!("entries of table `{}` need a priority above 0", table.name)));
        }
        (false, _) => return Err(Failure::invalid(format!("entries of table `{}` have no priority", table.name))),
    };
    Ok(EntryKey { table: table.table, matches, priority })
}

pub fn counter_value(data: &message::CounterData) -> Outcome<CounterValue> {
    Ok(CounterValue {
        packets: value::count(data.packet_count, "the packet count")?,
        bytes: value::count(data.byte_count, "the byte count")?,
    })
}

/// Whether the table has the direct objects that the entry configures.
fn check_direct(table: &TableSchema, given: &message::TableEntry) -> Outcome {
    let lacks = |what: &str| Err(Failure::invalid(format!("table `{}` has no {what}", table.name)));
    if given.idle_timeout_ns < 0 {
        return Err(Failure::invalid("the idle timeout is negative"));
    }
    if given.idle_timeout_ns > 0 && !table.idle_timeout {
        return lacks("idle timeout");
    }
    if given.time_since_last_hit.is_some() {
        return Err(Failure::invalid("the time since the last hit can only be read"));
    }
    if given.counter_data.is_some() && table.counter.is_none() {
        return lacks("direct counter");
    }
    if given.meter_config.is_some() && table.meter.is_none() {
        return lacks("direct meter");
    }
    if given.meter_counter_data.is_some() {
        return Err(Failure::unsupported("meters of this switch do not count by colour"));
    }
    Ok(())
}
