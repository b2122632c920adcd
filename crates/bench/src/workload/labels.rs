//! mpls_npf: a third of the packets gets labels, a third has its label swapped, a third loses one; stacks of one to three in equal shares.

use super::frames::{NEXTHOPS, ROUTER, ethernet, host_address, ipv4, nexthop, padded};
use super::{Sink, Traffic, Wishes, Workload, stream, trace, trace_length};
use crate::entry::{Entry, Field};
use driver::failure::Failure;

const IPV4_BYTES: u16 = 38;
/// From the EtherType to the end of the IPv4 header below three labels.
const OWN: (u32, u32) = (12, 34);

/// The label that is swapped and the one that is popped, of a number.
fn labels(number: u64) -> [u64; 2] {
    [16 + 2 * number, 17 + 2 * number]
}

/// Networks of /24: one label, two, or three, in turn.
fn network(number: u64) -> u32 {
    0x0b00_0000 + ((number as u32) << 8)
}

fn add(sink: &mut Sink<'_>, size: u64) -> Result<(), Failure> {
    for number in 0..size {
        let hop = number % NEXTHOPS;
        let [swapped, popped] = labels(number).map(|label| [Field::Exact(u128::from(label))]);
        let arguments = [1_000 + number, hop];
        sink(&Entry { table: "ilm", fields: &swapped, priority: 0, action: "swap", arguments: &arguments })?;
        sink(&Entry { table: "ilm", fields: &popped, priority: 0, action: "pop", arguments: &[hop] })?;
        let fields = [Field::Lpm { value: u128::from(network(number)), prefix: 24 }];
        let (action, arguments) = match number % 3 {
            0 => ("push", vec![20_000, hop]),
            1 => ("push_two", vec![20_000, 30_000, hop]),
            _ => ("push_three", vec![20_000, 30_000, 40_000, hop]),
        };
        sink(&Entry { table: "ftn", fields: &fields, priority: 0, action, arguments: &arguments })?;
    }
    (0..NEXTHOPS).try_for_each(|hop| {
        let fields = [Field::Exact(u128::from(hop))];
        let arguments = nexthop(hop);
        sink(&Entry { table: "nexthops", fields: &fields, priority: 0, action: "send", arguments: &arguments })
    })
}

/// EtherType, labels and IPv4 header, zeros behind them.
fn headers(number: u64, kind: u64, depth: u64) -> Vec<u8> {
    let outermost = if kind == 0 { None } else { Some(labels(number)[kind as usize - 1]) };
    let mut bytes = if outermost.is_some() { vec![0x88, 0x47] } else { vec![0x08, 0x00] };
    let stack = outermost.into_iter().chain([50_000, 50_001]).take(depth as usize);
    let stack: Vec<u64> = if kind == 0 { Vec::new() } else { stack.collect() };
    for (below, label) in stack.iter().enumerate().map(|(at, label)| (stack.len() - 1 - at, label)) {
        let bottom = u32::from(below == 0);
        bytes.extend((*label as u32 * 4096 + bottom * 256 + 64).to_be_bytes());
    }
    bytes.extend(ipv4(0x0a00_0001, network(number) + 1, 17, IPV4_BYTES));
    padded(bytes, OWN.1 as usize)
}

pub fn mpls_npf(size: u64, _: &Wishes) -> Result<Workload, Failure> {
    let packets = move |traffic: Traffic| {
        let frame = padded(ethernet(ROUTER, host_address(7), 0x8847), 64);
        trace(frame, (trace_length(size), traffic), OWN, |random, bytes| {
            let (number, kind) = (traffic.draw(random, size), random.below(3));
            bytes.copy_from_slice(&headers(number, kind, 1 + random.below(3)));
        })
    };
    Ok(Workload {
        size,
        entries: Box::new(move |sink| add(sink, size)),
        trace: Box::new(packets),
        lines: vec![(1.0, size * 16)],
        stream: stream(size, OWN.1),
        ..Workload::of("mpls_npf")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stack_ends_in_its_bottom_before_the_packet() {
        assert_eq!(headers(0, 0, 3)[..3], [0x08, 0x00, 0x45]);
        assert_eq!(headers(0, 1, 1)[..7], [0x88, 0x47, 0, 1, 1, 64, 0x45]);
        let three = headers(0, 2, 3);
        assert_eq!((three[4] & 1, three[8] & 1, three[12] & 1, three[14]), (0, 0, 1, 0x45));
    }
}
