//! Equality of schedules: the same values, stages, lookups and effects. Numbers of values do not matter, nor what the
//! program calls them, nor values that nothing needs.

use crate::text::order::{Line, sections};
use crate::value::{Operation, Sum, Value};
use crate::values::Values;
use crate::{Commit, Effect, LateLookup, Lookup, Obstacle, Schedule, SideExit, Stage};
use hlir::Type;
use std::collections::HashMap;

impl PartialEq for Schedule {
    fn eq(&self, other: &Schedule) -> bool {
        let ((one, its), (another, others)) = (self.numbered(), other.numbered());
        its == others
            && one.headers == another.headers
            && one.stages == another.stages
            && one.lookups == another.lookups
            && one.commit == another.commit
            && one.expected == another.expected
    }
}

impl Schedule {
    /// The schedule with values numbered in the order of its text, and these values.
    fn numbered(&self) -> (Schedule, Vec<(Operation, Type)>) {
        let lines: Vec<Line> = sections(self).into_iter().flat_map(|section| section.lines).collect();
        let listed = lines.iter().filter_map(|line| if let Line::Value(value) = line { Some(*value) } else { None });
        let mut numbers: HashMap<Value, Value> = HashMap::new();
        for value in listed.clone() {
            let next = Value(numbers.len() as u32);
            numbers.entry(value).or_insert(next);
        }
        // A constant that has no line is alike in each schedule.
        let to = |value: Value| numbers.get(&value).copied().unwrap_or(Value(u32::MAX));
        let list = listed.map(|value| (operation(self.values.of(value), to), self.values.kind(value))).collect();
        let all = |values: &[Value]| values.iter().map(|value| to(*value)).collect();
        let exit = |exit: &SideExit| SideExit { when: to(exit.when), ..exit.clone() };
        let stage = |stage: &Stage| Stage {
            bytes: stage.bytes,
            exits: stage.exits.iter().map(exit).collect(),
            reads: all(&stage.reads),
        };
        let lookup = |lookup: &Lookup| Lookup { key: all(&lookup.key), ..lookup.clone() };
        let commit = |commit: &Commit| Commit {
            exits: to(commit.exits),
            lookups: commit
                .lookups
                .iter()
                .map(|one| LateLookup { key: all(&one.key), when: to(one.when), ..one.clone() })
                .collect(),
            effects: commit.effects.iter().map(|one| effect(one, to)).collect(),
            missed: commit.missed.clone(),
        };
        let schedule = Schedule {
            values: Values::default(),
            headers: self.headers.clone(),
            stages: self.stages.iter().map(stage).collect(),
            lookups: self.lookups.iter().map(lookup).collect(),
            commit: self.commit.as_ref().map(commit).map_err(Obstacle::clone),
            expected: self.expected.as_ref().map(commit),
        };
        (schedule, list)
    }
}

fn effect(effect: &Effect, to: impl Fn(Value) -> Value) -> Effect {
    Effect { when: to(effect.when), node: effect.node, does: effect.does.with(to) }
}

fn operation(operation: &Operation, to: impl Fn(Value) -> Value) -> Operation {
    match operation {
        Operation::Register { register, index } => Operation::Register { register: *register, index: to(*index) },
        Operation::Unary(operator, of) => Operation::Unary(*operator, to(*of)),
        Operation::Binary(operator, left, right) => Operation::Binary(*operator, to(*left), to(*right)),
        Operation::Slice { of, low } => Operation::Slice { of: to(*of), low: *low },
        Operation::Extend { of, signed } => Operation::Extend { of: to(*of), signed: *signed },
        Operation::Choose { condition, then, otherwise } => {
            Operation::Choose { condition: to(*condition), then: to(*then), otherwise: to(*otherwise) }
        }
        Operation::FromBool(of) => Operation::FromBool(to(*of)),
        Operation::Sum(sum) => Operation::Sum(Sum {
            before: sum.before.map(&to),
            bytes: sum.bytes.clone(),
            words: sum.words.iter().map(|word| to(*word)).collect(),
            subtract: sum.subtract,
        }),
        Operation::Hash { algorithm, data } => {
            Operation::Hash { algorithm: *algorithm, data: data.iter().map(|piece| to(*piece)).collect() }
        }
        same @ (Operation::Constant(_)
        | Operation::Packet { .. }
        | Operation::Length
        | Operation::Headroom
        | Operation::Port
        | Operation::Lookup { .. }) => same.clone(),
    }
}
