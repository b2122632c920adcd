//! Help of `bacus ctl`, commands of BMv2, and commands that come from standard input.

use crate::command::has_dpdk;
use crate::switch::{Switch, ctl, error, folder, objects};

#[test]
fn each_command_has_help_without_a_switch() {
    let folder = folder("help");
    let run = |words: &[&str]| {
        let ran = ctl(&folder).args(words).output().unwrap();
        assert!(ran.status.success(), "{words:?}: {}", error(&ran));
        String::from_utf8(ran.stdout).unwrap()
    };
    let all = run(&["--help"]);
    assert!(all.contains("--connect") && all.contains("completion"), "{all}");
    for name in ::ctl::COMMANDS.iter().map(|usage| usage.name) {
        let help = run(&[name, "--help"]);
        let form = format!("  {name}");
        assert!(help.contains("Usage:") && help.contains("Examples:") && help.contains(&form), "{name}: {help}");
        assert_eq!(run(&["help", name]), help);
    }
}

#[test]
fn commands_of_bmv2_lead_to_ours() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("bmv2"), &[&objects()]);
    for (typed, ours) in [
        ("table_add", "add TABLE"),
        ("table_dump", "show TABLE"),
        ("show_ports", "here: ports"),
        ("register_write", "registers set"),
        ("mc_mgrp_create", "multicast add"),
    ] {
        let (code, said) = switch.fails(&[typed, "hosts"]);
        assert!(code == 2 && said.contains("is a command of BMv2") && said.contains(ours), "{typed}: {said}");
    }
}

#[test]
fn commands_come_from_standard_input() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("stdin"), &[&objects()]);
    let file = switch.folder.join("commands");
    std::fs::write(&file, "add hosts 1 drop()\nadd --help\nshow hosts\n").unwrap();
    let ran = switch.ctl().stdin(std::fs::File::open(&file).unwrap()).output().unwrap();
    let said = String::from_utf8(ran.stdout).unwrap();
    assert!(
        ran.status.success() && said.contains("Usage:\n  add TABLE") && said.contains("00:00:00:00:00:01"),
        "{said}"
    );
}
