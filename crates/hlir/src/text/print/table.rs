//! Prints tables: keys, actions with their bodies, and entries.

use super::interface::size_semantics;
use super::lines::{Lines, annotations, docs_lines};
use super::{Printer, hexadecimal, number_text};
use crate::entry::{ActionSet, EntryAction, WeightedCall};
use crate::text::words::{MATCH_KINDS, SCOPES, word_of, written};
use crate::{Action, ActionCall, Entry, IdleTimeout, Key, Match, Notes, Parameter, Table, TableId, Type};
use num_bigint::BigUint;

impl Printer<'_> {
    pub(super) fn table(&self, lines: &mut Lines, id: TableId, table: &Table) {
        lines.notes(&table.notes);
        lines.block(&format!("table {}{}", written(&table.name), self.origin(&table.notes)), "", |lines| {
            table.keys.iter().for_each(|key| self.key(lines, key));
            table.actions.iter().for_each(|action| self.action(lines, action));
            let constant = if table.default_constant { "const " } else { "" };
            lines.add(format!("{constant}default {}", self.action_call(id, Some(table), &table.default)));
            if let Some(size) = table.size {
                lines.add(format!("size {size}"));
            }
            if let Some(profile) = table.profile {
                let names = &self.names.profiles;
                let name = self.refer(&self.program.profiles, profile, names, |profile| &profile.name);
                lines.add(format!("profile {name}"));
            }
            if !table.selector.is_empty() {
                let inputs: Vec<String> = table.selector.iter().map(|value| self.expression(value, &[])).collect();
                lines.add(format!("selector {}", inputs.join(", ")));
            }
            if let Some(call) = &table.empty_group {
                lines.add(format!("empty_group {}", self.action_call(id, Some(table), call)));
            }
            match table.idle_timeout {
                Some(IdleTimeout::Notify) => lines.add("idle_timeout"),
                Some(IdleTimeout::Delete) => lines.add("idle_timeout delete"),
                None => {}
            }
            let flags = [(table.add_on_miss, "add_on_miss"), (table.punt_on_miss, "punt_on_miss")];
            flags.iter().filter(|(set, _)| *set).for_each(|(_, word)| lines.add(word));
            self.entries(lines, id, table);
        });
    }

    fn key(&self, lines: &mut Lines, key: &Key) {
        lines.notes(&key.notes);
        let value = self.expression(&key.value, &[]);
        let kind = word_of(MATCH_KINDS, &key.kind).unwrap_or_default();
        let name = if value == key.name { String::new() } else { format!(" as {}", written(&key.name)) };
        lines.add(format!("key {value}: {kind}{name}{}", self.origin(&key.notes)));
    }

    fn action(&self, lines: &mut Lines, action: &Action) {
        lines.notes(&action.notes);
        let scope = word_of(SCOPES, &action.scope).map_or(String::new(), |word| format!("{word} "));
        let mut head = format!("{scope}action {}", written(&action.name));
        if action.parameters.iter().any(|parameter| !parameter.notes.docs.is_empty()) {
            lines.add(format!("{head}("));
            lines.indented(|lines| {
                for parameter in &action.parameters {
                    docs_lines(&parameter.notes).iter().for_each(|line| lines.add(line));
                    lines.add(format!("{},", self.parameter(parameter)));
                }
            });
            head = ")".to_string();
        } else {
            let parameters: Vec<String> = action.parameters.iter().map(|parameter| self.parameter(parameter)).collect();
            head += &format!("({})", parameters.join(", "));
        }
        head += &self.origin(&action.notes);
        lines.braces(&head, "", |lines| self.statements(lines, &action.body, &action.parameters));
    }

    pub(super) fn action_call(&self, id: TableId, table: Option<&Table>, call: &ActionCall) -> String {
        let action = table.and_then(|table| table.actions.get(call.action as usize));
        let parameters = action.map_or(&[][..], |action| &action.parameters);
        let argument = |(index, value): (usize, &BigUint)| number_text(value, parameters.get(index).map(|it| it.width));
        let arguments: Vec<String> = call.arguments.iter().enumerate().map(argument).collect();
        format!("{}({})", self.action_name(id, call.action), arguments.join(", "))
    }

    fn action_set(&self, id: TableId, table: Option<&Table>, set: &ActionSet) -> String {
        let action = |action: &WeightedCall| {
            let watch = action.watch.map_or(String::new(), |port| format!(" watch {port}"));
            format!("{} * {}{watch}", self.action_call(id, table, &action.call), action.weight)
        };
        let actions: Vec<String> = set.actions.iter().map(action).collect();
        format!("choose{} {{ {} }}", size_semantics(set.semantics), actions.join(", "))
    }

    fn entries(&self, lines: &mut Lines, id: TableId, table: &Table) {
        if table.entries.is_empty() && !table.entries_constant {
            return;
        }
        let constant = if table.entries_constant { "const " } else { "" };
        lines.block(&format!("{constant}entries"), "", |lines| {
            self.entry_lines(id, Some(table), &table.entries).iter().for_each(|line| lines.add(line));
        });
    }

    /// Entries of a table, if there is such a table; a line for each.
    pub(super) fn entry_lines(&self, id: TableId, table: Option<&Table>, entries: &[Entry]) -> Vec<String> {
        let keys = table.map(|table| table.keys.as_slice()).unwrap_or_default();
        let widths: Vec<Option<u32>> = keys.iter().map(|key| self.key_width(key)).collect();
        let line = |entry: &Entry| {
            let width = |index: usize| widths.get(index).copied().flatten();
            let matches = entry.matches.iter().enumerate().map(|(index, found)| match_text(found, width(index)));
            let matches: Vec<String> = matches.collect();
            let priority = if entry.priority == 0 { String::new() } else { format!("priority {}: ", entry.priority) };
            let action = match &entry.action {
                EntryAction::Call(call) => self.action_call(id, table, call),
                EntryAction::Member(member) => format!("member {member}"),
                EntryAction::Group(group) => format!("group {group}"),
                EntryAction::Set(set) => self.action_set(id, table, set),
            };
            let space = if matches.is_empty() { "" } else { " " };
            let constant = if entry.constant { "const " } else { "" };
            format!("{constant}{priority}{}{space}=> {action}", matches.join(", "))
        };
        entries.iter().map(line).collect()
    }

    fn parameter(&self, parameter: &Parameter) -> String {
        let Parameter { name, width, notes } = parameter;
        let Notes { annotations: list, .. } = notes;
        let before = if list.is_empty() { String::new() } else { format!("{} ", annotations(notes)) };
        format!("{before}{}: {width}{}", written(name), self.origin(notes))
    }

    /// The width of a key, if it is right.
    fn key_width(&self, key: &Key) -> Option<u32> {
        match crate::verify::Kinds::new(self.program, &[]).of(&key.value) {
            Some(Type::Bits(width)) => Some(width),
            Some(Type::Bool) | None => None,
        }
    }
}

fn match_text(found: &Match, width: Option<u32>) -> String {
    match found {
        Match::Exact(value) => number_text(value, width),
        Match::Lpm { value, prefix } => format!("{}/{prefix}", hexadecimal(value, width)),
        Match::Ternary { value, mask } => format!("{} &&& {}", number_text(value, width), hexadecimal(mask, width)),
        Match::Range { low, high } => format!("{}..{}", number_text(low, width), number_text(high, width)),
        Match::Any => "_".to_string(),
    }
}
