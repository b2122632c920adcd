//! Profiles, counters, meters, registers, value sets, multicast, mirroring.

use crate::{Switch, add_host, bytes, exact, frame, text};
use bm_runtime::replication::{MirroringSession, SimplePreLagClient, SimpleSwitchClient};
use bm_runtime::standard::{AddEntryOptions, CounterValue, MeterRate, StandardClient};

#[test]
fn members_and_groups_have_the_smallest_free_numbers() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let (selector, forward) = ("ingress.selector".to_string(), "ingress.forward".to_string());
    for (port, member) in [(4, 0), (5, 1)] {
        let added = client.bm_mt_act_prof_add_member(0, selector.clone(), forward.clone(), vec![bytes(port, 2)]);
        assert_eq!(text(added), Ok(member));
    }
    assert_eq!(text(client.bm_mt_act_prof_create_group(0, selector.clone())), Ok(0));
    let mut join =
        |member: i32, group: i32| text(client.bm_mt_act_prof_add_member_to_group(0, selector.clone(), member, group));
    assert_eq!(join(1, 0), Ok(()));
    assert_eq!(join(1, 0), Err("MemberAlreadyInGroup".to_string()));
    assert_eq!(join(7, 0), Err("InvalidMember".to_string()));
    assert_eq!(join(1, 3), Err("InvalidGroup".to_string()));
    let (paths, key) = ("paths".to_string(), vec![exact(0x86dd, 2)]);
    let options = AddEntryOptions::default();
    let entry = client.bm_mt_indirect_ws_add_entry(0, paths.clone(), key.clone(), 0, options.clone());
    assert_eq!(text(entry), Ok(0));
    assert_eq!(switch.ports_of(1, &frame(1)), [5]);
    let used = text(client.bm_mt_act_prof_delete_group(0, selector.clone(), 0));
    assert_eq!(used, Err("GroupStillUsed".to_string()));
    text(client.bm_mt_indirect_ws_modify_entry(0, paths.clone(), 0, 5)).expect_err("there is no group 5");
    text(client.bm_mt_indirect_delete_entry(0, paths.clone(), 0)).expect("the entry is there");
    text(client.bm_mt_indirect_add_entry(0, paths, key, 0, options)).expect("the member is there");
    assert_eq!(switch.ports_of(1, &frame(1)), [4]);
    let groups = text(client.bm_mt_act_prof_get_groups(0, selector.clone())).expect("the profile has groups");
    assert_eq!(groups.iter().map(|group| group.mbr_handles.clone()).collect::<Vec<_>>(), [[1]]);
    let members = text(client.bm_mt_act_prof_get_members(0, selector.clone())).expect("the profile is there");
    assert_eq!(members.len(), 2);
    text(client.bm_mt_act_prof_remove_member_from_group(0, selector.clone(), 1, 0)).expect("it is in the group");
    text(client.bm_mt_act_prof_delete_member(0, selector, 1)).expect("no group has it");
    let refused = text(client.bm_mt_act_prof_create_group(0, "ingress.profile".to_string()));
    assert_eq!(refused, Err("NoSelection".to_string()));
}

#[test]
fn counters_are_read_written_and_reset() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    add_host(&mut connection, 1, 4).expect("the entry suits");
    switch.send(3, &frame(1));
    let mut client = StandardClient(&mut connection);
    let counter = || "ingress.port_counter".to_string();
    let one = CounterValue { bytes: 64, packets: 1 };
    assert_eq!(text(client.bm_counter_read(0, counter(), 3)), Ok(one.clone()));
    assert_eq!(text(client.bm_mt_read_counter(0, "hosts".to_string(), 0)), Ok(one));
    let other = CounterValue { bytes: 7, packets: 6 };
    text(client.bm_counter_write(0, counter(), 2, other.clone())).expect("the counter has the index");
    assert_eq!(text(client.bm_counter_read(0, counter(), 2)), Ok(other));
    text(client.bm_counter_reset_all(0, counter())).expect("the counter is there");
    assert_eq!(text(client.bm_counter_read(0, counter(), 3)), Ok(CounterValue::default()));
    text(client.bm_mt_reset_counters(0, "hosts".to_string())).expect("the table has a counter");
    assert_eq!(text(client.bm_mt_read_counter(0, "hosts".to_string(), 0)), Ok(CounterValue::default()));
    assert_eq!(text(client.bm_counter_read(0, counter(), 512)), Err("InvalidIndex".to_string()));
    assert_eq!(text(client.bm_counter_read(0, "none".to_string(), 0)), Err("InvalidName".to_string()));
    assert_eq!(text(client.bm_mt_read_counter(0, "acl".to_string(), 0)), Err("CountersDisabled".to_string()));
}

#[test]
fn meters_have_two_rates() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let meter = || "ingress.port_meter".to_string();
    let rates = vec![
        MeterRate { units_per_micros: 0.000_000_5, burst_size: 10 },
        MeterRate { units_per_micros: 0.02, burst_size: 20 },
    ];
    assert_eq!(text(client.bm_meter_get_rates(0, meter(), 5)), Ok(vec![]));
    text(client.bm_meter_set_rates(0, meter(), 5, rates.clone())).expect("the rates are two");
    assert_eq!(text(client.bm_meter_get_rates(0, meter(), 5)), Ok(rates.clone()));
    text(client.bm_meter_array_set_rates(0, meter(), rates.clone())).expect("the rates are two");
    assert_eq!(text(client.bm_meter_get_rates(0, meter(), 15)), Ok(rates.clone()));
    let falling = rates.iter().rev().cloned().collect();
    assert_eq!(text(client.bm_meter_set_rates(0, meter(), 5, falling)), Err("InvalidRate".to_string()));
    let one = rates[..1].to_vec();
    assert_eq!(text(client.bm_meter_set_rates(0, meter(), 5, one)), Err("BadRates".to_string()));
    assert_eq!(text(client.bm_meter_set_rates(0, meter(), 16, rates)), Err("InvalidIndex".to_string()));
}

#[test]
fn registers_are_read_and_written() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    switch.send(1, &frame(0x42));
    let mut client = StandardClient(&mut connection);
    let last = || "ingress.last".to_string();
    assert_eq!(text(client.bm_register_read(0, last(), 0)), Ok(0x42));
    text(client.bm_register_write(0, last(), 1, 0x1_0000_0005)).expect("the register has the index");
    text(client.bm_register_write_range(0, last(), 2, 4, 9)).expect("the register has the indices");
    assert_eq!(text(client.bm_register_read_all(0, last())), Ok(vec![0x42, 5, 9, 9, 0, 0, 0, 0]));
    text(client.bm_register_reset(0, last())).expect("the register is there");
    assert_eq!(text(client.bm_register_read_all(0, last())), Ok(vec![0; 8]));
    assert_eq!(text(client.bm_register_read(0, last(), 8)), Err("InvalidIndex".to_string()));
    assert_eq!(text(client.bm_register_read(0, last(), i32::MAX)), Err("InvalidIndex".to_string()));
}

#[test]
fn value_sets_are_filled_and_emptied() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let set = || "ipv4_types".to_string();
    for value in [0x800, 0x801, 0x800] {
        text(client.bm_parse_vset_add(0, set(), bytes(value, 2))).expect("the set has room");
    }
    assert_eq!(text(client.bm_parse_vset_get(0, set())), Ok(vec![bytes(0x800, 2), bytes(0x801, 2)]));
    text(client.bm_parse_vset_remove(0, set(), bytes(0x800, 2))).expect("the set is there");
    assert_eq!(text(client.bm_parse_vset_get(0, set())), Ok(vec![bytes(0x801, 2)]));
    text(client.bm_parse_vset_clear(0, set())).expect("the set is there");
    assert_eq!(text(client.bm_parse_vset_get(0, set())), Ok(vec![]));
    assert_eq!(text(client.bm_parse_vset_add(0, set(), bytes(0x1_0000, 3))), Err("Error".to_string()));
}

#[test]
fn a_group_has_the_ports_of_its_nodes() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let flood = client.bm_mt_set_default_action(0, "hosts".to_string(), "flood".to_string(), vec![bytes(5, 2)]);
    text(flood).expect("the action may be the default");
    let mut client = SimplePreLagClient(&mut connection);
    assert_eq!(text(client.bm_mc_mgrp_create(0, 5)), Ok(5));
    assert_eq!(text(client.bm_mc_mgrp_create(0, 5)), Ok(5), "BMv2 takes it again");
    assert_eq!(text(client.bm_mc_mgrp_create(0, 0)), Err("InvalidGroup".to_string()));
    assert_eq!(text(client.bm_mc_node_create(0, 1, "1010".to_string(), String::new())), Ok(0));
    assert_eq!(text(client.bm_mc_node_create(0, 2, "10000".to_string(), String::new())), Ok(1));
    assert!(switch.ports_of(1, &frame(1)).is_empty(), "the group has no nodes yet");
    text(client.bm_mc_node_associate(0, 5, 0)).expect("both are there");
    text(client.bm_mc_node_associate(0, 5, 1)).expect("both are there");
    assert_eq!(switch.ports_of(9, &frame(1)), [1, 3, 4]);
    text(client.bm_mc_node_update(0, 1, "100000".to_string(), String::new())).expect("the node is there");
    assert_eq!(switch.ports_of(9, &frame(1)), [1, 3, 5]);
    text(client.bm_mc_node_dissociate(0, 5, 0)).expect("both are there");
    assert_eq!(switch.ports_of(9, &frame(1)), [5]);
    let dump = text(client.bm_mc_get_entries(0)).expect("entries can be read");
    assert!(dump.contains(r#""mgrps":[{"id":5,"l1_handles":[1]}]"#), "{dump}");
    assert!(dump.contains(r#"{"handle":1,"lags":[],"ports":[5]}"#), "{dump}");
    text(client.bm_mc_node_destroy(0, 1)).expect("the node is there");
    assert_eq!(text(client.bm_mc_node_associate(0, 5, 1)), Err("InvalidNode".to_string()));
    text(client.bm_mc_mgrp_destroy(0, 5)).expect("the group is there");
    assert_eq!(text(client.bm_mc_mgrp_destroy(0, 5)), Ok(()), "BMv2 has no error for this");
    assert_eq!(text(client.bm_mc_node_associate(0, 5, 0)), Err("InvalidGroupHandle".to_string()));
}

#[test]
fn a_link_aggregation_group_has_one_port_of_its_members() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = StandardClient(&mut connection);
    let flood = client.bm_mt_set_default_action(0, "hosts".to_string(), "flood".to_string(), vec![bytes(5, 2)]);
    text(flood).expect("the action may be the default");
    let mut client = SimplePreLagClient(&mut connection);
    text(client.bm_mc_mgrp_create(0, 5)).expect("the group is new");
    assert_eq!(text(client.bm_mc_node_create(0, 1, "10".to_string(), "110".to_string())), Ok(0));
    text(client.bm_mc_node_associate(0, 5, 0)).expect("both are there");
    assert_eq!(switch.ports_of(9, &frame(1)), [1], "neither has ports yet");
    // BMv2 chooses by the constant 255: of two ports the second, of three the first.
    text(client.bm_mc_set_lag_membership(0, 1, "1100".to_string())).expect("the map suits");
    assert_eq!(switch.ports_of(9, &frame(1)), [1, 3]);
    text(client.bm_mc_set_lag_membership(0, 2, "1110000".to_string())).expect("the map suits");
    assert_eq!(switch.ports_of(9, &frame(1)), [1, 3, 4]);
    let dump = text(client.bm_mc_get_entries(0)).expect("entries can be read");
    assert!(dump.contains(r#""lags":[{"id":1,"ports":[2,3]},{"id":2,"ports":[4,5,6]}]"#), "{dump}");
    assert!(dump.contains(r#"{"handle":0,"lags":[1,2],"ports":[1]}"#), "{dump}");
    text(client.bm_mc_set_lag_membership(0, 1, String::new())).expect("the map suits");
    assert_eq!(switch.ports_of(9, &frame(1)), [1, 4]);
    for wrong in [-1, 257] {
        assert_eq!(text(client.bm_mc_set_lag_membership(0, wrong, "1".to_string())), Err("Error".to_string()));
    }
    assert_eq!(text(client.bm_mc_set_lag_membership(0, 1, "2".to_string())), Err("Error".to_string()));
}

#[test]
fn mirroring_sessions_are_kept() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    let mut client = SimpleSwitchClient(&mut connection);
    let to_port = MirroringSession { port: Some(3), mgid: None };
    text(client.mirroring_session_add(100, to_port.clone())).expect("the session suits");
    assert_eq!(text(client.mirroring_session_get(100)), Ok(to_port));
    let to_group = MirroringSession { port: None, mgid: Some(2) };
    text(client.mirroring_session_add(100, to_group.clone())).expect("it is replaced");
    assert_eq!(text(client.mirroring_session_get(100)), Ok(to_group));
    text(client.mirroring_session_delete(100)).expect("the session is there");
    assert_eq!(text(client.mirroring_session_delete(100)), Err("NotFound".to_string()));
    assert_eq!(text(client.set_all_egress_queue_depths(10)), Ok(1), "queues are those of the devices");
    let first = text(client.get_time_elapsed_us()).expect("the switch has a clock");
    assert!(first <= text(client.get_time_elapsed_us()).expect("the switch has a clock"));
}

#[test]
fn a_reset_leaves_the_program_s_own_state() {
    let switch = Switch::begin();
    let mut connection = switch.connect();
    add_host(&mut connection, 1, 4).expect("the entry suits");
    let mut client = StandardClient(&mut connection);
    let set = client.bm_mt_set_default_action(0, "hosts".to_string(), "forward".to_string(), vec![bytes(9, 2)]);
    text(set).expect("the action may be the default");
    text(client.bm_register_write(0, "last".to_string(), 3, 7)).expect("the register has the index");
    text(client.bm_parse_vset_add(0, "ipv4_types".to_string(), bytes(0x800, 2))).expect("the set has room");
    text(client.bm_mt_act_prof_add_member(0, "profile".to_string(), "drop".to_string(), vec![]))
        .expect("there is room");
    text(SimplePreLagClient(&mut connection).bm_mc_mgrp_create(0, 5)).expect("the group is new");
    let mut client = StandardClient(&mut connection);
    text(client.bm_reset_state()).expect("all can be taken back");
    assert!(switch.ports_of(1, &frame(1)).is_empty());
    assert_eq!(text(client.bm_register_read(0, "last".to_string(), 3)), Ok(0));
    assert_eq!(text(client.bm_parse_vset_get(0, "ipv4_types".to_string())), Ok(vec![]));
    assert_eq!(text(client.bm_mt_act_prof_get_members(0, "profile".to_string())), Ok(vec![]));
    assert_eq!(text(client.bm_mt_get_num_entries(0, "fixed".to_string())), Ok(2));
    assert_eq!(text(SimplePreLagClient(&mut connection).bm_mc_mgrp_create(0, 5)), Ok(5));
}
