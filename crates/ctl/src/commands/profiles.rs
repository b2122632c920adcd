//! Members and groups of action profiles.

use super::Session;
use super::input::{Input, option, unknown_option};
use super::write::{action, action_cell, entity, kind, port_number, show_watched, update, watched_port};
use crate::failure::Failure;
use crate::names::{self, Named as _, Names};
use crate::output::{Cell, Report};
use control::message::config::ActionProfile;
use control::message::runtime::{
    ActionProfileGroup, ActionProfileMember,
    action_profile_group::{Member, member::WatchKind},
    entity::Entity,
};
use serde_json::{Value as Json, json};
use stf::{Line, Mistake, matches};

const VERBS: [&str; 3] = ["add", "modify", "delete"];

fn profile<'n>(names: &'n Names, line: &mut Line) -> Result<&'n ActionProfile, Mistake> {
    names::find(&line.name("an action profile")?, "action profile", &names.info.action_profiles)
}

impl Session {
    pub fn members(&mut self, input: &mut Input) -> Result<(), Failure> {
        let names = self.names()?;
        let verb = input.one_of(&VERBS);
        let mut line = input.line()?;
        let Some(verb) = verb else {
            let (one, member_id) = profile_and_id(&names, &mut line)?;
            let action_profile_id = one.map_or(0, |one| one.id());
            let filter = ActionProfileMember { action_profile_id, member_id, action: None };
            let mut report = Report::new(&["profile", "member", "action"]);
            for found in self.client.read(vec![entity(Entity::ActionProfileMember(filter))])? {
                if let Some(Entity::ActionProfileMember(member)) = found.entity {
                    let profile = names::name_of(member.action_profile_id, &names.info.action_profiles);
                    let action = action_cell(&names, member.action.as_ref());
                    report.row(vec![profile.into(), member.member_id.into(), action]);
                }
            }
            found(&report, "member", one, member_id)?;
            self.print(&report);
            return Ok(());
        };
        let profile = profile(&names, &mut line)?;
        let member_id = option(&mut line, &verb)?;
        let mut member = ActionProfileMember { action_profile_id: profile.id(), member_id, action: None };
        if verb.text != "delete" {
            let name = line.name("an action")?;
            let table = names.table_of_profile(profile);
            let table = table.ok_or_else(|| Mistake::new(name.place, "no table uses this action profile"))?;
            member.action = Some(action(&names, table, &name, &mut line)?);
        }
        line.finish()?;
        let label = format!("member {member_id} of {}", profile.name());
        self.write_one(label, update(kind(&verb.text), Entity::ActionProfileMember(member)))
    }

    pub fn groups(&mut self, input: &mut Input) -> Result<(), Failure> {
        let names = self.names()?;
        let verb = input.one_of(&VERBS);
        let mut line = input.line()?;
        let Some(verb) = verb else {
            let (one, group_id) = profile_and_id(&names, &mut line)?;
            return self.show_groups(&names, one, group_id);
        };
        let profile = profile(&names, &mut line)?;
        let group_id = option(&mut line, &verb)?;
        let mut group = ActionProfileGroup { action_profile_id: profile.id(), group_id, ..Default::default() };
        while verb.text != "delete" && line.goes_on() {
            if line.is_number() {
                group.members.push(group_member(&names, &mut line)?);
                continue;
            }
            let name = line.name("a member or `size N`")?;
            match name.text.as_str() {
                "size" => group.max_size = option(&mut line, &name)?,
                _ => return Err(unknown_option(&name, "a member or `size N`").into()),
            }
        }
        line.finish()?;
        let label = format!("group {group_id} of {}", profile.name());
        self.write_one(label, update(kind(&verb.text), Entity::ActionProfileGroup(group)))
    }

    fn show_groups(&mut self, names: &Names, one: Option<&ActionProfile>, group_id: u32) -> Result<(), Failure> {
        let action_profile_id = one.map_or(0, |one| one.id());
        let filter = ActionProfileGroup { action_profile_id, group_id, ..Default::default() };
        let mut report = Report::new(&["profile", "group", "members", "size"]);
        for found in self.client.read(vec![entity(Entity::ActionProfileGroup(filter))])? {
            let Some(Entity::ActionProfileGroup(group)) = found.entity else { continue };
            let members = show_group_members(&group);
            let json: Json = group.members.iter().map(json_member).collect();
            report.row(vec![
                names::name_of(group.action_profile_id, &names.info.action_profiles).into(),
                group.group_id.into(),
                Cell::shown(members, json),
                (group.max_size != 0).then_some(i64::from(group.max_size)).into(),
            ]);
        }
        found(&report, "group", one, group_id)?;
        self.print(&report);
        Ok(())
    }
}

/// `[PROFILE [ID]]`; 0 means all.
fn profile_and_id<'n>(names: &'n Names, line: &mut Line) -> Result<(Option<&'n ActionProfile>, u32), Mistake> {
    let one = if line.goes_on() { Some(profile(names, line)?) } else { None };
    let id = if line.goes_on() { matches::small(&line.number()?, "an id")? } else { 0 };
    line.finish()?;
    Ok((one, id))
}

/// A member or group that is named has to be there.
fn found(report: &Report, what: &str, profile: Option<&ActionProfile>, id: u32) -> Result<(), Failure> {
    match profile.filter(|_| id != 0 && report.rows.is_empty()) {
        Some(profile) => {
            let name = profile.name();
            let message = format!("`{name}` has no {what} {id}: `{what}s {name}` lists those that it has");
            Err(Failure::refused(message))
        }
        None => Ok(()),
    }
}

pub fn show_group_members(group: &ActionProfileGroup) -> String {
    group.members.iter().map(show_member).collect::<Vec<_>>().join(" ")
}

fn show_member(member: &Member) -> String {
    let weight = if member.weight == 1 { String::new() } else { format!("*{}", member.weight) };
    format!("{}{weight}{}", member.member_id, show_watched(watched(member)))
}

/// The port that a member watches.
fn watched(member: &Member) -> Option<u64> {
    match member.watch_kind.as_ref()? {
        WatchKind::WatchPort(port) => Some(port_number(port)),
        WatchKind::Watch(port) => Some(port.unsigned_abs().into()),
    }
}

fn json_member(member: &Member) -> Json {
    let mut object = json!({ "member": member.member_id, "weight": member.weight });
    if let Some(port) = watched(member) {
        object["watch"] = port.into();
    }
    object
}

/// `MEMBER` or `MEMBER*WEIGHT`, maybe with the port that it watches.
fn group_member(names: &Names, line: &mut Line) -> Result<Member, Mistake> {
    let word = line.number()?;
    let (member, weight) = word.text.split_once('*').unwrap_or((&word.text, "1"));
    match (member.parse(), weight.parse()) {
        (Ok(member_id), Ok(weight)) => {
            let watch_kind = watched_port(names, line)?.map(WatchKind::WatchPort);
            Ok(Member { member_id, weight, watch_kind })
        }
        _ => Err(Mistake::new(word.place, format!("expected MEMBER or MEMBER*WEIGHT, found `{}`", word.text))),
    }
}
