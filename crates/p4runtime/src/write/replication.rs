//! Multicast groups and clone sessions.

use super::{Writer, check_presence};
use crate::failure::{Failure, Outcome};
use crate::records::Before;
use crate::value;
use control::Update;
use control::message::runtime::{
    self as message, CloneSessionEntry, MulticastGroupEntry, packet_replication_engine_entry, replica, update::Type,
};
use control::plane::{Replica, Session, SessionTarget};
use std::collections::HashSet;

/// The protocol's number of the CPU port.
const SDN_CPU: u32 = 0xffff_fffd;

impl<'a> Writer<'a> {
    pub(super) fn replication(&mut self, kind: Type, given: &message::PacketReplicationEngineEntry) -> Outcome {
        use packet_replication_engine_entry::Type as Of;
        match &given.r#type {
            Some(Of::MulticastGroupEntry(group)) => self.multicast(kind, group),
            Some(Of::CloneSessionEntry(session)) => self.session(kind, session),
            None => Err(Failure::invalid("neither a multicast group nor a clone session is set")),
        }
    }

    fn multicast(&mut self, kind: Type, given: &MulticastGroupEntry) -> Outcome {
        let group = given.multicast_group_id;
        if group == 0 {
            return Err(Failure::invalid("multicast group 0 means no group"));
        }
        let is_there = self.records.multicast.contains_key(&group) || self.plane().store().multicast(group).is_some();
        check_presence(kind, is_there, "multicast group", group)?;
        let (members, kept) = match kind {
            Type::Delete => (Vec::new(), None),
            Type::Insert | Type::Modify | Type::Unspecified => {
                check_replicas(&given.replicas, self.cpu_port)?;
                let is_down = |port| self.records.ports_down.contains(&port);
                (live_replicas(&given.replicas, is_down, self.cpu_port), Some(given.clone()))
            }
        };
        self.apply(&Update::SetMulticast { group, members })?;
        let was = match kept {
            Some(kept) => self.records.multicast.insert(group, kept),
            None => self.records.multicast.remove(&group),
        };
        self.record(Before::Multicast(group, was));
        Ok(())
    }

    fn session(&mut self, kind: Type, given: &CloneSessionEntry) -> Outcome {
        let session = given.session_id;
        if session == 0 {
            return Err(Failure::invalid("0 is no clone session"));
        }
        let is_there = self.plane().store().session(session).is_some();
        check_presence(kind, is_there, "clone session", session)?;
        let (value, kept) = match kind {
            Type::Delete => (None, None),
            Type::Insert | Type::Modify | Type::Unspecified => {
                check_replicas(&given.replicas, self.cpu_port)?;
                let length = u32::try_from(given.packet_length_bytes);
                let truncation_bytes = length.map_err(|_| Failure::invalid("the packet length is negative"))?;
                let is_down = |port| self.records.ports_down.contains(&port);
                let members = live_replicas(&given.replicas, is_down, self.cpu_port);
                let target = SessionTarget::Members(members);
                (Some(Session { target, truncation_bytes }), Some(given.clone()))
            }
        };
        self.apply(&Update::SetSession { session, value })?;
        let was = match kept {
            Some(kept) => self.records.sessions.insert(session, kept),
            None => self.records.sessions.remove(&session),
        };
        self.record(Before::Session(session, was));
        Ok(())
    }
}

/// The number of a port as the protocol has it, of 32 bits; the port of the controller is the switch's own.
pub fn port_number(bytes: &[u8], cpu_port: Option<u32>) -> Outcome<u32> {
    let number = value::read(bytes, 32, "port")?;
    let number = number.iter_u32_digits().next().unwrap_or(0);
    Ok(if number == SDN_CPU { cpu_port.unwrap_or(number) } else { number })
}

fn port_of(given: &message::Replica, cpu_port: Option<u32>) -> Outcome<u32> {
    match &given.port_kind {
        Some(replica::PortKind::Port(port)) => port_number(port, cpu_port),
        Some(replica::PortKind::EgressPort(SDN_CPU)) => Ok(cpu_port.unwrap_or(SDN_CPU)),
        Some(replica::PortKind::EgressPort(port)) => Ok(*port),
        None => Err(Failure::invalid("a replica needs a port")),
    }
}

/// Port and instance of a replica and of its backups, in order of preference.
fn candidates(given: &message::Replica, cpu_port: Option<u32>) -> Outcome<Vec<Replica>> {
    let instance = |instance: u32| {
        let fits = u16::try_from(instance);
        fits.map_err(|_| Failure::invalid(format!("instance {instance} of a replica is above 65535")))
    };
    let mut found = vec![Replica { port: port_of(given, cpu_port)?, instance: instance(given.instance)? }];
    for backup in &given.backup_replicas {
        let port = port_number(&backup.port, cpu_port)?;
        found.push(Replica { port, instance: instance(backup.instance)? });
    }
    Ok(found)
}

fn check_replicas(given: &[message::Replica], cpu_port: Option<u32>) -> Outcome {
    let mut seen = HashSet::new();
    for replica in given {
        let candidates = candidates(replica, cpu_port)?;
        let ports: HashSet<u32> = candidates.iter().map(|candidate| candidate.port).collect();
        if ports.len() < candidates.len() {
            return Err(Failure::invalid("a replica and its backups have ports of their own"));
        }
        if let Some(twice) = candidates.iter().find(|candidate| !seen.insert(**candidate)) {
            let sentence = format!("port {} with instance {} stands twice", twice.port, twice.instance);
            return Err(Failure::invalid(sentence));
        }
    }
    Ok(())
}

/// The first live candidate of each replica; none where all are down.
pub fn live_replicas(given: &[message::Replica], is_down: impl Fn(u32) -> bool, cpu_port: Option<u32>) -> Vec<Replica> {
    let live = given.iter().filter_map(|replica| {
        let candidates = candidates(replica, cpu_port).unwrap_or_default();
        match replica.backup_replicas.is_empty() {
            // Without a backup the port layer drops what no link takes.
            true => candidates.into_iter().next(),
            false => candidates.into_iter().find(|candidate| !is_down(candidate.port)),
        }
    });
    live.collect()
}
