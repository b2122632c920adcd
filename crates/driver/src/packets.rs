//! Packets from a file: a capture, or the `packet` lines of STF. The file's contents decide which.

use crate::entries;
use crate::failure::Failure;
use crate::files;
use crate::pcap;
use control::plane::Frame;
use std::path::Path;

pub enum Packets {
    /// Packets that are known to come in on any port.
    Capture(Vec<Vec<u8>>),
    /// With the ports on which they come in.
    Stf(Vec<Frame>),
}

pub fn read(path: &Path) -> Result<Packets, Failure> {
    let bytes = files::contents(path)?;
    if pcap::is_capture(&bytes) {
        return Ok(Packets::Capture(pcap::read(path)?));
    }
    if std::str::from_utf8(&bytes).is_err() {
        let message = "expected packets: a capture (pcap or pcapng, also packed with gzip), or STF";
        return Err(Failure::input(format!("{}: {message}", path.display())));
    }
    Ok(Packets::Stf(entries::packets(path)?))
}
