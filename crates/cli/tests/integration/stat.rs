//! `bacus stat` and `--metrics`: what a running switch reports, and clients that never read.

use crate::command::{bacus, has_dpdk};
use crate::switch::{Switch, error, folder, objects};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::{Duration, Instant};

/// Sends frames to a host that has an entry, and to one that has none. What port 1 sends comes back to it.
const TRAFFIC: &str = "\
    add hosts 2 forward(5)\n\
    packets send 000000000002 000000000001 0800 egress_port:1 queue:0\n\
    packets send 000000000003 000000000001 0800 egress_port:1 queue:0\n";

fn with_traffic(name: &str) -> Option<Switch> {
    if !has_dpdk() {
        return None;
    }
    let switch = Switch::start(&folder(name), &[&objects(), "--metrics", "127.0.0.1:0"]);
    let ran = switch.script(TRAFFIC, &[]);
    assert!(ran.status.success(), "{}", error(&ran));
    crate::switch::until(|| hosts(&stat(&switch, &["--once", "--json"]))["hits"] == 1);
    Some(switch)
}

fn stat(switch: &Switch, arguments: &[&str]) -> String {
    let mut command = bacus();
    let ran = command.arg("stat").args(arguments).env("XDG_RUNTIME_DIR", &switch.folder).output().unwrap();
    assert!(ran.status.success(), "{}", error(&ran));
    String::from_utf8(ran.stdout).unwrap()
}

/// The table `hosts` of a report.
fn hosts(report: &str) -> Value {
    let report: Value = serde_json::from_str(report).unwrap();
    let tables = report["tables"].as_array().unwrap().clone();
    tables.into_iter().find(|table| table["table"] == "Switch.hosts").unwrap()
}

#[test]
fn a_report_has_ports_tables_drops_and_workers() {
    let Some(switch) = with_traffic("stat") else { return };
    let report = stat(&switch, &["--once", "--json"]);
    let table = hosts(&report);
    let counts = ["entries", "hits", "misses"].map(|name| table[name].as_u64().unwrap());
    assert_eq!(counts, [1, 1, 1], "{report}");
    assert!(table["bytes"].as_u64().unwrap() > 0 && !table["structure"].as_str().unwrap().is_empty(), "{report}");
    let report: Value = serde_json::from_str(&report).unwrap();
    let worker = &report["workers"][0];
    // Two packets from the controller, and the same two from port 1.
    assert_eq!(worker["received"], 4, "{report}");
    let [bursts, busy] = ["bursts", "busy_ns"].map(|name| worker[name].as_u64().unwrap());
    assert!((1..=2).contains(&bursts) && (1..1_000_000_000).contains(&busy), "{report}");
    assert_eq!(report["ports"][0]["received"], 2, "{report}");
    assert!(!report["rings"].as_array().unwrap().is_empty() && report["exchanges"] == 0, "{report}");
    assert!(report["drops"].as_object().unwrap().values().any(|count| *count == 1), "{report}");
    let text = stat(&switch, &["--once", "--interval", "0.1"]);
    let line = |name: &str| text.lines().find(|line| line.starts_with(name)).unwrap_or_default().to_string();
    assert!(line("in 4 (").contains("dropped 1"), "{text}");
    assert_eq!(line("Switch.hosts").split_whitespace().nth(2), Some("1"), "{text}");
    assert!(line("1  ").ends_with("net_ring0") && text.contains("packets/burst"), "{text}");
    // An object a line, until the reader has gone.
    let mut command = bacus();
    command.args(["stat", "--json", "--interval", "0.05"]).env("XDG_RUNTIME_DIR", &switch.folder);
    let mut process = command.stdout(std::process::Stdio::piped()).spawn().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(process.stdout.take().unwrap()));
    for _ in 0..2 {
        assert_eq!(hosts(&lines.next().unwrap().unwrap())["entries"], 1);
    }
    drop(lines);
    process.kill().unwrap();
    process.wait().unwrap();
}

/// Where a switch serves its metrics.
fn address(switch: &Switch) -> String {
    let rest = switch.said.split("metrics http://").nth(1).unwrap_or_else(|| panic!("{}", switch.said));
    rest.split('/').next().unwrap().to_string()
}

fn get(address: &str, path: &str) -> (String, String) {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(10))).unwrap();
    stream.write_all(format!("GET {path} HTTP/1.1\r\nHost: switch\r\n\r\n").as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    (head.lines().next().unwrap().to_string(), body.to_string())
}

/// The values of a text in Prometheus' format, by metric and labels.
fn values(text: &str) -> BTreeMap<&str, f64> {
    let lines = text.lines().filter(|line| !line.starts_with('#'));
    lines.map(|line| line.rsplit_once(' ').unwrap()).map(|(name, value)| (name, value.parse().unwrap())).collect()
}

#[test]
fn prometheus_gets_the_same_counts_and_the_counters_of_the_program() {
    let Some(switch) = with_traffic("metrics") else { return };
    let address = address(&switch);
    let (status, text) = get(&address, "/metrics");
    assert_eq!(status, "HTTP/1.1 200 OK");
    let values = values(&text);
    let of = |start: &str| {
        let found: Vec<f64> =
            values.iter().filter(|(name, _)| name.starts_with(start)).map(|(_, value)| *value).collect();
        assert_eq!(found.len(), 1, "{start}: {text}");
        found[0]
    };
    assert_eq!(of("bacus_received_packets_total"), 4.0);
    assert_eq!(of("bacus_table_hits_total{table=\"Switch.hosts\""), 1.0);
    assert_eq!(of("bacus_table_entries{table=\"Switch.hosts\""), 1.0);
    assert_eq!(of("bacus_port_received_packets_total{port=\"1\",device=\"net_ring0\"}"), 2.0);
    assert_eq!(of("bacus_worker_received_packets_total{worker=\"0\"}"), 4.0);
    // A direct counter: its hit, with the key of the entry.
    assert_eq!(of("bacus_p4_counter_packets_total{counter=\"Switch.host_frames\"}"), 1.0);
    assert_eq!(
        of("bacus_p4_counter_element_packets_total{counter=\"Switch.host_frames\",element=\"hdr.ethernet.dst:0x2\"}"),
        1.0
    );
    assert!(text.contains("bacus_dropped_packets_total{reason="), "{text}");
    assert_eq!(get(&address, "/other").0, "HTTP/1.1 404 Not Found");
}

#[test]
fn scrapes_that_never_read_hinder_no_other() {
    let Some(switch) = with_traffic("scrapes") else { return };
    let address = address(&switch);
    // Some send nothing, some ask again and again and read nothing, some are no HTTP.
    let mut held = Vec::new();
    for number in 0..60 {
        let mut stream = TcpStream::connect(&address).unwrap();
        let text = ["", "GET /metrics HTTP/1.1\r\n\r\n", "GET /met", "\u{0}\u{1}\u{2}\r\n\r\n"][number % 4];
        stream.write_all(text.as_bytes()).unwrap();
        held.push(stream);
    }
    let start = Instant::now();
    for _ in 0..3 {
        assert_eq!(get(&address, "/metrics").0, "HTTP/1.1 200 OK");
    }
    assert!(start.elapsed() < Duration::from_secs(8), "others wait for them: {:?}", start.elapsed());
    assert!(switch.ok(&["show", "hosts"]).contains("forward(port:5)"));
    // Longer than any request: it is closed.
    let mut stream = TcpStream::connect(&address).unwrap();
    stream.set_write_timeout(Some(Duration::from_secs(5))).unwrap();
    let mut sent = 0;
    while stream.write_all(&[b'x'; 4096]).is_ok() {
        sent += 1;
        assert!(sent < 100_000, "it reads for ever");
    }
    assert_eq!(get(&address, "/metrics").0, "HTTP/1.1 200 OK");
    drop(held);
}

#[test]
fn an_address_that_is_taken_is_refused_at_the_start() {
    if !has_dpdk() {
        return;
    }
    let taken = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let ran = bacus().args(["run", &objects(), "--port", "1=net_ring0", "--metrics", &address]).output().unwrap();
    assert!(!ran.status.success() && error(&ran).contains(&format!("--metrics: {address}: ")), "{}", error(&ran));
}

/// Each metric of the dashboard is one that a switch has.
#[test]
fn the_dashboard_asks_for_metrics_that_there_are() {
    let Some(switch) = with_traffic("dashboard") else { return };
    let (_, text) = get(&address(&switch), "/metrics");
    let known: std::collections::BTreeSet<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.split(' ').next()).collect();
    let file = std::fs::read_to_string(crate::command::path("examples/grafana/bacus.json")).unwrap();
    let dashboard: Value = serde_json::from_str(&file).unwrap();
    let panels = dashboard["panels"].as_array().unwrap();
    let targets = panels.iter().flat_map(|panel| panel["targets"].as_array().unwrap());
    let asked: Vec<&str> = targets.map(|target| target["expr"].as_str().unwrap()).collect();
    assert!(asked.len() > 10);
    let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
    for expression in asked {
        let names = expression.split(|c| !is_name(c)).filter(|word| word.starts_with("bacus_"));
        let unknown: Vec<&str> = names.filter(|name| !known.contains(name)).collect();
        assert!(unknown.is_empty(), "{expression}: no switch has {unknown:?}");
    }
}
