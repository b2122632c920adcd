//! Members and groups of action profiles.

use super::check::check_call;
use super::limits::Limits;
use super::{Store, index};
use crate::plane::Group;
use crate::{Record, Refusal, RefusalKind, Update};
use hlir::{ActionCall, ActionSet, ProfileId, Scope, TableId};
use std::collections::HashSet;

impl Store {
    pub(super) fn no_such(&self, profile: ProfileId, what: &str, number: u32) -> Refusal {
        let name = &self.program.profiles[profile].name;
        Refusal::new(RefusalKind::Missing, format!("profile `{name}` has no {what} {number}"))
    }

    pub(super) fn set_member(&mut self, profile: ProfileId, member: u32, call: &ActionCall) -> Result<Update, Refusal> {
        // All tables of a profile have the same actions.
        if let Some((_, table)) = self.program.tables.iter().find(|(_, table)| table.profile == Some(profile)) {
            check_call(table, call, Scope::DefaultOnly)?;
        }
        self.refuse_beside_sets(profile)?;
        let before = self.profiles[index(profile)].members.insert(member, call.clone());
        Ok(match before {
            Some(call) => Update::SetMember { profile, member, call },
            None => Update::DeleteMember { profile, member },
        })
    }

    /// The member of an action profile that is a table's default action, as long as that is the member's.
    pub fn default_member(&self, table: TableId) -> Option<u32> {
        let member = self.tables[index(table)].default_member?;
        let profile = self.program.tables[table].profile?;
        (self.member(profile, member) == Some(self.default_action(table))).then_some(member)
    }

    /// The tables of which a member is the default action.
    pub fn defaults_of_member(&self, profile: ProfileId, member: u32) -> Vec<TableId> {
        let of_profile = self.program.tables.iter().filter(|(_, table)| table.profile == Some(profile));
        of_profile.map(|(id, _)| id).filter(|table| self.default_member(*table) == Some(member)).collect()
    }

    /// What follows from an update as writes of their own: default actions that are a member which changes, and stay linked to it.
    pub(crate) fn followers(&self, update: &Update) -> Vec<Update> {
        let Update::SetMember { profile, member, call } = update else { return Vec::new() };
        let tables = self.defaults_of_member(*profile, *member).into_iter();
        let linked = |table| Update::Record(Record::DefaultMember { table, member: Some(*member) });
        tables.flat_map(|table| [Update::SetDefault { table, call: call.clone() }, linked(table)]).collect()
    }

    pub(super) fn check_default_member(&self, table: TableId, member: Option<u32>) -> Result<(), Refusal> {
        let declared = &self.program.tables[table];
        let Some(member) = member else { return Ok(()) };
        match declared.profile.and_then(|profile| self.member(profile, member)) {
            Some(_) => Ok(()),
            None => {
                Err(Refusal::new(RefusalKind::Missing, format!("table `{}` has no member {member}", declared.name)))
            }
        }
    }

    pub(super) fn delete_member(&mut self, profile: ProfileId, member: u32) -> Result<Update, Refusal> {
        self.refuse_in_use(profile, "member", Some(member), None)?;
        if let Some(table) = self.defaults_of_member(profile, member).first() {
            let name = &self.program.tables[*table].name;
            let sentence = format!("member {member} is the default action of table `{name}`");
            return Err(Refusal::new(RefusalKind::InUse, sentence));
        }
        if self.profiles[index(profile)].groups.values().any(|group| has(group, member)) {
            return Err(Refusal::new(RefusalKind::InUse, format!("member {member} is used by a group")));
        }
        match self.profiles[index(profile)].members.remove(&member) {
            Some(call) => Ok(Update::SetMember { profile, member, call }),
            None => Err(Refusal::new(RefusalKind::Missing, format!("there is no member {member}"))),
        }
    }

    pub(super) fn set_group(&mut self, profile: ProfileId, group: u32, value: &Group) -> Result<Update, Refusal> {
        self.check_selector(profile)?;
        self.refuse_beside_sets(profile)?;
        let known = &self.profiles[index(profile)];
        if let Some(before) = known.groups.get(&group).filter(|before| before.max_size != value.max_size) {
            let size = before.max_size;
            return Err(Refusal::wrong(format!("the largest size of group {group} is {size} for good")));
        }
        check_members(value)?;
        let limits = Limits::of(&self.program, profile);
        limits.check_group(group, value)?;
        let others = known.groups.iter().filter(|(other, _)| **other != group);
        limits.check_room(value, others.map(|(_, other)| other))?;
        if let Some(unknown) = value.members.iter().find(|of| !known.members.contains_key(&of.member)) {
            return Err(self.no_such(profile, "member", unknown.member));
        }
        Ok(match self.profiles[index(profile)].groups.insert(group, value.clone()) {
            Some(value) => Update::SetGroup { profile, group, value },
            None => Update::DeleteGroup { profile, group },
        })
    }

    pub(super) fn check_set(&self, profile: ProfileId, set: &ActionSet) -> Result<(), Refusal> {
        self.check_selector(profile)?;
        let known = &self.profiles[index(profile)];
        if !known.members.is_empty() || !known.groups.is_empty() {
            return Err(self.both_styles(profile));
        }
        if set.actions.iter().any(|action| action.weight == 0) {
            return Err(Refusal::wrong("the weight of an action is not above 0"));
        }
        Limits::of(&self.program, profile).check_set(set)
    }

    /// Entries with sets and members or groups exclude each other in the tables of a selector (P4Runtime 1.5, 9.2.3). So the numbers of sets and
    /// the ids of groups may be the same.
    fn refuse_beside_sets(&self, profile: ProfileId) -> Result<(), Refusal> {
        let mut tables = self.program.tables.iter().filter(|(_, table)| table.profile == Some(profile));
        if tables.any(|(id, _)| self.tables[index(id)].sets.iter().next().is_some()) {
            return Err(self.both_styles(profile));
        }
        Ok(())
    }

    fn both_styles(&self, profile: ProfileId) -> Refusal {
        let name = &self.program.profiles[profile].name;
        let sentence = "the tables of a selector have either one-shot sets, or members and groups";
        Refusal::wrong(format!("{sentence}: those of `{name}` have the other already"))
    }

    fn check_selector(&self, profile: ProfileId) -> Result<(), Refusal> {
        let declared = &self.program.profiles[profile];
        match declared.selector {
            Some(_) => Ok(()),
            None => {
                let name = &declared.name;
                Err(Refusal::wrong(format!("profile `{name}` has no selector, so it has no groups")))
            }
        }
    }

    pub(super) fn delete_group(&mut self, profile: ProfileId, group: u32) -> Result<Update, Refusal> {
        self.refuse_in_use(profile, "group", None, Some(group))?;
        match self.profiles[index(profile)].groups.remove(&group) {
            Some(value) => Ok(Update::SetGroup { profile, group, value }),
            None => Err(Refusal::new(RefusalKind::Missing, format!("there is no group {group}"))),
        }
    }

    fn refuse_in_use(
        &self,
        profile: ProfileId,
        what: &str,
        member: Option<u32>,
        group: Option<u32>,
    ) -> Result<(), Refusal> {
        let mut users = self.program.tables.iter().filter(|(_, table)| table.profile == Some(profile));
        if users.any(|(id, _)| self.tables[index(id)].uses(member, group)) {
            let number = member.or(group).unwrap_or_default();
            return Err(Refusal::new(RefusalKind::InUse, format!("{what} {number} is used by an entry")));
        }
        Ok(())
    }
}

pub(super) fn has(group: &Group, member: u32) -> bool {
    group.members.iter().any(|of| of.member == member)
}

fn check_members(group: &Group) -> Result<(), Refusal> {
    let mut seen = HashSet::new();
    for of in &group.members {
        let member = of.member;
        if !seen.insert(member) {
            return Err(Refusal::wrong(format!("member {member} is listed twice: give it a larger weight")));
        }
        if of.weight == 0 {
            return Err(Refusal::wrong(format!("the weight of member {member} is not above 0")));
        }
    }
    Ok(())
}
