//! The effects of a commit phase by the ends of packets, and what each end needs for itself.

use schedule::{Commit, Does, Effect, LateLookup, Operation, Schedule, Value, Values};
use std::collections::BTreeSet;

/// Effects up to an end.
#[derive(Default)]
pub struct Group {
    /// Those that other packets have, too.
    pub common: Vec<Effect>,
    /// Those of the packets that end here. The last one ends them.
    pub own: Vec<Effect>,
    needed: BTreeSet<Value>,
    /// Lookups of the commit phase, by index.
    lookups: BTreeSet<usize>,
}

pub struct Groups<'c> {
    pub list: Vec<Group>,
    /// What the side exits need.
    exits: Group,
    lookups: &'c [LateLookup],
}

impl<'c> Groups<'c> {
    pub fn of(schedule: &Schedule, commit: &'c Commit) -> Groups<'c> {
        let values = &schedule.values;
        let mut list = Vec::new();
        for effects in commit.effects.split_inclusive(|effect| effect.does.is_end()) {
            let when = effects.last().map(|end| parts(values, end.when)).unwrap_or_default();
            let is_own = |effect: &&Effect| when.is_subset(&parts(values, effect.when));
            let (own, common): (Vec<&Effect>, Vec<&Effect>) = effects.iter().partition(is_own);
            let [common, own] = [common, own].map(|effects| effects.into_iter().cloned().collect());
            let mut group = Group { common, own, ..Group::default() };
            let results = effects.iter().flat_map(Effect::operands).collect();
            group.find_needed(values, results, &commit.lookups);
            list.push(group);
        }
        let mut exits = Group::default();
        exits.find_needed(values, vec![commit.exits], &commit.lookups);
        Groups { list, exits, lookups: &commit.lookups }
    }

    /// Lookups that decide about side exits.
    pub fn made_for_exits(&self) -> Vec<&'c LateLookup> {
        self.exits.lookups.iter().map(|lookup| &self.lookups[*lookup]).collect()
    }

    /// Values that a group and a later one need.
    pub fn shared_with_later(&self, number: usize) -> Vec<Value> {
        let (group, later) = (&self.list[number], &self.list[number + 1..]);
        let is_shared = |value: &&Value| later.iter().any(|other| other.needed.contains(value));
        group.needed.iter().filter(is_shared).copied().collect()
    }

    /// Lookups that a group is the first to need: those that later ones need as well, or the others.
    pub fn first_made(&self, number: usize, is_shared: bool) -> Vec<&'c LateLookup> {
        let (earlier, later) = (&self.list[..number], &self.list[number + 1..]);
        let needs = |groups: &[Group], lookup: usize| groups.iter().any(|group| group.lookups.contains(&lookup));
        let is_made = |lookup: usize| self.exits.lookups.contains(&lookup) || needs(earlier, lookup);
        let first = self.list[number].lookups.iter().copied().filter(|lookup| !is_made(*lookup));
        first.filter(|lookup| needs(later, *lookup) == is_shared).map(|lookup| &self.lookups[lookup]).collect()
    }
}

impl Group {
    fn find_needed(&mut self, values: &Values, results: Vec<Value>, lookups: &[LateLookup]) {
        let effects = || self.common.iter().chain(&self.own);
        let mut needed: BTreeSet<Value> = values.needed(results).into_iter().collect();
        let mut made = BTreeSet::new();
        // A lookup may need the result of an earlier one.
        for (number, late) in lookups.iter().enumerate().rev() {
            let is_result =
                |value: &Value| matches!(values.of(*value), Operation::Lookup { node, .. } if *node == late.node);
            if needed.iter().any(is_result) || effects().any(|effect| is_about(&effect.does, late)) {
                made.insert(number);
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

/// The parts of a conjunction; none if it holds.
fn parts(values: &Values, condition: Value) -> BTreeSet<Value> {
    let (mut parts, mut left) = (BTreeSet::new(), vec![condition]);
    while let Some(value) = left.pop() {
        if let Operation::Binary(hlir::Binary::LogicalAnd, one, other) = values.of(value) {
            left.extend([*one, *other]);
        } else if values.holds(value) != Some(true) {
            parts.insert(value);
        }
    }
    parts
}
