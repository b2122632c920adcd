//! What joint tables will hold, made of what their sources will.

use crate::inputs::{Content, Inputs};
use hlir::join::SecondKey;
use hlir::{Program, TableId};

/// Entries of a joint table. Each entry of the first table meets all of the second that agree with it: one at
/// most, if that fixes the second's key; all, if nothing has to agree.
pub fn expected_entries(
    program: &Program,
    (first, second, keys): (TableId, TableId, &[SecondKey]),
    inputs: &Inputs,
) -> u64 {
    let [first_entries, second_entries] =
        [first, second].map(|table| inputs.occupancy.of(&program.tables[table]).entries);
    let own = program.tables[first].keys.len() as u32;
    let agrees = |key: &SecondKey| match key {
        SecondKey::Determined => true,
        SecondKey::Joint(index) => *index < own,
    };
    if keys.iter().all(agrees) {
        first_entries
    } else if keys.iter().any(agrees) {
        first_entries.max(second_entries)
    } else {
        first_entries.saturating_mul(second_entries)
    }
}

/// The inputs with what joint tables will hold, made of what their sources will.
pub fn with_joint_contents(program: &Program, inputs: &Inputs) -> Inputs {
    let mut inputs = inputs.clone();
    for join in &program.joins {
        let table = &program.tables[join.table];
        let entries = expected_entries(program, (join.first, join.second, &join.keys), &inputs).min(join.limit);
        let [first, second] =
            [join.first, join.second].map(|source| inputs.occupancy.of(&program.tables[source]).is_known);
        let mut content = Content::assumed(table);
        (content.entries, content.records, content.is_known) = (entries, entries, first && second);
        inputs.occupancy.tables.entry(table.name.clone()).or_insert(content);
    }
    inputs
}
