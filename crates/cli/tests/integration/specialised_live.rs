//! A running switch with --specialise: its code follows the tables, and no write is refused for that.

use crate::command::path;
use crate::switch::{Switch, folder, until};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;

fn l2fwd() -> String {
    path("apps/l2fwd/l2fwd.p4").display().to_string()
}

const WRITE: [&str; 4] = ["add", "dmac", "hdr.ethernet.dst:0x020000000001", "forward(port:1)"];

#[test]
fn code_follows_the_tables_of_a_running_switch() {
    let folder = folder("live");
    let switch = Switch::start(&folder, &[&l2fwd(), "--specialise"]);
    let said = |what: &str| switch.said_later.lock().unwrap().contains(what);
    until(|| said("code is specialised for "));
    let stats = switch.ok(&["stats"]);
    assert!(stats.contains("specialised") && stats.contains("dmac: no entries"), "{stats}");
    switch.ok(&WRITE);
    until(|| said("generic code runs since a write to ") && said("which had no entries: after "));
    until(|| switch.ok(&["stats"]).contains("exactly 1 entries"));
    // Workers that wait for an atomic batch run generic code before.
    let batch = "batch atomic\nadd dmac 0x020000000002 forward(1)\nadd dmac 0x020000000003 forward(1)\nend\n";
    let ran = switch.script(batch, &[]);
    assert!(ran.status.success(), "{}", crate::switch::error(&ran));
    until(|| said("generic code runs since an atomic batch"));
    let shown = switch.ok(&["show", "dmac"]);
    assert!(shown.contains("forward"), "{shown}");
}

#[test]
fn a_compiler_that_is_killed_leaves_generic_code() {
    let folder = folder("killed");
    let (compiler, bad) = (folder.join("cc"), folder.join("bad"));
    let script = format!("#!/bin/sh\n[ -e {} ] && kill -KILL $$\nexec gcc \"$@\"\n", bad.display());
    fs::write(&compiler, script).unwrap();
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
    let compiler = compiler.display().to_string();
    let switch = Switch::start(&folder, &[&l2fwd(), "--specialise", "--cc", &compiler]);
    fs::write(&bad, "").unwrap();
    until(|| switch.said_later.lock().unwrap().contains("generic code stays; the next attempt is in 10 s: "));
    switch.ok(&WRITE);
    let stats = switch.ok(&["stats"]);
    assert!(stats.contains("generic") && stats.contains("killed"), "{stats}");
}
