//! Prints the places of parts in the source. Files are named at the top; behind that their base names are enough, and the one that most parts
//! are from is left out.

use super::Printer;
use crate::interface::{Definition, Detail, Member};
use crate::text::words::{between, is_plain_file};
use crate::{Notes, Origin, Program};
use std::collections::HashMap;

/// How source files are named, by path: the main one by nothing.
#[derive(Default)]
pub(super) struct Sources(HashMap<String, String>);

impl Sources {
    /// Those of a program, and the lines that declare them. A base name that two files have names neither.
    pub fn of(program: &Program) -> (Sources, Vec<String>) {
        let mut files: Vec<(&str, u32)> = Vec::new();
        let mut numbers: HashMap<&str, usize> = HashMap::new();
        for_each_origin(program, &mut |origin| {
            let number = *numbers.entry(&origin.file).or_insert(files.len());
            if number == files.len() {
                files.push((&origin.file, 0));
            }
            files[number].1 += 1;
        });
        let mut owners: HashMap<&str, u32> = HashMap::new();
        files.iter().for_each(|(file, _)| *owners.entry(base_name(file)).or_default() += 1);
        files.retain(|(file, _)| owners.get(base_name(file)) == Some(&1));
        files.sort_by_key(|(_, parts)| std::cmp::Reverse(*parts));
        let Some((main, others)) = files.split_first() else { return Default::default() };
        let others = others.iter().filter(|(file, _)| base_name(file) != *file && !base_name(file).is_empty());
        let declared = [main].into_iter().chain(others.clone());
        let lines = declared.map(|(file, _)| format!("source {}", between(file, '"'))).collect();
        let main = (main.0.to_string(), String::new());
        let others = others.map(|(file, _)| (file.to_string(), base_name(file).to_string()));
        (Sources([main].into_iter().chain(others).collect()), lines)
    }
}

/// What follows the last slash.
pub(crate) fn base_name(file: &str) -> &str {
    file.rsplit('/').next().unwrap_or(file)
}

impl Printer<'_> {
    /// ` from FILE:LINE:COLUMN-END`, to be put at the end of a part's head; empty if unknown.
    pub(super) fn origin(&self, notes: &Notes) -> String {
        let Some(Origin { file, line, column, end_line, end_column }) = &notes.origin else { return String::new() };
        let end = if end_line == line { end_column.to_string() } else { format!("{end_line}:{end_column}") };
        let place = format!("{line}:{column}-{end}");
        match self.sources.0.get(file) {
            Some(name) if name.is_empty() => format!(" from {place}"),
            name => {
                let name = name.unwrap_or(file);
                let name = if is_plain_file(name) { name.clone() } else { between(name, '"') };
                format!(" from {name}:{place}")
            }
        }
    }
}

fn for_each_origin<'p>(program: &'p Program, visit: &mut impl FnMut(&'p Origin)) {
    let Program {
        headers, variables, crcs, digests, registers, counters, meters, value_sets, profiles, externs, ..
    } = program;
    let storage = headers.values().map(|it| &it.notes).chain(variables.values().map(|it| &it.notes));
    let objects = digests.values().map(|it| &it.notes).chain(registers.values().map(|it| &it.notes));
    let indexed = counters.values().map(|it| &it.notes).chain(meters.values().map(|it| &it.notes));
    let sets = value_sets.values().map(|it| &it.notes).chain(profiles.values().map(|it| &it.notes));
    let sets = sets.chain(externs.values().map(|it| &it.notes)).chain(crcs.values().map(|it| &it.notes));
    let nodes = program.nodes.values().map(|it| &it.notes);
    let notes = storage.chain(objects).chain(indexed).chain(sets).chain(nodes);
    notes.filter_map(|notes| notes.origin.as_ref()).for_each(&mut *visit);
    for table in program.tables.values() {
        let keys = table.keys.iter().map(|key| &key.notes);
        let parameters = table.actions.iter().flat_map(|action| &action.parameters).map(|it| &it.notes);
        let actions = table.actions.iter().map(|action| &action.notes);
        let notes = [&table.notes].into_iter().chain(keys).chain(parameters).chain(actions);
        notes.filter_map(|notes| notes.origin.as_ref()).for_each(&mut *visit);
    }
    let interface = &program.interface;
    for table in &interface.tables {
        let keys = table.keys.iter().map(|key| &key.notes);
        let notes = [&table.notes].into_iter().chain(keys).chain(table.actions.iter().map(|used| &used.notes));
        notes.filter_map(|notes| notes.origin.as_ref()).for_each(&mut *visit);
    }
    for action in &interface.actions {
        let parameters = action.parameters.iter().map(|parameter| &parameter.notes);
        let notes = [&action.notes].into_iter().chain(parameters);
        notes.filter_map(|notes| notes.origin.as_ref()).for_each(&mut *visit);
    }
    interface.package.origin.iter().for_each(&mut *visit);
    for object in &interface.objects {
        let parts: Vec<&Notes> = match &object.detail {
            Detail::ValueSet { keys, .. } => keys.iter().map(|key| &key.notes).collect(),
            Detail::ControllerHeader { fields } => fields.iter().map(|field| &field.notes).collect(),
            Detail::ActionProfile { .. }
            | Detail::Counter { .. }
            | Detail::DirectCounter { .. }
            | Detail::Meter { .. }
            | Detail::DirectMeter { .. }
            | Detail::Register { .. }
            | Detail::Digest { .. } => Vec::new(),
        };
        [&object.notes].into_iter().chain(parts).filter_map(|notes| notes.origin.as_ref()).for_each(&mut *visit);
    }
    for declared in &interface.types {
        let members: Vec<&Notes> = match &declared.definition {
            Definition::Struct(members) | Definition::Header(members) => notes_of(members),
            Definition::Union(members) => notes_of(members),
            Definition::Enumeration(members) | Definition::Errors(members) => notes_of(members),
            Definition::Serializable(_, members) => notes_of(members),
            Definition::New(_) | Definition::Translated { .. } => Vec::new(),
        };
        [&declared.notes].into_iter().chain(members).filter_map(|notes| notes.origin.as_ref()).for_each(&mut *visit);
    }
}

fn notes_of<T>(members: &[Member<T>]) -> Vec<&Notes> {
    members.iter().map(|member| &member.notes).collect()
}
