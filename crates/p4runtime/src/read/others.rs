//! Members, groups, multicast groups, clone sessions, value sets and digests, as controllers read them.
//!
//! What a controller wrote is answered as it wrote it; what came from elsewhere, as the store has it.

use super::{Reader, chosen};
use crate::failure::{Failure, Outcome};
use crate::records::FIRST_HIDDEN;
use crate::value::int64;
use control::message::runtime::{
    ActionProfileGroup, ActionProfileMember, CloneSessionEntry, DigestEntry, MulticastGroupEntry,
    PacketReplicationEngineEntry, Replica, ValueSetEntry, ValueSetMember, action_profile_group, digest_entry,
    entity::Entity, packet_replication_engine_entry as engine, replica,
};
use control::plane::{self, SessionTarget};
use std::collections::BTreeMap;

impl<'a> Reader<'a> {
    pub(super) fn members(&mut self, filter: &ActionProfileMember) -> Outcome {
        let schema = self.schema;
        if filter.action_profile_id != 0 {
            schema.profile(filter.action_profile_id)?;
        }
        for profile in schema.profiles().filter(|profile| chosen(profile.id, filter.action_profile_id)) {
            let store = self.switch.plane().store();
            let visible = store.members(profile.profile).filter(|(member, _)| *member < FIRST_HIDDEN);
            let found: Vec<_> = visible
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
            let records = &self.records.groups;
            let store = self.switch.plane().store();
            let visible = store.groups(profile.profile).filter(|(group, _)| *group < FIRST_HIDDEN);
            let found: Vec<_> = visible
                .filter(|(group, _)| chosen(*group, filter.group_id))
                .map(|(group, members)| match records.get(&(profile.profile, group)) {
                    Some(written) => written.clone(),
                    None => group_of(profile.id, group, members),
                })
                .collect();
            found.into_iter().for_each(|group| self.answer(Entity::ActionProfileGroup(group)));
        }
        Ok(())
    }

    pub(super) fn replication(&mut self, filter: &PacketReplicationEngineEntry) -> Outcome {
        let found: Vec<engine::Type> = match &filter.r#type {
            Some(engine::Type::MulticastGroupEntry(filter)) => {
                let records = &self.records.multicast;
                let mut found: BTreeMap<u32, MulticastGroupEntry> = records.clone();
                for (group, members) in self.switch.plane().store().multicast_groups() {
                    found.entry(group).or_insert_with(|| MulticastGroupEntry {
                        multicast_group_id: group,
                        replicas: members.iter().map(replica_of).collect(),
                        metadata: Vec::new(),
                    });
                }
                found.retain(|group, _| chosen(*group, filter.multicast_group_id));
                found.into_values().map(engine::Type::MulticastGroupEntry).collect()
            }
            Some(engine::Type::CloneSessionEntry(filter)) => {
                let records = &self.records.sessions;
                let mut found: BTreeMap<u32, CloneSessionEntry> = records.clone();
                for (session, value) in self.switch.plane().store().sessions() {
                    found.entry(session).or_insert_with(|| session_of(session, value));
                }
                found.retain(|session, _| chosen(*session, filter.session_id));
                found.into_values().map(engine::Type::CloneSessionEntry).collect()
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
        let (schema, records) = (self.schema, self.records);
        if filter.digest_id != 0 {
            schema.digest(filter.digest_id)?;
        }
        for digest in schema.digests.iter().filter(|digest| chosen(digest.id, filter.digest_id)) {
            let Some(config) = records.digests.get(&digest.digest) else { continue };
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

/// A member has the weight of its places in the group.
fn group_of(profile: u32, group: u32, members: &[u32]) -> ActionProfileGroup {
    let mut weights: BTreeMap<u32, i32> = BTreeMap::new();
    members.iter().for_each(|member| *weights.entry(*member).or_default() += 1);
    let members = weights.into_iter().map(|(member_id, weight)| action_profile_group::Member {
        member_id,
        weight,
        watch_kind: None,
    });
    ActionProfileGroup { action_profile_id: profile, group_id: group, members: members.collect(), max_size: 0 }
}

fn replica_of(member: &plane::Replica) -> Replica {
    Replica {
        port_kind: Some(replica::PortKind::Port(crate::value::write(&member.port.into()))),
        instance: member.instance.into(),
        backup_replicas: Vec::new(),
    }
}

/// A session that sends to a multicast group has no form in the protocol: its replicas are left out.
fn session_of(session: u32, value: &plane::Session) -> CloneSessionEntry {
    let replicas = match &value.target {
        SessionTarget::Members(members) => members.iter().map(replica_of).collect(),
        SessionTarget::Group(_) => Vec::new(),
    };
    CloneSessionEntry {
        session_id: session,
        replicas,
        class_of_service: 0,
        packet_length_bytes: value.truncation_bytes.try_into().unwrap_or(i32::MAX),
    }
}
