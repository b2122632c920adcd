//! Links of ports: what a controller reads does not depend on them, and they outlive a pipeline (P4Runtime 1.5, sections 9.2 and 9.5).

use crate::rig;
use crate::rig::messages::*;
use crate::rig::{EVERYTHING, Rig};
use control::DataPlane as _;
use control::message::runtime::{
    action_profile_group::member::WatchKind as Watch, entity::Entity, packet_replication_engine_entry::Type as Engine,
    set_forwarding_pipeline_config_request::Action as Set, *,
};
use p4runtime::Settings;
use std::time::{Duration, Instant};
use tonic::Code;

/// The port of the controller, as the protocol numbers it.
const SDN_CPU: u32 = 0xffff_fffd;

fn eventually(holds: impl Fn() -> bool) {
    let began = Instant::now();
    while !holds() {
        assert!(began.elapsed() < Duration::from_secs(10), "it never holds");
        std::thread::sleep(Duration::from_millis(5));
    }
}

fn config() -> Option<ForwardingPipelineConfig> {
    Some(ForwardingPipelineConfig { p4_device_config: EVERYTHING.into(), ..Default::default() })
}

fn watching(group_id: u32, members: &[(u32, Watch)]) -> Entity {
    let members = members.iter().map(|(member_id, watch)| action_profile_group::Member {
        member_id: *member_id,
        weight: 2,
        watch_kind: Some(watch.clone()),
    });
    let action_profile_id = id_of("selector");
    let members = members.collect();
    Entity::ActionProfileGroup(ActionProfileGroup { action_profile_id, group_id, members, max_size: 8 })
}

fn set_of(watch: &[action_profile_action::WatchKind]) -> TableEntry {
    let action = |watch: &action_profile_action::WatchKind| ActionProfileAction {
        action: Some(call("forward", &[&[4]])),
        weight: 3,
        watch_kind: Some(watch.clone()),
    };
    let set = ActionProfileActionSet {
        action_profile_actions: watch.iter().map(action).collect(),
        action_selection_mode: action_profile_action_set::ActionSelectionMode::Hash.into(),
        size_semantics: action_profile_action_set::SizeSemantics::SumOfMembers.into(),
    };
    let does = TableAction { r#type: Some(table_action::Type::ActionProfileActionSet(set)) };
    entry("spread", vec![exact(1, [8])], Some(does))
}

/// Two replicas, in the field that the protocol has given up and in that of today.
fn replicas() -> Vec<Replica> {
    let old = |port| Some(replica::PortKind::EgressPort(port));
    let backup = BackupReplica { port: bytes(SDN_CPU.into()), instance: 4 };
    vec![
        Replica { port_kind: old(SDN_CPU), instance: 1, backup_replicas: Vec::new() },
        Replica { port_kind: old(7), instance: 2, backup_replicas: vec![backup] },
        replica(8, 3),
    ]
}

#[test]
fn ports_are_read_in_the_form_in_which_they_were_written() {
    let rig = Rig::new();
    let mut client = rig.primary();
    for number in 1..4 {
        client.insert(member("selector", number, call("forward", &[&[1]]))).expect("it suits");
    }
    let group = watching(
        1,
        &[(1, Watch::Watch(3)), (2, Watch::WatchPort(bytes(4))), (3, Watch::WatchPort(bytes(SDN_CPU.into())))],
    );
    let set = table(set_of(&[
        action_profile_action::WatchKind::WatchPort(bytes(5)),
        action_profile_action::WatchKind::Watch(6),
    ]));
    let class = CloneSessionEntry { session_id: 1, replicas: replicas(), class_of_service: 3, packet_length_bytes: 0 };
    let session = engine(Engine::CloneSessionEntry(class));
    let metadata = b"of the controller".to_vec();
    let many = MulticastGroupEntry { multicast_group_id: 1, replicas: replicas(), metadata };
    let many = engine(Engine::MulticastGroupEntry(many));
    for written in [&group, &set, &session, &many] {
        assert_eq!(client.insert(written.clone()), Ok(()));
    }
    for port in 3..9 {
        rig.server.events().port(port, false);
    }
    eventually(|| (3..9).all(|port| rig.behind().plane.store().is_down(port)));
    let sessions = engine(Engine::CloneSessionEntry(CloneSessionEntry::default()));
    assert_eq!(client.read(Entity::ActionProfileGroup(ActionProfileGroup::default())), [group]);
    assert_eq!(client.read(table(entry("spread", vec![], None))), [set]);
    assert_eq!(client.read(sessions), [session]);
    assert_eq!(client.read(multicast(0, vec![])), [many]);
    let live: Vec<u32> = rig.behind().plane.store().replicas(1).iter().map(|replica| replica.port).collect();
    assert_eq!(live, [rig::CPU_PORT, rig::CPU_PORT, 8], "the backup replaces port 7; port 8 has none");
}

/// P4Runtime 1.5, 9.2.2, 9.2.3, 9.5.1 and 9.5.2: a port that is watched or gets copies is one of the switch.
#[test]
fn a_backup_replaces_a_port_until_it_is_added() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let backup = BackupReplica { port: bytes(5), instance: 1 };
    let later = Replica { backup_replicas: vec![backup], ..replica(99, 1) };
    client.insert(multicast(7, vec![later, replica(6, 2)])).expect("it suits");
    let flood = entry("hosts", vec![exact(1, [1])], action("flood", &[&[7]]));
    client.insert(table(flood)).expect("it suits");
    let ports = || {
        let mut behind = rig.behind();
        behind.sent.clear();
        behind.receive(9, frame(1, 2, 0));
        behind.sent.iter().map(|(port, _)| *port).collect::<Vec<_>>()
    };
    assert_eq!(ports(), [5, 6]);
    rig.server.events().port(99, true);
    eventually(|| ports() == [99, 6]);
}

#[test]
fn ports_that_the_switch_or_the_program_cannot_have_are_refused() {
    let rig = Rig::new();
    let mut client = rig.primary();
    client.insert(member("selector", 1, call("forward", &[&[1]]))).expect("it suits");
    let session = |given: &[u8]| {
        let replicas = vec![Replica { port_kind: Some(replica::PortKind::Port(given.to_vec())), ..Default::default() }];
        engine(Engine::CloneSessionEntry(CloneSessionEntry { session_id: 1, replicas, ..Default::default() }))
    };
    let copies = |given: &[u8]| {
        let kind = Some(replica::PortKind::Port(given.to_vec()));
        multicast(1, vec![Replica { port_kind: kind, ..Default::default() }])
    };
    let backed = |given: &[u8]| {
        let backup = BackupReplica { port: given.to_vec(), instance: 1 };
        multicast(2, vec![Replica { backup_replicas: vec![backup], ..replica(7, 1) }])
    };
    for (given, expected) in [
        (bytes(3), Ok(())),
        (bytes(SDN_CPU.into()), Ok(())),
        (vec![0, 0, 4], Ok(())),
        (bytes(99), Err(Code::InvalidArgument)),
        (bytes(511), Err(Code::InvalidArgument)),
        (bytes(512), Err(Code::OutOfRange)),
        (vec![0xff; 3], Err(Code::OutOfRange)),
        (vec![1; 5], Err(Code::OutOfRange)),
    ] {
        let watch = Watch::WatchPort(given.clone());
        let shot = table(set_of(&[action_profile_action::WatchKind::WatchPort(given.clone())]));
        let watchers = [watching(1, &[(1, watch)]), shot].map(|entity| (entity, expected));
        let replicas = [session(&given), copies(&given)].map(|entity| (entity, expected));
        // Beside a port that is there, a replica may be for one that is added later.
        let of_backup = if given == bytes(99) { Ok(()) } else { expected };
        for (entity, expected) in watchers.into_iter().chain(replicas).chain([(backed(&given), of_backup)]) {
            assert_eq!(client.insert(entity.clone()), expected, "{entity:?}");
            if expected.is_ok() {
                assert_eq!(client.delete(entity), Ok(()));
            }
        }
    }
    // The fields that the protocol has given up.
    let old = |port| vec![Replica { port_kind: Some(replica::PortKind::EgressPort(port)), ..Default::default() }];
    for (number, code) in [(99, Code::InvalidArgument), (511, Code::InvalidArgument), (512, Code::OutOfRange)] {
        assert_eq!(client.insert(multicast(3, old(number))), Err(code));
        assert_eq!(client.insert(watching(1, &[(1, Watch::Watch(number as i32))])), Err(code));
    }
}

/// Where the program's ports are texts for controllers, so are those that are watched and get copies.
#[test]
fn ports_are_texts_where_the_program_has_them_so() {
    let text = EVERYTHING
        .replace("@p4runtime_translation(\"example.org/tag\", 32)", "@p4runtime_translation(\"\", string)\ntype bit<9> port_t;\n@p4runtime_translation(\"example.org/tag\", 32)")
        .replace("action forward(bit<9> port) { s.egress_spec = port; }", "action forward(port_t port) { s.egress_spec = (bit<9>) port; }");
    let rig = Rig::with(Settings::default(), Some(&text));
    let mut client = rig.primary();
    let named = |port: &str| call("forward", &[port.as_bytes()]);
    client.insert(member("selector", 1, named("uplink"))).expect("it suits");
    client.insert(member("selector", 2, named("3"))).expect("it suits");
    let group = |port: &[u8]| watching(1, &[(1, Watch::WatchPort(port.to_vec()))]);
    let copies = |port: &[u8]| {
        let kind = Some(replica::PortKind::Port(port.to_vec()));
        multicast(1, vec![Replica { port_kind: kind, instance: 0, backup_replicas: vec![] }])
    };
    for (port, expected) in [
        (&b"uplink"[..], Ok(())),
        (b"3", Ok(())),
        (b"4", Ok(())),
        (b"\xff\xff\xff\xfd", Ok(())),
        (b"downlink", Err(Code::InvalidArgument)),
        (b"1", Err(Code::InvalidArgument)),
        (b"512", Err(Code::OutOfRange)),
        (b"\xff", Err(Code::InvalidArgument)),
    ] {
        for entity in [group(port), copies(port)] {
            assert_eq!(client.insert(entity.clone()), expected, "{entity:?}");
            if expected.is_ok() {
                assert_eq!(client.read(entity.clone()), std::slice::from_ref(&entity));
                assert_eq!(client.delete(entity), Ok(()));
            }
        }
    }
    assert_eq!(client.insert(group(b"99")), Err(Code::InvalidArgument));
    assert_eq!(client.insert(copies(b"99")), Err(Code::InvalidArgument));
    client.insert(copies(b"uplink")).expect("it suits");
    assert_eq!(rig.behind().plane.store().replicas(1)[0].port, 1, "the first text that is no number");
}

#[test]
fn links_outlive_a_pipeline() {
    let rig = Rig::empty();
    let mut client = rig.primary();
    rig.server.events().port(4, false);
    assert!(client.set_config(Set::VerifyAndCommit, config()).is_ok());
    eventually(|| rig.behind().plane.store().is_down(4));
    for action in [Set::VerifyAndCommit, Set::ReconcileAndCommit] {
        assert!(client.set_config(action, config()).is_ok());
        assert!(rig.behind().plane.store().is_down(4), "{action:?}");
    }
    let backup = BackupReplica { port: bytes(5), instance: 1 };
    let group = multicast(7, vec![Replica { backup_replicas: vec![backup], ..replica(4, 1) }]);
    client.insert(group).expect("it suits");
    assert_eq!(rig.behind().plane.store().replicas(7)[0].port, 5);
}

#[test]
fn watching_groups_and_sets_outlive_a_pipeline_that_is_reconciled() {
    let rig = Rig::new();
    let mut client = rig.primary();
    client.insert(member("selector", 1, call("forward", &[&[1]]))).expect("it suits");
    let group = watching(1, &[(1, Watch::WatchPort(bytes(4)))]);
    let set = table(set_of(&[action_profile_action::WatchKind::WatchPort(bytes(5))]));
    client.insert(group.clone()).expect("it suits");
    client.insert(set.clone()).expect("it suits");
    assert!(client.set_config(Set::ReconcileAndCommit, config()).is_ok());
    assert_eq!(client.read(Entity::ActionProfileGroup(ActionProfileGroup::default())), std::slice::from_ref(&group));
    assert_eq!(client.read(table(entry("spread", vec![], None))), std::slice::from_ref(&set));
    assert_eq!(client.delete(set), Ok(()));
    assert_eq!(client.delete(group.clone()), Ok(()));
    assert_eq!(client.delete(group), Err(Code::NotFound));
}
