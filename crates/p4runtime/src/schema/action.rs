//! Actions of a table: a controller's calls, and what they are in the program's own terms.

use super::keys::KeySchema;
use super::translation::Dictionaries;
use crate::failure::{Failure, Outcome};
use control::message::runtime::{Action, action::Param};
use hlir::interface::{Interface, SourceTable};
use hlir::{ActionCall, Scope, Table};
use tonic::Code;

#[derive(Clone, Debug)]
pub struct ActionSchema {
    pub id: u32,
    /// Its number in the table.
    pub number: u32,
    pub name: String,
    pub scope: Scope,
    pub parameters: Vec<KeySchema>,
}

#[derive(Clone, Debug, Default)]
pub struct Actions(Vec<ActionSchema>);

impl Actions {
    /// Those that the controller may know, and whatever else the table runs by default.
    pub fn of(interface: &Interface, source: &SourceTable, table: &Table, dictionaries: &Dictionaries) -> Actions {
        let made = table.actions.iter().enumerate().filter_map(|(number, action)| {
            let known = interface.actions.iter().filter(|known| known.name == action.name);
            let listed = |id: u32| source.actions.iter().any(|used| used.action == id);
            let default = source.default.as_ref().map(|default| default.action);
            let known = known.into_iter().find(|known| listed(known.id) || Some(known.id) == default)?;
            let parameters = known.parameters.iter().zip(&action.parameters);
            Some(ActionSchema {
                id: known.id,
                number: number as u32,
                name: known.name.clone(),
                scope: source
                    .actions
                    .iter()
                    .find(|used| used.action == known.id)
                    .map_or(action.scope, |used| used.scope),
                parameters: parameters
                    .map(|(known, parameter)| KeySchema::parameter(known, parameter.width, dictionaries))
                    .collect(),
            })
        });
        Actions(made.collect())
    }

    pub fn find(&self, id: u32) -> Outcome<&ActionSchema> {
        let found = self.0.iter().find(|action| action.id == id);
        found.ok_or_else(|| Failure::invalid(format!("the table has no action with id {id:#x}")))
    }

    /// The call, used where `forbidden` would keep it out.
    pub fn read(&self, given: &Action, forbidden: Scope, dictionaries: &Dictionaries) -> Outcome<ActionCall> {
        let action = self.find(given.action_id)?;
        if action.scope == forbidden {
            let only = if forbidden == Scope::DefaultOnly { "be the default action" } else { "be in entries" };
            let sentence = format!("action `{}` may only {only}", action.name);
            return Err(Failure::new(Code::PermissionDenied, sentence));
        }
        let mut arguments = vec![None; action.parameters.len()];
        for (at, param) in given.params.iter().enumerate() {
            let guess = action.parameters.get(at).filter(|known| known.id == param.param_id).map(|_| at);
            let place = guess.or_else(|| action.parameters.iter().position(|known| known.id == param.param_id));
            let Some(place) = place else {
                let sentence = format!("action `{}` has no parameter with id {}", action.name, param.param_id);
                return Err(Failure::invalid(sentence));
            };
            let parameter = &action.parameters[place];
            if arguments[place].is_some() {
                return Err(Failure::invalid(format!("parameter `{}` is given twice", parameter.name)));
            }
            arguments[place] = Some(parameter.read(&param.value, dictionaries)?);
        }
        let missing = arguments.iter().zip(&action.parameters).find(|(argument, _)| argument.is_none());
        if let Some((_, parameter)) = missing {
            let sentence = format!("parameter `{}` of action `{}` is left out", parameter.name, action.name);
            return Err(Failure::invalid(sentence));
        }
        Ok(ActionCall { action: action.number, arguments: arguments.into_iter().flatten().collect() })
    }

    /// None for an action that the controller may not know.
    pub fn write(&self, call: &ActionCall, dictionaries: &Dictionaries) -> Option<Action> {
        let action = self.0.iter().find(|action| action.number == call.action)?;
        let params = action.parameters.iter().zip(&call.arguments).map(|(parameter, value)| Param {
            param_id: parameter.id,
            value: dictionaries.write(value, &parameter.reading),
        });
        Some(Action { action_id: action.id, params: params.collect() })
    }
}
