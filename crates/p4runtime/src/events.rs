//! What the process tells controllers of: packets, records of digests, idle entries, links that go down.
//!
//! The process only puts an event into a bounded queue, which never waits; a thread of the server makes the messages. What finds no room is
//! counted and lost, as the protocol has it.

use crate::device::{Device, Pipeline, lock};
use crate::digest::{Configs, List};
use crate::read::idle_entry;
use crate::write::{group_member, live_members, live_replicas};
use crate::{data, packet};
use control::message::runtime::{DigestList, IdleTimeoutNotification, stream_message_response::Update as Message};
use control::plane::{DigestRecord, EntryKey, Session, SessionTarget};
use control::{Refusal, Update};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub enum Event {
    PacketIn(Vec<u8>),
    Digest(DigestRecord),
    Idle(Vec<EntryKey>),
    Port { port: u32, up: bool },
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
        self.put(Event::PacketIn(frame), &self.device.losses.packets_in);
    }

    pub fn digest(&self, record: DigestRecord) {
        self.put(Event::Digest(record), &self.device.losses.digests);
    }

    /// No packet has hit these entries for their time. The process tells it again after each further time without one.
    pub fn idle(&self, entries: Vec<EntryKey>) {
        self.put(Event::Idle(entries), &self.device.losses.idle);
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

/// The thread that makes messages of events, until it is told to stop.
pub fn run(device: &Device, queue: &Receiver<Event>) {
    // Lists without acknowledgement grow old unseen: looking ten times a second is often enough.
    const LOOK: Duration = Duration::from_millis(100);
    loop {
        let wait = match device.pipeline().as_ref() {
            Some(pipeline) => lock(&device.digests).idle_for(&configs(pipeline), Instant::now()).unwrap_or(LOOK),
            None => LOOK,
        };
        match queue.recv_timeout(wait.min(LOOK)) {
            Ok(Event::Stop) | Err(RecvTimeoutError::Disconnected) => return,
            Ok(event) => take(device, event),
            Err(RecvTimeoutError::Timeout) => {}
        }
        if let Some(pipeline) = device.pipeline().as_ref() {
            let due = lock(&device.digests).due(&configs(pipeline), Instant::now());
            due.into_iter().for_each(|list| send_list(device, pipeline, list));
        }
    }
}

fn configs(pipeline: &Pipeline) -> Configs {
    lock(&pipeline.records).digests.clone()
}

fn take(device: &Device, event: Event) {
    if let Event::Port { port, up } = event {
        let mut down = lock(&device.ports_down);
        let _changed = if up { down.remove(&port) } else { down.insert(port) };
    }
    let pipeline = device.pipeline();
    let Some(pipeline) = pipeline.as_ref() else { return };
    match event {
        Event::PacketIn(frame) => match packet::packet_in(&pipeline.schema, frame) {
            Some(packet) => send(device, &Message::Packet(packet), &device.losses.packets_in),
            None => drop(device.losses.malformed.fetch_add(1, Ordering::Relaxed)),
        },
        Event::Digest(record) => {
            let config = lock(&pipeline.records).digests.get(&record.digest).copied();
            // Nobody wants it, or nobody is there to take it.
            let Some(config) = config.filter(|_| device.elections().has_primary()) else { return };
            let list = lock(&device.digests).push(record.digest, record.values, &config, Instant::now());
            list.into_iter().for_each(|list| send_list(device, pipeline, list));
        }
        Event::Idle(keys) => idle(device, pipeline, &keys),
        Event::Port { port, up } => port_changed(device, pipeline, port, up),
        Event::Stop => {}
    }
}

fn send(device: &Device, message: &Message, lost: &AtomicU64) {
    lost.fetch_add(device.elections().send(message), Ordering::Relaxed);
}

fn now() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().try_into().unwrap_or(i64::MAX)
}

fn send_list(device: &Device, pipeline: &Pipeline, list: List) {
    let Some(digest) = pipeline.schema.digests.iter().find(|digest| digest.digest == list.digest) else { return };
    let records =
        list.records.into_iter().map(|record| data::write(&pipeline.schema, &digest.record, &mut record.into_iter()));
    let Ok(data) = records.collect::<Result<Vec<_>, _>>() else {
        device.losses.digests.fetch_add(1, Ordering::Relaxed);
        return;
    };
    let message = DigestList { digest_id: digest.id, list_id: list.number, data, timestamp: now() };
    send(device, &Message::Digest(message), &device.losses.digests);
}

fn idle(device: &Device, pipeline: &Pipeline, keys: &[EntryKey]) {
    let table_entry = device.with_switch(|switch| {
        let store = switch.plane().store();
        keys.iter().filter_map(|key| idle_entry(&pipeline.schema, key, store.find(key))).collect::<Vec<_>>()
    });
    let Some(table_entry) = table_entry.filter(|entries| !entries.is_empty()) else { return };
    let message = IdleTimeoutNotification { table_entry, timestamp: now() };
    send(device, &Message::IdleTimeoutNotification(message), &device.losses.idle);
}

/// Groups without the members that watch a dead port, and multicast groups with the replicas that stand in for those of one.
fn port_changed(device: &Device, pipeline: &Pipeline, port: u32, up: bool) {
    let cpu_port = device.settings.cpu_port;
    device.with_switch(|switch| {
        let mut records = lock(&pipeline.records);
        let changed = if up { records.ports_down.remove(&port) } else { records.ports_down.insert(port) };
        if !changed {
            return;
        }
        let is_down = |port: u32| records.ports_down.contains(&port);
        let groups = records.groups.iter().map(|((profile, group), written)| {
            let members = live_members(&written.members, is_down, cpu_port);
            Update::SetGroup { profile: *profile, group: *group, members }
        });
        let one_shots = records.one_shots.values().map(|made| {
            let actions = made.set.action_profile_actions.iter().zip(&made.members);
            let members: Vec<_> = actions.map(|(action, member)| group_member(action, *member)).collect();
            let members = live_members(&members, is_down, cpu_port);
            Update::SetGroup { profile: made.profile, group: made.group, members }
        });
        let multicast = records.multicast.iter().map(|(group, written)| Update::SetMulticast {
            group: *group,
            members: live_replicas(&written.replicas, is_down, cpu_port),
        });
        let sessions = records.sessions.iter().map(|(session, written)| {
            let target = SessionTarget::Members(live_replicas(&written.replicas, is_down, cpu_port));
            let truncation_bytes = written.packet_length_bytes.max(0) as u32;
            Update::SetSession { session: *session, value: Some(Session { target, truncation_bytes }) }
        });
        let updates: Vec<Update> = groups.chain(one_shots).chain(multicast).chain(sessions).collect();
        for update in updates {
            // Less of what it has already: the switch has room for it.
            let _: Result<_, Refusal> = switch.plane().write(&update);
        }
    });
}
