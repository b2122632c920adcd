//! Real networks: hosts in namespaces of their own, joined by veth as the kernel makes it through `bacus run`, ping each other and send data. Nothing of their
//! offloads is turned off: checksums and segmentation are left to hardware that is not there.

use crate::command::{capture, path, scratch};
use crate::namespaces::{Network, Switch, ip, mac, run, said};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

const SWITCH: &str = "apps/l2switch/l2switch.p4";
/// Multicast group 1 is all ports.
const FLOOD: &str = "mc_mgrp_create 1\nmc_node_create 0 1 2\nmc_node_associate 1 0\n";
const BLOCK: usize = 1 << 16;

/// How a switch is connected to its interfaces.
#[derive(Clone, Copy)]
pub struct Way {
    prefix: &'static str,
    metadata: &'static str,
}

/// Packet sockets that fill the program's own descriptors, AF_XDP, packet sockets with mbufs, and with mbufs that are copied.
pub const SOCKETS: Way = Way { prefix: "packet:", metadata: "exchange" };
pub const XDP: Way = Way { prefix: "xdp:", metadata: "exchange" };
pub const MBUFS: Way = Way { prefix: "", metadata: "overlaying" };
pub const COPIES: Way = Way { prefix: "", metadata: "copying" };

/// Two hosts and the switch between them.
pub struct Pair {
    network: Network,
    entries: String,
    way: Way,
}

impl Pair {
    fn new(name: &str, mtu: u32) -> Option<Pair> {
        Pair::by(SOCKETS, name, mtu)
    }

    pub fn by(way: Way, name: &str, mtu: u32) -> Option<Pair> {
        let network = Network::new(2, mtu)?;
        let entries =
            scratch(&format!("{name}-{}{}", way.prefix.trim_end_matches(':'), way.metadata)).join("flood.stf");
        fs::write(&entries, FLOOD).unwrap();
        Some(Pair { network, entries: entries.display().to_string(), way })
    }

    fn switch(&self, arguments: &[&str]) -> Switch {
        let port = |number: usize| format!("{number}={}port{number}", self.way.prefix);
        let (one, two, metadata) = (port(1), port(2), self.way.metadata);
        let ports = ["--entries", &self.entries, "--json", "--metadata", metadata, "--port", &one, "--port", &two];
        Switch::of(&self.network, SWITCH, &[&ports[..], arguments].concat())
    }

    /// A file goes from host 1 to host 2.
    fn sends(&self, address: &str, blocks: usize) {
        let server = self.network.serve(2, &["serve", address]);
        self.network.does(1, &["send", address, &(blocks * BLOCK).to_string()]);
        server.end();
    }
}

/// Bytes behind the addresses of a frame from host 1 to host 2.
fn frame(rest: &str) -> String {
    format!("{}{}{rest}", mac(2), mac(1)).replace(':', "")
}

#[test]
fn hosts_ping_and_send_files_through_a_router() {
    let Some(network) = Network::new(2, 1500) else { return };
    let routes = scratch("routes").join("routes.stf");
    let route = |number: usize| {
        let (next, own) = (mac(number).replace(':', ""), format!("02bb0000000{number}"));
        format!("add routes hdr.ipv4.dst:0x0a000{number}00/24 forward(port:{number}, dst:0x{next}, src:0x{own})\n")
    };
    fs::write(&routes, route(1) + &route(2)).unwrap();
    for number in 1..3 {
        let (host, gateway) = (&network.hosts[number - 1], format!("10.0.{number}.254"));
        ip(&["-n", host, "address", "flush", "dev", "eth0"]).unwrap();
        ip(&["-n", host, "address", "add", &format!("10.0.{number}.1/24"), "dev", "eth0"]).unwrap();
        // The router answers no ARP.
        let own = format!("02:bb:00:00:00:0{number}");
        ip(&["-n", host, "neighbour", "add", &gateway, "lladdr", &own, "dev", "eth0"]).unwrap();
        ip(&["-n", host, "route", "add", "default", "via", &gateway]).unwrap();
    }
    let routes = routes.display().to_string();
    let ports = ["--entries", &routes, "--json", "--port", "1=port1", "--port", "2=port2"];
    let switch = Switch::of(&network, "apps/ipv4fwd/ipv4fwd.p4", &ports);
    network.does(1, &["ping", "10.0.2.1", "20", "48"]);
    network.does(2, &["ping", "10.0.1.1", "20", "48"]);
    let server = network.serve(2, &["serve", "10.0.2.1"]);
    network.does(1, &["send", "10.0.2.1", "4194304"]);
    server.end();
    let account = switch.account();
    account.is_balanced(0);
    assert!(account.port(2, "sent_bytes") > 4 << 20, "{account:?}");
}

#[test]
fn hosts_find_each_other_and_use_tcp_and_udp_through_a_switch_that_learns() {
    Pair::new("learns", 1500).iter().for_each(learn);
}

pub fn learn(pair: &Pair) {
    let switch = pair.switch(&[]);
    pair.network.does(1, &["ping", "10.0.0.2", "20", "48"]);
    pair.sends("10.0.0.2", 256);
    pair.sends("fd00::2", 256);
    // One super-frame each: 40 datagrams of 1200 bytes, and a last one that is shorter.
    for address in ["10.0.0.2", "fd00::2"] {
        let server = pair.network.serve(2, &["datagrams", address, "40"]);
        pair.network.does(1, &["segments", address, "1200", "40"]);
        let expected: String = (0..40).map(|number| format!("1200 {number} 1200\n")).collect();
        assert_eq!(server.end(), expected, "{address}");
    }
    let account = switch.account();
    // Each flood is one copy more than the packet, and one of both is dropped where it came from.
    account.is_balanced(account.count("dropped"));
    assert_eq!((account.ports("errors"), account.ports("not_sent")), (0, 0), "{account:?}");
    // No frame is longer than the MTU: what came as one was made into many.
    assert!(account.port(2, "sent_bytes") / account.port(2, "sent") <= 1514, "{account:?}");
}

/// Captures of both directions, by packet sockets in each port layer.
#[test]
fn recorded_packets_are_those_that_came_and_went() {
    for way in [SOCKETS, MBUFS] {
        let Some(pair) = Pair::by(way, "record", 1500) else { return };
        pair.network.silence();
        let folder = scratch("record");
        let switch = pair.switch(&["--record", &folder.display().to_string()]);
        pair.network.does(1, &["ping", "10.0.0.2", "20", "48"]);
        let account = switch.account();
        let frames = |port: u32, direction: &str| capture(&folder.join(format!("port{port}_{direction}.pcap")));
        for port in 1..3 {
            let bytes = |frames: &[Vec<u8>]| frames.iter().map(Vec::len).sum::<usize>() as u64;
            let (came, went) = (frames(port, "in"), frames(port, "out"));
            assert_eq!(came.len() as u64, account.port(u64::from(port), "received"), "{account:?}");
            assert_eq!(bytes(&came), account.port(u64::from(port), "received_bytes"), "{account:?}");
            assert_eq!(went.len() as u64, account.port(u64::from(port), "sent"), "{account:?}");
            assert_eq!(bytes(&went), account.port(u64::from(port), "sent_bytes"), "{account:?}");
            assert!(went.len() >= 20, "{}", went.len());
        }
        // The program sends what it received from host 1 to host 2, as it was.
        assert_eq!(frames(1, "in"), frames(2, "out"));
    }
}

/// Throughput is not the matter: tests share the core. That TCP does not lose its way is.
#[test]
fn iperf3_loses_next_to_nothing() {
    if let Err(reason) = run(Command::new("iperf3").arg("--version")) {
        eprintln!("skipped: no iperf3 (make setup): {reason}");
        return;
    }
    let Some(pair) = Pair::new("iperf3", 1500) else { return };
    let switch = pair.switch(&[]);
    let network = &pair.network;
    let mut server =
        network.inside(&network.hosts[1], "iperf3").args(["-s", "-1"]).stdout(Stdio::null()).spawn().unwrap();
    // It does not report when it listens, and succeeds when it cannot connect.
    let client = || {
        let text = said(network.inside(&network.hosts[0], "iperf3").args(["-c", "10.0.0.2", "-t", "2", "-J"])).unwrap();
        let report: serde_json::Value = serde_json::from_str(&text).unwrap();
        std::thread::sleep(Duration::from_millis(200));
        report.get("error").is_none().then_some(report)
    };
    let report = (0..50).find_map(|_| client()).expect("iperf3 comes to its end");
    drop(server.kill());
    drop(server.wait());
    let count = |part: &str, name: &str| {
        report["end"][part][name].as_u64().unwrap_or_else(|| panic!("no {name} in {part} of {report}"))
    };
    let (bytes, again) = (count("sum_received", "bytes"), count("sum_sent", "retransmits"));
    let account = switch.account();
    let frames = account.port(1, "received");
    assert!(bytes > 10 << 20 && again * 50 < frames, "{report}\n{account:?}");
    assert!(account.ports("missed") * 50 < frames, "{account:?}");
}

#[test]
fn frames_of_nine_thousand_bytes_pass_whole() {
    Pair::new("jumbo", 9000).iter().for_each(pass_jumbo_frames);
}

pub fn pass_jumbo_frames(pair: &Pair) {
    let switch = pair.switch(&[]);
    pair.network.does(1, &["ping", "10.0.0.2", "5", "8972"]);
    pair.sends("10.0.0.2", 64);
    let rest = format!("1234{}", "5a".repeat(9000));
    let listener = pair.network.serve(2, &["capture", "12345a5a", "3", "10"]);
    pair.network.does(1, &["transmit", &frame(&rest), "3"]);
    assert_eq!(listener.end(), format!("{}\n", frame(&rest)).repeat(3));
    let account = switch.account();
    assert_eq!((account.ports("errors"), account.ports("not_sent")), (0, 0), "{account:?}");
}

/// An MTU that became larger while the switch runs: what no slot of the small ring takes goes to the large ones.
#[test]
fn frames_longer_than_the_mtu_was_pass_or_are_counted() {
    Pair::new("longer", 1500).iter().for_each(pass_longer_frames);
}

pub fn pass_longer_frames(pair: &Pair) {
    pair.network.silence();
    let switch = pair.switch(&[]);
    let set = |namespace: &str, device: &str| ip(&["-n", namespace, "link", "set", device, "mtu", "9000"]).unwrap();
    let (hosts, name) = (&pair.network.hosts, &pair.network.switch);
    set(&hosts[0], "eth0");
    set(name, "port1");
    let rest = format!("1234{}", "5a".repeat(8000));
    pair.network.does(1, &["transmit", &frame(&rest), "2"]);
    std::thread::sleep(Duration::from_millis(300));
    // Port 2 still has 1500.
    set(name, "port2");
    set(&hosts[1], "eth0");
    let listener = pair.network.serve(2, &["capture", "12345a5a", "1", "10"]);
    pair.network.does(1, &["transmit", &frame(&rest), "1"]);
    assert_eq!(listener.end(), format!("{}\n", frame(&rest)));
    let account = switch.account();
    assert_eq!((account.port(1, "received"), account.port(2, "not_sent")), (3, 2), "{account:?}");
    account.is_balanced(account.count("dropped"));
}

/// DPDK's driver of packet sockets truncates what its slots do not hold: such a frame is an error, and is not sent as if it were whole.
#[test]
fn frames_that_a_driver_truncates_are_errors() {
    let Some(pair) = Pair::new("truncates", 9000) else { return };
    pair.network.silence();
    let port = |number: usize| format!("{number}=net_af_packet{number},iface=port{number}");
    let arguments = ["--entries", &pair.entries, "--json", "--port", &port(1), "--port", &port(2)];
    let switch = Switch::of(&pair.network, SWITCH, &arguments);
    let listener = pair.network.serve(2, &["capture", "12345a5a", "2", "10"]);
    // The longest that leaves a slot's last byte free, one byte more, and far more.
    let frames = [1969, 1970, 8000, 64].map(|bytes| frame(&format!("1234{}", "5a".repeat(bytes - 2))));
    for sent in &frames {
        pair.network.does(1, &["transmit", sent, "1"]);
    }
    assert_eq!(listener.end(), format!("{}\n{}\n", frames[0], frames[3]));
    let account = switch.account();
    assert_eq!((account.port(1, "received"), account.port(1, "errors")), (2, 2), "{account:?}");
    account.is_balanced(account.count("dropped"));
}

#[test]
fn tags_leave_as_they_came() {
    Pair::new("tags", 1500).iter().for_each(keep_tags);
}

pub fn keep_tags(pair: &Pair) {
    let switch = pair.switch(&[]);
    for tags in ["810020070800", "88a86005810020070800", "88a8000588a800060800", "0800"] {
        let whole = frame(&format!("{tags}{}", "5a".repeat(50)));
        let listener = pair.network.serve(2, &["capture", &"5a".repeat(50), "1", "10"]);
        pair.network.does(1, &["transmit", &whole, "1"]);
        assert_eq!(listener.end().trim(), whole, "{tags}");
    }
    drop(switch.account());
}

/// TCP by tagged interfaces, with one tag and with two: the kernel keeps the outer tag beside the super-frame.
#[test]
fn tcp_goes_through_tags() {
    let Some(pair) = Pair::new("vlan", 1500) else { return };
    for (number, host) in pair.network.hosts.iter().enumerate() {
        let links = [("eth0", "tagged", "802.1Q"), ("eth0", "outer", "802.1ad"), ("outer", "inner", "802.1Q")];
        for (link, name, protocol) in links {
            let made = ip(&[
                "-n", host, "link", "add", "link", link, "name", name, "type", "vlan", "proto", protocol, "id", "7",
            ]);
            if let Err(reason) = made {
                eprintln!("skipped: no VLAN interfaces here: {reason}");
                return;
            }
            ip(&["-n", host, "link", "set", name, "up"]).unwrap();
        }
        // Interfaces have room for one tag beyond their MTU.
        ip(&["-n", host, "link", "set", "inner", "mtu", "1400"]).unwrap();
        for (name, network) in [("tagged", "10.6.0"), ("inner", "10.7.0")] {
            ip(&["-n", host, "address", "add", &format!("{network}.{}/24", number + 1), "dev", name]).unwrap();
        }
    }
    let switch = pair.switch(&[]);
    pair.sends("10.6.0.2", 64);
    pair.sends("10.7.0.2", 64);
    assert_eq!(switch.account().ports("errors"), 0);
}

#[test]
fn two_switches_run_in_one_namespace() {
    let Some(network) = Network::new(4, 1500) else { return };
    let directory = scratch("beside");
    let start = |low: usize| {
        let entries = directory.join(format!("flood{low}.stf"));
        fs::write(&entries, format!("mc_mgrp_create 1\nmc_node_create 0 {low} {}\nmc_node_associate 1 0\n", low + 1))
            .unwrap();
        let port = |number: usize| format!("{number}=port{number}");
        let entries = entries.display().to_string();
        Switch::of(&network, SWITCH, &["--entries", &entries, "--json", "--port", &port(low), "--port", &port(low + 1)])
    };
    let switches = [start(1), start(3)];
    network.does(1, &["ping", "10.0.0.2", "5", "48"]);
    network.does(3, &["ping", "10.0.0.4", "5", "48"]);
    for switch in switches {
        assert!(switch.account().count("received") >= 10);
    }
}

/// A port without a link, or whose interface is gone, is reported, sends nothing and counts that; it works again when it is back.
#[test]
fn links_that_go_are_told_of_and_taken_again() {
    Pair::new("links", 1500).iter().for_each(lose_links);
}

pub fn lose_links(pair: &Pair) {
    let mut switch = pair.switch(&[]);
    let (network, limit) = (&pair.network, Duration::from_secs(10));
    let (name, host) = (&network.switch, &network.hosts[1]);
    let ping = || network.does(1, &["ping", "10.0.0.2", "2", "48"]);
    let lost = || network.does(1, &["transmit", &frame(&format!("1234{}", "77".repeat(50))), "10"]);
    ping();
    // Its own end, then the host's, which takes the carrier away.
    for (namespace, device) in [(name, "port2"), (host, "eth0")] {
        ip(&["-n", namespace, "link", "set", device, "down"]).unwrap();
        switch.hears(&format!("port 2 ({}port2) is down", pair.way.prefix), limit);
        lost();
        ip(&["-n", namespace, "link", "set", device, "up"]).unwrap();
        switch.hears(&format!("port 2 ({}port2) is up", pair.way.prefix), limit);
        ping();
    }
    ip(&["-n", name, "link", "delete", "port2"]).unwrap();
    switch.hears(&format!("port 2 ({}port2) is gone", pair.way.prefix), limit);
    lost();
    network.join(2, 1500).unwrap();
    switch.hears(&format!("port 2 ({}port2) is up", pair.way.prefix), limit);
    ping();
    pair.sends("10.0.0.2", 16);
    let account = switch.account();
    assert!(account.port(2, "not_sent") >= 30, "{account:?}");
    account.is_balanced(account.count("dropped"));
}

/// Neither root nor the right to administer the network is needed.
#[test]
fn the_right_to_open_packet_sockets_is_enough() {
    let Some(pair) = Pair::new("rights", 1500) else { return };
    let alone = ["setpriv", "--bounding-set", "-all,+net_raw", "--inh-caps", "-all,+net_raw"];
    let words = [&["ip", "netns", "exec", &pair.network.switch][..], &alone].concat();
    if let Err(reason) = run(Command::new(words[0]).args(&words[1..]).arg("true")) {
        eprintln!("skipped: no setpriv here: {reason}");
        return;
    }
    let ports = ["--entries", &pair.entries, "--json", "--port", "1=port1", "--port", "2=port2"];
    let switch = Switch::start(&words, SWITCH, &ports);
    pair.network.does(1, &["ping", "10.0.0.2", "5", "48"]);
    assert!(switch.account().count("received") >= 10);
}

#[test]
fn nothing_of_a_killed_switch_is_left_on_its_interfaces() {
    let Some(pair) = Pair::new("killed", 1500) else { return };
    let promiscuous = || {
        let details =
            said(Command::new("ip").args(["-n", &pair.network.switch, "-d", "link", "show", "port1"])).unwrap();
        details.split_once("promiscuity ").unwrap().1.starts_with('1')
    };
    let switch = pair.switch(&[]);
    assert!(promiscuous());
    drop(switch.end(Some("KILL")));
    assert!(!promiscuous());
}

/// The frame is sent by the compiler, so there is no pipeline yet.
#[test]
fn frames_that_come_while_the_program_is_compiled_are_forwarded() {
    let Some(pair) = Pair::new("early", 1500) else { return };
    pair.network.silence();
    let folder = scratch("early-program");
    // A name that no pipeline in the cache has.
    let program = folder.join(format!("early_{}.p4", std::process::id()));
    fs::copy(path(SWITCH), &program).unwrap();
    let frame = format!("{}{}1234", mac(2), mac(1)).replace(':', "") + &"5a".repeat(50);
    let sends = pair.network.host(1, &["transmit", &frame, "3"]);
    let words: Vec<&str> =
        std::iter::once(sends.get_program()).chain(sends.get_args()).filter_map(|word| word.to_str()).collect();
    let compiler = folder.join("compiler");
    let script = format!("#!/bin/sh\ncase \"$*\" in *early_*) {} ;; esac\nexec gcc \"$@\"\n", words.join(" "));
    fs::write(&compiler, script).unwrap();
    fs::set_permissions(&compiler, fs::Permissions::from_mode(0o755)).unwrap();
    let ports = ["--entries", &pair.entries, "--json", "--port", "1=packet:port1", "--port", "2=packet:port2"];
    let compiled = ["--cc", &compiler.display().to_string()];
    let switch = Switch::of(&pair.network, &program.display().to_string(), &[&ports[..], &compiled].concat());
    let account = switch.account();
    assert!(account.port(1, "received") == 3 && account.port(2, "sent") == 3, "{account:?}");
}
