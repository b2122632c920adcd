//! Actions and updates, as the commands that write have them in common.

use super::input::Input;
use super::{Session, mistake};
use crate::failure::{Failure, Label};
use crate::field;
use crate::names::{Named as _, Names};
use crate::output::Cell;
use control::message::config::Table;
use control::message::runtime::{
    Action, ActionProfileAction, ActionProfileActionSet, Entity, P4Data, TableAction, Update, action::Param,
    action_profile_action::WatchKind, entity, p4_data::Data, table_action, update, write_request::Atomicity,
};
use serde_json::{Value as Json, json};
use stf::command::Word;
use stf::{Line, Mistake, names};
use table_action::Type;

/// Updates that are written together.
pub struct Batch {
    atomicity: Atomicity,
    updates: Vec<(Label, Update)>,
}

pub fn entity(entity: entity::Entity) -> Entity {
    Entity { entity: Some(entity) }
}

pub fn update(kind: update::Type, written: entity::Entity) -> Update {
    Update { r#type: kind.into(), entity: Some(entity(written)) }
}

/// Whether a line of a file only writes, so that it can be gathered with others of its kind.
pub fn only_writes(line: &str) -> bool {
    let mut words = line.split_whitespace();
    match words.next() {
        None | Some("add" | "modify" | "delete" | "default" | "table_add" | "table_set_default" | "register_write") => {
            true
        }
        Some(word) if word.starts_with('#') => true,
        Some("counters" | "meters" | "registers" | "multicast" | "sessions") => {
            matches!(words.next(), Some("set" | "reset" | "add" | "modify" | "delete"))
        }
        Some(_) => false,
    }
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
        // Of what is written later, the line that fails is another than the one by which it is written.
        let is_later = self.batch.is_some() || self.client.gathers();
        let line = is_later.then_some(self.line);
        let updates = updates.into_iter().map(|(text, update)| (Label { line, text }, update)).collect();
        match &mut self.batch {
            Some(batch) => batch.updates.extend::<Vec<_>>(updates),
            None => self.client.write_line(updates)?,
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
    let form = || {
        let all: Vec<String> = parameters.iter().map(|field| format!("{}:…", field.name)).collect();
        format!("{}({})", known.alias(), all.join(", "))
    };
    if !line.accept("(") {
        return Err(line.expected(&format!("`{}`", form())));
    }
    let mut next = 0;
    while !line.accept(")") {
        if next > 0 && !line.accept(",") {
            return Err(line.expected("`,` or `)`"));
        }
        let mut word = field::word(line)?;
        let at = match line.accept(":") || line.accept("=") {
            true => {
                let what = format!("parameter of `{}` called", known.name());
                let at = names::find(&word, &what, parameters.iter().map(|field| field.name))?;
                word = field::word(line)?;
                at
            }
            false => next,
        };
        next += 1;
        let Some(parameter) = parameters.get(at) else {
            return Err(Mistake::new(word.place, format!("one value too many: write {}", form())));
        };
        if values[at].is_some() {
            return Err(Mistake::new(word.place, format!("parameter `{}` is given twice", parameter.name)));
        }
        values[at] = Some(parameter.encode(&word)?);
    }
    if let Some((missing, _)) = parameters.iter().zip(&values).find(|(_, value)| value.is_none()) {
        return Err(Mistake::new(name.place, format!("parameter `{}` is missing: write {}", missing.name, form())));
    }
    let params = parameters.iter().zip(values);
    let params = params.map(|(field, value)| Param { param_id: field.id, value: value.unwrap_or_default() });
    Ok(Action { action_id: known.id(), params: params.collect() })
}

/// `watch PORT`: a member is left out while the port has no link.
pub fn watched_port(names: &Names, line: &mut Line) -> Result<Option<Vec<u8>>, Mistake> {
    if line.next_name() != Some("watch") {
        return Ok(None);
    }
    line.name("`watch`")?;
    Ok(Some(port_bytes(names.port(line)?)))
}

/// As the protocol has it: the fewest bytes, but one at least.
pub fn port_bytes(port: u32) -> Vec<u8> {
    let bytes = port.to_be_bytes();
    let first = bytes.iter().position(|byte| *byte != 0).unwrap_or(bytes.len() - 1);
    bytes[first..].to_vec()
}

/// The number of a port in its bytes.
pub fn port_number(port: &[u8]) -> u64 {
    port.iter().fold(0u64, |number, byte| number << 8 | u64::from(*byte))
}

/// The suffix of a member that watches a port.
pub fn show_watched(port: Option<u64>) -> String {
    port.map_or_else(String::new, |port| format!(" watch {port}"))
}

/// `ACTION(...)[*WEIGHT] [watch PORT], ...`: actions of which each packet gets one.
fn one_shot(names: &Names, table: &Table, line: &mut Line) -> Result<ActionProfileActionSet, Mistake> {
    let mut set = ActionProfileActionSet::default();
    loop {
        let name = line.name("an action")?;
        let action = Some(action(names, table, &name, line)?);
        let weight = if line.accept("*") { super::input::option(line, &name)? } else { 1 };
        let watch_kind = watched_port(names, line)?.map(WatchKind::WatchPort);
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

/// `{"name": …, "parameters": {…}}`
fn json_action(names: &Names, action: &Action) -> Json {
    let known = names.action(action.action_id);
    let fields = known.map(|known| names.parameters(known)).unwrap_or_default();
    let parameters = action.params.iter().map(|param| match fields.iter().find(|field| field.id == param.param_id) {
        Some(field) => (field.name.to_string(), field.json(&param.value)),
        None => (param.param_id.to_string(), field::json(&param.value, field::Look::Number)),
    });
    let name = known.map_or_else(|| format!("{:#x}", action.action_id), |known| known.alias().to_string());
    json!({ "name": name, "parameters": parameters.collect::<Json>() })
}

pub fn action_cell(names: &Names, action: Option<&Action>) -> Cell {
    action.map_or(Cell::Empty, |action| Cell::shown(show_action(names, action), json_action(names, action)))
}

/// What an entry does: an action as an object, or `{"member": …}`, `{"group": …}`, `{"one_of": […]}`.
fn json_table_action(names: &Names, action: &Type) -> Json {
    match action {
        Type::Action(action) => json_action(names, action),
        Type::ActionProfileMemberId(member) => json!({ "member": member }),
        Type::ActionProfileGroupId(group) => json!({ "group": group }),
        Type::ActionProfileActionSet(set) => {
            let actions = set.action_profile_actions.iter().map(|one| {
                let mut object = one.action.as_ref().map_or(Json::Null, |action| json_action(names, action));
                object["weight"] = one.weight.into();
                if let Some(port) = watched(one) {
                    object["watch"] = port.into();
                }
                object
            });
            json!({ "one_of": actions.collect::<Json>() })
        }
    }
}

pub fn table_action_cell(names: &Names, action: Option<&TableAction>) -> Cell {
    let kind = action.and_then(|action| action.r#type.as_ref());
    let text = show_table_action(names, action);
    kind.zip(text).map_or(Cell::Empty, |(kind, text)| Cell::shown(text, json_table_action(names, kind)))
}

/// The port that an action of a set watches.
fn watched(one: &ActionProfileAction) -> Option<u64> {
    match one.watch_kind.as_ref()? {
        WatchKind::WatchPort(port) => Some(port_number(port)),
        WatchKind::Watch(port) => Some(port.unsigned_abs().into()),
    }
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
                format!("{shown}{weight}{}", show_watched(watched(one)))
            });
            format!("one of {}", actions.collect::<Vec<_>>().join(", "))
        }
    })
}

/// Whether a register has this value from the start.
pub fn is_zero(data: &P4Data) -> bool {
    match &data.data {
        Some(Data::Bitstring(bytes) | Data::EnumValue(bytes)) => bytes.iter().all(|byte| *byte == 0),
        Some(Data::Bool(truth)) => !truth,
        Some(Data::Struct(parts) | Data::Tuple(parts)) => parts.members.iter().all(is_zero),
        Some(Data::Varbit(varbit)) => varbit.bitstring.iter().all(|byte| *byte == 0),
        Some(Data::Header(header)) => header.bitstrings.iter().flatten().all(|byte| *byte == 0),
        Some(
            Data::Enum(_) | Data::Error(_) | Data::HeaderUnion(_) | Data::HeaderStack(_) | Data::HeaderUnionStack(_),
        )
        | None => false,
    }
}
