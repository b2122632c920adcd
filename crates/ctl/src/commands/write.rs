//! Actions and updates, as the commands that write have them in common.

use super::input::Input;
use super::{Session, mistake};
use crate::failure::Failure;
use crate::field;
use crate::names::{Named as _, Names};
use control::message::config::Table;
use control::message::runtime::{
    Action, ActionProfileAction, ActionProfileActionSet, Entity, TableAction, Update, action::Param,
    action_profile_action::WatchKind, entity, table_action, update, write_request::Atomicity,
};
use stf::command::Word;
use stf::{Line, Mistake, names};
use table_action::Type;

/// Updates that are written together.
pub struct Batch {
    atomicity: Atomicity,
    updates: Vec<(String, Update)>,
}

pub fn entity(entity: entity::Entity) -> Entity {
    Entity { entity: Some(entity) }
}

pub fn update(kind: update::Type, written: entity::Entity) -> Update {
    Update { r#type: kind.into(), entity: Some(entity(written)) }
}

/// The update that a verb names.
pub fn kind(verb: &str) -> update::Type {
    match verb {
        "add" => update::Type::Insert,
        "delete" => update::Type::Delete,
        _ => update::Type::Modify,
    }
}

impl Session {
    /// Writes one update, called by what the user typed.
    pub fn write_one(&mut self, label: String, update: Update) -> Result<(), Failure> {
        self.write_all(vec![(label, update)])
    }

    /// Writes several updates, or keeps them for the end of the batch that is open.
    pub fn write_all(&mut self, updates: Vec<(String, Update)>) -> Result<(), Failure> {
        match &mut self.batch {
            Some(batch) => batch.updates.extend(updates),
            None => self.client.write(updates, Atomicity::ContinueOnError)?,
        }
        Ok(())
    }

    /// `batch` begins one, `end` writes it.
    pub fn begin_batch(&mut self, input: &mut Input) -> Result<(), Failure> {
        let kind = input.one_of(&["rollback", "atomic"]);
        let line = input.line()?;
        line.finish()?;
        if self.batch.is_some() {
            return mistake(line.place(), "a batch is open already: `end` ends it");
        }
        let atomicity = match kind.map(|kind| kind.text).as_deref() {
            Some("rollback") => Atomicity::RollbackOnError,
            Some("atomic") => Atomicity::DataplaneAtomic,
            _ => Atomicity::ContinueOnError,
        };
        self.batch = Some(Batch { atomicity, updates: Vec::new() });
        Ok(())
    }

    pub fn end_batch(&mut self, input: &Input) -> Result<(), Failure> {
        let line = input.line()?;
        line.finish()?;
        match self.batch.take() {
            Some(Batch { updates, .. }) if updates.is_empty() => Ok(()),
            Some(Batch { atomicity, updates }) => self.client.write(updates, atomicity),
            None => mistake(line.place(), "no batch is open: `batch` begins one"),
        }
    }
}

/// `NAME(PARAMETER:VALUE, ...)`, whose name was read.
pub fn action(names: &Names, table: &Table, name: &Word, line: &mut Line) -> Result<Action, Mistake> {
    let known = names.action_of(table, name)?;
    let parameters = names.parameters(known);
    let mut values: Vec<Option<Vec<u8>>> = vec![None; parameters.len()];
    line.mark("(")?;
    let mut next = 0;
    while !line.accept(")") {
        if next > 0 {
            line.mark(",")?;
        }
        let mut word = field::word(line)?;
        let at = match line.accept(":") || line.accept("=") {
            true => {
                let what = format!("parameter of `{}`", known.name());
                let at = names::find(&word, &what, parameters.iter().map(|field| field.name))?;
                word = field::word(line)?;
                at
            }
            false => next,
        };
        next += 1;
        let Some(parameter) = parameters.get(at) else {
            let message = format!("action `{}` has {} parameters", known.name(), parameters.len());
            return Err(Mistake::new(word.place, message));
        };
        if values[at].is_some() {
            return Err(Mistake::new(word.place, format!("parameter `{}` is given twice", parameter.name)));
        }
        values[at] = Some(parameter.encode(&word)?);
    }
    if let Some((missing, _)) = parameters.iter().zip(&values).find(|(_, value)| value.is_none()) {
        let all: Vec<String> = parameters.iter().map(|field| format!("{}:…", field.name)).collect();
        let message = format!("parameter `{}` is missing: {}({})", missing.name, known.alias(), all.join(", "));
        return Err(Mistake::new(name.place, message));
    }
    let params = parameters.iter().zip(values);
    let params = params.map(|(field, value)| Param { param_id: field.id, value: value.unwrap_or_default() });
    Ok(Action { action_id: known.id(), params: params.collect() })
}

/// `watch PORT`: a member is left out while the port has no link.
pub fn watched_port(line: &mut Line) -> Result<Option<Vec<u8>>, Mistake> {
    if line.next_name() != Some("watch") {
        return Ok(None);
    }
    let name = line.name("`watch`")?;
    let port: u32 = super::input::option(line, &name)?;
    Ok(Some(port_bytes(port)))
}

/// As the protocol has it: the fewest bytes, but one at least.
fn port_bytes(port: u32) -> Vec<u8> {
    let bytes = port.to_be_bytes();
    let first = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len() - 1);
    bytes[first..].to_vec()
}

/// The suffix of a member that watches a port.
pub fn show_watched(port: &[u8]) -> String {
    format!(" watch {}", port.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte)))
}

/// `ACTION(...)[*WEIGHT] [watch PORT], ...`: actions of which each packet gets one.
fn one_shot(names: &Names, table: &Table, line: &mut Line) -> Result<ActionProfileActionSet, Mistake> {
    let mut set = ActionProfileActionSet::default();
    loop {
        let name = line.name("an action")?;
        let action = Some(action(names, table, &name, line)?);
        let weight = if line.accept("*") { super::input::option(line, &name)? } else { 1 };
        let watch_kind = watched_port(line)?.map(WatchKind::WatchPort);
        set.action_profile_actions.push(ActionProfileAction { action, weight, watch_kind });
        if !line.accept(",") {
            return Ok(set);
        }
    }
}

/// What an entry does: an action, `member=ID`, `group=ID`, or `one of` several actions.
pub fn table_action(names: &Names, table: &Table, name: &Word, line: &mut Line) -> Result<TableAction, Mistake> {
    let made = match name.text.as_str() {
        "member" if line.accept("=") => Type::ActionProfileMemberId(super::input::option(line, name)?),
        "group" if line.accept("=") => Type::ActionProfileGroupId(super::input::option(line, name)?),
        "one" if line.next_name() == Some("of") => {
            line.name("`of`")?;
            Type::ActionProfileActionSet(one_shot(names, table, line)?)
        }
        _ => Type::Action(action(names, table, name, line)?),
    };
    Ok(TableAction { r#type: Some(made) })
}

pub fn show_action(names: &Names, action: &Action) -> String {
    let Some(known) = names.action(action.action_id) else { return format!("{:#x}()", action.action_id) };
    let parameters = names.parameters(known);
    let values = action.params.iter().map(|param| match parameters.iter().find(|field| field.id == param.param_id) {
        Some(field) => format!("{}:{}", field.name, field.show(&param.value)),
        None => field::show(&param.value, field::Look::Number),
    });
    format!("{}({})", known.alias(), values.collect::<Vec<_>>().join(", "))
}

pub fn show_table_action(names: &Names, action: Option<&TableAction>) -> Option<String> {
    Some(match action?.r#type.as_ref()? {
        Type::Action(action) => show_action(names, action),
        Type::ActionProfileMemberId(member) => format!("member={member}"),
        Type::ActionProfileGroupId(group) => format!("group={group}"),
        Type::ActionProfileActionSet(set) => {
            let actions = set.action_profile_actions.iter().map(|one| {
                let shown = one.action.as_ref().map_or_else(String::new, |action| show_action(names, action));
                let weight = if one.weight == 1 { String::new() } else { format!("*{}", one.weight) };
                let watched = match &one.watch_kind {
                    Some(WatchKind::WatchPort(port)) => show_watched(port),
                    Some(WatchKind::Watch(port)) => show_watched(&port_bytes((*port).unsigned_abs())),
                    None => String::new(),
                };
                format!("{shown}{weight}{watched}")
            });
            format!("one of {}", actions.collect::<Vec<_>>().join(", "))
        }
    })
}
