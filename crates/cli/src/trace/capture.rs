//! Packets as pcapng, each with a comment: <https://www.ietf.org/archive/id/draft-ietf-opsawg-pcapng-02.html>, sections 4.1 to 4.3.

use control::message::switch::TracedPacket;
use driver::failure::Failure;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

const SECTION: u32 = 0x0a0d_0d0a;
const INTERFACE: u32 = 1;
const PACKET: u32 = 6;
const MAGIC: u32 = 0x1a2b_3c4d;
const ETHERNET: u16 = 1;
const COMMENT: u16 = 1;
/// Of an interface: the resolution of its times, as a negative power of ten.
const RESOLUTION: u16 = 9;
const NANOSECONDS: u8 = 9;

/// A file that is whole behind each packet.
pub struct Capture {
    file: File,
    path: PathBuf,
}

impl Capture {
    pub fn create(path: &Path) -> Result<Capture, Failure> {
        let file = File::create(path).map_err(|error| Failure::unwritable(path, &error))?;
        let mut capture = Capture { file, path: path.to_path_buf() };
        let version = [1u16.to_le_bytes(), 0u16.to_le_bytes()].concat();
        let section = [&MAGIC.to_le_bytes()[..], &version, &u64::MAX.to_le_bytes()].concat();
        capture.write(&block(SECTION, &section))?;
        let link = [&ETHERNET.to_le_bytes()[..], &[0; 2], &0u32.to_le_bytes()].concat();
        let interface = [link, option(RESOLUTION, &[NANOSECONDS]), option(0, &[])].concat();
        capture.write(&block(INTERFACE, &interface))?;
        Ok(capture)
    }

    pub fn add(&mut self, packet: &TracedPacket, comment: &str) -> Result<(), Failure> {
        self.write(&packet_block(packet.clock_ns, &packet.received, comment))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<(), Failure> {
        self.file.write_all(bytes).map_err(|error| Failure::unwritable(&self.path, &error))
    }
}

fn packet_block(clock_ns: u64, bytes: &[u8], comment: &str) -> Vec<u8> {
    let (high, low, length) = ((clock_ns >> 32) as u32, clock_ns as u32, bytes.len() as u32);
    let head: Vec<u8> = [0, high, low, length, length].into_iter().flat_map(u32::to_le_bytes).collect();
    block(PACKET, &[head, padded(bytes), option(COMMENT, comment.as_bytes()), option(0, &[])].concat())
}

/// A block with its length in front and behind.
fn block(kind: u32, body: &[u8]) -> Vec<u8> {
    let length = (body.len() as u32 + 12).to_le_bytes();
    [&kind.to_le_bytes()[..], &length, body, &length].concat()
}

fn option(code: u16, value: &[u8]) -> Vec<u8> {
    // A length has 16 bits.
    let value = &value[..value.len().min(usize::from(u16::MAX))];
    [&code.to_le_bytes()[..], &(value.len() as u16).to_le_bytes(), &padded(value)].concat()
}

fn padded(bytes: &[u8]) -> Vec<u8> {
    let mut padded = bytes.to_vec();
    padded.resize(bytes.len().next_multiple_of(4), 0);
    padded
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_and_options_are_padded_and_have_their_length_twice() {
        let block = packet_block(0x1_0000_0002, &[1, 2, 3, 4, 5], "ab");
        assert_eq!(block.len() as u32, u32::from_le_bytes(block[4..8].try_into().expect("four bytes")));
        assert_eq!(block[4..8], block[block.len() - 4..]);
        assert_eq!((block[12], block[16], block[20], block[24]), (1, 2, 5, 5));
        assert_eq!(block[28..36], [1, 2, 3, 4, 5, 0, 0, 0]);
        assert_eq!(block[36..44], [1, 0, 2, 0, b'a', b'b', 0, 0]);
    }
}
