//! The packets of freeRtr's bench, cut to frames of 64 bytes.

use crate::workload::frames;

/// Bytes of a frame, as an Ethernet port hands it over with its shortest packets.
const FRAME: usize = 64;
/// Where the destination address is in IPv4's header.
const DESTINATION: usize = 16;

/// One of the five.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Kind {
    pub name: &'static str,
    /// Where the header of IP begins. Behind a label it is not looked at.
    ip: Option<usize>,
    /// Where the length of PPPoE's payload is.
    pppoe_length: Option<usize>,
}

pub const IPV4: Kind = Kind { name: "ipv4", ip: Some(14), pppoe_length: None };

pub const KINDS: [Kind; 5] = [
    IPV4,
    Kind { name: "ipv6", ip: Some(14), pppoe_length: None },
    Kind { name: "vlan", ip: Some(18), pppoe_length: None },
    Kind { name: "pppoe", ip: Some(22), pppoe_length: Some(18) },
    Kind { name: "mpls", ip: None, pppoe_length: None },
];

impl Kind {
    /// The frame of a file that freeRtr's bench reads: bytes in hexadecimal. Lengths that the headers have are those of the shorter frame.
    pub fn frame(self, text: &str) -> Result<Vec<u8>, String> {
        let byte = |word| u8::from_str_radix(word, 16).map_err(|_| format!("`{word}` is no byte in hexadecimal"));
        let mut frame = text.split_whitespace().take(FRAME).map(byte).collect::<Result<Vec<u8>, String>>()?;
        if frame.len() < FRAME {
            return Err(format!("{} bytes, where a frame has {FRAME}", frame.len()));
        }
        if let Some(ip) = self.ip {
            set_length(&mut frame[ip..]);
        }
        if let Some(at) = self.pppoe_length {
            // The type of the payload is counted.
            put16(&mut frame, at, (FRAME - at - 2) as u16);
        }
        Ok(frame)
    }

    /// The same to another IPv4 address.
    pub fn to(self, frame: &[u8], destination: u32) -> Vec<u8> {
        let mut frame = frame.to_vec();
        if let Some(ip) = self.ip {
            frame[ip + DESTINATION..ip + DESTINATION + 4].copy_from_slice(&destination.to_be_bytes());
            set_length(&mut frame[ip..]);
        }
        frame
    }
}

/// Gives a packet of IP the length that it has, and IPv4 its checksum.
fn set_length(packet: &mut [u8]) {
    const IPV4_HEADER: usize = 20;
    const IPV6_HEADER: usize = 40;
    let length = packet.len();
    if packet[0] >> 4 == 6 {
        put16(packet, 4, (length - IPV6_HEADER) as u16);
    } else {
        put16(packet, 2, length as u16);
        put16(packet, 10, 0);
        let checksum = frames::checksum(&packet[..IPV4_HEADER]);
        put16(packet, 10, checksum);
    }
}

fn put16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    const PPPOE: &str = "00 76 16 02 74 79 00 00 11 11 22 22 88 64\n11 00 30 39 05 e0 00 21\n\
                         45 00 05 dc 76 4c 40 00 40 01 b3 e5 0a 08 ff 01 01 01 01 01\n08 00";

    fn sum(header: &[u8]) -> u32 {
        let sum: u32 = header.chunks(2).map(|two| u32::from(two[0]) << 8 | u32::from(two[1])).sum();
        (sum & 0xffff) + (sum >> 16)
    }

    #[test]
    fn a_frame_is_cut_and_its_headers_have_the_new_lengths() {
        let frame = KINDS[3].frame(&format!("{PPPOE} {}", "00 ".repeat(100))).unwrap();
        assert_eq!(frame.len(), 64);
        assert_eq!(u16::from_be_bytes([frame[18], frame[19]]), 44, "PPPoE: the type and 42 bytes of IPv4");
        assert_eq!(u16::from_be_bytes([frame[24], frame[25]]), 42);
        assert_eq!(sum(&frame[22..42]), 0xffff);
        let other = KINDS[3].to(&frame, 0x0a00_0001);
        assert_eq!((&other[38..42], sum(&other[22..42])), (&[10, 0, 0, 1][..], 0xffff));
    }

    #[test]
    fn short_frames_and_other_texts_are_refused() {
        assert!(IPV4.frame(PPPOE).unwrap_err().contains("44 bytes"));
        assert!(IPV4.frame("00 xy").unwrap_err().contains("`xy`"));
    }
}
