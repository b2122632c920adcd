//! Every packet that comes is accounted for, and how a switch starts, reports and stops.

use crate::command::{bacus, capture, has_dpdk, path, scratch};
use crate::namespaces::{Account, Network, Switch, mac};
use opt::inputs::Machine;
use std::fs;
use std::path::Path;
use std::process::Output;
use std::time::{Duration, Instant};

const L2FWD: &str = "apps/l2fwd/l2fwd.p4";
const SWITCH: &str = "apps/l2switch/l2switch.p4";

/// Bytes from host 1 to a host.
fn frame(to: usize, rest: &str) -> String {
    format!("{}{}1234{rest}", mac(to), mac(1)).replace(':', "")
}

fn text(output: &[u8]) -> String {
    String::from_utf8_lossy(output).into_owned()
}

/// The object of a line of standard output, the last one of which is the summary.
fn account(ended: &Output, line: usize) -> Account {
    let text = text(&ended.stdout);
    Account(serde_json::from_str(text.lines().nth(line).unwrap_or_default()).unwrap_or_else(|_| panic!("{text}")))
}

/// Frames to a known host, to an unknown one (dropped), to a port without a device, to all: the kernel counts the same.
#[test]
fn each_frame_from_a_host_is_sent_dropped_or_not_sent() {
    let Some(network) = Network::new(3, 1500) else { return };
    let entries = scratch("each").join("entries.stf");
    let known = |number: usize, port: usize| {
        format!("add dmac hdr.ethernet.dst:0x{} forward(port:{port})\n", mac(number).replace(':', ""))
    };
    // Ports 0 and 4 have no device: 0 is below the highest, 5 is beyond it.
    fs::write(&entries, known(2, 2) + &known(4, 0) + &known(5, 5)).unwrap();
    let entries = entries.display().to_string();
    let ports = ["--port", "1=port1", "--port", "2=port2", "--port", "3=port3"];
    let switch = Switch::of(&network, L2FWD, &[&["--entries", &entries, "--json"][..], &ports].concat());
    let kernel = |port: &str, count: &str| network.kernel_count(port, count);
    // Hosts may have sent packets while the switch started.
    let before = kernel("port1", "rx_packets");
    for (to, count) in [(2, 50), (3, 7), (4, 11), (5, 13)] {
        network.does(1, &["transmit", &frame(to, &"00".repeat(50)), &count.to_string()]);
    }
    std::thread::sleep(Duration::from_millis(300));
    let (came, left) = (kernel("port1", "rx_packets"), kernel("port2", "tx_packets"));
    let account = switch.account();
    account.is_balanced(0);
    assert!((came - before..=came).contains(&account.port(1, "received")), "{before} {came} {account:?}");
    assert_eq!(account.port(2, "sent"), left, "{account:?}");
    assert_eq!((account.count("sent"), account.count("to_ports_without_device")), (50, 11), "{account:?}");
    assert_eq!(account.count("dropped"), account.count("received") - 61, "{account:?}");
}

/// A switch that does not get the core for a while: its ring holds a burst, whatever a calibration found to be enough, and what it does not hold is missed.
#[test]
fn a_ring_holds_a_burst_and_what_it_does_not_hold_is_missed() {
    let Some(network) = Network::new(2, 1500) else { return };
    let directory = scratch("burst");
    let mut machine = Machine::parse(&fs::read_to_string(path("machines/epyc-genoa.toml")).unwrap()).unwrap();
    machine.port.device = Some("interface".to_string());
    machine.port.ring = Some(32);
    let file = directory.join("machine.toml");
    fs::write(&file, machine.print()).unwrap();
    let file = file.display().to_string();
    for (frames, is_held) in [(900, true), (3000, false)] {
        let ports = ["--json", "--machine", &file, "--port", "1=port1", "--port", "2=port2"];
        let switch = Switch::of(&network, L2FWD, &ports);
        let before = network.kernel_count("port1", "rx_packets");
        switch.signal("STOP");
        network.does(1, &["transmit", &frame(2, &"00".repeat(50)), &frames.to_string()]);
        let came = network.kernel_count("port1", "rx_packets") - before;
        switch.signal("CONT");
        std::thread::sleep(Duration::from_millis(300));
        let account = switch.account();
        let missed = account.port(1, "missed");
        assert!(came >= frames && account.port(1, "received") + missed >= came, "{came} {account:?}");
        assert_eq!(missed == 0, is_held, "{came} {account:?}");
        account.is_balanced(0);
    }
}

/// What is in the ring when a switch ends has come, and is not lost without a word.
#[test]
fn what_waits_in_the_ring_at_the_end_is_missed() {
    let Some(network) = Network::new(2, 1500) else { return };
    let switch = Switch::of(&network, L2FWD, &["--json", "--port", "1=port1", "--port", "2=port2"]);
    switch.signal("STOP");
    network.does(1, &["transmit", &frame(2, &"00".repeat(50)), "500"]);
    switch.signal("INT");
    switch.signal("CONT");
    let ended = switch.end(None);
    let account = account(&ended, 0);
    assert!(account.port(1, "received") + account.port(1, "missed") >= 500, "{account:?}");
    account.is_balanced(0);
}

/// Memif: two processes, of which one sends what a capture holds to the other.
struct Wire {
    socket: String,
    capture: String,
}

impl Wire {
    fn new(name: &str) -> Wire {
        let directory = scratch(name);
        let capture = directory.join("in.stf");
        let packet = format!("packet 1 {}\n", frame(2, &"00".repeat(50)));
        fs::write(&capture, packet.repeat(100)).unwrap();
        Wire { socket: directory.join("wire").display().to_string(), capture: capture.display().to_string() }
    }

    fn end(&self, port: u32, role: &str) -> String {
        format!("{port}=net_memif{port},role={role},socket={},socket-abstract=no", self.socket)
    }

    /// Entries that send the frames of both sources by one port.
    fn entries(&self, port: u32) -> String {
        let file = Path::new(&self.socket).with_file_name(format!("to{port}.stf"));
        let entry = |address: &str| format!("add dmac hdr.ethernet.dst:0x{address} forward(port:{port})\n");
        fs::write(&file, entry(&mac(2).replace(':', "")) + &entry("0")).unwrap();
        file.display().to_string()
    }

    fn receiver(&self) -> Switch {
        Switch::start(
            &["env"],
            L2FWD,
            &["--json", "--entries", &self.entries(3), "--port", &self.end(0, "server"), "--port", "3=pcap:,"],
        )
    }

    /// Sends a capture so often, and ends.
    fn sender(&self, repeat: u32) -> Switch {
        let (input, repeat) = (format!("1=pcap:{},", self.capture), repeat.to_string());
        self.sends(&["--until-idle", "--repeat", &repeat, "--port", &input])
    }

    fn sends(&self, arguments: &[&str]) -> Switch {
        let (entries, end) = (self.entries(0), self.end(0, "client"));
        Switch::start(&["env"], L2FWD, &[&["--json", "--entries", &entries, "--port", &end][..], arguments].concat())
    }
}

/// The device forgets what it counted when its other end goes.
#[test]
fn a_memif_peer_that_ends_takes_no_counts_with_it() {
    if !has_dpdk() {
        return;
    }
    let wire = Wire::new("peer");
    let mut receiver = wire.receiver();
    let sender = wire.sender(20_000);
    receiver.hears("port 0 (net_memif0", Duration::from_secs(20));
    let sent = account(&sender.end(None), 0);
    sent.is_balanced(0);
    receiver.hears("is down", Duration::from_secs(20));
    let received = receiver.account();
    let (gone, came) = (sent.port(0, "sent"), received.port(0, "received"));
    assert_eq!(gone + sent.port(0, "not_sent"), 2_000_000, "{sent:?}");
    assert!(gone > 0 && came == gone, "{gone} sent, {came} received: {received:?}");
    received.is_balanced(0);
}

/// A peer that takes nothing: what does not fit its ring is not sent.
#[test]
fn a_full_transmit_ring_is_counted() {
    if !has_dpdk() {
        return;
    }
    let wire = Wire::new("full");
    let mut receiver = wire.receiver();
    // Frames of zeros without end.
    let sender = wire.sends(&["--port", "1=net_null0"]);
    receiver.hears("is up", Duration::from_secs(20));
    receiver.signal("STOP");
    std::thread::sleep(Duration::from_millis(500));
    let sent = sender.account();
    receiver.signal("CONT");
    sent.is_balanced(0);
    assert!(sent.port(0, "not_sent") > 10_000, "{sent:?}");
    drop(receiver.account());
}

/// Whether the first signal is among those that are ignored by `/proc/PID/status`.
fn ignores_hangups(status: &str) -> bool {
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_some_and(|mask| mask & 1 == 1)
}

/// SIGHUP ends a switch as Ctrl-C does; SIGUSR1 prints counts, and with --dump the state that packets have changed.
#[test]
fn signals_end_a_switch_or_make_it_report() {
    if !has_dpdk() {
        return;
    }
    // A switch leaves SIGHUP ignored, as under `nohup`, and these tests may run there.
    let hangs_up = !fs::read_to_string("/proc/self/status").is_ok_and(|status| ignores_hangups(&status));
    for signal in ["INT", "TERM", "HUP"].into_iter().filter(|signal| hangs_up || *signal != "HUP") {
        let arguments = ["--json", "--dump", "--port", "0=net_null0", "--port", "1=net_null1"];
        let switch = Switch::start(&["env"], "apps/ipv4fwd/ipv4fwd.p4", &arguments);
        switch.signal("USR1");
        std::thread::sleep(Duration::from_millis(300));
        let ended = switch.end(Some(signal));
        assert!(ended.status.success(), "{signal}: {}", text(&ended.stderr));
        let (first, last) = (account(&ended, 0), account(&ended, 1));
        assert!(last.count("received") > first.count("received"), "{signal}");
        last.is_balanced(0);
        // Packets of net_null are zeros: none is IPv4.
        let counter = &last.0["state"][0];
        assert_eq!((&counter["kind"], &counter["name"]), (&"counter".into(), &"Router.dropped".into()), "{counter}");
        assert_eq!(counter["elements"][0]["element"], "[1]", "{counter}");
        assert_eq!(counter["elements"][0]["packets"], last.count("received"), "{counter}");
    }
}

#[test]
fn a_switch_that_waits_for_packets_ends_after_them_and_says_nothing_if_asked() {
    let Some(network) = Network::new(2, 1500) else { return };
    network.silence();
    let ports = ["--until-idle", "--json", "--port", "1=port1", "--port", "2=port2"];
    let switch = Switch::of(&network, L2FWD, &ports);
    // Longer than what makes a switch idle.
    std::thread::sleep(Duration::from_millis(800));
    network.does(1, &["transmit", &frame(2, &"00".repeat(50)), "3"]);
    let start = Instant::now();
    let ended = switch.end(None);
    assert!(ended.status.success() && start.elapsed() < Duration::from_secs(20));
    let account = account(&ended, 0);
    assert!(account.port(1, "received") >= 3, "{account:?}");
    // The rate is of the time in which packets came.
    assert!(account.0["busy_seconds"].as_f64().unwrap() < 0.5, "{account:?}");

    let quiet = ["run", SWITCH, "--quiet", "--port", "0=pcap:,"]
        .map(|word| if word == SWITCH { path(word) } else { word.into() });
    let ran = bacus().args(quiet).output().unwrap();
    assert!(ran.status.success() && ran.stdout.is_empty() && ran.stderr.is_empty(), "{ran:?}");
}

/// No room for the capture of what was sent: it does not get its name, and the command does not succeed.
#[test]
fn captures_that_could_not_be_written_whole_are_said() {
    if !has_dpdk() {
        return;
    }
    let directory = scratch("room");
    let (file, out) = (directory.join("in.stf"), directory.join("out.pcap"));
    // Eight copies of each packet: what comes in is small.
    let nodes = "mc_node_create 0 2\n".repeat(8);
    let joined: String = (0..8).map(|node| format!("mc_node_associate 1 {node}\n")).collect();
    let packets = format!("packet 1 {}\n", frame(2, &"00".repeat(1000))).repeat(100);
    fs::write(&file, format!("mc_mgrp_create 1\n{nodes}{joined}{packets}")).unwrap();
    let words = format!(
        "trap '' XFSZ; exec '{}' run '{}' --entries '{file}' --port '1=pcap:{file},' --port '2=pcap:,{}'",
        env!("CARGO_BIN_EXE_bacus"),
        path(SWITCH).display(),
        out.display(),
        file = file.display(),
    );
    let ran = |words: &str| {
        let mut shell = std::process::Command::new("bash");
        shell.envs(bacus().get_envs().filter_map(|(name, value)| Some((name, value?))));
        shell.args(["-c", words]).output().unwrap()
    };
    let whole = ran(&words);
    assert!(whole.status.success(), "{}", text(&whole.stderr));
    assert_eq!(capture(&out).len(), 800);
    fs::remove_file(&out).unwrap();
    // A file may have 300 kB.
    let cut = ran(&format!("ulimit -f 300; {words}"));
    let said = text(&cut.stderr);
    assert!(cut.status.code() == Some(3) && said.contains("is there room on the disk?"), "{said}");
    let left: Vec<_> = fs::read_dir(&directory).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(left, ["in.stf"]);
}
