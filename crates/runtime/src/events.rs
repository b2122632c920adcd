//! Events that a pipeline sends to the control plane while it works on packets: digests, log lines, failed assertions, packets for the controller;
//! and entries that it inserts by itself.
//!
//! Each worker has a bounded queue for each kind, so that a flood of one kind costs no other. Sending takes no lock and no memory. What finds its queue full
//! is lost and counted; what waits stays.

use crate::ring::Ring;

/// One message of a worker.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Values in limbs, each field starting a new one.
    Digest {
        digest: u32,
        values: Vec<u64>,
    },
    /// A format with `{}` for each value; values in limbs, with their widths.
    Log {
        format: String,
        values: Vec<u64>,
        widths: Vec<u32>,
    },
    Fail {
        text: String,
    },
    /// A packet with all that it carries, for [`crate::Switch::resume`].
    Punt(Punted),
}

/// A packet that the control plane has, with the state that the pipeline saved, as it was at a node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Punted {
    pub packet: Vec<u8>,
    /// Values by `struct saved_field` of the pipeline.
    pub saved: Vec<u8>,
    pub node: u32,
    /// The worker that processed it.
    pub worker: u32,
    /// What the control plane gives a packet that it lets go on. One that is punted again brings it back; others have 0.
    pub mark: u64,
    /// Which of the switch's pipelines saved it: no other understands it.
    pub(crate) generation: u32,
}

impl Punted {
    pub(crate) fn head(&self) -> [u8; HEAD] {
        head(self.saved.len() as u32, self.generation, self.mark)
    }
}

/// Bytes of `struct host_saved`.
const HEAD: usize = 16;

pub(crate) fn head(saved_bytes: u32, generation: u32, mark: u64) -> [u8; HEAD] {
    let mut bytes = [0; HEAD];
    bytes[..4].copy_from_slice(&saved_bytes.to_ne_bytes());
    bytes[4..8].copy_from_slice(&generation.to_ne_bytes());
    bytes[8..].copy_from_slice(&mark.to_ne_bytes());
    bytes
}

/// Messages that found their queue full, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Lost {
    pub digests: u64,
    pub logs: u64,
    pub fails: u64,
    pub punts: u64,
}

impl Lost {
    pub fn total(&self) -> u64 {
        self.digests + self.logs + self.fails + self.punts
    }
}

/// Bytes of the queues. Their memory is taken when it is first used.
const MESSAGES_BYTES: u64 = 1 << 22;
const FAILS_BYTES: u64 = 1 << 16;
const PUNTS_BYTES: u64 = 1 << 23;

/// The events of one worker, until the control thread takes them.
pub(crate) struct Events {
    pub digests: Ring,
    pub logs: Ring,
    pub fails: Ring,
    pub punts: Ring,
}

impl Events {
    pub fn new() -> Events {
        Events {
            digests: Ring::new(MESSAGES_BYTES),
            logs: Ring::new(MESSAGES_BYTES),
            fails: Ring::new(FAILS_BYTES),
            punts: Ring::new(PUNTS_BYTES),
        }
    }

    /// Adds the events of worker `id` so far, each kind in order, `digests` records of digests at most, and what was lost since this was last called. By the
    /// control thread.
    pub fn take(&self, (id, digests): (u32, usize), events: &mut Vec<Event>, lost: &mut Lost) {
        lost.digests +=
            all((&self.digests, digests), |digest, bytes| Event::Digest { digest, values: limbs(bytes) }, events);
        lost.logs += all((&self.logs, usize::MAX), read_log, events);
        lost.fails += all((&self.fails, usize::MAX), |_, bytes| Event::Fail { text: text(bytes) }, events);
        lost.punts += all((&self.punts, usize::MAX), |node, bytes| Event::Punt(read_punt(id, node, bytes)), events);
    }
}

fn all((ring, most): (&Ring, usize), read: impl Fn(u32, &[u8]) -> Event, events: &mut Vec<Event>) -> u64 {
    // SAFETY: the control thread alone reads, by `Events::take`.
    unsafe { ring.drain(most, read, events) };
    ring.take_lost()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn limbs(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks_exact(8).map(|limb| u64::from_ne_bytes(limb.try_into().expect("chunks are of 8 bytes"))).collect()
}

fn words(bytes: &[u8]) -> Vec<u32> {
    bytes.chunks_exact(4).map(|word| u32::from_ne_bytes(word.try_into().expect("chunks are of 4 bytes"))).collect()
}

/// Widths, the limbs of the values, then the format.
fn read_log(count: u32, bytes: &[u8]) -> Event {
    let (widths, rest) = bytes.split_at(4 * count as usize);
    let widths = words(widths);
    let (values, format) = rest.split_at(8 * limb_count(&widths));
    Event::Log { format: text(format), values: limbs(values), widths }
}

pub(crate) fn limb_count(widths: &[u32]) -> usize {
    widths.iter().map(|width| width.div_ceil(64).max(1) as usize).sum()
}

/// `struct host_saved` of runtime/port/host.h, what was saved, rounded up to whole limbs, and the packet.
fn read_punt(worker: u32, node: u32, bytes: &[u8]) -> Punted {
    let (head, rest) = bytes.split_at(HEAD);
    let (numbers, mark) = (words(&head[..8]), limbs(&head[8..])[0]);
    let (bytes, generation) = (numbers[0] as usize, numbers[1]);
    let (saved, packet) = rest.split_at(bytes.next_multiple_of(8));
    Punted { packet: packet.to_vec(), saved: saved[..bytes].to_vec(), node, worker, mark, generation }
}

/// The parts of such a message before the packet: the head, what was saved, and what fills its last limb.
pub(crate) fn saved_parts<'a>(head: &'a [u8; HEAD], saved: &'a [u8]) -> [&'a [u8]; 3] {
    let missing = saved.len().next_multiple_of(8) - saved.len();
    [head, saved, &[0; 8][..missing]]
}
