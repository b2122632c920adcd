//! Wrong commands of `bacus ctl`, and what is printed for each: the cause, and the way out.
//!
//! `crates/cli/tests/ctl/mistakes.txt` has the commands and the messages; `UPDATE_EXPECT=1` writes the messages anew.

use crate::command::{has_dpdk, path};
use crate::switch::{Switch, ctl, error, folder, objects};
use std::fs;

/// The words of a command, as a shell splits them.
pub fn split(command: &str) -> Vec<String> {
    let mut words = Vec::new();
    for (at, part) in command.split('\'').enumerate() {
        match at % 2 {
            0 => words.extend(part.split_whitespace().map(str::to_string)),
            _ => words.push(part.to_string()),
        }
    }
    words
}

#[test]
fn wrong_commands_are_answered_with_cause_and_way_out() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("wrong"), &[&objects()]);
    switch.ok(&["add", "hosts", "1", "drop()"]);
    let file = path("crates/cli/tests/ctl/mistakes.txt");
    let expected = fs::read_to_string(&file).unwrap();
    let commands: Vec<&str> = expected.lines().filter_map(|line| line.strip_prefix("$ bacus ctl ")).collect();
    assert!(commands.len() >= 20, "{} commands", commands.len());
    let answer = |command: &&str| {
        let ran = switch.ctl().args(split(command)).output().unwrap();
        let code = ran.status.code().unwrap();
        assert!(code == 1 || code == 2, "{command}: {code}");
        format!("$ bacus ctl {command}\n{}\n", error(&ran))
    };
    let found: String = commands.iter().map(answer).collect();
    if std::env::var_os("UPDATE_EXPECT").is_some() {
        fs::write(&file, &found).unwrap();
    } else {
        assert_eq!(found, expected);
    }
}

#[test]
fn a_batch_names_the_line_of_each_update_that_fails() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("lines"), &[&objects()]);
    switch.ok(&["add", "hosts", "1", "drop()"]);
    let file = switch.folder.join("batch.ctl");
    let name = file.display();
    let exists = "add Switch.hosts hdr.ethernet.dst:00:00:00:00:00:01: ALREADY_EXISTS: table `Switch.hosts` has such an entry already: `modify` changes it";
    fs::write(&file, "batch rollback\nadd hosts 2 drop()\n\nadd hosts 1 drop()\nadd hosts 3 drop()\nend\n").unwrap();
    let (code, said) = switch.fails(&["-f", &name.to_string()]);
    let expected = format!("error: {name}:4: {exists}\nerror: {name}:6: nothing of the batch was written\n");
    assert_eq!((code, said), (1, expected));
    fs::write(&file, "batch\nadd hosts 1 drop()\nadd hosts 3 drop()\nend\n").unwrap();
    let (code, said) = switch.fails(&["-f", &name.to_string()]);
    assert_eq!((code, said), (1, format!("error: {name}:2: {exists}\n")));
}

#[test]
fn without_a_cpu_port_no_packets_are_awaited() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::without_controller(&folder("no_cpu"), &[&objects(), "--port", "1=net_ring0"]);
    let (code, said) = switch.fails(&["packets"]);
    let message = "error: the switch has no CPU port, so no packets come to controllers: start it with --cpu-port N\n";
    assert_eq!((code, said.as_str()), (1, message));
    let (code, said) = switch.fails(&["packets", "send", "00", "egress_port:1", "queue:0"]);
    assert!(code == 1 && said.contains("no CPU port: start it with --cpu-port N"), "{code} {said}");
}

#[test]
fn an_address_without_a_port_is_a_mistake() {
    let folder = folder("address");
    for (address, hint) in [("127.0.0.1", "192.0.2.1:9559"), ("::1", "[::1]:9559"), ("switch1:", "192.0.2.1:9559")] {
        let ran = ctl(&folder).args(["--connect", address, "tables"]).output().unwrap();
        let said = error(&ran);
        assert!(ran.status.code() == Some(2) && said.contains("it has no port") && said.contains(hint), "{said}");
    }
}
