//! Rule sets shaped as those of access lists in use: networks inside networks, a few services, ports that are one, a range or any.
//!
//! ClassBench (Taylor and Turner, 2007) draws rules from the statistics of real sets, which are not public any more. The shares here are ours, after what
//! that paper shows of access lists: most sources are networks of a site, most destinations hosts or small networks, most ports any or one.

use super::frames::{ethernet, host_address, ipv4, padded};
use super::{SHORTEST_TRACE, Shared, Sink, Traffic, Wishes, Workload, stream, trace};
use crate::entry::{Entry, Field};
use crate::traffic::SEED;
use driver::failure::Failure;
use driver::random::Random;
use std::sync::Arc;

/// Sites, whose networks are in each other.
const SITES: u64 = 12;
/// Lengths of prefixes, in percent: sources, destinations.
const SOURCES: [(u32, u64); 6] = [(0, 20), (8, 10), (16, 25), (24, 25), (28, 5), (32, 15)];
const DESTINATIONS: [(u32, u64); 6] = [(0, 5), (16, 10), (24, 25), (27, 10), (30, 5), (32, 45)];
const PROTOCOLS: [(u32, u64); 3] = [(6, 70), (17, 22), (1, 8)];
/// Of destination ports, in percent: any, one service, those above 1023, a range of a service.
const PORTS: [(u32, u64); 4] = [(0, 30), (1, 50), (2, 12), (3, 8)];
const SERVICES: [u16; 10] = [22, 25, 53, 80, 123, 161, 443, 1521, 3306, 8080];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rule {
    pub src: (u32, u32),
    pub dst: (u32, u32),
    pub protocol: u8,
    pub ports: (u16, u16),
}

/// One of several, by shares in percent.
fn drawn(shares: &[(u32, u64)], random: &mut Random) -> u32 {
    let mut draw = random.below(shares.iter().map(|(_, share)| share).sum());
    for (value, share) in shares {
        if draw < *share {
            return *value;
        }
        draw -= share;
    }
    shares[0].0
}

/// A network of a site.
fn network(length: u32, random: &mut Random) -> (u32, u32) {
    let site = 0x0a00_0000 | (random.below(SITES) as u32 * 21 + 1) << 16;
    let address = site | (random.below(24) as u32) << 8 | random.below(256) as u32;
    (if length == 0 { 0 } else { address >> (32 - length) << (32 - length) }, length)
}

/// Rules that differ.
pub fn made(count: u64) -> Vec<Rule> {
    let mut random = Random::new(SEED);
    let mut rules: Vec<Rule> = Vec::new();
    while (rules.len() as u64) < count {
        let src = network(drawn(&SOURCES, &mut random), &mut random);
        let dst = network(drawn(&DESTINATIONS, &mut random), &mut random);
        let protocol = drawn(&PROTOCOLS, &mut random) as u8;
        let service = SERVICES[random.below(SERVICES.len() as u64) as usize];
        let ports = match (protocol, drawn(&PORTS, &mut random)) {
            (1, _) | (_, 0) => (0, u16::MAX),
            (_, 1) => (service, service),
            (_, 2) => (1024, u16::MAX),
            _ => (service, service + random.below(100) as u16),
        };
        let rule = Rule { src, dst, protocol, ports };
        if !rules.contains(&rule) {
            rules.push(rule);
        }
    }
    rules
}

fn add(sink: &mut Sink<'_>, rules: &[Rule]) -> Result<(), Failure> {
    sink(&Entry { table: "pairs", fields: &[Field::Exact(1)], priority: 0, action: "cross", arguments: &[2] })?;
    let masked = |(address, length): (u32, u32)| {
        let mask = if length == 0 { 0 } else { u32::MAX << (32 - length) };
        if length == 0 { Field::Any } else { Field::Ternary { value: u128::from(address), mask: u128::from(mask) } }
    };
    // The first rule counts most.
    for (priority, rule) in (1u32..).zip(rules.iter().rev()) {
        let protocol = Field::Ternary { value: u128::from(rule.protocol), mask: 0xff };
        let (low, high) = (u128::from(rule.ports.0), u128::from(rule.ports.1));
        let ports = if rule.ports == (0, u16::MAX) { Field::Any } else { Field::Range { low, high } };
        let fields = [masked(rule.src), masked(rule.dst), protocol, Field::Any, ports];
        sink(&Entry { table: "rules", fields: &fields, priority, action: "permit", arguments: &[] })?;
    }
    Ok(())
}

/// Each packet is one of a rule's; those before it may match as well.
pub fn firewall(size: u64, _: &Wishes) -> Result<Workload, Failure> {
    let rules: Shared<Rule> = Arc::new(made(size));
    let known = rules.clone();
    let packets = move |traffic: Traffic| {
        let frame = padded([&ethernet(host_address(8), host_address(7), 0x0800)[..], &ipv4(0, 0, 6, 46)].concat(), 64);
        trace(frame, (SHORTEST_TRACE, traffic), (22, 16), |random, bytes| {
            let rule = rules[traffic.draw(random, size) as usize];
            let within = |(address, length): (u32, u32), random: &mut Random| {
                address | if length == 32 { 0 } else { random.below(1 << (32 - length)) as u32 }
            };
            let (src, dst) = (within(rule.src, random), within(rule.dst, random));
            let port = rule.ports.0 + random.below(u64::from(rule.ports.1 - rule.ports.0) + 1) as u16;
            bytes[..12].copy_from_slice(&ipv4(src, dst, rule.protocol, 46)[8..]);
            bytes[12..14].copy_from_slice(&40_000u16.to_be_bytes());
            bytes[14..].copy_from_slice(&port.to_be_bytes());
        })
    };
    Ok(Workload {
        size,
        entries: Box::new(move |sink| add(sink, &known)),
        trace: Box::new(packets),
        lines: vec![(1.0, size * 16)],
        stream: stream(size, 16),
        ..Workload::of("firewall")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_differ_and_have_networks_inside_networks() {
        let rules = made(1_000);
        assert!((1..rules.len()).all(|at| !rules[..at].contains(&rules[at])));
        let is_inside = |one: (u32, u32), other: (u32, u32)| {
            one.1 > other.1 && other.1 > 0 && (one.0 ^ other.0) >> (32 - other.1) == 0
        };
        let inside = rules.iter().filter(|rule| rules.iter().any(|other| is_inside(rule.dst, other.dst))).count();
        let any = rules.iter().filter(|rule| rule.ports == (0, u16::MAX)).count();
        assert!(inside > 500 && (250..500).contains(&any), "{inside} {any}");
    }
}
