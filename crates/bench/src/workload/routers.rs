//! Applications of layer 3, and those whose tables are of rules or labels.

use super::frames::{NEXTHOPS, ROUTER, ethernet, host_address, ipv4, mac, nexthop, padded};
use super::prefixes::{self, Prefix, inside};
use super::{SHORTEST_TRACE, Shared, Sink, Traffic, Wishes, Workload, mixed_trace, stream, trace, trace_length};
use crate::entry::{Entry, Field, ones};
use crate::mix::Mix;
use crate::traffic::SEED;
use driver::failure::Failure;
use driver::random::{Random, scattered};
use std::collections::HashSet;
use std::sync::Arc;

/// `data` makes an action's arguments of a next hop.
pub fn add_routes(
    sink: &mut Sink<'_>,
    (table, action): (&'static str, &'static str),
    routes: &[Prefix],
    data: impl Fn(u64) -> Vec<u64>,
) -> Result<(), Failure> {
    for route in routes {
        let fields = [Field::Lpm { value: u128::from(route.address), prefix: route.length }];
        let arguments = data(u64::from(route.nexthop));
        sink(&Entry { table, fields: &fields, priority: 0, action, arguments: &arguments })?;
    }
    Ok(())
}

pub fn ipv4fwd(size: u64, wishes: &Wishes) -> Result<Workload, Failure> {
    let routes = wishes.rib.as_deref().map_or_else(|| Ok(prefixes::made(size)), |rib| prefixes::read(rib, size))?;
    let routes: Shared<Prefix> = Arc::new(routes);
    let (known, dropped) = (routes.clone(), u64::from(wishes.dropped));
    let packets = move |traffic: Traffic| {
        let frame = padded([&ethernet(ROUTER, host_address(7), 0x0800)[..], &ipv4(0, 0, 17, 46)].concat(), 64);
        // Time to live and protocol, checksum, source and destination of each packet.
        trace(frame, (trace_length(routes.len() as u64), traffic), (22, 12), |random, bytes| {
            let dst = inside(routes[traffic.draw(random, routes.len() as u64) as usize], random);
            let source = random.draw() as u32;
            bytes.copy_from_slice(&ipv4(source, dst, 17, 46)[8..]);
            if dropped != 0 && random.below(100) < dropped {
                spoil(bytes, source, random);
            }
        })
    };
    let stream = stream(known.len() as u64, 12);
    // A byte for each /24 that is routed, at best.
    let touched = (known.len() as u64 * 40).min(1 << 24);
    Ok(Workload {
        size: known.len() as u64,
        entries: Box::new(move |sink| add_routes(sink, ("routes", "forward"), &known, |hop| nexthop(hop).to_vec())),
        trace: Box::new(packets),
        lines: vec![(1.0, touched)],
        stream,
        ..Workload::of("ipv4fwd")
    })
}

/// Makes a packet one that is dropped: a wrong checksum, no time left to live, or no route (240.0.0.0/4 has none).
fn spoil(bytes: &mut [u8], source: u32, random: &mut Random) {
    match random.below(3) {
        0 => bytes[3] ^= 1,
        1 => {
            // One word less by 0x3f00 is the checksum more by as much.
            let sum = u32::from(u16::from_be_bytes([bytes[2], bytes[3]])) + 0x3f00;
            bytes[0] = 1;
            bytes[2..4].copy_from_slice(&((sum + (sum >> 16)) as u16).to_be_bytes());
        }
        _ => bytes.copy_from_slice(&ipv4(source, 0xf000_0000 | random.draw() as u32 >> 4, 17, 46)[8..]),
    }
}

/// Prefix lengths in a table of the Internet, in percent: allocations, and what their holders announce of them.
const IPV6_LENGTHS: [(u32, u64); 9] =
    [(48, 47), (32, 14), (44, 10), (40, 9), (36, 6), (46, 5), (64, 4), (29, 3), (56, 2)];
/// Prefixes to an allocation.
const IPV6_PER_HOLDER: u64 = 6;
/// Of as many holders, one announces prefixes longer than sites have: in a table of 2015, 164 of 10,072.
const IPV6_HOLDERS_TO_A_LONG: usize = 40;
const IPV6_SITE: u32 = 48;
/// Blocks of 16 bits that registries allocate from, the first ones much more: in that table 38.
const IPV6_BLOCKS: u64 = 40;

/// Allocations of 32 bits, all different, within the blocks.
fn ipv6_holders(count: u64, random: &mut Random) -> Vec<u64> {
    let blocks: Vec<u64> = scattered(IPV6_BLOCKS, 13, SEED).map(|block| 0x2000 | block).collect();
    let mut seen = HashSet::new();
    let mut holders = Vec::new();
    while (holders.len() as u64) < count {
        let block = random.below(IPV6_BLOCKS) * random.below(IPV6_BLOCKS) / IPV6_BLOCKS;
        let holder = blocks[block as usize] << 16 | random.below(1 << 16);
        if seen.insert(holder) {
            holders.push(holder);
        }
    }
    holders
}

/// Upper halves of addresses, and lengths: different prefixes within allocations.
pub fn ipv6_prefixes(count: u64) -> Vec<(u64, u32)> {
    let mut random = Random::new(SEED);
    let holders = ipv6_holders(count / IPV6_PER_HOLDER + 1, &mut random);
    let mut seen = HashSet::new();
    let mut prefixes = Vec::new();
    while (prefixes.len() as u64) < count {
        let mut draw = random.below(100);
        let mut length = IPV6_SITE;
        for (candidate, share) in IPV6_LENGTHS {
            length = candidate;
            if draw < share {
                break;
            }
            draw -= share;
        }
        let announcing =
            if length > IPV6_SITE { holders.len().div_ceil(IPV6_HOLDERS_TO_A_LONG) } else { holders.len() };
        let holder = holders[random.below(announcing as u64) as usize];
        let address = (holder << 32 | random.below(1 << 32)) >> (64 - length) << (64 - length);
        if seen.insert((address, length)) {
            prefixes.push((address, length));
        }
    }
    prefixes
}

/// Digits of six bits in a prefix of 48 bits.
const DIGITS: u32 = 8;

/// Prefixes of 48 bits. So many percent are random: below the third digit, their paths have no other prefix. Of the others, three or four share each digit.
pub fn compressible_prefixes(count: u64, percent: u32) -> Vec<(u64, u32)> {
    let mut random = Random::new(SEED);
    let mut seen = HashSet::new();
    let alone = count * u64::from(percent) / 100;
    let mut numbers = 0u64..;
    while (seen.len() as u64) < count {
        let is_alone = (seen.len() as u64) < alone;
        let address = if is_alone { random.below(1 << 48) } else { dense(numbers.next().unwrap_or_default()) };
        seen.insert(address);
    }
    let mut prefixes: Vec<(u64, u32)> = seen.into_iter().map(|address| (address << 16, 48)).collect();
    prefixes.sort_unstable();
    prefixes
}

/// Eight digits of which each has four values or three, in turn, so that each node of a trie has several children.
fn dense(mut number: u64) -> u64 {
    (0..DIGITS).fold(0, |address, digit| {
        let values = if digit % 2 == 0 { 4 } else { 3 };
        let value = number % values;
        number /= values;
        // The first digit of a walk varies slowest.
        address | (value * 16 + 5) << (6 * digit)
    })
}

/// Nodes of six bits on the way to a prefix, and of these how many remain where a node with one child only is merged with it: means over all prefixes.
pub fn trie_nodes(prefixes: &[(u64, u32)]) -> (f64, f64) {
    let mut children: HashSet<(u32, u64)> = HashSet::new();
    let head = |address: u64, digits: u32| if digits == 0 { 0 } else { address >> (64 - 6 * digits) };
    for (address, _) in prefixes {
        children.extend((0..=DIGITS).map(|digits| (digits, head(*address, digits))));
    }
    let has_several = |digits: u32, at: u64| {
        (0..64).filter(|digit| children.contains(&(digits + 1, at << 6 | digit))).take(2).count() == 2
    };
    let kept = |address: u64| (0..DIGITS).filter(|digits| has_several(*digits, head(address, *digits))).count();
    let sum: usize = prefixes.iter().map(|(address, _)| kept(*address)).sum();
    // The prefix itself ends in a node of its own.
    (f64::from(DIGITS) + 1.0, sum as f64 / prefixes.len().max(1) as f64 + 1.0)
}

fn add_routes_of_ipv6(
    sink: &mut Sink<'_>,
    (table, action): (&'static str, &'static str),
    routes: &[(u64, u32)],
) -> Result<(), Failure> {
    for (number, (address, prefix)) in (0u64..).zip(routes) {
        let fields = [Field::Lpm { value: u128::from(*address) << 64, prefix: *prefix }];
        sink(&Entry { table, fields: &fields, priority: 0, action, arguments: &nexthop(number) })?;
    }
    Ok(())
}

/// An address that the prefix has.
fn inside_of_ipv6((address, length): (u64, u32), random: &mut Random) -> [u8; 16] {
    let upper = if length == 64 { address } else { address | random.below(1 << (64 - length)) };
    (u128::from(upper) << 64 | u128::from(random.draw())).to_be_bytes()
}

pub fn ipv6fwd(size: u64, _: &Wishes) -> Result<Workload, Failure> {
    routed(size, ipv6_prefixes(size))
}

/// With prefixes whose paths can be compressed to this percentage.
pub fn ipv6fwd_of_sites(size: u64, percent: u32) -> Result<Workload, Failure> {
    routed(size, compressible_prefixes(size, percent))
}

fn routed(size: u64, prefixes: Vec<(u64, u32)>) -> Result<Workload, Failure> {
    let prefixes: Shared<(u64, u32)> = Arc::new(prefixes);
    let known = prefixes.clone();
    let entries = move |sink: &mut Sink<'_>| add_routes_of_ipv6(sink, ("routes", "forward"), &known);
    let packets = move |traffic: Traffic| {
        let mut frame = ethernet(ROUTER, host_address(7), 0x86dd);
        frame.extend([0x60, 0, 0, 0, 0, 24, 59, 64]);
        trace(padded(frame, 78), (trace_length(size), traffic), (38, 16), |random, bytes| {
            let prefix = prefixes[traffic.draw(random, size) as usize];
            bytes.copy_from_slice(&inside_of_ipv6(prefix, random));
        })
    };
    Ok(Workload {
        size,
        entries: Box::new(entries),
        trace: Box::new(packets),
        lines: vec![(2.0, size * 12)],
        stream: stream(size, 16),
        ..Workload::of("ipv6fwd")
    })
}

/// Of dualstack: from the TTL of IPv4 to the end of the destination of IPv6; a request of ARP has its sender there, and whom it asks for.
const DUALSTACK_OWN: (u32, u32) = (22, 32);
const BROADCAST: u64 = 0xffff_ffff_ffff;

/// Its frames of IPv4, IPv6 and ARP, without bytes of their own.
fn dualstack_frames() -> [Vec<u8>; 3] {
    let host = host_address(7);
    let six = [0x60, 0, 0, 0, 0, 24, 59, 64];
    let request = [0, 1, 8, 0, 6, 4, 0, 1];
    [
        padded([&ethernet(ROUTER, host, 0x0800)[..], &ipv4(0, 0, 17, 46)].concat(), 64),
        padded([&ethernet(ROUTER, host, 0x86dd)[..], &six].concat(), 78),
        padded([&ethernet(BROADCAST, host, 0x0806)[..], &request].concat(), 64),
    ]
}

/// As many routes of IPv4 as the size, and half as many of IPv6.
struct BothRoutes {
    ipv4: Shared<Prefix>,
    ipv6: Shared<(u64, u32)>,
}

impl BothRoutes {
    fn count(&self) -> u64 {
        (self.ipv4.len() + self.ipv6.len()) as u64
    }

    fn add(&self, sink: &mut Sink<'_>) -> Result<(), Failure> {
        add_routes(sink, ("routes4", "forward4"), &self.ipv4, |hop| nexthop(hop).to_vec())?;
        add_routes_of_ipv6(sink, ("routes6", "forward6"), &self.ipv6)
    }

    /// Fills in the bytes of a packet, and gives the number of its frame.
    fn packet(&self, mix: Mix, traffic: Traffic, random: &mut Random, bytes: &mut [u8]) -> usize {
        let family = random.below(100) as u32;
        if family < mix.ipv4 {
            let dst = inside(self.ipv4[traffic.draw(random, self.ipv4.len() as u64) as usize], random);
            bytes[..12].copy_from_slice(&ipv4(random.draw() as u32, dst, 17, 46)[8..]);
            0
        } else if family < mix.ipv4 + mix.ipv6 {
            let dst = inside_of_ipv6(self.ipv6[traffic.draw(random, self.ipv6.len() as u64) as usize], random);
            bytes[8..16].copy_from_slice(&random.draw().to_be_bytes());
            bytes[16..].copy_from_slice(&dst);
            1
        } else {
            let (sender, target) = (random.draw() as u32, random.draw() as u32);
            bytes[..6].copy_from_slice(&mac(host_address(7)));
            bytes[6..10].copy_from_slice(&sender.to_be_bytes());
            bytes[16..20].copy_from_slice(&target.to_be_bytes());
            2
        }
    }
}

pub fn dualstack(size: u64, wishes: &Wishes) -> Result<Workload, Failure> {
    let ipv4 = wishes.rib.as_deref().map_or_else(|| Ok(prefixes::made(size)), |rib| prefixes::read(rib, size))?;
    let ipv6 = ipv6_prefixes((size / 2).max(1));
    let routes = Arc::new(BothRoutes { ipv4: Arc::new(ipv4), ipv6: Arc::new(ipv6) });
    let (known, mix, count) = (routes.clone(), wishes.mix, routes.count());
    let lines_of = |lines: f64, percent: u32| lines * f64::from(percent) / 100.0;
    Ok(Workload {
        size: routes.ipv4.len() as u64,
        lines: vec![
            (lines_of(1.0, mix.ipv4), (routes.ipv4.len() as u64 * 40).min(1 << 24)),
            (lines_of(2.0, mix.ipv6), routes.ipv6.len() as u64 * 12),
        ],
        stream: stream(count, DUALSTACK_OWN.1),
        entries: Box::new(move |sink| known.add(sink)),
        trace: Box::new(move |traffic| {
            mixed_trace(&dualstack_frames(), (trace_length(count), traffic), DUALSTACK_OWN, |random, bytes| {
                routes.packet(mix, traffic, random, bytes)
            })
        }),
        ..Workload::of("dualstack")
    })
}

/// Labels are swapped: layer 2, label, next hop and access list are read.
pub fn mpls(size: u64, _: &Wishes) -> Result<Workload, Failure> {
    let entries = move |sink: &mut Sink<'_>| {
        let mine = [Field::Exact(u128::from(ROUTER))];
        sink(&Entry { table: "dmac", fields: &mine, priority: 0, action: "mine", arguments: &[] })?;
        for label in 0..size {
            let fields = [Field::Exact(u128::from(16 + label))];
            let arguments = [1_000 + label, label % NEXTHOPS];
            sink(&Entry { table: "labels", fields: &fields, priority: 0, action: "swap", arguments: &arguments })?;
        }
        for hop in 0..NEXTHOPS {
            let fields = [Field::Exact(u128::from(hop))];
            let arguments = nexthop(hop);
            sink(&Entry { table: "nexthops", fields: &fields, priority: 0, action: "send", arguments: &arguments })?;
        }
        for priority in 1..=4u32 {
            let port = Field::Ternary { value: u128::from(100 + priority), mask: ones(9) };
            let fields = [port, Field::Any, Field::Any, Field::Any, Field::Any];
            sink(&Entry { table: "acl", fields: &fields, priority, action: "deny", arguments: &[] })?;
        }
        Ok(())
    };
    let packets = move |traffic: Traffic| {
        let label = [0u8, 1, 1, 64];
        let frame = [&ethernet(ROUTER, host_address(7), 0x8847)[..], &label, &ipv4(1, 2, 17, 64)].concat();
        trace(padded(frame, 82), (trace_length(size), traffic), (14, 4), |random, bytes| {
            let label = 16 + traffic.draw(random, size) as u32;
            bytes.copy_from_slice(&(label << 12 | 1 << 8 | 64).to_be_bytes());
        })
    };
    Ok(Workload {
        size,
        entries: Box::new(entries),
        trace: Box::new(packets),
        lines: vec![(1.0, size * 8)],
        stream: stream(size, 4),
        ..Workload::of("mpls")
    })
}

/// Each packet is permitted by a rule drawn at random; rules differ in destination and port.
pub fn firewall(size: u64, _: &Wishes) -> Result<Workload, Failure> {
    let destination = |rule: u64| 0x0a00_0000 | (rule as u32) << 8;
    let entries = move |sink: &mut Sink<'_>| {
        sink(&Entry { table: "pairs", fields: &[Field::Exact(1)], priority: 0, action: "cross", arguments: &[2] })?;
        for rule in 0..size {
            let dst = Field::Ternary { value: u128::from(destination(rule)), mask: 0xffff_ff00 };
            let protocol = Field::Ternary { value: 17, mask: 0xff };
            let fields = [Field::Any, dst, protocol, Field::Any, Field::Range { low: 1_000, high: 2_000 }];
            let priority = 1 + rule as u32;
            sink(&Entry { table: "rules", fields: &fields, priority, action: "permit", arguments: &[] })?;
        }
        Ok(())
    };
    let packets = move |traffic: Traffic| {
        let frame = padded([&ethernet(host_address(8), host_address(7), 0x0800)[..], &ipv4(0, 0, 17, 46)].concat(), 64);
        trace(frame, (SHORTEST_TRACE, traffic), (24, 14), |random, bytes| {
            let dst = destination(traffic.draw(random, size)) | random.below(256) as u32;
            let port = 1_000 + random.below(1_001) as u16;
            bytes[..10].copy_from_slice(&ipv4(random.draw() as u32, dst, 17, 46)[10..]);
            bytes[10..12].copy_from_slice(&40_000u16.to_be_bytes());
            bytes[12..].copy_from_slice(&port.to_be_bytes());
        })
    };
    Ok(Workload {
        size,
        entries: Box::new(entries),
        trace: Box::new(packets),
        lines: vec![(1.0, size * 16)],
        stream: stream(size, 14),
        ..Workload::of("firewall")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_of_the_families_that_are_asked_for() {
        for mix in [Mix::of(100, 0), Mix::of(70, 25)] {
            let workload = dualstack(1_000, &Wishes { mix, ..Wishes::default() }).expect("it has no file");
            let trace = (workload.trace)(Traffic::Uniform);
            let mut counts = [0u32; 3];
            for packet in trace.packets().take(10_000) {
                let length = packet.bytes.len();
                match packet.bytes[12..14] {
                    [0x08, 0x00] => counts[0] += u32::from(length == 64 && packet.bytes[14] == 0x45),
                    [0x86, 0xdd] => counts[1] += u32::from(length == 78 && packet.bytes[38] & 0xe0 == 0x20),
                    [0x08, 0x06] => counts[2] += u32::from(length == 64 && packet.bytes[22..28] == packet.bytes[6..12]),
                    _ => {}
                }
            }
            assert_eq!(counts.iter().sum::<u32>(), 10_000, "{counts:?}");
            for (count, percent) in counts.into_iter().zip([mix.ipv4, mix.ipv6, mix.arp()]) {
                assert!(count.abs_diff(100 * percent) <= 200, "{counts:?} of {mix}");
            }
        }
    }
}
