//! Programs that change with their packets: nat, whose flows begin with their first packets, and l2fwd_crypto, which numbers its frames.

use super::frames::{NEXTHOPS, ROUTER, ethernet, host_address, ipv4, nexthop, padded, udp};
use super::{SHORTEST_TRACE, Sink, Traffic, Wishes, Workload, stream, trace, trace_length};
use crate::entry::{Entry, Field};
use driver::entries::Origin;
use driver::failure::Failure;

/// Inside addresses that share an outside one, of 32,768 ports: so few that in all likelihood each flow finds a free port at once.
const INSIDE: u64 = 2048;
const FIRST_PORT: u64 = 1024;
const PORT_MASK: u64 = 0x7fff;
const OUTSIDE: u32 = 0xcb00_0000;
/// Where packets go.
const REMOTE: u32 = 0xc633_0000;
/// The least that the program has room for.
const MAPPINGS: u64 = 65_536;

/// Flows of one inside address each: /21 networks of 10.0.0.0/8.
fn inside(flow: u64) -> u32 {
    0x0a00_0000 + flow as u32
}

fn add(sink: &mut Sink<'_>, flows: u64) -> Result<(), Failure> {
    for pool in 0..flows.div_ceil(INSIDE) {
        let fields = [Field::Lpm { value: u128::from(inside(pool * INSIDE)), prefix: 32 - INSIDE.ilog2() }];
        let arguments = [u64::from(OUTSIDE) + pool, FIRST_PORT, PORT_MASK];
        sink(&Entry { table: "pools", fields: &fields, priority: 0, action: "assign", arguments: &arguments })?;
    }
    (0..NEXTHOPS).try_for_each(|hop| {
        let fields = [Field::Lpm { value: u128::from(REMOTE + ((hop as u32) << 8)), prefix: 24 }];
        sink(&Entry { table: "routes", fields: &fields, priority: 0, action: "forward", arguments: &nexthop(hop) })
    })
}

/// UDP from inside, in flows that all have begun before anything is measured.
pub fn nat(size: u64, _: &Wishes) -> Result<Workload, Failure> {
    let packets = move |traffic: Traffic| {
        let headers =
            [&ethernet(ROUTER, host_address(7), 0x0800)[..], &ipv4(0, 0, 17, 46), &udp(0, 0, [0, 0], 26)].concat();
        trace(padded(headers, 64), (trace_length(size), traffic), (22, 20), |random, bytes| {
            let (src, dst) = (inside(traffic.draw(random, size)), REMOTE + random.below(NEXTHOPS << 8) as u32);
            bytes[..12].copy_from_slice(&ipv4(src, dst, 17, 46)[8..]);
            bytes[12..].copy_from_slice(&udp(src, dst, [5_000, 53], 26));
        })
    };
    let mut base = Workload::of("nat");
    base.source.define.push(format!("MAPPINGS={}", (2 * size).next_power_of_two().max(MAPPINGS)));
    Ok(Workload {
        size,
        files: vec![Origin::File("bench/workloads/nat.stf".into())],
        entries: Box::new(move |sink| add(sink, size)),
        trace: Box::new(packets),
        is_learning: true,
        lines: vec![(2.0, size * 32)],
        stream: stream(size, 20),
        ..base
    })
}

/// Frames to encrypt, of `size` bytes: it is no table that grows.
pub fn l2fwd_crypto(size: u64, _: &Wishes) -> Result<Workload, Failure> {
    const FRAMES: std::ops::RangeInclusive<u64> = 64..=1500;
    if !FRAMES.contains(&size) {
        return Err(Failure::input(format!("l2fwd_crypto: {size} bytes; a frame has {FRAMES:?}")));
    }
    let packets = move |traffic: Traffic| {
        let frame = padded(ethernet(host_address(8), host_address(7), 0x0800), size as usize);
        trace(frame, (SHORTEST_TRACE, traffic), (8, 4), |random, bytes| {
            bytes.copy_from_slice(&(random.draw() as u32).to_be_bytes());
        })
    };
    let base = Workload::of("l2fwd_crypto");
    Ok(Workload {
        size,
        externs: vec!["apps/l2fwd_crypto/cipher.c".into(), "pkg:libcrypto".into()],
        files: vec![Origin::File("bench/workloads/l2fwd_crypto.stf".into())],
        trace: Box::new(packets),
        buffers: super::LONG_BUFFERS,
        stream: stream(1, 4),
        ..base
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn networks_of_inside_addresses_are_aligned_and_frames_are_no_jumbo_frames() {
        assert_eq!(inside(3 * INSIDE) % INSIDE as u32, 0);
        assert!(l2fwd_crypto(9_000, &Wishes::default()).is_err() && nat(1_000, &Wishes::default()).is_ok());
    }
}
