//! The packets of a file, as the in-memory port replays them: over and over, if they are few in an order that is drawn.

use control::plane::Frame;
use driver::failure::Failure;
use driver::packets::{self, Packets};
use driver::random::Random;
use native::trace_of;
use runtime::{Buffers, Trace};
use std::path::Path;

/// Fewer packets come in orders that are drawn: a core learns one that repeats, and guesses right where a network's packets would
/// surprise it. More are so many bytes that reading them in another order than their own would be measured as well.
pub const SHUFFLED: usize = 1 << 14;
/// Packets until such an order repeats, at least. Zen 5 learns one of 4,096 packets.
const LEARNED: usize = 1 << 16;
const SEED: u64 = 1;
/// Bytes of Ethernet's shortest frames: tests have shorter packets, and networks have none.
const SHORTEST: usize = 60;
/// For packets of common lengths; those of longer packets are larger.
const BUFFERS: Buffers = Buffers { count: 1024, bytes: 2048, headroom_bytes: 128 };
pub const LARGEST_BUFFERS: Buffers = Buffers { bytes: 16384, ..BUFFERS };

/// Packets, and what a port needs for them.
pub struct Frames {
    pub frames: Vec<Frame>,
    /// Packets that are left out: copying them would cost more than all else.
    pub too_long: usize,
    /// The smallest that hold each of the packets.
    pub buffers: Buffers,
}

impl Frames {
    /// Packets of a capture come in on `port`; those of STF have ports.
    pub fn read(path: &Path, port: u32) -> Result<Frames, Failure> {
        let mut frames = match packets::read(path)? {
            Packets::Capture(frames) => frames.into_iter().map(|bytes| Frame { port, bytes }).collect(),
            Packets::Stf(frames) => frames,
        };
        let all = frames.len();
        frames.retain(|frame| frame.bytes.len() <= LARGEST_BUFFERS.room() as usize);
        if frames.is_empty() {
            let longest = LARGEST_BUFFERS.room();
            let message = format!("there are no packets in it of up to {longest} bytes, which a buffer holds");
            return Err(Failure::input(format!("{}: {message}", path.display())));
        }
        let buffers = buffers_for(&frames);
        frames.iter_mut().for_each(|frame| frame.bytes.resize(frame.bytes.len().max(SHORTEST), 0));
        let too_long = all - frames.len();
        Ok(Frames { frames, too_long, buffers })
    }

    /// Each packet as often as any other, and as many as it takes.
    pub fn trace(&self, path: &Path) -> Result<Trace, Failure> {
        let refused = |refusal| Failure::refusal(path.display(), &refusal);
        let trace = trace_of(&self.frames, self.buffers.room()).map_err(refused)?;
        let count = self.frames.len();
        Ok(if count < SHUFFLED { trace.ordered(drawn(count)) } else { trace })
    }
}

fn buffers_for(frames: &[Frame]) -> Buffers {
    let longest = frames.iter().map(|frame| frame.bytes.len() as u32).max().unwrap_or(0);
    let mut buffers = BUFFERS;
    while buffers.room() < longest.min(LARGEST_BUFFERS.room()) {
        buffers.bytes *= 2;
    }
    buffers
}

/// Numbers below `count`, each as often as any other.
fn drawn(count: usize) -> Vec<u32> {
    let mut order: Vec<u32> = (0..LEARNED.div_ceil(count)).flat_map(|_| 0..count as u32).collect();
    let mut random = Random::new(SEED);
    for at in (1..order.len()).rev() {
        order.swap(at, random.below(at as u64 + 1) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_packets_come_as_often_as_each_other() {
        let frames = (0..3).map(|port| Frame { port, bytes: vec![port as u8; 60] }).collect();
        let frames = Frames { frames, too_long: 0, buffers: BUFFERS };
        let trace = frames.trace(Path::new("three")).unwrap_or_else(|failure| panic!("{}", failure.message()));
        let many: Vec<(u16, u8)> = trace.packets().map(|packet| (packet.port, packet.bytes[0])).collect();
        let count = |port| many.iter().filter(|packet| **packet == (port, port as u8)).count();
        assert_eq!([count(0), count(1), count(2)], [many.len() / 3; 3]);
        assert!(many.len() >= LEARNED && many[..9] != [(0, 0), (1, 1), (2, 2)].repeat(3)[..]);
    }
}
