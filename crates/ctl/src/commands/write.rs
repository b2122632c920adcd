//! Actions and updates, as the commands that write have them in common.

use super::Session;
use crate::failure::Failure;
use crate::field;
use crate::names::{Named as _, Names};
use control::message::config::Table;
use control::message::runtime::{Action, Entity, TableAction, Update, action::Param, entity, table_action, update};
use stf::command::Word;
use stf::{Line, Mistake, names};
use table_action::Type;

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
        self.client.write(vec![(label, update)])
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
            return Err(Mistake::new(word.place, format!("parameter `{}` stands twice", parameter.name)));
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

/// What an entry does: an action, `member=ID` or `group=ID`.
pub fn table_action(names: &Names, table: &Table, name: &Word, line: &mut Line) -> Result<TableAction, Mistake> {
    let made = match name.text.as_str() {
        "member" if line.accept("=") => Type::ActionProfileMemberId(super::input::option(line, name)?),
        "group" if line.accept("=") => Type::ActionProfileGroupId(super::input::option(line, name)?),
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
                if one.weight == 1 { shown } else { format!("{shown}*{}", one.weight) }
            });
            format!("one of {}", actions.collect::<Vec<_>>().join(", "))
        }
    })
}
