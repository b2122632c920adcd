//! Multicast groups and clone sessions.

use super::Store;
use crate::plane::{BackedReplica, Multicast, Session};
use crate::{Refusal, Update};
use std::collections::BTreeMap;

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
        value.map_or(Ok(()), |value| check_backups(&value.replicas))?;
        Ok(Update::SetMulticast { group, value: put(&mut self.multicast, group, value) })
    }

    pub(super) fn set_session(&mut self, session: u32, value: Option<&Session>) -> Result<Update, Refusal> {
        Ok(Update::SetSession { session, value: put(&mut self.sessions, session, value) })
    }
}

fn put<T: Clone>(map: &mut BTreeMap<u32, T>, number: u32, value: Option<&T>) -> Option<T> {
    match value {
        Some(value) => map.insert(number, value.clone()),
        None => map.remove(&number),
    }
}

/// A replica of a multicast group has not the port of any of its backups (P4Runtime 1.5, 9.5.1); two backups may share a port, and clone sessions
/// know no such rule (9.5.2). A port may have several copies of one instance: P4Runtime forbids it, BMv2 does not.
fn check_backups(replicas: &[BackedReplica]) -> Result<(), Refusal> {
    let shares = |of: &BackedReplica| of.backups.iter().any(|backup| backup.port == of.primary.port);
    match replicas.iter().find(|of| shares(of)) {
        Some(of) => Err(Refusal::wrong(format!("port {} is that of a replica and of its backup", of.primary.port))),
        None => Ok(()),
    }
}
