//! Prints the controller's view of a program.

use super::Printer;
use super::lines::{Lines, annotations, docs_lines, in_braces};
use crate::interface::{Detail, Physical, SizeSemantics, SourceKey, SourceObject, SourceParameter, SourceSelector};
use crate::interface::{SourceAction, SourceDefault, SourceTable};
use crate::text::words::{COUNTER_UNITS, MATCH_KINDS, METER_UNITS, OBJECT_KINDS, SCOPES, Words, word_of, written};
use crate::{Interface, Notes};

impl Printer<'_> {
    pub(super) fn interface(&self, lines: &mut Lines) {
        let Interface { package, tables, actions, objects, types, unapplied, externs } = &self.program.interface;
        if self.program.interface == Interface::default() {
            return;
        }
        lines.gap();
        lines.block("interface", "", |lines| {
            if *package != Notes::default() {
                lines.notes(package);
                lines.add(format!("package{}", self.origin(package)));
            }
            if *externs {
                lines.add("externs");
            }
            tables.iter().for_each(|table| self.source_table(lines, table));
            actions.iter().for_each(|action| self.source_action(lines, action));
            objects.iter().for_each(|object| self.source_object(lines, object));
            types.iter().for_each(|declared| self.source_type(lines, declared));
            unapplied.iter().for_each(|name| lines.add(format!("unapplied {}", written(name))));
        });
    }

    fn source_table(&self, lines: &mut Lines, table: &SourceTable) {
        lines.notes(&table.notes);
        let name = name_and_alias(&table.name, &table.alias);
        lines.block(&format!("table {:#010x} {name}{}", table.id, self.origin(&table.notes)), "", |lines| {
            table.keys.iter().for_each(|key| self.source_key(lines, key));
            for action in &table.actions {
                lines.notes(&action.notes);
                let scope = word_of(SCOPES, &action.scope).map_or(String::new(), |word| format!("{word} "));
                lines.add(format!("{scope}action {:#010x}{}", action.action, self.origin(&action.notes)));
            }
            if let Some(SourceDefault { action, arguments, constant }) = &table.default {
                let constant = if *constant { "const " } else { "" };
                let arguments: Vec<String> = arguments.iter().map(ToString::to_string).collect();
                lines.add(format!("{constant}default {action:#010x}({})", arguments.join(", ")));
            }
            if let Some(profile) = table.profile {
                lines.add(format!("profile {profile:#010x}"));
            }
            table.direct.iter().for_each(|id| lines.add(format!("direct {id:#010x}")));
            if let Some(size) = table.size {
                lines.add(format!("size {size}"));
            }
            if table.idle_timeout {
                lines.add("idle_timeout");
            }
            match (table.entries_constant, table.entries_initial) {
                (true, true) => lines.add("const entries"),
                (true, false) => lines.add("const no entries"),
                (false, true) => lines.add("initial entries"),
                (false, false) => {}
            }
            match table.physical {
                Physical::Table(id) => lines.add(format!("physical {}", self.table_name(id))),
                Physical::None => lines.add("unreachable"),
            }
        });
    }

    fn source_key(&self, lines: &mut Lines, key: &SourceKey) {
        let SourceKey { id, name, width, kind, type_name, notes } = key;
        lines.notes(notes);
        let kind = word_of(MATCH_KINDS, kind).unwrap_or_default();
        let of_type = of_type(type_name);
        lines.add(format!("key {id} {}: {width} {kind}{of_type}{}", written(name), self.origin(notes)));
    }

    fn source_action(&self, lines: &mut Lines, action: &SourceAction) {
        lines.notes(&action.notes);
        let head = format!("action {:#010x} {}", action.id, name_and_alias(&action.name, &action.alias));
        lines.braces(&format!("{head}{}", self.origin(&action.notes)), "", |lines| {
            action.parameters.iter().for_each(|parameter| self.source_parameter(lines, parameter));
        });
    }

    fn source_parameter(&self, lines: &mut Lines, parameter: &SourceParameter) {
        let SourceParameter { id, name, width, type_name, notes } = parameter;
        docs_lines(notes).iter().for_each(|line| lines.add(line));
        let before = if notes.annotations.is_empty() { String::new() } else { format!("{} ", annotations(notes)) };
        let (name, of_type, from) = (written(name), of_type(type_name), self.origin(notes));
        lines.add(format!("{before}parameter {id} {name}: {width}{of_type}{from}"));
    }

    fn source_object(&self, lines: &mut Lines, object: &SourceObject) {
        lines.notes(&object.notes);
        let kind = word_of(OBJECT_KINDS, &object.detail.kind()).unwrap_or_default();
        let name = name_and_alias(&object.name, &object.alias);
        let head = format!("{kind} {:#010x} {name}", object.id);
        let from = self.origin(&object.notes);
        match &object.detail {
            Detail::ValueSet { size, keys } => lines.block(&format!("{head}: [{size}]{from}"), "", |lines| {
                keys.iter().for_each(|key| self.source_key(lines, key));
            }),
            Detail::ControllerHeader { fields } => lines.block(&format!("{head}{from}"), "", |lines| {
                fields.iter().for_each(|field| self.source_parameter(lines, field));
            }),
            Detail::ActionProfile { tables, size, selector } => {
                let tables: Vec<String> = tables.iter().map(|table| format!("{table:#010x}")).collect();
                let selector = selector.as_ref().map(print_selector).unwrap_or_default();
                lines.add(format!("{head}: [{size}]{selector} of {}{from}", in_braces(&tables)));
            }
            Detail::Counter { unit, size, index } => {
                lines.add(format!("{head}: {} [{size}{}]{from}", word(COUNTER_UNITS, unit), of_type(index)));
            }
            Detail::Meter { unit, size, index } => {
                lines.add(format!("{head}: {} [{size}{}]{from}", word(METER_UNITS, unit), of_type(index)));
            }
            Detail::DirectCounter { unit, table } => {
                lines.add(format!("{head}: {} of {table:#010x}{from}", word(COUNTER_UNITS, unit)));
            }
            Detail::DirectMeter { unit, table } => {
                lines.add(format!("{head}: {} of {table:#010x}{from}", word(METER_UNITS, unit)));
            }
            Detail::Register { element, size, index } => {
                lines.add(format!("{head}: {} [{size}{}]{from}", super::types::spec(element), of_type(index)));
            }
            Detail::Digest { record } => lines.add(format!("{head}: {}{from}", super::types::spec(record))),
        }
    }
}

fn word<T: PartialEq>(words: Words<T>, value: &T) -> &'static str {
    word_of(words, value).unwrap_or_default()
}

fn print_selector(selector: &SourceSelector) -> String {
    format!(" selector largest_group {}{}", selector.largest_group, size_semantics(selector.semantics))
}

pub(super) fn size_semantics(semantics: Option<SizeSemantics>) -> String {
    match semantics {
        None => String::new(),
        Some(SizeSemantics::SumOfWeights) => " sum_of_weights".to_string(),
        Some(SizeSemantics::SumOfMembers(None)) => " sum_of_members".to_string(),
        Some(SizeSemantics::SumOfMembers(Some(weight))) => format!(" sum_of_members {weight}"),
    }
}

fn of_type(name: &Option<String>) -> String {
    name.as_ref().map_or_else(String::new, |name| format!(" type {}", written(name)))
}

/// An alias that is the last part of the name, as most are, is left out.
fn name_and_alias(name: &str, alias: &str) -> String {
    if alias == default_alias(name) { written(name) } else { format!("{} alias {}", written(name), written(alias)) }
}

pub(crate) fn default_alias(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}
