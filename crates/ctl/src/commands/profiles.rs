//! Members and groups of action profiles.

use super::Session;
use super::input::{Input, option, unknown_option};
use super::write::{action, entity, kind, show_action, show_watched, update, watched_port};
use crate::failure::Failure;
use crate::names::{self, Named as _, Names};
use crate::output::Report;
use control::message::config::ActionProfile;
use control::message::runtime::{
    ActionProfileGroup, ActionProfileMember,
    action_profile_group::{Member, member::WatchKind},
    entity::Entity,
};
use stf::{Line, Mistake};

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
            let one = if line.goes_on() { Some(profile(&names, &mut line)?) } else { None };
            line.finish()?;
            let filter = ActionProfileMember { action_profile_id: one.map_or(0, |one| one.id()), ..Default::default() };
            let mut report = Report::new(&["profile", "member", "action"]);
            for found in self.client.read(vec![entity(Entity::ActionProfileMember(filter))])? {
                if let Some(Entity::ActionProfileMember(member)) = found.entity {
                    let profile = names::name_of(member.action_profile_id, &names.info.action_profiles);
                    let action = member.action.as_ref().map(|action| show_action(&names, action));
                    report.row(vec![profile.into(), member.member_id.into(), action.into()]);
                }
            }
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
            let one = if line.goes_on() { Some(profile(&names, &mut line)?) } else { None };
            line.finish()?;
            return self.show_groups(&names, one);
        };
        let profile = profile(&names, &mut line)?;
        let group_id = option(&mut line, &verb)?;
        let mut group = ActionProfileGroup { action_profile_id: profile.id(), group_id, ..Default::default() };
        while verb.text != "delete" && line.goes_on() {
            if line.is_number() {
                group.members.push(group_member(&mut line)?);
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

    fn show_groups(&mut self, names: &Names, one: Option<&ActionProfile>) -> Result<(), Failure> {
        let filter = ActionProfileGroup { action_profile_id: one.map_or(0, |one| one.id()), ..Default::default() };
        let mut report = Report::new(&["profile", "group", "members", "size"]);
        for found in self.client.read(vec![entity(Entity::ActionProfileGroup(filter))])? {
            let Some(Entity::ActionProfileGroup(group)) = found.entity else { continue };
            let members = group.members.iter().map(show_member);
            report.row(vec![
                names::name_of(group.action_profile_id, &names.info.action_profiles).into(),
                group.group_id.into(),
                members.collect::<Vec<_>>().join(" ").into(),
                (group.max_size != 0).then_some(i64::from(group.max_size)).into(),
            ]);
        }
        self.print(&report);
        Ok(())
    }
}

fn show_member(member: &Member) -> String {
    let weight = if member.weight == 1 { String::new() } else { format!("*{}", member.weight) };
    let watched = match &member.watch_kind {
        Some(WatchKind::WatchPort(port)) => show_watched(port),
        Some(WatchKind::Watch(port)) => show_watched(&port.to_be_bytes()),
        None => String::new(),
    };
    format!("{}{weight}{watched}", member.member_id)
}

/// `MEMBER` or `MEMBER*WEIGHT`, maybe with the port that it watches.
fn group_member(line: &mut Line) -> Result<Member, Mistake> {
    let word = line.number()?;
    let (member, weight) = word.text.split_once('*').unwrap_or((&word.text, "1"));
    match (member.parse(), weight.parse()) {
        (Ok(member_id), Ok(weight)) => {
            let watch_kind = watched_port(line)?.map(WatchKind::WatchPort);
            Ok(Member { member_id, weight, watch_kind })
        }
        _ => Err(Mistake::new(word.place, format!("expected MEMBER or MEMBER*WEIGHT, found `{}`", word.text))),
    }
}
