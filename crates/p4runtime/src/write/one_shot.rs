//! Action sets of an entry (one-shot selector programming): members and a group that controllers do not see.

use super::Writer;
use super::group::weight;
use crate::failure::{Failure, Outcome};
use crate::port::PortReader;
use crate::records::{self, Before, OneShot};
use crate::schema::{SelectorSchema, TableSchema};
use control::Update;
use control::message::runtime::{
    ActionProfileAction, ActionProfileActionSet, action_profile_action, action_profile_action_set,
};
use control::plane::{EntryKey, Group, GroupMember};
use hlir::entry::EntryAction;
use hlir::{ProfileId, Scope};

impl<'a> Writer<'a> {
    /// Makes the members and the group of a set.
    pub(super) fn one_shot(
        &mut self,
        table: &TableSchema,
        key: &EntryKey,
        set: &ActionProfileActionSet,
    ) -> Outcome<EntryAction> {
        let schema = self.schema;
        let Some((profile, id)) = table.profile else { return Err(Failure::invalid("the table has no profile")) };
        if let Some(selector) = &schema.profile(profile)?.selector {
            check_set(selector, set)?;
        }
        let mut members = Vec::new();
        let mut group_members = Vec::new();
        for given in &set.action_profile_actions {
            let action = given.action.as_ref().ok_or_else(|| Failure::invalid("an action of the set is not set"))?;
            let call = table.actions.read(action, Scope::DefaultOnly, &schema.dictionaries)?;
            let member = self.hidden_id(id);
            self.apply(&Update::SetMember { profile: id, member, call })?;
            members.push(member);
            group_members.push(group_member(given, member, &mut PortReader::new(self.cpu_port))?);
        }
        let group = self.hidden_id(id);
        let value = Group { members: group_members, ..Group::default() };
        self.apply(&Update::SetGroup { profile: id, group, value })?;
        let made = OneShot { set: set.clone(), profile: id, group, members };
        let name = records::name(key);
        let was = self.records.one_shots.insert(name.clone(), made);
        self.record(Before::OneShot(name, was));
        Ok(EntryAction::Group(group))
    }

    fn hidden_id(&mut self, profile: ProfileId) -> u32 {
        let id = self.records.hidden_id(profile);
        self.record(Before::HiddenId(profile, id));
        id
    }

    /// Removes what an old set of an entry was made into. The entry no longer refers to it.
    pub(super) fn remove_one_shot(&mut self, key: &EntryKey, old: OneShot) -> Outcome {
        let name = records::name(key);
        if self.records.one_shots.get(&name).is_some_and(|now| now.group == old.group) {
            let was = self.records.one_shots.remove(&name);
            self.record(Before::OneShot(name, was));
        }
        self.apply(&Update::DeleteGroup { profile: old.profile, group: old.group })?;
        self.records.release_id(old.profile, old.group);
        for member in old.members {
            self.apply(&Update::DeleteMember { profile: old.profile, member })?;
            self.records.release_id(old.profile, member);
        }
        Ok(())
    }
}

/// A member of the set as one of a group.
fn group_member(given: &ActionProfileAction, member: u32, ports: &mut PortReader) -> Outcome<GroupMember> {
    use action_profile_action::WatchKind;
    let watch = match &given.watch_kind {
        Some(WatchKind::WatchPort(port)) => ports.watched(port)?,
        Some(WatchKind::Watch(port)) => Some(ports.watched_number(*port)?),
        None => None,
    };
    Ok(GroupMember { member, weight: weight(given.weight)?, watch })
}

fn check_set(selector: &SelectorSchema, set: &ActionProfileActionSet) -> Outcome {
    use action_profile_action_set::{ActionSelectionMode, SizeSemantics};
    if set.action_selection_mode() == ActionSelectionMode::Random {
        return Err(Failure::unsupported("selectors of this switch choose by a hash"));
    }
    let counts_members = match set.size_semantics() {
        SizeSemantics::DefaultSizeDeterminedByActionSelector => selector.counts_members,
        SizeSemantics::SumOfWeights => None,
        SizeSemantics::SumOfMembers => selector.counts_members.or(Some(None)),
    };
    if set.action_profile_actions.iter().any(|action| action.weight <= 0) {
        return Err(Failure::invalid("the weight of an action is not above 0"));
    }
    let weights = set.action_profile_actions.iter().map(|action| action.weight as u64);
    let size = if counts_members.is_some() { weights.clone().count() as u64 } else { weights.clone().sum() };
    if selector.largest_group > 0 && size > selector.largest_group {
        return Err(Failure::invalid(format!("a group has room for {}, not {size}", selector.largest_group)));
    }
    if let Some(Some(heaviest)) = counts_members
        && weights.clone().any(|weight| weight > heaviest)
    {
        return Err(Failure::invalid(format!("the weight of an action is at most {heaviest}")));
    }
    if weights.sum::<u64>() > 65_536 {
        return Err(Failure::new(tonic::Code::ResourceExhausted, "the weights of a group sum up to 65536 at most"));
    }
    Ok(())
}
