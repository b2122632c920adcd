//! The actions of the controller's view: those of tables, and those that the program calls itself.

use std::collections::{BTreeMap, HashMap};
use std::rc::Rc;

use hlir::interface::{SourceAction, SourceParameter};
use hlir::{Action, TableId};

use super::shared_names::Shown;
use super::{controller_width, id_note, ids_together, is_hidden, number};
use crate::ast::walk::statement_expressions;
use crate::ast::{DeclarationId, Statement};
use crate::check::Callee;
use crate::lower::Lowering;
use crate::lower::table::LoweredTable;

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
        if is_hidden(&notes) || self.called_actions.iter().any(|(known, _)| *known == action) {
            return;
        }
        // Its data is what the caller gives: the controller cannot choose it.
        let parameters = Vec::new();
        self.called_actions.push((action, SourceAction { id: 0, name, alias: String::new(), parameters, notes }));
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
        let declared: HashMap<TableId, Rc<LoweredTable>> =
            self.objects.tables.values().map(|table| (table.id, table.clone())).collect();
        let visible: Vec<(TableId, Vec<Action>)> = self
            .program
            .tables
            .iter()
            .filter(|(_, table)| !is_hidden(&table.notes))
            .map(|(id, table)| (id, table.actions.clone()))
            .collect();
        let called = std::mem::take(&mut self.called_actions);
        let of_tables = visible.iter().flat_map(|(_, actions)| actions).map(|action| action.name.clone());
        let taken = of_tables.chain(called.iter().map(|(_, action)| action.name.clone())).collect();
        let mut shown = Shown::new(taken);
        let mut names = BTreeMap::new();
        let mut order: Vec<SourceAction> = Vec::new();
        for (id, actions) in visible {
            for (at, action) in actions.into_iter().enumerate() {
                let place = (id, at as u32);
                let declaration = declared.get(&id).and_then(|table| table.actions.get(at)).copied();
                let (name, is_new) = self.shown_name(&mut shown, &action.name, declaration, &action.parameters);
                self.facts.action_names.insert(place, name.clone());
                if names.contains_key(&name) || self.facts.unlisted.contains(&place) {
                    continue;
                }
                if let (true, Some(types)) = (is_new, self.facts.action_types.get(&place)) {
                    self.facts.parameters.insert(name.clone(), types.clone());
                }
                names.insert(name.clone(), id_note(&action.notes));
                order.push(table_action(name, action));
            }
        }
        for (declaration, mut action) in called {
            let (name, _) = self.shown_called_name(&mut shown, &action.name, declaration);
            if !names.contains_key(&name) {
                names.insert(name.clone(), id_note(&action.notes));
                action.name = name;
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

/// An action as a table has it.
fn table_action(name: String, action: Action) -> SourceAction {
    let given: Vec<_> = action.parameters.iter().map(|parameter| id_note(&parameter.notes)).collect();
    let parameters = action.parameters.into_iter().zip(ids_together(&given)).map(|(parameter, id)| SourceParameter {
        id,
        name: parameter.name,
        width: parameter.width,
        type_name: None,
        notes: parameter.notes,
    });
    SourceAction { id: 0, name, alias: String::new(), parameters: parameters.collect(), notes: action.notes }
}
