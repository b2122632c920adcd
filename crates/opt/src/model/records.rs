//! How many different action records a table may come to have: what its entries' values have to tell apart.

use crate::inputs::Content;
use hlir::{Program, TableId};

/// All that its actions and their data can be, the default's among them.
fn possible(program: &Program, id: TableId) -> u64 {
    let table = &program.tables[id];
    let data = |action: &hlir::Action| -> u32 { action.parameters.iter().map(|it| it.width).sum() };
    let different = |action: &hlir::Action| 1u64.checked_shl(data(action)).unwrap_or(u64::MAX);
    // A member of a group is a record, too, but a group's slot is none of these.
    if table.profile.is_some() { u64::MAX } else { table.actions.iter().map(different).fold(0, u64::saturating_add) }
}

/// Whether a structure that tells so many records apart has room for those of the table, where it has at most so many entries. Different ones are few where
/// they can be no more, or were counted, unless each entry has its own.
pub fn have_room(program: &Program, id: TableId, content: &Content, most: Option<u64>, limit: u64) -> bool {
    match most {
        None if program.has_own_records(id) => content.is_known && content.entries < limit / 4,
        Some(size) if program.has_own_records(id) => size < limit,
        Some(size) if size < limit => true,
        _ => possible(program, id) <= limit || content.is_known && content.records < limit - limit / 10,
    }
}

/// The fewest bits of a record's number that have room for the table's records, if so many do.
pub fn bits(program: &Program, id: TableId, content: &Content, most: u32) -> Option<u32> {
    let size = if program.tables[id].entries_constant { Some(content.entries) } else { program.tables[id].size };
    (1..=most).find(|bits| have_room(program, id, content, size, (1 << bits) - 1))
}
