//! `bacus ctl ports add` and `remove`: ports that come and go while the switch runs, and a switch that begins without any.

use crate::command::{bacus, has_dpdk};
use crate::switch::{Switch, folder, objects, until, words};
use std::fs;
use std::process::Command;

/// Leaves by port 1.
const PACKET: [&str; 7] = ["packets", "send", "000000000002", "000000000099", "0800", "egress_port:1", "queue:0"];

fn packet_to(port: u32) -> Vec<String> {
    PACKET.iter().map(|word| word.replace("egress_port:1", &format!("egress_port:{port}"))).collect()
}

fn send(switch: &Switch, port: u32) {
    let words = packet_to(port);
    switch.ok(&words.iter().map(String::as_str).collect::<Vec<_>>());
}

/// A column of the port's row, by its number.
fn value(switch: &Switch, port: &str, column: &str) -> Option<String> {
    let text = switch.ok(&["ports"]);
    let lines = words(&text);
    let at = lines.first()?.iter().position(|name| *name == column)?;
    lines.iter().find(|line| line[0] == port).map(|line| line[at].to_string())
}

fn bare(name: &str, arguments: &[&str]) -> Option<Switch> {
    has_dpdk().then(|| Switch::start_bare(&folder(name), &[&["--p4runtime", "127.0.0.1:0"], arguments].concat()))
}

#[test]
fn a_port_that_is_added_carries_packets() {
    let Some(switch) = bare("add", &[&objects()]) else { return };
    assert_eq!(switch.ok(&["ports"]), "");
    // The number has no device yet.
    send(&switch, 1);
    switch.ok(&["ports", "add", "1=net_ring0"]);
    send(&switch, 1);
    until(|| value(&switch, "1", "packets_in").as_deref() == Some("1"));
    assert_eq!(value(&switch, "1", "packets_out").as_deref(), Some("1"));
    assert_eq!(value(&switch, "1", "link").as_deref(), Some("up"));
}

#[test]
fn a_port_that_was_removed_can_be_added_again() {
    let Some(switch) =
        bare("again", &[&objects(), "--workers", "2", "--spread", "any", "--port", "9=net_null0,no-rx=1"])
    else {
        return;
    };
    for _ in 0..3 {
        switch.ok(&["ports", "add", "1=net_ring0"]);
        send(&switch, 1);
        until(|| value(&switch, "1", "packets_in").as_deref() == Some("1"));
        switch.ok(&["ports", "remove", "net_ring0"]);
        assert_eq!(value(&switch, "1", "link"), None);
        send(&switch, 1);
    }
    // The sums have the packets of ports that are gone.
    let stats = switch.ok(&["--json", "stats"]);
    let balance = stats.lines().last().unwrap();
    assert!(balance.contains(r#""out":3"#) && balance.contains(r#""not_sent":3"#), "{balance}");
    switch.ok(&["ports", "remove", "9"]);
}

#[test]
fn captures_are_added_and_are_whole_when_they_are_removed() {
    let Some(switch) = bare("captures", &[&objects()]) else { return };
    let output = switch.folder.join("out.pcap");
    switch.ok(&["ports", "add", &format!("4=pcap:,{}", output.display()), "5=pcap:"]);
    send(&switch, 4);
    until(|| value(&switch, "4", "packets_out").as_deref() == Some("1"));
    assert!(!output.exists(), "it gets its name at the end");
    switch.ok(&["ports", "remove", "4", "5"]);
    assert_eq!(fs::metadata(&output).unwrap().len(), 24 + 16 + 14);
}

#[test]
fn ports_that_cannot_be_added_are_refused_with_the_reason() {
    let Some(switch) = bare("refused", &[&objects(), "--port", "1=net_ring0"]) else { return };
    let refused = |port: &str, reason: &str| {
        let (code, said) = switch.fails(&["ports", "add", port]);
        assert!(code == 1 && said.starts_with("error: ") && said.contains(reason), "{port}: {said}");
        assert_eq!(said.matches("error:").count(), 1, "{said}");
    };
    refused("1=net_ring1", "port 1 is `net_ring0` already");
    refused("2=net_ring0", "both on `net_ring0`");
    refused("2=nosuch0", "no interface `nosuch0`");
    refused("2=pcap:/nosuch.pcap,", "/nosuch.pcap");
    refused("2=net_nosuch0", "port 2 cannot be opened");
    refused("2=0000:01:00.0", "DPDK takes NICs when it starts");
    refused("63=net_ring1", "--cpu-port 63");
    refused("512=net_ring1", "there is no port 512: port numbers have 9 bits in this program");
    refused("511=net_ring1", "port 511 is the drop port of this program");
    refused("70000=net_ring1", "ports have the numbers 0 to 65535");
    let (code, said) = switch.fails(&["ports", "remove", "7"]);
    assert_eq!((code, said.as_str()), (1, "error: the switch has no port `7`; its ports are 1 net_ring0\n"));
    for mistaken in [&["ports", "add"][..], &["ports", "add", "2"], &["ports", "add", "x=eth0"], &["ports", "remove"]] {
        assert_eq!(switch.fails(mistaken).0, 2, "{mistaken:?}");
    }
    assert_eq!(words(&switch.ok(&["ports"])).len(), 2, "all is as it was");
}

/// What a client names may be a file of the switch's user.
#[test]
fn ports_are_not_added_from_elsewhere() {
    if !has_dpdk() {
        return;
    }
    let address = "127.0.0.1:0";
    let switch = Switch::start_bare(&folder("elsewhere"), &[&objects(), "--p4runtime", address]);
    let listening = switch.p4runtime();
    for command in [&["ports", "add", "1=net_ring0"][..], &["ports", "remove", "1"]] {
        let (code, said) = switch.fails(&[&["--connect", listening], command].concat());
        assert!(code == 1 && said.contains("by the switch's Unix socket alone"), "{said}");
    }
}

/// Ports may come before the pipeline, or after it.
#[test]
fn a_switch_without_ports_and_program_waits_for_both() {
    let Some(switch) = bare("both", &[]) else { return };
    switch.ok(&["ports", "add", "1=net_ring0"]);
    switch.ok(&["pipeline", "push", &objects()]);
    send(&switch, 1);
    until(|| value(&switch, "1", "packets_in").as_deref() == Some("1"));
}

/// A program is checked against the ports that there are when it comes, not those of the start.
#[test]
fn a_program_that_cannot_name_a_port_that_was_added_is_refused() {
    let Some(switch) = bare("unnamed", &[]) else { return };
    switch.ok(&["ports", "add", "600=net_ring0"]);
    let (code, said) = switch.fails(&["pipeline", "push", &objects()]);
    assert!(code == 1 && said.contains("there is no port 600: port numbers have 9 bits"), "{said}");
    switch.ok(&["ports", "remove", "600"]);
    switch.ok(&["ports", "add", "1=net_ring0"]);
    switch.ok(&["pipeline", "push", &objects()]);
}

/// `bacus run`, within the namespace of the network in which that process is.
fn beside(switch: &Switch, arguments: &[&str]) -> Command {
    let mut command = Command::new("nsenter");
    command.args(["--preserve-credentials", "--user", "--net", "--target", &switch.process.id().to_string()]);
    command.arg(bacus().get_program()).arg("run").args(arguments);
    command.envs(bacus().get_envs().filter_map(|(name, value)| Some((name, value?))));
    command
}

/// A switch in a namespace of its own, with both ends of a cable; none where that needs rights that are missing.
fn with_cable(name: &str, environment: &[(&str, &str)]) -> Option<Switch> {
    let ends = "ip link add end1 addrgenmode none type veth peer name end2 && ip link set end2 addrgenmode none && \
                ip link set end1 up && ip link set end2 up || exit 9; exec \"$@\"";
    let namespace = ["-r", "-n", "sh", "-c", ends, "sh"];
    let made = Command::new("unshare").args(namespace).arg("true").output();
    if !made.as_ref().is_ok_and(|made| made.status.success()) {
        eprintln!("skipped: no network namespaces here: {made:?}");
        return None;
    }
    let mut command = Command::new("unshare");
    command.args(namespace).arg(bacus().get_program()).args(["run", &objects(), "--cpu-port", "63"]);
    command.envs(bacus().get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.envs(environment.iter().copied());
    Some(Switch::ready(&folder(name), command))
}

/// As where only the package and a C compiler are installed.
#[test]
fn interfaces_are_added_and_carry_packets_where_dpdk_is_missing() {
    let without_dpdk = [("PKG_CONFIG_LIBDIR", "/proc/none")];
    let Some(switch) = with_cable("cable-without-dpdk", &without_dpdk) else { return };
    assert!(
        switch.said.contains("note: ports that are added can be interfaces of the kernel alone"),
        "{}",
        switch.said
    );
    switch.ok(&["ports", "add", "1=end1", "2=end2"]);
    let is_up = |port| value(&switch, port, "link").as_deref() == Some("up");
    until(|| is_up("1") && is_up("2"));
    send(&switch, 1);
    until(|| value(&switch, "2", "packets_in").as_deref() == Some("1"));
    let (code, said) = switch.fails(&["ports", "add", "3=net_ring0"]);
    assert!(code == 1 && said.contains("net_ring0"), "{said}");
}

#[test]
fn interfaces_of_the_kernel_come_and_go_while_the_switch_runs() {
    let Some(switch) = with_cable("cable", &[]) else { return };
    let is = |port: &str, column: &str, expected: &str| value(&switch, port, column).as_deref() == Some(expected);
    let others_warning = |name: &str| {
        let other = Switch::ready(&folder(name), beside(&switch, &[&objects(), "--port", "7=end1"]));
        other.said.contains("port 7: another switch is on interface `end1`")
    };
    switch.ok(&["ports", "add", "1=end1", "2=end2"]);
    until(|| is("1", "link", "up") && is("2", "link", "up"));
    send(&switch, 1);
    until(|| is("2", "packets_in", "1"));
    send(&switch, 2);
    until(|| is("1", "packets_in", "1"));
    assert!(others_warning("cable-claimed"));
    switch.ok(&["ports", "remove", "end1"]);
    send(&switch, 2);
    until(|| is("2", "packets_out", "2"));
    assert_eq!(value(&switch, "1", "link"), None);
    assert!(!others_warning("cable-free"), "it was given back");
    // A number and an interface are free for each other again.
    switch.ok(&["ports", "add", "3=end1"]);
    send(&switch, 3);
    until(|| is("2", "packets_in", "2"));
    assert!(is("3", "packets_in", "0") && is("3", "packets_out", "1"));
}

/// It would end by itself if no controller could come.
#[test]
fn a_switch_on_captures_waits_for_its_controllers() {
    for program in [&[][..], &[objects().as_str()]] {
        let arguments = [program, &["--port", "1=pcap:,"]].concat();
        let Some(mut switch) = bare("captures-wait", &arguments) else { return };
        switch.ok(&["pipeline", "push", &objects()]);
        // A switch whose captures are at their end ends 0.2 seconds later.
        std::thread::sleep(std::time::Duration::from_millis(700));
        assert!(switch.process.try_wait().unwrap().is_none(), "{program:?}");
        switch.ok(&["tables"]);
    }
}
