//! Members and groups of action profiles. Each new one has the smallest number that is free, as in BMv2.

use crate::convert::{read_call, write_call};
use crate::device::{Work, find_in};
use crate::standard::{ActionData, ProfileGroup, ProfileMember, TableCode};
use crate::tables::{Answer, code};
use control::plane::{Group, GroupMember};
use control::{RefusalKind, Update};
use hlir::{ProfileId, Scope, Table};

fn first_free(mut used: Vec<u32>) -> u32 {
    used.sort_unstable();
    let next = used.iter().zip(0..).find(|(used, at)| **used != *at).map(|(_, at)| at);
    next.unwrap_or(used.len() as u32)
}

fn handle(number: u32) -> i32 {
    number as i32
}

impl Work<'_> {
    fn profile(&self, name: &str) -> Answer<ProfileId> {
        let found = find_in(name, &self.program.profiles, |profile| profile.name.as_str());
        Ok(found.ok_or(TableCode::InvalidProfileName)?)
    }

    fn selector(&self, name: &str) -> Answer<ProfileId> {
        let profile = self.profile(name)?;
        match self.program.profiles[profile].selector {
            Some(_) => Ok(profile),
            None => Err(TableCode::NoSelection.into()),
        }
    }

    /// All tables of a profile have the same actions.
    fn table_of(&self, profile: ProfileId) -> Answer<&Table> {
        let mut tables = self.program.tables.iter().map(|(_, table)| table);
        let table = tables.find(|table| table.profile == Some(profile));
        Ok(table.ok_or(TableCode::InvalidActionName)?)
    }

    pub fn add_member(&mut self, name: &str, action: &str, data: &ActionData) -> Answer<i32> {
        let profile = self.profile(name)?;
        let call = read_call(self.table_of(profile)?, action, data, Scope::DefaultOnly)?;
        let used = self.store().members(profile).map(|(member, _)| member).collect();
        let member = first_free(used);
        let update = Update::SetMember { profile, member, call };
        self.write(&update).map_err(|refusal| code(&refusal, TableCode::BadActionData))?;
        Ok(handle(member))
    }

    pub fn known_member(&mut self, profile: ProfileId, member: i32) -> Answer<u32> {
        let member = member as u32;
        Ok(self.store().member(profile, member).map(|_| member).ok_or(TableCode::InvalidMember)?)
    }

    pub fn known_group(&mut self, profile: ProfileId, group: i32) -> Answer<(u32, Group)> {
        let number = group as u32;
        let group = self.store().group(profile, number).cloned();
        Ok(group.map(|group| (number, group)).ok_or(TableCode::InvalidGroup)?)
    }

    pub fn modify_member(&mut self, name: &str, member: i32, action: &str, data: &ActionData) -> Answer<()> {
        let profile = self.profile(name)?;
        let member = self.known_member(profile, member)?;
        let call = read_call(self.table_of(profile)?, action, data, Scope::DefaultOnly)?;
        let update = Update::SetMember { profile, member, call };
        self.write(&update).map_err(|refusal| code(&refusal, TableCode::BadActionData))?;
        Ok(())
    }

    pub fn delete_member(&mut self, name: &str, member: i32) -> Answer<()> {
        let profile = self.profile(name)?;
        let member = self.known_member(profile, member)?;
        if !self.store().defaults_of_member(profile, member).is_empty() {
            return Err(TableCode::MemberStillUsed.into());
        }
        let update = Update::DeleteMember { profile, member };
        self.write(&update).map_err(|refusal| code(&refusal, TableCode::Error))?;
        Ok(())
    }

    pub fn create_group(&mut self, name: &str) -> Answer<i32> {
        let profile = self.selector(name)?;
        let used = self.store().groups(profile).map(|(group, _)| group).collect();
        let group = first_free(used);
        let update = Update::SetGroup { profile, group, value: Group::default() };
        self.write(&update).map_err(|refusal| code(&refusal, TableCode::Error))?;
        Ok(handle(group))
    }

    pub fn delete_group(&mut self, name: &str, group: i32) -> Answer<()> {
        let profile = self.selector(name)?;
        let (group, _) = self.known_group(profile, group)?;
        self.write(&Update::DeleteGroup { profile, group }).map_err(|refusal| {
            match refusal.kind == RefusalKind::InUse {
                true => TableCode::GroupStillUsed,
                false => code(&refusal, TableCode::Error),
            }
        })?;
        Ok(())
    }

    pub fn add_to_group(&mut self, name: &str, member: i32, group: i32) -> Answer<()> {
        let profile = self.selector(name)?;
        let member = self.known_member(profile, member)?;
        let (group, mut value) = self.known_group(profile, group)?;
        if value.members.iter().any(|known| known.member == member) {
            return Err(TableCode::MemberAlreadyInGroup.into());
        }
        value.members.push(GroupMember { member, weight: 1, watch: None });
        let update = Update::SetGroup { profile, group, value };
        self.write(&update).map_err(|refusal| code(&refusal, TableCode::Error))?;
        Ok(())
    }

    pub fn remove_from_group(&mut self, name: &str, member: i32, group: i32) -> Answer<()> {
        let profile = self.selector(name)?;
        let member = self.known_member(profile, member)?;
        let (group, mut value) = self.known_group(profile, group)?;
        let at = value.members.iter().position(|known| known.member == member);
        value.members.remove(at.ok_or(TableCode::MemberNotInGroup)?);
        let update = Update::SetGroup { profile, group, value };
        self.write(&update).map_err(|refusal| code(&refusal, TableCode::Error))?;
        Ok(())
    }

    pub fn members(&mut self, name: &str) -> Answer<Vec<ProfileMember>> {
        let profile = self.profile(name)?;
        let members: Vec<_> = self.store().members(profile).map(|(member, call)| (member, call.clone())).collect();
        let table = self.table_of(profile)?;
        let described = members.iter().map(|(member, call)| {
            let (action_name, action_data) = write_call(table, call);
            ProfileMember { mbr_handle: handle(*member), action_name, action_data }
        });
        Ok(described.collect())
    }

    pub fn member(&mut self, name: &str, member: i32) -> Answer<ProfileMember> {
        let found = self.members(name)?.into_iter().find(|known| known.mbr_handle == member);
        Ok(found.ok_or(TableCode::InvalidMember)?)
    }

    pub fn groups(&mut self, name: &str) -> Answer<Vec<ProfileGroup>> {
        let profile = self.selector(name)?;
        let described = self.store().groups(profile).map(|(group, value)| ProfileGroup {
            grp_handle: handle(group),
            mbr_handles: value.members.iter().map(|of| handle(of.member)).collect(),
        });
        Ok(described.collect())
    }

    pub fn group(&mut self, name: &str, group: i32) -> Answer<ProfileGroup> {
        let found = self.groups(name)?.into_iter().find(|known| known.grp_handle == group);
        Ok(found.ok_or(TableCode::InvalidGroup)?)
    }
}

#[cfg(test)]
mod tests {
    use super::first_free;

    #[test]
    fn a_gap_is_filled_first() {
        assert_eq!([vec![], vec![0, 1], vec![1, 0, 3], vec![2]].map(first_free), [0, 2, 2, 0]);
    }
}
