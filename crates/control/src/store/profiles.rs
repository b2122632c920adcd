//! Members and groups of action profiles.

use super::check::check_call;
use super::{Store, index};
use crate::{Refusal, RefusalKind, Update};
use hlir::{ActionCall, ProfileId, Scope};

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
        let before = self.profiles[index(profile)].members.insert(member, call.clone());
        Ok(match before {
            Some(call) => Update::SetMember { profile, member, call },
            None => Update::DeleteMember { profile, member },
        })
    }

    pub(super) fn delete_member(&mut self, profile: ProfileId, member: u32) -> Result<Update, Refusal> {
        self.refuse_in_use(profile, "member", Some(member), None)?;
        if self.profiles[index(profile)].groups.values().any(|members| members.contains(&member)) {
            return Err(Refusal::new(RefusalKind::InUse, format!("member {member} is used by a group")));
        }
        match self.profiles[index(profile)].members.remove(&member) {
            Some(call) => Ok(Update::SetMember { profile, member, call }),
            None => Err(Refusal::new(RefusalKind::Missing, format!("there is no member {member}"))),
        }
    }

    pub(super) fn set_group(&mut self, profile: ProfileId, group: u32, members: &[u32]) -> Result<Update, Refusal> {
        let declared = &self.program.profiles[profile];
        if declared.selector.is_none() {
            let name = &declared.name;
            return Err(Refusal::wrong(format!("profile `{name}` has no selector, so it has no groups")));
        }
        let known = &mut self.profiles[index(profile)];
        if let Some(unknown) = members.iter().find(|member| !known.members.contains_key(member)) {
            return Err(self.no_such(profile, "member", *unknown));
        }
        Ok(match known.groups.insert(group, members.to_vec()) {
            Some(members) => Update::SetGroup { profile, group, members },
            None => Update::DeleteGroup { profile, group },
        })
    }

    pub(super) fn delete_group(&mut self, profile: ProfileId, group: u32) -> Result<Update, Refusal> {
        self.refuse_in_use(profile, "group", None, Some(group))?;
        match self.profiles[index(profile)].groups.remove(&group) {
            Some(members) => Ok(Update::SetGroup { profile, group, members }),
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
