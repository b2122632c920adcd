//! Members and groups of action profiles.

use super::tables::without_arrow;
use crate::config::{Action, Profile};
use crate::problem::{Outcome, Problem, input};
use crate::session::{Run, Session, at_least, check_indirect, exactly, say};
use crate::values::{action_data, integer};

const NO_MEMBER: &str = "Bad format for member handle";
const NO_GROUP: &str = "Bad format for group handle";

fn profile_and_action(session: &Session, arguments: &[&str]) -> Outcome<(Profile, Action)> {
    let profile = session.config.profile(arguments[0])?.clone();
    match session.config.action(arguments[1], &profile.actions) {
        Some(action) => Ok((profile, action.clone())),
        None => input(format!("Action profile '{}' has no action '{}'", arguments[0], arguments[1])),
    }
}

fn with_selector(session: &Session, name: &str) -> Outcome<String> {
    let profile = session.config.profile(name)?;
    match profile.has_selector {
        true => Ok(profile.name.clone()),
        false => input("Cannot run this command on an action profile without selector"),
    }
}

pub fn create_member(session: &mut Session, arguments: &[&str]) -> Outcome {
    at_least(arguments, 2)?;
    let (profile, action) = profile_and_action(session, arguments)?;
    let data = action_data(&action, &arguments[2..])?;
    let member = session.standard().bm_mt_act_prof_add_member(0, profile.name, action.name, data)?;
    say!(session, "Member has been created with handle {member}");
    Ok(())
}

pub fn delete_member(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 2)?;
    let profile = session.config.profile(arguments[0])?.name.clone();
    let member = integer(arguments[1], NO_MEMBER)?;
    session.standard().bm_mt_act_prof_delete_member(0, profile, member)?;
    Ok(())
}

pub fn modify_member(session: &mut Session, arguments: &[&str]) -> Outcome {
    at_least(arguments, 3)?;
    let (profile, action) = profile_and_action(session, arguments)?;
    let member = integer(arguments[2], NO_MEMBER)?;
    let data = action_data(&action, without_arrow(&arguments[3..]))?;
    session.standard().bm_mt_act_prof_modify_member(0, profile.name, member, action.name, data)?;
    Ok(())
}

pub fn create_group(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let profile = with_selector(session, arguments[0])?;
    let group = session.standard().bm_mt_act_prof_create_group(0, profile)?;
    say!(session, "Group has been created with handle {group}");
    Ok(())
}

pub fn delete_group(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 2)?;
    let profile = with_selector(session, arguments[0])?;
    let group = integer(arguments[1], NO_GROUP)?;
    session.standard().bm_mt_act_prof_delete_group(0, profile, group)?;
    Ok(())
}

fn member_and_group(session: &Session, arguments: &[&str]) -> Outcome<(String, i32, i32)> {
    exactly(arguments, 3)?;
    let profile = with_selector(session, arguments[0])?;
    Ok((profile, integer(arguments[1], NO_MEMBER)?, integer(arguments[2], NO_GROUP)?))
}

pub fn add_to_group(session: &mut Session, arguments: &[&str]) -> Outcome {
    let (profile, member, group) = member_and_group(session, arguments)?;
    session.standard().bm_mt_act_prof_add_member_to_group(0, profile, member, group)?;
    Ok(())
}

pub fn remove_from_group(session: &mut Session, arguments: &[&str]) -> Outcome {
    let (profile, member, group) = member_and_group(session, arguments)?;
    session.standard().bm_mt_act_prof_remove_member_from_group(0, profile, member, group)?;
    Ok(())
}

/// Runs a command for the profile of a table, which no other table may share.
fn of_table(session: &mut Session, arguments: &[&str], (name, run): (&str, Run), selector: bool) -> Outcome {
    let profile = profile_of(session, arguments, selector)?;
    if session.config.tables.iter().filter(|table| table.profile.as_ref() == Some(&profile)).count() > 1 {
        return input("Legacy command does not work with shared action profiles");
    }
    // Scripts read standard output.
    eprintln!("This is a deprecated command, use '{name}' instead");
    let mut arguments = arguments.to_vec();
    arguments[0] = &profile;
    run(session, &arguments)
}

/// The profile of the table that the first argument names.
pub fn profile_of(session: &Session, arguments: &[&str], selector: bool) -> Outcome<String> {
    at_least(arguments, 1)?;
    let table = session.config.table(arguments[0])?;
    check_indirect(table, selector)?;
    table.profile.clone().ok_or_else(|| Problem::Input("Cannot run this command on non-indirect table".to_string()))
}

pub fn table_create_member(session: &mut Session, arguments: &[&str]) -> Outcome {
    of_table(session, arguments, ("act_prof_create_member", create_member), false)
}

pub fn table_delete_member(session: &mut Session, arguments: &[&str]) -> Outcome {
    of_table(session, arguments, ("act_prof_delete_member", delete_member), false)
}

pub fn table_modify_member(session: &mut Session, arguments: &[&str]) -> Outcome {
    of_table(session, arguments, ("act_prof_modify_member", modify_member), false)
}

pub fn table_create_group(session: &mut Session, arguments: &[&str]) -> Outcome {
    of_table(session, arguments, ("act_prof_create_group", create_group), true)
}

pub fn table_delete_group(session: &mut Session, arguments: &[&str]) -> Outcome {
    of_table(session, arguments, ("act_prof_delete_group", delete_group), true)
}

pub fn table_add_to_group(session: &mut Session, arguments: &[&str]) -> Outcome {
    of_table(session, arguments, ("act_prof_add_member_to_group", add_to_group), true)
}

pub fn table_remove_from_group(session: &mut Session, arguments: &[&str]) -> Outcome {
    of_table(session, arguments, ("act_prof_remove_member_from_group", remove_from_group), true)
}
