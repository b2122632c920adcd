//! `bacus ctl ports`, `stats` and `tables` have the counts of the switch while packets flow.

use crate::command::has_dpdk;
use crate::switch::{Switch, folder, objects, until, words};

/// Leaves by port 1, comes back, and has no entry.
const PACKET: [&str; 7] = ["packets", "send", "000000000002", "000000000099", "0800", "egress_port:1", "queue:0"];

/// The row that begins with this word, by its columns.
fn row(text: &str, first: &str) -> Vec<(String, String)> {
    let lines = words(text);
    let at = lines.iter().position(|line| line.first() == Some(&first)).unwrap_or_else(|| panic!("{first} in {text}"));
    let head = lines[..at].iter().rev().find(|line| ["port", "table", "dropped", "worker", "in"].contains(&line[0]));
    let head = head.unwrap_or_else(|| panic!("no columns above {first} in {text}"));
    head.iter().zip(&lines[at]).map(|(column, value)| (column.to_string(), value.to_string())).collect()
}

fn value(text: &str, first: &str, column: &str) -> String {
    let row = row(text, first);
    row.iter().find(|(name, _)| name == column).unwrap_or_else(|| panic!("{column} in {row:?}")).1.clone()
}

#[test]
fn ports_are_shown_with_link_and_counts() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("ports"), &[&objects()]);
    let text = switch.ok(&["ports"]);
    assert_eq!((value(&text, "1", "link"), value(&text, "1", "device")), ("up".to_string(), "net_ring0".to_string()));
    assert_eq!((value(&text, "1", "packets_in"), value(&text, "1", "not_sent")), ("0".to_string(), "0".to_string()));
    switch.ok(&PACKET);
    until(|| value(&switch.ok(&["ports", "net_ring0"]), "1", "packets_in") == "1");
    assert_eq!(value(&switch.ok(&["ports", "1"]), "1", "packets_out"), "1");
    let json = switch.ok(&["--json", "ports"]);
    assert!(json.contains(r#""link":"up""#) && json.contains(r#""packets_out":1"#), "{json}");
    let (code, said) = switch.fails(&["ports", "7"]);
    assert_eq!((code, said.as_str()), (1, "error: the switch has no port `7`; its ports are 1 net_ring0\n"));
}

#[test]
fn stats_have_tables_drops_and_workers() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("stats"), &[&objects()]);
    switch.ok(&["add", "hosts", "3", "drop()"]);
    switch.ok(&PACKET);
    until(|| value(&switch.ok(&["stats"]), "Switch.hosts", "misses") == "1");
    let text = switch.ok(&["stats"]);
    let of_hosts = |column: &str| value(&text, "Switch.hosts", column);
    assert_eq!(["hits", "used", "size"].map(of_hosts), ["0", "1", "4"]);
    // The reason has two words: the last one is the number.
    assert!(words(&text).iter().any(|line| *line == ["ingress", "drop", "1"]), "{text}");
    assert_eq!((value(&text, "0", "packets_in"), value(&text, "0", "packets_out")), ("2".to_string(), "1".to_string()));
    let used = switch.ok(&["--json", "tables"]);
    let hosts = used.lines().find(|line| line.contains("Switch.hosts")).unwrap();
    assert!(hosts.contains(r#""used":1"#) && hosts.contains(r#""size":4"#), "{hosts}");
    let json = switch.ok(&["--json", "stats"]);
    assert!(json.lines().any(|line| line.contains(r#""dropped":"ingress drop""#)), "{json}");
    let balance = json.lines().last().unwrap();
    assert!(balance.contains(r#""dropped":1"#) && balance.contains(r#""out":1"#), "{balance}");
}

/// A switch without a pipeline has ports.
#[test]
fn counts_need_no_pipeline() {
    if !has_dpdk() {
        return;
    }
    let switch = Switch::start(&folder("bare"), &[]);
    assert_eq!(value(&switch.ok(&["ports"]), "1", "link"), "up");
    assert_eq!(value(&switch.ok(&["stats"]), "0", "packets_in"), "0");
}
