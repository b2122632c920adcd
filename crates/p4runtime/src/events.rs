//! Notifications of controllers: packets, records of digests, idle entries, links that go down.
//!
//! The process only puts an event into a bounded queue, which never waits; a thread of the server makes the messages. What finds no room is
//! counted and lost, as the protocol has it.

use crate::device::{Device, Pipeline, lock};
use crate::digest::{Configs, List};
use crate::election::Elections;
use crate::miss::Miss;
use crate::read::idle_entry;
use crate::target::follow_link;
use crate::{data, packet};
use control::message::runtime::{DigestList, IdleTimeoutNotification, stream_message_response::Update as Message};
use control::plane::{DigestRecord, EntryKey};
use hlir::TableId;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// Events that are sent under one lock, at most.
const TOGETHER: usize = 64;

pub enum Event {
    PacketsIn(Vec<Vec<u8>>),
    Digests(Vec<DigestRecord>),
    /// With the time of the notice, in nanoseconds since 1970.
    Idle(Vec<EntryKey>, i64),
    Misses(Vec<(TableId, Vec<u8>)>),
    Port {
        port: u32,
        up: bool,
    },
    Stop,
}

/// The process's end of the queue.
#[derive(Clone)]
pub struct Events {
    queue: SyncSender<Event>,
    device: Arc<Device>,
}

impl Events {
    pub fn new(queue: SyncSender<Event>, device: Arc<Device>) -> Events {
        Events { queue, device }
    }

    /// A frame left by the CPU port, with the header `packet_in` in front if the program has one.
    pub fn packet_in(&self, frame: Vec<u8>) {
        self.packets_in(vec![frame]);
    }

    /// Several of them, in their order.
    pub fn packets_in(&self, frames: Vec<Vec<u8>>) {
        let count = frames.len();
        self.put_packets(Event::PacketsIn(frames), count);
    }

    fn put_packets(&self, event: Event, count: usize) {
        if count == 0 {
            return;
        }
        self.device.packets_waiting.fetch_add(count, Ordering::Relaxed);
        if self.queue.try_send(event).is_err() {
            self.device.packets_waiting.fetch_sub(count, Ordering::Relaxed);
            self.device.losses.packets_in.fetch_add(count as u64, Ordering::Relaxed);
        }
    }

    /// Packets that the controllers can take now. More are better left where they are, since they would be lost on the way. None: there is no
    /// primary controller to take any.
    pub fn packet_room(&self) -> Option<usize> {
        let room = self.device.elections().room()?;
        Some(room.saturating_sub(self.device.packets_waiting.load(Ordering::Relaxed)))
    }

    /// Whether a controller has subscribed to any digest.
    pub fn wants_digests(&self) -> bool {
        self.device.pipeline().as_ref().is_some_and(|pipeline| !configs(pipeline).is_empty())
    }

    pub fn digest(&self, record: DigestRecord) {
        self.digests(vec![record]);
    }

    pub fn digests(&self, records: Vec<DigestRecord>) {
        let count = records.len() as u64;
        if count > 0 && self.queue.try_send(Event::Digests(records)).is_err() {
            self.device.losses.digests.fetch_add(count, Ordering::Relaxed);
        }
    }

    /// No packet has hit these entries for their time, when the switch's clock was `clock_ns`. The process reports it again when a whole time has passed
    /// since then without one.
    pub fn idle(&self, entries: Vec<EntryKey>, clock_ns: u64) {
        let timestamp = lock(&self.device.wall_clock).at(clock_ns, now());
        self.put(Event::Idle(entries, timestamp), &self.device.losses.idle);
    }

    /// Packets wait for an entry of these tables. Those beyond [`Events::packet_room`] are lost.
    pub fn misses(&self, packets: Vec<(TableId, Vec<u8>)>) {
        let count = packets.len();
        self.put_packets(Event::Misses(packets), count);
    }

    /// A port has lost its link, or has it again: groups and multicast groups leave it out meanwhile. Waits for room in the queue.
    pub fn port(&self, port: u32, up: bool) {
        drop(self.queue.send(Event::Port { port, up }));
    }

    pub fn stop(&self) {
        drop(self.queue.send(Event::Stop));
    }

    fn put(&self, event: Event, lost: &AtomicU64) {
        if self.queue.try_send(event).is_err() {
            lost.fetch_add(1, Ordering::Relaxed);
        }
    }
}

/// The thread that turns events into messages, until it is stopped.
pub fn run(device: &Device, queue: &Receiver<Event>) {
    // Lists without acknowledgement grow old unseen: looking ten times a second is often enough.
    const LOOK: Duration = Duration::from_millis(100);
    loop {
        let wait = match device.pipeline().as_ref() {
            Some(pipeline) => lock(&device.digests).idle_for(&configs(pipeline), Instant::now()).unwrap_or(LOOK),
            None => LOOK,
        };
        let first = match queue.recv_timeout(wait.min(LOOK)) {
            Err(RecvTimeoutError::Disconnected) => return,
            Ok(event) => Some(event),
            Err(RecvTimeoutError::Timeout) => None,
        };
        // What waits together is sent together: the locks are taken once.
        let events: Vec<Event> = first.into_iter().chain(queue.try_iter().take(TOGETHER)).collect();
        let stops = events.iter().any(|event| matches!(event, Event::Stop));
        send(device, events);
        if stops {
            return;
        }
    }
}

fn send(device: &Device, events: Vec<Event>) {
    for event in &events {
        if let Event::Port { port, up } = event {
            let mut down = lock(&device.ports_down);
            let _changed = if *up { down.remove(port) } else { down.insert(*port) };
        }
    }
    let packets = |event: &Event| match event {
        Event::PacketsIn(frames) => frames.len(),
        Event::Misses(packets) => packets.len(),
        Event::Digests(_) | Event::Idle(..) | Event::Port { .. } | Event::Stop => 0,
    };
    let packets: usize = events.iter().map(packets).sum();
    {
        // Locked in the order of a Write: a writer that waits for one lock must not block a reader that holds the other.
        let (elections, pipeline) = (device.elections(), device.pipeline());
        if let Some(pipeline) = pipeline.as_ref() {
            let teller = Teller { device, elections: &elections, pipeline };
            events.into_iter().for_each(|event| teller.take(event));
            let due = lock(&device.digests).due(&configs(pipeline), Instant::now());
            due.into_iter().for_each(|list| teller.send_list(list));
        }
    }
    device.packets_waiting.fetch_sub(packets, Ordering::Relaxed);
}

fn configs(pipeline: &Pipeline) -> Configs {
    lock(&pipeline.digests).clone()
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().try_into().unwrap_or(i64::MAX)
}

/// The switch's clock as the time of day. Notices of an entry are a whole idle time apart by the switch's clock, and so are their timestamps, however
/// long each of them takes to be made.
#[derive(Default)]
pub struct WallClock {
    /// Nanoseconds from the start of the switch's clock back to 1970.
    offset: Option<i64>,
}

impl WallClock {
    /// Nanoseconds since 1970 when the switch's clock was `clock_ns`; it is `now` or a little earlier.
    fn at(&mut self, clock_ns: u64, now: i64) -> i64 {
        /// Beyond, the time of day was set, or the switch's clock has started again.
        const DRIFT: u64 = 1_000_000_000;
        let clock = i64::try_from(clock_ns).unwrap_or(i64::MAX);
        let measured = now.saturating_sub(clock);
        let kept = self.offset.filter(|offset| offset.abs_diff(measured) <= DRIFT);
        clock.saturating_add(*self.offset.insert(kept.unwrap_or(measured)))
    }
}

/// Makes messages while the pipeline and the controllers stay the same.
struct Teller<'a> {
    device: &'a Device,
    elections: &'a Elections,
    pipeline: &'a Pipeline,
}

impl Teller<'_> {
    fn take(&self, event: Event) {
        match event {
            Event::PacketsIn(frames) => frames.into_iter().for_each(|frame| self.packet_in(frame)),
            Event::Digests(records) => self.digests(records),
            Event::Misses(packets) => packets.into_iter().for_each(|(table, packet)| self.miss(table, packet)),
            Event::Idle(keys, timestamp) => self.idle(&keys, timestamp),
            Event::Port { port, up } => self.port_changed(port, up),
            Event::Stop => {}
        }
    }

    fn send(&self, message: Message, lost: &AtomicU64) {
        lost.fetch_add(self.elections.send(message), Ordering::Relaxed);
    }

    fn packet_in(&self, frame: Vec<u8>) {
        match packet::packet_in(&self.pipeline.schema, frame) {
            Some(packet) => self.send(Message::Packet(packet), &self.device.losses.packets_in),
            None => drop(self.device.losses.malformed.fetch_add(1, Ordering::Relaxed)),
        }
    }

    fn miss(&self, table: TableId, packet: Vec<u8>) {
        let Some(table_id) = self.pipeline.schema.id_of(table) else { return };
        self.send(Miss { table_id, packet }.message(), &self.device.losses.packets_in);
    }

    fn digests(&self, records: Vec<DigestRecord>) {
        // Without a controller to take it, a record comes again.
        if !self.elections.has_primary() {
            return;
        }
        let (configs, now) = (configs(self.pipeline), Instant::now());
        for record in records {
            let Some(config) = configs.get(&record.digest) else { continue };
            let list = lock(&self.device.digests).push(record.digest, record.values, config, now);
            list.into_iter().for_each(|list| self.send_list(list));
        }
    }

    fn send_list(&self, list: List) {
        let (schema, losses) = (&self.pipeline.schema, &self.device.losses);
        let Some(digest) = schema.digests.iter().find(|digest| digest.digest == list.digest) else { return };
        let records =
            list.records.into_iter().map(|record| data::write(schema, &digest.record, &mut record.into_iter()));
        let Ok(data) = records.collect::<Result<Vec<_>, _>>() else {
            losses.digests.fetch_add(1, Ordering::Relaxed);
            return;
        };
        let message = DigestList { digest_id: digest.id, list_id: list.number, data, timestamp: now() };
        self.send(Message::Digest(message), &losses.digests);
    }

    fn idle(&self, keys: &[EntryKey], timestamp: i64) {
        let schema = &self.pipeline.schema;
        let table_entry = self.device.with_switch(|switch| {
            let store = switch.plane().store();
            keys.iter().filter_map(|key| idle_entry(schema, key, store.find(key))).collect::<Vec<_>>()
        });
        let Some(table_entry) = table_entry.ok().flatten().filter(|entries| !entries.is_empty()) else { return };
        let message = IdleTimeoutNotification { table_entry, timestamp };
        self.send(Message::IdleTimeoutNotification(message), &self.device.losses.idle);
    }

    /// What depends on the port follows in the store.
    fn port_changed(&self, port: u32, up: bool) {
        // Links are not saved.
        drop(self.device.with_switch(|switch| follow_link(switch, port, up)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timestamps_are_as_far_apart_as_the_switch_counts() {
        let mut clock = WallClock::default();
        assert_eq!(clock.at(1_000, 50_007_000), 50_007_000);
        // The first one was late by some microseconds, this one is not.
        assert_eq!(clock.at(201_000, 50_200_000), 50_207_000);
        // The time of day was set.
        assert_eq!(clock.at(401_000, 9_000_000_000), 9_000_000_000);
        assert_eq!(clock.at(601_000, 9_000_100_000), 9_000_200_000);
    }
}
