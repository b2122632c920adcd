//! Entries of tables and default actions (P4Runtime 1.5, section 9.1).

use crate::rig::messages::*;
use crate::rig::{self, Client, Rig};
use control::DataPlane as _;
use control::message::runtime::{table_action::Type as Does, *};
use tonic::Code;

fn entries(client: &mut Client, filter: TableEntry) -> Vec<TableEntry> {
    let found = client.read(table(filter)).into_iter().map(|entity| {
        let entity::Entity::TableEntry(entry) = entity else { panic!("the read was for entries, not {entity:?}") };
        entry
    });
    let mut found: Vec<TableEntry> = found.collect();
    found.sort_by_key(|entry| (entry.table_id, format!("{:?}", entry.r#match)));
    found
}

fn all_of(name: &str) -> TableEntry {
    entry(name, vec![], None)
}

#[test]
fn what_is_written_is_read() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let written = vec![
        TableEntry { metadata: b"mine".to_vec(), idle_timeout_ns: 5_000, ..host(1, 1) },
        TableEntry { controller_metadata: 77, ..host(2, 2) },
        entry("routes", vec![lpm(1, 0x0a00_0000, 8)], forward(3)),
        entry("routes", vec![], action("drop", &[])),
        acl(1, vec![ternary(1, 0x0100, 0xff00), range(2, 10, 20), optional(3, 0)]),
        acl(2, vec![range(2, 0, 9)]),
        acl(3, vec![]),
        entry("tenants", vec![exact(1, "red"), exact(2, bytes(5))], action("set_vrf", &[b"blue"])),
    ];
    for entry in &written {
        assert_eq!(client.insert(table(entry.clone())), Ok(()), "{entry:?}");
    }
    for name in ["hosts", "routes", "acl", "tenants"] {
        let mut expected: Vec<_> = written.iter().filter(|entry| entry.table_id == id_of(name)).cloned().collect();
        expected.sort_by_key(|entry| format!("{:?}", entry.r#match));
        assert_eq!(entries(&mut client, all_of(name)), expected);
    }
    // All tables: with the two entries of `fixed`.
    assert_eq!(entries(&mut client, TableEntry::default()).len(), written.len() + 2);
}

#[test]
fn entries_are_modified_and_deleted() {
    let rig = Rig::new();
    let mut client = rig.primary();
    assert_eq!(client.modify(table(host(1, 1))), Err(Code::NotFound));
    assert_eq!(client.delete(table(host(1, 1))), Err(Code::NotFound));
    assert_eq!(client.insert(table(host(1, 1))), Ok(()));
    assert_eq!(client.insert(table(host(1, 2))), Err(Code::AlreadyExists));
    assert_eq!(client.modify(table(TableEntry { metadata: b"x".to_vec(), ..host(1, 2) })), Ok(()));
    assert_eq!(entries(&mut client, all_of("hosts")), [TableEntry { metadata: b"x".to_vec(), ..host(1, 2) }]);
    // Without an action, the action stays.
    assert_eq!(client.modify(table(TableEntry { action: None, ..host(1, 0) })), Ok(()));
    assert_eq!(entries(&mut client, all_of("hosts")), [host(1, 2)]);
    // Only the key counts for a deletion.
    let nonsense = TableEntry { action: action("punt", &[]), idle_timeout_ns: -1, ..host(1, 0) };
    assert_eq!(client.delete(table(nonsense)), Ok(()));
    assert!(entries(&mut client, all_of("hosts")).is_empty());
}

#[test]
fn entries_forward_packets() {
    let rig = Rig::new();
    let mut client = rig.primary();
    client.insert(table(host(1, 4))).expect("it suits");
    rig.behind().receive(9, frame(1, 2, 0));
    assert_eq!(rig.behind().sent, [(4, frame(1, 2, 0))]);
}

#[test]
fn malformed_matches_are_refused() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let host_of = |value: &[u8]| entry("hosts", vec![exact(1, value)], forward(1));
    let route = |found| entry("routes", vec![found], forward(1));
    let unset = FieldMatch { field_id: 1, field_match_type: None };
    for (what, given, code) in [
        ("empty", host_of(&[]), Code::OutOfRange),
        ("too wide", host_of(&[1, 0, 0, 0, 0, 0, 0]), Code::OutOfRange),
        ("left out", entry("hosts", vec![], forward(1)), Code::InvalidArgument),
        ("not set", entry("hosts", vec![unset], forward(1)), Code::InvalidArgument),
        ("unknown", entry("hosts", vec![exact(2, [1])], forward(1)), Code::InvalidArgument),
        ("twice", entry("hosts", vec![exact(1, [1]), exact(1, [1])], forward(1)), Code::InvalidArgument),
        ("another kind", entry("hosts", vec![lpm(1, 1, 48)], forward(1)), Code::InvalidArgument),
        ("no prefix", route(lpm(1, 0, 0)), Code::InvalidArgument),
        ("negative prefix", route(lpm(1, 0, -1)), Code::InvalidArgument),
        ("long prefix", route(lpm(1, 0, 33)), Code::InvalidArgument),
        ("bits behind the prefix", route(lpm(1, 0x0a00_0001, 8)), Code::InvalidArgument),
        ("no mask", acl(1, vec![ternary(1, 0, 0)]), Code::InvalidArgument),
        ("bits outside the mask", acl(1, vec![ternary(1, 3, 1)]), Code::InvalidArgument),
        ("wide mask", acl(1, vec![ternary(1, 0, 1 << 32)]), Code::OutOfRange),
        ("whole range", acl(1, vec![range(2, 0, 0xffff)]), Code::InvalidArgument),
        ("empty range", acl(1, vec![range(2, 2, 1)]), Code::InvalidArgument),
        ("no priority", acl(0, vec![]), Code::InvalidArgument),
        ("negative priority", acl(-1, vec![]), Code::InvalidArgument),
        ("a priority", TableEntry { priority: 1, ..host(1, 1) }, Code::InvalidArgument),
        ("no table", TableEntry { table_id: 77, ..host(1, 1) }, Code::InvalidArgument),
        ("an action's id", TableEntry { table_id: id_of("forward"), ..host(1, 1) }, Code::InvalidArgument),
    ] {
        assert_eq!(client.insert(table(given)), Err(code), "{what}");
    }
}

#[test]
fn any_padding_is_the_same_entry() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let padded = entry("hosts", vec![exact(1, [0, 0, 0, 0, 0, 0, 0, 0, 1])], action("forward", &[&[0, 0, 5]]));
    assert_eq!(client.insert(table(padded)), Ok(()));
    assert_eq!(client.insert(table(host(1, 5))), Err(Code::AlreadyExists));
    assert_eq!(entries(&mut client, all_of("hosts")), [host(1, 5)]);
    client.insert(table(host(0, 0))).expect("it suits");
    assert_eq!(entries(&mut client, host(0, 0)), [entry("hosts", vec![exact(1, [0])], action("forward", &[&[0]]))]);
}

#[test]
fn malformed_actions_are_refused() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let with = |action| TableEntry { action, ..host(1, 1) };
    let of = |made| Some(TableAction { r#type: Some(made) });
    let twice = Action { params: vec![action::Param { param_id: 1, value: vec![1] }; 2], ..call("forward", &[]) };
    let other = Action { params: vec![action::Param { param_id: 2, value: vec![1] }], ..call("forward", &[]) };
    for (what, action, code) in [
        ("none", None, Code::InvalidArgument),
        ("not set", Some(TableAction { r#type: None }), Code::InvalidArgument),
        ("unknown", of(Does::Action(Action { action_id: 99, params: vec![] })), Code::InvalidArgument),
        ("of another table", action("set_vrf", &[b"x"]), Code::InvalidArgument),
        ("default only", action("punt", &[]), Code::PermissionDenied),
        ("without its parameter", action("forward", &[]), Code::InvalidArgument),
        ("with another parameter", of(Does::Action(other)), Code::InvalidArgument),
        ("with one twice", of(Does::Action(twice)), Code::InvalidArgument),
        ("with an empty value", action("forward", &[&[]]), Code::OutOfRange),
        ("with a wide value", action("forward", &[&[2, 0]]), Code::OutOfRange),
        ("a member", of(Does::ActionProfileMemberId(1)), Code::InvalidArgument),
        ("a group", of(Does::ActionProfileGroupId(1)), Code::InvalidArgument),
        ("a set", of(Does::ActionProfileActionSet(Default::default())), Code::InvalidArgument),
    ] {
        assert_eq!(client.insert(table(with(action))), Err(code), "{what}");
    }
    assert!(entries(&mut client, all_of("hosts")).is_empty());
}

#[test]
fn a_full_table_is_exhausted() {
    let rig = Rig::new();
    let mut client = rig.primary();
    for address in 0..64 {
        assert_eq!(client.insert(table(host(address, 1))), Ok(()));
    }
    assert_eq!(client.insert(table(host(64, 1))), Err(Code::ResourceExhausted));
    client.delete(table(host(3, 1))).expect("it is there");
    assert_eq!(client.insert(table(host(64, 1))), Ok(()));
}

#[test]
fn default_actions_are_only_modified() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let default = |action| TableEntry { is_default_action: true, action, ..all_of("hosts") };
    let original = default(action("drop", &[]));
    assert_eq!(entries(&mut client, default(None)), std::slice::from_ref(&original));
    assert_eq!(client.insert(table(default(forward(1)))), Err(Code::InvalidArgument));
    assert_eq!(client.delete(table(default(None))), Err(Code::InvalidArgument));
    let punt = TableEntry { metadata: b"m".to_vec(), ..default(action("punt", &[])) };
    assert_eq!(client.modify(table(punt.clone())), Ok(()));
    assert_eq!(entries(&mut client, default(None)), [punt]);
    assert_eq!(client.modify(table(default(action("learn", &[])))), Err(Code::PermissionDenied));
    assert_eq!(client.modify(table(default(None))), Ok(()), "it is reset");
    assert_eq!(entries(&mut client, default(None)), [original]);
    for given in [
        TableEntry { priority: 1, ..default(forward(1)) },
        TableEntry { r#match: vec![exact(1, [1])], ..default(forward(1)) },
        TableEntry { idle_timeout_ns: 1, ..default(forward(1)) },
    ] {
        assert_eq!(client.modify(table(given)), Err(Code::InvalidArgument));
    }
    let constant = TableEntry { is_default_action: true, ..entry("acl", vec![], action("drop", &[])) };
    assert_eq!(client.modify(table(constant)), Err(Code::PermissionDenied));
    let of_profile = TableEntry { is_default_action: true, ..entry("paths", vec![], forward(1)) };
    assert_eq!(client.modify(table(of_profile)), Err(Code::PermissionDenied));
    for aging in [
        TableEntry { time_since_last_hit: Some(Default::default()), ..default(None) },
        TableEntry { idle_timeout_ns: 1, ..default(None) },
        TableEntry { time_since_last_hit: Some(Default::default()), table_id: 0, ..default(None) },
    ] {
        assert_eq!(client.read_fails(table(aging)), Code::InvalidArgument);
    }
    // A wildcard finds entries alone.
    assert!(entries(&mut client, all_of("hosts")).is_empty());
}

#[test]
fn constant_entries_stay() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let found = entries(&mut client, all_of("fixed"));
    assert_eq!(found.len(), 2);
    assert!(found.iter().all(|entry| entry.is_const));
    let seven = entry("fixed", vec![exact(1, [7])], forward(1));
    assert_eq!(client.insert(table(entry("fixed", vec![exact(1, [9])], forward(1)))), Err(Code::PermissionDenied));
    assert_eq!(client.modify(table(seven.clone())), Err(Code::PermissionDenied));
    assert_eq!(client.delete(table(seven)), Err(Code::PermissionDenied));
}

#[test]
fn is_const_is_only_read() {
    let rig = Rig::new();
    let mut client = rig.primary();
    client.insert(table(host(1, 1))).expect("it suits");
    let default = |name: &str| TableEntry { is_default_action: true, ..all_of(name) };
    for given in [host(1, 1), host(2, 1), TableEntry { action: forward(1), ..default("hosts") }] {
        let constant = TableEntry { is_const: true, ..given };
        for update in [Client::insert, Client::modify, Client::delete] {
            assert_eq!(update(&mut client, table(constant.clone())), Err(Code::InvalidArgument), "{constant:?}");
        }
    }
    // Default actions that no write may change: a constant one, and that of a table with an action profile.
    for (name, expected) in [("acl", true), ("hosts", false), ("paths", true), ("shared", true), ("tenants", false)] {
        assert_eq!(entries(&mut client, default(name))[0].is_const, expected, "{name}");
    }
}

#[test]
fn filters_choose_entries() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let (one, two) = (acl(1, vec![range(2, 0, 9)]), acl(2, vec![range(2, 0, 9)]));
    let tagged = TableEntry { metadata: b"t".to_vec(), ..acl(3, vec![]) };
    let other = TableEntry { action: forward(1), ..acl(4, vec![ternary(1, 1, 1)]) };
    for entry in [&one, &two, &tagged, &other] {
        client.insert(table(entry.clone())).expect("it suits");
    }
    let open = all_of("acl");
    assert_eq!(entries(&mut client, TableEntry { priority: 2, ..open.clone() }), std::slice::from_ref(&two));
    assert_eq!(entries(&mut client, TableEntry { metadata: b"t".to_vec(), ..open.clone() }), [tagged]);
    assert_eq!(entries(&mut client, TableEntry { action: action("forward", &[]), ..open.clone() }), [other]);
    assert_eq!(entries(&mut client, TableEntry { action: None, ..two.clone() }), std::slice::from_ref(&two));
    // Priority 0 is no filter: a match finds its entries of each priority.
    let mut found = entries(&mut client, TableEntry { priority: 0, ..two.clone() });
    found.sort_by_key(|entry| entry.priority);
    assert_eq!(found, [one, two]);
    assert!(entries(&mut client, acl(0, vec![range(2, 0, 8)])).is_empty());
    assert!(entries(&mut client, acl(9, vec![range(2, 0, 9)])).is_empty());
    assert_eq!(client.read_fails(table(TableEntry { table_id: 1, ..open.clone() })), Code::InvalidArgument);
    assert_eq!(client.read_fails(table(acl(1, vec![exact(9, [1])]))), Code::InvalidArgument);
}

#[test]
fn direct_counters_and_meters_go_with_their_entry() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let counted = |packet_count| Some(CounterData { packet_count, byte_count: 10 });
    let written = TableEntry { counter_data: counted(3), ..host(1, 4) };
    assert_eq!(client.insert(table(written)), Ok(()));
    rig.behind().receive(9, frame(1, 2, 0));
    let asked = TableEntry { counter_data: Some(CounterData::default()), ..all_of("hosts") };
    let bytes = 10 + frame(1, 2, 0).len() as i64;
    let found = Some(CounterData { packet_count: 4, byte_count: bytes });
    assert_eq!(entries(&mut client, asked.clone()), [TableEntry { counter_data: found, ..host(1, 4) }]);
    assert_eq!(entries(&mut client, all_of("hosts")), [host(1, 4)], "only if the request has the field");
    // A modification without a counter leaves it.
    client.modify(table(host(1, 5))).expect("it is there");
    assert_eq!(entries(&mut client, asked)[0].counter_data, found);

    let config = Some(MeterConfig { cir: 1, cburst: 2, pir: 3, pburst: 4, eburst: 0 });
    let metered = TableEntry { meter_config: config, ..acl(1, vec![]) };
    let asked = TableEntry { meter_config: Some(MeterConfig::default()), ..all_of("acl") };
    client.insert(table(metered.clone())).expect("it suits");
    assert_eq!(entries(&mut client, asked.clone()), [metered]);
    // A modification without a meter resets it.
    client.modify(table(acl(1, vec![]))).expect("it is there");
    assert_eq!(entries(&mut client, asked), [acl(1, vec![])]);
    let lacks = TableEntry { counter_data: counted(1), ..acl(2, vec![]) };
    assert_eq!(client.insert(table(lacks)), Err(Code::InvalidArgument));
    let lacks = TableEntry { meter_config: config, ..host(2, 1) };
    assert_eq!(client.insert(table(lacks)), Err(Code::InvalidArgument));
    let colours = TableEntry { meter_counter_data: Some(Default::default()), ..acl(2, vec![]) };
    assert_eq!(client.insert(table(colours)), Err(Code::Unimplemented));
    assert_eq!(
        client.read_fails(table(TableEntry { meter_counter_data: Some(Default::default()), ..all_of("acl") })),
        Code::Unimplemented
    );
}

/// P4Runtime 1.5, 9.1.3: apart from its key, a default entry is an entry like any other.
#[test]
fn direct_counters_and_meters_go_with_a_default_action() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let default = |name: &str, action| TableEntry { is_default_action: true, action, ..all_of(name) };
    let counted = |packet_count, byte_count| Some(CounterData { packet_count, byte_count });
    let asked = TableEntry { counter_data: counted(0, 0), ..default("hosts", None) };
    let length = frame(1, 2, 0).len() as i64;
    assert_eq!(entries(&mut client, asked.clone())[0].counter_data, counted(0, 0));
    rig.behind().receive(9, frame(1, 2, 0));
    assert_eq!(entries(&mut client, asked.clone())[0].counter_data, counted(1, length), "a miss is counted");
    let drop = default("hosts", action("drop", &[]));
    assert_eq!(client.modify(table(TableEntry { counter_data: counted(4, 5), ..drop.clone() })), Ok(()));
    assert_eq!(client.modify(table(drop.clone())), Ok(()));
    rig.behind().receive(9, frame(1, 2, 0));
    assert_eq!(entries(&mut client, asked)[0].counter_data, counted(5, 5 + length));
    let direct =
        |entry, data| entity::Entity::DirectCounterEntry(DirectCounterEntry { table_entry: Some(entry), data });
    assert_eq!(client.modify(direct(default("hosts", None), counted(7, 8))), Ok(()));
    let found = direct(default("hosts", None), counted(7, 8));
    assert_eq!(client.read(direct(default("hosts", None), None)), std::slice::from_ref(&found));
    let of_all = TableEntry { is_default_action: true, ..TableEntry::default() };
    assert_eq!(client.read(direct(of_all, None)), [found]);
    // An entry has an element of its own.
    client.insert(table(host(1, 4))).expect("it suits");
    rig.behind().receive(9, frame(1, 2, 0));
    assert_eq!(
        client.read(direct(all_of("hosts"), None)),
        [direct(TableEntry { action: None, ..host(1, 4) }, counted(1, length))]
    );
    for lacking in [
        TableEntry { counter_data: counted(1, 1), ..default("tenants", action("NoAction", &[])) },
        TableEntry { meter_config: Some(Default::default()), ..drop },
    ] {
        assert_eq!(client.modify(table(lacking)), Err(Code::InvalidArgument));
    }

    let config = Some(MeterConfig { cir: 1, cburst: 2, pir: 3, pburst: 4, eburst: 0 });
    let meter = |config| {
        let table_entry = Some(default("acl", None));
        entity::Entity::DirectMeterEntry(DirectMeterEntry { table_entry, config, counter_data: None })
    };
    assert_eq!(client.read(meter(None)), [meter(None)]);
    assert_eq!(client.modify(meter(config)), Ok(()), "the action is constant, its meter is not");
    assert_eq!(client.read(meter(None)), [meter(config)]);
    let asked = TableEntry { meter_config: Some(Default::default()), ..default("acl", None) };
    assert_eq!(entries(&mut client, asked)[0].meter_config, config);
    assert_eq!(client.modify(meter(None)), Ok(()));
    assert_eq!(client.read(meter(None)), [meter(None)]);
}

#[test]
fn idle_timeouts_are_kept_and_notified() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let aging = TableEntry { idle_timeout_ns: 1_000, metadata: b"m".to_vec(), ..host(1, 4) };
    client.insert(table(aging.clone())).expect("it suits");
    rig.behind().since_last_hit_ns = 17;
    let asked = TableEntry { time_since_last_hit: Some(Default::default()), ..all_of("hosts") };
    let elapsed = Some(table_entry::IdleTimeout { elapsed_ns: 17 });
    assert_eq!(entries(&mut client, asked), [TableEntry { time_since_last_hit: elapsed, ..aging.clone() }]);
    // Again after each further time without a hit.
    for nanoseconds in [1_000, 2_000, 4_500, 5_500] {
        rig.behind().wait_until(nanoseconds);
        match client.receive().expect("the stream is open") {
            Some(stream_message_response::Update::IdleTimeoutNotification(idle)) => {
                assert_eq!(idle.table_entry, [TableEntry { action: None, ..aging.clone() }]);
                assert!(idle.timestamp > 0);
            }
            other => panic!("an entry is idle, not {other:?}"),
        }
    }
    // A notice that was late makes the next one no earlier: it comes a whole time later.
    rig.behind().wait_until(6_000);
    assert!(client.hears_nothing());
    for given in [
        TableEntry { idle_timeout_ns: -1, ..host(2, 1) },
        TableEntry { time_since_last_hit: elapsed, ..host(2, 1) },
        TableEntry { idle_timeout_ns: 1, ..acl(1, vec![]) },
    ] {
        assert_eq!(client.insert(table(given)), Err(Code::InvalidArgument));
    }
    let asked = TableEntry { time_since_last_hit: elapsed, ..all_of("acl") };
    assert_eq!(client.read_fails(table(asked)), Code::InvalidArgument);
}

#[test]
fn translated_values_are_the_controllers_own() {
    let rig = Rig::new();
    let mut client = rig.primary();
    let tenant =
        |vrf: &str, tag: u64| entry("tenants", vec![exact(1, vrf), exact(2, bytes(tag))], action("set_vrf", &[b"z"]));
    for given in [tenant("red", 1), tenant("blue", 0xfff)] {
        assert_eq!(client.insert(table(given)), Ok(()));
    }
    assert_eq!(entries(&mut client, tenant("red", 1)), [tenant("red", 1)]);
    assert_eq!(client.insert(table(tenant("red", 0x1000))), Err(Code::OutOfRange), "a tag has 12 bits in the program");
    // No packet has a name that nothing has set: the first text that is no number has number 1.
    assert_eq!(client.insert(table(tenant("green", 0))), Ok(()));
    let (tenants, _) =
        rig::PROGRAM.tables.iter().find(|(_, table)| table.name.ends_with("tenants")).expect("it has it");
    rig.behind().receive(9, frame(1, 2, 0));
    assert_eq!(rig.behind().plane.table_counts(tenants).hits, 0);
    assert_eq!(client.insert(table(tenant("0", 0))), Ok(()));
    rig.behind().receive(9, frame(1, 2, 0));
    assert_eq!(rig.behind().plane.table_counts(tenants).hits, 1, "the text 0 is the number 0");
    assert_eq!(
        client.insert(table(entry("tenants", vec![exact(1, [0xff]), exact(2, [1])], None))),
        Err(Code::InvalidArgument)
    );
}
