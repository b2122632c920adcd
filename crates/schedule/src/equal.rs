//! Equality of schedules: the same values, stages, lookups and effects. Numbers of values do not matter, nor what the
//! program calls them, nor values that nothing needs.

use crate::text::order::{Line, sections};
use crate::value::{Operation, Value};
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
        let list = listed.map(|value| (self.values.of(value).with(to), self.values.kind(value))).collect();
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
