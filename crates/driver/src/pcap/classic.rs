//! The classic pcap format: both byte orders, micro- and nanoseconds.

use super::Record;
use super::link::Link;

const MAGIC_MICROSECONDS: u32 = 0xa1b2_c3d4;
const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const ETHERNET: u32 = 1;
pub const HEADER_BYTES: usize = 24;
/// What is in front of each packet.
pub const RECORD_BYTES: usize = 16;

/// How numbers are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    LowestFirst,
    HighestFirst,
}

impl Order {
    pub fn word(self, bytes: &[u8], at: usize) -> Option<u32> {
        let four: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(if self == Order::LowestFirst { u32::from_le_bytes(four) } else { u32::from_be_bytes(four) })
    }

    pub fn half(self, bytes: &[u8], at: usize) -> Option<u16> {
        let two: [u8; 2] = bytes.get(at..at + 2)?.try_into().ok()?;
        Some(if self == Order::LowestFirst { u16::from_le_bytes(two) } else { u16::from_be_bytes(two) })
    }
}

/// The byte order of a capture in this format; nothing if it is none.
pub fn order(bytes: &[u8]) -> Option<Order> {
    let is_magic = |order: &Order| {
        order.word(bytes, 0).is_some_and(|word| [MAGIC_MICROSECONDS, MAGIC_NANOSECONDS].contains(&word))
    };
    [Order::LowestFirst, Order::HighestFirst].into_iter().find(is_magic)
}

/// Bytes of the record at the beginning with its packet, if that is whole, and bytes that the packet had on the wire.
pub fn record(bytes: &[u8], order: Order) -> Option<(usize, u32)> {
    let (captured, length) = order.word(bytes, 8).zip(order.word(bytes, 12))?;
    let all = RECORD_BYTES.checked_add(captured as usize)?;
    (bytes.len() >= all).then_some((all, length))
}

pub fn records(bytes: &[u8], order: Order) -> Result<Vec<Record<'_>>, String> {
    let link = order.word(bytes, 20).ok_or("a truncated capture: its header ends too early")? & 0xffff;
    Link::of(link)?;
    let (mut records, mut at) = (Vec::new(), HEADER_BYTES);
    while at < bytes.len() {
        let number = records.len() + 1;
        let lengths = order.word(bytes, at + 8).zip(order.word(bytes, at + 12));
        let (captured, length) =
            lengths.ok_or_else(|| format!("a truncated capture: record {number} at byte {at} has no whole header"))?;
        at += RECORD_BYTES;
        let frame = bytes.get(at..at + captured as usize).ok_or_else(|| {
            format!(
                "a truncated capture: record {number} has a length of {captured} bytes, the file has {} more",
                bytes.len() - at
            )
        })?;
        records.push(Record { bytes: frame, length, link });
        at += captured as usize;
    }
    Ok(records)
}

/// Counts microseconds in a capture that counts nanoseconds, which not all readers know. False: the capture does not, or is no capture.
pub fn count_microseconds(bytes: &mut [u8]) -> bool {
    if bytes.get(..4) != Some(&MAGIC_NANOSECONDS.to_le_bytes()[..]) {
        return false;
    }
    bytes[..4].copy_from_slice(&MAGIC_MICROSECONDS.to_le_bytes());
    let mut at = HEADER_BYTES;
    while let Some((nanoseconds, captured)) =
        Order::LowestFirst.word(bytes, at + 4).zip(Order::LowestFirst.word(bytes, at + 8))
    {
        bytes[at + 4..at + 8].copy_from_slice(&(nanoseconds / 1000).to_le_bytes());
        at = at.saturating_add(RECORD_BYTES + captured as usize);
    }
    true
}

/// A capture of these frames, a microsecond apart.
pub fn bytes_of<'a>(frames: impl IntoIterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    const LONGEST: u32 = 262_144;
    let mut bytes = Vec::new();
    let mut word = |value: u32| bytes.extend(value.to_le_bytes());
    word(MAGIC_MICROSECONDS);
    word(2 | 4 << 16);
    [0, 0, LONGEST, ETHERNET].into_iter().for_each(&mut word);
    for (at, frame) in frames.into_iter().enumerate() {
        for value in [(at / 1_000_000) as u32, (at % 1_000_000) as u32, frame.len() as u32, frame.len() as u32] {
            bytes.extend(value.to_le_bytes());
        }
        bytes.extend(frame);
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_other_byte_order_is_understood() {
        let mut bytes = Vec::new();
        for word in [MAGIC_NANOSECONDS, 0x0002_0004, 0, 0, 65535, 1, 0, 0, 2, 2] {
            bytes.extend(word.to_be_bytes());
        }
        bytes.extend([7, 8]);
        assert_eq!(order(&bytes), Some(Order::HighestFirst));
        assert_eq!(records(&bytes, Order::HighestFirst).unwrap()[0].bytes, [7, 8]);
    }

    #[test]
    fn a_cut_capture_says_where() {
        let whole = bytes_of(&[vec![1; 60], vec![2; 60]]);
        let message = |end: usize| records(&whole[..end], Order::LowestFirst).map(|_| ()).unwrap_err();
        let cut = message(whole.len() - 1);
        assert!(
            cut.contains("truncated") && cut.contains("record 2 has a length of 60 bytes, the file has 59"),
            "{cut}"
        );
        assert!(message(HEADER_BYTES + 3).contains("truncated"));
        assert!(message(10).contains("truncated"));
        assert_eq!(order(b"hello world"), None);
    }

    #[test]
    fn nanoseconds_become_microseconds() {
        let frames = [vec![1; 14], vec![2; 60]];
        let (expected, mut bytes) = (bytes_of(&frames), bytes_of(&frames));
        assert!(!count_microseconds(&mut bytes) && bytes == expected);
        bytes[..4].copy_from_slice(&MAGIC_NANOSECONDS.to_le_bytes());
        // The second one is a microsecond later.
        let second = HEADER_BYTES + RECORD_BYTES + 14 + 4;
        bytes[second..second + 4].copy_from_slice(&1234u32.to_le_bytes());
        assert!(count_microseconds(&mut bytes) && bytes == expected);
        assert!(!count_microseconds(&mut [1, 2]));
    }
}
