//! Entries and default actions.

use crate::config::{Action, Table, kind_name};
use crate::problem::{Outcome, input};
use crate::session::{Session, at_least, check_indirect, exactly, say};
use crate::values::{action_data, integer, match_keys, with_colons, written_key};
use bm_runtime::Binary;
use bm_runtime::standard::{AddEntryOptions, MatchParameter};

const NO_HANDLE: &str = "Bad format for entry handle";
const NO_PRIORITY: &str = "Table is ternary, but could not extract a valid priority from args";

pub fn show_tables(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 0)?;
    let mut tables: Vec<&Table> = session.config.tables.iter().collect();
    tables.sort_by(|a, b| a.name.cmp(&b.name));
    for table in tables {
        say!(session, "{}", table.line());
    }
    Ok(())
}

pub fn show_actions(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 0)?;
    let names: Vec<String> = session.config.actions.iter().map(|action| action.name.clone()).collect();
    print_actions(session, names)
}

fn print_actions(session: &mut Session, mut names: Vec<String>) -> Outcome {
    names.sort();
    for action in names.iter().filter_map(|name| session.config.actions.iter().find(|action| action.name == *name)) {
        say!(session, "{}", action.line());
    }
    Ok(())
}

pub fn table_show_actions(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let names = session.config.table(arguments[0])?.actions.clone();
    print_actions(session, names)
}

pub fn table_info(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let table = session.config.table(arguments[0])?.clone();
    say!(session, "{}", table.line());
    say!(session, "{}", "*".repeat(80));
    print_actions(session, table.actions)
}

/// A table and one of its actions.
fn table_and_action(session: &Session, arguments: &[&str]) -> Outcome<(Table, Action)> {
    let table = session.config.table(arguments[0])?.clone();
    match session.config.action(arguments[1], &table.actions) {
        Some(action) => Ok((table, action.clone())),
        None => input(format!("Table {} has no action {}", arguments[0], arguments[1])),
    }
}

fn print_action(session: &mut Session, action: &str, data: &[Binary]) -> Outcome {
    say!(session, "{:20} {action}", "action:");
    let data: Vec<String> = data.iter().map(with_colons).collect();
    say!(session, "{:20} {}", "runtime data:", data.join("\t"));
    Ok(())
}

pub fn set_default(session: &mut Session, arguments: &[&str]) -> Outcome {
    at_least(arguments, 2)?;
    let (table, action) = table_and_action(session, arguments)?;
    // BMv2's command line has the action's name as it is given here, and in full elsewhere.
    let named = Action { name: arguments[1].to_string(), ..action.clone() };
    let data = action_data(&named, &arguments[2..])?;
    say!(session, "Setting default action of {}", arguments[0]);
    print_action(session, arguments[1], &data)?;
    session.standard().bm_mt_set_default_action(0, table.name, action.name, data)?;
    Ok(())
}

pub fn reset_default(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let table = session.config.table(arguments[0])?.name.clone();
    session.standard().bm_mt_reset_default_entry(0, table)?;
    Ok(())
}

pub fn num_entries(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let table = session.config.table(arguments[0])?.name.clone();
    let count = session.standard().bm_mt_get_num_entries(0, table)?;
    say!(session, "{count}");
    Ok(())
}

pub fn clear(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let table = session.config.table(arguments[0])?.name.clone();
    session.standard().bm_mt_clear_entries(0, table, false)?;
    Ok(())
}

/// Takes the priority from the end, where the table has priorities.
pub fn take_priority(table: &Table, arguments: &mut Vec<&str>) -> Outcome<AddEntryOptions> {
    let priority = match table.has_priorities() {
        true => match arguments.pop() {
            Some(word) => integer(word, NO_PRIORITY)?,
            None => return input(NO_PRIORITY),
        },
        false => 0,
    };
    Ok(AddEntryOptions { priority: Some(priority) })
}

/// The words before and behind the arrow. Without one, the last word is behind.
fn split_at_arrow<'a>(arguments: &'a [&'a str]) -> (&'a [&'a str], &'a [&'a str]) {
    match arguments.iter().position(|word| *word == "=>") {
        Some(at) => (&arguments[..at], &arguments[at + 1..]),
        None => (&arguments[..arguments.len().saturating_sub(1)], &[]),
    }
}

pub fn add(session: &mut Session, arguments: &[&str]) -> Outcome {
    at_least(arguments, 3)?;
    let (table, action) = table_and_action(session, arguments)?;
    let mut rest = arguments[2..].to_vec();
    let options = take_priority(&table, &mut rest)?;
    let (keys, data) = split_at_arrow(&rest);
    if keys.len() != table.keys.len() {
        return input(format!("Table {} needs {} key fields", arguments[0], table.keys.len()));
    }
    let data = action_data(&action, data)?;
    let keys = match_keys(&table, keys)?;
    say!(session, "Adding entry to {} match table {}", kind_name(table.kind), arguments[0]);
    say!(session, "{:20} {}", "match key:", keys.iter().map(written_key).collect::<Vec<_>>().join("\t"));
    print_action(session, arguments[1], &data)?;
    let handle = session.standard().bm_mt_add_entry(0, table.name, keys, action.name, data, options)?;
    say!(session, "Entry has been added with handle {handle}");
    Ok(())
}

pub fn set_timeout(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 3)?;
    let table = session.config.table(arguments[0])?.clone();
    if !table.has_timeouts {
        return input(format!("Table {} does not support entry timeouts", arguments[0]));
    }
    let handle = integer(arguments[1], NO_HANDLE)?;
    let timeout = integer(arguments[2], "Bad format for timeout")?;
    say!(session, "Setting a {timeout} ms timeout for entry {handle}");
    session.standard().bm_mt_set_entry_ttl(0, table.name, handle, timeout)?;
    Ok(())
}

/// The parameters of an action, which an arrow may precede.
pub fn without_arrow<'a>(arguments: &'a [&'a str]) -> &'a [&'a str] {
    arguments.strip_prefix(&["=>"]).unwrap_or(arguments)
}

pub fn modify(session: &mut Session, arguments: &[&str]) -> Outcome {
    at_least(arguments, 3)?;
    let (table, action) = table_and_action(session, arguments)?;
    let handle = integer(arguments[2], NO_HANDLE)?;
    let data = action_data(&action, without_arrow(&arguments[3..]))?;
    say!(session, "Modifying entry {handle} for {} match table {}", kind_name(table.kind), arguments[0]);
    session.standard().bm_mt_modify_entry(0, table.name, handle, action.name, data)?;
    Ok(())
}

pub fn delete(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 2)?;
    let table = session.config.table(arguments[0])?.name.clone();
    let handle = integer(arguments[1], NO_HANDLE)?;
    say!(session, "Deleting entry {handle} from {}", arguments[0]);
    session.standard().bm_mt_delete_entry(0, table, handle)?;
    Ok(())
}

type Indirect = (String, Vec<MatchParameter>, i32, AddEntryOptions);

/// Table, keys, handle and priority of an entry that refers to a member or group.
fn indirect(session: &mut Session, arguments: &[&str], selector: bool) -> Outcome<Indirect> {
    at_least(arguments, 2)?;
    let table = session.config.table(arguments[0])?.clone();
    check_indirect(&table, selector)?;
    let mut rest = arguments[1..].to_vec();
    let options = take_priority(&table, &mut rest)?;
    let (keys, handle) = split_at_arrow(&rest);
    let [handle] = handle else { return input("Invalid arguments, could not find handle") };
    let handle = integer(handle, "Bad format for handle")?;
    let keys = match_keys(&table, keys)?;
    say!(session, "Adding entry to indirect match table {}", table.name);
    Ok((table.name, keys, handle, options))
}

pub fn indirect_add(session: &mut Session, arguments: &[&str]) -> Outcome {
    let (table, keys, member, options) = indirect(session, arguments, false)?;
    let handle = session.standard().bm_mt_indirect_add_entry(0, table, keys, member, options)?;
    say!(session, "Entry has been added with handle {handle}");
    Ok(())
}

pub fn indirect_add_with_group(session: &mut Session, arguments: &[&str]) -> Outcome {
    let (table, keys, group, options) = indirect(session, arguments, true)?;
    let handle = session.standard().bm_mt_indirect_ws_add_entry(0, table, keys, group, options)?;
    say!(session, "Entry has been added with handle {handle}");
    Ok(())
}

pub fn indirect_delete(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 2)?;
    let table = session.config.table(arguments[0])?.clone();
    check_indirect(&table, false)?;
    let handle = integer(arguments[1], NO_HANDLE)?;
    say!(session, "Deleting entry {handle} from {}", arguments[0]);
    session.standard().bm_mt_indirect_delete_entry(0, table.name, handle)?;
    Ok(())
}

fn indirect_default(session: &Session, arguments: &[&str], selector: bool) -> Outcome<(String, i32)> {
    exactly(arguments, 2)?;
    let table = session.config.table(arguments[0])?;
    check_indirect(table, selector)?;
    Ok((table.name.clone(), integer(arguments[1], "Bad format for handle")?))
}

pub fn indirect_set_default(session: &mut Session, arguments: &[&str]) -> Outcome {
    let (table, member) = indirect_default(session, arguments, false)?;
    session.standard().bm_mt_indirect_set_default_member(0, table, member)?;
    Ok(())
}

pub fn indirect_set_default_group(session: &mut Session, arguments: &[&str]) -> Outcome {
    let (table, group) = indirect_default(session, arguments, true)?;
    session.standard().bm_mt_indirect_ws_set_default_group(0, table, group)?;
    Ok(())
}

pub fn indirect_reset_default(session: &mut Session, arguments: &[&str]) -> Outcome {
    exactly(arguments, 1)?;
    let table = session.config.table(arguments[0])?.name.clone();
    session.standard().bm_mt_indirect_reset_default_entry(0, table)?;
    Ok(())
}
