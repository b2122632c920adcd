//! `dump`: the state of the switch as the commands that write it.

use super::Session;
use super::digests::show_seconds;
use super::entries::{shown_fields, shown_key};
use super::input::{Input, show_metadata};
use super::profiles::show_group_members;
use super::replication::show_replicas;
use super::sets::show_member;
use super::write::{entity, is_zero, show_action, show_table_action};
use crate::failure::Failure;
use crate::names::{self, Named as _, Names};
use control::message::config::{CounterSpec, Table, counter_spec::Unit};
use control::message::runtime::{
    ActionProfileGroup, ActionProfileMember, CloneSessionEntry, CounterData, CounterEntry, Entity, MeterConfig,
    MeterEntry, MulticastGroupEntry, RegisterEntry, TableEntry, entity::Entity as Kind,
    packet_replication_engine_entry::Type, table_action,
};

impl Session {
    /// Entries come after the members and groups that they name.
    pub fn dump(&mut self, input: &Input) -> Result<(), Failure> {
        input.finish()?;
        let names = self.names()?;
        let mut lines = vec!["# The state of a switch".to_string(), "clear all".to_string()];
        self.dump_profiles(&names, &mut lines)?;
        for table in &names.info.tables {
            self.dump_table(&names, table, &mut lines)?;
        }
        self.dump_elements(&names, &mut lines)?;
        self.dump_replication(&mut lines)?;
        for set in &names.info.value_sets {
            let fields = names.keys(&set.r#match);
            let members: Vec<String> =
                self.set_members(set)?.iter().map(|member| show_member(&fields, member)).collect();
            if !members.is_empty() {
                lines.push(format!("value-sets set {} {}", set.name(), members.join(" ")));
            }
        }
        self.dump_subscriptions(&names, &mut lines)?;
        (self.print)(&lines.into_iter().map(|line| line + "\n").collect::<String>());
        Ok(())
    }

    fn read_all(&mut self, filter: Kind) -> Result<impl Iterator<Item = Kind> + use<>, Failure> {
        let found: Vec<Entity> = self.client.read(vec![entity(filter)])?;
        Ok(found.into_iter().filter_map(|found| found.entity))
    }

    fn dump_profiles(&mut self, names: &Names, lines: &mut Vec<String>) -> Result<(), Failure> {
        let profile = |id| names::name_of(id, &names.info.action_profiles);
        for found in self.read_all(Kind::ActionProfileMember(ActionProfileMember::default()))? {
            if let Kind::ActionProfileMember(ActionProfileMember {
                action_profile_id,
                member_id,
                action: Some(action),
            }) = found
            {
                let (profile, action) = (profile(action_profile_id), show_action(names, &action));
                lines.push(format!("members add {profile} {member_id} {action}"));
            }
        }
        for found in self.read_all(Kind::ActionProfileGroup(ActionProfileGroup::default()))? {
            if let Kind::ActionProfileGroup(group) = found {
                let size = if group.max_size == 0 { String::new() } else { format!(" size {}", group.max_size) };
                let (profile, members) = (profile(group.action_profile_id), show_group_members(&group));
                lines.push(format!("groups add {profile} {} {members}{size}", group.group_id));
            }
        }
        Ok(())
    }

    /// The default action, and the entries that are not constant, with what they count.
    fn dump_table(&mut self, names: &Names, table: &Table, lines: &mut Vec<String>) -> Result<(), Failure> {
        if table.implementation_id == 0
            && let Some(default) = self.default_entry(names, table)?
        {
            if has_default(table) && !is_initial(table, &default) {
                let action = show_table_action(names, default.action.as_ref());
                lines.extend(action.map(|action| format!("default {} {action}", table.name())));
            }
            dump_direct(names, table, (" default", &default), lines);
        }
        let fields = names.keys(&table.match_fields);
        // A switch has its entries in no order: dumps of equal states are equal.
        let mut entries = self.entries(names, table)?;
        entries.sort_by_cached_key(|entry| shown_key(&fields, entry));
        for entry in entries {
            let key = shown_fields(&fields, &entry);
            let priority = if entry.priority == 0 { String::new() } else { format!(" priority {}", entry.priority) };
            if !entry.is_const {
                let action = show_table_action(names, entry.action.as_ref()).unwrap_or_default();
                let options = options(&entry);
                lines.push(format!("add {}{key} {action}{priority}{options}", table.name()));
            }
            dump_direct(names, table, (&format!("{key}{priority}"), &entry), lines);
        }
        Ok(())
    }

    fn dump_elements(&mut self, names: &Names, lines: &mut Vec<String>) -> Result<(), Failure> {
        let info = &names.info;
        for counter in &info.counters {
            let filter = CounterEntry { counter_id: counter.id(), ..CounterEntry::default() };
            for found in self.read_all(Kind::CounterEntry(filter))? {
                let Kind::CounterEntry(CounterEntry { index: Some(index), data: Some(data), .. }) = found else {
                    continue;
                };
                let at = format!("{} {}", counter.name(), index.index);
                lines.extend(counts(counter.spec, data).map(|counts| format!("counters set {at}{counts}")));
            }
        }
        for meter in &info.meters {
            let filter = MeterEntry { meter_id: meter.id(), ..MeterEntry::default() };
            for found in self.read_all(Kind::MeterEntry(filter))? {
                if let Kind::MeterEntry(MeterEntry { index: Some(index), config: Some(config), .. }) = found {
                    lines.push(format!("meters set {} {}{}", meter.name(), index.index, rates(&config)));
                }
            }
        }
        for register in &info.registers {
            let filter = RegisterEntry { register_id: register.id(), ..RegisterEntry::default() };
            let spec = register.type_spec.clone().unwrap_or_default();
            for found in self.read_all(Kind::RegisterEntry(filter))? {
                let Kind::RegisterEntry(RegisterEntry { index: Some(index), data: Some(data), .. }) = found else {
                    continue;
                };
                if !is_zero(&data) {
                    let value = names.show_data("", &spec, &data).words();
                    lines.push(format!("registers set {} {} {value}", register.name(), index.index));
                }
            }
        }
        Ok(())
    }

    fn dump_replication(&mut self, lines: &mut Vec<String>) -> Result<(), Failure> {
        for found in self.replicated(Type::MulticastGroupEntry(MulticastGroupEntry::default()))? {
            if let Type::MulticastGroupEntry(group) = found {
                let metadata = metadata(&group.metadata);
                let replicas = show_replicas(&group.replicas);
                lines.push(format!("multicast add {} {replicas}{metadata}", group.multicast_group_id));
            }
        }
        for found in self.replicated(Type::CloneSessionEntry(CloneSessionEntry::default()))? {
            let Type::CloneSessionEntry(session) = found else { continue };
            let mut line = format!("sessions add {} {}", session.session_id, show_replicas(&session.replicas));
            if session.packet_length_bytes != 0 {
                line += &format!(" length {}", session.packet_length_bytes);
            }
            if session.class_of_service != 0 {
                line += &format!(" class {}", session.class_of_service);
            }
            lines.push(line);
        }
        Ok(())
    }
}

/// What an entry or a default action counts, and its rates.
fn dump_direct(names: &Names, table: &Table, (key, entry): (&str, &TableEntry), lines: &mut Vec<String>) {
    if let Some((counter, data)) = names.direct_counter(table.id()).zip(entry.counter_data) {
        let at = format!("{}{key}", counter.name());
        lines.extend(counts(counter.spec, data).map(|counts| format!("counters set {at}{counts}")));
    }
    if let Some((meter, config)) = names.direct_meter(table.id()).zip(entry.meter_config) {
        lines.push(format!("meters set {}{key}{}", meter.name(), rates(&config)));
    }
}

/// Whether the default action may be written.
pub fn has_default(table: &Table) -> bool {
    table.const_default_action_id == 0 && table.implementation_id == 0
}

/// Whether the default action is that of the program.
fn is_initial(table: &Table, entry: &TableEntry) -> bool {
    let Some(initial) = &table.initial_default_action else { return false };
    let Some(table_action::Type::Action(action)) = entry.action.as_ref().and_then(|action| action.r#type.as_ref())
    else {
        return false;
    };
    let given = action.params.iter().map(|param| (param.param_id, &param.value));
    let arguments = initial.arguments.iter().map(|argument| (argument.param_id, &argument.value));
    action.action_id == initial.action_id && given.eq(arguments)
}

/// `timeout` and `metadata` of an entry.
fn options(entry: &TableEntry) -> String {
    show_seconds("timeout", entry.idle_timeout_ns) + &metadata(&entry.metadata)
}

fn metadata(bytes: &[u8]) -> String {
    match bytes {
        [] => String::new(),
        bytes => format!(" metadata {}", show_metadata(bytes)),
    }
}

/// What the counter counts; nothing if it is 0.
fn counts(spec: Option<CounterSpec>, data: CounterData) -> Option<String> {
    let unit = spec.map_or(Unit::Both, |spec| spec.unit());
    let packets = (unit != Unit::Bytes && data.packet_count != 0).then(|| format!(" packets {}", data.packet_count));
    let bytes = (unit != Unit::Packets && data.byte_count != 0).then(|| format!(" bytes {}", data.byte_count));
    (packets.is_some() || bytes.is_some()).then(|| packets.unwrap_or_default() + &bytes.unwrap_or_default())
}

fn rates(config: &MeterConfig) -> String {
    let MeterConfig { cir, cburst, pir, pburst, .. } = config;
    format!(" cir {cir} cburst {cburst} pir {pir} pburst {pburst}")
}
