//! Table joins: two tables that are looked up one after the other get a joint table in front of them, keyed by
//! the keys of both. A hit does the work of both lookups; a miss goes on at the first, as before.
//!
//! Not to be confused with [joint exact tables](crate::plan::joint), which share an array and are still looked
//! up one by one.

mod choice;
mod contents;
pub(super) mod graph;
mod places;
mod swap;

pub use choice::{choose, is_clear, objection};
pub use contents::with_joint_contents;
use contents::{expected_entries, most_entries};
use places::{PlacedPair, expected_places, placed, placed_pairs, refused_places};
use swap::Moved;

use crate::inputs::{Inputs, Joins};
use hlir::join::{Derived, Join, Objects, SecondKey, derive, refusal};
use hlir::plan::{JoinChoice, JoinKind};
use hlir::{Counter, CounterUnit, Node, NodeId, NodeKind, Notes, Program, Register, TableId};
use num_bigint::BigUint;

/// Room of a joint table: this many times the entries that are expected, within limits.
const ROOM: u64 = 2;
const LEAST_ROOM: u64 = 1024;
const MOST_ROOM: u64 = 1 << 20;

/// Two lookups that can be joined.
pub struct Candidate {
    pub first: TableId,
    pub second: TableId,
    pub kind: JoinKind,
    /// Expected joint entries, and the most that the expected entries of both can make. Of a value join: places.
    pub entries: u64,
    pub most_entries: u64,
    /// Whether each entry of the first table decides which one of the second follows.
    pub is_determined: bool,
    /// Entries that the joint table has room for.
    pub limit: u64,
    recipe: Recipe,
}

/// How a join is made. A program of many tables has many candidates, so each is made once it is wanted.
enum Recipe {
    Table(Box<Pair>),
    Value(Box<PlacedPair>),
}

impl Candidate {
    /// The program, of which this is a candidate, with the join.
    pub fn joined(&self, program: &Program) -> Program {
        match &self.recipe {
            Recipe::Table(pair) => joined(program, pair),
            Recipe::Value(pair) => placed(program, pair),
        }
    }
}

/// Two lookups that a joint table can serve.
struct Pair {
    /// What brings both next to each other.
    moved: Option<Moved>,
    node: NodeId,
    derived: Derived,
    entries: u64,
    most_entries: u64,
}

/// The joins of a program, as plans have them.
pub fn made(program: &Program) -> Vec<JoinChoice> {
    let name = |table: TableId| program.tables[table].name.clone();
    let choice = |join: &Join| {
        let kind = if join.place.is_some() { JoinKind::Value } else { JoinKind::Table };
        JoinChoice { first: name(join.first), second: name(join.second), kind, made: true, reason: None }
    };
    program.joins.iter().map(choice).collect()
}

pub fn join_tables(program: &mut Program, inputs: &Inputs) {
    if inputs.joins != Joins::All && inputs.constraints.joins.iter().all(|choice| !choice.made) {
        return;
    }
    join_by_value(program, inputs);
    loop {
        let pairs = pairs(program, &with_joint_contents(program, inputs));
        let choice = |pair: &Pair| pair.choice(program, inputs);
        let is_made = |pair: &Pair| choice(pair).unwrap_or(inputs.joins == Joins::All);
        // Those that a constraint names, then the smallest joint table first: a table has a part in one join only.
        let order = |pair: &Pair| (choice(pair) != Some(true), pair.entries);
        let Some(pair) = pairs.into_iter().filter(is_made).min_by_key(order) else { break };
        *program = joined(program, &pair);
    }
}

/// Makes the value joins that are given. They come first: a joint table has no places.
fn join_by_value(program: &mut Program, inputs: &Inputs) {
    loop {
        let is_made = |first: TableId, second: TableId| {
            let names = [first, second].map(|table| &program.tables[table].name);
            given((names[0], names[1]), JoinKind::Value, inputs).is_some_and(|choice| choice.made)
        };
        let pairs = placed_pairs(program, &with_joint_contents(program, inputs), is_made);
        let Some(pair) = pairs.into_iter().next() else { break };
        *program = placed(program, &pair);
    }
}

/// The joins that could be made in a program.
pub fn candidates(program: &Program, inputs: &Inputs) -> Vec<Candidate> {
    let inputs = with_joint_contents(program, inputs);
    let mut candidates = joint_candidates(program, &inputs);
    let by_value = |pair: PlacedPair| Candidate {
        first: pair.placed.first,
        second: pair.placed.second,
        kind: JoinKind::Value,
        entries: expected_places(program, [pair.placed.first, pair.placed.second], &inputs),
        most_entries: expected_places(program, [pair.placed.first, pair.placed.second], &inputs),
        is_determined: true,
        limit: pair.limit,
        recipe: Recipe::Value(Box::new(pair)),
    };
    candidates.extend(placed_pairs(program, &inputs, |_, _| true).into_iter().map(by_value));
    candidates
}

fn joint_candidates(program: &Program, inputs: &Inputs) -> Vec<Candidate> {
    let pairs = pairs(program, inputs).into_iter();
    let candidate = |pair: Pair| Candidate {
        first: pair.derived.first,
        second: pair.derived.second,
        kind: JoinKind::Table,
        entries: pair.entries,
        most_entries: pair.most_entries,
        is_determined: pair.derived.keys.iter().all(|key| *key == SecondKey::Determined),
        limit: pair.limit(),
        recipe: Recipe::Table(Box::new(pair)),
    };
    pairs.map(candidate).collect()
}

impl Pair {
    /// What the user has decided.
    fn choice(&self, program: &Program, inputs: &Inputs) -> Option<bool> {
        let name = |table: TableId| &program.tables[table].name;
        let names = (name(self.derived.first), name(self.derived.second));
        given(names, JoinKind::Table, inputs).map(|choice| choice.made)
    }

    /// Entries that the joint table has room for.
    fn limit(&self) -> u64 {
        self.entries.saturating_mul(ROOM).clamp(LEAST_ROOM, MOST_ROOM)
    }
}

/// What the user has decided about two tables.
fn given<'i>((first, second): (&String, &String), kind: JoinKind, inputs: &'i Inputs) -> Option<&'i JoinChoice> {
    let is_it = |choice: &&JoinChoice| (&choice.first, &choice.second, choice.kind) == (first, second, kind);
    inputs.constraints.joins.iter().find(is_it)
}

/// Lookups that no join has a part in, in the order of the graph.
fn free_lookups(program: &Program) -> Vec<(NodeId, TableId)> {
    let is_source = |table: TableId| program.joins.iter().any(|join| join.first == table || join.second == table);
    let lookup = |(node, declared): (NodeId, &Node)| match declared.kind {
        NodeKind::Apply { table, .. } if !is_source(table) => Some((node, table)),
        NodeKind::Apply { .. }
        | NodeKind::State { .. }
        | NodeKind::Block { .. }
        | NodeKind::Branch { .. }
        | NodeKind::Deparse { .. }
        | NodeKind::Buffer { .. } => None,
    };
    program.nodes.iter().filter_map(lookup).collect()
}

fn pairs(program: &Program, inputs: &Inputs) -> Vec<Pair> {
    let free = free_lookups(program);
    let is_free = |table: TableId| free.iter().any(|(_, other)| *other == table);
    let pair = |program: &Program, node: NodeId, moved: Option<Moved>| {
        let derived = derive(program, node).ok().filter(|derived| is_free(derived.second))?;
        let sources = (derived.first, derived.second, derived.keys.as_slice());
        let entries = expected_entries(program, sources, inputs);
        let most_entries = most_entries(program, sources, inputs);
        Some(Pair { moved, node, derived, entries, most_entries })
    };
    let mut pairs = Vec::new();
    for (node, table) in &free {
        if refusal(program, *table).is_some() {
            continue;
        }
        match pair(program, *node, None) {
            Some(found) => pairs.push(found),
            None => pairs.extend(
                swap::brought_together(program, *node)
                    .into_iter()
                    .filter_map(|moved| pair(&moved.applied(program), *node, Some(moved))),
            ),
        }
    }
    pairs
}

/// Pairs of lookups next to each other that cannot be joined, and why.
pub fn refused(program: &Program) -> Vec<(TableId, TableId, JoinKind, String)> {
    let free = free_lookups(program);
    let (mut refused, mut pairs) = (Vec::new(), Vec::new());
    for (node, table) in &free {
        let next = graph::next_lookup(program, *node);
        let second = free.iter().find(|(other, _)| Some(*other) == next).map(|(_, second)| *second);
        pairs.extend(second.map(|second| (*table, second)));
        if let (Some(second), Err(why)) = (second, derive(program, *node)) {
            refused.push((*table, second, JoinKind::Table, why));
        }
    }
    let by_value = |(first, second, why)| (first, second, JoinKind::Value, why);
    refused.extend(refused_places(program, &pairs).into_iter().map(by_value));
    refused
}

/// The program with the joint table of a pair.
fn joined(program: &Program, pair: &Pair) -> Program {
    let Pair { moved, node: first_node, derived, .. } = pair;
    let mut program = moved.as_ref().map_or_else(|| program.clone(), |moved| moved.applied(program));
    let limit = pair.limit();
    let mut table = derived.table(&program, limit);
    let tables: Vec<String> = program.tables.values().map(|table| table.name.clone()).collect();
    table.name = graph::unique(table.name, &tables);
    let table = program.tables.alloc(table);
    let NodeKind::Apply { exit, .. } = program.nodes[derived.second_node].kind else { return program };
    let names = [*first_node, derived.second_node].map(|node| program.nodes[node].name.as_str()).join("+");
    let nodes: Vec<String> = program.nodes.values().map(|node| node.name.clone()).collect();
    let kind = NodeKind::Apply { table, next: derived.next(*first_node), exit };
    let node = Node { name: graph::unique(names, &nodes), kind, notes: Notes::default() };
    let joint = program.nodes.alloc(node);
    graph::lead_to(&mut program, *first_node, joint);
    make_objects(&mut program, table, [derived.first, derived.second], (&derived.objects, limit));
    program.joins.push(Join {
        table,
        first: derived.first,
        second: derived.second,
        limit,
        keys: derived.keys.clone(),
        firsts: derived.firsts.clone(),
        seconds: derived.seconds.clone(),
        missed: derived.missed.clone(),
        objects: derived.objects,
        place: None,
    });
    program
}

/// The objects that a joint table uses for its sources.
fn make_objects(program: &mut Program, joint: TableId, sources: [TableId; 2], (objects, limit): (&Objects, u64)) {
    let notes = Notes::default;
    if objects.misses.is_some() {
        let name = state_name(program, format!("{}.misses", program.tables[joint].name));
        let (table, unit) = (None, CounterUnit::Packets);
        program.counters.alloc(Counter { name, size: 1, table, unit, automatic: false, notes: notes() });
    }
    let sources = sources.into_iter().zip(objects.timers);
    for (source, _) in sources.filter(|(_, timer)| timer.is_some()) {
        let source = &program.tables[source];
        let (name, size) = (state_name(program, format!("{}.last_hits", source.name)), Join::times(source, limit));
        let (width, initial) = (Join::TIME_BITS, BigUint::ZERO);
        program.registers.alloc(Register { name, size, width, initial, notes: notes() });
    }
}

/// A name that no counter, meter or register has.
fn state_name(program: &Program, name: String) -> String {
    let counters = program.counters.values().map(|counter| &counter.name);
    let meters = program.meters.values().map(|meter| &meter.name);
    let registers = program.registers.values().map(|register| &register.name);
    graph::unique(name, &counters.chain(meters).chain(registers).cloned().collect::<Vec<String>>())
}
