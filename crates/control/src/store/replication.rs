//! Multicast groups and clone sessions.

use super::Store;
use crate::plane::{BackedReplica, Multicast, Session, SessionTarget};
use crate::{Refusal, Update};
use std::collections::{BTreeMap, HashSet};

impl Store {
    pub fn multicast(&self, group: u32) -> Option<&Multicast> {
        self.multicast.get(&group)
    }

    pub fn multicast_groups(&self) -> impl Iterator<Item = (u32, &Multicast)> {
        self.multicast.iter().map(|(group, value)| (*group, value))
    }

    pub fn session(&self, session: u32) -> Option<&Session> {
        self.sessions.get(&session)
    }

    pub fn sessions(&self) -> impl Iterator<Item = (u32, &Session)> {
        self.sessions.iter().map(|(session, value)| (*session, value))
    }

    pub(super) fn set_multicast(&mut self, group: u32, value: Option<&Multicast>) -> Result<Update, Refusal> {
        if group == 0 {
            return Err(Refusal::wrong("multicast group 0 means no group"));
        }
        value.map_or(Ok(()), |value| check_replicas(&value.replicas))?;
        Ok(Update::SetMulticast { group, value: put(&mut self.multicast, group, value) })
    }

    pub(super) fn set_session(&mut self, session: u32, value: Option<&Session>) -> Result<Update, Refusal> {
        if let Some(Session { target: SessionTarget::Members(members), .. }) = value {
            check_replicas(members)?;
        }
        Ok(Update::SetSession { session, value: put(&mut self.sessions, session, value) })
    }
}

fn put<T: Clone>(map: &mut BTreeMap<u32, T>, number: u32, value: Option<&T>) -> Option<T> {
    match value {
        Some(value) => map.insert(number, value.clone()),
        None => map.remove(&number),
    }
}

/// A backup has a port of its own. A port may have several copies of one instance: P4Runtime forbids it, BMv2 does not.
fn check_replicas(replicas: &[BackedReplica]) -> Result<(), Refusal> {
    for replica in replicas {
        let ports: HashSet<u32> = replica.candidates().map(|candidate| candidate.port).collect();
        if ports.len() <= replica.backups.len() {
            return Err(Refusal::wrong("a replica and its backups have ports of their own"));
        }
    }
    Ok(())
}
