//! Action profiles, counters, meters, registers, replication and value sets (P4Runtime 1.5, sections 9.2 to 9.8).

use crate::rig;
use crate::rig::messages::*;
use crate::rig::{Client, Rig};
use control::message::runtime::{entity::Entity, table_action::Type as Does, *};
use std::time::{Duration, Instant};
use tonic::Code;

fn path(ether_type: u64, does: Does) -> TableEntry {
    entry("paths", vec![exact(1, bytes(ether_type))], Some(TableAction { r#type: Some(does) }))
}

fn all_members() -> Entity {
    Entity::ActionProfileMember(ActionProfileMember::default())
}

fn all_groups() -> Entity {
    Entity::ActionProfileGroup(ActionProfileGroup::default())
}

/// The ports of packets to many destinations, sorted, each once.
fn ports_used(rig: &Rig, ether_type: u16) -> Vec<u32> {
    let mut behind = rig.behind();
    behind.sent.clear();
    for address in 0..64u32 {
        let mut packet = frame(0xffff, 1, ether_type);
        packet.truncate(14);
        packet.extend_from_slice(&address.wrapping_mul(0x9e37_79b9).to_be_bytes());
        packet.extend_from_slice(&[0; 9]);
        behind.receive(9, packet);
    }
    let mut ports: Vec<u32> = behind.sent.iter().map(|(port, _)| *port).collect();
    ports.sort_unstable();
    ports.dedup();
    ports
}

fn with_ipv4(client: &mut Client) {
    let members = vec![ValueSetMember { r#match: vec![exact(1, [8, 0])] }];
    let set = ValueSetEntry { value_set_id: id_of("ipv4_types"), members };
    assert_eq!(client.modify(Entity::ValueSetEntry(set)), Ok(()));
}

#[test]
fn members_and_groups_are_written_and_read() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let one = member("selector", 1, call("forward", &[&[1]]));
    let two = member("selector", 2, call("forward", &[&[2]]));
    assert_eq!(client.modify(one.clone()), Err(Code::NotFound));
    assert_eq!(client.insert(one.clone()), Ok(()));
    assert_eq!(client.insert(one.clone()), Err(Code::AlreadyExists));
    assert_eq!(client.insert(two.clone()), Ok(()));
    assert_eq!(client.read(all_members()), [one.clone(), two.clone()]);
    let pair = group(1, 8, &[(1, 1), (2, 3)]);
    assert_eq!(client.modify(pair.clone()), Err(Code::NotFound));
    assert_eq!(client.insert(pair.clone()), Ok(()));
    assert_eq!(client.insert(pair.clone()), Err(Code::AlreadyExists));
    assert_eq!(client.read(all_groups()), std::slice::from_ref(&pair));
    assert_eq!(client.read(group(2, 0, &[])), []);
    assert_eq!(client.delete(one.clone()), Err(Code::FailedPrecondition), "a group has it");
    assert_eq!(client.insert(table(path(0x800, Does::ActionProfileGroupId(1)))), Ok(()));
    assert_eq!(client.delete(pair.clone()), Err(Code::FailedPrecondition), "an entry has it");
    assert_eq!(client.delete(table(path(0x800, Does::ActionProfileGroupId(1)))), Ok(()));
    assert_eq!(client.delete(group(1, 0, &[])), Ok(()));
    assert_eq!(client.delete(pair), Err(Code::NotFound));
    assert_eq!(client.delete(one.clone()), Ok(()));
    assert_eq!(client.delete(one), Err(Code::NotFound));
}

#[test]
fn malformed_members_and_groups_are_refused() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let forward = || call("forward", &[&[1]]);
    client.insert(member("selector", 1, forward())).expect("it suits");
    client.insert(group(1, 4, &[(1, 1)])).expect("it suits");
    let unset = ActionProfileMember { action_profile_id: id_of("selector"), member_id: 2, action: None };
    let of_profile = ActionProfileGroup { action_profile_id: id_of("profile"), group_id: 1, ..Default::default() };
    let nowhere = ActionProfileGroup { action_profile_id: 9, group_id: 1, ..Default::default() };
    for (what, given, code) in [
        ("no id", member("selector", 0, forward()), Code::InvalidArgument),
        ("no action", Entity::ActionProfileMember(unset), Code::InvalidArgument),
        ("another table's action", member("selector", 2, call("flood", &[&[1]])), Code::InvalidArgument),
        ("no group id", group(0, 4, &[]), Code::InvalidArgument),
        ("no selector", Entity::ActionProfileGroup(of_profile), Code::InvalidArgument),
        ("no profile", Entity::ActionProfileGroup(nowhere), Code::InvalidArgument),
        ("an unknown member", group(2, 4, &[(7, 1)]), Code::NotFound),
        ("a member twice", group(2, 4, &[(1, 1), (1, 1)]), Code::InvalidArgument),
        ("no weight", group(2, 4, &[(1, 0)]), Code::InvalidArgument),
        ("a negative weight", group(2, 4, &[(1, -1)]), Code::InvalidArgument),
        ("a negative size", group(2, -1, &[(1, 1)]), Code::InvalidArgument),
        ("beyond its size", group(2, 4, &[(1, 5)]), Code::ResourceExhausted),
        ("beyond the selector", group(2, 0, &[(1, 32)]), Code::ResourceExhausted),
    ] {
        assert_eq!(client.insert(given), Err(code), "{what}");
    }
    assert_eq!(client.modify(group(1, 5, &[(1, 1)])), Err(Code::InvalidArgument), "its size stays");
    for number in 1..5 {
        assert_eq!(client.insert(member("profile", number, call("drop", &[]))), Ok(()));
    }
    assert_eq!(client.insert(member("profile", 5, call("drop", &[]))), Err(Code::ResourceExhausted));
    let direct = entry("shared", vec![exact(1, [1])], forward_action());
    assert_eq!(client.insert(table(direct)), Err(Code::InvalidArgument));
    assert_eq!(client.insert(table(path(1, Does::ActionProfileMemberId(9)))), Err(Code::NotFound));
    assert_eq!(client.insert(table(path(1, Does::ActionProfileGroupId(9)))), Err(Code::NotFound));
}

#[test]
fn every_number_but_0_is_an_id() {
    let rig = Rig::new();
    let mut client = rig.primary();
    with_ipv4(&mut client);
    for (id, port) in [(0xc000_0000, 1), (0xffff_ffff, 2)] {
        assert_eq!(client.insert(member("selector", id, call("forward", &[&[port]]))), Ok(()));
        let group = group(id, 4, &[(id, 1)]);
        assert_eq!(client.insert(group.clone()), Ok(()));
        assert_eq!(client.insert(table(path(0x800, Does::ActionProfileGroupId(id)))), Ok(()));
        assert_eq!(ports_used(&rig, 0x800), [u32::from(port)]);
        assert_eq!(client.delete(table(path(0x800, Does::ActionProfileGroupId(id)))), Ok(()));
        assert_eq!(client.delete(group), Ok(()));
        assert_eq!(client.delete(member("selector", id, call("forward", &[&[port]]))), Ok(()));
    }
}

/// P4Runtime 1.5, 9.2.3: the tables of a selector are programmed in one style.
#[test]
fn sets_and_members_of_one_selector_exclude_each_other() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let (one, set) = (member("selector", 1, call("forward", &[&[1]])), one_shot(&[(2, 1, None)]));
    assert_eq!(client.insert(one.clone()), Ok(()));
    assert_eq!(client.insert(table(path(1, set.clone()))), Err(Code::InvalidArgument));
    assert_eq!(client.insert(table(path(2, Does::ActionProfileMemberId(1)))), Ok(()));
    assert_eq!(client.modify(table(path(2, set.clone()))), Err(Code::InvalidArgument));
    assert_eq!(client.delete(table(path(2, set.clone()))), Ok(()));
    assert_eq!(client.delete(one.clone()), Ok(()));
    assert_eq!(client.insert(group(1, 4, &[])), Ok(()));
    assert_eq!(client.insert(table(path(1, set.clone()))), Err(Code::InvalidArgument), "a group without members");
    assert_eq!(client.delete(group(1, 4, &[])), Ok(()));
    assert_eq!(client.insert(table(path(1, set.clone()))), Ok(()));
    assert_eq!(client.insert(one.clone()), Err(Code::InvalidArgument));
    assert_eq!(client.insert(group(1, 4, &[])), Err(Code::InvalidArgument));
    // Another selector is free.
    assert_eq!(client.insert(member("spreader", 1, call("forward", &[&[1]]))), Ok(()));
    assert_eq!(client.delete(table(path(1, set))), Ok(()));
    assert_eq!(client.insert(one), Ok(()));
}

fn forward_action() -> Option<TableAction> {
    rig::messages::forward(1)
}

fn one_shot(actions: &[(u64, i32, Option<u64>)]) -> Does {
    let actions = actions.iter().map(|(port, weight, watch)| ActionProfileAction {
        action: Some(call("forward", &[&bytes(*port)])),
        weight: *weight,
        watch_kind: watch.map(|port| action_profile_action::WatchKind::WatchPort(bytes(port))),
    });
    let action_profile_actions = actions.collect();
    Does::ActionProfileActionSet(ActionProfileActionSet { action_profile_actions, ..Default::default() })
}

#[test]
fn one_shot_sets_are_read_as_they_were_written() {
    let rig = Rig::new();
    let mut client = rig.primary();
    with_ipv4(&mut client);
    let first = path(0x800, one_shot(&[(1, 1, None), (2, 2, None)]));
    assert_eq!(client.insert(table(first.clone())), Ok(()));
    assert_eq!(client.insert(table(first.clone())), Err(Code::AlreadyExists));
    assert_eq!(client.read(table(entry("paths", vec![], None))), [table(first.clone())]);
    assert!(client.read(all_members()).is_empty() && client.read(all_groups()).is_empty(), "they are the switch's own");
    assert_eq!(ports_used(&rig, 0x800), [1, 2]);
    let second = path(0x800, one_shot(&[(3, 1, None)]));
    assert_eq!(client.modify(table(second.clone())), Ok(()));
    assert_eq!(client.read(table(entry("paths", vec![], None))), [table(second.clone())]);
    assert_eq!(ports_used(&rig, 0x800), [3]);
    assert_eq!(client.delete(table(second)), Ok(()));
    let profile = rig::PROGRAM.profiles.iter().find(|(_, profile)| profile.name.ends_with("selector"));
    let (profile, _) = profile.expect("the program has it");
    assert_eq!(control::DataPlane::store(&rig.behind().plane).members(profile).count(), 0, "nothing is left");
    for set in [one_shot(&[(1, 0, None)]), one_shot(&[(600, 1, None)])] {
        assert!(client.insert(table(path(0x800, set))).is_err());
    }
    assert_eq!(control::DataPlane::store(&rig.behind().plane).members(profile).count(), 0, "nothing is left");
}

#[test]
fn members_whose_port_is_down_are_left_out() {
    let rig = Rig::new();
    let mut client = rig.primary();
    with_ipv4(&mut client);
    client.insert(table(path(0x800, one_shot(&[(1, 1, Some(1)), (2, 1, Some(2))])))).expect("it suits");
    assert_eq!(ports_used(&rig, 0x800), [1, 2]);
    rig.server.events().port(1, false);
    eventually(|| ports_used(&rig, 0x800) == [2]);
    rig.server.events().port(2, false);
    eventually(|| ports_used(&rig, 0x800).is_empty());
    rig.server.events().port(1, true);
    eventually(|| ports_used(&rig, 0x800) == [1]);
}

/// Events reach the switch on another thread.
fn eventually(holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(10), "it never holds");
        std::thread::sleep(Duration::from_millis(5));
    }
}

#[test]
fn backup_replicas_replace_ports_without_a_link() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let backup = BackupReplica { port: bytes(5), instance: 1 };
    let with_backup = Replica { backup_replicas: vec![backup], ..replica(4, 1) };
    let group = multicast(7, vec![with_backup.clone(), replica(6, 2)]);
    assert_eq!(client.insert(group.clone()), Ok(()));
    assert_eq!(client.read(multicast(0, vec![])), [group]);
    let flood = entry("hosts", vec![exact(1, [1])], action("flood", &[&[7]]));
    client.insert(table(flood)).expect("it suits");
    let ports = || {
        let mut behind = rig.behind();
        behind.sent.clear();
        behind.receive(9, frame(1, 2, 0));
        behind.sent.iter().map(|(port, _)| *port).collect::<Vec<_>>()
    };
    assert_eq!(ports(), [4, 6]);
    rig.server.events().port(4, false);
    eventually(|| ports() == [5, 6]);
    rig.server.events().port(5, false);
    eventually(|| ports() == [6]);
    rig.server.events().port(4, true);
    eventually(|| ports() == [4, 6]);
    let same_port = Replica { backup_replicas: vec![BackupReplica { port: bytes(4), instance: 2 }], ..replica(4, 1) };
    let portless = Replica { port_kind: None, ..replica(4, 1) };
    for (what, given, code) in [
        ("group 0", multicast(0, vec![]), Code::InvalidArgument),
        ("there already", multicast(7, vec![]), Code::AlreadyExists),
        ("twice", multicast(8, vec![replica(4, 1), replica(4, 1)]), Code::InvalidArgument),
        ("its own backup", multicast(8, vec![same_port.clone()]), Code::InvalidArgument),
        ("backup of another", multicast(8, vec![with_backup, replica(5, 1)]), Code::InvalidArgument),
        ("no port", multicast(8, vec![portless]), Code::InvalidArgument),
        ("a wide port", multicast(8, vec![replica(1 << 32, 1)]), Code::OutOfRange),
        ("a wide instance", multicast(8, vec![replica(1, 65_536)]), Code::InvalidArgument),
        ("nothing", Entity::PacketReplicationEngineEntry(Default::default()), Code::InvalidArgument),
    ] {
        assert_eq!(client.insert(given), Err(code), "{what}");
    }
    assert_eq!(client.modify(multicast(8, vec![])), Err(Code::NotFound));
    // The specification forbids no more: two backups may share a port, and clone sessions know no rule for pairs or backups.
    let backups = [1, 2].map(|instance| BackupReplica { port: bytes(5), instance });
    let two = multicast(8, vec![Replica { backup_replicas: backups.to_vec(), ..replica(4, 1) }]);
    assert_eq!(client.insert(two.clone()), Ok(()));
    assert_eq!(client.read(multicast(8, vec![])), [two]);
    let replicas = vec![same_port, replica(4, 1)];
    let session = CloneSessionEntry { session_id: 1, replicas, ..Default::default() };
    let session = engine(packet_replication_engine_entry::Type::CloneSessionEntry(session));
    assert_eq!(client.insert(session.clone()), Ok(()));
    assert_eq!(client.read(session.clone()), [session]);
    assert_eq!(client.delete(multicast(7, vec![])), Ok(()));
    assert_eq!(client.delete(multicast(7, vec![])), Err(Code::NotFound));
    assert!(ports().is_empty());
}

#[test]
fn clone_sessions_are_written_and_read() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let session = |session_id, packet_length_bytes| {
        // The port of the controller.
        let replicas = vec![replica(0xffff_fffd, 1)];
        let entry = CloneSessionEntry { session_id, replicas, class_of_service: 2, packet_length_bytes };
        engine(packet_replication_engine_entry::Type::CloneSessionEntry(entry))
    };
    assert_eq!(client.modify(session(5, 0)), Err(Code::NotFound));
    assert_eq!(client.insert(session(5, 100)), Ok(()));
    assert_eq!(client.insert(session(5, 100)), Err(Code::AlreadyExists));
    assert_eq!(client.read(session(0, 0)), [session(5, 100)]);
    let kept = control::DataPlane::store(&rig.behind().plane).session_members(5);
    assert_eq!(kept.map(|(members, bytes)| (members[0].port, bytes)), Some((rig::CPU_PORT, 100)));
    assert_eq!(client.insert(session(0, 0)), Err(Code::InvalidArgument));
    assert_eq!(client.insert(session(6, -1)), Err(Code::InvalidArgument));
    assert_eq!(client.delete(session(5, 0)), Ok(()));
    assert_eq!(client.read(session(0, 0)), []);
}

#[test]
fn counters_are_read_and_written() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let counter = |at, data| Entity::CounterEntry(CounterEntry { counter_id: id_of("port_counter"), index: at, data });
    let value = |packet_count, byte_count| Some(CounterData { packet_count, byte_count });
    rig.behind().receive(9, frame(1, 2, 0));
    let length = frame(1, 2, 0).len() as i64;
    assert_eq!(client.read(counter(index(9), None)), [counter(index(9), value(1, length))]);
    assert_eq!(client.read(counter(None, None)).len(), 512);
    assert_eq!(client.read(Entity::CounterEntry(CounterEntry::default())).len(), 512);
    assert_eq!(client.modify(counter(index(9), value(7, 8))), Ok(()));
    assert_eq!(client.modify(counter(index(9), None)), Ok(()), "nothing changes");
    assert_eq!(client.read(counter(index(9), None)), [counter(index(9), value(7, 8))]);
    assert_eq!(client.modify(counter(None, value(1, 1))), Ok(()), "all elements");
    assert_eq!(client.read(counter(index(511), None)), [counter(index(511), value(1, 1))]);
    assert_eq!(client.modify(counter(index(-1), value(1, 1))), Err(Code::InvalidArgument));
    assert_eq!(client.modify(counter(index(512), value(1, 1))), Err(Code::OutOfRange));
    assert_eq!(client.modify(counter(index(1), value(-1, 1))), Err(Code::InvalidArgument));
    assert_eq!(client.insert(counter(index(1), None)), Err(Code::InvalidArgument));
    assert_eq!(client.delete(counter(index(1), None)), Err(Code::InvalidArgument));
    assert_eq!(client.read_fails(counter(index(512), None)), Code::OutOfRange);
    let nowhere = Entity::CounterEntry(CounterEntry { counter_id: 5, ..Default::default() });
    assert_eq!(client.read_fails(nowhere), Code::InvalidArgument);
}

#[test]
fn direct_counters_are_read_and_written() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let named = |entry: TableEntry| Some(TableEntry { action: None, ..entry });
    let counter =
        |entry: Option<TableEntry>, data| Entity::DirectCounterEntry(DirectCounterEntry { table_entry: entry, data });
    let value = Some(CounterData { packet_count: 4, byte_count: 5 });
    assert_eq!(client.modify(counter(named(host(1, 1)), value)), Err(Code::NotFound));
    assert_eq!(client.read_fails(counter(named(host(1, 1)), None)), Code::NotFound);
    client.insert(table(host(1, 1))).expect("it suits");
    client.insert(table(host(2, 1))).expect("it suits");
    assert_eq!(client.modify(counter(named(host(1, 1)), value)), Ok(()));
    assert_eq!(client.read(counter(named(host(1, 1)), None)), [counter(named(host(1, 1)), value)]);
    assert_eq!(client.read(counter(named(entry("hosts", vec![], None)), None)).len(), 2);
    assert_eq!(client.read(counter(Some(TableEntry::default()), None)).len(), 2);
    assert_eq!(client.modify(counter(None, value)), Err(Code::InvalidArgument));
    assert_eq!(client.modify(counter(named(acl(1, vec![])), value)), Err(Code::InvalidArgument));
    assert_eq!(client.insert(counter(named(host(1, 1)), value)), Err(Code::InvalidArgument));
}

#[test]
fn meters_are_read_and_written() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let meter = |at, config| {
        Entity::MeterEntry(MeterEntry { meter_id: id_of("port_meter"), index: at, config, counter_data: None })
    };
    let config = Some(MeterConfig { cir: 10, cburst: 20, pir: 30, pburst: 40, eburst: 0 });
    assert_eq!(client.read(meter(index(3), None)), [meter(index(3), None)], "green for ever");
    assert_eq!(client.modify(meter(index(3), config)), Ok(()));
    assert_eq!(client.read(meter(index(3), None)), [meter(index(3), config)]);
    assert_eq!(client.read(meter(None, None)).len(), 16);
    assert_eq!(client.modify(meter(None, config)), Ok(()));
    assert_eq!(client.read(meter(index(15), None)), [meter(index(15), config)]);
    assert_eq!(client.modify(meter(index(3), None)), Ok(()), "reset");
    assert_eq!(client.read(meter(index(3), None)), [meter(index(3), None)]);
    let wrong = |change: fn(&mut MeterConfig)| {
        let mut config = MeterConfig { cir: 10, cburst: 20, pir: 30, pburst: 40, eburst: 0 };
        change(&mut config);
        meter(index(1), Some(config))
    };
    assert_eq!(client.modify(wrong(|config| config.eburst = 1)), Err(Code::InvalidArgument));
    assert_eq!(client.modify(wrong(|config| config.pir = 9)), Err(Code::InvalidArgument));
    assert_eq!(client.modify(wrong(|config| config.cir = -1)), Err(Code::InvalidArgument));
    assert_eq!(client.modify(meter(index(-1), config)), Err(Code::InvalidArgument));
    assert_eq!(client.modify(meter(index(16), config)), Err(Code::OutOfRange));
    assert_eq!(client.insert(meter(index(1), config)), Err(Code::InvalidArgument));
    let colours =
        MeterEntry { meter_id: id_of("port_meter"), counter_data: Some(Default::default()), ..Default::default() };
    assert_eq!(client.modify(Entity::MeterEntry(colours)), Err(Code::Unimplemented));
    assert_eq!(client.read_fails(Entity::MeterEntry(colours)), Code::Unimplemented);

    let direct = |entry: TableEntry, config| {
        Entity::DirectMeterEntry(DirectMeterEntry {
            table_entry: Some(TableEntry { action: None, ..entry }),
            config,
            counter_data: None,
        })
    };
    assert_eq!(client.modify(direct(acl(1, vec![]), config)), Err(Code::NotFound));
    client.insert(table(acl(1, vec![range(2, 1, 2)]))).expect("it suits");
    assert_eq!(client.modify(direct(acl(1, vec![range(2, 1, 2)]), config)), Ok(()));
    assert_eq!(client.read(direct(acl(1, vec![range(2, 1, 2)]), None)), [direct(acl(1, vec![range(2, 1, 2)]), config)]);
    assert_eq!(client.modify(direct(host(1, 1), config)), Err(Code::InvalidArgument));
}

#[test]
fn registers_are_read_and_written() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let register = |at, data: Option<p4_data::Data>| {
        let data = data.map(|data| P4Data { data: Some(data) });
        Entity::RegisterEntry(RegisterEntry { register_id: id_of("last"), index: at, data })
    };
    let bits = |value: u64| Some(p4_data::Data::Bitstring(bytes(value)));
    rig.behind().receive(9, frame(0x1234, 2, 0));
    assert_eq!(client.read(register(index(0), None)), [register(index(0), bits(0x1234))]);
    assert_eq!(client.modify(register(index(3), bits(77))), Ok(()));
    assert_eq!(client.read(register(index(3), None)), [register(index(3), bits(77))]);
    assert_eq!(client.modify(register(None, bits(5))), Ok(()), "all elements");
    assert_eq!(client.read(register(None, None)).len(), 8);
    assert_eq!(client.read(register(index(7), None)), [register(index(7), bits(5))]);
    assert_eq!(client.modify(register(index(1), None)), Err(Code::InvalidArgument));
    assert_eq!(client.modify(register(index(1), Some(p4_data::Data::Bool(true)))), Err(Code::InvalidArgument));
    assert_eq!(client.modify(register(index(1), bits(1 << 32))), Err(Code::OutOfRange));
    assert_eq!(client.modify(register(index(8), bits(1))), Err(Code::OutOfRange));
    assert_eq!(client.modify(register(index(-1), bits(1))), Err(Code::InvalidArgument));
    assert_eq!(client.insert(register(index(1), bits(1))), Err(Code::InvalidArgument));
}

#[test]
fn value_sets_are_read_and_written() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let set = |values: &[u64]| {
        let member = |value: &u64| ValueSetMember { r#match: vec![exact(1, bytes(*value))] };
        let members = values.iter().map(member).collect();
        Entity::ValueSetEntry(ValueSetEntry { value_set_id: id_of("ipv4_types"), members })
    };
    assert_eq!(client.modify(set(&[0x800, 0x801])), Ok(()));
    assert_eq!(client.read(set(&[])), [set(&[0x800, 0x801])]);
    assert_eq!(client.modify(set(&[1, 1])), Err(Code::AlreadyExists));
    assert_eq!(client.modify(set(&[1, 2, 3, 4, 5])), Err(Code::ResourceExhausted));
    assert_eq!(client.modify(set(&[0x1_0000])), Err(Code::OutOfRange));
    assert_eq!(client.insert(set(&[1])), Err(Code::InvalidArgument));
    assert_eq!(client.read(set(&[])), [set(&[0x800, 0x801])], "refused updates change nothing");
    assert_eq!(client.modify(set(&[])), Ok(()));
    assert_eq!(client.read(Entity::ValueSetEntry(Default::default())), [set(&[])]);
}
