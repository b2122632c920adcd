//! Memif ports without DPDK, with DPDK's driver `net_memif` as their peer.

use crate::command::{capture, has_dpdk, ran, scratch};
use crate::namespaces::{Account, Switch, mac};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

const L2FWD: &str = "apps/l2fwd/l2fwd.p4";
const LIMIT: Duration = Duration::from_secs(20);

/// A folder with sockets, and entries that send frames of both sources by one port.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Place {
        Place(scratch(name))
    }

    fn file(&self, name: &str) -> String {
        self.0.join(name).display().to_string()
    }

    fn entries(&self, port: u32) -> String {
        let entry = |address: &str| format!("add dmac hdr.ethernet.dst:0x{address} forward(port:{port})\n");
        let file = self.file(&format!("to{port}.stf"));
        fs::write(&file, entry(&mac(2).replace(':', "")) + &entry("0")).unwrap();
        file
    }

    /// A port, with DPDK or without.
    fn port(&self, number: u32, socket: &str, role: &str) -> String {
        format!("{number}=memif:{},role={role}", self.file(socket))
    }

    fn dpdk_port(&self, number: u32, socket: &str, role: &str) -> String {
        format!("{number}=net_memif{number},role={role},socket={},socket-abstract=no", self.file(socket))
    }

    /// Takes packets from port 0 and sends them by port 1.
    fn switch(&self, ports: [&str; 2], to: u32) -> Switch {
        let entries = self.entries(to);
        Switch::start(
            &["env"],
            L2FWD,
            &["--json", "--entries", &entries, "--port", ports[0], "--port", ports[1], "--workers", "1"],
        )
    }
}

/// Frames of all lengths, of which the longest take several buffers.
fn frames() -> (String, Vec<Vec<u8>>) {
    let (mut text, mut frames) = (String::new(), Vec::new());
    for number in 0..200_usize {
        let payload = vec![number as u8; 46 + number * number % 8900];
        let head = format!("{}{}1234", mac(2), mac(1)).replace(':', "");
        let rest: String = payload.iter().map(|byte| format!("{byte:02x}")).collect();
        writeln!(text, "packet 1 {head}{rest}").unwrap();
        let head = (0..head.len()).step_by(2).map(|at| u8::from_str_radix(&head[at..at + 2], 16).unwrap());
        frames.push(head.chain(payload).collect());
    }
    (text, frames)
}

fn sent_all(account: &Account) -> u64 {
    account.is_balanced(0);
    account.port(0, "received")
}

/// What DPDK's client sends comes to a server of ours, and leaves by a client of ours to DPDK's server, as it was.
#[test]
fn frames_of_dpdk_pass_as_they_are() {
    if !has_dpdk() {
        return;
    }
    let place = Place::new("memif-frames");
    let (text, expected) = frames();
    fs::write(place.file("in.stf"), text).unwrap();
    let out = place.file("out.pcap");
    let sink = place.switch([&place.dpdk_port(0, "right", "server"), &format!("3=pcap:,{out}")], 3);
    let ours = place.switch([&place.port(0, "left", "server"), &place.port(1, "right", "client")], 1);
    let entries = place.entries(0);
    let source = Switch::start(
        &["env"],
        L2FWD,
        &[
            "--json",
            "--until-idle",
            "--entries",
            &entries,
            "--port",
            &place.dpdk_port(0, "left", "client"),
            "--port",
            &format!("1=pcap:{},", place.file("in.stf")),
        ],
    );
    let ended = source.end(None);
    let text = String::from_utf8_lossy(&ended.stdout).into_owned();
    let sent = Account(serde_json::from_str(text.lines().last().unwrap_or_default()).unwrap());
    assert_eq!(sent.port(0, "sent"), 200, "{sent:?}");
    std::thread::sleep(Duration::from_millis(300));
    let passed = ours.account();
    assert_eq!((sent_all(&passed), passed.port(1, "sent")), (200, 200), "{passed:?}");
    assert_eq!(sent_all(&sink.account()), 200);
    assert_eq!(capture(Path::new(&out)), expected);
}

/// The other roles, under load. A peer that ends takes no counts with it; another one takes its place.
#[test]
fn peers_of_dpdk_go_and_come_back() {
    if !has_dpdk() {
        return;
    }
    let place = Place::new("memif-return");
    let mut ours = place.switch([&place.port(0, "left", "client"), &place.port(1, "right", "server")], 1);
    let mut carried = [0; 2];
    for _ in 0..2 {
        let sink = place.switch([&place.dpdk_port(0, "right", "client"), "3=net_null3"], 3);
        let source = place.switch([&place.dpdk_port(0, "left", "server"), "1=net_null1"], 0);
        std::thread::sleep(Duration::from_millis(500));
        let source = source.account();
        source.is_balanced(0);
        ours.hears("is down", LIMIT);
        std::thread::sleep(Duration::from_millis(300));
        let sink = sink.account();
        carried[0] += source.port(0, "sent");
        carried[1] += sink.port(0, "received");
    }
    let ours = ours.account();
    ours.is_balanced(0);
    let came = ours.port(0, "received") + ours.port(0, "missed");
    assert!(carried[0] > 10_000, "{carried:?} {ours:?}");
    assert_eq!((came, ours.port(0, "errors")), (carried[0], 0), "{ours:?}");
    assert_eq!(ours.port(1, "sent"), carried[1], "{ours:?}");
}

#[test]
fn ports_that_cannot_be_are_refused() {
    let place = Place::new("memif-refused");
    let refused = |ports: &[&str], why: &str, hint: &str| {
        let program = crate::command::path(L2FWD).display().to_string();
        let mut arguments = vec!["run", &program, "--duration", "1"];
        ports.iter().for_each(|port| arguments.extend(["--port", port]));
        let (code, text) = ran(&arguments);
        assert!(code.is_some_and(|code| code != 0) && text.contains(why) && text.contains(hint), "{code:?} {text}");
    };
    let server = place.port(1, "socket", "server");
    refused(&[&place.port(1, "socket", "both")], "`role=both`", "role=server or role=client");
    refused(&["1=memif:"], "a socket must be named", "hint: ");
    refused(&["1=memif:/nowhere/x,role=server"], "No such file or directory", "hint: ");
    refused(&[&server, "2=pcap:,"], "needs a switch without DPDK", "hint: net_memif1");
    refused(&[&server, &place.port(2, "socket", "server")], "Address already in use", "a socket of its own");
}
