//! ndn: names like URLs, each a host of few thousands and a page of its own.

use super::frames::{PORTS, ethernet, host_address, padded};
use super::{Sink, Traffic, Wishes, Workload, stream, trace, trace_length};
use crate::entry::{Entry, Field, Limbs};
use crate::traffic::SEED;
use driver::failure::Failure;
use driver::random::Random;

const NAME_BYTES: usize = 32;
const HOSTS: u64 = 10_000;
/// The group address of Ethernet faces.
const FACES: u64 = 0x01_00_5e_00_17_aa;

/// The value of a name: one component. Numbers differ, so names do.
fn name(number: u64) -> [u8; NAME_BYTES] {
    let mut random = Random::new(SEED ^ number);
    let text = format!("site{:05}.org/{number:08x}{:08x}", random.below(HOSTS), random.draw() as u32);
    let mut name = [0; NAME_BYTES];
    name[0] = 0x08;
    name[1] = (NAME_BYTES - 2) as u8;
    name[2..].copy_from_slice(text.as_bytes());
    name
}

fn limbs(name: &[u8; NAME_BYTES]) -> Limbs {
    let mut limbs = [0; 4];
    for (limb, bytes) in limbs.iter_mut().zip(name.rchunks(8)) {
        *limb = bytes.iter().fold(0, |number, byte| number << 8 | u64::from(*byte));
    }
    limbs
}

/// Interests of 59 bytes, padded to 64.
pub fn ndn(size: u64, _: &Wishes) -> Result<Workload, Failure> {
    let entries = move |sink: &mut Sink<'_>| {
        (0..size).try_for_each(|number| {
            let fields = [Field::Wide(limbs(&name(number)))];
            let arguments = [number % PORTS];
            sink(&Entry { table: "names", fields: &fields, priority: 0, action: "forward", arguments: &arguments })
        })
    };
    let packets = move |traffic: Traffic| {
        let mut frame = ethernet(FACES, host_address(7), 0x8624);
        frame.extend([0x05, 43, 0x07, NAME_BYTES as u8]);
        frame.extend(name(0));
        frame.extend([0x0a, 4, 0xde, 0xad, 0xbe, 0xef, 0x22, 1, 64]);
        trace(padded(frame, 64), (trace_length(size), traffic), (18, NAME_BYTES as u32), |random, bytes| {
            bytes.copy_from_slice(&name(traffic.draw(random, size)));
        })
    };
    Ok(Workload {
        size,
        entries: Box::new(entries),
        trace: Box::new(packets),
        lines: vec![(1.0, size * (NAME_BYTES as u64 + 2))],
        stream: stream(size, NAME_BYTES as u32),
        ..Workload::of("ndn")
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn names_differ_and_are_keys_in_the_order_of_their_bytes() {
        let names: HashSet<[u8; NAME_BYTES]> = (0..10_000).map(name).collect();
        assert_eq!(names.len(), 10_000);
        let one = name(7);
        assert_eq!(limbs(&one)[3] >> 56, 0x08);
        assert_eq!(limbs(&one)[0] & 0xff, u64::from(one[NAME_BYTES - 1]));
    }
}
