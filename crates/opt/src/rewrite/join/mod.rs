//! Table joins: two tables that are looked up one after the other get a joint table in front of them, keyed by
//! the keys of both. A hit does the work of both lookups; a miss goes on at the first, as before.
//!
//! Not to be confused with [joint exact tables](crate::plan::joint), which share an array and are still looked
//! up one by one.

mod graph;
mod profit;
mod swap;

pub use profit::{Profit, with_joint_contents};
use profit::{expected_entries, profit};

use crate::Inputs;
use hlir::join::{Derived, Join, derive, refusal};
use hlir::plan::JoinChoice;
use hlir::{Node, NodeId, NodeKind, Notes, Program, TableId};
use std::collections::HashSet;

/// Room of a joint table: this many times the entries that are expected, within limits.
const ROOM: u64 = 2;
const LEAST_ROOM: u64 = 1024;
pub const MOST_ROOM: u64 = 1 << 20;

/// Which joins are made.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Joins {
    #[default]
    None,
    /// Those that pay by the model, where the entries of both tables are known.
    Profitable,
    /// All that are legal.
    All,
}

/// What became of a pair of tables.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    pub first: String,
    pub second: String,
    /// The numbers, where a join is legal.
    pub profit: Option<Profit>,
    /// Why the tables are not joined; none if they are.
    pub refused: Option<String>,
}

/// Two lookups that can be joined.
struct Pair {
    /// The program with both next to each other.
    program: Program,
    node: NodeId,
    derived: Derived,
    /// Expected joint entries.
    entries: u64,
}

/// The joins of a program, as plans have them.
pub fn made(program: &Program) -> Vec<JoinChoice> {
    let name = |table: TableId| program.tables[table].name.clone();
    let choice = |join: &Join| JoinChoice { first: name(join.first), second: name(join.second), made: true };
    program.joins.iter().map(choice).collect()
}

pub fn join_tables(program: &mut Program, inputs: &Inputs) {
    consider(program, inputs);
}

/// Joins what is to be joined, and says what became of each pair of lookups.
pub fn consider(program: &mut Program, inputs: &Inputs) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    let is_asked_for = inputs.constraints.joins.iter().any(|choice| choice.made);
    if inputs.joins == Joins::None && !is_asked_for {
        return verdicts;
    }
    let mut refused: HashSet<(TableId, TableId)> = HashSet::new();
    loop {
        let mut pairs = pairs(program, &with_joint_contents(program, inputs));
        pairs.retain(|pair| !refused.contains(&(pair.derived.first, pair.derived.second)));
        // Those that are asked for, then the smallest joint table first: a table has a part in one join only.
        let order = |pair: &Pair| (pair.choice(inputs) != Some(true), pair.entries);
        let Some(pair) = pairs.into_iter().min_by_key(order) else { break };
        let [first, second] =
            [pair.derived.first, pair.derived.second].map(|table| pair.program.tables[table].name.clone());
        let joined = joined(&pair);
        let is_compared = inputs.joins == Joins::Profitable && pair.choice(inputs).is_none();
        let profit = is_compared.then(|| profit(program, &joined, (&pair.derived, pair.entries), inputs));
        let why = why_not(pair.choice(inputs), profit.as_ref(), inputs);
        match why {
            Some(_) => drop(refused.insert((pair.derived.first, pair.derived.second))),
            None => *program = joined,
        }
        verdicts.push(Verdict { first, second, profit, refused: why });
    }
    verdicts.extend(illegal(program));
    verdicts
}

fn why_not(choice: Option<bool>, profit: Option<&Profit>, inputs: &Inputs) -> Option<String> {
    match (choice, profit) {
        (Some(true), _) => None,
        (Some(false), _) => Some("the plan rules it out".to_string()),
        (None, _) if inputs.joins == Joins::All => None,
        (None, None) => Some("it is not asked for".to_string()),
        (None, Some(profit)) if profit.entries > MOST_ROOM => {
            Some(format!("{} joint entries exceed the limit of {MOST_ROOM}", profit.entries))
        }
        (None, Some(profit)) if !profit.is_known => Some("the entries of both tables are not known".to_string()),
        (None, Some(profit)) if !profit.pays() => Some("it does not pay".to_string()),
        (None, Some(_)) => None,
    }
}

impl Pair {
    /// What the user has decided.
    fn choice(&self, inputs: &Inputs) -> Option<bool> {
        let name = |table: TableId| &self.program.tables[table].name;
        let is_it = |choice: &&JoinChoice| {
            (&choice.first, &choice.second) == (name(self.derived.first), name(self.derived.second))
        };
        inputs.constraints.joins.iter().find(is_it).map(|choice| choice.made)
    }
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
    let pair = |program: Program, node: NodeId| {
        let derived = derive(&program, node).ok().filter(|derived| is_free(derived.second))?;
        let entries = expected_entries(&program, (derived.first, derived.second, &derived.keys), inputs);
        Some(Pair { program, node, derived, entries })
    };
    let mut pairs = Vec::new();
    for (node, table) in &free {
        if refusal(program, *table).is_some() {
            continue;
        }
        match pair(program.clone(), *node) {
            Some(found) => pairs.push(found),
            None => pairs.extend(swap::brought_together(program, *node).into_iter().filter_map(|it| pair(it, *node))),
        }
    }
    pairs
}

/// Pairs of lookups next to each other that cannot be joined.
fn illegal(program: &Program) -> Vec<Verdict> {
    let free = free_lookups(program);
    let mut verdicts = Vec::new();
    for (node, table) in &free {
        let Some((_, second)) =
            graph::next_lookup(program, *node).and_then(|next| free.iter().find(|(other, _)| *other == next))
        else {
            continue;
        };
        if let Err(why) = derive(program, *node) {
            let [first, second] = [*table, *second].map(|table| program.tables[table].name.clone());
            verdicts.push(Verdict { first, second, profit: None, refused: Some(why) });
        }
    }
    verdicts
}

/// The program with the joint table of a pair.
fn joined(pair: &Pair) -> Program {
    let mut program = pair.program.clone();
    let Pair { node: first_node, derived, .. } = pair;
    let limit = (pair.entries.saturating_mul(ROOM)).clamp(LEAST_ROOM, MOST_ROOM);
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
    program.joins.push(Join {
        table,
        first: derived.first,
        second: derived.second,
        limit,
        keys: derived.keys.clone(),
        firsts: derived.firsts.clone(),
        seconds: derived.seconds.clone(),
    });
    program
}
