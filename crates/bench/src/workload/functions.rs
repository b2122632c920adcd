//! PacketMill's network functions: a forwarder, routers, and work for the core and its caches.

use super::frames::{NEXTHOPS, ROUTER, ethernet, host_address, ipv4, nexthop, padded, udp};
use super::prefixes::{self, Prefix, inside};
use super::routers::add_routes;
use super::{SHORTEST_TRACE, Shared, Sink, Traffic, Wishes, Workload, stream, trace, trace_length};
use crate::entry::{Entry, Field};
use driver::failure::Failure;
use std::sync::Arc;

/// 127.0.0.0/8: routers drop what goes there.
const LOOPBACK: u32 = 127;

/// Frames of 64 bytes whose source differs, and no table.
fn without_tables(name: &str, lines: Vec<(f64, u64)>) -> Workload {
    let packets = |traffic: Traffic| {
        let frame = padded(ethernet(ROUTER, host_address(7), 0x0800), 64);
        trace(frame, (SHORTEST_TRACE, traffic), (8, 4), |random, bytes| {
            bytes.copy_from_slice(&(random.draw() as u32).to_be_bytes());
        })
    };
    let entries = |_: &mut Sink<'_>| Ok(());
    Workload {
        size: 1,
        entries: Box::new(entries),
        trace: Box::new(packets),
        lines,
        stream: stream(1, 4),
        ..Workload::of(name)
    }
}

pub fn forwarder(_: u64, _: &Wishes) -> Result<Workload, Failure> {
    Ok(without_tables("forwarder", Vec::new()))
}

/// As it is compiled without `-D`: one access to 4 MB.
pub fn workpackage(_: u64, _: &Wishes) -> Result<Workload, Failure> {
    Ok(without_tables("workpackage", vec![(1.0, 4 << 20)]))
}

/// An address of the networks behind a gateway.
fn gateway(hop: u64) -> u64 {
    0x0a00_0000 + hop
}

fn add_router(sink: &mut Sink<'_>, routes: &[Prefix]) -> Result<(), Failure> {
    let port = [Field::Exact(1)];
    let own = [ROUTER, gateway(0xffff)];
    sink(&Entry { table: "interfaces", fields: &port, priority: 0, action: "own", arguments: &own })?;
    add_routes(sink, ("routes", "via"), routes, |hop| vec![nexthop(hop)[0], gateway(hop)])?;
    for hop in 0..NEXTHOPS {
        let [port, dst, src] = nexthop(hop);
        let fields = [Field::Exact(u128::from(port)), Field::Exact(u128::from(gateway(hop)))];
        let arguments = [dst, src, 1500];
        sink(&Entry { table: "neighbours", fields: &fields, priority: 0, action: "send", arguments: &arguments })?;
    }
    Ok(())
}

/// The routes of `ipv4fwd` but for those of addresses that are no destinations.
fn routes(size: u64, wishes: &Wishes) -> Result<Shared<Prefix>, Failure> {
    let mut routes = wishes.rib.as_deref().map_or_else(|| Ok(prefixes::made(size)), |rib| prefixes::read(rib, size))?;
    routes.retain(|route| route.address >> 24 != LOOPBACK);
    Ok(Arc::new(routes))
}

/// Every packet is UDP, right in all that is checked, and has a route; `add` adds what it needs beside.
fn routed(name: &str, routes: Shared<Prefix>, add: fn(&mut Sink<'_>, &[Prefix]) -> Result<(), Failure>) -> Workload {
    let known = routes.clone();
    let packets = move |traffic: Traffic| {
        let headers =
            [&ethernet(ROUTER, host_address(7), 0x0800)[..], &ipv4(0, 0, 17, 46), &udp(0, 0, [0, 0], 26)].concat();
        // From the TTL to the end of UDP's header. Sources are of 10.0.0.0/8, for some addresses are no senders.
        trace(padded(headers, 64), (trace_length(routes.len() as u64), traffic), (22, 20), |random, bytes| {
            let dst = inside(routes[traffic.draw(random, routes.len() as u64) as usize], random);
            let src = 0x0a00_0000 | random.draw() as u32 >> 8;
            bytes[..12].copy_from_slice(&ipv4(src, dst, 17, 46)[8..]);
            bytes[12..].copy_from_slice(&udp(src, dst, [1_000 + random.below(1_000) as u16, 53], 26));
        })
    };
    let count = known.len() as u64;
    Workload {
        size: count,
        entries: Box::new(move |sink| add(sink, &known)),
        trace: Box::new(packets),
        lines: vec![(1.0, (count * 40).min(1 << 24))],
        stream: stream(count, 20),
        ..Workload::of(name)
    }
}

pub fn router(size: u64, wishes: &Wishes) -> Result<Workload, Failure> {
    Ok(routed("router", routes(size, wishes)?, add_router))
}

pub fn ids_router(size: u64, wishes: &Wishes) -> Result<Workload, Failure> {
    Ok(routed("ids_router", routes(size, wishes)?, add_router))
}

/// Frames for the switch itself, whose source is known: each is routed.
pub fn l3switch(size: u64, wishes: &Wishes) -> Result<Workload, Failure> {
    let add = |sink: &mut Sink<'_>, routes: &[Prefix]| {
        let host = [Field::Exact(u128::from(host_address(7)))];
        sink(&Entry { table: "smac", fields: &host, priority: 0, action: "known", arguments: &[1] })?;
        let own = [Field::Exact(u128::from(ROUTER))];
        sink(&Entry { table: "dmac", fields: &own, priority: 0, action: "route", arguments: &[] })?;
        add_routes(sink, ("routes", "set_nexthop"), routes, |hop| vec![hop])?;
        (0..NEXTHOPS).try_for_each(|hop| {
            let fields = [Field::Exact(u128::from(hop))];
            let arguments = nexthop(hop);
            sink(&Entry { table: "nexthops", fields: &fields, priority: 0, action: "send", arguments: &arguments })
        })
    };
    Ok(routed("l3switch", routes(size, wishes)?, add))
}
