//! `clear`: the entries of a table, or everything that was written or counted.

use super::Session;
use super::dump::has_default;
use super::entries::{shown_key, table_entry};
use super::input::Input;
use super::replication::replication;
use super::write::{entity, is_zero, update};
use crate::failure::Failure;
use crate::names::{self, Named as _, Names};
use control::message::config::Table;
use control::message::runtime::{
    ActionProfileGroup, ActionProfileMember, CloneSessionEntry, CounterData, CounterEntry, DigestEntry,
    DirectCounterEntry, DirectMeterEntry, MeterEntry, MulticastGroupEntry, P4Data, RegisterEntry, TableEntry, Update,
    ValueSetEntry, entity::Entity, p4_data::Data, packet_replication_engine_entry::Type as Replicated, update::Type,
};

/// Updates of one Write: the reasons of all that fail fit the answer.
const BATCH: usize = 64;

impl Session {
    pub fn clear(&mut self, input: &mut Input) -> Result<(), Failure> {
        let names = self.names()?;
        if input.one_of(&["all"]).is_some() {
            input.finish()?;
            return self.clear_all(&names);
        }
        let mut line = input.line()?;
        let table = names::find(&line.name("a table, or `all`")?, "table", &names.info.tables)?;
        line.finish()?;
        self.clear_table(&names, table)
    }

    fn write_in_batches(&mut self, updates: &[(String, Update)]) -> Result<(), Failure> {
        updates.chunks(BATCH).try_for_each(|batch| self.write_all(batch.to_vec()))
    }

    fn clear_table(&mut self, names: &Names, table: &Table) -> Result<(), Failure> {
        let fields = names.keys(&table.match_fields);
        let filter = TableEntry { table_id: table.id(), ..TableEntry::default() };
        let found = self.client.read(vec![entity(Entity::TableEntry(filter))])?;
        let entries = found.into_iter().filter_map(|found| table_entry(found.entity?)).filter(|entry| !entry.is_const);
        let delete = |entry: TableEntry| {
            let label = format!("delete {}{}", table.name(), shown_key(&fields, &entry));
            (label, update(Type::Delete, Entity::TableEntry(key_of(entry))))
        };
        let updates: Vec<_> = entries.map(delete).collect();
        self.write_in_batches(&updates)
    }

    /// Entries go before the groups and members that they name. What is constant stays, its counts and rates do not.
    fn clear_all(&mut self, names: &Names) -> Result<(), Failure> {
        for table in &names.info.tables {
            self.clear_table(names, table)?;
            self.clear_constant(names, table)?;
        }
        let mut updates = Vec::new();
        for table in names.info.tables.iter().filter(|table| has_default(table)) {
            let entry = TableEntry { table_id: table.id(), is_default_action: true, ..TableEntry::default() };
            updates.push((format!("default {}", table.name()), update(Type::Modify, Entity::TableEntry(entry))));
        }
        let filters = [
            Entity::ActionProfileGroup(ActionProfileGroup::default()),
            Entity::ActionProfileMember(ActionProfileMember::default()),
            replication(Replicated::MulticastGroupEntry(MulticastGroupEntry::default())),
            replication(Replicated::CloneSessionEntry(CloneSessionEntry::default())),
        ];
        for filter in filters {
            let found = self.client.read(vec![entity(filter)])?;
            let found = found.into_iter().filter_map(|found| found.entity);
            updates.extend(found.map(|found| (label_of(&found), update(Type::Delete, found))));
        }
        let subscribed = if names.info.digests.is_empty() { Vec::new() } else { self.subscriptions()? };
        updates.extend(subscribed.into_iter().map(|DigestEntry { digest_id, .. }| {
            let label = format!("digest {}", names::name_of(digest_id, &names.info.digests));
            (label, update(Type::Delete, Entity::DigestEntry(DigestEntry { digest_id, config: None })))
        }));
        for set in names.info.value_sets.iter() {
            let empty = ValueSetEntry { value_set_id: set.id(), members: Vec::new() };
            updates.push((format!("value set {}", set.name()), update(Type::Modify, Entity::ValueSetEntry(empty))));
        }
        self.write_in_batches(&updates)?;
        self.clear_elements(names)
    }

    /// Counts and rates of constant entries, and of the default action.
    fn clear_constant(&mut self, names: &Names, table: &Table) -> Result<(), Failure> {
        let mut updates = Vec::new();
        let default = if table.implementation_id == 0 { self.default_entry(names, table)? } else { None };
        for entry in self.entries(names, table)?.into_iter().chain(default) {
            let (counted, rated) = (entry.counter_data, entry.meter_config);
            let label = format!("entry of {}", table.name());
            let table_entry = Some(key_of(entry));
            if counted.is_some_and(|data| data != CounterData::default()) {
                let data = Some(CounterData::default());
                let zero = DirectCounterEntry { table_entry: table_entry.clone(), data };
                updates.push((label.clone(), update(Type::Modify, Entity::DirectCounterEntry(zero))));
            }
            if rated.is_some() {
                let none = DirectMeterEntry { table_entry, ..DirectMeterEntry::default() };
                updates.push((label, update(Type::Modify, Entity::DirectMeterEntry(none))));
            }
        }
        self.write_in_batches(&updates)
    }

    fn clear_elements(&mut self, names: &Names) -> Result<(), Failure> {
        let mut updates = Vec::new();
        for counter in &names.info.counters {
            let zero = CounterEntry { counter_id: counter.id(), index: None, data: Some(CounterData::default()) };
            updates.push((format!("counter {}", counter.name()), update(Type::Modify, Entity::CounterEntry(zero))));
        }
        for meter in &names.info.meters {
            let filter = MeterEntry { meter_id: meter.id(), ..MeterEntry::default() };
            for found in self.client.read(vec![entity(Entity::MeterEntry(filter))])? {
                let Some(Entity::MeterEntry(element)) = found.entity else { continue };
                if element.config.is_some() {
                    let none = MeterEntry { config: None, counter_data: None, ..element };
                    updates.push((format!("meter {}", meter.name()), update(Type::Modify, Entity::MeterEntry(none))));
                }
            }
        }
        for register in &names.info.registers {
            let filter = RegisterEntry { register_id: register.id(), ..RegisterEntry::default() };
            for found in self.client.read(vec![entity(Entity::RegisterEntry(filter))])? {
                let Some(Entity::RegisterEntry(element)) = found.entity else { continue };
                let data = element.data.clone().unwrap_or_default();
                if !is_zero(&data) {
                    let zero = RegisterEntry { data: Some(zero_of(data)), ..element };
                    let label = format!("register {}", register.name());
                    updates.push((label, update(Type::Modify, Entity::RegisterEntry(zero))));
                }
            }
        }
        self.write_in_batches(&updates)
    }
}

/// What names an entry.
fn key_of(entry: TableEntry) -> TableEntry {
    let TableEntry { table_id, r#match, priority, is_default_action, .. } = entry;
    TableEntry { table_id, r#match, priority, is_default_action, ..TableEntry::default() }
}

fn label_of(found: &Entity) -> String {
    match found {
        Entity::ActionProfileGroup(group) => format!("group {}", group.group_id),
        Entity::ActionProfileMember(member) => format!("member {}", member.member_id),
        Entity::ExternEntry(_)
        | Entity::TableEntry(_)
        | Entity::MeterEntry(_)
        | Entity::DirectMeterEntry(_)
        | Entity::CounterEntry(_)
        | Entity::DirectCounterEntry(_)
        | Entity::PacketReplicationEngineEntry(_)
        | Entity::ValueSetEntry(_)
        | Entity::RegisterEntry(_)
        | Entity::DigestEntry(_) => "multicast group or clone session".to_string(),
    }
}

/// The same value with zeros.
fn zero_of(data: P4Data) -> P4Data {
    let bytes = |bytes: Vec<u8>| vec![0; bytes.len().min(1)];
    let zero = match data.data {
        Some(Data::Bitstring(value)) => Some(Data::Bitstring(bytes(value))),
        Some(Data::EnumValue(value)) => Some(Data::EnumValue(bytes(value))),
        Some(Data::Bool(_)) => Some(Data::Bool(false)),
        Some(Data::Struct(mut parts)) => {
            parts.members = parts.members.into_iter().map(zero_of).collect();
            Some(Data::Struct(parts))
        }
        Some(Data::Tuple(mut parts)) => {
            parts.members = parts.members.into_iter().map(zero_of).collect();
            Some(Data::Tuple(parts))
        }
        Some(Data::Header(mut header)) => {
            header.bitstrings = header.bitstrings.into_iter().map(bytes).collect();
            Some(Data::Header(header))
        }
        Some(Data::Varbit(_)) => None,
        Some(
            Data::Enum(_) | Data::Error(_) | Data::HeaderUnion(_) | Data::HeaderStack(_) | Data::HeaderUnionStack(_),
        )
        | None => None,
    };
    P4Data { data: zero }
}
