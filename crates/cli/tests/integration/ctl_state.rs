//! `bacus ctl` reads a whole state and writes it again; `lookup`, objects that are not there, and JSON.

use crate::command::has_dpdk;
use crate::switch::{Switch, folder, objects, words};

/// Something of every kind.
const STATE: &str = "\
    members add uplinks 1 forward(net_ring0)\n\
    members add uplinks 2 forward(port:4)\n\
    groups add uplinks 9 1 2*3 watch net_ring0 size 8\n\
    add balance 0x1234 group=9 metadata 0x0102ff\n\
    add balance 0x1235 member=2\n\
    default hosts forward(port:net_ring0)\n\
    add hosts 2 to_controller(5) timeout 60.000000001\n\
    counters set host_frames 2 packets 7 bytes 99\n\
    add policy src:10:00:00:00:00:00&&&f0:00:00:00:00:00 type:1..5 allow() priority 3\n\
    add policy * 0x800 allow() priority 4\n\
    meters set policed type:0x800 priority 4 cir 5 cburst 6 pir 7 pburst 8\n\
    counters set host_frames default packets 3 bytes 4\n\
    meters set policed default cir 9 cburst 10\n\
    counters set tags 2 packets 9\n\
    meters set rates 2 cir 1000 cburst 100\n\
    registers set seen 3 77\n\
    multicast add 4 net_ring0 63:7|1:3 metadata 0x09\n\
    sessions add 5 net_ring0 length 64 class 2\n\
    value-sets set tagged 0x8100 0x88a8\n\
    digests add station_t list 64 timeout 0.000000001 ack 1.5\n";

/// A selector has either members and groups, or sets of actions.
const ONE_SHOT: &str = "add balance 0x77 one of forward(port:1)*2 watch 63, forward(2)\n";

#[test]
fn a_dump_gives_another_switch_the_same_state() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("dump"), &[&objects()]);
    let ran = switch.script(STATE, &[]);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let dump = switch.ok(&["dump"]);
    // Each command of the state, and that it begins with nothing.
    let kinds = |name: &str| dump.lines().filter(|line| line.starts_with(name)).count();
    let commands = ["members add", "groups add", "add ", "default", "counters set", "meters set", "registers set"];
    assert_eq!(commands.map(kinds), [2, 1, 5, 1, 3, 3, 1], "{dump}");
    assert_eq!(
        ["multicast add", "sessions add", "value-sets set", "clear all", "digests add"].map(kinds),
        [1; 5],
        "{dump}"
    );
    let other = Switch::start(&folder("dump2"), &[&objects()]);
    for _ in 0..2 {
        // The second time in place of a state.
        let ran = other.script(&dump, &[]);
        assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
        assert_eq!(other.ok(&["dump"]), dump);
    }
    other.ok(&["clear", "all"]);
    assert_eq!(other.ok(&["dump"]), "# The state of a switch\nclear all\n");
    assert_eq!(words(&other.ok(&["show", "hosts"]))[1], ["default", "drop()", "0", "0"]);
    assert!(other.script(ONE_SHOT, &[]).status.success());
    let sets = other.ok(&["dump"]);
    assert!(sets.contains("one of forward(port:1)*2 watch 63, forward(port:2)"), "{sets}");
    assert!(switch.script(&sets, &[]).status.success());
    assert_eq!(switch.ok(&["dump"]), sets);
}

#[test]
fn lookup_prints_the_entry_that_a_key_hits() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("lookup"), &[&objects()]);
    let script = "\
        add policy src:10:00:00:00:00:00&&&f0:00:00:00:00:00 type:1..5 allow() priority 3\n\
        add policy type:0..9 allow() priority 4\n\
        add policy src:2 allow() priority 2\n\
        add hosts 2 forward(1)\n";
    assert!(switch.script(script, &[]).status.success());
    let hit = |key: &[&str]| {
        let text = switch.ok(&[&["lookup"], key].concat());
        words(&text)[1].join(" ")
    };
    assert_eq!(hit(&["policy", "1f:00:00:00:00:09", "3"]), "entry * 0x0..0x9 4 allow()");
    assert_eq!(hit(&["policy", "type:0x77", "src:2"]), "entry 00:00:00:00:00:02 * 2 allow()");
    assert_eq!(hit(&["policy", "3", "0x77"]), "default NoAction()");
    assert!(hit(&["hosts", "2"]).starts_with("entry 00:00:00:00:00:02 forward(port:1) 0 0"));
    assert_eq!(hit(&["hosts", "3"]), "default drop() 0 0");
}

#[test]
fn the_longest_prefix_is_hit() {
    if !has_dpdk() {
        return;
    }
    let program = crate::command::path("apps/ipv4fwd/ipv4fwd.p4").display().to_string();
    let switch = Switch::start(&folder("prefix"), &[&program]);
    let forward = "forward(port:1, dst:00:00:00:00:00:01, src:00:00:00:00:00:02)";
    for prefix in ["10.0.0.0/8", "10.1.0.0/16", "0.0.0.0/0"] {
        switch.ok(&["add", "routes", prefix, forward]);
    }
    let hit = |address: &str| words(&switch.ok(&["lookup", "routes", address]))[1][1].to_string();
    assert_eq!(["10.1.2.3", "10.2.2.3", "11.0.0.1"].map(hit), ["10.1.0.0/16", "10.0.0.0/8", "*"]);
}

#[test]
fn an_object_that_is_not_there_is_said_so() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("absent"), &[&objects()]);
    switch.ok(&["add", "hosts", "1", "drop()"]);
    let cases: [(&[&str], &str); 7] = [
        (
            &["show", "hosts", "2"],
            "table `Switch.hosts` has no such entry: `show Switch.hosts` lists those that it has",
        ),
        (&["delete", "hosts", "2"], "NOT_FOUND"),
        (&["multicast", "9"], "there is no multicast group 9: `multicast` lists all"),
        (&["sessions", "9"], "there is no clone session 9: `sessions` lists all"),
        (&["members", "uplinks", "9"], "`Switch.uplinks` has no member 9: `members Switch.uplinks` lists those"),
        (&["groups", "uplinks", "9"], "`Switch.uplinks` has no group 9: `groups Switch.uplinks` lists those"),
        (&["registers", "seen", "8"], "`Switch.seen` has the indices 0 to 7, not 8"),
    ];
    for (typed, message) in cases {
        let (code, said) = switch.fails(typed);
        assert!(code == 1 && said.contains(message), "{typed:?}: {code} {said}");
    }
}

#[test]
fn json_has_objects_and_names_kinds() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("json"), &[&objects()]);
    assert!(switch.script(STATE, &[]).status.success());
    let lines = |typed: &[&str]| -> Vec<serde_json::Value> {
        let text = switch.ok(&[&["--json"], typed].concat());
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    let hosts = lines(&["show", "hosts"]);
    assert_eq!((&hosts[0]["kind"], &hosts[1]["kind"]), (&"entry".into(), &"default".into()));
    assert_eq!(hosts[0]["key"]["hdr.ethernet.dst"], "00:00:00:00:00:02");
    assert_eq!(hosts[0]["action"], serde_json::json!({ "name": "to_controller", "parameters": { "reason": 5 } }));
    assert_eq!(hosts[1]["action"]["parameters"]["port"], 1);
    assert_eq!(lines(&["show", "balance", "0x1234"])[0]["action"], serde_json::json!({ "group": 9 }));
    assert_eq!(lines(&["groups"])[0]["members"][1], serde_json::json!({ "member": 2, "weight": 3, "watch": 1 }));
    assert_eq!(lines(&["multicast"])[0]["replicas"][1]["backups"][0], serde_json::json!({ "port": 1, "instance": 3 }));
    switch.ok(&["clear", "all"]);
    assert!(switch.script(ONE_SHOT, &[]).status.success());
    let set = &lines(&["show", "balance", "0x77"])[0]["action"]["one_of"][0];
    assert_eq!((&set["weight"], &set["watch"]), (&2.into(), &63.into()));
    switch.ok(&["registers", "set", "seen", "3", "77"]);
    assert_eq!(lines(&["registers", "seen", "3"])[0]["value"], 77);
    assert_eq!(lines(&["tables"])[0]["actions"], serde_json::json!(["forward", "to_controller", "drop"]));
}
