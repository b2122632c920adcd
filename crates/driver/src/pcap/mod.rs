//! Captures: pcap and pcapng, also packed with gzip, of Ethernet frames or of what can be made Ethernet frames.
//!
//! Whatever is not taken as it was captured is reported: frames that were cut, and other link types.

mod classic;
mod growing;
mod link;
mod ng;

use crate::failure::Failure;
use crate::files;
pub use classic::bytes_of;
pub use growing::{Growing, Packet};
use link::Link;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// A packet as a capture has it.
struct Record<'c> {
    bytes: &'c [u8],
    /// Bytes that the packet had on the wire.
    length: u32,
    /// The number of its link type.
    link: u32,
}

/// The frames of a capture, and the warnings about it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Capture {
    frames: Vec<Vec<u8>>,
    warnings: Vec<String>,
}

/// Whether these are the bytes of a capture, of any form.
pub fn is_capture(bytes: &[u8]) -> bool {
    classic::order(bytes).is_some() || ng::is_one(bytes)
}

/// Counts microseconds in a capture that was written, as all readers know; DPDK counts nanoseconds. Nothing is to be done for other files.
///
/// # Errors
/// The file cannot be read or written.
pub fn count_microseconds(path: &Path) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::environment(format!("{}: {error}", path.display()));
    if !path.is_file() {
        return Ok(());
    }
    let mut bytes = std::fs::read(path).map_err(failed)?;
    if classic::count_microseconds(&mut bytes) { std::fs::write(path, bytes).map_err(failed) } else { Ok(()) }
}

/// The whole frames of a capture. What is left out, or was made of something else, is reported on stderr, once for a file.
pub fn read(path: &Path) -> Result<Vec<Vec<u8>>, Failure> {
    static REPORTED: Mutex<BTreeSet<PathBuf>> = Mutex::new(BTreeSet::new());
    let bytes = files::contents(path)?;
    let failed = |message: String| Failure::input(format!("{}: {message}", path.display()));
    let Capture { frames, warnings } = capture(&bytes).map_err(failed)?;
    if REPORTED.lock().is_ok_and(|mut reported| reported.insert(path.to_path_buf())) {
        warnings.iter().for_each(|warning| eprintln!("{}: warning: {warning}", path.display()));
    }
    Ok(frames)
}

fn capture(bytes: &[u8]) -> Result<Capture, String> {
    let records = match classic::order(bytes) {
        Some(order) => classic::records(bytes, order)?,
        None if ng::is_one(bytes) => ng::records(bytes)?,
        None => return Err("not a capture: expected pcap or pcapng, as it is or packed with gzip".to_string()),
    };
    let mut capture = Capture::default();
    let (mut cut, mut first_cut, mut converted) = (0, None, BTreeSet::new());
    for (at, record) in records.iter().enumerate() {
        let link = Link::of(record.link)?;
        if record.bytes.len() < record.length as usize {
            cut += 1;
            first_cut.get_or_insert((at + 1, record));
            continue;
        }
        if link != Link::Ethernet {
            converted.insert(link);
        }
        let frame = link.frame(record.bytes);
        capture.frames.push(frame.ok_or_else(|| format!("packet {} ends within its {} header", at + 1, link.name()))?);
    }
    for link in converted {
        capture.warnings.push(format!("packets of {} are given Ethernet headers: {}", link.name(), link.addresses()));
    }
    if let Some((number, record)) = first_cut {
        let (kept, length, all) = (record.bytes.len(), record.length, records.len());
        let message = format!(
            "{cut} of {all} packets were cut when they were captured, the first is packet {number} with {kept} of {length} bytes: \
             left out; whole ones come by `tcpdump -s 0`"
        );
        if capture.frames.is_empty() {
            return Err(message);
        }
        capture.warnings.push(message);
    }
    Ok(capture)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frames(bytes: &[u8]) -> Vec<Vec<u8>> {
        capture(bytes).unwrap().frames
    }

    #[test]
    fn what_is_written_is_read_back() {
        let given = vec![vec![1; 60], vec![], vec![2; 9000]];
        assert_eq!(frames(&bytes_of(&given)), given);
        assert!(is_capture(&bytes_of(&given)) && !is_capture(b"packet 1 00") && !is_capture(b""));
    }

    /// A capture of this link type with packets of so many bytes, of which the first `kept` were captured.
    fn classic(link: u32, packets: &[(u32, &[u8])]) -> Vec<u8> {
        let mut bytes = Vec::new();
        for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65535, link] {
            bytes.extend(u32::to_le_bytes(word));
        }
        for (length, kept) in packets {
            for word in [0, 0, kept.len() as u32, *length] {
                bytes.extend(word.to_le_bytes());
            }
            bytes.extend(*kept);
        }
        bytes
    }

    #[test]
    fn packets_that_were_cut_are_left_out_and_reported() {
        let some = capture(&classic(1, &[(4, &[1, 2, 3, 4]), (90, &[5; 60]), (70, &[5; 60])])).unwrap();
        assert_eq!(some.frames, [[1, 2, 3, 4]]);
        let warning = "2 of 3 packets were cut when they were captured, the first is packet 2 with 60 of 90 bytes: left out; \
                    whole ones come by `tcpdump -s 0`";
        assert_eq!(some.warnings, [warning]);
        assert!(capture(&classic(1, &[(90, &[5; 60])])).unwrap_err().contains("1 of 1 packets were cut"));
    }

    #[test]
    fn other_link_types_become_ethernet_or_are_refused() {
        let ipv4 = [0x45, 0, 0, 20];
        let raw = capture(&classic(101, &[(4, &ipv4)])).unwrap();
        assert_eq!(raw.frames[0][12..], [0x08, 0x00, 0x45, 0, 0, 20]);
        assert_eq!(raw.warnings.len(), 1, "{:?}", raw.warnings);
        let cooked = [&[0, 0, 0, 1, 0, 6, 2, 0, 0, 0, 0, 9, 0, 0, 0x86, 0xdd][..], &[0x60, 0]].concat();
        let cooked = capture(&classic(113, &[(18, &cooked)])).unwrap();
        assert_eq!(cooked.frames[0], [0, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 9, 0x86, 0xdd, 0x60, 0]);
        let wireless = capture(&classic(105, &[(4, &ipv4)])).unwrap_err();
        assert!(wireless.contains("link type 105"), "{wireless}");
        assert!(capture(&classic(113, &[(4, &ipv4)])).unwrap_err().contains("packet 1 ends within its"));
    }
}
