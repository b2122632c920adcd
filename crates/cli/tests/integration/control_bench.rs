//! `bacus bench control`, with small tables and short times: what it counts must be right; no test checks how fast a switch is.

use crate::command::bacus;
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;

const MEASURES: [&str; 20] = [
    "inserts",
    "writes",
    "durable",
    "restart",
    "facts",
    "flips",
    "arrivals",
    "read",
    "full",
    "routes",
    "replacements",
    "atomic",
    "exchange",
    "joined",
    "packet-in",
    "learning",
    "resume",
    "connections",
    "trace",
    "traffic",
];

fn text(record: &Value, field: &str) -> String {
    record[field].as_str().expect("it is a text").to_string()
}

#[test]
fn every_measure_has_numbers_and_no_packet_is_wrong_or_lost() {
    let folder = std::env::temp_dir().join(format!("bacus-control-{}", std::process::id()));
    let ran = bacus()
        .args(["bench", "control", "--seconds", "0.2", "--entries", "1000", "--out"])
        .arg(&folder)
        .output()
        .expect("the command starts");
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let json = fs::read_to_string(folder.join("control.json")).expect("it was written");
    let table = fs::read_to_string(folder.join("control.txt")).expect("it was written");
    assert!(fs::read_to_string(folder.join("arrivals.svg")).is_ok_and(|svg| svg.contains("nanoseconds per packet")));
    fs::remove_dir_all(&folder).expect("it is ours");
    let records: Vec<Value> = serde_json::from_str(&json).expect("it is JSON");
    assert_eq!(table.lines().count(), records.len());
    let named: BTreeSet<String> = records.iter().map(|record| text(record, "measure")).collect();
    assert_eq!(named, MEASURES.map(str::to_string).into());
    for record in &records {
        let value = record["value"].as_f64().expect("it is a number");
        assert!(value.is_finite() && value >= 0.0, "{record}");
        if record["at_most"] == 0.0 || text(record, "measure") == "full" {
            assert_eq!(record["met"], true, "{record}");
        }
        if ["entries read", "entries kept", "hosts learnt"].contains(&text(record, "what").as_str()) {
            assert_eq!(value, 1000.0, "{record}");
        }
        if record["unit"] == "/s" {
            assert!(value > 0.0, "{record}");
        }
    }
}

#[test]
fn one_measure_can_be_chosen_and_no_unknown_one() {
    let ran = bacus().args(["bench", "control", "--only", "full", "--entries", "1000"]).output().expect("it starts");
    let table = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success() && table.lines().count() == 1 && table.starts_with("full "), "{table}");
    let ran = bacus().args(["bench", "control", "--only", "speed"]).output().expect("it starts");
    assert_eq!(ran.status.code(), Some(2));
}

/// The client sends all packets before it reads, and they are more than the server's queue has room for.
#[test]
fn a_controller_that_reads_late_is_told_of_every_packet_that_waits() {
    let ran =
        bacus().args(["bench", "control", "--only", "resume", "--entries", "500000"]).output().expect("it starts");
    let table = String::from_utf8_lossy(&ran.stdout);
    assert!(ran.status.success(), "{}", String::from_utf8_lossy(&ran.stderr));
    let unreported = table.lines().find(|line| line.contains("packets not reported to the controller"));
    assert!(unreported.is_some_and(|line| line.ends_with("met")), "{table}");
    assert!(!table.contains("missed"), "{table}");
}

/// A shell that begins with this, and then runs `bacus bench control --only connections`.
fn connections_after(limit: &str) -> (String, String) {
    let bench = "exec \"$0\" bench control --only connections --seconds 0.2 --entries 1000";
    let ran = std::process::Command::new("sh")
        .args(["-c", &format!("{limit} && {bench}")])
        .arg(env!("CARGO_BIN_EXE_bacus"))
        .output()
        .expect("there is a shell");
    let (said, noted) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    assert!(ran.status.success(), "{noted}");
    let count = said.lines().find_map(|line| line.split_once("connections with a stream")).expect("it is measured");
    (count.1.trim().replace(',', ""), noted.into_owned())
}

#[test]
fn connections_are_as_many_as_the_user_may_have() {
    let (count, noted) = connections_after("ulimit -n 400");
    assert!((100..200).contains(&count.parse().expect("a number")), "{count}");
    assert!(noted.contains("may have 400 open files, so there are "), "{noted}");
}

/// The limit of an ordinary user is a soft one, which the process raises.
#[test]
fn the_soft_limit_of_open_files_is_raised() {
    let (count, noted) = connections_after("ulimit -S -n 200");
    let hard = std::process::Command::new("sh").args(["-c", "ulimit -H -n"]).output().expect("there is a shell");
    let hard = String::from_utf8_lossy(&hard.stdout).trim().parse::<u64>().unwrap_or(u64::MAX);
    let expected = hard >= 4096 && noted.is_empty();
    assert!(count == "1000" && expected || hard < 4096, "{count} of {hard}: {noted}");
}
