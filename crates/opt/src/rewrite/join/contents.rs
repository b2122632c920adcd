//! What joint tables will hold, made of what their sources will.

use super::places::{expected_places, placed_actions};
use crate::inputs::{Content, Inputs};
use hlir::join::SecondKey;
use hlir::table::action_bit;
use hlir::{Join, Program, TableId};

/// Entries of a joint table. Each entry of the first table meets all of the second that agree with it: one at
/// most, if that fixes the second's key; all, if nothing has to agree.
pub fn expected_entries(
    program: &Program,
    (first, second, keys): (TableId, TableId, &[SecondKey]),
    inputs: &Inputs,
) -> u64 {
    let [first_entries, second_entries] = entries(program, [first, second], inputs);
    let agrees = |key: &SecondKey| agrees(program, first, key);
    if keys.iter().all(agrees) {
        first_entries
    } else if keys.iter().any(agrees) {
        first_entries.max(second_entries)
    } else {
        first_entries.saturating_mul(second_entries)
    }
}

/// The most entries that a joint table can need for what its sources hold: nothing is known of the values that have to
/// agree, so all of them may be equal.
pub fn most_entries(
    program: &Program,
    (first, second, keys): (TableId, TableId, &[SecondKey]),
    inputs: &Inputs,
) -> u64 {
    let [first_entries, second_entries] = entries(program, [first, second], inputs);
    let is_decided = keys.iter().all(|key| agrees(program, first, key));
    first_entries.saturating_mul(if is_decided { 1 } else { second_entries })
}

fn entries(program: &Program, tables: [TableId; 2], inputs: &Inputs) -> [u64; 2] {
    tables.map(|table| inputs.occupancy.of(&program.tables[table]).entries)
}

/// Whether entries of both tables have to agree in this key of the second.
fn agrees(program: &Program, first: TableId, key: &SecondKey) -> bool {
    match key {
        SecondKey::Determined => true,
        SecondKey::Joint(index) => *index < program.tables[first].keys.len() as u32,
    }
}

/// Distinct action data of a source: of each entry its own, where they have its counter index.
fn records(program: &Program, source: TableId, inputs: &Inputs) -> u64 {
    let content = inputs.occupancy.of(&program.tables[source]);
    if program.has_own_records(source) { content.entries } else { content.records }
}

/// Hidden actions of joint entries, if the actions that entries of both sources run are known. Entries of the first that
/// none of the second agrees with, and those that only lead to the slow path, are taken to be exceptions.
fn actions(program: &Program, join: &Join, inputs: &Inputs) -> u64 {
    let [first, second] = [join.first, join.second].map(|table| inputs.occupancy.of(&program.tables[table]).actions);
    let runs = |actions: u64, action: u32| actions & action_bit(action as usize) != 0;
    let mut hidden = 0;
    let firsts = join.firsts.iter().enumerate().filter(|(_, one)| runs(first, one.action));
    for at in firsts.map(|(at, _)| at) {
        let others = join.seconds.iter().enumerate().filter(|(_, other)| runs(second, **other));
        others.for_each(|(other, _)| hidden |= action_bit(join.action(at, other) as usize));
    }
    hidden
}

/// The inputs with what joint tables will hold, made of what their sources will.
pub fn with_joint_contents(program: &Program, inputs: &Inputs) -> Inputs {
    let mut inputs = inputs.clone();
    for join in &program.joins {
        let table = &program.tables[join.table];
        if join.place.is_some() {
            let content = placed_content(program, join, &inputs);
            inputs.occupancy.tables.entry(table.name.clone()).or_insert(content);
            continue;
        }
        let entries = expected_entries(program, (join.first, join.second, &join.keys), &inputs).min(join.limit);
        let sources = [join.first, join.second];
        let is_known = sources.iter().all(|source| inputs.occupancy.of(&program.tables[*source]).is_known);
        let [first, second] = sources.map(|source| records(program, source, &inputs));
        // Data of one source beside those of the other. If the first one's data decide which entry of the second follows,
        // they decide about its data, too.
        let is_decided = join.keys.iter().all(|key| *key == SecondKey::Determined);
        let records = first.saturating_mul(if is_decided { 1 } else { second });
        // A complete joint table has the prefixes and masks of the first.
        let mut content = match join.is_complete(program) {
            true => inputs.occupancy.of(&program.tables[join.first]),
            false => Content::assumed(table),
        };
        (content.entries, content.records, content.is_known) = (entries, records.clamp(1, entries.max(1)), is_known);
        content.actions = actions(program, join, &inputs);
        inputs.occupancy.tables.entry(table.name.clone()).or_insert(content);
    }
    inputs
}

/// What the table of a value join will hold: the entries of the second table that the first one gives the keys of.
fn placed_content(program: &Program, join: &Join, inputs: &Inputs) -> Content {
    let [first, second] = [join.first, join.second].map(|table| inputs.occupancy.of(&program.tables[table]));
    let entries = expected_places(program, [join.first, join.second], inputs).min(join.limit);
    let records = records(program, join.second, inputs).clamp(1, entries.max(1));
    let (is_known, actions) = (first.is_known && second.is_known, placed_actions(join, second.actions));
    Content { entries, records, is_known, actions, ..Content::assumed(&program.tables[join.table]) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::inputs::Joins;
    use crate::rewrite::join::join_tables;

    const PROGRAM: &str = "program two for none
header h: h_t { a: 16, b: 16, c: 8 }
variable error: 32
COUNTER
table first {
  key h.a: exact
  action set(c: 8) { h.c = c }
  action keep() {}
  default set(0)
}
table second {
  key h.a: exact
  key h.b: exact
  action add(c: 8) { h.c = h.c + c }
  action keep() {}
  default add(0)
}
parser parser { start start, accept first, reject first, error error }
entry start
node start: state of parser { extract h } -> first
node first: apply first -> second
node second: apply second -> out
node out: buffer { send 32w1 }
";

    /// The content of the joint table, whose sources have 1,000 entries each and 3 and 5 records.
    fn joint(counter: &str, actions: [u64; 2]) -> Content {
        joint_of(PROGRAM, counter, actions)
    }

    fn joint_of(program: &str, counter: &str, actions: [u64; 2]) -> Content {
        let mut program =
            hlir::text::parse_program(&program.replace("COUNTER", counter)).expect("the text is a program");
        let content =
            |records, actions| Content { entries: 1000, records, actions, is_known: true, ..Content::default() };
        let mut inputs = Inputs { joins: Joins::All, ..Inputs::default() };
        let tables = [("first".to_string(), content(3, actions[0])), ("second".to_string(), content(5, actions[1]))];
        inputs.occupancy.tables.extend(tables);
        join_tables(&mut program, &inputs);
        let joint = &program.tables[program.joins[0].table];
        with_joint_contents(&program, &inputs).occupancy.of(joint)
    }

    fn joint_records(counter: &str) -> (u64, u64) {
        let content = joint(counter, [0; 2]);
        (content.entries, content.records)
    }

    #[test]
    fn joint_entries_run_the_actions_of_both_sources() {
        // Hidden actions: slow, `set+add`, `set+keep`, `keep+add`, `keep+keep`.
        let actions = |first, second| joint("", [first, second]).actions;
        assert_eq!([actions(0b01, 0b10), actions(0b10, 0b11), actions(0, 0b11)], [0b00100, 0b11000, 0]);
        assert_eq!(joint("", [0b10, 0b01]).only_action(), Some(3));
    }

    #[test]
    fn a_joint_table_has_the_records_of_one_source_for_each_of_the_other() {
        assert_eq!(joint_records(""), (1000, 15));
    }

    #[test]
    fn data_of_the_first_source_decide_about_those_of_an_entry_that_they_name() {
        let named =
            PROGRAM.replace("  key h.b: exact\n", "").replace("table second {\n  key h.a", "table second {\n  key h.c");
        assert_eq!(joint_of(&named, "", [0; 2]).records, 3);
    }

    #[test]
    fn entries_of_a_counted_source_have_records_of_their_own() {
        assert_eq!(joint_records("counter hits: packets of first automatic"), (1000, 1000));
    }
}
