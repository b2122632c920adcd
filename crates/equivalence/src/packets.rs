//! Packets made of those of a capture: as they are, cut, with bits flipped or fields overwritten; and some that are noise, runts or jumbo frames.
//!
//! Packet `n` is a function of the seed, the capture and `n`, so any one of them can be made again. Half of those that were changed get the checksum of
//! their IPv4 header right again, or few would come far in a program that verifies it.

use control::plane::Frame;
use hlir::Algorithm;
use interp::hash::hash;
use interp::random::Draws;

/// A packet of a capture, and the port that it came in by, where that is known.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    pub port: Option<u32>,
    pub bytes: Vec<u8>,
}

/// Where packets come from.
#[derive(Clone, Copy)]
pub struct Source<'a> {
    /// The packets of a capture; without any, all packets are random bytes.
    pub capture: &'a [Sample],
    pub seed: u64,
    /// Packets come in from ports below this.
    pub ports: u32,
}

const LARGEST_NOISE: u64 = 256;
const SMALLEST_FRAME: u64 = 14;
const JUMBO: u64 = 9000;

/// The lengths of fields that are overwritten.
const FIELDS: [u64; 5] = [1, 2, 4, 6, 16];

impl Source<'_> {
    pub fn packet(&self, number: u64) -> Frame {
        let mut draws = Draws::new(self.seed, number);
        let any_port = below(&mut draws, u64::from(self.ports.max(1))) as u32;
        if self.capture.is_empty() {
            return Frame { port: any_port, bytes: noise(&mut draws) };
        }
        let sample = &self.capture[below(&mut draws, self.capture.len() as u64) as usize];
        let own_port = sample.port.filter(|_| below(&mut draws, 4) != 0);
        let bytes = mutated(sample.bytes.clone(), &mut draws);
        Frame { port: own_port.unwrap_or(any_port), bytes }
    }
}

fn mutated(mut bytes: Vec<u8>, draws: &mut Draws) -> Vec<u8> {
    match below(draws, 100) {
        0..40 => return bytes,
        40..50 => {
            let length = below(draws, bytes.len() as u64 + 1);
            bytes.truncate(length as usize);
        }
        50..67 => (0..=below(draws, 8)).for_each(|_| flip_bit(&mut bytes, draws)),
        67..87 => (0..=below(draws, 3)).for_each(|_| overwrite_field(&mut bytes, draws)),
        87..92 => bytes = noise(draws),
        92..96 => {
            let length = below(draws, SMALLEST_FRAME);
            bytes.resize(length as usize, draws.draw() as u8);
        }
        _ => {
            let length = bytes.len() as u64 + below(draws, JUMBO.saturating_sub(bytes.len() as u64) + 1);
            bytes.resize(length as usize, draws.draw() as u8);
        }
    }
    if draws.draw().is_multiple_of(2) {
        correct_ipv4_checksum(&mut bytes);
    }
    bytes
}

fn below(draws: &mut Draws, limit: u64) -> u64 {
    draws.draw() % limit
}

fn noise(draws: &mut Draws) -> Vec<u8> {
    let length = below(draws, LARGEST_NOISE);
    (0..length).map(|_| draws.draw() as u8).collect()
}

/// Where the packet is Ethernet and then IPv4.
fn correct_ipv4_checksum(bytes: &mut [u8]) {
    let Some([ethertype_high, ethertype_low, version_and_length]) = bytes.get(12..15) else { return };
    let length = usize::from(version_and_length & 0xf) * 4;
    let is_ipv4 = (*ethertype_high, *ethertype_low, version_and_length >> 4) == (0x08, 0x00, 4);
    if let Some(header) = bytes.get_mut(14..14 + length).filter(|header| is_ipv4 && header.len() >= 20) {
        header[10..12].fill(0);
        let checksum = hash(Algorithm::InternetChecksum, header) as u16;
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
}

fn flip_bit(bytes: &mut [u8], draws: &mut Draws) {
    if !bytes.is_empty() {
        let bit = below(draws, bytes.len() as u64 * 8) as usize;
        bytes[bit / 8] ^= 0x80 >> (bit % 8);
    }
}

/// Writes zeros, ones or anything to where a field might be: early in the packet rather than late.
fn overwrite_field(bytes: &mut [u8], draws: &mut Draws) {
    if bytes.is_empty() {
        return;
    }
    let reach = below(draws, bytes.len() as u64) + 1;
    let start = below(draws, reach) as usize;
    let length = FIELDS[below(draws, FIELDS.len() as u64) as usize] as usize;
    let how = below(draws, 4);
    for byte in bytes.iter_mut().skip(start).take(length) {
        *byte = match how {
            0 => 0,
            1 => 0xff,
            _ => draws.draw() as u8,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_of_every_sort_and_can_be_made_again() {
        let sample = |byte, length| Sample { port: None, bytes: vec![byte; length] };
        let capture = [sample(0x11, 60), sample(0x22, 120)];
        let source = Source { capture: &capture, seed: 5, ports: 4 };
        let packets: Vec<Frame> = (0..2000).map(|number| source.packet(number)).collect();
        let count = |wanted: fn(&Frame) -> bool| packets.iter().filter(|packet| wanted(packet)).count();
        assert!(count(|packet| packet.bytes == [0x11; 60]) > 200);
        assert!(count(|packet| packet.bytes.len() < 14) > 50);
        assert!(count(|packet| packet.bytes.is_empty()) > 0);
        assert!(count(|packet| packet.bytes.len() > 4000) > 20);
        assert!(count(|packet| packet.bytes.len() == 120 && packet.bytes.iter().any(|byte| *byte != 0x22)) > 200);
        assert_eq!(count(|packet| packet.port >= 4), 0);
        assert!(count(|packet| packet.port == 3) > 300);
        assert_eq!(source.packet(1234), packets[1234]);
    }

    #[test]
    fn most_packets_come_in_where_they_did_and_many_have_a_good_checksum() {
        let mut bytes = vec![0; 60];
        bytes[12..15].copy_from_slice(&[0x08, 0x00, 0x45]);
        let capture = [Sample { port: Some(3), bytes }];
        let source = Source { capture: &capture, seed: 5, ports: 8 };
        let packets: Vec<Frame> = (0..2000).map(|number| source.packet(number)).collect();
        assert!(packets.iter().filter(|packet| packet.port == 3).count() > 1400);
        let is_good = |packet: &&Frame| match packet.bytes.get(14..34) {
            Some(header) => header[0] == 0x45 && hash(Algorithm::InternetChecksum, header) == 0,
            None => false,
        };
        assert!(packets.iter().filter(is_good).count() > 200);
    }
}
