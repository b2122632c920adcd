//! Switches under BMv2's names take frames that others send at their interfaces, as libpcap gives them to BMv2. What such a switch sends itself never comes
//! back, whatever the kernel makes of it.

use crate::command::{bacus, scratch};
use crate::namespaces::{Network, Server, run};
use crate::offloads::{Sent, TCPV4, cut_in_the_kernel, hexadecimal, offload_by, payload};
use crate::switch::{ctl, folder, until};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::PathBuf;
use std::process::{Child, Stdio};

/// Sends what comes from one port to the other one.
const WIRE: &str = "\
#include <v1model.p4>
struct none { }
parser parse(packet_in p, out none h, inout none m, inout standard_metadata_t s) { state start { transition accept; } }
control check(inout none h, inout none m) { apply { } }
control ingress(inout none h, inout none m, inout standard_metadata_t s) { apply { s.egress_spec = 3 - s.ingress_port; } }
control egress(inout none h, inout none m, inout standard_metadata_t s) { apply { } }
control deparse(packet_out p, in none h) { apply { } }
V1Switch(parse(), check(), ingress(), egress(), check(), deparse()) main;
";

/// `simple_switch` between two hosts.
struct Wire {
    process: Child,
    /// Where its user's socket is.
    folder: PathBuf,
    network: Network,
}

impl Wire {
    fn new(name: &str) -> Option<Wire> {
        let network = Network::new(2, 1500)?;
        network.silence();
        let program = scratch(&format!("{name}-program")).join("wire.p4");
        fs::write(&program, WIRE).unwrap();
        let folder = folder(name);
        let mut command = network.inside(&network.switch, "bash");
        command.args(["-c", "exec -a simple_switch \"$@\"", "bash", env!("CARGO_BIN_EXE_bacus")]);
        command.args(["-i", "1@port1", "-i", "2@port2", "--thrift-port", "9390"]).arg(&program);
        command
            .envs(bacus().get_envs().filter_map(|(name, value)| Some((name, value?))))
            .env("XDG_RUNTIME_DIR", &folder);
        let mut process = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(process.stdout.take().unwrap()).lines();
        assert!(lines.any(|line| line.unwrap().starts_with("Thrift server was started")));
        Some(Wire { process, folder, network })
    }

    /// The counts of its ports, as JSON.
    fn ports(&self) -> String {
        String::from_utf8(ctl(&self.folder).args(["--json", "ports"]).output().unwrap().stdout).unwrap()
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        drop(self.process.kill());
        drop(self.process.wait());
        drop(fs::remove_dir_all(&self.folder));
    }
}

/// A script sends on the switch's own side of a link.
#[test]
fn by_the_name_of_bmv2_frames_that_others_send_at_its_ports_come_in() {
    let Some(wire) = Wire::new("outgoing") else { return };
    let hosts = [1, 2].map(|number| wire.network.serve(number, &["capture", "5a5a5a", "3", "3"]));
    let frame = "02aa0000000202aa00000000".to_string() + "1234" + &"5a".repeat(50);
    let sends = format!(
        "import socket\ns = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0)\ns.bind(('port1', 0))\ns.send(bytes.fromhex('{frame}'))"
    );
    run(wire.network.inside(&wire.network.switch, "python3").args(["-c", &sends])).unwrap();
    assert_eq!(hosts.map(Server::end), [format!("{frame}\n"), format!("{frame}\n")]);
}

/// Of the segments that the kernel makes, only the last one has the socket that has sent them.
#[test]
fn by_the_name_of_bmv2_segments_do_not_come_back_from_an_interface_that_makes_none() {
    let Some(wire) = Wire::new("segments") else { return };
    cut_in_the_kernel(&wire.network, "port1");
    cut_in_the_kernel(&wire.network, "port2");
    let whole = Sent::tcp(0x18, 5, payload(2300));
    let begins = hexadecimal(&whole.begun(&[])[..14]);
    let hosts = [1, 2].map(|number| wire.network.serve(number, &["capture", &begins, "9", "3"]));
    offload_by((&wire.network, &wire.network.hosts[0], "eth0"), &whole, &[], (TCPV4, 500));
    let segments: String =
        whole.segments(500).iter().map(|segment| hexadecimal(&segment.complete(&[])) + "\n").collect();
    assert_eq!(hosts.map(Server::end), [String::new(), segments]);
}

/// What a host sends at its own interface may be longer than any frame of the wire.
#[test]
fn by_the_name_of_bmv2_frames_of_others_that_fit_no_slot_are_errors() {
    let Some(wire) = Wire::new("long") else { return };
    let whole = Sent::tcp(0x10, 1, payload(30_000));
    offload_by((&wire.network, &wire.network.switch, "port1"), &whole, &[], (TCPV4, 1448));
    until(|| wire.ports().lines().any(|line| line.contains("port1") && line.contains("\"errors\":1")));
}
