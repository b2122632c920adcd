//! `bacus ctl` as a user types it, on a switch that runs without root: what its port sends comes back.

use crate::command::{bacus, has_dpdk, path};
use crate::switch::{Switch, ctl, error, folder, objects, until, words};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::Stdio;

#[test]
fn entries_are_written_and_shown_by_names() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("entries"), &[&objects()]);
    let tables = switch.ok(&["tables"]);
    assert!(tables.contains("Switch.hosts ") && tables.contains("hdr.ethernet.dst:exact:48"), "{tables}");
    switch.ok(&["add", "hosts", "hdr.ethernet.dst:00:00:00:00:00:01", "forward(port:1)"]);
    switch.ok(&["add", "hosts", "2", "to_controller(5)", "timeout", "60"]);
    switch.ok(&["modify", "Switch.hosts", "dst:1", "forward(2)"]);
    switch.ok(&["default", "hosts", "forward(7)"]);
    let mut shown: Vec<String> = switch.ok(&["show", "hosts"]).lines().skip(1).map(ToString::to_string).collect();
    shown.sort();
    let found: Vec<Vec<&str>> = shown.iter().map(|line| line.split_whitespace().collect()).collect();
    assert_eq!(found[0], ["default", "forward(port:7)", "0", "0"]);
    assert_eq!(found[1][..5], ["entry", "00:00:00:00:00:01", "forward(port:2)", "0", "0"]);
    assert_eq!(found[2][..6], ["entry", "00:00:00:00:00:02", "to_controller(reason:5)", "0", "0", "60.0"]);
    let one = switch.ok(&["show", "hosts", "dst:2", "--json"]);
    assert!(one.contains(r#""hdr.ethernet.dst":"00:00:00:00:00:02""#) && one.contains(r#""packets":0"#), "{one}");
    assert_eq!(one.lines().count(), 1, "{one}");
    switch.ok(&["delete", "hosts", "1"]);
    switch.ok(&["default", "hosts", "reset"]);
    let shown = switch.ok(&["--tsv", "show", "hosts"]);
    let lines: Vec<Vec<&str>> = shown.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!(lines[0][..4], ["kind", "hdr.ethernet.dst", "priority", "action"]);
    assert_eq!((lines[1][1], lines[2][3], lines.len()), ("00:00:00:00:00:02", "drop()", 3));
    switch.ok(&["add", "policy", "src:10:00:00:00:00:00&&&f0:00:00:00:00:00", "type:1..5", "allow()", "priority", "3"]);
    switch.ok(&["add", "policy", "*", "0x800", "allow()", "priority", "4"]);
    let shown = switch.ok(&["show", "policy"]);
    assert!(shown.contains("10:00:00:00:00:00&&&f0:00:00:00:00:00  0x1..0x5"), "{shown}");
    assert!(words(&shown).iter().any(|line| line[..4] == ["entry", "*", "0x800", "4"]), "{shown}");
    switch.ok(&["clear", "policy"]);
    assert_eq!(words(&switch.ok(&["show", "policy"])), [vec!["kind", "action"], vec!["default", "NoAction()"]]);
}

#[test]
fn every_kind_of_object_is_written_and_read() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("objects"), &[&objects()]);
    let script = "\
        registers set seen 3 77        # a comment\n\
        meters set rates 2 cir 1000 cburst 100\n\
        add policy type:1..5 allow() priority 3\n\
        meters set policed type:1..5 priority 3 cir 5 cburst 6 pir 7 pburst 8\n\n\
        members add uplinks 1 forward(1)\n\
        members add uplinks 2 forward(port:4)\n\
        members modify uplinks 2 forward(port:5)\n\
        groups add uplinks 9 1 2*3 watch 1 size 8\n\
        add balance 0x1234 group=9\n\
        add balance 0x1235 member=2\n\
        multicast add 4 1 63:7\n\
        sessions add 5 1 length 64\n\
        value-sets set tagged 0x8100\n\
        value-sets add tagged 0x88a8\n\
        value-sets delete tagged 0x8100\n";
    let ran = switch.script(script, &[]);
    assert!(ran.status.success() && ran.stdout.is_empty(), "{}", error(&ran));
    let lines = |words_typed: &[&str]| -> Vec<String> {
        let shown = switch.ok(words_typed);
        words(&shown).iter().skip(1).map(|line| line.join(" ")).collect()
    };
    assert_eq!(lines(&["registers"]), ["Switch.seen 3 77"]);
    assert_eq!(lines(&["registers", "seen", "2"]), ["Switch.seen 2 0"]);
    assert_eq!(lines(&["registers", "seen"]).len(), 8);
    let direct = "Switch.policed hdr.ethernet.type:0x1..0x5 priority 3 5 6 7 8";
    assert_eq!(lines(&["meters"]), ["Switch.rates 2 1000 100 1000 100", direct]);
    assert_eq!(lines(&["members"]), ["Switch.uplinks 1 forward(port:1)", "Switch.uplinks 2 forward(port:5)"]);
    assert_eq!(lines(&["groups", "uplinks"]), ["Switch.uplinks 9 1 2*3 watch 1 8"]);
    let mut balance = lines(&["show", "balance"]);
    balance.sort();
    assert_eq!(balance, ["default NoAction()", "entry 0x1234 group=9", "entry 0x1235 member=2"]);
    assert_eq!(lines(&["multicast"]), ["4 1 63:7"]);
    assert_eq!(lines(&["sessions", "5"]), ["5 1 64"]);
    assert_eq!(lines(&["value-sets"]), ["Parse.tagged 34984"]);
    assert_eq!(lines(&["counters"]).len(), 0);
    assert_eq!(lines(&["counters", "tags"]).len(), 4);
    let removed = "\
        meters reset rates 2\ndelete balance 0x1234\ndelete balance 0x1235\ngroups delete uplinks 9\n\
        members delete uplinks 2\nmulticast delete 4\nsessions delete 5\nvalue-sets set tagged\n";
    let ran = switch.script(removed, &[]);
    assert!(ran.status.success(), "{}", error(&ran));
    assert_eq!(lines(&["meters"]), [direct]);
    for empty in ["groups", "multicast", "sessions", "value-sets"] {
        assert_eq!(lines(&[empty]).len(), 0, "{empty}");
    }
}

#[test]
fn one_shot_sets_are_written_as_they_are_shown() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("one_shot"), &[&objects()]);
    switch.ok(&["add", "balance", "0x77", "one of forward(port:1)*2 watch 63, forward(2)"]);
    let shown = switch.ok(&["show", "balance"]);
    assert!(shown.contains("one of forward(port:1)*2 watch 63, forward(port:2)"), "{shown}");
    assert_eq!(switch.fails(&["add", "balance", "0x78", "one of forward(1)*x"]).0, 2);
}

#[test]
fn a_batch_is_written_at_its_end_as_a_whole() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("batch"), &[&objects()]);
    let hosts = || switch.ok(&["show", "hosts"]).lines().skip(1).filter(|line| line.starts_with("entry ")).count();
    let code = |text: &str| switch.script(text, &[]).status.code();
    assert_eq!(code("batch rollback\nadd hosts 5 drop()\nadd hosts 6 drop()\nadd hosts 5 drop()\nend\n"), Some(1));
    assert_eq!(hosts(), 0);
    assert_eq!(code("batch atomic\nadd hosts 5 drop()\nadd hosts 6 drop()\nend\n"), Some(0));
    assert_eq!(hosts(), 2);
    // Each by itself: the one that is there already keeps no other back.
    assert_eq!(code("batch\nadd hosts 5 drop()\nadd hosts 7 drop()\nend\n"), Some(1));
    assert_eq!(hosts(), 3);
    assert_eq!(code("batch\nadd hosts 8 drop()\n"), Some(2));
    assert_eq!(code("batch\nbatch\n"), Some(2));
    assert_eq!(code("end\n"), Some(2));
    assert_eq!(hosts(), 3);
}

/// The controller's packet leaves by the port, comes back, and meets an entry that hands it to the controller.
#[test]
fn packets_and_digests_come_as_they_happen() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("packets"), &[&objects()]);
    switch.ok(&["add", "hosts", "2", "to_controller(5)"]);
    let send = ["packets", "send", "000000000002", "000000000099", "0800", "egress_port:1", "queue:0"];
    let listen = |words: &[&str]| {
        let mut command = switch.ctl();
        command.args(words).args(["count", "1", "for", "60"]).stdout(Stdio::piped()).spawn().unwrap()
    };
    let mut listening = [listen(&["packets"]), listen(&["digests", "station_t"]), listen(&["--json", "watch"])];
    // No message reports that they listen, so packets are sent until they have received one.
    while listening.iter_mut().any(|process| process.try_wait().unwrap().is_none()) {
        switch.ok(&send);
    }
    let [packet, digest, event] = listening.map(|process| {
        let ran = process.wait_with_output().unwrap();
        assert!(ran.status.success());
        String::from_utf8(ran.stdout).unwrap()
    });
    assert_eq!(packet, "packet ingress_port:1 reason:5 length:14 payload:0000000000020000000000990800\n");
    assert_eq!(digest, "digest digest:station_t record:{address:00:00:00:00:00:99, port:1}\n");
    assert!(event.starts_with("{\"") && event.contains("\"event\":"), "{event}");
    let counters = switch.ok(&["counters"]);
    let counts = words(&counters).into_iter().find(|line| line[0] == "Switch.host_frames").unwrap();
    let [packets, bytes] = [counts[2], counts[3]].map(|count| count.parse::<u64>().unwrap());
    assert!(packets > 0 && bytes == packets * 14, "{counters}");
    assert_eq!(switch.fails(&["packets", "count", "1", "for", "0.1"]).0, 1);
    switch.ok(&["counters", "reset", "tags", "0"]);
    assert_eq!(words(&switch.ok(&["counters", "tags", "0"]))[1], ["Switch.tags", "0", "0"]);
}

/// A packet that misses waits for the entry, and is not sent by the controller again.
#[test]
fn a_packet_that_misses_waits_until_the_controller_has_written() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("misses"), &[&objects(), "-D", "PUNT"]);
    // Packets of a counter's indices: entries come in no order. The miss counts at the default action.
    let packets = |counter: &str| -> u64 {
        let shown = switch.ok(&["counters", counter]);
        let lines = words(&shown);
        let of_entries = lines.iter().skip(1).filter(|line| line[1] != "default");
        of_entries.map(|line| line[2].parse::<u64>().unwrap()).sum()
    };
    switch.ok(&["packets", "send", "000000000002", "000000000099", "0800", "egress_port:1", "queue:0"]);
    until(|| packets("tags") > 0);
    assert_eq!(packets("host_frames"), 0);
    switch.ok(&["add", "hosts", "3", "forward(1)"]);
    switch.ok(&["add", "hosts", "2", "to_controller(5)"]);
    until(|| packets("host_frames") > 0);
    assert_eq!((packets("tags"), switch.ok(&["show", "hosts"]).matches("to_controller").count()), (1, 1));
}

#[test]
fn programs_are_pushed_with_what_was_written_or_without() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("push"), &["--device-id", "0"]);
    let (code, said) = switch.fails(&["tables"]);
    assert!(code == 1 && said.contains("no pipeline yet"), "{code} {said}");
    switch.ok(&["pipeline", "push", &objects()]);
    switch.ok(&["add", "hosts", "1", "drop()"]);
    switch.ok(&["pipeline", "push", &objects(), "--keep"]);
    assert_eq!(switch.ok(&["show", "hosts"]).lines().count(), 3);
    switch.ok(&["pipeline", "push", &objects()]);
    assert_eq!(switch.ok(&["show", "hosts"]).lines().count(), 2);
    // A program of several files.
    switch.ok(&["pipeline", "push", &path("apps/router/router.p4").display().to_string()]);
    assert!(switch.ok(&["tables"]).contains("Router.route.routes"));
    let shown = switch.ok(&["pipeline", "show"]);
    assert!(words(&shown).iter().any(|line| *line == ["tables", "3"]) && shown.contains("v1model"), "{shown}");
    let wrong = switch.folder.join("wrong.p4");
    fs::write(&wrong, "header h { bit<8> a }\n").unwrap();
    let (code, said) = switch.fails(&["pipeline", "push", &wrong.display().to_string()]);
    assert!(code == 1 && said.contains("wrong.p4(1)"), "{code} {said}");
    assert!(switch.ok(&["tables"]).contains("Router.route.routes"), "the program runs on");
}

#[test]
fn mistakes_are_shown_at_their_place() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("mistakes"), &[&objects()]);
    let cases: [(&[&str], &str, usize); 12] = [
        (&["show", "host"], "no table `host`; did you mean `Switch.hosts`?", 5),
        (&["show"], "expected a table, the line ends", 4),
        (&["add", "hosts", "dst:1"], "expected a key or an action, the line ends", 15),
        (&["add", "hosts", "forward(1)"], "exact key `hdr.ethernet.dst` is missing", 10),
        (&["add", "hosts", "dts:1", "drop()"], "no key `dts`; there is `hdr.ethernet.dst`", 10),
        (&["add", "hosts", "1", "froward(1)"], "did you mean `Switch.forward`?", 12),
        (&["add", "hosts", "1", "forward()"], "parameter `port` is missing", 12),
        (&["add", "hosts", "1", "forward(512)"], "512 does not fit `port`, which is 9 bits wide", 20),
        (&["add", "hosts", "1/8", "drop()"], "is exact: it takes one value", 10),
        (&["add", "policy", "1", "allow()"], "need a priority", 20),
        (&["registers", "set", "seen", "1", "0x100000000"], "does not fit the value, which is 32 bits wide", 21),
        (&["packets", "send", "001"], "the last byte has one digit only", 16),
    ];
    for (typed, message, column) in cases {
        let (code, said) = switch.fails(typed);
        let line = typed.join(" ");
        let lines: Vec<&str> = said.lines().collect();
        assert!(code == 2 && lines[0].contains(message), "{line}: {code} {said}");
        assert_eq!(lines[1].trim_start(), line, "{said}");
        assert_eq!(lines[2].find('^').map(|at| at - 2), Some(column), "{line}: {said}");
    }
    let (code, said) = switch.fails(&["shw", "hosts"]);
    assert!(code == 2 && said.contains("no command `shw`; did you mean `show`?"), "{said}");
    let file = switch.folder.join("wrong.ctl");
    fs::write(&file, "add hosts 1 drop()\n\nadd hosts dts:1 drop()\nadd hosts 1 drop()\nadd hosts 2 drop()\n").unwrap();
    let file = file.display().to_string();
    let (code, said) = switch.fails(&["-f", &file]);
    assert!(code == 2 && said.starts_with(&format!("error: {file}:3:11: there is no key `dts`")), "{said}");
    assert_eq!(switch.ok(&["show", "hosts"]).lines().count(), 3, "it ended there");
    let (code, said) = switch.fails(&["-f", &file, "--keep-going"]);
    let places = ["wrong.ctl:1: add Switch.hosts", "wrong.ctl:3:11: ", "wrong.ctl:4: add Switch.hosts"];
    assert!(code == 1 && places.iter().all(|place| said.contains(place)), "{code} {said}");
    assert_eq!(switch.ok(&["show", "hosts"]).lines().count(), 4, "the last command was executed");
    // Lines that are written together fail as they would one by one.
    let file = switch.folder.join("refused.ctl");
    fs::write(&file, "add hosts 3 drop()\nadd hosts 1 drop()\nadd hosts 4 drop()\nshow hosts 4\n").unwrap();
    let file = file.display().to_string();
    let (code, said) = switch.fails(&["-f", &file]);
    assert!(code == 1 && said.starts_with(&format!("error: {file}:2: add Switch.hosts")), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    assert_eq!(switch.ok(&["show", "hosts"]).lines().count(), 5, "it ended at the second line");
}

#[test]
fn what_the_switch_refuses_is_said_with_its_reason() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("refused"), &[&objects()]);
    switch.ok(&["add", "hosts", "1", "drop()"]);
    let cases: [(&[&str], &str); 6] = [
        (
            &["add", "hosts", "1", "drop()"],
            "add Switch.hosts hdr.ethernet.dst:00:00:00:00:00:01: ALREADY_EXISTS: table `Switch.hosts` has such an entry already",
        ),
        (&["delete", "hosts", "2"], "delete Switch.hosts hdr.ethernet.dst:00:00:00:00:00:02: NOT_FOUND"),
        (&["groups", "add", "uplinks", "1", "7"], "group 1 of Switch.uplinks: NOT_FOUND"),
        (&["counters", "tags", "4"], "OUT_OF_RANGE"),
        (&["packets", "send", "00", "egress_port:1"], "INVALID_ARGUMENT: metadata field `queue` is left out"),
        (&["--device-id", "3", "tables"], "the switch has device 1, not 3"),
    ];
    for (typed, message) in cases {
        let (code, said) = switch.fails(typed);
        assert!(code == 1 && said.contains(message), "{typed:?}: {code} {said}");
    }
    // A controller that stays primary while it watches.
    let file = switch.folder.join("primary.ctl");
    fs::write(&file, "add hosts 2 drop()\nwatch for 60\n").unwrap();
    let mut primary = switch.ctl().arg("-f").arg(&file).stdout(Stdio::null()).spawn().unwrap();
    until(|| switch.run(&["show", "hosts", "2"]).status.success());
    let (code, said) = switch.fails(&["add", "hosts", "3", "drop()"]);
    assert!(code == 1 && said.contains("another controller is primary: --force takes its place"), "{said}");
    switch.ok(&["--role", "operator", "add", "hosts", "3", "drop()"]);
    switch.ok(&["--force", "delete", "hosts", "3"]);
    primary.kill().unwrap();
    primary.wait().unwrap();
}

#[test]
fn a_switch_that_was_started_a_moment_before_is_found() {
    let folder = folder("moment");
    let sockets = folder.join("bacus");
    fs::create_dir_all(&sockets).unwrap();
    let waiting = ctl(&folder).arg("tables").stderr(Stdio::piped()).spawn().unwrap();
    let listening = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(100));
        let listener = std::os::unix::net::UnixListener::bind(sockets.join("1.sock")).unwrap();
        // It is no switch: it closes each connection.
        listener.incoming().for_each(drop);
    });
    let said = error(&waiting.wait_with_output().unwrap());
    assert!(!said.contains("no switch of yours runs"), "{said}");
    assert!(!listening.is_finished());
}

#[test]
fn a_switch_that_does_not_answer_is_said_so() {
    let folder = folder("none");
    let run = |words: &[&str]| {
        let ran = ctl(&folder).args(words).output().unwrap();
        (ran.status.code().unwrap(), error(&ran))
    };
    let (code, said) = run(&["tables"]);
    assert!(code == 3 && said.contains("no switch of yours runs"), "{code} {said}");
    let (code, said) = run(&["--connect", "127.0.0.1:1", "tables"]);
    assert!(code == 3 && said.contains("127.0.0.1:1: connection refused"), "{code} {said}");
    let (code, said) = run(&["--connect", "/nowhere/bacus.sock", "tables"]);
    assert!(code == 3 && said.contains("/nowhere/bacus.sock: no such file"), "{code} {said}");
    let deaf = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = deaf.local_addr().unwrap().to_string();
    std::thread::spawn(move || deaf.incoming().for_each(drop));
    let (code, said) = run(&["--connect", &address, "tables"]);
    assert!(code == 3 && said.contains(&address) && said.contains("--tls-ca"), "{code} {said}");
    if !has_dpdk() {
        return;
    }
    let first = Switch::start(&folder, &["--p4runtime", "127.0.0.1:0"]);
    let second = Switch::start(&folder, &[]);
    let (code, said) = run(&["tables"]);
    assert!(code == 3 && said.contains("2 switches run: choose one with --connect"), "{code} {said}");
    let socket = folder.join(format!("bacus/{}.sock", second.process.id()));
    assert!(said.contains(&socket.display().to_string()), "{said}");
    let (code, said) = run(&["--connect", &socket.display().to_string(), "tables"]);
    assert!(code == 1 && said.contains("no pipeline yet"), "{code} {said}");
    drop(first);
}

#[test]
fn shells_complete_the_commands() {
    for shell in ["bash", "zsh", "fish"] {
        let ran = bacus().args(["ctl", "completion", shell]).output().unwrap();
        let text = String::from_utf8(ran.stdout).unwrap();
        assert!(ran.status.success() && text.contains("value-sets"), "{shell}: {text}");
    }
    let ran = bacus().args(["ctl", "completion", "csh"]).output().unwrap();
    assert_eq!(ran.status.code(), Some(2));
}

/// The socket is there as soon as the address of P4Runtime, so a script that has seen one may go on with the other. It
/// goes with a switch that cannot start.
#[test]
fn the_socket_of_a_switch_is_there_before_its_program_is_compiled() {
    if !has_dpdk() {
        return;
    }
    let folder = folder("early");
    let [compiler, has_failed] = ["cc", "cc.failed"].map(|name| folder.join(name));
    let script = "#!/bin/sh\ncase \"$*\" in *-shared*) sleep 1; touch \"$0.failed\"; exit 1;; esac\nexec cc \"$@\"\n";
    fs::write(&compiler, script).unwrap();
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
    let mut command = bacus();
    command.args(["run", &objects(), "--p4runtime", "127.0.0.1:0", "--cc"]).arg(&compiler);
    let mut switch = command.env("XDG_RUNTIME_DIR", &folder).stderr(Stdio::null()).spawn().unwrap();
    let socket = folder.join(format!("bacus/{}.sock", switch.id()));
    until(|| socket.exists());
    assert!(!has_failed.exists(), "the compiler has ended before");
    assert!(!switch.wait().unwrap().success());
    assert!(!socket.exists(), "it goes with the switch");
    drop(fs::remove_dir_all(&folder));
}
