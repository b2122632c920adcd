//! Entities of the program with something of everything, written in little room.

use super::PROGRAM;
use control::message::runtime::{entity::Entity, *};
use field_match::FieldMatchType;

/// The id of anything, by its alias.
pub fn id_of(alias: &str) -> u32 {
    let interface = &PROGRAM.interface;
    let tables = interface.tables.iter().map(|table| (&table.alias, table.id));
    let actions = interface.actions.iter().map(|action| (&action.alias, action.id));
    let objects = interface.objects.iter().map(|object| (&object.alias, object.id));
    let found = tables.chain(actions).chain(objects).find(|(known, _)| *known == alias);
    found.unwrap_or_else(|| panic!("the program has no `{alias}`")).1
}

pub fn bytes(number: u64) -> Vec<u8> {
    let all = number.to_be_bytes();
    let first = all.iter().position(|byte| *byte != 0).unwrap_or(7);
    all[first..].to_vec()
}

fn field(field_id: u32, made: FieldMatchType) -> FieldMatch {
    FieldMatch { field_id, field_match_type: Some(made) }
}

pub fn exact(id: u32, value: impl Into<Vec<u8>>) -> FieldMatch {
    field(id, FieldMatchType::Exact(field_match::Exact { value: value.into() }))
}

pub fn lpm(id: u32, value: u64, prefix_len: i32) -> FieldMatch {
    field(id, FieldMatchType::Lpm(field_match::Lpm { value: bytes(value), prefix_len }))
}

pub fn ternary(id: u32, value: u64, mask: u64) -> FieldMatch {
    field(id, FieldMatchType::Ternary(field_match::Ternary { value: bytes(value), mask: bytes(mask) }))
}

pub fn range(id: u32, low: u64, high: u64) -> FieldMatch {
    field(id, FieldMatchType::Range(field_match::Range { low: bytes(low), high: bytes(high) }))
}

pub fn optional(id: u32, value: u64) -> FieldMatch {
    field(id, FieldMatchType::Optional(field_match::Optional { value: bytes(value) }))
}

pub fn call(action: &str, arguments: &[&[u8]]) -> Action {
    let params = arguments.iter().zip(1..).map(|(value, param_id)| action::Param { param_id, value: value.to_vec() });
    Action { action_id: id_of(action), params: params.collect() }
}

pub fn action(name: &str, arguments: &[&[u8]]) -> Option<TableAction> {
    Some(TableAction { r#type: Some(table_action::Type::Action(call(name, arguments))) })
}

pub fn forward(port: u64) -> Option<TableAction> {
    action("forward", &[&bytes(port)])
}

pub fn entry(table: &str, matches: Vec<FieldMatch>, action: Option<TableAction>) -> TableEntry {
    TableEntry { table_id: id_of(table), r#match: matches, action, ..Default::default() }
}

/// An entry of `hosts`.
pub fn host(address: u64, port: u64) -> TableEntry {
    entry("hosts", vec![exact(1, bytes(address))], forward(port))
}

pub fn acl(priority: i32, matches: Vec<FieldMatch>) -> TableEntry {
    TableEntry { priority, ..entry("acl", matches, action("drop", &[])) }
}

pub fn table(entry: TableEntry) -> Entity {
    Entity::TableEntry(entry)
}

pub fn member(profile: &str, member_id: u32, action: Action) -> Entity {
    let action_profile_id = id_of(profile);
    Entity::ActionProfileMember(ActionProfileMember { action_profile_id, member_id, action: Some(action) })
}

pub fn group(group_id: u32, max_size: i32, members: &[(u32, i32)]) -> Entity {
    let members = members.iter().map(|(member_id, weight)| action_profile_group::Member {
        member_id: *member_id,
        weight: *weight,
        watch_kind: None,
    });
    let action_profile_id = id_of("selector");
    Entity::ActionProfileGroup(ActionProfileGroup { action_profile_id, group_id, members: members.collect(), max_size })
}

pub fn index(index: i64) -> Option<Index> {
    Some(Index { index })
}

pub fn replica(port: u64, instance: u32) -> Replica {
    let port_kind = Some(replica::PortKind::Port(bytes(port)));
    Replica { port_kind, instance, backup_replicas: Vec::new() }
}

pub fn multicast(group: u32, replicas: Vec<Replica>) -> Entity {
    let entry = MulticastGroupEntry { multicast_group_id: group, replicas, metadata: Vec::new() };
    engine(packet_replication_engine_entry::Type::MulticastGroupEntry(entry))
}

pub fn engine(entry: packet_replication_engine_entry::Type) -> Entity {
    Entity::PacketReplicationEngineEntry(PacketReplicationEngineEntry { r#type: Some(entry) })
}

/// An Ethernet frame.
pub fn frame(dst: u64, src: u64, ether_type: u16) -> Vec<u8> {
    let mut frame = dst.to_be_bytes()[2..].to_vec();
    frame.extend_from_slice(&src.to_be_bytes()[2..]);
    frame.extend_from_slice(&ether_type.to_be_bytes());
    frame.extend_from_slice(b"payload");
    frame
}
