//! The actions of the controller's view: those of tables, and those that the program calls itself.

use std::collections::{BTreeMap, HashMap};

use hlir::interface::{SourceAction, SourceParameter};

use super::{controller_width, id_note, ids_together, is_hidden, number};
use crate::ast::walk::statement_expressions;
use crate::ast::{DeclarationId, Statement};
use crate::check::Callee;
use crate::lower::Lowering;

const ACTION: u32 = 0x01;

impl Lowering<'_> {
    /// Keeps an action that the program calls itself for the list of actions.
    pub fn note_called_action(&mut self, action: DeclarationId) {
        // Those that only actions call are part of them.
        if self.path != self.prefix {
            return;
        }
        let name = self.action_name(action);
        let notes = self.notes_of(action);
        if is_hidden(&notes) || self.called_actions.iter().any(|known| known.name == name) {
            return;
        }
        // Its data is what the caller gives: the controller has no say.
        let parameters = Vec::new();
        self.called_actions.push(SourceAction { id: 0, name, alias: String::new(), parameters, notes });
    }

    /// The same for what is called where nothing gets to, behind an `exit`.
    pub fn note_calls_in(&mut self, statement: &Statement) {
        let mut called = Vec::new();
        statement_expressions(statement, &mut |expression| {
            if let Some(Callee::Action(action)) = self.checked.call(expression).map(|call| &call.callee) {
                called.push(*action);
            }
        });
        called.into_iter().for_each(|action| self.note_called_action(action));
    }

    pub(super) fn source_actions(&mut self) {
        let mut names = BTreeMap::new();
        let mut order: Vec<SourceAction> = Vec::new();
        for (id, table) in self.program.tables.iter().filter(|(_, table)| !is_hidden(&table.notes)) {
            for (at, action) in table.actions.iter().enumerate() {
                if names.contains_key(&action.name) || self.facts.unlisted.contains(&(id, at as u32)) {
                    continue;
                }
                names.insert(action.name.clone(), id_note(&action.notes));
                let given: Vec<_> = action.parameters.iter().map(|parameter| id_note(&parameter.notes)).collect();
                let parameters =
                    action.parameters.iter().zip(ids_together(&given)).map(|(parameter, id)| SourceParameter {
                        id,
                        name: parameter.name.clone(),
                        width: parameter.width,
                        type_name: None,
                        notes: parameter.notes.clone(),
                    });
                let parameters = parameters.collect();
                let (name, notes) = (action.name.clone(), action.notes.clone());
                order.push(SourceAction { id: 0, name, alias: String::new(), parameters, notes });
            }
        }
        for action in std::mem::take(&mut self.called_actions) {
            if !names.contains_key(&action.name) {
                names.insert(action.name.clone(), id_note(&action.notes));
                order.push(action);
            }
        }
        let ids = number(ACTION, &names);
        for action in &mut order {
            action.id = ids[&action.name];
            let types = self.facts.parameters.get(&action.name).map_or(&[][..], |types| types);
            for (parameter, of_type) in action.parameters.iter_mut().zip(types) {
                parameter.type_name = self.type_name(of_type);
                parameter.width = controller_width(of_type, parameter.width);
            }
        }
        self.program.interface.actions = order;
    }

    /// The ids of actions, by name.
    pub(super) fn action_ids(&self) -> HashMap<String, u32> {
        self.program.interface.actions.iter().map(|action| (action.name.clone(), action.id)).collect()
    }
}
