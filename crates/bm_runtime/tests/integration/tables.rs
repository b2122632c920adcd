//! Entries and default actions.

use crate::rig::{Rig, messages};
use crate::{Switch, action, add_host, bytes, exact, frame, lpm, priority, ternary, text};
use bm_runtime::Settings;
use bm_runtime::standard::{
    ActionEntryType, AddEntryOptions, MatchParameter, MatchRange, MatchType, MeterRate, StandardClient,
};
use control::message::runtime::{MeterConfig, TableEntry, Update, entity::Entity, update};

fn hosts() -> String {
    "ingress.hosts".to_string()
}

#[test]
fn an_entry_forwards_until_it_is_deleted() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    assert_eq!(add_host(&mut connection, 1, 4), Ok(0));
    assert_eq!(add_host(&mut connection, 2, 5), Ok(1));
    assert_eq!(switch.ports_of(1, &frame(1)), [4]);
    assert_eq!(add_host(&mut connection, 1, 6), Err("DuplicateEntry".to_string()));

    let mut client = StandardClient(&mut connection);
    let forward = "ingress.forward".to_string();
    text(client.bm_mt_modify_entry(0, hosts(), 0, forward, vec![bytes(7, 2)])).expect("the entry is there");
    assert_eq!(switch.ports_of(1, &frame(1)), [7]);
    assert_eq!(text(client.bm_mt_get_num_entries(0, hosts())), Ok(2));

    text(client.bm_mt_delete_entry(0, hosts(), 0)).expect("the entry is there");
    assert!(switch.ports_of(1, &frame(1)).is_empty(), "the default action drops");
    assert_eq!(text(client.bm_mt_delete_entry(0, hosts(), 0)), Err("InvalidHandle".to_string()));
    assert_eq!(add_host(&mut connection, 3, 4), Ok(1 << 24), "the slot is used again, with another version");
    let mut client = StandardClient(&mut connection);
    assert_eq!(text(client.bm_mt_delete_entry(0, hosts(), 0)), Err("ExpiredHandle".to_string()));
    text(client.bm_mt_clear_entries(0, hosts(), false)).expect("the table can be written");
    assert_eq!(text(client.bm_mt_get_num_entries(0, hosts())), Ok(0));
    assert_eq!(add_host(&mut connection, 3, 4), Ok(0), "handles begin again");
}

#[test]
fn names_are_known_in_full_and_by_their_end() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let mut add = |table: &str, action: &str, data: u64| {
        let (key, data) = (vec![exact(data, 6)], vec![bytes(data, 2)]);
        text(client.bm_mt_add_entry(0, table.to_string(), key, action.to_string(), data, AddEntryOptions::default()))
    };
    assert_eq!(add("hosts", "forward", 3), Ok(0));
    assert_eq!(add("host", "forward", 4), Err("InvalidTableName".to_string()));
    assert_eq!(add("hosts", "set_vrf", 4), Err("InvalidActionName".to_string()));
    assert_eq!(add("paths", "forward", 4), Err("WrongTableType".to_string()), "its entries have members or groups");
}

#[test]
fn keys_and_data_must_fit() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let mut add = |key: Vec<MatchParameter>, data: Vec<bm_runtime::Binary>| {
        text(client.bm_mt_add_entry(0, hosts(), key, "forward".to_string(), data, AddEntryOptions::default()))
    };
    let bad_key = Err("BadMatchKey".to_string());
    assert_eq!(add(vec![], vec![bytes(1, 2)]), bad_key);
    assert_eq!(add(vec![exact(1 << 48, 7)], vec![bytes(1, 2)]), bad_key);
    assert_eq!(add(vec![lpm(1, 6, 8)], vec![bytes(1, 2)]), bad_key);
    let bad_data = Err("BadActionData".to_string());
    assert_eq!(add(vec![exact(1, 6)], vec![]), bad_data);
    assert_eq!(add(vec![exact(1, 6)], vec![bytes(512, 2)]), bad_data, "a port has nine bits");
    assert_eq!(add(vec![exact(1, 6)], vec![bytes(511, 2)]), Ok(0));
}

#[test]
fn entries_are_read_as_bmv2_has_them() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let dport = MatchParameter {
        kind: MatchType::Range,
        range: Some(MatchRange { start: bytes(80, 2), end: bytes(443, 2) }),
        ..MatchParameter::default()
    };
    let class = ternary(0x12, 0xff, 1);
    let key = vec![ternary(0x0a00_0000, 0xff00_0000, 4), dport, class];
    let acl = "ingress.acl".to_string();
    let added = client.bm_mt_add_entry(0, acl.clone(), key.clone(), "drop".to_string(), vec![], priority(7));
    assert_eq!(text(added), Ok(0));
    let entries = text(client.bm_mt_get_entries(0, acl.clone())).expect("the table is there");
    let [entry] = entries.as_slice() else { panic!("one entry: {entries:?}") };
    assert_eq!((&entry.match_key, &entry.options, entry.entry_handle), (&key, &priority(7), 0));
    assert_eq!(action(&entry.action_entry), ("ingress.drop", vec![]));
    assert_eq!(text(client.bm_mt_get_entry_from_key(0, acl, key, priority(7))).as_ref(), Ok(entry));
    let fixed = text(client.bm_mt_get_entries(0, "fixed".to_string())).expect("the table is there");
    let shown: Vec<_> = fixed.iter().map(|entry| (entry.entry_handle, entry.match_key[0].clone())).collect();
    assert_eq!(shown, [(0, exact(7, 2)), (1, exact(8, 2))], "the program's own entries have the first handles");
    let deleted = text(client.bm_mt_delete_entry(0, "fixed".to_string(), 0));
    assert_eq!(deleted, Err("ImmutableEntries".to_string()));
}

#[test]
fn the_smaller_priority_wins() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    for (port, given) in [(3, 20), (2, 10)] {
        let key = vec![
            ternary(0, 0, 4),
            MatchParameter {
                kind: MatchType::Range,
                range: Some(MatchRange { start: bytes(0, 2), end: bytes(0xffff, 2) }),
                ..MatchParameter::default()
            },
            ternary(0, 0, 1),
        ];
        let data = vec![bytes(port, 2)];
        text(client.bm_mt_add_entry(0, "acl".to_string(), key, "forward".to_string(), data, priority(given)))
            .expect("the entry suits");
    }
    text(client.bm_parse_vset_add(0, "parse.ipv4_types".to_string(), bytes(0x800, 2))).expect("the set is there");
    let mut packet = frame(1);
    packet[12..14].copy_from_slice(&[8, 0]);
    assert_eq!(switch.ports_of(1, &packet), [2]);
}

/// As in BMv2, the array of a direct meter is that of its table's entries.
#[test]
fn rates_of_a_direct_array_are_those_of_all_entries() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let acl = || "acl".to_string();
    for kind in [1, 2] {
        let add = client.bm_mt_add_entry(0, acl(), acl_key(kind), "drop".to_string(), vec![], priority(1));
        text(add).expect("the entry suits");
    }
    let rates = vec![
        MeterRate { units_per_micros: 0.000_000_5, burst_size: 1 },
        MeterRate { units_per_micros: 0.000_01, burst_size: 1 },
    ];
    text(client.bm_meter_array_set_rates(0, "acl_meter".to_string(), rates.clone())).expect("the rates are two");
    for handle in [0, 1] {
        assert_eq!(text(client.bm_mt_get_meter_rates(0, acl(), handle)), Ok(rates.clone()));
        assert_eq!(text(client.bm_meter_get_rates(0, "acl_meter".to_string(), handle)), Ok(rates.clone()));
    }
    let other = vec![rates[1].clone(), rates[1].clone()];
    text(client.bm_meter_set_rates(0, "acl_meter".to_string(), 1, other.clone())).expect("the slot has an entry");
    assert_eq!(text(client.bm_mt_get_meter_rates(0, acl(), 1)), Ok(other.clone()));
    assert_eq!(text(client.bm_mt_get_meter_rates(0, acl(), 0)), Ok(rates));
    for free in [2, -1] {
        let set = client.bm_meter_set_rates(0, "acl_meter".to_string(), free, other.clone());
        assert_eq!(text(set), Err("InvalidIndex".to_string()));
    }
}

fn acl_key(class: u64) -> Vec<MatchParameter> {
    let range = Some(MatchRange { start: bytes(0, 2), end: bytes(0xffff, 2) });
    let any = MatchParameter { kind: MatchType::Range, range, ..MatchParameter::default() };
    vec![ternary(0, 0, 4), any, ternary(class, 0xff, 1)]
}

#[test]
fn rates_of_a_direct_array_reach_later_entries() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let acl = || "acl".to_string();
    let rates = vec![MeterRate { units_per_micros: 3.0, burst_size: 30 }; 2];
    text(client.bm_meter_array_set_rates(0, "acl_meter".to_string(), rates.clone())).expect("the rates are two");
    let add = client.bm_mt_add_entry(0, acl(), acl_key(1), "drop".to_string(), vec![], priority(1));
    assert_eq!(text(add), Ok(0));
    assert_eq!(text(client.bm_mt_get_meter_rates(0, acl(), 0)), Ok(rates));
    text(client.bm_reset_state()).expect("all can be taken back");
    let add = client.bm_mt_add_entry(0, acl(), acl_key(2), "drop".to_string(), vec![], priority(1));
    assert_eq!(text(add), Ok(0));
    assert_eq!(text(client.bm_mt_get_meter_rates(0, acl(), 0)), Ok(vec![]), "a reset takes them back");
}

/// BMv2 has a meter for each slot of a table, so its array's rates are also those of entries that P4Runtime adds without rates.
#[test]
fn rates_of_a_direct_array_reach_entries_of_p4runtime() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let acl = || "acl".to_string();
    let rates = vec![MeterRate { units_per_micros: 3.0, burst_size: 30 }; 2];
    text(client.bm_meter_array_set_rates(0, "acl_meter".to_string(), rates.clone())).expect("the rates are two");
    let mut controller = switch.rig.primary();
    let entry = |class| messages::acl(1, vec![messages::optional(3, class)]);
    let own = Some(MeterConfig { cir: 5, cburst: 6, pir: 7, pburst: 8, eburst: 0 });
    let given = [entry(1), TableEntry { meter_config: own, ..entry(2) }, entry(3)];
    let insertion = |entry: &TableEntry| Update {
        r#type: update::Type::Insert.into(),
        entity: Some(control::message::runtime::Entity { entity: Some(messages::table(entry.clone())) }),
    };
    controller.write(given.iter().map(insertion).collect()).expect("the entries suit");
    let config = MeterConfig { cir: 3_000_000, cburst: 30, pir: 3_000_000, pburst: 30, eburst: 0 };
    let mut read = |entry: &TableEntry| {
        let asked = TableEntry { meter_config: Some(MeterConfig::default()), ..entry.clone() };
        match controller.read(messages::table(asked)).pop() {
            Some(Entity::TableEntry(found)) => found.meter_config,
            other => panic!("an entry is expected, not {other:?}"),
        }
    };
    assert_eq!(given.each_ref().map(&mut read), [Some(config), own, Some(config)]);
    controller.modify(messages::table(entry(2))).expect("the entry is there");
    let after: Vec<_> = (0..3).map(|handle| text(client.bm_mt_get_meter_rates(0, acl(), handle))).collect();
    assert_eq!(after, vec![Ok(rates); 3], "an entry without rates has those of the array again");
}

#[test]
fn an_entry_whose_rates_are_refused_is_not_there() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let acl = || "acl".to_string();
    let rates = |burst_size| vec![MeterRate { units_per_micros: 3.0, burst_size }; 2];
    text(client.bm_meter_array_set_rates(0, "acl_meter".to_string(), rates(30))).expect("the rates are two");
    let add = client.bm_mt_add_entry(0, acl(), acl_key(1), "drop".to_string(), vec![], priority(1));
    assert_eq!(text(add), Ok(0));
    switch.rig.behind().plane.refuses_rates = true;
    let add = client.bm_mt_add_entry(0, acl(), acl_key(2), "drop".to_string(), vec![], priority(1));
    assert_eq!(text(add), Err("InvalidMeterOperation".to_string()));
    assert_eq!(text(client.bm_mt_get_num_entries(0, acl())), Ok(1));
    assert!(text(client.bm_meter_array_set_rates(0, "acl_meter".to_string(), rates(40))).is_err());
    switch.rig.behind().plane.refuses_rates = false;
    let add = client.bm_mt_add_entry(0, acl(), acl_key(2), "drop".to_string(), vec![], priority(1));
    assert_eq!(text(add), Ok(1), "the refused one had no handle");
    assert_eq!(text(client.bm_mt_get_meter_rates(0, acl(), 1)), Ok(rates(30)), "those of before the refusal");
}

#[test]
fn answers_have_what_bmv2_has() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    assert_eq!(add_host(&mut connection, 1, 2), Ok(0));
    let mut client = StandardClient(&mut connection);
    let life = |entry: &bm_runtime::standard::TableEntry| entry.life.as_ref().map(|life| life.timeout_ms);
    let entry = text(client.bm_mt_get_entry(0, hosts(), 0)).expect("the entry is there");
    assert_eq!(life(&entry), None, "it has no timeout");
    text(client.bm_mt_set_entry_ttl(0, hosts(), 0, 5000)).expect("the table has timeouts");
    let entry = text(client.bm_mt_get_entry(0, hosts(), 0)).expect("the entry is there");
    assert_eq!(life(&entry), Some(5000));
    let set = client.bm_mt_set_default_action(0, "acl".to_string(), "NoAction".to_string(), vec![]);
    assert_eq!(text(set), Err("DefaultEntryIsConst".to_string()));
    let punt = client.bm_mt_modify_entry(0, hosts(), 0, "punt".to_string(), vec![]);
    assert_eq!(text(punt), Err("InvalidActionName".to_string()), "it may only be the default action");
    let entry = text(client.bm_mt_get_default_entry(0, "paths".to_string())).expect("the table is there");
    assert_eq!(entry, bm_runtime::standard::ActionEntry::default(), "no member is the default");
}

#[test]
fn default_actions_are_set_and_reset() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let set = client.bm_mt_set_default_action(0, hosts(), "ingress.forward".to_string(), vec![bytes(9, 2)]);
    text(set).expect("the action may be the default");
    assert_eq!(switch.ports_of(1, &frame(1)), [9]);
    let entry = text(client.bm_mt_get_default_entry(0, hosts())).expect("the table is there");
    assert_eq!(action(&entry), ("ingress.forward", vec![vec![9]]), "BMv2 has no leading zeros");
    text(client.bm_mt_reset_default_entry(0, hosts())).expect("the table is there");
    assert!(switch.ports_of(1, &frame(1)).is_empty());
    let constant = client.bm_mt_set_default_action(0, "acl".to_string(), "drop".to_string(), vec![]);
    assert_eq!(text(constant), Err("DefaultEntryIsConst".to_string()));
}

/// As in BMv2: the default follows its member, which cannot be deleted meanwhile.
#[test]
fn a_member_can_be_the_default_of_its_table() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let (paths, selector) = (|| "paths".to_string(), || "selector".to_string());
    let before = switch.ports_of(1, &frame(1));
    assert_eq!(text(client.bm_mt_indirect_set_default_member(0, paths(), 0)), Err("InvalidMember".to_string()));
    let member = client.bm_mt_act_prof_add_member(0, selector(), "forward".to_string(), vec![bytes(7, 2)]);
    assert_eq!(text(member), Ok(0));
    text(client.bm_mt_indirect_set_default_member(0, paths(), 0)).expect("the member is there");
    assert_eq!(switch.ports_of(1, &frame(1)), [7]);
    let entry = text(client.bm_mt_get_default_entry(0, paths())).expect("the table is there");
    assert_eq!((entry.action_type, entry.mbr_handle), (ActionEntryType::Member, Some(0)));
    let changed = client.bm_mt_act_prof_modify_member(0, selector(), 0, "forward".to_string(), vec![bytes(8, 2)]);
    text(changed).expect("the member is there");
    assert_eq!(switch.ports_of(1, &frame(1)), [8]);
    let used = text(client.bm_mt_act_prof_delete_member(0, selector(), 0));
    assert_eq!(used, Err("MemberStillUsed".to_string()));
    text(client.bm_mt_indirect_reset_default_entry(0, paths())).expect("the table is there");
    assert_eq!(switch.ports_of(1, &frame(1)), before);
    text(client.bm_mt_act_prof_delete_member(0, selector(), 0)).expect("it is no default any more");
    let direct = text(client.bm_mt_indirect_set_default_member(0, hosts(), 0));
    assert_eq!(direct, Err("WrongTableType".to_string()));
}

/// Whichever controller changes it; and no controller can delete it.
#[test]
fn a_default_follows_its_member_whatever_controller_changes_that() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let (paths, selector) = (|| "paths".to_string(), || "selector".to_string());
    // P4Runtime has no member 0.
    for member in [0, 1] {
        let added = client.bm_mt_act_prof_add_member(0, selector(), "forward".to_string(), vec![bytes(7, 2)]);
        assert_eq!(text(added), Ok(member));
    }
    text(client.bm_mt_indirect_set_default_member(0, paths(), 1)).expect("the member is there");
    let member = |port| messages::member("selector", 1, messages::call("forward", &[&[port]]));
    switch.rig.primary().modify(member(9)).expect("the member is there");
    assert_eq!(switch.ports_of(1, &frame(1)), [9]);
    let entry = text(client.bm_mt_get_default_entry(0, paths())).expect("the table is there");
    assert_eq!((entry.action_type, entry.mbr_handle), (ActionEntryType::Member, Some(1)));
    assert!(switch.rig.primary().delete(member(9)).is_err(), "it is the default");
    text(client.bm_mt_indirect_reset_default_entry(0, paths())).expect("the table is there");
    switch.rig.primary().delete(member(9)).expect("it is no default any more");
}

#[test]
fn a_group_is_no_default() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let paths = || "paths".to_string();
    let none = text(client.bm_mt_indirect_ws_set_default_group(0, paths(), 0));
    assert_eq!(none, Err("InvalidGroup".to_string()));
    assert_eq!(text(client.bm_mt_act_prof_create_group(0, "selector".to_string())), Ok(0));
    let refused = text(client.bm_mt_indirect_ws_set_default_group(0, paths(), 0));
    assert_eq!(refused, Err("DefaultEntryIsConst".to_string()));
}

#[test]
fn both_servers_see_one_table() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    add_host(&mut connection, 1, 4).expect("the entry suits");
    let mut primary = switch.rig.primary();
    let entry = messages::table(messages::host(1, 4));
    let read = primary.read(entry.clone());
    assert!(read.len() == 1 && read[0] == entry, "{read:?}");
    primary.delete(entry.clone()).expect("the entry is there");
    let mut client = StandardClient(&mut connection);
    assert_eq!(text(client.bm_mt_get_num_entries(0, hosts())), Ok(0));
    assert_eq!(text(client.bm_mt_delete_entry(0, hosts(), 0)), Err("InvalidHandle".to_string()));
    primary.insert(entry).expect("there is room");
    let entries = text(client.bm_mt_get_entries(0, hosts())).expect("the table is there");
    assert_eq!(entries.len(), 1);
    text(client.bm_mt_delete_entry(0, hosts(), entries[0].entry_handle)).expect("it has a handle");
    assert!(switch.ports_of(1, &frame(1)).is_empty());
}

#[test]
fn entries_age_where_the_table_supports_it() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    add_host(&mut connection, 1, 4).expect("the entry suits");
    let mut client = StandardClient(&mut connection);
    text(client.bm_mt_set_entry_ttl(0, hosts(), 0, 2500)).expect("the table has timeouts");
    let entry = text(client.bm_mt_get_entry(0, hosts(), 0)).expect("the entry is there");
    assert_eq!(entry.life.map(|life| (life.timeout_ms, life.time_since_hit_ms)), Some((2500, 0)));
    let refused = text(client.bm_mt_set_entry_ttl(0, "acl".to_string(), 0, 1));
    assert_eq!(refused, Err("AgeingDisabled".to_string()));
}

#[test]
fn without_a_program_there_are_no_names() {
    let switch = Switch::with(Settings::default(), Rig::empty());
    let mut connection = switch.connect();
    assert_eq!(add_host(&mut connection, 1, 4), Err("InvalidTableName".to_string()));
    assert_eq!(text(StandardClient(&mut connection).bm_get_config()), Ok("{}".to_string()));
}
