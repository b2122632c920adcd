//! Frames whose checksum or segmentation a host leaves to hardware leave the switch as they would a wire: each is worked out here once more, byte by byte.

use crate::command::{path, scratch};
use crate::namespaces::{Network, Switch, ip, mac, run};
use std::fs;

const TCP: u8 = 6;
const UDP: u8 = 17;
const SCTP: u8 = 132;
/// Kinds of segments, as virtio names them.
const NONE: u8 = 0;
pub const TCPV4: u8 = 1;
const TCPV6: u8 = 4;
const UDP_L4: u8 = 5;
const ECN: u8 = 0x80;

/// The sum of 16-bit words, not complemented.
fn sum(parts: &[&[u8]]) -> u16 {
    let bytes = parts.concat();
    let word = |pair: &[u8]| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0));
    let mut total: u32 = bytes.chunks(2).map(word).sum();
    while total >> 16 != 0 {
        total = (total & 0xffff) + (total >> 16);
    }
    total as u16
}

fn crc32c(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _: u32| if crc & 1 == 1 { crc >> 1 ^ 0x82f6_3b78 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}

/// A packet above Ethernet.
#[derive(Clone)]
pub struct Sent {
    ipv6: bool,
    protocol: u8,
    /// With the checksum at zero.
    transport: Vec<u8>,
    payload: Vec<u8>,
    identification: u16,
}

impl Sent {
    pub fn tcp(flags: u8, sequence: u32, payload: Vec<u8>) -> Sent {
        let transport =
            [&[0x12, 0x34, 0, 80][..], &sequence.to_be_bytes(), &[0, 0, 0, 9, 0x50, flags, 1, 0, 0, 0, 0, 0]];
        Sent { ipv6: false, protocol: TCP, transport: transport.concat(), payload, identification: 0xfffe }
    }

    fn udp(payload: Vec<u8>) -> Sent {
        let length = (8 + payload.len() as u16).to_be_bytes();
        let transport = [&[0x12, 0x34, 0, 53][..], &length, &[0, 0]].concat();
        Sent { ipv6: false, protocol: UDP, transport, payload, identification: 7 }
    }

    fn addresses(&self) -> Vec<u8> {
        if self.ipv6 { [[0x20; 16], [0x30; 16]].concat() } else { vec![10, 0, 0, 1, 10, 0, 0, 2] }
    }

    fn ip(&self) -> Vec<u8> {
        let bytes = (self.transport.len() + self.payload.len()) as u16;
        if self.ipv6 {
            let head = [&[0x60, 0, 0, 0][..], &bytes.to_be_bytes(), &[self.protocol, 64]].concat();
            return [head, self.addresses()].concat();
        }
        let head = [
            &[0x45, 0][..],
            &(20 + bytes).to_be_bytes(),
            &self.identification.to_be_bytes(),
            &[0, 0, 64, self.protocol],
        ];
        let (head, addresses) = (head.concat(), self.addresses());
        let checksum = !sum(&[&head, &addresses]);
        [&head[..], &checksum.to_be_bytes(), &addresses].concat()
    }

    /// Where the checksum is in the transport header.
    fn checksum_at(&self) -> usize {
        match self.protocol {
            UDP => 6,
            SCTP => 8,
            _ => 16,
        }
    }

    fn pseudo_header(&self) -> u16 {
        let bytes = (self.transport.len() + self.payload.len()) as u16;
        sum(&[&self.addresses(), &bytes.to_be_bytes(), &[0, self.protocol]])
    }

    fn frame(&self, tag: &[u8], checksum: &[u8]) -> Vec<u8> {
        let (to, from) = (mac(2).replace(':', ""), mac(1).replace(':', ""));
        let kind = if self.ipv6 { [0x86, 0xdd] } else { [8, 0] };
        let mut transport = self.transport.clone();
        transport[self.checksum_at()..][..checksum.len()].copy_from_slice(checksum);
        [&bytes(&to)[..], &bytes(&from), tag, &kind, &self.ip(), &transport, &self.payload].concat()
    }

    /// As the host hands it to its interface: with the sum of the pseudo-header only.
    pub fn begun(&self, tag: &[u8]) -> Vec<u8> {
        let begun = if self.protocol == SCTP { vec![0; 4] } else { self.pseudo_header().to_be_bytes().to_vec() };
        self.frame(tag, &begun)
    }

    /// As it goes over a wire.
    pub fn complete(&self, tag: &[u8]) -> Vec<u8> {
        if self.protocol == SCTP {
            return self.frame(tag, &crc32c(&[&self.transport[..], &self.payload].concat()).to_le_bytes());
        }
        let complete = !sum(&[&self.pseudo_header().to_be_bytes(), &self.transport, &self.payload]);
        let complete = if complete == 0 && self.protocol == UDP { u16::MAX } else { complete };
        self.frame(tag, &complete.to_be_bytes())
    }

    /// The packets of so many bytes that it is split into.
    pub fn segments(&self, each: usize) -> Vec<Sent> {
        let pieces: Vec<&[u8]> = self.payload.chunks(each).collect();
        let segment = |(number, piece): (usize, &&[u8])| {
            let mut segment = Sent { payload: piece.to_vec(), ..self.clone() };
            segment.identification = self.identification.wrapping_add(number as u16);
            if self.protocol == UDP {
                segment.transport[4..6].copy_from_slice(&(8 + piece.len() as u16).to_be_bytes());
                return segment;
            }
            let sequence = u32::from_be_bytes(self.transport[4..8].try_into().unwrap());
            segment.transport[4..8].copy_from_slice(&sequence.wrapping_add((number * each) as u32).to_be_bytes());
            // FIN and PSH are at the end, CWR at the beginning.
            let kept = if number + 1 < pieces.len() { !0x09 } else { !0 } & if number > 0 { !0x80 } else { !0 };
            segment.transport[13] &= kept;
            segment
        };
        pieces.iter().enumerate().map(segment).collect()
    }
}

fn bytes(hexadecimal: &str) -> Vec<u8> {
    (0..hexadecimal.len()).step_by(2).map(|at| u8::from_str_radix(&hexadecimal[at..at + 2], 16).unwrap()).collect()
}

pub fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A switch that knows both hosts.
fn switch(network: &Network) -> Switch {
    let entries = scratch("offloads").join("entries.stf");
    let entry =
        |host: usize| format!("add dmac hdr.ethernet.dst:0x{} forward(port:{host})\n", mac(host).replace(':', ""));
    fs::write(&entries, entry(1) + &entry(2)).unwrap();
    let ports = ["--json", "--port", "1=port1", "--port", "2=port2", "--entries", &entries.display().to_string()];
    Switch::of(network, "apps/l2fwd/l2fwd.p4", &ports)
}

/// Sends it with `tag`, to be cut into pieces of a size unless that is 0; what arrives at the other host must be what is expected.
fn passes(network: &Network, sent: &Sent, tag: &[u8], (kind, size): (u8, usize)) {
    let expected = if size == 0 { vec![sent.clone()] } else { sent.segments(size) };
    let expected: Vec<String> = expected.iter().map(|packet| hexadecimal(&packet.complete(tag))).collect();
    let begins = hexadecimal(&sent.begun(tag)[..14]);
    let listener = network.serve(2, &["capture", &begins, &expected.len().to_string(), "10"]);
    offload(network, sent, tag, (kind, size));
    let arrived = listener.end();
    assert_eq!(arrived.lines().collect::<Vec<&str>>(), expected, "protocol {} tag {tag:?} size {size}", sent.protocol);
}

/// Sends it by an interface of a namespace.
pub fn offload_by(
    (network, namespace, interface): (&Network, &str, &str),
    sent: &Sent,
    tag: &[u8],
    (kind, size): (u8, usize),
) {
    let start = 14 + tag.len() + sent.ip().len();
    let numbers = [0, usize::from(kind), size, start, sent.checksum_at()].map(|number| number.to_string());
    let frame = hexadecimal(&sent.begun(tag));
    let mut sends = network.inside(namespace, "python3");
    sends.arg(path("crates/cli/tests/network.py")).args(["offload", interface, &frame]).args(numbers);
    run(&mut sends).unwrap();
}

fn offload(network: &Network, sent: &Sent, tag: &[u8], how: (u8, usize)) {
    offload_by((network, &network.hosts[0], "eth0"), sent, tag, how);
}

/// The switch hands several segments to the kernel as one. Where an interface takes no such frame, the kernel makes the segments, as a device would.
pub fn cut_in_the_kernel(network: &Network, port: &str) {
    let script = path("crates/cli/tests/network.py");
    run(network.inside(&network.switch, "python3").arg(script).args(["without_offloads", port])).unwrap();
}

pub fn payload(count: usize) -> Vec<u8> {
    (0..count).map(|at| (at * 7 + at / 256) as u8).collect()
}

#[test]
fn checksums_and_segments_are_made_as_hardware_would() {
    let Some(network) = Network::new(2, 1500) else { return };
    cut_in_the_kernel(&network, "port2");
    let switch = switch(&network);
    let v6 = |sent: Sent| Sent { ipv6: true, ..sent };
    let sctp =
        Sent { protocol: SCTP, transport: vec![0x12, 0x34, 0, 9, 0, 0, 0, 1, 0, 0, 0, 0], ..Sent::udp(payload(33)) };
    // Its sum is 0xffff, of which UDP must not send the complement.
    let mut zero = Sent::udp(vec![0, 0]);
    let rest = !sum(&[&zero.pseudo_header().to_be_bytes(), &zero.transport]);
    zero.payload = rest.to_be_bytes().to_vec();
    assert_eq!(zero.complete(&[])[40..42], [0xff, 0xff]);
    let (tag, outer) = ([0x81, 0, 0x20, 7], [0x88, 0xa8, 0x60, 5, 0x81, 0, 0x20, 7]);
    for tag in [&[][..], &tag, &outer] {
        for sent in [
            Sent::tcp(0x18, 5, payload(101)),
            Sent::udp(payload(64)),
            v6(Sent::tcp(0x10, 5, payload(9))),
            sctp.clone(),
            zero.clone(),
        ] {
            passes(&network, &sent, tag, (NONE, 0));
        }
        // The last one is shorter; sequence and identification numbers pass their ends.
        let tcp = Sent::tcp(0x99, u32::MAX - 150, payload(2550));
        passes(&network, &tcp, tag, (TCPV4 | ECN, 500));
        passes(&network, &v6(tcp), tag, (TCPV6 | ECN, 500));
        passes(&network, &Sent::udp(payload(1300)), tag, (UDP_L4, 400));
    }
    // Longer than a slot of the small ring.
    passes(&network, &Sent::tcp(0x10, 1, payload(30_000)), &[], (TCPV4, 1448));
    let account = switch.account();
    account.is_balanced(0);
    assert_eq!(account.ports("errors"), 0, "{account:?}");
}

#[test]
fn segments_that_follow_each_other_leave_as_one_frame() {
    let Some(network) = Network::new(2, 1500) else { return };
    network.silence();
    let switch = switch(&network);
    let whole = Sent::tcp(0x18, 5, payload(2300));
    // From one super-frame they are in one burst.
    let begins = hexadecimal(&whole.begun(&[])[..14]);
    let listener = network.serve(2, &["capture", &begins, "1", "10"]);
    offload(&network, &whole, &[], (TCPV4, 500));
    // As a host hands it to its interface, but for the numbers that stand for all segments.
    assert_eq!(listener.end().trim_end(), hexadecimal(&whole.begun(&[])));
    let account = switch.account();
    account.is_balanced(0);
    assert_eq!(account.port(2, "sent"), 5, "{account:?}");
}

/// A super-frame of more than 64 KB, which only a host makes that is configured so: it fits no slot, and half of it is not passed on.
#[test]
fn what_fits_no_slot_is_an_error() {
    let Some(network) = Network::new(2, 1500) else { return };
    if let Err(reason) = ip(&["-n", &network.hosts[0], "link", "set", "eth0", "gso_max_size", "150000"]) {
        eprintln!("skipped: super-frames have at most 64 KB here: {reason}");
        return;
    }
    network.silence();
    let switch = switch(&network);
    let frame = hexadecimal(&Sent { ipv6: true, ..Sent::tcp(0x10, 1, Vec::new()) }.begun(&[]));
    network.does(1, &["offload", "eth0", &frame, "80000", &TCPV6.to_string(), "1400", "54", "16"]);
    std::thread::sleep(std::time::Duration::from_millis(300));
    let account = switch.account();
    assert_eq!((account.port(1, "errors"), account.port(2, "sent")), (1, 0), "{account:?}");
    account.is_balanced(0);
}

/// TCP within VXLAN: the tunnel's headers are in front of each segment.
#[test]
fn tcp_goes_through_tunnels() {
    let Some(network) = Network::new(2, 1500) else { return };
    let switch = switch(&network);
    let neighbour = |host: usize, other: usize, network: &Network| {
        for address in [format!("10.0.0.{other}"), format!("fd00::{other}")] {
            ip(&[
                "-n",
                &network.hosts[host - 1],
                "neighbour",
                "replace",
                &address,
                "lladdr",
                &mac(other),
                "dev",
                "eth0",
            ])
            .unwrap();
        }
    };
    neighbour(1, 2, &network);
    neighbour(2, 1, &network);
    for (number, (remote, checksum)) in
        [("10.0.0.", "noudpcsum"), ("10.0.0.", "udpcsum"), ("fd00::", "udp6zerocsumrx")].into_iter().enumerate()
    {
        for host in [1, 2] {
            let (name, id, there) =
                (format!("tunnel{number}"), (7 + number).to_string(), format!("{remote}{}", 3 - host));
            let port = (4789 + number).to_string();
            let space = &network.hosts[host - 1];
            let made = [
                "-n", space, "link", "add", &name, "type", "vxlan", "id", &id, "dstport", &port, "remote", &there,
                "dev", "eth0", checksum,
            ];
            if let Err(reason) = ip(&made) {
                eprintln!("skipped: no VXLAN here: {reason}");
                return;
            }
            ip(&["-n", space, "address", "add", &format!("10.{}.0.{host}/24", 7 + number), "dev", &name]).unwrap();
            ip(&["-n", space, "link", "set", &name, "up"]).unwrap();
        }
        let address = format!("10.{}.0.2", 7 + number);
        let server = network.serve(2, &["serve", &address]);
        network.does(1, &["send", &address, "4194304"]);
        server.end();
    }
    let account = switch.account();
    assert_eq!(account.ports("errors"), 0, "{account:?}");
    assert!(account.port(2, "sent_bytes") / account.port(2, "sent") <= 1514, "{account:?}");
}
