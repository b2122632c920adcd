//! Groups of action selectors, with weights and watched ports.

use super::profile::check_id;
use super::{Writer, check_presence};
use crate::failure::{Failure, Outcome};
use crate::port::PortReader;
use control::Update;
use control::message::runtime::{self as message, action_profile_group, update::Type};
use control::plane::{Group, GroupMember};

impl<'a> Writer<'a> {
    pub(super) fn group(&mut self, kind: Type, given: &message::ActionProfileGroup) -> Outcome {
        let schema = self.schema;
        let profile = schema.profile(given.action_profile_id)?;
        let Some(selector) = &profile.selector else {
            let sentence = format!("action profile `{}` has no selector, so it has no groups", profile.name);
            return Err(Failure::invalid(sentence));
        };
        check_id("group", given.group_id)?;
        let (group, id) = (given.group_id, profile.profile);
        let is_there = self.plane().store().group(id, group).is_some();
        check_presence(kind, is_there, "group", group)?;
        if kind == Type::Delete {
            return self.apply(&Update::DeleteGroup { profile: id, group });
        }
        let max_size = u32::try_from(given.max_size).map_err(|_| Failure::invalid("the largest size is negative"))?;
        let largest = selector.largest_group;
        if largest > 0 && max_size == 0 {
            return Err(Failure::invalid(format!("the largest size of a group is from 1 to {largest}, not 0")));
        }
        let mut ports = PortReader::new(self.ports, self.schema);
        let members = given.members.iter().map(|member| group_member(member, &mut ports));
        let members = members.collect::<Outcome<Vec<GroupMember>>>()?;
        let value = Group { members, max_size, note: ports.note(&[]) };
        self.apply(&Update::SetGroup { profile: id, group, value })
    }
}

fn group_member(given: &action_profile_group::Member, ports: &mut PortReader<'_>) -> Outcome<GroupMember> {
    use action_profile_group::member::WatchKind;
    let member = given.member_id;
    let watch = match &given.watch_kind {
        Some(WatchKind::WatchPort(port)) => ports.watched(port)?,
        Some(WatchKind::Watch(port)) => Some(ports.watched_number(*port)?),
        None => None,
    };
    Ok(GroupMember { member, weight: weight(given.weight)?, watch })
}

pub fn weight(given: i32) -> Outcome<u32> {
    u32::try_from(given).map_err(|_| Failure::invalid(format!("a weight is above 0, not {given}")))
}
