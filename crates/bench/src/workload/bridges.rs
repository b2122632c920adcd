//! Applications of layer 2: l2fwd, and l2l3acl, which routes as well.

use super::frames::{NEXTHOPS, PORTS, ROUTER, ethernet, host_address, ipv4, mac, nexthop, padded};
use super::prefixes::{self, Prefix, inside};
use super::routers::add_routes;
use super::{Shared, Wishes, Workload, stream, trace, trace_length};
use crate::entry::{Entry, Field};
use crate::traffic::SEED;
use driver::failure::Failure;
use driver::random::scattered;
use std::sync::Arc;

/// Bytes that a table of 48-bit keys takes at best: eight to a line, nearly full.
fn mac_table_bytes(entries: u64) -> u64 {
    entries * 9
}

pub fn l2fwd(size: u64, _: &Wishes) -> Result<Workload, Failure> {
    let hosts: Shared<u64> = Arc::new(scattered(size, 40, SEED).map(host_address).collect());
    let known = hosts.clone();
    let entries = move |sink: &mut super::Sink<'_>| {
        for (number, address) in (0u64..).zip(known.iter()) {
            let fields = [Field::Exact(u128::from(*address))];
            sink(&Entry { table: "smac", fields: &fields, priority: 0, action: "NoAction", arguments: &[] })?;
            let arguments = [number % PORTS];
            sink(&Entry { table: "dmac", fields: &fields, priority: 0, action: "forward", arguments: &arguments })?;
        }
        Ok(())
    };
    let packets = move |traffic: super::Traffic| {
        let frame = padded(ethernet(0, 0, 0x0800), 64);
        trace(frame, (trace_length(size), traffic), (0, 12), |random, bytes| {
            bytes[..6].copy_from_slice(&mac(hosts[traffic.draw(random, size) as usize]));
            bytes[6..].copy_from_slice(&mac(hosts[traffic.draw(random, size) as usize]));
        })
    };
    Ok(Workload {
        size,
        entries: Box::new(entries),
        trace: Box::new(packets),
        lines: vec![(2.0, 2 * mac_table_bytes(size))],
        stream: stream(size, 12),
        ..Workload::of("l2fwd")
    })
}

/// With the lookup of destinations alone, as *Model* has it for figure 5.
pub fn l2fwd_of_one_lookup(size: u64, wishes: &Wishes) -> Result<Workload, Failure> {
    let mut workload = l2fwd(size, wishes)?;
    let all = workload.entries;
    workload.source.define.push("ONE_LOOKUP".to_string());
    workload.entries =
        Box::new(move |sink| all(&mut |entry: &Entry<'_>| if entry.table == "dmac" { sink(entry) } else { Ok(()) }));
    workload.lines = vec![(1.0, mac_table_bytes(size))];
    Ok(workload)
}

const ROUTES: u64 = 100_000;

/// Every packet is routed: all seven tables are read. `size` hosts, 100,000 routes, 100 rules of which none denies.
pub fn l2l3acl(size: u64, wishes: &Wishes) -> Result<Workload, Failure> {
    switched(size, wishes, (ROUTES, Bridging::Everything))
}

/// As the papers have it: no table has more entries than `size`, the table of destinations defines which addresses are the router's own, and addresses are
/// rewritten behind the next hop.
pub fn l2l3acl_of_routers(size: u64, wishes: &Wishes) -> Result<Workload, Failure> {
    let mut workload = switched(size, wishes, (ROUTES.min(size), Bridging::Nothing))?;
    workload.source.define.push("REWRITE_IN_INGRESS".to_string());
    Ok(workload)
}

/// Whether frames between hosts are bridged.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Bridging {
    Everything,
    Nothing,
}

fn switched(size: u64, wishes: &Wishes, (route_count, bridging): (u64, Bridging)) -> Result<Workload, Failure> {
    let few = if bridging == Bridging::Nothing { size } else { u64::MAX };
    let (hops, rules) = (NEXTHOPS.min(few), RULES.min(few));
    let hosts: Shared<u64> = Arc::new(scattered(size, 40, SEED).map(host_address).collect());
    let routes = wishes
        .rib
        .as_deref()
        .map_or_else(|| Ok(prefixes::made(route_count)), |rib| prefixes::read(rib, route_count))?;
    let routes: Shared<Prefix> = Arc::new(routes);
    let (known, known_routes) = (hosts.clone(), routes.clone());
    let entries = move |sink: &mut super::Sink<'_>| {
        add_hosts(sink, &known, bridging)?;
        add_routes(sink, ("routes", "set_nexthop"), &known_routes, |number| vec![number % hops])?;
        add_nexthops_and_rules(sink, hops, rules)
    };
    let packets = move |traffic: super::Traffic| {
        let ports = [0x27u8, 0x10, 0x4e, 0x20, 0, 26, 0, 0];
        let frame = padded([&ethernet(ROUTER, 0, 0x0800)[..], &ipv4(0, 0, 17, 46), &ports].concat(), 64);
        // Source address, then the IPv4 header with its checksum, up to the destination port.
        trace(frame, (trace_length(size), traffic), (6, 32), |random, bytes| {
            bytes[..6].copy_from_slice(&mac(hosts[traffic.draw(random, size) as usize]));
            bytes[6..8].copy_from_slice(&0x0800u16.to_be_bytes());
            let dst = inside(routes[traffic.draw(random, routes.len() as u64) as usize], random);
            bytes[8..28].copy_from_slice(&ipv4(random.draw() as u32, dst, 17, 46));
            bytes[28..30].copy_from_slice(&1000u16.to_be_bytes());
            bytes[30..].copy_from_slice(&(20_000 + random.below(rules) as u16).to_be_bytes());
        })
    };
    Ok(Workload {
        size,
        entries: Box::new(entries),
        trace: Box::new(packets),
        lines: vec![(1.0, mac_table_bytes(size)), (1.0, route_count * 40)],
        stream: stream(size, 32),
        ..Workload::of("l2l3acl")
    })
}

fn add_hosts(sink: &mut super::Sink<'_>, hosts: &[u64], bridging: Bridging) -> Result<(), Failure> {
    let port = [Field::Exact(1)];
    sink(&Entry { table: "vlans", fields: &port, priority: 0, action: "set_vlan", arguments: &[10] })?;
    let mine = [Field::Exact(10), Field::Exact(u128::from(ROUTER))];
    sink(&Entry { table: "dmac", fields: &mine, priority: 0, action: "route", arguments: &[] })?;
    for address in hosts {
        let fields = [Field::Exact(10), Field::Exact(u128::from(*address))];
        sink(&Entry { table: "smac", fields: &fields, priority: 0, action: "NoAction", arguments: &[] })?;
        if bridging == Bridging::Everything {
            let arguments = [address % PORTS];
            sink(&Entry { table: "dmac", fields: &fields, priority: 0, action: "bridge", arguments: &arguments })?;
        }
    }
    Ok(())
}

const RULES: u64 = 100;

fn add_nexthops_and_rules(sink: &mut super::Sink<'_>, hops: u64, rules: u64) -> Result<(), Failure> {
    for hop in 0..hops {
        let [port, dst, src] = nexthop(hop);
        let fields = [Field::Exact(u128::from(hop))];
        sink(&Entry { table: "nexthops", fields: &fields, priority: 0, action: "send", arguments: &[port, hop] })?;
        sink(&Entry { table: "rewrites", fields: &fields, priority: 0, action: "rewrite", arguments: &[src, dst] })?;
    }
    for (priority, port) in (1u32..=rules as u32).zip(20_000u128..) {
        let exactly = |value, width| Field::Ternary { value, mask: crate::entry::ones(width) };
        let fields = [Field::Any, Field::Any, exactly(17, 8), Field::Any, exactly(port, 16)];
        sink(&Entry { table: "acl", fields: &fields, priority, action: "permit", arguments: &[] })?;
    }
    Ok(())
}
