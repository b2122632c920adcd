//! A running switch with --specialise: its code follows the tables, and no write is refused for that.

use crate::command::{bacus, path};
use crate::switch::{Switch, error, folder, until};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};

fn l2fwd() -> String {
    path("apps/l2fwd/l2fwd.p4").display().to_string()
}

/// A program without tables: whether a packet is sent back depends on its address.
const MIRROR: &str = r#"
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { ethernet_t ethernet; }
struct meta_t {}
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.ethernet); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply {} }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    apply {
        if (hdr.ethernet.dst == 1) { mark_to_drop(standard); } else { standard.egress_spec = 1; }
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply {} }
control C(inout headers_t hdr, inout meta_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.ethernet); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

/// A table of rules with a meter for each.
const RULES: &str = r#"
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { ethernet_t ethernet; }
struct meta_t { bit<2> colour; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.ethernet); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply {} }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    direct_meter<bit<2>>(MeterType.packets) rate;
    action forward(bit<9> port) { standard.egress_spec = port; rate.read(meta.colour); }
    table rules {
        key = { hdr.ethernet.type: ternary; hdr.ethernet.dst: ternary; }
        actions = { forward; @defaultonly NoAction; }
        default_action = NoAction;
        meters = rate;
    }
    apply { rules.apply(); if (meta.colour == 2) { mark_to_drop(standard); } }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply {} }
control C(inout headers_t hdr, inout meta_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.ethernet); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

/// Packets go round until the register is set.
const STOP: &str = r#"
#include <core.p4>
#include <v1model.p4>
header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { ethernet_t ethernet; }
struct meta_t { bit<32> stopped; }
parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.ethernet); transition accept; }
}
control V(inout headers_t hdr, inout meta_t meta) { apply {} }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) {
    register<bit<32>>(1) stop;
    action forward(bit<9> port) { standard.egress_spec = port; }
    table dmac {
        key = { hdr.ethernet.dst: exact; }
        actions = { forward; @defaultonly NoAction; }
        default_action = NoAction;
    }
    apply {
        dmac.apply();
        stop.read(meta.stopped, 0);
        if (meta.stopped != 0) { mark_to_drop(standard); }
    }
}
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t standard) { apply {} }
control C(inout headers_t hdr, inout meta_t meta) { apply {} }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.ethernet); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
"#;

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
    assert!(ran.status.success(), "{}", error(&ran));
    until(|| said("generic code runs since an atomic batch"));
    let shown = switch.ok(&["show", "dmac"]);
    assert!(shown.contains("forward"), "{shown}");
}

/// Rules with equal masks are looked up exactly, and their meter goes, until it has rates; without them it goes again.
#[test]
fn meters_without_rates_and_rules_with_equal_masks_are_replaced() {
    let folder = folder("rules");
    let program = folder.join("rules.p4");
    fs::write(&program, RULES).unwrap();
    let switch = Switch::start(&folder, &[&program.display().to_string(), "--specialise", "--fixed"]);
    let said = |what: &str| switch.said_later.lock().unwrap().contains(what);
    let has = |what: &[&str]| {
        let stats = switch.ok(&["stats"]);
        what.iter().all(|what| stats.contains(what))
    };
    for number in 0..8 {
        let (kind, priority) = (format!("type:0x{number}0&&&0xfff0"), (number + 1).to_string());
        switch.ok(&["add", "rules", &kind, "forward(port:1)", "priority", &priority]);
    }
    let equal = ["no rates of meters", "mask 0xfff0 of hdr.ethernet.type in all entries", "no two entries alike"];
    until(|| has(&equal));
    let meter = ["meters", "set", "rate", "type:0x30&&&0xfff0", "priority", "4"];
    let rates = ["cir", "1", "cburst", "1", "pir", "1", "pburst", "1"];
    switch.ok(&[&meter[..], &rates[..]].concat());
    until(|| said("generic code runs since a write to ") && said("rules, which had no rates of meters: after "));
    switch.ok(&["delete", "rules", "type:0x30&&&0xfff0", "priority", "4"]);
    until(|| has(&equal));
    let shown = switch.ok(&["show", "rules"]);
    assert_eq!(shown.matches("&&&0xfff0").count(), 7, "{shown}");
}

/// With packets that are forwarded to the ring they come from, and so never end.
#[test]
fn packets_decide_whether_specialised_code_goes_on() {
    let folder = folder("trial");
    let switch = Switch::start(&folder, &[&l2fwd(), "--specialise"]);
    let said = |what: &str| switch.said_later.lock().unwrap().contains(what);
    switch.ok(&["add", "dmac", "hdr.ethernet.dst:0x020000000001", "forward(port:1)"]);
    for _ in 0..8 {
        switch.ok(&["packets", "send", &format!("020000000001{}", "00".repeat(52))]);
    }
    until(|| said(" code goes on: specialised code takes "));
    let stats = switch.ok(&["stats"]);
    let decided =
        ["generic", "specialised"].map(|code| said(&format!("note: {code} code goes on: specialised code takes ")));
    let runs = ["generic", "specialised"].map(|code| stats.lines().any(|line| line.starts_with(&format!("{code} "))));
    assert_eq!((decided, decided.iter().filter(|it| **it).count()), (runs, 1), "{stats}");
}

/// All packets have one of more addresses than are compared in place of the lookup.
#[test]
fn entries_that_most_packets_hit_are_compared_first() {
    let folder = folder("frequent");
    let switch = Switch::start(&folder, &[&l2fwd(), "--specialise"]);
    let said = |what: &str| switch.said_later.lock().unwrap().contains(what);
    for number in 1..8 {
        switch.ok(&["add", "dmac", &format!("hdr.ethernet.dst:0x02000000000{number}"), "forward(port:1)"]);
    }
    for _ in 0..8 {
        switch.ok(&["packets", "send", &format!("020000000003{}", "00".repeat(52))]);
    }
    let code = "code that compares frequent entries first";
    until(|| said(&format!("note: {code} runs, for a comparison")));
    until(|| said(&format!(" goes on: {code} takes ")));
}

/// Packets that end while codes take turns leave the specialised code, which the model prefers.
#[test]
fn a_comparison_that_lacks_packets_is_given_up() {
    let folder = folder("lacks");
    let program = folder.join("stop.p4");
    fs::write(&program, STOP).unwrap();
    // On a busy machine the command that stops the packets may come too late.
    let gave_up = (0..8).any(|_| {
        let switch = Switch::start(&folder, &[&program.display().to_string(), "--specialise"]);
        let said = |what: &str| switch.said_later.lock().unwrap().contains(what);
        switch.ok(&WRITE);
        until(|| switch.ok(&["stats"]).contains("exactly 1 entries"));
        for _ in 0..8 {
            switch.ok(&["packets", "send", &format!("020000000001{}", "00".repeat(52))]);
        }
        // Generic code has its first turn.
        until(|| said(" code goes on") || switch.ok(&["stats"]).lines().any(|line| line.starts_with("generic ")));
        switch.ok(&["registers", "set", "stop", "0", "1"]);
        until(|| said(" code goes on: "));
        let stats = switch.ok(&["stats"]);
        let gave_up = said("note: specialised code goes on: too few packets came to compare it");
        assert!(!gave_up || stats.lines().any(|line| line.starts_with("specialised ")), "{stats}");
        gave_up
    });
    assert!(gave_up);
}

/// Without flags, code is specialised once packets keep the worker busy, and not before.
#[test]
fn busy_switches_are_specialised_unasked() {
    let folder = folder("busy");
    let switch = Switch::start(&folder, &[&l2fwd()]);
    let said = |what: &str| switch.said_later.lock().unwrap().contains(what);
    switch.ok(&WRITE);
    // Facts have held for long.
    std::thread::sleep(std::time::Duration::from_secs(3));
    let stats = switch.ok(&["stats"]);
    assert!(!stats.contains("specialised") && !said("note: "), "{stats}");
    for _ in 0..8 {
        switch.ok(&["packets", "send", &format!("020000000001{}", "00".repeat(52))]);
    }
    until(|| said("note: code is specialised for ") && said(" code goes on: specialised code takes "));
    // Whichever is faster here: what happened is reported from then on.
    assert!(switch.ok(&["stats"]).lines().any(|line| line.starts_with("generic ") || line.starts_with("specialised ")));
}

#[test]
fn a_plan_that_is_given_is_the_only_one() {
    for (flags, flag) in [(["--specialise", "--plan"], "--plan"), (["--specialise=busy", "--pin"], "--pin")] {
        let mut command = bacus();
        command.args(["run", &l2fwd(), "--port", "1=net_ring0"]).args(flags).arg("none.plan");
        let ran = command.output().unwrap();
        let expected = format!("--specialise: the switch runs the plan of {flag} alone; leave one of the two out");
        assert!(!ran.status.success() && error(&ran).contains(&expected), "{}", error(&ran));
    }
    let folder = folder("never");
    let switch = Switch::start(&folder, &[&l2fwd(), "--fixed"]);
    switch.ok(&WRITE);
    for _ in 0..8 {
        switch.ok(&["packets", "send", &format!("020000000001{}", "00".repeat(52))]);
    }
    std::thread::sleep(std::time::Duration::from_secs(4));
    assert!(!switch.said_later.lock().unwrap().contains("note: "));
}

/// Packets to one host, then as many to another: code is planned for a sample of the first, and made again for the others.
#[test]
fn code_is_planned_for_the_packets_that_come() {
    let folder = folder("sampled");
    let switch = Switch::start(&folder, &[&l2fwd(), "--specialise"]);
    let said = |what: &str| switch.said_later.lock().unwrap().contains(what);
    let send = |host: u32| {
        for _ in 0..8 {
            switch.ok(&["packets", "send", &format!("02000000000{host}{}", "00".repeat(52))]);
        }
    };
    for host in [1, 2] {
        switch.ok(&["add", "dmac", &format!("hdr.ethernet.dst:0x02000000000{host}"), "forward(port:1)"]);
    }
    send(1);
    until(|| said(", planned for a sample of ") && said(" code goes on: specialised code takes "));
    send(2);
    until(|| said("note: the share of packets on a branch has moved by ") && said(" %; code is compiled again"));
}

/// Where nothing is known of tables, code is planned for the packets alone.
#[test]
fn code_without_facts_is_planned_for_the_packets_that_come() {
    let folder = folder("only-sampled");
    let program = folder.join("mirror.p4");
    fs::write(&program, MIRROR).unwrap();
    let switch = Switch::start(&folder, &[&program.display().to_string(), "--specialise"]);
    let said = |what: &str| switch.said_later.lock().unwrap().contains(what);
    for _ in 0..8 {
        switch.ok(&["packets", "send", &format!("020000000001{}", "00".repeat(52))]);
    }
    until(|| said("note: code is planned for a sample of ") && said(" code goes on: specialised code takes "));
}

#[test]
fn code_that_is_fixed_is_not_compared() {
    let (switch, _) = with_compiler("fixed", "exit 1", &["--fixed"]);
    switch.ok(&WRITE);
    switch.ok(&["packets", "send", &format!("020000000001{}", "00".repeat(52))]);
    let said = |what: &str| switch.said_later.lock().unwrap().contains(what);
    until(|| switch.ok(&["stats"]).contains("exactly 1 entries"));
    std::thread::sleep(std::time::Duration::from_secs(2));
    assert!(!said("code goes on"), "{}", switch.said_later.lock().unwrap());
    // It is planned for packets: those that go round.
    let report = || {
        let mut command = bacus();
        let ran = command.args(["stat", "--once", "--json"]).env("XDG_RUNTIME_DIR", &switch.folder).output().unwrap();
        serde_json::from_slice::<serde_json::Value>(&ran.stdout).unwrap()["code"].clone()
    };
    until(|| report()["sample"]["packets"].as_u64().is_some_and(|packets| packets >= 256));
    assert!(report()["specialised"] == true && !report()["facts"].as_array().unwrap().is_empty(), "{}", report());
}

/// A switch whose compiler does `bad` from the moment on at which the file of that name is there.
fn with_compiler(name: &str, bad: &str, flags: &[&str]) -> (Switch, PathBuf) {
    let folder = folder(name);
    let (compiler, file) = (folder.join("cc"), folder.join("bad"));
    let script = format!("#!/bin/sh\n[ -e {} ] && {{ {bad}; }}\nexec gcc \"$@\"\n", file.display());
    fs::write(&compiler, script).unwrap();
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
    let compiler = compiler.display().to_string();
    let mut command = bacus();
    command.env("BACUS_CACHE", folder.join("cache"));
    command.args(["run", &l2fwd(), "--specialise", "--cc", &compiler, "--port", "1=net_ring0", "--cpu-port", "63"]);
    command.args(flags);
    (Switch::ready(&folder, command), file)
}

/// Generic code goes on, writes are taken, and the reason is said; specialised code comes when the compiler works again.
fn goes_on(switch: &Switch, bad: &Path, reason: &str) {
    fs::write(bad, "").unwrap();
    // Whatever was compiled before the file was there is of no use from here on.
    switch.ok(&WRITE);
    // The compiler's own words come on lines after the first.
    let said = |what: &str| switch.said_later.lock().unwrap().contains(what);
    until(|| said("generic code stays; the next attempt is in 10 s: ") && said(reason));
    let stats = switch.ok(&["stats"]);
    assert!(stats.contains("generic") && stats.contains(reason), "{stats}");
    switch.ok(&["add", "dmac", "hdr.ethernet.dst:0x020000000002", "forward(port:1)"]);
    fs::remove_file(bad).unwrap();
    until(|| switch.ok(&["stats"]).contains("exactly 2 entries"));
}

/// The facts that code was compiled for may be gone when it is ready: workers do not run it.
#[test]
fn code_that_comes_too_late_for_its_facts_is_refused() {
    let (switch, bad) =
        with_compiler("late", "[ $1 = --version ] || { touch \"$0.called\"; sleep 3; gcc \"$@\"; exit $?; }", &[]);
    fs::write(&bad, "").unwrap();
    switch.ok(&WRITE);
    let called = switch.folder.join("cc.called");
    until(|| called.exists());
    switch.ok(&["add", "dmac", "hdr.ethernet.dst:0x020000000002", "forward(port:1)"]);
    let said = |what: &str| switch.said_later.lock().unwrap().contains(what);
    until(|| said("note: generic code stays: "));
    let stats = switch.ok(&["stats"]);
    assert!(stats.lines().any(|line| line.starts_with("generic ")), "{stats}");
    fs::remove_file(&bad).unwrap();
    until(|| switch.ok(&["stats"]).contains("exactly 2 entries"));
}

#[test]
fn a_compiler_that_is_killed_leaves_generic_code() {
    let (switch, bad) = with_compiler("killed", "kill -KILL $$", &[]);
    goes_on(&switch, &bad, "killed");
}

#[test]
fn a_compiler_that_fails_leaves_generic_code() {
    let (switch, bad) = with_compiler("fails", "[ $1 = --version ] || { echo out of order >&2; exit 3; }", &[]);
    goes_on(&switch, &bad, "out of order");
}

#[test]
fn a_compiler_that_does_not_even_give_its_version_leaves_generic_code() {
    let (switch, bad) = with_compiler("silent", "sleep 1235.5 & wait", &[]);
    goes_on(&switch, &bad, "it has not ended within 10s, and was killed");
}

#[test]
fn a_compiler_that_hangs_is_killed_with_its_processes() {
    let (switch, bad) =
        with_compiler("hangs", "[ $1 = --version ] || { sleep 1234.5 & wait; }", &["--specialise-limit", "12"]);
    goes_on(&switch, &bad, "it has not ended within 12s, and was killed");
    let sleeping = std::process::Command::new("pgrep").args(["-f", "^sleep 1234.5$"]).output().unwrap();
    assert!(!sleeping.status.success(), "the compiler's processes are left: {sleeping:?}");
}

/// As with a full disk, a file of the cache cannot grow beyond some bytes.
#[test]
fn a_cache_without_room_leaves_generic_code() {
    let (switch, bad) = with_compiler("disk", "ulimit -f 4; trap '' XFSZ; gcc \"$@\"; exit $?", &[]);
    goes_on(&switch, &bad, "File too large");
}
