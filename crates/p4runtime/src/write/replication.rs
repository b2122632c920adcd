//! Multicast groups and clone sessions.

use super::{Writer, check_presence};
use crate::failure::{Failure, Outcome};
use crate::port::PortReader;
use control::Update;
use control::message::runtime::{
    self as message, CloneSessionEntry, MulticastGroupEntry, packet_replication_engine_entry, replica, update::Type,
};
use control::plane::{BackedReplica, Multicast, Replica, Session, SessionTarget};
use std::collections::HashSet;

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
        let is_there = self.plane().store().multicast(group).is_some();
        check_presence(kind, is_there, "multicast group", group)?;
        let value = match kind {
            Type::Delete => None,
            Type::Insert | Type::Modify | Type::Unspecified => {
                let mut ports = PortReader::new(self.ports, self.schema);
                let replicas = replicas(&given.replicas, &mut ports)?;
                check_pairs(&replicas)?;
                self.ports.check_any(self.schema, &replicas)?;
                self.ports.follow_missing(self.schema, self.switch, &replicas);
                Some(Multicast { replicas, note: ports.note(&given.metadata) })
            }
        };
        self.apply(&Update::SetMulticast { group, value })
    }

    fn session(&mut self, kind: Type, given: &CloneSessionEntry) -> Outcome {
        let session = given.session_id;
        if session == 0 {
            return Err(Failure::invalid("0 is no clone session"));
        }
        let is_there = self.plane().store().session(session).is_some();
        check_presence(kind, is_there, "clone session", session)?;
        let value = match kind {
            Type::Delete => None,
            Type::Insert | Type::Modify | Type::Unspecified => {
                let mut ports = PortReader::new(self.ports, self.schema);
                let replicas = replicas(&given.replicas, &mut ports)?;
                self.ports.check_any(self.schema, &replicas)?;
                self.ports.follow_missing(self.schema, self.switch, &replicas);
                let target = SessionTarget::Members(replicas);
                let length = u32::try_from(given.packet_length_bytes);
                let truncation_bytes = length.map_err(|_| Failure::invalid("the packet length is negative"))?;
                let class = given.class_of_service.to_be_bytes();
                let note = ports.note(if given.class_of_service == 0 { &[] } else { &class });
                Some(Session { target, truncation_bytes, note })
            }
        };
        self.apply(&Update::SetSession { session, value })
    }
}

fn replicas(given: &[message::Replica], ports: &mut PortReader<'_>) -> Outcome<Vec<BackedReplica>> {
    given.iter().map(|replica| backed(replica, ports)).collect()
}

/// A pair of port and instance is in a multicast group once, whichever candidates are live (P4Runtime 1.5, 9.5.1). Clone sessions have no such
/// rule (9.5.2).
fn check_pairs(replicas: &[BackedReplica]) -> Outcome {
    let mut seen: HashSet<&Replica> = HashSet::new();
    match replicas.iter().flat_map(BackedReplica::candidates).find(|candidate| !seen.insert(candidate)) {
        Some(Replica { port, instance }) => {
            Err(Failure::invalid(format!("port {port} with instance {instance} is in the group twice")))
        }
        None => Ok(()),
    }
}

fn backed(given: &message::Replica, ports: &mut PortReader<'_>) -> Outcome<BackedReplica> {
    let port = match &given.port_kind {
        Some(replica::PortKind::Port(port)) => ports.bytes(port)?,
        Some(replica::PortKind::EgressPort(port)) => ports.number(*port)?,
        None => return Err(Failure::invalid("a replica needs a port")),
    };
    let primary = Replica { port, instance: instance(given.instance)? };
    let mut backups = Vec::with_capacity(given.backup_replicas.len());
    for backup in &given.backup_replicas {
        backups.push(Replica { port: ports.bytes(&backup.port)?, instance: instance(backup.instance)? });
    }
    Ok(BackedReplica { primary, backups })
}

fn instance(instance: u32) -> Outcome<u16> {
    let fits = u16::try_from(instance);
    fits.map_err(|_| Failure::invalid(format!("instance {instance} of a replica is above 65535")))
}
