//! How many distinct action records a table may come to have: what the value of an entry must distinguish.
//! A structure that numbers records in 8, 16 or 31 bits, or in a part of 16, holds no more of them: these rules
//! decide whether a plan may choose it. They err on the safe side, since a full table refuses entries while
//! packets flow.

use crate::inputs::Content;
use hlir::{Program, TableId};

/// Upper bound: all values of the data of all actions, including the default.
fn possible(program: &Program, id: TableId) -> u64 {
    let table = &program.tables[id];
    // A place follows from the rest of the data.
    let places = program.places_in(id);
    let has_place = |number: u32| places.is_some_and(|join| join.firsts.iter().any(|first| first.action == number));
    let different = |(number, action): (u32, &hlir::Action)| {
        let visible = action.parameters.len() - usize::from(has_place(number));
        let data: u32 = action.parameters[..visible].iter().map(|it| it.width).sum();
        1u64.checked_shl(data).unwrap_or(u64::MAX)
    };
    // A member of a group is a record, too, and not counted here.
    if table.profile.is_some() {
        return u64::MAX;
    }
    (0..).zip(&table.actions).map(different).fold(0, u64::saturating_add)
}

/// The numbers that are left for records where each is written twice: at first without its place of a value join.
fn without_places(program: &Program, id: TableId, limit: u64) -> u64 {
    if program.places_in(id).is_some() { limit / 2 } else { limit }
}

/// Whether `limit` numbers always suffice. Each entry has at most one record, the default one, and a modified
/// entry one more until readers have released the old one. Without own records, equal ones are shared.
fn always_fit(program: &Program, id: TableId, most: Option<u64>, limit: u64) -> bool {
    most.is_some_and(|size| size + 1 < limit) || !program.has_own_records(id) && possible(program, id) <= limit
}

/// Whether a structure with `limit` record numbers has room for the table: always, or by the counted records.
/// Shared records stay few when entries are added. With own records per entry, there must be room for four
/// times as many entries.
pub fn have_room(program: &Program, id: TableId, content: &Content, most: Option<u64>, limit: u64) -> bool {
    let limit = without_places(program, id, limit);
    let counted = match most {
        // Own records: one for each entry, and nothing bounds how many entries come.
        None if program.has_own_records(id) => content.entries < limit / 4,
        Some(_) if program.has_own_records(id) => false,
        // Shared records: a tenth is left for those of retired entries, which readers may still have.
        _ => content.records < limit - limit / 10,
    };
    always_fit(program, id, most, limit) || content.is_known && counted
}

/// The fewest bits of a record number that always suffice, if at most `most` do; else those with room for
/// four times the counted records. None for a table whose declared size needs more.
pub fn bits(program: &Program, id: TableId, content: &Content, most: u32) -> Option<u32> {
    let table = &program.tables[id];
    let size = if table.entries_constant { Some(content.entries) } else { table.capacity() };
    let fewest =
        |has_room: &dyn Fn(u64) -> bool| (1..=most).find(|bits| has_room(without_places(program, id, (1 << bits) - 1)));
    let counted = |limit: u64| size.is_none() && content.is_known && 4 * (content.records + 1) <= limit;
    fewest(&|limit| always_fit(program, id, size, limit)).or_else(|| fewest(&counted))
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlir::text::parse_file;

    /// A table with these lines, whose entries run `none`, or `one` with so many bits of data.
    fn table(data: u32, lines: &str) -> Program {
        let actions = format!("  action none() {{}}\n  action one(data: {data}) {{}}\n  default none()\n");
        let text = format!(
            "program one for none\nvariable x: 16\ntable t {{\n  key x: exact\n{actions}{lines}}}\nentry t\n\
             node t: apply t -> queue\nnode queue: buffer {{ send 32w1 }}\n"
        );
        parse_file(&text).unwrap_or_else(|errors| panic!("{text}{errors:?}")).program
    }

    fn bits_of(program: &Program, records: u64, is_known: bool) -> Option<u32> {
        let id = program.tables.iter().next().expect("it has a table").0;
        let content = Content { entries: 1 << 20, records, is_known, ..Content::default() };
        bits(program, id, &content, 15)
    }

    #[test]
    fn bits_have_room_for_all_records_of_the_actions() {
        assert_eq!([1, 2, 3, 9].map(|data| bits_of(&table(data, ""), 5, true)), [Some(2), Some(3), Some(4), Some(10)]);
        assert_eq!(bits_of(&table(9, ""), 5, false), Some(10));
        assert_eq!(bits_of(&table(64, ""), 5, false), None);
    }

    #[test]
    fn counted_records_may_become_four_times_as_many() {
        let wide = table(32, "");
        assert_eq!(
            [2, 6, 7, 8190, 8191].map(|records| bits_of(&wide, records, true)),
            [Some(4), Some(5), Some(6), Some(15), None]
        );
        assert_eq!(bits_of(&wide, 4095, true), Some(15));
    }

    #[test]
    fn a_declared_size_has_room_while_entries_change() {
        let sized = |size: u32| bits_of(&table(32, &format!("  size {size}\n")), 1, true);
        assert_eq!([1, 5, 6, 1021, 1022, 1 << 20].map(sized), [Some(2), Some(3), Some(4), Some(10), Some(11), None]);
    }
}
