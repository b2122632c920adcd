//! A capture that grows while it is read, as one that comes through a named pipe.

use super::classic::{self, Order};
use super::link::Link;

/// A packet, and when it was captured: seconds, and parts of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    pub time: (u32, u32),
    pub frame: Vec<u8>,
}

/// What has come, up to the first packet that is not whole yet.
#[derive(Default)]
pub struct Growing {
    rest: Vec<u8>,
    kind: Option<(Order, Link)>,
}

impl Growing {
    /// Takes the next bytes, and gives the packets that are whole with them. Packets that were cut when they were captured are left out.
    ///
    /// # Errors
    /// It is no capture in the classic format, or has packets of a link type that cannot be made Ethernet frames.
    pub fn take(&mut self, bytes: &[u8]) -> Result<Vec<Packet>, String> {
        self.rest.extend(bytes);
        let Some((order, link)) = self.kind()? else { return Ok(Vec::new()) };
        let (mut packets, mut at) = (Vec::new(), 0);
        while let Some((record, length)) = classic::record(&self.rest[at..], order) {
            let bytes = &self.rest[at + classic::RECORD_BYTES..at + record];
            let time = order.word(&self.rest, at).zip(order.word(&self.rest, at + 4)).unwrap_or_default();
            at += record;
            if bytes.len() < length as usize {
                continue;
            }
            let frame = link.frame(bytes).ok_or_else(|| format!("a packet ends within its {} header", link.name()))?;
            packets.push(Packet { time, frame });
        }
        self.rest.drain(..at);
        Ok(packets)
    }

    /// Whether bytes have come that are no whole packet.
    pub fn is_cut(&self) -> bool {
        !self.rest.is_empty()
    }

    /// Known once the header is there.
    fn kind(&mut self) -> Result<Option<(Order, Link)>, String> {
        if self.kind.is_none() && self.rest.len() >= classic::HEADER_BYTES {
            let order = classic::order(&self.rest).ok_or("not a capture in the classic format of pcap")?;
            let link = Link::of(order.word(&self.rest, 20).unwrap_or_default() & 0xffff)?;
            self.rest.drain(..classic::HEADER_BYTES);
            self.kind = Some((order, link));
        }
        Ok(self.kind)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_come_as_soon_as_they_are_whole() {
        let frames = [vec![1; 60], vec![], vec![2; 9000]];
        let bytes = classic::bytes_of(&frames);
        for step in [1, 7, 100, 100_000] {
            let mut growing = Growing::default();
            let steps = bytes.chunks(step).map(|part| growing.take(part).unwrap());
            let packets: Vec<Packet> = steps.flatten().collect();
            assert_eq!(packets.iter().map(|packet| packet.frame.clone()).collect::<Vec<_>>(), frames, "{step}");
            assert_eq!(packets.iter().map(|packet| packet.time).collect::<Vec<_>>(), [(0, 0), (0, 1), (0, 2)]);
            assert!(!growing.is_cut());
        }
        let mut growing = Growing::default();
        assert_eq!(growing.take(&bytes[..24 + 16 + 60 + 3]).unwrap().len(), 1);
        assert!(growing.is_cut());
        assert!(Growing::default().take(&[b'x'; 24]).unwrap_err().contains("not a capture"));
    }
}
