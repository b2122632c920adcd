//! Prints the controller's view of a program.

use super::Printer;
use super::lines::{Lines, annotations, docs_lines};
use crate::Interface;
use crate::interface::{Physical, SourceAction, SourceParameter, SourceTable};
use crate::text::words::{MATCH_KINDS, OBJECT_KINDS, SCOPES, word_of, written};

impl Printer<'_> {
    pub(super) fn interface(&self, lines: &mut Lines) {
        let Interface { tables, actions, objects } = &self.program.interface;
        if self.program.interface == Interface::default() {
            return;
        }
        lines.gap();
        lines.block("interface", "", |lines| {
            tables.iter().for_each(|table| self.source_table(lines, table));
            actions.iter().for_each(|action| self.source_action(lines, action));
            for object in objects {
                lines.notes(&object.notes);
                let kind = word_of(OBJECT_KINDS, &object.kind).unwrap_or_default();
                let name = name_and_alias(&object.name, &object.alias);
                lines.add(format!("{kind} {:#010x} {name}{}", object.id, self.origin(&object.notes)));
            }
        });
    }

    fn source_table(&self, lines: &mut Lines, table: &SourceTable) {
        lines.notes(&table.notes);
        let name = name_and_alias(&table.name, &table.alias);
        lines.block(&format!("table {:#010x} {name}{}", table.id, self.origin(&table.notes)), "", |lines| {
            for key in &table.keys {
                lines.notes(&key.notes);
                let kind = word_of(MATCH_KINDS, &key.kind).unwrap_or_default();
                let from = self.origin(&key.notes);
                lines.add(format!("key {} {}: {} {kind}{from}", key.id, written(&key.name), key.width));
            }
            for action in &table.actions {
                lines.notes(&action.notes);
                let scope = word_of(SCOPES, &action.scope).map_or(String::new(), |word| format!("{word} "));
                lines.add(format!("{scope}action {:#010x}{}", action.action, self.origin(&action.notes)));
            }
            if let Some(size) = table.size {
                lines.add(format!("size {size}"));
            }
            if table.entries_constant {
                lines.add("const entries");
            }
            match table.physical {
                Physical::Table(id) => lines.add(format!("physical {}", self.table_name(id))),
                Physical::None => lines.add("unreachable"),
            }
        });
    }

    fn source_action(&self, lines: &mut Lines, action: &SourceAction) {
        lines.notes(&action.notes);
        let head = format!("action {:#010x} {}", action.id, name_and_alias(&action.name, &action.alias));
        lines.braces(&format!("{head}{}", self.origin(&action.notes)), "", |lines| {
            for parameter in &action.parameters {
                let SourceParameter { id, name, width, notes } = parameter;
                docs_lines(notes).iter().for_each(|line| lines.add(line));
                let before =
                    if notes.annotations.is_empty() { String::new() } else { format!("{} ", annotations(notes)) };
                lines.add(format!("{before}parameter {id} {}: {width}{}", written(name), self.origin(notes)));
            }
        });
    }
}

/// An alias that is the last part of the name, as most are, goes without saying.
fn name_and_alias(name: &str, alias: &str) -> String {
    if alias == usual_alias(name) { written(name) } else { format!("{} alias {}", written(name), written(alias)) }
}

pub(crate) fn usual_alias(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
