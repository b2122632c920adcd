//! `bacus ctl -f` reads files of BMv2's command line, whose handles and nodes P4Runtime does not know.

use crate::command::has_dpdk;
use crate::switch::{Switch, error, folder, objects};

fn switch(name: &str) -> Option<Switch> {
    has_dpdk().then(|| Switch::start(&folder(name), &[&objects()]))
}

fn ok(switch: &Switch, script: &str) -> String {
    let ran = switch.script(script, &["--tsv"]);
    assert!(ran.status.success(), "{script}: {}", error(&ran));
    String::from_utf8(ran.stdout).unwrap()
}

#[test]
fn entries_are_added_changed_and_deleted_by_their_handles() {
    let Some(switch) = switch("script-entries") else { return };
    let script = "# as the tutorials write it\n\
        table_set_default hosts drop\n\
        table_add hosts forward 00:11:22:33:44:55 => 2\n\
        table_add Switch.hosts forward 00:11:22:33:44:66 => 3\n\
        table_add hosts drop 00:11:22:33:44:77 =>\n\
        table_modify hosts forward 1 => 4\n\
        table_delete hosts 0\n\
        table_dump hosts\n";
    let shown = ok(&switch, script);
    assert!(!shown.contains("44:55") && shown.contains("44:77"), "{shown}");
    let changed = shown.lines().find(|line| line.contains("44:66")).unwrap();
    assert!(changed.contains("forward(port:4)"), "{shown}");
    // A slot that is free again has another handle: BMv2 counts its uses above its number.
    let freed = "table_add hosts drop 1 =>\ntable_delete hosts 0\ntable_add hosts drop 2 =>\n";
    let again = format!("{freed}table_delete hosts {}\ntable_dump hosts\n", 1 << 24);
    let shown = ok(&switch, &again);
    assert!(!shown.contains("00:00:00:00:00:0"), "{shown}");
    let ran = switch.script(&format!("{freed}table_delete hosts 0\n"), &[]);
    let said = error(&ran);
    assert!(ran.status.code() == Some(2) && said.contains("has added no entry 0 to table `Switch.hosts`"), "{said}");
    assert!(said.contains("4:20"), "{said}");
    let shown = ok(&switch, "table_clear hosts\ntable_dump hosts\n");
    assert!(!shown.contains("44:66") && !shown.contains("44:77"), "{shown}");
}

#[test]
fn groups_sessions_and_elements_are_written() {
    let Some(switch) = switch("script-objects") else { return };
    let shown = ok(
        &switch,
        "mc_mgrp_create 5\nmc_node_create 7 1 2\nmc_node_create 8 3\nmc_node_associate 5 0\nmc_node_associate 5 1\nmc_dump\n",
    );
    assert!(["1:7", "2:7", "3:8"].iter().all(|replica| shown.contains(replica)), "{shown}");
    let shown = ok(&switch, "mirroring_add 9 1\nmirroring_get 9\n");
    assert!(shown.contains('9') && shown.contains('1'), "{shown}");
    assert!(ok(&switch, "register_write seen 3 17\nregister_read seen 3\n").contains("17"));
    assert!(ok(&switch, "counter_write tags 1 12 0\ncounter_read tags 1\n").contains("12"));
    // Packets per microsecond in BMv2.
    let shown = ok(&switch, "meter_set_rates rates 2 0.0002:10 0.0003:20\nmeter_get_rates rates 2\n");
    assert!(["200", "10", "300", "20"].iter().all(|number| shown.contains(number)), "{shown}");
    // P4Runtime cannot express what BMv2 takes.
    let ran = switch.script("meter_set_rates rates 2 0.0000005:1 0.00001:1\n", &[]);
    let said = error(&ran);
    assert!(ran.status.code() == Some(2) && said.contains("a rate of 0.5 is set by Thrift"), "{said}");
    for large in ["1e13:1", "1e300:1"] {
        let ran = switch.script(&format!("meter_set_rates rates 2 {large} {large}\n"), &[]);
        let expected = format!("the rate of `{large}` is too large: it is in packets or bytes a microsecond");
        assert!(ran.status.code() == Some(2) && error(&ran).contains(&expected), "{}", error(&ran));
    }
}

#[test]
fn the_smaller_priority_wins_as_in_bmv2() {
    let Some(switch) = switch("script-priority") else { return };
    let script = "table_add policy allow 0x1&&&0xff 0x0800->0x0806 => 20\n\
        table_add policy allow 0&&&0 0x0800->0x0900 => 10\n\
        lookup policy hdr.ethernet.src:1 hdr.ethernet.type:0x0800\n";
    let shown = ok(&switch, script);
    assert!(shown.contains(&(0x7fff_ffff - 10).to_string()), "{shown}");
    assert!(!shown.contains(&(0x7fff_ffff - 20).to_string()), "{shown}");
    let shown = ok(&switch, "table_dump policy\n");
    assert!(shown.contains("2147483627") && shown.contains("2147483637"), "{shown}");
}
