//! `bacus capacity`, and what a switch does when its memory is full.

use crate::command::{bacus, has_dpdk, path, ran, said};
use crate::switch::{Switch, error, folder, objects};
use serde_json::Value;

fn capacity(arguments: &[&str]) -> Value {
    let output = bacus().arg("capacity").args(arguments).arg("--json").output().unwrap();
    assert!(output.status.success(), "{}", said(&output));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn a_table_is_bounded_by_its_size_its_keys_or_the_memory() {
    let router = path("apps/router/router.p4").display().to_string();
    let found = capacity(&[&router, "--memory", "1G", "--sample", "20000"]);
    let of = |name: &str| found.as_array().unwrap().iter().find(|found| found["table"] == name).unwrap().clone();
    // A port has nine bits.
    let interfaces = of("Router.check.interfaces");
    assert_eq!((&interfaces["entries"], &interfaces["bound"]), (&512.into(), &"keys".into()), "{found}");
    let neighbours = of("Router.route.neighbours");
    assert_eq!(neighbours["bound"], "memory", "{found}");
    let (entries, each) = (neighbours["entries"].as_u64().unwrap(), neighbours["entry_bytes"].as_u64().unwrap());
    assert!((700 << 20..1 << 30).contains(&(entries * each)) && (16..2000).contains(&each), "{found}");
    let output = bacus().args(["capacity", &router, "--table", "neighbors"]).output().unwrap();
    assert!(output.status.code() == Some(1) && said(&output).contains("hint: tables are"), "{}", said(&output));
    let (code, text) = ran(&["capacity", &router, "--memory", "4"]);
    assert!(code == Some(2) && text.contains("such as 512M or 4G"), "{text}");
}

#[test]
fn what_capacity_reports_is_taken_and_far_more_is_refused() {
    if !has_dpdk() {
        return;
    }
    const MEMORY: &str = "256M";
    let router = path("apps/router/router.p4").display().to_string();
    let found = capacity(&[&router, "--memory", MEMORY, "--table", "neighbours", "--sample", "65536"]);
    let entries = found[0]["entries"].as_u64().unwrap();
    assert!(entries > 10_000, "{found}");
    let loaded = |count: u64| {
        let generated = format!("gen:Router.route.neighbours:{count}:1");
        ran(&["run", &router, "--memory", MEMORY, "--entries", &generated, "--port", "0=pcap:,", "--quiet"])
    };
    let (code, text) = loaded(entries);
    assert_eq!(code, Some(0), "{entries}: {text}");
    let (code, text) = loaded(entries * 20);
    assert_eq!(code, Some(1), "{text}");
    assert!(
        text.contains("no memory left for the entry after") && text.contains("may take 256 MiB (--memory)"),
        "{text}"
    );
}

/// A limit that the switch exceeds without entries: there is no room for any, and for all else there is.
#[test]
fn without_memory_inserts_are_refused_and_all_else_goes_on() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("no-memory"), &[&objects(), "--memory", "64M"]);
    assert!(switch.said.contains("so there is no room for further entries"), "{}", switch.said);
    let refused = switch.script("add hosts 2 forward(5)\n", &[]);
    let text = error(&refused);
    assert!(!refused.status.success() && text.contains("RESOURCE_EXHAUSTED"), "{text}");
    assert!(text.contains("no memory left for the entry: the switch may take 64 MiB (--memory)"), "{text}");
    assert!(!switch.ok(&["show", "hosts"]).contains("forward(port:5)"));
    let other = switch.script("packets send 000000000002 000000000001 0800 egress_port:1 queue:0\n", &[]);
    assert!(other.status.success(), "{}", error(&other));
}
