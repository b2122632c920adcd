//! `bacus trace` on a running switch: what it shows of packets, which it chooses, and what it leaves behind.

use crate::command::{bacus, has_dpdk};
use crate::switch::{Switch, error, folder, objects, until, words};
use serde_json::Value;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Command, Stdio};

/// Frames for a host by port 1, which come back to it: each is a packet of the controller, and one of port 1.
fn send(switch: &Switch, host: u64) {
    let frame = format!("packets send {host:012x} 000000000001 0800 egress_port:1 queue:0\n");
    let sent = switch.script(&frame, &[]);
    assert!(sent.status.success(), "{}", error(&sent));
}

fn switch(name: &str) -> Option<Switch> {
    let switch = has_dpdk().then(|| Switch::start(&folder(name), &[&objects()]))?;
    switch.ok(&["add", "hosts", "2", "forward(5)"]);
    Some(switch)
}

fn trace(switch: &Switch, arguments: &[&str]) -> Command {
    let mut command = bacus();
    command.arg("trace").args(arguments).env("XDG_RUNTIME_DIR", &switch.folder);
    command
}

/// A trace that prints objects, and its first object of a packet for a host: it runs, once it has shown one.
struct Running {
    process: Child,
    lines: std::io::Lines<BufReader<ChildStdout>>,
}

impl Running {
    fn begin(switch: &Switch, filter: &str) -> Running {
        let mut command = trace(switch, &["--json", "--for", "60", "--match", filter]);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let lines = BufReader::new(process.stdout.take().unwrap()).lines();
        Running { process, lines }
    }

    /// Sends frames for a host until one of them is shown.
    fn next(&mut self, switch: &Switch, host: u64) -> Value {
        let stop = std::sync::atomic::AtomicBool::new(false);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                    send(switch, host);
                    std::thread::sleep(std::time::Duration::from_millis(300));
                }
            });
            let wanted = format!("0x{host:x}");
            let shown = self.lines.by_ref().map_while(Result::ok).find_map(|line| {
                let shown: Value = serde_json::from_str(&line).ok()?;
                (value_of(&shown, "dst") == Some(wanted.clone())).then_some(shown)
            });
            stop.store(true, std::sync::atomic::Ordering::Relaxed);
            shown.expect("the trace shows a packet before it ends")
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A field of the extracted Ethernet header.
fn value_of(shown: &Value, field: &str) -> Option<String> {
    let steps = shown["steps"].as_array().unwrap();
    let header = steps.iter().find(|step| step["extract"] == "hdr.ethernet")?;
    header["fields"][field].as_str().map(str::to_string)
}

fn lookup<'v>(shown: &'v Value, table: &str) -> &'v Value {
    shown["steps"].as_array().unwrap().iter().find(|step| step["table"] == table).unwrap()
}

#[test]
fn a_trace_shows_the_states_entries_and_end_of_packets_that_match() {
    let Some(switch) = switch("trace") else { return };
    let mut running = Running::begin(&switch, "hdr.ethernet.src == 1 && ingress_port != 63");
    let shown = running.next(&switch, 2);
    assert_eq!((&shown["port"], shown["verdict"].as_str()), (&1.into(), Some("sent to port 5")), "{shown}");
    assert_eq!(shown["received"], "0000000000020000000000010800", "{shown}");
    let hosts = lookup(&shown, "Switch.hosts");
    assert_eq!((&hosts["action"], &hosts["data"]["port"]), (&"Switch.forward".into(), &"0x5".into()), "{shown}");
    assert_eq!(hosts["hit"]["matches"][0], "0x2&&&0xffffffffffff", "{shown}");
    assert!(shown["steps"].as_array().unwrap().iter().any(|step| step["node"] == "Parse.ethernet"), "{shown}");
    // The same trace sees what is written meanwhile.
    switch.ok(&["add", "hosts", "3", "forward(7)"]);
    std::thread::sleep(std::time::Duration::from_millis(1100));
    let mut shown = running.next(&switch, 3);
    for _ in 0..20 {
        if shown["verdict"] == "sent to port 7" {
            break;
        }
        shown = running.next(&switch, 3);
    }
    assert_eq!(shown["verdict"], "sent to port 7", "{shown}");
    let shown = running.next(&switch, 4);
    assert!(shown["verdict"].as_str().unwrap().starts_with("dropped at v1model.traffic_manager: "), "{shown}");
    assert!(lookup(&shown, "Switch.hosts")["hit"].is_null(), "{shown}");
}

#[test]
fn a_capture_has_each_verdict_as_a_comment() {
    let Some(switch) = switch("trace-capture") else { return };
    let capture = switch.folder.join("dropped.pcapng");
    let mut command = trace(&switch, &["--match", "dropped", "--count", "1", "--for", "60", "--capture"]);
    let process = command.arg(&capture).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    while std::fs::metadata(&capture).map_or(0, |file| file.len()) < 100 {
        send(&switch, 2);
        send(&switch, 9);
        std::thread::sleep(std::time::Duration::from_millis(200));
    }
    let output = process.wait_with_output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success() && text.contains("drop: ") && text.contains("hdr.ethernet.dst=0x9"), "{text}");
    assert!(!text.contains("hdr.ethernet.dst=0x2") && error(&output).starts_with("1 of "), "{text}");
    let bytes = std::fs::read(&capture).unwrap();
    let has = |part: &[u8]| bytes.windows(part.len()).any(|window| window == part);
    assert!(bytes.len() % 4 == 0 && has(b"dropped at v1model.traffic_manager: "), "{bytes:?}");
    assert!(has(&[0, 0, 0, 0, 0, 9, 0, 0, 0, 0, 0, 1, 8, 0]));
}

#[test]
fn filters_that_cannot_be_are_refused_with_their_place() {
    let Some(switch) = switch("trace-filters") else { return };
    for (filter, place, message) in [
        ("hdr.ethernet.dts == 1", "filter:1: ", "did you mean `hdr.ethernet.dst`?"),
        ("dropped && ethernet.type == 65536", "filter:29: ", "has more bits than the field, which has 16"),
        ("ethernet == 1", "filter:1: ", "is a header, which has no value"),
        ("ethernet.dst == 1 ethernet", "filter:19: ", "combine conditions by && or ||"),
        ("ethernet.dst == ", "filter:17: ", "expected a value"),
        ("(dropped", "filter:9: ", "expected `)`"),
        ("ethernet.dst < 1&&&3", "filter:16: ", "is compared by == or != alone"),
        ("egress_port == x", "filter:16: ", "values are numbers"),
        ("ethernet.dst = 1", "filter:14: ", "write NAME == VALUE"),
    ] {
        let output = trace(&switch, &["--match", filter, "--for", "1"]).output().unwrap();
        let text = error(&output);
        assert!(!output.status.success() && text.contains(place) && text.contains(message), "{filter}: {text}");
    }
}

#[test]
fn a_trace_ends_with_its_pipeline_and_with_another_trace() {
    let Some(switch) = switch("trace-end") else { return };
    let mut first = Running::begin(&switch, "ethernet");
    first.next(&switch, 2);
    let mut second = Running::begin(&switch, "ethernet");
    second.next(&switch, 2);
    assert!(!first.process.wait().unwrap().success());
    switch.ok(&["pipeline", "push", &objects()]);
    assert!(!second.process.wait().unwrap().success());
    // Packets flow as before.
    switch.ok(&["add", "hosts", "2", "forward(5)"]);
    send(&switch, 2);
    let is_hit = || {
        let shown = switch.ok(&["show", "hosts"]);
        words(&shown).iter().any(|line| line.get(2..4) == Some(&["forward(port:5)", "1"][..]))
    };
    until(is_hit);
}

/// `dvaas.PacketTrace`: the table and its entry by the names of the P4Info, and a miss as such.
#[test]
fn entries_that_packets_hit_are_in_the_message_of_pins_validation() {
    let Some(switch) = switch("trace-validation") else { return };
    let message = |host: u64| -> Value {
        let filter = format!("ethernet.dst == {host} && ingress_port == 1");
        let mut command = trace(&switch, &["--packet-trace", "--count", "1", "--for", "60", "--match", &filter]);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        while process.try_wait().unwrap().is_none() {
            send(&switch, host);
            std::thread::sleep(std::time::Duration::from_millis(200));
        }
        let text = process.wait_with_output().unwrap().stdout;
        serde_json::from_slice(&text).unwrap_or_else(|_| panic!("{}", String::from_utf8_lossy(&text)))
    };
    let hosts = |message: &Value| {
        let applied = message["tableApply"].as_array().unwrap();
        applied.iter().find(|applied| applied["tableName"] == "hosts").unwrap_or_else(|| panic!("{message}")).clone()
    };
    let hit = message(2);
    let entry = hosts(&hit)["hit"]["tableEntry"].clone();
    assert_eq!((&entry["tableName"], &entry["action"]["name"]), (&"hosts".into(), &"forward".into()), "{hit}");
    let [matched, given] = [&entry["matches"][0], &entry["action"]["params"][0]];
    assert_eq!(matched["exact"]["hexStr"], "0x000000000002", "{hit}");
    assert_eq!((&given["name"], &given["value"]["hexStr"]), (&"port".into(), &"0x005".into()), "{hit}");
    assert!(hit["bmv2TextualLog"].as_str().unwrap().contains("sent to port 5"), "{hit}");
    let missed = hosts(&message(9));
    assert!(missed["miss"].is_object() && missed.get("hit").is_none(), "{missed}");
}
