//! The effects of a commit phase by the ends of packets, and what each end needs for itself.

use hlir::NodeId;
use schedule::{Commit, Does, Effect, LateLookup, Operation, Schedule, Value, Values};
use std::collections::BTreeSet;
use std::ops::Range;

/// Effects up to an end.
#[derive(Default)]
pub struct Group {
    /// The last one ends the packets.
    pub own: Vec<Effect>,
    /// The parts of the end's condition, in the order of the packets' choices.
    choices: Vec<Value>,
    needed: BTreeSet<Value>,
    /// The nodes of lookups of the commit phase.
    lookups: BTreeSet<NodeId>,
}

pub struct Groups {
    /// Effects of all packets, before they are distinguished.
    pub common: Vec<Effect>,
    pub list: Vec<Group>,
}

impl Groups {
    pub fn of(schedule: &Schedule, commit: &Commit) -> Groups {
        let values = &schedule.values;
        let mut groups = Groups { common: Vec::new(), list: Vec::new() };
        for effects in commit.effects.split_inclusive(|effect| effect.does.is_end()) {
            let choices = effects.last().map(|end| values.parts(end.when)).unwrap_or_default();
            let mut group = Group { choices, ..Group::default() };
            for effect in effects {
                let parts = values.parts(effect.when);
                let is_own = group.choices.iter().all(|choice| parts.contains(choice));
                // Those of all packets come before the first end.
                let to = if is_own || !groups.list.is_empty() { &mut group.own } else { &mut groups.common };
                to.push(effect.clone());
            }
            group.find_needed(values, &commit.lookups);
            groups.list.push(group);
        }
        groups
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
    fn find_needed(&mut self, values: &Values, lookups: &[LateLookup]) {
        let results = self.own.iter().flat_map(Effect::operands);
        let mut needed: BTreeSet<Value> = values.needed(results).into_iter().collect();
        let mut made = BTreeSet::new();
        // A lookup may need the result of an earlier one.
        for late in lookups.iter().rev() {
            let is_result =
                |value: &Value| matches!(values.of(*value), Operation::Lookup { node, .. } if *node == late.node);
            if needed.iter().any(is_result) || self.own.iter().any(|effect| is_about(&effect.does, late)) {
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
