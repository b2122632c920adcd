//! Scripts at a switch: what they print, as BMv2's own command line prints it.

#[allow(dead_code)]
#[path = "../../../p4runtime/tests/server/rig/mod.rs"]
mod rig;

use bm_runtime::{Server, Settings};
use rig::Rig;

/// What each command of a script prints, without the prompt.
fn printed(script: &[&str]) -> Vec<String> {
    let rig = Rig::new();
    let address = "127.0.0.1:0".parse().expect("it is an address");
    let server = Server::start(address, Settings::default(), rig.process.clone()).expect("loopback has free ports");
    let output = runtime_cli::output_of(server.address(), &script.join("\n")).expect("the switch answers");
    let parts = output.split("RuntimeCmd: ").skip(1).map(|part| part.trim_end().to_string());
    parts.take(script.len()).collect()
}

fn check(cases: &[(&str, &str)]) {
    let script: Vec<&str> = cases.iter().map(|(command, _)| *command).collect();
    for ((command, expected), printed) in cases.iter().zip(printed(&script)) {
        assert_eq!(printed, *expected, "{command}");
    }
}

#[test]
fn entries_are_added_and_deleted() {
    let added = "\
Adding entry to exact match table hosts
match key:           EXACT-00:11:22:33:44:55
action:              forward
runtime data:        00:02";
    check(&[
        ("table_add hosts forward 00:11:22:33:44:55 => 2", &format!("{added}\nEntry has been added with handle 0")),
        (
            "table_add hosts forward 00:11:22:33:44:55 => 2",
            &format!("{added}\nInvalid table operation (DUPLICATE_ENTRY)"),
        ),
        ("table_num_entries ingress.hosts", "1"),
        ("table_modify hosts forward 0 3", "Modifying entry 0 for exact match table hosts"),
        ("table_delete hosts 0", "Deleting entry 0 from hosts"),
        ("table_delete hosts 0", "Deleting entry 0 from hosts\nInvalid table operation (INVALID_HANDLE)"),
        ("table_delete hosts x", "Error: Bad format for entry handle"),
        ("table_delete hosts", "Error: Wrong number of args, expected 2 but got 1"),
        ("table_add hosts forward", "Error: Insufficient number of args"),
        (
            "table_add hosts forward 5 => 70000",
            "Invalid runtime data: Error while parsing 70000 - Parameter is too large",
        ),
        ("table_add hosts forward 5 6 => 2", "Error: Table hosts needs 1 key fields"),
        ("table_add hosts nope 5 => 2", "Error: Table hosts has no action nope"),
        ("table_add nope forward 5 => 2", "Error: Invalid table name (nope)"),
        (
            "table_add routes forward 10.0.0.0 => 3",
            "Invalid match key: Invalid LPM value 10.0.0.0, use '/' to separate prefix and length",
        ),
        (
            "table_add acl drop 1&&&1 2->3 4&&&5 =>",
            "Error: Table is ternary, but could not extract a valid priority from args",
        ),
    ]);
}

#[test]
fn entries_are_dumped() {
    check(&[
        (
            "table_add routes forward 10.0.0.0/8 => 3",
            "\
Adding entry to lpm match table routes
match key:           LPM-0a:00:00:00/8
action:              forward
runtime data:        00:03
Entry has been added with handle 0",
        ),
        (
            "table_dump routes",
            "\
==========
TABLE ENTRIES
**********
Dumping entry 0x0
Match key:
* ipv4.dst            : LPM       0a000000/8
Action entry: ingress.forward - 03
==========
Dumping default entry
Action entry: NoAction - \n==========",
        ),
        (
            "table_info fixed",
            "\
ingress.fixed                  [implementation=None, mk=s.ingress_port(exact, 9)]
********************************************************************************
NoAction                       []
ingress.forward                [port(9)]",
        ),
    ]);
}

#[test]
fn groups_and_sessions_are_written() {
    check(&[
        ("act_prof_create_member selector forward 3", "Member has been created with handle 0"),
        ("act_prof_create_group selector", "Group has been created with handle 0"),
        ("act_prof_add_member_to_group selector 0 0", ""),
        ("act_prof_create_group profile", "Error: Cannot run this command on an action profile without selector"),
        (
            "table_indirect_add_with_group paths 0x800 => 0",
            "\
Adding entry to indirect match table ingress.paths
Entry has been added with handle 0",
        ),
        ("act_prof_dump_group selector 0", "Dumping group 0\nMembers: [0]"),
        ("mc_mgrp_create 1", "Creating multicast group 1"),
        (
            "mc_node_create 0 1 2",
            "\
Creating node with rid 0 , port map 110 and lag map \nnode was created with handle 0",
        ),
        ("mc_node_associate 1 0", "Associating node 0 to multicast group 1"),
        (
            "mc_dump",
            "\
==========
MC ENTRIES
**********
mgrp(1)
  -> (L1h=0, rid=0) -> (ports=[1, 2], lags=[])
==========
LAGS
==========",
        ),
        ("mc_mgrp_create 1", "Creating multicast group 1"),
        ("mc_set_lag_membership 1 2 3", "Setting lag membership: 1 <- 1100"),
        ("mirroring_add 100 2", ""),
        ("mirroring_get 100", "MirroringSessionConfig(port=2, mgid=None)"),
        ("mirroring_get 101", "Invalid mirroring operation (SESSION_NOT_FOUND)"),
    ]);
}

#[test]
fn elements_are_read_and_written() {
    check(&[
        ("counter_write port_counter 1 2 3", "port_counter[1] has been updated"),
        ("counter_read port_counter 1", "port_counter[1]= (3 bytes, 2 packets)"),
        ("counter_read port_counter 1000", "Invalid counter operation (INVALID_INDEX)"),
        ("meter_get_rates port_meter 1", "WARNING: expected 2 rates but only received 0"),
        ("meter_set_rates port_meter 1 0.5:10 1:20", ""),
        ("meter_get_rates port_meter 1", "0: info rate = 0.5, burst size = 10\n1: info rate = 1.0, burst size = 20"),
        ("meter_set_rates port_meter 1 1:20", "Error: Invalid number of rates, expected 2 but got 1"),
        ("register_write last 1 77", ""),
        ("register_read last 1", "last[1]= 77"),
        ("register_read last", "last= 0, 77, 0, 0, 0, 0, 0, 0"),
        ("pvs_add ipv4_types 0x800", ""),
        ("pvs_get ipv4_types", "0800"),
        ("pvs_add ipv4_types 0x10000", "Error: Input is too large, it should fit within 16 bits"),
    ]);
}

#[test]
fn lines_that_are_no_commands_are_reported() {
    check(&[
        ("# comment", "*** Unknown syntax: # comment"),
        ("foo bar", "*** Unknown syntax: foo bar"),
        ("register_read last 0", "last[0]= 0"),
        ("", "last[0]= 0"),
        ("help table_delete", "Delete an entry of a table: table_delete <table> <handle>"),
        ("help nope", "*** No help on nope"),
        ("set_crc16_parameters calc 0x8005 0 0 true true", "Error: Invalid crc16_custom name (calc)"),
        ("set_toeplitz_hash_key calc 00", "Error: Toeplitz hash key must be a multiple of 4 bytes in length"),
        ("set_toeplitz_hash_key calc 00000000", "Invalid Toeplitz hash operation (WRONG_TYPE_CALCULATION)"),
        ("table_set_default hosts forward", "Error: Action forward needs 1 parameters"),
        ("set_queue_rate 10", "Error: the switch does not limit its egress queues"),
        ("swap_configs", "Swapping configs\nInvalid swap operation (CONFIG_SWAP_DISABLED)"),
    ]);
}
