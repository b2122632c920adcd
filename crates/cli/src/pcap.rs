//! Captures in the classic pcap format: both byte orders, micro- and nanoseconds, Ethernet.

use crate::failure::Failure;
use std::fs;
use std::path::Path;

const MAGIC_MICROSECONDS: u32 = 0xa1b2_c3d4;
const MAGIC_NANOSECONDS: u32 = 0xa1b2_3c4d;
const MAGIC_PCAPNG: u32 = 0x0a0d_0d0a;
const ETHERNET: u32 = 1;
const HEADER_BYTES: usize = 24;
const RECORD_BYTES: usize = 16;

/// The frames of a capture, as they were captured.
pub fn read(path: &Path) -> Result<Vec<Vec<u8>>, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::unreadable(path, &error))?;
    frames(&bytes).map_err(|message| Failure::input(format!("{}: {message}", path.display())))
}

fn frames(bytes: &[u8]) -> Result<Vec<Vec<u8>>, String> {
    let word = |at: usize, swapped: bool| -> Option<u32> {
        let four: [u8; 4] = bytes.get(at..at + 4)?.try_into().ok()?;
        Some(if swapped { u32::from_be_bytes(four) } else { u32::from_le_bytes(four) })
    };
    let magics = [MAGIC_MICROSECONDS, MAGIC_NANOSECONDS];
    let swapped = match (word(0, false), word(0, true)) {
        (Some(magic), _) if magics.contains(&magic) => false,
        (_, Some(magic)) if magics.contains(&magic) => true,
        (Some(MAGIC_PCAPNG), _) => {
            return Err("a pcapng capture; convert it: `editcap -F pcap IN OUT`".to_string());
        }
        _ => return Err("not a pcap capture".to_string()),
    };
    let link = word(20, swapped).ok_or("a truncated capture: its header ends too early")?;
    if link & 0xffff != ETHERNET {
        return Err(format!("a capture of link type {link}; only Ethernet (1) is understood"));
    }
    let mut frames = Vec::new();
    let mut at = HEADER_BYTES;
    while at < bytes.len() {
        let number = frames.len() + 1;
        let captured = (at + RECORD_BYTES <= bytes.len()).then(|| word(at + 8, swapped)).flatten();
        let captured =
            captured.ok_or_else(|| format!("a truncated capture: record {number} at byte {at} has no whole header"))?;
        at += RECORD_BYTES;
        let frame = bytes.get(at..at + captured as usize).ok_or_else(|| {
            format!(
                "a truncated capture: record {number} says {captured} bytes, the file has {} more",
                bytes.len() - at
            )
        })?;
        frames.push(frame.to_vec());
        at += captured as usize;
    }
    Ok(frames)
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
    fn what_is_written_is_read_back() {
        let given = vec![vec![1; 60], vec![], vec![2; 9000]];
        assert_eq!(frames(&bytes_of(&given)).unwrap(), given);
    }

    #[test]
    fn the_other_byte_order_is_understood() {
        let mut bytes = Vec::new();
        for word in [MAGIC_NANOSECONDS, 0x0002_0004, 0, 0, 65535, 1, 0, 0, 2, 2] {
            bytes.extend(word.to_be_bytes());
        }
        bytes.extend([7, 8]);
        assert_eq!(frames(&bytes).unwrap(), vec![vec![7, 8]]);
    }

    #[test]
    fn a_cut_capture_says_where() {
        let whole = bytes_of(&[vec![1; 60], vec![2; 60]]);
        let cut = frames(&whole[..whole.len() - 1]).unwrap_err();
        assert!(cut.contains("truncated") && cut.contains("record 2 says 60 bytes, the file has 59"), "{cut}");
        assert!(frames(&whole[..HEADER_BYTES + 3]).unwrap_err().contains("truncated"));
        assert!(frames(&whole[..10]).unwrap_err().contains("truncated"));
        assert!(frames(b"hello world").unwrap_err().contains("not a pcap"));
    }
}
