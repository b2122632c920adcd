//! Members, groups, multicast groups, clone sessions, value sets and digests, as controllers read them.
//!
//! They are answered as they were written.

use super::{Reader, chosen};
use crate::failure::{Failure, Outcome};
use crate::port::{PortWriter, Written};
use crate::schema::Schema;
use crate::value::{int32, int64};
use control::message::runtime::{
    ActionProfileGroup, ActionProfileMember, BackupReplica, CloneSessionEntry, DigestEntry, MulticastGroupEntry,
    PacketReplicationEngineEntry, Replica, ValueSetEntry, ValueSetMember, action_profile_group, digest_entry,
    entity::Entity, packet_replication_engine_entry as engine, replica,
};
use control::plane::{self, BackedReplica, Group, GroupMember, Multicast, Session, SessionTarget};

impl<'a> Reader<'a> {
    pub(super) fn members(&mut self, filter: &ActionProfileMember) -> Outcome {
        let schema = self.schema;
        if filter.action_profile_id != 0 {
            schema.profile(filter.action_profile_id)?;
        }
        for profile in schema.profiles().filter(|profile| chosen(profile.id, filter.action_profile_id)) {
            let store = self.switch.plane().store();
            let found: Vec<_> = store
                .members(profile.profile)
                .filter(|(member, _)| chosen(*member, filter.member_id))
                .map(|(member_id, call)| ActionProfileMember {
                    action_profile_id: profile.id,
                    member_id,
                    action: profile.actions.write(call, &schema.dictionaries),
                })
                .collect();
            found.into_iter().for_each(|member| self.answer(Entity::ActionProfileMember(member)));
        }
        Ok(())
    }

    pub(super) fn groups(&mut self, filter: &ActionProfileGroup) -> Outcome {
        let schema = self.schema;
        if filter.action_profile_id != 0 {
            schema.profile(filter.action_profile_id)?;
        }
        for profile in schema.profiles().filter(|profile| chosen(profile.id, filter.action_profile_id)) {
            let store = self.switch.plane().store();
            let found: Vec<_> = store
                .groups(profile.profile)
                .filter(|(group, _)| chosen(*group, filter.group_id))
                .map(|(group, value)| group_of(schema, profile.id, group, value))
                .collect();
            found.into_iter().for_each(|group| self.answer(Entity::ActionProfileGroup(group)));
        }
        Ok(())
    }

    pub(super) fn replication(&mut self, filter: &PacketReplicationEngineEntry) -> Outcome {
        let schema = self.schema;
        let found: Vec<engine::Type> = match &filter.r#type {
            Some(engine::Type::MulticastGroupEntry(filter)) => {
                let groups = self.switch.plane().store().multicast_groups();
                let groups = groups.filter(|(group, _)| chosen(*group, filter.multicast_group_id));
                groups
                    .map(|(group, value)| engine::Type::MulticastGroupEntry(multicast_of(schema, group, value)))
                    .collect()
            }
            Some(engine::Type::CloneSessionEntry(filter)) => {
                let sessions = self.switch.plane().store().sessions();
                let sessions = sessions.filter(|(session, _)| chosen(*session, filter.session_id));
                sessions
                    .map(|(session, value)| engine::Type::CloneSessionEntry(session_of(schema, session, value)))
                    .collect()
            }
            None => return Err(Failure::invalid("neither a multicast group nor a clone session is set")),
        };
        for entry in found {
            let entry = PacketReplicationEngineEntry { r#type: Some(entry) };
            self.answer(Entity::PacketReplicationEngineEntry(entry));
        }
        Ok(())
    }

    pub(super) fn value_sets(&mut self, filter: &ValueSetEntry) -> Outcome {
        let schema = self.schema;
        if filter.value_set_id != 0 {
            schema.value_set(filter.value_set_id)?;
        }
        for set in schema.value_sets.iter().filter(|set| chosen(set.id, filter.value_set_id)) {
            let members = self.switch.plane().store().value_set(set.set).iter();
            let members =
                members.map(|member| ValueSetMember { r#match: set.keys.write(member, &schema.dictionaries) });
            let entry = ValueSetEntry { value_set_id: set.id, members: members.collect() };
            self.answer(Entity::ValueSetEntry(entry));
        }
        Ok(())
    }

    pub(super) fn digests(&mut self, filter: &DigestEntry) -> Outcome {
        let schema = self.schema;
        if filter.digest_id != 0 {
            schema.digest(filter.digest_id)?;
        }
        for digest in schema.digests.iter().filter(|digest| chosen(digest.id, filter.digest_id)) {
            let Some(config) = self.switch.plane().store().digest(digest.digest) else { continue };
            let config = Some(digest_entry::Config {
                max_timeout_ns: int64(config.timeout_ns),
                max_list_size: config.largest_list as i32,
                ack_timeout_ns: int64(config.acknowledge_ns),
            });
            self.answer(Entity::DigestEntry(DigestEntry { digest_id: digest.id, config }));
        }
        Ok(())
    }
}

fn group_of(schema: &Schema, profile: u32, group: u32, value: &Group) -> ActionProfileGroup {
    let (mut ports, _) = PortWriter::new(&value.note, schema);
    let members = value.members.iter().map(|written| member_of(written, &mut ports)).collect();
    let max_size = int32(value.max_size);
    ActionProfileGroup { action_profile_id: profile, group_id: group, members, max_size }
}

fn member_of(written: &GroupMember, ports: &mut PortWriter<'_>) -> action_profile_group::Member {
    use action_profile_group::member::WatchKind;
    let watch_kind = written.watch.map(|port| match ports.next(port) {
        Written::Bytes(port) => WatchKind::WatchPort(port),
        Written::Number(port) => WatchKind::Watch(int32(port)),
    });
    action_profile_group::Member { member_id: written.member, weight: int32(written.weight), watch_kind }
}

fn replica_of(written: &BackedReplica, ports: &mut PortWriter<'_>) -> Replica {
    let port_kind = match ports.next(written.primary.port) {
        Written::Bytes(port) => replica::PortKind::Port(port),
        Written::Number(port) => replica::PortKind::EgressPort(port),
    };
    let backups = written.backups.iter();
    let mut backup =
        |of: &plane::Replica| BackupReplica { port: ports.next(of.port).bytes(), instance: of.instance.into() };
    Replica {
        port_kind: Some(port_kind),
        instance: written.primary.instance.into(),
        backup_replicas: backups.map(&mut backup).collect(),
    }
}

fn multicast_of(schema: &Schema, group: u32, value: &Multicast) -> MulticastGroupEntry {
    let (mut ports, attached) = PortWriter::new(&value.note, schema);
    let replicas = value.replicas.iter().map(|written| replica_of(written, &mut ports)).collect();
    MulticastGroupEntry { multicast_group_id: group, replicas, metadata: attached.to_vec() }
}

/// A session that sends to a multicast group has no form in the protocol: its replicas are left out.
fn session_of(schema: &Schema, session: u32, value: &Session) -> CloneSessionEntry {
    let (mut ports, attached) = PortWriter::new(&value.note, schema);
    let replicas = match &value.target {
        SessionTarget::Members(members) => members.iter().map(|written| replica_of(written, &mut ports)).collect(),
        SessionTarget::Group(_) => Vec::new(),
    };
    CloneSessionEntry {
        session_id: session,
        replicas,
        class_of_service: attached.first_chunk().map_or(0, |class| u32::from_be_bytes(*class)),
        packet_length_bytes: value.truncation_bytes.try_into().unwrap_or(i32::MAX),
    }
}
