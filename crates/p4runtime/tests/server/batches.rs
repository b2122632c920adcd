//! Batches of writes and reads: order, atomicity, errors (P4Runtime 1.5, sections 10, 12 and 13).

use crate::rig;
use crate::rig::messages::*;
use crate::rig::{Client, Rig};
use control::DataPlane as _;
use control::message::runtime::{update::Type, write_request::Atomicity, *};
use control::store::Origin;
use std::time::Instant;
use tonic::{Code, Status};

fn update(kind: Type, entity: entity::Entity) -> Update {
    Update { r#type: kind.into(), entity: Some(Entity { entity: Some(entity) }) }
}

fn insert(address: u64, port: u64) -> Update {
    update(Type::Insert, table(host(address, port)))
}

fn codes(status: &Status) -> Vec<Code> {
    p4runtime::errors_of(status).iter().map(|error| Code::from(error.canonical_code)).collect()
}

fn hosts(client: &mut Client) -> Vec<entity::Entity> {
    let mut found = client.read(table(entry("hosts", vec![], None)));
    found.sort_by_key(|entity| format!("{entity:?}"));
    found
}

#[test]
fn every_update_has_its_error_in_order() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let status = client.write(vec![insert(1, 1), insert(1, 2), insert(2, 600), insert(3, 1)]).expect_err("two fail");
    assert_eq!(status.code(), Code::Unknown);
    assert_eq!(codes(&status), [Code::Ok, Code::AlreadyExists, Code::OutOfRange, Code::Ok]);
    let errors = p4runtime::errors_of(&status);
    assert_eq!(errors[0], Error::default());
    assert!(!errors[1].message.is_empty());
    assert_eq!(hosts(&mut client).len(), 2, "the others are written");
}

#[test]
fn an_update_without_type_or_entity_is_refused() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let empty = Update { r#type: Type::Insert.into(), entity: None };
    let hollow = Update { entity: Some(Entity { entity: None }), ..empty.clone() };
    let unknown = Update { r#type: 9, ..insert(1, 1) };
    let extern_entry = update(Type::Insert, entity::Entity::ExternEntry(Default::default()));
    let status = client.write(vec![update(Type::Unspecified, table(host(1, 1))), empty, hollow, unknown, extern_entry]);
    let invalid = Code::InvalidArgument;
    assert_eq!(codes(&status.expect_err("all fail")), [invalid, invalid, invalid, invalid, Code::Unimplemented]);
}

#[test]
fn an_entry_of_the_program_that_comes_back_is_the_programs() {
    let rig = Rig::with(Default::default(), Some(&rig::EVERYTHING.replace("const entries = { 7:", "entries = { 7:")));
    let mut client = rig.primary();
    let program = rig.behind().plane.store().program().clone();
    let (own, declared) = program.tables.iter().find(|(_, table)| !table.entries.is_empty()).expect("one has entries");
    let origins = || rig.behind().plane.store().entries(own).map(|stored| stored.origin).collect::<Vec<_>>();
    assert_eq!(origins(), [Origin::Program; 2], "of `{}`", declared.name);
    let delete = update(Type::Delete, table(entry("fixed", vec![exact(1, [7])], None)));
    let status = client.write_as(vec![delete, insert(1, 600)], Atomicity::RollbackOnError).expect_err("the last fails");
    assert_eq!(codes(&status), [Code::Aborted, Code::OutOfRange]);
    assert_eq!(origins(), [Origin::Program; 2]);
}

/// All that a controller has written, in an order of its own.
fn everything(client: &mut Client) -> Vec<entity::Entity> {
    let direct = TableEntry {
        counter_data: Some(Default::default()),
        meter_config: Some(Default::default()),
        ..Default::default()
    };
    let filters = [
        table(direct),
        entity::Entity::ActionProfileMember(Default::default()),
        entity::Entity::ActionProfileGroup(Default::default()),
        multicast(0, vec![]),
        entity::Entity::DigestEntry(Default::default()),
        entity::Entity::RegisterEntry(Default::default()),
        entity::Entity::CounterEntry(CounterEntry { counter_id: id_of("port_counter"), index: index(3), data: None }),
        entity::Entity::MeterEntry(Default::default()),
        entity::Entity::ValueSetEntry(Default::default()),
    ];
    let (mut found, status) = client.try_read(filters.into());
    assert!(status.is_none(), "{status:?}");
    found.sort_by_key(|entity| format!("{entity:?}"));
    found
}

/// Something of everything; the last but one is there already.
fn changes() -> Vec<Update> {
    let data = Some(CounterData { packet_count: 5, byte_count: 5 });
    let value = Some(P4Data { data: Some(p4_data::Data::Bitstring(vec![9])) });
    let config = Some(MeterConfig { cir: 1, cburst: 1, pir: 1, pburst: 1, eburst: 0 });
    let set = ActionProfileActionSet {
        action_profile_actions: vec![ActionProfileAction {
            action: Some(call("drop", &[])),
            weight: 1,
            watch_kind: None,
        }],
        ..Default::default()
    };
    let shot = Some(TableAction { r#type: Some(table_action::Type::ActionProfileActionSet(set)) });
    let member_of = |matches| ValueSetMember { r#match: matches };
    vec![
        insert(2, 2),
        update(Type::Modify, table(host(1, 3))),
        update(Type::Delete, table(host(1, 0))),
        update(Type::Delete, table(acl(1, vec![]))),
        update(Type::Insert, table(entry("spread", vec![exact(1, [8])], shot))),
        update(Type::Delete, table(entry("spread", vec![exact(1, [8])], None))),
        update(Type::Insert, member("selector", 2, call("drop", &[]))),
        update(Type::Modify, group(1, 0, &[(2, 1)])),
        update(Type::Delete, multicast(1, vec![])),
        update(
            Type::Modify,
            entity::Entity::CounterEntry(CounterEntry { counter_id: id_of("port_counter"), index: index(3), data }),
        ),
        update(
            Type::Modify,
            entity::Entity::RegisterEntry(RegisterEntry { register_id: id_of("last"), index: index(1), data: value }),
        ),
        update(
            Type::Modify,
            entity::Entity::MeterEntry(MeterEntry {
                meter_id: id_of("port_meter"),
                index: None,
                config,
                counter_data: None,
            }),
        ),
        update(Type::Insert, entity::Entity::DigestEntry(DigestEntry { digest_id: id_of("learned_t"), config: None })),
        update(
            Type::Modify,
            entity::Entity::ValueSetEntry(ValueSetEntry {
                value_set_id: id_of("ipv4_types"),
                members: vec![member_of(vec![exact(1, [8, 0])])],
            }),
        ),
        insert(2, 2),
        insert(4, 4),
    ]
}

#[test]
fn a_batch_with_rollback_is_written_as_a_whole_or_not() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let counter_data = Some(CounterData { packet_count: 3, byte_count: 4 });
    let kept = TableEntry { metadata: b"m".to_vec(), idle_timeout_ns: 9, counter_data, ..host(1, 1) };
    client.insert(table(kept)).expect("it suits");
    let meter_config = Some(MeterConfig { cir: 1, cburst: 2, pir: 3, pburst: 4, eburst: 0 });
    client.insert(table(TableEntry { meter_config, ..acl(1, vec![]) })).expect("it suits");
    client.insert(member("selector", 1, call("forward", &[&[1]]))).expect("it suits");
    client.insert(group(1, 0, &[(1, 2)])).expect("it suits");
    client.insert(multicast(1, vec![replica(1, 1)])).expect("it suits");
    let all = everything(&mut client);
    let updates = changes();
    let (last, good) = (updates.len(), updates.len() - 2);
    let status = client.write_as(updates.clone(), Atomicity::RollbackOnError).expect_err("host 2 is there already");
    let mut expected = vec![Code::Aborted; last];
    expected[good] = Code::AlreadyExists;
    assert_eq!(codes(&status), expected);
    assert_eq!(everything(&mut client), all, "everything is as it was");
    assert_eq!(
        client.write_as(updates[..good].to_vec(), Atomicity::RollbackOnError).map_err(|status| codes(&status)),
        Ok(())
    );
    assert_ne!(everything(&mut client), all);
}

#[test]
fn an_atomic_batch_holds_the_switch() {
    let rig = Rig::new();
    let mut client = rig.primary();
    assert!(client.write_as(vec![insert(1, 1)], Atomicity::DataplaneAtomic).is_ok());
    assert_eq!(rig.behind().holds, ["hold", "release"]);
    assert!(client.write_as(vec![insert(2, 1), insert(1, 1)], Atomicity::DataplaneAtomic).is_err());
    assert_eq!(hosts(&mut client).len(), 1);
    rig.behind().can_hold = false;
    let status = client.write_as(vec![insert(3, 1)], Atomicity::DataplaneAtomic).expect_err("it cannot");
    assert_eq!((status.code(), status.details().len()), (Code::Unimplemented, 0));
}

#[test]
fn checks_come_in_their_order() {
    let rig = Rig::empty();
    let mut client = rig.client();
    let mut write = |device_id, election_id| {
        let request = WriteRequest { device_id, election_id, ..Default::default() };
        client.runtime.block_on(client.rpc.write(request)).map(drop).map_err(|status| status.code())
    };
    assert_eq!(write(9, None), Err(Code::NotFound));
    assert_eq!(write(1, Some(Uint128 { high: 0, low: 1 })), Err(Code::PermissionDenied));
    client.become_primary(1);
    let status = client.write(vec![insert(1, 1)]).expect_err("no pipeline runs");
    assert_eq!(status.code(), Code::FailedPrecondition);
    assert!(status.message().contains("no forwarding pipeline config"), "{}", status.message());
    let (_, status) = client.try_read(vec![table(TableEntry::default())]);
    assert_eq!(status.map(|status| status.code()), Some(Code::FailedPrecondition));
}

#[test]
fn a_read_answers_what_it_can() {
    let rig = Rig::new();
    let mut client = rig.primary();
    client.insert(table(host(1, 1))).expect("it suits");
    let bad = table(TableEntry { table_id: 5, ..Default::default() });
    let (found, status) = client.try_read(vec![table(entry("hosts", vec![], None)), bad, table(host(1, 1))]);
    assert_eq!(found, [table(host(1, 1)), table(host(1, 1))]);
    let status = status.expect("one filter is wrong");
    assert_eq!(status.code(), Code::Unknown);
    assert_eq!(codes(&status), [Code::Ok, Code::InvalidArgument, Code::Ok]);
    let request = ReadRequest { device_id: 1, entities: vec![Entity::default()], ..Default::default() };
    let status = client
        .runtime
        .block_on(async { client.rpc.read(request).await.expect("it is answered").into_inner().message().await });
    assert_eq!(codes(&status.expect_err("the entity is empty")), [Code::InvalidArgument]);
}

#[test]
fn reading_needs_no_stream() {
    let rig = Rig::new();
    assert_eq!(rig.client().read(table(entry("fixed", vec![], None))).len(), 2);
}

#[test]
fn thousands_of_entries_are_written_and_read_in_pieces() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let route = |number: u64| {
        update(Type::Insert, table(entry("routes", vec![lpm(1, number << 16, 16)], forward(number % 500))))
    };
    let began = Instant::now();
    client.write((1..4097).map(route).collect()).expect("all suit");
    assert_eq!(client.read(table(entry("routes", vec![], None))).len(), 4096);
    assert!(began.elapsed().as_secs() < 20, "{:?}", began.elapsed());
}

/// A client that announces how much metadata it accepts.
fn accepting(rig: &Rig, bytes: u32, election: u64) -> Client {
    let endpoint = tonic::transport::Endpoint::from_shared(rig.address()).expect("it is an address");
    let mut client = Client::try_connect(|| endpoint.http2_max_header_list_size(bytes).connect_lazy());
    client.become_primary(election);
    client
}

#[test]
fn details_have_the_size_that_the_client_accepts() {
    let rig = Rig::with(Default::default(), Some(&rig::EVERYTHING.replace("size = 64;", "size = 4096;")));
    assert_eq!(rig.primary().insert(table(host(1, 1))), Ok(()));
    let cases = [(16_384, 140, true), (65_536, 1025, true), (16_384, 1025, false)];
    for (election, (bytes, updates, is_whole)) in (2..).zip(cases) {
        let mut client = accepting(&rig, bytes, election);
        // The last one fails, for there is such an entry.
        let batch = (2..=updates).chain([1]).map(|address| insert(address, 1)).collect();
        let status = client.write(batch).expect_err("one fails");
        assert_eq!(status.code(), Code::Unknown, "{status:?}");
        let codes = codes(&status);
        if is_whole {
            assert_eq!((codes.len() as u64, codes.last()), (updates, Some(&Code::AlreadyExists)));
        } else {
            assert!(codes.len() > 200 && status.message().contains("(failed: 1024; "), "{}", status.message());
        }
        let batch = (2..=updates).map(|address| update(Type::Delete, table(host(address, 1)))).collect();
        assert_eq!(client.write(batch).map_err(|status| status.to_string()), Ok(()));
    }
}

#[test]
fn texts_come_with_as_many_failures_as_the_client_accepts() {
    let rig = Rig::new();
    let batch = || (0..100).map(|_| insert(1, 600)).collect::<Vec<_>>();
    let status = accepting(&rig, 1 << 20, 1).write(batch()).expect_err("all fail");
    let errors = p4runtime::errors_of(&status);
    assert!(errors.len() == 100 && errors.iter().all(|error| error.message == errors[0].message));
    let some = accepting(&rig, 16_384, 2).write(batch()).expect_err("all fail");
    assert_eq!(codes(&some), vec![Code::OutOfRange; 100]);
}
