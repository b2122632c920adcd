//! What each application is measured with: entries, and traffic drawn uniformly from them.
//!
//! A trace has at least four packets an entry (at most 16 million): a short one makes any table small. Each packet is a frame of the
//! application with some bytes of its own laid over it.

use super::random::{Random, scattered};
use hlir::Match;
use num_bigint::BigUint;
use runtime::Trace;
use std::sync::Arc;

const SHORTEST_TRACE: u64 = 1 << 16;
const LONGEST_TRACE: u64 = 1 << 24;
const SEED: u64 = 1;
/// Ports that packets leave by, and the next hops of a router.
const PORTS: u64 = 64;
const NEXTHOPS: u64 = 200;
const ROUTER: u64 = 0x02_00_00_00_00_01;

/// An entry by the names that the source has; the end of a full name is enough.
pub struct Write {
    pub table: &'static str,
    pub matches: Vec<Match>,
    pub priority: u32,
    pub action: &'static str,
    pub arguments: Vec<BigUint>,
}

pub struct Workload {
    pub app: &'static str,
    pub source: &'static str,
    /// Entries of the tables that grow.
    pub entries: u64,
    pub writes: Vec<Write>,
    pub trace: Arc<Trace>,
}

/// An application and the sizes that it is measured at.
pub struct Application {
    pub name: &'static str,
    pub sizes: &'static [u64],
    pub build: fn(u64) -> Workload,
}

pub const APPLICATIONS: &[Application] = &[
    Application { name: "l2fwd", sizes: &[256, 65_536, 1 << 20], build: l2fwd },
    Application { name: "ipv4fwd", sizes: &[4, 1_000, 100_000, 900_000], build: ipv4fwd },
    Application { name: "ipv6fwd", sizes: &[1_000, 200_000], build: ipv6fwd },
    Application { name: "l2l3acl", sizes: &[256, 65_536], build: l2l3acl },
    Application { name: "mpls", sizes: &[256], build: mpls },
    Application { name: "firewall", sizes: &[16, 100, 1_000], build: firewall },
];

fn exact(value: u64) -> Match {
    Match::Exact(BigUint::from(value))
}

fn numbers(values: &[u64]) -> Vec<BigUint> {
    values.iter().map(|value| BigUint::from(*value)).collect()
}

fn write(table: &'static str, matches: Vec<Match>, action: &'static str, arguments: &[u64]) -> Write {
    Write { table, matches, priority: 0, action, arguments: numbers(arguments) }
}

fn trace_length(entries: u64) -> u64 {
    (4 * entries).clamp(SHORTEST_TRACE, LONGEST_TRACE)
}

/// An individual address, never the router's.
fn station(number: u64) -> u64 {
    number & 0xfcff_ffff_ffff | 0x0200_0000_0000
}

fn mac(address: u64) -> [u8; 6] {
    let bytes = address.to_be_bytes();
    [bytes[2], bytes[3], bytes[4], bytes[5], bytes[6], bytes[7]]
}

fn ethernet(dst: u64, src: u64, kind: u16) -> Vec<u8> {
    [&mac(dst)[..], &mac(src), &kind.to_be_bytes()].concat()
}

/// A packet of `length` bytes with a right checksum.
fn ipv4(src: u32, dst: u32, protocol: u8, length: u16) -> Vec<u8> {
    let mut header = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0];
    header[2..4].copy_from_slice(&length.to_be_bytes());
    header.extend(src.to_be_bytes());
    header.extend(dst.to_be_bytes());
    let checksum = checksum(&header);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    header
}

fn checksum(header: &[u8]) -> u16 {
    let sum: u32 = header.chunks(2).map(|word| u32::from(u16::from_be_bytes([word[0], word[1]]))).sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    !((sum + (sum >> 16)) as u16)
}

fn padded(mut frame: Vec<u8>, length: usize) -> Vec<u8> {
    frame.resize(length, 0);
    frame
}

/// A trace of one frame; `own` makes bytes `from..from + count` of each packet.
fn trace(
    frame: Vec<u8>,
    packets: u64,
    (from, count): (u32, u32),
    mut own: impl FnMut(&mut Random) -> Vec<u8>,
) -> Arc<Trace> {
    let mut random = Random::new(SEED);
    let mut overlays = Vec::with_capacity((packets * u64::from(count)) as usize);
    for _ in 0..packets {
        let bytes = own(&mut random);
        debug_assert_eq!(bytes.len(), count as usize);
        overlays.extend_from_slice(&bytes[..count as usize]);
    }
    Arc::new(Trace::new([(1u16, frame.as_slice())]).overlay(Vec::new(), from, count, &overlays))
}

fn l2fwd(entries: u64) -> Workload {
    let stations: Vec<u64> = scattered(entries, 40, SEED).map(station).collect();
    let mut writes = Vec::new();
    for (number, address) in (0u64..).zip(&stations) {
        writes.push(write("smac", vec![exact(*address)], "NoAction", &[]));
        writes.push(write("dmac", vec![exact(*address)], "forward", &[number % PORTS]));
    }
    let frame = padded(ethernet(0, 0, 0x0800), 64);
    let trace = trace(frame, trace_length(entries), (0, 12), |random| {
        let pick = |random: &mut Random| mac(stations[random.below(entries) as usize]);
        [pick(random), pick(random)].concat()
    });
    Workload { app: "l2fwd", source: "apps/l2fwd/l2fwd.p4", entries, writes, trace }
}

/// Prefix lengths in a table of the Internet, in percent: most are /24, then /22 to /20.
const LENGTHS: [(u32, u64); 8] = [(24, 58), (22, 13), (23, 10), (21, 6), (20, 5), (19, 4), (16, 2), (18, 2)];

/// Different prefixes, with lengths as in a real table.
fn prefixes(count: u64) -> Vec<(u32, u32)> {
    let mut random = Random::new(SEED);
    let mut seen = std::collections::HashSet::new();
    let mut prefixes = Vec::new();
    while (prefixes.len() as u64) < count {
        let mut draw = random.below(100);
        let mut length = 24;
        for (candidate, share) in LENGTHS {
            length = candidate;
            if draw < share {
                break;
            }
            draw -= share;
        }
        // Allocated space is dense: addresses between 1.0.0.0 and 223.255.255.255.
        let address = (0x0100_0000 + random.below(0xdf00_0000 - 0x0100_0000)) as u32 >> (32 - length) << (32 - length);
        if seen.insert((address, length)) {
            prefixes.push((address, length));
        }
    }
    prefixes
}

fn inside((address, length): (u32, u32), random: &mut Random) -> u32 {
    address | random.below(1 << (32 - length)) as u32
}

fn nexthop(number: u64) -> [u64; 3] {
    let hop = number % NEXTHOPS;
    [hop % PORTS, station(0x1000 + hop), station(0x2000 + hop)]
}

fn ipv4_routes(
    table: &'static str,
    action: &'static str,
    prefixes: &[(u32, u32)],
    data: impl Fn(u64) -> Vec<u64>,
) -> Vec<Write> {
    let route = |(number, &(address, length)): (u64, &(u32, u32))| {
        let matches = vec![Match::Lpm { value: BigUint::from(address), prefix: length }];
        write(table, matches, action, &data(number))
    };
    (0u64..).zip(prefixes).map(route).collect()
}

fn ipv4fwd(entries: u64) -> Workload {
    let prefixes = prefixes(entries);
    let writes = ipv4_routes("routes", "forward", &prefixes, |number| nexthop(number).to_vec());
    let frame = padded([ethernet(ROUTER, station(7), 0x0800), ipv4(0, 0, 17, 46)].concat(), 64);
    // Checksum, source and destination of each packet.
    let trace = trace(frame, trace_length(entries), (24, 10), |random| {
        let dst = inside(prefixes[random.below(entries) as usize], random);
        ipv4(random.next() as u32, dst, 17, 46)[10..20].to_vec()
    });
    Workload { app: "ipv4fwd", source: "apps/ipv4fwd/ipv4fwd.p4", entries, writes, trace }
}

fn ipv6fwd(entries: u64) -> Workload {
    let mut random = Random::new(SEED);
    let prefixes: Vec<(u64, u32)> = scattered(entries, 45, SEED)
        .map(|number| {
            let length = 48 + random.below(17) as u32;
            // The number fills the first 48 bits, so prefixes differ whatever their lengths; 2000::/3 is what is routed.
            ((0x2000_0000_0000 | number) << 16 | random.below(1 << 16) >> (64 - length) << (64 - length), length)
        })
        .collect();
    let route = |(number, &(address, length)): (u64, &(u64, u32))| {
        let matches = vec![Match::Lpm { value: BigUint::from(address) << 64, prefix: length }];
        write("routes", matches, "forward", &nexthop(number))
    };
    let writes = (0u64..).zip(&prefixes).map(route).collect();
    let mut frame = ethernet(ROUTER, station(7), 0x86dd);
    frame.extend([0x60, 0, 0, 0, 0, 24, 59, 64]);
    let frame = padded(frame, 78);
    let trace = trace(frame, trace_length(entries), (38, 16), |random| {
        let (address, length) = prefixes[random.below(entries) as usize];
        let upper = if length == 64 { address } else { address | random.below(1 << (64 - length)) };
        [upper.to_be_bytes(), random.next().to_be_bytes()].concat()
    });
    Workload { app: "ipv6fwd", source: "apps/ipv6fwd/ipv6fwd.p4", entries, writes, trace }
}

/// Every packet is routed: all seven tables are read. `entries` stations and routes, 100 rules of which none denies.
fn l2l3acl(entries: u64) -> Workload {
    let stations: Vec<u64> = scattered(entries, 40, SEED).map(station).collect();
    let prefixes = prefixes(entries);
    let mut writes = vec![write("vlans", vec![exact(1)], "set_vlan", &[10])];
    writes.push(write("dmac", vec![exact(10), exact(ROUTER)], "route", &[]));
    for address in &stations {
        writes.push(write("smac", vec![exact(10), exact(*address)], "NoAction", &[]));
        writes.push(write("dmac", vec![exact(10), exact(*address)], "bridge", &[address % PORTS]));
    }
    writes.extend(ipv4_routes("routes", "set_nexthop", &prefixes, |number| vec![number % NEXTHOPS]));
    for hop in 0..NEXTHOPS {
        let [port, dst, src] = nexthop(hop);
        writes.push(write("nexthops", vec![exact(hop)], "send", &[port, hop]));
        writes.push(write("rewrites", vec![exact(hop)], "rewrite", &[src, dst]));
    }
    for (priority, port) in (1u32..=100).zip(20_000u64..) {
        let ternary = |value: u64, mask: u64| Match::Ternary { value: value.into(), mask: mask.into() };
        let matches = vec![Match::Any, Match::Any, ternary(17, 0xff), Match::Any, ternary(port, 0xffff)];
        writes.push(Write { table: "acl", matches, priority, action: "permit", arguments: Vec::new() });
    }
    let ports = [0x27u8, 0x10, 0x4e, 0x20, 0, 26, 0, 0];
    let frame = padded([ethernet(ROUTER, 0, 0x0800), ipv4(0, 0, 17, 46), ports.to_vec()].concat(), 64);
    // Source address, then the IPv4 header with its checksum, up to the destination port.
    let trace = trace(frame, trace_length(entries), (6, 32), |random| {
        let src = mac(stations[random.below(entries) as usize]);
        let dst = inside(prefixes[random.below(entries) as usize], random);
        let port = 20_000 + random.below(100) as u16;
        let header = ipv4(random.next() as u32, dst, 17, 46);
        [&src[..], &0x0800u16.to_be_bytes(), &header, &1000u16.to_be_bytes(), &port.to_be_bytes()].concat()
    });
    Workload { app: "l2l3acl", source: "apps/l2l3acl/l2l3acl.p4", entries, writes, trace }
}

/// Labels are swapped: layer 2, label, next hop and access list are read.
fn mpls(entries: u64) -> Workload {
    let mut writes = vec![write("dmac", vec![exact(ROUTER)], "mine", &[])];
    for label in 0..entries {
        writes.push(write("labels", vec![exact(16 + label)], "swap", &[1_000 + label, label % NEXTHOPS]));
    }
    for hop in 0..NEXTHOPS {
        writes.push(write("nexthops", vec![exact(hop)], "send", &nexthop(hop)));
    }
    for priority in 1..=4u32 {
        let port = Match::Ternary { value: BigUint::from(100 + priority), mask: BigUint::from(0x1ffu32) };
        let matches = vec![port, Match::Any, Match::Any, Match::Any, Match::Any];
        writes.push(Write { table: "acl", matches, priority, action: "deny", arguments: Vec::new() });
    }
    let label = [0u8, 1, 1, 64];
    let frame = padded([ethernet(ROUTER, station(7), 0x8847), label.to_vec(), ipv4(1, 2, 17, 64)].concat(), 82);
    let trace = trace(frame, trace_length(entries), (14, 4), |random| {
        let label = 16 + random.below(entries) as u32;
        (label << 12 | 1 << 8 | 64).to_be_bytes().to_vec()
    });
    Workload { app: "mpls", source: "apps/mpls/mpls.p4", entries, writes, trace }
}

/// Each packet is permitted by a rule drawn at random; rules tell each other apart by destination and port.
fn firewall(entries: u64) -> Workload {
    let destination = |rule: u64| 0x0a00_0000 | (rule as u32) << 8;
    let mut writes = vec![write("pairs", vec![exact(1)], "cross", &[2])];
    for rule in 0..entries {
        let dst = Match::Ternary { value: destination(rule).into(), mask: 0xffff_ff00u32.into() };
        let protocol = Match::Ternary { value: 17u32.into(), mask: 0xffu32.into() };
        let port = Match::Range { low: 1_000u32.into(), high: 2_000u32.into() };
        let matches = vec![Match::Any, dst, protocol, Match::Any, port];
        writes.push(Write {
            table: "rules",
            matches,
            priority: 1 + rule as u32,
            action: "permit",
            arguments: Vec::new(),
        });
    }
    let frame = padded([ethernet(station(8), station(7), 0x0800), ipv4(0, 0, 17, 46)].concat(), 64);
    let trace = trace(frame, SHORTEST_TRACE, (24, 14), |random| {
        let dst = destination(random.below(entries)) | random.below(256) as u32;
        let port = 1_000 + random.below(1_001) as u16;
        let header = ipv4(random.next() as u32, dst, 17, 46);
        [&header[10..20], &40_000u16.to_be_bytes()[..], &port.to_be_bytes()].concat()
    });
    Workload { app: "firewall", source: "apps/firewall/firewall.p4", entries, writes, trace }
}
