//! Counts of lookups that become code, so that hits and misses are what they were.
//!
//! Each table has an index for hits and one for misses, in a counter that the program gets for that. The pass
//! [`lookup_counts`](crate::rewrite::lookup_counts) lets fewer places count.

use crate::rewrite::join::graph;
use hlir::lookup_sums::RECEIVED;
use hlir::{Call, Counter, CounterId, CounterUnit, Expression, LookupSum, Notes, Program, Statement, TableId};

/// The counter's name, where the program has no counter of that name.
const NAME: &str = "lookups.in_code";

/// Counts a hit or a miss of a table.
pub(super) fn of(program: &mut Program, table: TableId, is_hit: bool) -> Statement {
    let counter = counter(program);
    let known = program.lookup_sums.iter().find(|sum| sum.table == table && sum.is_hit == is_hit);
    let index = known.map_or(program.counters[counter].size as u32, |sum| sum.added[0]);
    if known.is_none() {
        program.counters[counter].size += 1;
        program.lookup_sums.push(LookupSum { table, is_hit, counter, added: vec![index], subtracted: Vec::new() });
    }
    at(counter, index)
}

/// Counts a packet at an index.
pub(in crate::rewrite) fn at(counter: CounterId, index: u32) -> Statement {
    Statement::Call(Call::Count { counter, index: Some(Expression::constant(index, 32)) })
}

fn counter(program: &mut Program) -> CounterId {
    if let Some(sum) = program.lookup_sums.first() {
        return sum.counter;
    }
    let names: Vec<String> = program.counters.values().map(|counter| counter.name.clone()).collect();
    program.counters.alloc(Counter {
        name: graph::unique(NAME.to_string(), &names),
        size: u64::from(RECEIVED) + 1,
        table: None,
        unit: CounterUnit::Packets,
        automatic: false,
        notes: Notes::default(),
    })
}
