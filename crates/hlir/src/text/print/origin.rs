//! Prints where parts stand in the source. A file is named once, at the top; behind that its base name is enough.

use super::Printer;
use crate::text::words::{between, is_plain_file};
use crate::{Notes, Origin, Program};
use std::collections::HashMap;

/// The short names of source files, by path.
#[derive(Default)]
pub(super) struct Sources(HashMap<String, String>);

impl Sources {
    /// Those of a program, and the lines that declare them. A base name that two files have stands for neither.
    pub fn of(program: &Program) -> (Sources, Vec<String>) {
        let mut files: Vec<&str> = Vec::new();
        for_each_origin(program, &mut |origin| {
            if files.last() != Some(&origin.file.as_str()) && !files.contains(&origin.file.as_str()) {
                files.push(&origin.file);
            }
        });
        let mut owners: HashMap<&str, u32> = HashMap::new();
        files.iter().for_each(|file| *owners.entry(base_name(file)).or_default() += 1);
        files.retain(|file| base_name(file) != *file && owners.get(base_name(file)) == Some(&1));
        let lines = files.iter().map(|file| format!("source {}", between(file, '"'))).collect();
        let names = files.iter().map(|file| (file.to_string(), base_name(file).to_string()));
        (Sources(names.collect()), lines)
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
        let file = self.sources.0.get(file).unwrap_or(file);
        let file = if is_plain_file(file) { file.clone() } else { between(file, '"') };
        let end = if end_line == line { end_column.to_string() } else { format!("{end_line}:{end_column}") };
        format!(" from {file}:{line}:{column}-{end}")
    }
}

fn for_each_origin<'p>(program: &'p Program, visit: &mut impl FnMut(&'p Origin)) {
    let Program { headers, variables, digests, registers, counters, meters, value_sets, profiles, .. } = program;
    let storage = headers.values().map(|it| &it.notes).chain(variables.values().map(|it| &it.notes));
    let objects = digests.values().map(|it| &it.notes).chain(registers.values().map(|it| &it.notes));
    let cells = counters.values().map(|it| &it.notes).chain(meters.values().map(|it| &it.notes));
    let sets = value_sets.values().map(|it| &it.notes).chain(profiles.values().map(|it| &it.notes));
    let nodes = program.nodes.values().map(|it| &it.notes);
    let notes = storage.chain(objects).chain(cells).chain(sets).chain(nodes);
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
    interface.objects.iter().filter_map(|object| object.notes.origin.as_ref()).for_each(visit);
}
