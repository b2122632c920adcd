//! Entries and packets of many from a few lines of STF: a line with a word in braces becomes as many lines as there are such things.
//!
//! `{route}`, `{route6}` and `{route128}` (IPv4 in 128 bits) are prefixes, `{host}` hosts of 11.0.0.0/8, `{hop}` next hops, `{rule}` rules. A route's
//! line may name its next hop. In `packet` lines, `{ip}`, `{ip6}` and `{ip_host}` are UDP packets to a route or a host, drawn for each, and
//! `{tcp}` is a TCP packet to a route.

use super::frames;
use super::prefixes::{self, Prefix, inside};
use super::routers::ipv6_prefixes;
use crate::traffic::SEED;
use driver::random::Random;

/// How many lines a line becomes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counts {
    pub routes: u64,
    pub hops: u64,
    pub rules: u64,
    /// Nine packets of ten go to the first route, or host.
    pub is_skewed: bool,
}

/// Of the payload behind UDP's and TCP's header: frames have 64 bytes with Ethernet's header.
const PAYLOAD_BYTES: usize = 18;
const UDP_BYTES: u16 = 8 + PAYLOAD_BYTES as u16;
const TCP_PAYLOAD_BYTES: usize = 6;
/// Packets go to this port. It is beyond the numbers of all rules, so that no rule matches.
const DST_PORT: u16 = 4433;
/// A TCP packet in so many begins a connection.
const CONNECTION_PACKETS: u64 = 8;
/// Packets to a route, and at least.
const PACKETS_TO_A_ROUTE: u64 = 4;
const FEWEST_PACKETS: u64 = 4096;
const HOSTS: u32 = 0x0b00_0001;

/// The lines of entries, then those of packets.
pub fn expand(template: &str, counts: Counts) -> (String, String) {
    let lines = template.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (packets, entries): (Vec<&str>, Vec<&str>) = lines.partition(|line| line.starts_with("packet "));
    let routes = Routes::new(counts, template);
    let entries: String = entries.into_iter().flat_map(|line| routes.entries(line, counts)).collect();
    let mut random = Random::new(SEED);
    let count = if packets.is_empty() { 0 } else { (counts.routes * PACKETS_TO_A_ROUTE).max(FEWEST_PACKETS) };
    // Kinds of packets are drawn, too: a core learns an order that repeats.
    let packets = (0..count).map(|_| {
        let line = packets[random.below(packets.len() as u64) as usize];
        routes.packet(line, &mut random) + "\n"
    });
    let packets = packets.collect();
    (entries, packets)
}

struct Routes {
    hosts: u64,
    ipv4: Vec<Prefix>,
    ipv6: Vec<(u64, u32)>,
    is_skewed: bool,
}

impl Routes {
    fn new(counts: Counts, template: &str) -> Routes {
        let wanted = |word: &str| if template.contains(word) { counts.routes } else { 0 };
        let count = wanted("{ip}").max(wanted("{tcp}")).max(wanted("{route}")).max(wanted("{route128}"));
        Routes {
            hosts: counts.routes,
            ipv4: prefixes::made(count),
            ipv6: ipv6_prefixes(wanted("{ip6}").max(wanted("{route6}"))),
            is_skewed: counts.is_skewed,
        }
    }

    /// What a line becomes.
    fn entries(&self, line: &str, counts: Counts) -> Vec<String> {
        let of_hop = |line: String, number: u64| line.replace("{hop}", &(1 + number % counts.hops).to_string()) + "\n";
        if line.contains("{route}") {
            let route = |(number, route): (u64, &Prefix)| {
                let written = format!("0x{:08x}/{}", route.address, route.length);
                of_hop(line.replace("{route}", &written), number)
            };
            return (0..).zip(&self.ipv4).map(route).collect();
        }
        if line.contains("{route6}") {
            let route = |(number, (address, length)): (u64, &(u64, u32))| {
                let written = format!("0x{address:016x}0000000000000000/{length}");
                of_hop(line.replace("{route6}", &written), number)
            };
            return (0..).zip(&self.ipv6).map(route).collect();
        }
        if line.contains("{route128}") {
            let written = |route: &Prefix| format!("0x{:032x}/{}", route.address, 96 + route.length);
            return self.ipv4.iter().map(|route| line.replace("{route128}", &written(route)) + "\n").collect();
        }
        if line.contains("{host}") {
            let host = |number: u64| line.replace("{host}", &format!("0x{:08x}", HOSTS + number as u32)) + "\n";
            return (0..self.hosts).map(host).collect();
        }
        if line.contains("{rule}") {
            return (1..=counts.rules).map(|rule| line.replace("{rule}", &rule.to_string()) + "\n").collect();
        }
        if line.contains("{hop}") {
            return (0..counts.hops).map(|number| of_hop(line.to_string(), number)).collect();
        }
        vec![format!("{line}\n")]
    }

    /// Which of so many a packet is for.
    fn drawn(&self, count: u64, random: &mut Random) -> u64 {
        if self.is_skewed && random.below(10) > 0 { 0 } else { random.below(count) }
    }

    fn packet(&self, line: &str, random: &mut Random) -> String {
        let hex = |bytes: Vec<u8>| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let mut packet = line.to_string();
        let ports = [1_000 + random.below(1_000) as u16, DST_PORT];
        for (word, packet_of) in [("{ip}", udp as PacketOf), ("{tcp}", tcp)] {
            if packet.contains(word) && !self.ipv4.is_empty() {
                let dst = inside(self.ipv4[self.drawn(self.ipv4.len() as u64, random) as usize], random);
                packet = packet.replace(word, &hex(packet_of(dst, ports, random)));
            }
        }
        if packet.contains("{ip_host}") {
            let dst = HOSTS + self.drawn(self.hosts, random) as u32;
            packet = packet.replace("{ip_host}", &hex(udp(dst, ports, random)));
        }
        if packet.contains("{ip6}") && !self.ipv6.is_empty() {
            let (address, length) = self.ipv6[self.drawn(self.ipv6.len() as u64, random) as usize];
            let below = if length == 64 { 0 } else { random.below(1 << (64 - length)) };
            let (upper, lower) = ((address | below).to_be_bytes(), random.draw().to_be_bytes());
            let source = [&[0x20, 1, 0x0d, 0xb8][..], &[0; 11], &[1]].concat();
            // UDP without a checksum: no program of the list looks at it.
            let udp = [ports[0].to_be_bytes(), ports[1].to_be_bytes(), UDP_BYTES.to_be_bytes(), [0, 0]].concat();
            let fixed = [&[0x60, 0, 0, 0][..], &UDP_BYTES.to_be_bytes(), &[17, 64]].concat();
            packet = packet.replace(
                "{ip6}",
                &hex([fixed, source, upper.to_vec(), lower.to_vec(), udp, vec![0; PAYLOAD_BYTES]].concat()),
            );
        }
        packet
    }
}

/// An IPv4 packet to an address, with these ports.
type PacketOf = fn(u32, [u16; 2], &mut Random) -> Vec<u8>;

fn udp(dst: u32, ports: [u16; 2], random: &mut Random) -> Vec<u8> {
    let src = source(random);
    let (header, udp) = (frames::ipv4(src, dst, 17, 20 + UDP_BYTES), frames::udp(src, dst, ports, UDP_BYTES));
    [&header[..], &udp, &[0; PAYLOAD_BYTES]].concat()
}

/// Without a checksum: no program of the list looks at it.
fn tcp(dst: u32, ports: [u16; 2], random: &mut Random) -> Vec<u8> {
    const SYN: u8 = 0x02;
    const ACK: u8 = 0x10;
    let src = source(random);
    let flags = if random.below(CONNECTION_PACKETS) == 0 { SYN } else { ACK };
    let header = frames::ipv4(src, dst, 6, 40 + TCP_PAYLOAD_BYTES as u16);
    let [from, to] = ports.map(u16::to_be_bytes);
    [&header[..], &from, &to, &[0; 8], &[0x50, flags, 0xff, 0xff, 0, 0, 0, 0], &[0; TCP_PAYLOAD_BYTES]].concat()
}

fn source(random: &mut Random) -> u32 {
    0x0a00_0000 | random.draw() as u32 >> 8
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNTS: Counts = Counts { routes: 3, hops: 2, rules: 2, is_skewed: false };

    #[test]
    fn a_line_is_repeated_for_each_route_hop_or_rule() {
        let template = "
            # words
            add ports port:1 own()
            add routes dst:{route} via({hop})
            add hops id:{hop} send(port:{hop})
            add acl {rule} port:{rule} deny()
            add hosts dst:{host} known()
            add wide dst:{route128} known()";
        let (entries, packets) = expand(template, COUNTS);
        let lines: Vec<&str> = entries.lines().collect();
        assert_eq!((lines.len(), packets.as_str()), (1 + 3 + 2 + 2 + 3 + 3, ""));
        assert_eq!(lines[0], "add ports port:1 own()");
        assert!(
            lines[1].starts_with("add routes dst:0x") && lines[1].ends_with(" via(1)") && lines[3].ends_with(" via(1)")
        );
        assert_eq!(
            lines[4..8],
            [
                "add hops id:1 send(port:1)",
                "add hops id:2 send(port:2)",
                "add acl 1 port:1 deny()",
                "add acl 2 port:2 deny()"
            ]
        );
    }

    #[test]
    fn packets_go_to_the_routes_and_are_right() {
        let (entries, packets) =
            expand("add r d:{route} a({hop})\npacket 3 02 0800 {ip}\npacket 4 {ip6}\npacket 5 02 0800 {tcp}\n", COUNTS);
        assert_eq!(packets.lines().count() as u64, FEWEST_PACKETS);
        let routes: Vec<(u32, u32)> = entries
            .lines()
            .map(|line| {
                let (address, length) = line.split([':', ' ']).nth(3).unwrap().split_once('/').unwrap();
                (u32::from_str_radix(&address[2..], 16).unwrap(), length.parse().unwrap())
            })
            .collect();
        for line in packets.lines().filter(|line| line.contains(" 02 0800 ")) {
            let bytes: Vec<u8> = line.as_bytes()[17..]
                .chunks(2)
                .map(|two| u8::from_str_radix(std::str::from_utf8(two).unwrap(), 16).unwrap())
                .collect();
            assert_eq!(bytes.len(), 46);
            assert_eq!(bytes[9], if line.starts_with("packet 5") { 6 } else { 17 });
            // No rule of the scoreboard has so large a number.
            assert!(u16::from_be_bytes([bytes[22], bytes[23]]) > 100);
            let sum: u32 = bytes[..20].chunks(2).map(|two| u32::from(two[0]) << 8 | u32::from(two[1])).sum();
            assert_eq!((sum & 0xffff) + (sum >> 16), 0xffff);
            let dst = u32::from_be_bytes([bytes[16], bytes[17], bytes[18], bytes[19]]);
            assert!(routes.iter().any(|(address, length)| (dst ^ address) >> (32 - length) == 0), "{dst:x}");
        }
        assert!(packets.lines().any(|line| line.starts_with("packet 4 60000000") && line.len() == 9 + 2 * 66));
    }
}
