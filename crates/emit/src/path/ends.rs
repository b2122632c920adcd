//! The effects of a commit phase by the ends of packets, and what each end needs for itself.

use hlir::NodeId;
use schedule::{Commit, Does, Effect, LateLookup, Operation, Schedule, Value, Values};
use std::collections::BTreeSet;
use std::ops::Range;

/// Effects up to an end.
#[derive(Default)]
pub struct Group {
    /// Those that other packets have, too.
    pub common: Vec<Effect>,
    /// Those of the packets that end here. The last one ends them.
    pub own: Vec<Effect>,
    /// The parts of the end's condition, in the order of the packets' choices.
    choices: Vec<Value>,
    needed: BTreeSet<Value>,
    /// The nodes of lookups of the commit phase.
    lookups: BTreeSet<NodeId>,
}

pub struct Groups {
    pub list: Vec<Group>,
}

impl Groups {
    pub fn of(schedule: &Schedule, commit: &Commit) -> Groups {
        let values = &schedule.values;
        let mut list = Vec::new();
        for effects in commit.effects.split_inclusive(|effect| effect.does.is_end()) {
            let choices = effects.last().map(|end| parts(values, end.when)).unwrap_or_default();
            let is_own = |effect: &&Effect| {
                let parts = parts(values, effect.when);
                choices.iter().all(|choice| parts.contains(choice))
            };
            let (own, common): (Vec<&Effect>, Vec<&Effect>) = effects.iter().partition(is_own);
            let [common, own] = [common, own].map(|effects| effects.into_iter().cloned().collect());
            let mut group = Group { common, own, choices, ..Group::default() };
            let results = effects.iter().flat_map(Effect::operands).collect();
            group.find_needed(values, results, &commit.lookups);
            list.push(group);
        }
        Groups { list }
    }

    /// The choice that most groups from the first one of a range on have in common, beside what is known, and the
    /// first group that does not have it; none if the first group has none in common with the next.
    pub fn chosen(&self, range: &Range<usize>, is_known: impl Fn(Value) -> bool) -> Option<(Value, usize)> {
        let groups = &self.list[range.clone()];
        let mut best: Option<(Value, usize)> = None;
        for choice in groups[0].choices.iter().filter(|choice| !is_known(**choice)) {
            let end = range.start + groups.iter().take_while(|group| group.choices.contains(choice)).count();
            if end > range.start + 1 && best.is_none_or(|(_, most)| end > most) {
                best = Some((*choice, end));
            }
        }
        best
    }

    /// Values that both groups of one range and those of a later one need.
    pub fn shared(&self, now: &Range<usize>, later: &Range<usize>) -> BTreeSet<Value> {
        let needed = |range: &Range<usize>| -> BTreeSet<Value> {
            self.list[range.clone()].iter().flat_map(|group| group.needed.iter().copied()).collect()
        };
        &needed(now) & &needed(later)
    }

    /// Whether every group of a range needs a lookup.
    pub fn all_need(&self, range: &Range<usize>, lookup: NodeId) -> bool {
        self.list[range.clone()].iter().all(|group| group.lookups.contains(&lookup))
    }

    /// The nodes of lookups that both groups of one range and those of a later one need.
    pub fn looked_up(&self, now: &Range<usize>, later: &Range<usize>) -> BTreeSet<NodeId> {
        let needed = |range: &Range<usize>| -> BTreeSet<NodeId> {
            self.list[range.clone()].iter().flat_map(|group| group.lookups.iter().copied()).collect()
        };
        &needed(now) & &needed(later)
    }
}

impl Group {
    fn find_needed(&mut self, values: &Values, results: Vec<Value>, lookups: &[LateLookup]) {
        let effects = || self.common.iter().chain(&self.own);
        let mut needed: BTreeSet<Value> = values.needed(results).into_iter().collect();
        let mut made = BTreeSet::new();
        // A lookup may need the result of an earlier one.
        for late in lookups.iter().rev() {
            let is_result =
                |value: &Value| matches!(values.of(*value), Operation::Lookup { node, .. } if *node == late.node);
            if needed.iter().any(is_result) || effects().any(|effect| is_about(&effect.does, late)) {
                made.insert(late.node);
                needed.extend(values.needed(late.key.iter().copied().chain([late.when])));
            }
        }
        (self.needed, self.lookups) = (needed, made);
    }
}

/// Whether an effect is about the record that a lookup found.
fn is_about(does: &Does, late: &LateLookup) -> bool {
    match does {
        Does::CountDirect { lookup, .. }
        | Does::Miss { lookup }
        | Does::Touch { lookup }
        | Does::Restart { lookup, .. } => *lookup == late.node,
        Does::Move { .. }
        | Does::Leave
        | Does::Store { .. }
        | Does::Count { .. }
        | Does::NotMade { .. }
        | Does::Made { .. }
        | Does::Digest { .. }
        | Does::Write { .. }
        | Does::Drop { .. }
        | Does::Send { .. } => false,
    }
}

/// The parts of a conjunction, in order; none if it holds.
fn parts(values: &Values, condition: Value) -> Vec<Value> {
    let (mut parts, mut left) = (Vec::new(), vec![condition]);
    while let Some(value) = left.pop() {
        if let Operation::Binary(hlir::Binary::LogicalAnd, one, other) = values.of(value) {
            left.extend([*other, *one]);
        } else if values.holds(value) != Some(true) && !parts.contains(&value) {
            parts.push(value);
        }
    }
    parts
}
