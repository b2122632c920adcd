//! Entries, members and groups, printed.

use super::profiles::profile_of;
use super::tables::take_priority;
use crate::config::{Table, TableType};
use crate::problem::Outcome;
use crate::session::{Session, at_least, exactly, say};
use crate::values::{hexadecimal, integer, match_keys, shown_key};
use bm_runtime::standard::{ActionData, ActionEntry, ActionEntryType, ProfileGroup, ProfileMember, TableEntry};

const LINE: &str = "==========";
const STARS: &str = "**********";

fn print_call(session: &mut Session, action: &str, data: &ActionData) -> Outcome {
    let data: Vec<String> = data.iter().map(hexadecimal).collect();
    say!(session, "Action entry: {action} - {}", data.join(", "));
    Ok(())
}

fn print_action(session: &mut Session, entry: &ActionEntry) -> Outcome {
    match entry.action_type {
        ActionEntryType::Nothing => say!(session, "EMPTY"),
        ActionEntryType::ActionData => {
            let data = entry.action_data.clone().unwrap_or_default();
            print_call(session, entry.action_name.as_deref().unwrap_or_default(), &data)?;
        }
        ActionEntryType::Member => say!(session, "Index: member({})", entry.mbr_handle.unwrap_or_default()),
        ActionEntryType::Group => say!(session, "Index: group({})", entry.grp_handle.unwrap_or_default()),
    }
    Ok(())
}

fn print_entry(session: &mut Session, table: &Table, entry: &TableEntry) -> Outcome {
    let width = table.keys.iter().map(|key| key.name.len()).max().unwrap_or(0).max(20);
    say!(session, "Dumping entry {:#x}", entry.entry_handle);
    say!(session, "Match key:");
    for (found, key) in entry.match_key.iter().zip(&table.keys) {
        let kind = found.kind.name();
        say!(session, "* {:width$}: {kind:10}{}", key.name, shown_key(found, hexadecimal));
    }
    if let Some(priority) = entry.options.priority.filter(|priority| *priority >= 0) {
        say!(session, "Priority: {priority}");
    }
    print_action(session, &entry.action_entry)?;
    if let Some(life) = &entry.life {
        let (since, timeout) = (life.time_since_hit_ms, life.timeout_ms);
        say!(session, "Life: {since}ms since hit, timeout is {timeout}ms");
    }
    Ok(())
}

pub fn entry(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 2)?;
    let table = session.config.table(arguments[0])?.clone();
    let handle = integer(arguments[1], "Bad format for entry handle")?;
    let entry = session.standard().bm_mt_get_entry(0, table.name.clone(), handle)?;
    print_entry(session, &table, &entry)
}

pub fn entry_from_key(session: &mut Session, arguments: &[&str]) -> Outcome {
    at_least(arguments, 1)?;
    let table = session.config.table(arguments[0])?.clone();
    let mut rest = arguments[1..].to_vec();
    let options = take_priority(&table, &mut rest)?;
    let keys = match_keys(&table, &rest)?;
    let entry = session.standard().bm_mt_get_entry_from_key(0, table.name.clone(), keys, options)?;
    print_entry(session, &table, &entry)
}

pub fn table(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let table = session.config.table(arguments[0])?.clone();
    let entries = session.standard().bm_mt_get_entries(0, table.name.clone())?;
    say!(session, "{LINE}\nTABLE ENTRIES");
    for entry in &entries {
        say!(session, "{STARS}");
        print_entry(session, &table, entry)?;
    }
    if let Some(profile) = &table.profile {
        print_profile(session, profile, table.table_type == TableType::WithSelector)?;
    }
    let default = session.standard().bm_mt_get_default_entry(0, table.name)?;
    say!(session, "{LINE}\nDumping default entry");
    print_action(session, &default)?;
    say!(session, "{LINE}");
    Ok(())
}

fn print_profile(session: &mut Session, profile: &str, has_groups: bool) -> Outcome {
    let members = session.standard().bm_mt_act_prof_get_members(0, profile.to_string())?;
    say!(session, "{LINE}\nMEMBERS");
    for member in &members {
        say!(session, "{STARS}");
        print_member(session, member)?;
    }
    if has_groups {
        let groups = session.standard().bm_mt_act_prof_get_groups(0, profile.to_string())?;
        say!(session, "{LINE}\nGROUPS");
        for group in &groups {
            say!(session, "{STARS}");
            print_group(session, group)?;
        }
    }
    Ok(())
}

fn print_member(session: &mut Session, member: &ProfileMember) -> Outcome {
    say!(session, "Dumping member {}", member.mbr_handle);
    print_call(session, &member.action_name, &member.action_data)
}

fn print_group(session: &mut Session, group: &ProfileGroup) -> Outcome {
    say!(session, "Dumping group {}", group.grp_handle);
    let members: Vec<String> = group.mbr_handles.iter().map(ToString::to_string).collect();
    say!(session, "Members: [{}]", members.join(", "));
    Ok(())
}

pub fn profile(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let profile = session.config.profile(arguments[0])?.clone();
    print_profile(session, &profile.name, profile.has_selector)
}

pub fn member(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 2)?;
    let profile = session.config.profile(arguments[0])?.name.clone();
    let member = integer(arguments[1], "Bad format for member handle")?;
    let member = session.standard().bm_mt_act_prof_get_member(0, profile, member)?;
    print_member(session, &member)
}

pub fn group(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 2)?;
    let profile = session.config.profile(arguments[0])?.name.clone();
    let group = integer(arguments[1], "Bad format for group handle")?;
    let group = session.standard().bm_mt_act_prof_get_group(0, profile, group)?;
    print_group(session, &group)
}

pub fn table_member(session: &mut Session, arguments: &[&str]) -> Outcome {
    let profile = profile_of(session, arguments, false)?;
    let mut arguments = arguments.to_vec();
    arguments[0] = &profile;
    member(session, &arguments)
}

pub fn table_group(session: &mut Session, arguments: &[&str]) -> Outcome {
    let profile = profile_of(session, arguments, false)?;
    let mut arguments = arguments.to_vec();
    arguments[0] = &profile;
    group(session, &arguments)
}
