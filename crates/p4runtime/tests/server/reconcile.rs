//! RECONCILE_AND_COMMIT preserves all that controllers have written, and COMMIT replays what was written for a saved config (P4Runtime 1.5, 14).

use crate::rig::messages::*;
use crate::rig::{Client, EVERYTHING, Rig};
use control::DataPlane as _;
use control::Store;
use control::message::runtime::{
    entity::Entity, packet_replication_engine_entry::Type as Engine,
    set_forwarding_pipeline_config_request::Action as Set, *,
};
use std::collections::{BTreeMap, BTreeSet};
use tonic::Code;

fn config(text: &str) -> Option<ForwardingPipelineConfig> {
    Some(ForwardingPipelineConfig { p4_device_config: text.into(), ..Default::default() })
}

fn set(client: &mut Client, action: Set, text: &str) -> Result<(), Code> {
    client.set_config(action, config(text)).map_err(|status| status.code())
}

fn tenant(vrf: &str, tag: u64, to: &str) -> TableEntry {
    entry("tenants", vec![exact(1, vrf), exact(2, bytes(tag))], action("set_vrf", &[to.as_bytes()]))
}

fn default(table: &str, action: Option<TableAction>) -> TableEntry {
    TableEntry { is_default_action: true, ..entry(table, vec![], action) }
}

fn counted() -> Option<CounterData> {
    Some(CounterData { packet_count: 3, byte_count: 4 })
}

fn rates() -> Option<MeterConfig> {
    Some(MeterConfig { cir: 1, cburst: 2, pir: 3, pburst: 4, eburst: 0 })
}

/// Entities of every kind that is inserted.
fn inserted() -> Vec<Entity> {
    let watched = |port: u64| Some(action_profile_action::WatchKind::WatchPort(bytes(port)));
    let shot = ActionProfileActionSet {
        action_profile_actions: [1, 2]
            .map(|port| ActionProfileAction {
                action: Some(call("forward", &[&[port]])),
                weight: port.into(),
                watch_kind: watched(port.into()),
            })
            .to_vec(),
        ..Default::default()
    };
    let does = |made| Some(TableAction { r#type: Some(made) });
    let with_backup = Replica { backup_replicas: vec![BackupReplica { port: bytes(5), instance: 9 }], ..replica(4, 1) };
    let session = CloneSessionEntry {
        session_id: 5,
        replicas: vec![with_backup.clone(), replica(0xffff_fffd, 2)],
        class_of_service: 3,
        packet_length_bytes: 64,
    };
    let group_entry =
        MulticastGroupEntry { multicast_group_id: 7, replicas: vec![with_backup], metadata: b"group".to_vec() };
    let digest = digest_entry::Config { max_timeout_ns: 5, max_list_size: 6, ack_timeout_ns: 7 };
    vec![
        table(TableEntry { metadata: b"m".to_vec(), idle_timeout_ns: 9, counter_data: counted(), ..host(1, 1) }),
        table(TableEntry { controller_metadata: 77, ..host(2, 2) }),
        table(entry("routes", vec![lpm(1, 0x0a00_0000, 8)], forward(3))),
        table(entry("routes", vec![], action("drop", &[]))),
        table(TableEntry {
            meter_config: rates(),
            ..acl(1, vec![ternary(1, 0x0100, 0xff00), range(2, 10, 20), optional(3, 0)])
        }),
        table(acl(2, vec![])),
        table(tenant("red", 5, "blue")),
        table(tenant("green", 6, "7")),
        member("selector", 1, call("forward", &[&[1]])),
        member("selector", 0xffff_ffff, call("drop", &[])),
        group(0xc000_0000, 8, &[(1, 1), (0xffff_ffff, 3)]),
        member("profile", 3, call("forward", &[&[3]])),
        table(entry("paths", vec![exact(1, [8])], does(table_action::Type::ActionProfileGroupId(0xc000_0000)))),
        table(entry("shared", vec![exact(1, [8])], does(table_action::Type::ActionProfileMemberId(3)))),
        table(entry("spread", vec![exact(1, [8])], does(table_action::Type::ActionProfileActionSet(shot)))),
        engine(Engine::MulticastGroupEntry(group_entry)),
        engine(Engine::CloneSessionEntry(session)),
        Entity::DigestEntry(DigestEntry { digest_id: id_of("learned_t"), config: Some(digest) }),
    ]
}

/// Entities of every kind that is always there.
fn modified() -> Vec<Entity> {
    let value = Some(P4Data { data: Some(p4_data::Data::Bitstring(vec![9])) });
    let members = vec![ValueSetMember { r#match: vec![exact(1, [8, 0])] }];
    vec![
        table(TableEntry { metadata: b"d".to_vec(), counter_data: counted(), ..default("hosts", action("punt", &[])) }),
        table(default("tenants", action("set_vrf", &[b"black"]))),
        Entity::DirectMeterEntry(DirectMeterEntry {
            table_entry: Some(default("acl", None)),
            config: rates(),
            counter_data: None,
        }),
        Entity::CounterEntry(CounterEntry { counter_id: id_of("port_counter"), index: index(3), data: counted() }),
        Entity::MeterEntry(MeterEntry {
            meter_id: id_of("port_meter"),
            index: index(4),
            config: rates(),
            counter_data: None,
        }),
        Entity::RegisterEntry(RegisterEntry { register_id: id_of("last"), index: index(2), data: value }),
        Entity::ValueSetEntry(ValueSetEntry { value_set_id: id_of("ipv4_types"), members }),
    ]
}

/// The rows that changes leave, and all rows of the store.
fn rows_of(rig: &Rig, changes: Vec<control::store::Change>) -> [BTreeMap<Vec<u8>, Vec<u8>>; 2] {
    let behind = rig.behind();
    let store = behind.plane.store();
    let mut noted: BTreeMap<_, _> = Store::new(store.program().clone()).rows().collect();
    for (key, value) in changes {
        match value {
            Some(value) => drop(noted.insert(key, value)),
            None => drop(noted.remove(&key)),
        }
    }
    [noted, store.rows().collect()]
}

/// What a switch saves: each write leaves its rows in the journal, and a store that is made of rows has the same ones.
#[test]
fn whatever_was_written_is_in_the_rows_of_the_store() {
    let rig = Rig::with(Default::default(), Some(EVERYTHING));
    let mut client = rig.primary();
    rig.behind().plane.store_mut().keep_journal();
    write_everything(&mut client);
    let changes = rig.behind().plane.store_mut().take_changes();
    let [noted, all] = rows_of(&rig, changes);
    assert_eq!(noted, all);
    let kinds: BTreeSet<u8> = all.keys().map(|key| key[0]).collect();
    assert_eq!(
        kinds,
        (1..=11).filter(|kind| *kind != 3).collect(),
        "all but the times of profiles, which are Thrift's"
    );
    let program = rig.behind().plane.store().program().clone();
    let rows = || all.iter().map(|(key, value)| (&key[..], &value[..]));
    let (store, refused) = Store::of_rows(program.clone(), rows());
    assert_eq!((store.rows().collect::<BTreeMap<_, _>>(), refused), (all.clone(), Vec::<String>::new()));
    // A row without an end, or of another length, is reported; a member that is lost takes the entries with it that refer to it.
    let (cut, refused) = Store::of_rows(program.clone(), rows().map(|(key, value)| (&key[..key.len() - 1], value)));
    assert!(refused.len() > 5 && cut.rows().count() < all.len(), "{refused:?}");
    let of_members = rows().filter(|(key, _)| key[0] == 4).count();
    let (without, refused) = Store::of_rows(program, rows().filter(|(key, _)| key[0] != 4));
    assert_eq!(without.rows().count(), all.len() - of_members - 1, "{refused:?}");
    assert!(refused.iter().any(|why| why.contains("shared`") && why.contains("missing")), "{refused:?}");
    // What is taken back or deleted leaves the journal as it was.
    let deletions = inserted().into_iter().rev().filter(|entity| !matches!(entity, Entity::ActionProfileMember(_)));
    for entity in deletions {
        assert_eq!(client.delete(entity.clone()), Ok(()), "{entity:?}");
    }
    let failing = [(update::Type::Insert, host(9, 9)), (update::Type::Delete, host(8, 8))];
    let failing = failing.map(|(kind, of)| Update {
        r#type: kind.into(),
        entity: Some(control::message::runtime::Entity { entity: Some(table(of)) }),
    });
    client.write_as(failing.to_vec(), write_request::Atomicity::RollbackOnError).expect_err("there is no host 8");
    let changes = rig.behind().plane.store_mut().take_changes();
    let all_changes = all.into_iter().map(|(key, value)| (key, Some(value))).chain(changes).collect();
    let [noted, all] = rows_of(&rig, all_changes);
    assert_eq!(noted, all);
    assert!(!all.keys().any(|key| [7, 8, 10].contains(&key[0])), "groups, sessions and digests are gone");
}

fn write_everything(client: &mut Client) {
    for entity in inserted() {
        assert_eq!(client.insert(entity.clone()), Ok(()), "{entity:?}");
    }
    for entity in modified() {
        assert_eq!(client.modify(entity.clone()), Ok(()), "{entity:?}");
    }
}

/// All that the switch has, in an order of its own.
fn state(client: &mut Client) -> Vec<Entity> {
    let direct = TableEntry {
        counter_data: Some(Default::default()),
        meter_config: Some(Default::default()),
        ..Default::default()
    };
    let filters = vec![
        table(direct.clone()),
        table(TableEntry { is_default_action: true, ..direct }),
        Entity::ActionProfileMember(Default::default()),
        Entity::ActionProfileGroup(Default::default()),
        Entity::CounterEntry(Default::default()),
        Entity::MeterEntry(Default::default()),
        Entity::RegisterEntry(Default::default()),
        Entity::DirectMeterEntry(DirectMeterEntry {
            table_entry: Some(default("acl", None)),
            config: None,
            counter_data: None,
        }),
        multicast(0, vec![]),
        engine(Engine::CloneSessionEntry(Default::default())),
        Entity::ValueSetEntry(Default::default()),
        Entity::DigestEntry(Default::default()),
    ];
    let (mut found, status) = client.try_read(filters);
    assert!(status.is_none(), "{status:?}");
    found.sort_by_key(|entity| format!("{entity:?}"));
    found
}

#[test]
fn whatever_was_written_reads_back_after_an_exchange() {
    let rig = Rig::new();
    let mut client = rig.primary();
    write_everything(&mut client);
    let before = state(&mut client);
    let written = |entity: &&Entity| !matches!(entity, Entity::TableEntry(_));
    for entity in inserted().iter().chain(&modified()).filter(written) {
        assert!(before.contains(entity), "{entity:?}");
    }
    // The same program, and one with an action more, whose numbers are others.
    let other = EVERYTHING
        .replace("actions = { set_vrf; set_tag; NoAction; }", "actions = { drop; set_tag; set_vrf; NoAction; }");
    assert_ne!(other, EVERYTHING);
    for text in [EVERYTHING, other.as_str(), EVERYTHING] {
        assert_eq!(set(&mut client, Set::ReconcileAndCommit, text), Ok(()));
        assert_eq!(state(&mut client), before);
    }
}

/// The texts of translated types keep their numbers: a new one gets a number that is free, a deletion finds its own entry.
#[test]
fn texts_keep_their_numbers_after_an_exchange() {
    let rig = Rig::new();
    let mut client = rig.primary();
    for name in ["alpha", "beta"] {
        assert_eq!(client.insert(table(tenant(name, 1, name))), Ok(()));
    }
    assert_eq!(set(&mut client, Set::ReconcileAndCommit, EVERYTHING), Ok(()));
    assert_eq!(client.insert(table(tenant("beta", 1, "x"))), Err(Code::AlreadyExists));
    assert_eq!(client.insert(table(tenant("gamma", 1, "gamma"))), Ok(()));
    assert_eq!(client.delete(table(tenant("alpha", 1, ""))), Ok(()));
    let left = ["beta", "gamma"].map(|name| table(tenant(name, 1, name)));
    let mut found = client.read(table(entry("tenants", vec![], None)));
    found.sort_by_key(|entity| format!("{entity:?}"));
    let mut expected = left.to_vec();
    expected.sort_by_key(|entity| format!("{entity:?}"));
    assert_eq!(found, expected);
    // A program in which the texts are others cannot have them.
    let renamed = EVERYTHING.replace("vrf_t", "tenant_t");
    let plain = EVERYTHING.replace("@p4runtime_translation(\"example.org/vrf\", string)\n", "");
    for text in [renamed, plain] {
        assert_eq!(set(&mut client, Set::ReconcileAndCommit, &text), Err(Code::InvalidArgument));
        assert_eq!(client.read(table(entry("tenants", vec![], None))).len(), 2, "nothing has changed");
    }
}

#[test]
fn writes_for_a_saved_config_are_replayed_by_its_commit() {
    for rig in [Rig::empty(), Rig::new()] {
        let mut client = rig.primary();
        assert_eq!(set(&mut client, Set::VerifyAndSave, EVERYTHING), Ok(()));
        write_everything(&mut client);
        assert_eq!(client.insert(table(host(1, 1))), Err(Code::AlreadyExists), "checked against what was written");
        assert_eq!(client.insert(table(TableEntry { table_id: 77, ..host(3, 1) })), Err(Code::InvalidArgument));
        let saved = state(&mut client);
        assert_eq!(client.set_config(Set::Commit, None).map_err(|status| status.code()), Ok(()));
        assert_eq!(state(&mut client), saved);
        rig.behind().receive(9, frame(1, 2, 0));
        assert_eq!(rig.behind().sent.last(), Some(&(1, frame(1, 2, 0))), "packets meet what was replayed");
    }
}

#[test]
fn a_saved_config_leaves_the_running_one_alone() {
    let rig = Rig::new();
    let mut client = rig.primary();
    client.insert(table(host(1, 4))).expect("it suits");
    let smaller = EVERYTHING.replace("            tenants.apply();\n", "");
    assert_eq!(set(&mut client, Set::VerifyAndSave, &smaller), Ok(()));
    assert_eq!(client.insert(table(tenant("red", 1, "x"))), Err(Code::InvalidArgument), "it has no such table");
    assert_eq!(client.read_fails(table(entry("tenants", vec![], None))), Code::InvalidArgument);
    assert!(client.read(table(entry("hosts", vec![], None))).is_empty(), "reads are of the saved config, too");
    assert_eq!(client.insert(table(host(1, 5))), Ok(()));
    rig.behind().receive(9, frame(1, 2, 0));
    assert_eq!(rig.behind().sent, [(4, frame(1, 2, 0))], "packets meet the running one");
    // A batch that is taken back is not replayed.
    let updates = [host(2, 1), host(1, 9)].map(|entry| Update {
        r#type: update::Type::Insert.into(),
        entity: Some(control::message::runtime::Entity { entity: Some(table(entry)) }),
    });
    assert!(client.write_as(updates.to_vec(), write_request::Atomicity::RollbackOnError).is_err());
    assert_eq!(client.set_config(Set::Commit, None).map_err(|status| status.code()), Ok(()));
    assert_eq!(client.read(table(entry("hosts", vec![], None))), [table(host(1, 5))]);
    // A config that is committed at once is the last one that was saved: nothing is left to commit.
    assert_eq!(set(&mut client, Set::VerifyAndSave, &smaller), Ok(()));
    assert_eq!(set(&mut client, Set::VerifyAndCommit, EVERYTHING), Ok(()));
    assert_eq!(client.set_config(Set::Commit, None).map_err(|status| status.code()), Err(Code::NotFound));
    assert_eq!(client.insert(table(tenant("red", 1, "x"))), Ok(()));
}
