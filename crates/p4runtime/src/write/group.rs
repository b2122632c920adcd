//! Groups of action selectors, with weights and watched ports.
//!
//! The store has a member as often as it has weight, and without the members whose port is down.

use super::profile::check_id;
use super::{Writer, check_presence};
use crate::failure::{Failure, Outcome};
use crate::port::PortReader;
use crate::records::Before;
use crate::schema::{ProfileSchema, SelectorSchema};
use control::Update;
use control::message::runtime::{self as message, action_profile_group, update::Type};
use std::collections::HashSet;
use tonic::Code;

/// Weights of a group at most, where the program says nothing: what a selector's table has room for.
const LARGEST_GROUP: u64 = 65_536;

impl<'a> Writer<'a> {
    pub(super) fn group(&mut self, kind: Type, given: &message::ActionProfileGroup) -> Outcome {
        let schema = self.schema;
        let profile = schema.profile(given.action_profile_id)?;
        let Some(selector) = &profile.selector else {
            let sentence = format!("action profile `{}` has no selector, so it has no groups", profile.name);
            return Err(Failure::invalid(sentence));
        };
        check_id(kind, "group", given.group_id)?;
        let (group, id) = (given.group_id, profile.profile);
        let is_there = self.plane().store().group(id, group).is_some();
        check_presence(kind, is_there, "group", group)?;
        if kind == Type::Delete {
            self.apply(&Update::DeleteGroup { profile: id, group })?;
            let was = self.records.groups.remove(&(id, group));
            self.record(Before::Group(id, group, was));
            return Ok(());
        }
        let before = self.records.groups.get(&(id, group));
        if let Some(before) = before.filter(|before| kind == Type::Modify && before.max_size != given.max_size) {
            let sentence = format!("the largest size of group {group} is {} for good", before.max_size);
            return Err(Failure::invalid(sentence));
        }
        check_members(given)?;
        check_group_size(selector, given)?;
        self.check_selector_room(profile, selector, given)?;
        for member in &given.members {
            if self.plane().store().member(id, member.member_id).is_none() {
                return Err(Failure::missing(format!("there is no member {}", member.member_id)));
            }
        }
        let members = live_members(&given.members, |port| self.records.ports_down.contains(&port), self.cpu_port);
        self.apply(&Update::SetGroup { profile: id, group, members })?;
        let was = self.records.groups.insert((id, group), given.clone());
        self.record(Before::Group(id, group, was));
        Ok(())
    }

    /// The size of a selector is that of all its groups together.
    fn check_selector_room(
        &mut self,
        profile: &ProfileSchema,
        selector: &SelectorSchema,
        given: &message::ActionProfileGroup,
    ) -> Outcome {
        let others =
            self.records.groups.iter().filter(|((id, group), _)| *id == profile.profile && *group != given.group_id);
        let taken: u64 = others.map(|(_, group)| group_size(selector, &group.members)).sum();
        if profile.size > 0 && taken + group_size(selector, &given.members) > profile.size {
            let sentence = format!("the groups of `{}` have room for {} in all", profile.name, profile.size);
            return Err(Failure::new(Code::ResourceExhausted, sentence));
        }
        Ok(())
    }
}

/// A member as often as it has weight; none whose port is down.
pub fn live_members(
    members: &[action_profile_group::Member],
    is_down: impl Fn(u32) -> bool,
    cpu_port: Option<u32>,
) -> Vec<u32> {
    let live = members.iter().filter(|member| match watched(member, cpu_port) {
        Ok(Some(port)) => !is_down(port),
        Ok(None) | Err(_) => true,
    });
    live.flat_map(|member| std::iter::repeat_n(member.member_id, member.weight.max(0) as usize)).collect()
}

fn watched(member: &action_profile_group::Member, cpu_port: Option<u32>) -> Outcome<Option<u32>> {
    use action_profile_group::member::WatchKind;
    match &member.watch_kind {
        Some(WatchKind::WatchPort(port)) if !port.is_empty() => PortReader::new(cpu_port).bytes(port).map(Some),
        Some(WatchKind::Watch(port)) => {
            u32::try_from(*port).map(Some).map_err(|_| Failure::invalid("the watched port is negative"))
        }
        Some(WatchKind::WatchPort(_)) | None => Ok(None),
    }
}

fn check_members(given: &message::ActionProfileGroup) -> Outcome {
    let mut seen = HashSet::new();
    for member in &given.members {
        if !seen.insert(member.member_id) {
            let sentence = format!("member {} stands twice: say so by its weight", member.member_id);
            return Err(Failure::invalid(sentence));
        }
        if member.weight <= 0 {
            return Err(Failure::invalid(format!("the weight of member {} is not above 0", member.member_id)));
        }
        watched(member, None)?;
    }
    Ok(())
}

fn group_size(selector: &SelectorSchema, members: &[action_profile_group::Member]) -> u64 {
    match selector.counts_members {
        Some(_) => members.len() as u64,
        None => members.iter().map(|member| member.weight.max(0) as u64).sum(),
    }
}

fn check_group_size(selector: &SelectorSchema, given: &message::ActionProfileGroup) -> Outcome {
    let (largest, size) = (selector.largest_group, group_size(selector, &given.members));
    let max_size = u64::try_from(given.max_size).map_err(|_| Failure::invalid("the largest size is negative"))?;
    if largest > 0 && !(1..=largest).contains(&max_size) {
        return Err(Failure::invalid(format!("the largest size of a group is from 1 to {largest}, not {max_size}")));
    }
    if let Some(Some(heaviest)) = selector.counts_members
        && given.members.iter().any(|member| member.weight as u64 > heaviest)
    {
        return Err(Failure::invalid(format!("the weight of a member is at most {heaviest}")));
    }
    let room = if max_size > 0 { max_size } else { LARGEST_GROUP };
    let weights: u64 = given.members.iter().map(|member| member.weight as u64).sum();
    if size > room || weights > LARGEST_GROUP {
        let sentence = format!("group {} has room for {room}, not {size}", given.group_id);
        return Err(Failure::new(Code::ResourceExhausted, sentence));
    }
    Ok(())
}
