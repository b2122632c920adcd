//! Captures as people have them, in every command that reads one: nothing is left out without a word.

use crate::command::{bacus, has_dpdk, path, said, scratch};
use std::fs;
use std::io::Write as _;
use std::path::Path;

/// A classic capture of packets with so many bytes on the wire.
fn classic(link: u32, packets: &[(usize, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [0xa1b2_c3d4u32, 0x0004_0002, 0, 0, 65535, link] {
        bytes.extend(word.to_le_bytes());
    }
    for (length, captured) in packets {
        for word in [0, 0, captured.len() as u32, *length as u32] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(*captured);
    }
    bytes
}

/// A pcapng capture of the same.
fn pcapng(link: u32, packets: &[(usize, &[u8])]) -> Vec<u8> {
    let block = |kind: u32, words: &[u32], bytes: &[u8]| {
        let padded = bytes.len().next_multiple_of(4);
        let length = (12 + 4 * words.len() + padded) as u32;
        let mut made: Vec<u8> = [kind, length].iter().chain(words).flat_map(|word| word.to_le_bytes()).collect();
        made.extend(bytes);
        made.resize(length as usize - 4, 0);
        made.extend(length.to_le_bytes());
        made
    };
    let mut bytes = block(0x0a0d_0d0a, &[0x1a2b_3c4d, 1, u32::MAX, u32::MAX], &[]);
    bytes.extend(block(1, &[link, 0], &[]));
    for (length, captured) in packets {
        bytes.extend(block(6, &[0, 0, 0, captured.len() as u32, *length as u32], captured));
    }
    bytes
}

fn packed(bytes: &[u8]) -> Vec<u8> {
    let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    packer.write_all(bytes).unwrap();
    packer.finish().unwrap()
}

/// An IPv4 packet that `ipv4fwd` has a route for, with this many bytes behind its header.
fn ipv4(rest: usize) -> Vec<u8> {
    let mut header = vec![0x45, 0, 0, 0, 0, 1, 0, 0, 64, 17, 0, 0, 1, 2, 3, 4, 10, 1, 2, 9];
    header[2..4].copy_from_slice(&((20 + rest) as u16).to_be_bytes());
    let sum: u32 = header.chunks(2).map(|two| u32::from(two[0]) << 8 | u32::from(two[1])).sum();
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    header[10..12].copy_from_slice(&sum.to_be_bytes());
    header.resize(20 + rest, 0x78);
    header
}

fn ethernet(packet: &[u8]) -> Vec<u8> {
    [&[2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0][..], packet].concat()
}

/// Both engines with the packets of a capture: whether it was taken, and what was said.
fn compared(capture: &Path) -> (bool, String) {
    let app = |name: &str| path(&format!("apps/ipv4fwd/{name}"));
    let ran = bacus()
        .arg("stf")
        .args([app("ipv4fwd.p4"), app("entries.stf")])
        .arg("--trace")
        .arg(capture)
        .args(["--count", "50"])
        .output()
        .unwrap();
    let said = said(&ran);
    (ran.status.success(), said)
}

#[test]
fn captures_are_taken_in_every_form() {
    let directory = scratch("forms-of-captures");
    let frame = ethernet(&ipv4(30));
    let whole: &[(usize, &[u8])] = &[(frame.len(), &frame), (frame.len(), &frame)];
    let ip = ipv4(30);
    let raw: &[(usize, &[u8])] = &[(ip.len(), &ip)];
    let cut: &[(usize, &[u8])] = &[(frame.len(), &frame), (900, &frame)];
    let long = ethernet(&ipv4(20000));
    let with_long: &[(usize, &[u8])] = &[(frame.len(), &frame), (long.len(), &long)];
    let cases = [
        ("a.pcap", classic(1, whole), true, "both engines agree"),
        ("a.pcapng", pcapng(1, whole), true, "both engines agree"),
        ("a.pcap.gz", packed(&classic(1, whole)), true, "both engines agree"),
        ("a.cap", packed(&pcapng(1, whole)), true, "both engines agree"),
        ("raw.pcap", classic(101, raw), true, "warning: packets of raw IP are given Ethernet headers"),
        (
            "cut.pcap",
            classic(1, cut),
            true,
            "warning: 1 of 2 packets were cut when they were captured, the first is packet 2 with 64 of 900 bytes",
        ),
        ("cut.pcapng", pcapng(1, cut), true, "packet 2 with 64 of 900 bytes"),
        ("long.pcap", classic(1, with_long), true, "1 of 2 packets have more than 15104 bytes: left out"),
        ("wireless.pcap", classic(105, whole), false, "a capture of link type 105; what is understood is Ethernet (1)"),
        ("half.pcap.gz", packed(&classic(1, whole))[..30].to_vec(), false, "packed with gzip, and cut or damaged"),
        ("half.pcapng", pcapng(1, whole)[..100].to_vec(), false, "a truncated capture: the block at byte"),
        (
            "noise",
            vec![0xff; 100],
            false,
            "expected packets: a capture (pcap or pcapng, also packed with gzip), or STF",
        ),
    ];
    for (name, bytes, taken, expected) in cases {
        let capture = directory.join(name);
        fs::write(&capture, bytes).unwrap();
        let (ran, said) = compared(&capture);
        assert!(ran == taken && said.contains(expected), "{name}: {said}");
        assert!(said.contains(&capture.display().to_string()), "{name}: {said}");
    }
    fs::remove_dir_all(directory).unwrap();
}

/// Packets of any length up to a jumbo frame's fit buffers; what is longer still is left out, as documented.
#[test]
fn packets_longer_than_default_buffers_are_measured() {
    let directory = scratch("long-packets");
    let capture = directory.join("long.pcap");
    let frames = [ethernet(&ipv4(30)), ethernet(&ipv4(1480)), ethernet(&ipv4(8980)), ethernet(&ipv4(20000))];
    let packets: Vec<(usize, &[u8])> = frames.iter().map(|frame| (frame.len(), frame.as_slice())).collect();
    fs::write(&capture, classic(1, &packets)).unwrap();
    let machine = path("tests/machines/slow-memory.toml");
    for (descriptor, port) in [("own", "on the in-memory port"), ("mbuf", "on DPDK's in-memory port")] {
        if descriptor == "mbuf" && !has_dpdk() {
            continue;
        }
        let mut command = bacus();
        command.arg("explain").arg(path("apps/ipv4fwd/ipv4fwd.p4")).args(["--measure", "--packets"]).arg(&capture);
        let ran = command.arg("--machine").arg(&machine).args(["--descriptor", descriptor]).output().unwrap();
        let said = said(&ran);
        assert!(ran.status.success(), "{said}");
        for expected in ["measured with 3 packets of ", "(1 longer than 15232 bytes left out)", port] {
            assert!(said.contains(expected), "{expected}: {said}");
        }
    }
    fs::remove_dir_all(directory).unwrap();
}
