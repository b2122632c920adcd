//! No number counts unless the packets that came out are right: every variant must send what the plain program sends, for packets of the trace
//! and for packets that are unusual in all respects that the headers allow.

use super::traffic::SEED;
use driver::random::Random;
use runtime::{Packet, Trace};
use std::sync::Arc;

const PACKETS: usize = 4096;
/// Bytes that hold headers.
const HEADERS: u64 = 60;

/// As many packets of a trace as are compared.
pub fn unspoiled(from: &Trace) -> Arc<Trace> {
    let packets: Vec<Packet> = from.packets().take(PACKETS).collect();
    Arc::new(Trace::new(packets.iter().map(|packet| (packet.port, packet.bytes.as_slice()))))
}

/// Packets of a trace; every other one is spoiled.
pub fn trace(from: &Trace) -> Arc<Trace> {
    let mut random = Random::new(SEED);
    let packets: Vec<Packet> = from.packets().take(PACKETS).collect();
    let packets = packets
        .into_iter()
        .enumerate()
        .map(|(number, packet)| if number % 2 == 0 { packet } else { spoiled(packet, &mut random) });
    let packets: Vec<Packet> = packets.collect();
    Arc::new(Trace::new(packets.iter().map(|packet| (packet.port, packet.bytes.as_slice()))))
}

fn spoiled(mut packet: Packet, random: &mut Random) -> Packet {
    const TTL: usize = 22;
    const HOP_LIMIT: usize = 21;
    match random.below(6) {
        0 => packet.bytes.truncate(1 + random.below(HEADERS) as usize),
        1 => packet.bytes[TTL] = random.below(3) as u8,
        2 => packet.bytes[HOP_LIMIT] = random.below(3) as u8,
        3 => packet.bytes[..6].fill(0xff),
        4 => packet.bytes[random.below(6) as usize] ^= 1 << random.below(8),
        _ => packet.bytes[random.below(HEADERS) as usize] ^= 1 << random.below(8),
    }
    packet
}

/// Which packets must leave in the plain program's order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Those of one port; those of different ports need not.
    OfPorts,
    /// None of them: a packet that misses in a joint table takes a side exit while it commits (docs/hot_path.md).
    Any,
}

/// How two outputs differ, if they do.
pub fn difference(expected: &[Packet], actual: &[Packet], order: Order) -> Option<String> {
    if expected.len() != actual.len() {
        return Some(format!("{} packets came out, not {}", actual.len(), expected.len()));
    }
    let sorted = |packets: &[Packet]| {
        let mut packets = packets.to_vec();
        match order {
            Order::OfPorts => packets.sort_by_key(|packet| packet.port),
            Order::Any => packets.sort_by(|one, other| (one.port, &one.bytes).cmp(&(other.port, &other.bytes))),
        }
        packets
    };
    let (expected, actual) = (sorted(expected), sorted(actual));
    let different = expected.iter().zip(&actual).position(|(one, other)| one != other)?;
    let shown = |packet: &Packet| {
        let bytes: Vec<String> = packet.bytes.iter().take(40).map(|byte| format!("{byte:02x}")).collect();
        format!("{} bytes to port {}: {}", packet.bytes.len(), packet.port, bytes.concat())
    };
    Some(format!("it sends {}\n    instead of {}", shown(&actual[different]), shown(&expected[different])))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn packet(port: u16, byte: u8) -> Packet {
        Packet { port, bytes: vec![byte; 64] }
    }

    #[test]
    fn the_order_between_ports_does_not_matter_but_within_one() {
        let (a, b, c) = (packet(1, 1), packet(2, 2), packet(1, 3));
        let expected = [a.clone(), b.clone(), c.clone()];
        assert_eq!(difference(&expected, &[b.clone(), a.clone(), c.clone()], Order::OfPorts), None);
        assert!(difference(&expected, &[c.clone(), b.clone(), a.clone()], Order::OfPorts).is_some());
        assert_eq!(difference(&expected, &[c.clone(), b.clone(), a.clone()], Order::Any), None);
        assert!(difference(&expected, &[c, b.clone(), b.clone()], Order::Any).is_some());
        assert!(difference(&expected, &[a, b], Order::Any).is_some_and(|text| text.contains("2 packets")));
    }

    #[test]
    fn half_of_the_packets_are_spoiled() {
        let frame = [7u8; 64];
        let trace = trace(&Trace::new((0..1000).map(|_| (1u16, &frame[..]))));
        let whole = trace.packets().filter(|packet| packet.bytes == frame).count();
        assert!((500..700).contains(&whole), "{whole}");
    }
}
