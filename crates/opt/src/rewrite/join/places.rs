//! Makes value joins: the first table's records get the place of the key that they give, and the table of the join
//! precedes the second lookup.

use super::graph::{lead_to, unique};
use super::{free_lookups, make_objects};
use crate::inputs::Inputs;
use hlir::entry::EntryAction;
use hlir::join::{Accesses, Placed, SecondKey, derive_places, node_of, refusal, set_place};
use hlir::table::action_bit;
use hlir::{
    ActionCall, Join, MatchKind, Node, NodeKind, Notes, Parameter, Program, TableId, Type, Variable, VariableId,
};
use num_bigint::BigUint;
use std::sync::Arc;

/// Room: this many times the places that are expected, within limits.
const ROOM: u64 = 2;
const LEAST_BITS: u32 = 10;

/// Two lookups that can be joined by value.
pub(super) struct PlacedPair {
    pub placed: Placed,
    pub limit: u64,
}

/// Places that the first table's entries take: one for each key that they give, which their data decide about. Most of
/// these keys are in the second table.
pub(super) fn expected_places(program: &Program, [first, second]: [TableId; 2], inputs: &Inputs) -> u64 {
    let [first, second] = [first, second].map(|table| inputs.occupancy.of(&program.tables[table]));
    first.records.min(first.entries).min(second.entries).max(1)
}

/// The wanted pairs that can be joined by value, in the order of the graph.
pub(super) fn placed_pairs(
    program: &Program,
    inputs: &Inputs,
    is_wanted: impl Fn(TableId, TableId) -> bool,
) -> Vec<PlacedPair> {
    let pair = |first: TableId, second: TableId| {
        let placed = derive_places(program, [first, second], node_of(program, second)?, None).ok()?;
        let expected = expected_places(program, [first, second], inputs).saturating_mul(ROOM);
        let bits = (u64::BITS - expected.leading_zeros()).clamp(LEAST_BITS, Join::MOST_PLACE_BITS);
        Some(PlacedPair { placed, limit: (1 << bits) - 1 })
    };
    let wanted = deciding_pairs(program).into_iter().filter(|(first, second)| is_wanted(*first, *second));
    wanted.filter_map(|(first, second)| pair(first, second)).collect()
}

/// Two tables of which the first may decide about the key of the second. There are as many pairs as tables squared, and to
/// derive a join takes long: of most pairs, what actions write and what the key reads show at once that it has none.
fn deciding_pairs(program: &Program) -> Vec<(TableId, TableId)> {
    let mut free = free_lookups(program);
    free.retain(|(_, table)| refusal(program, *table).is_none());
    let written: Vec<Accesses> = free.iter().map(|(_, table)| Accesses::of_table(program, *table)).collect();
    let read: Vec<Accesses> = free.iter().map(|(_, table)| key_reads(program, *table)).collect();
    let decides =
        |first: usize, second: usize| !read[second].reads_any() || written[first].writes_what_is_read_by(&read[second]);
    let numbers = (0..free.len()).flat_map(|first| (0..free.len()).map(move |second| (first, second)));
    let pairs = numbers
        .filter(|(first, second)| decides(*first, *second))
        .map(|(first, second)| (free[first].1, free[second].1));
    pairs.filter(|(first, second)| first != second).collect()
}

/// What the keys of a table are made of.
fn key_reads(program: &Program, table: TableId) -> Accesses {
    let mut read = Accesses::default();
    program.tables[table].keys.iter().for_each(|key| read.add(&Accesses::of_expression(&key.value)));
    read
}

/// The program with a value join.
pub(super) fn placed(program: &Program, PlacedPair { placed, limit }: &PlacedPair) -> Program {
    let mut program = program.clone();
    let width = u64::BITS - limit.leading_zeros();
    let Placed { first, second, second_node, .. } = *placed;
    let name = storage_name(&program, format!("{}.place", program.tables[first].name));
    let place = program.variables.alloc(Variable { name, kind: Type::Bits(width), notes: Notes::default() });
    let mut table = placed.table(&program, place, *limit);
    table.name = unique(table.name, &program.tables.values().map(|table| table.name.clone()).collect::<Vec<_>>());
    let node_name = table.name.clone();
    let table = program.tables.alloc(table);
    let NodeKind::Apply { exit, .. } = program.nodes[second_node].kind else { return program };
    let nodes: Vec<String> = program.nodes.values().map(|node| node.name.clone()).collect();
    let kind = NodeKind::Apply { table, next: placed.next(), exit };
    let node = program.nodes.alloc(Node { name: unique(node_name, &nodes), kind, notes: Notes::default() });
    lead_to(&mut program, second_node, node);
    give_places(&mut program, placed, (place, width));
    make_objects(&mut program, table, [first, second], (&placed.objects, *limit));
    program.joins.push(Join {
        table,
        first,
        second,
        limit: *limit,
        keys: vec![SecondKey::Determined; program.tables[second].keys.len()],
        firsts: placed.firsts.clone(),
        seconds: placed.seconds.clone(),
        missed: placed.missed.clone(),
        objects: placed.objects,
        place: Some(place),
    });
    program
}

/// Lets each action of the first table set the place: to its new parameter, or to none.
fn give_places(program: &mut Program, placed: &Placed, (place, width): (VariableId, u32)) {
    let table = &mut program.tables[placed.first];
    let gives = |number: u32| placed.firsts.iter().any(|first| first.action == number);
    for (number, action) in (0..).zip(&mut table.actions) {
        let parameter = gives(number).then_some(action.parameters.len() as u32);
        if parameter.is_some() {
            let names: Vec<String> = action.parameters.iter().map(|parameter| parameter.name.clone()).collect();
            let name = unique("place".to_string(), &names);
            action.parameters.push(Parameter { name, width, notes: Notes::default() });
        }
        action.body.insert(0, set_place(place, width, parameter));
    }
    let none = |call: &mut ActionCall| {
        if gives(call.action) {
            call.arguments.push(BigUint::ZERO);
        }
    };
    none(&mut table.default);
    for entry in Arc::make_mut(&mut table.entries) {
        if let EntryAction::Call(call) = &mut entry.action {
            none(call);
        }
    }
}

/// A name that no variable, header or field has.
fn storage_name(program: &Program, name: String) -> String {
    let variables = program.variables.values().map(|variable| variable.name.clone());
    let fields = program.headers.values().flat_map(|header| {
        let fields = header.fields.iter().map(|field| format!("{}.{}", header.name, field.name));
        fields.chain([header.name.clone()])
    });
    unique(name, &variables.chain(fields).collect::<Vec<String>>())
}

/// Actions that entries at places run, if those that the second table's entries run are known.
pub(super) fn placed_actions(join: &Join, actions: u64) -> u64 {
    let runs = |action: u32| actions & action_bit(action as usize) != 0;
    let seconds = join.seconds.iter().enumerate().filter(|(_, action)| runs(**action));
    seconds.fold(0, |all, (at, _)| all | action_bit(Join::placed_action(at) as usize))
}

/// The pairs of which the first table writes keys of the second, all of them exact, that cannot be joined by value, and
/// why. Nothing suggests such a join of other pairs.
pub(super) fn refused_places(program: &Program, pairs: &[(TableId, TableId)]) -> Vec<(TableId, TableId, String)> {
    let is_expected = |&(first, second): &(TableId, TableId)| {
        let read = key_reads(program, second);
        let kinds = program.key_kinds(second);
        kinds.iter().all(|(kind, _)| *kind == MatchKind::Exact)
            && Accesses::of_table(program, first).writes_what_is_read_by(&read)
    };
    let why = |&(first, second): &(TableId, TableId)| {
        let derived = derive_places(program, [first, second], node_of(program, second)?, None);
        Some((first, second, derived.err()?))
    };
    pairs.iter().filter(|pair| is_expected(pair)).filter_map(why).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::effort::{in_chain, in_series};

    #[test]
    fn joins_are_derived_of_tables_that_decide_about_a_key() {
        assert_eq!(deciding_pairs(&in_series(80)), []);
        let program = in_chain(80);
        let tables: Vec<TableId> = program.tables.iter().map(|(id, _)| id).collect();
        let neighbours: Vec<(TableId, TableId)> = tables.windows(2).map(|pair| (pair[0], pair[1])).collect();
        assert_eq!(deciding_pairs(&program), neighbours);
    }
}
