//! Packet accesses: which bytes a part of a schedule reads and stores together (PAC, sections 3 and 4).
//!
//! A field is bits of a wider value that is read once, and neighbouring stores are one. In a schedule, a read dominates
//! whatever needs its value, stores are behind all reads, and stores with one condition are control equivalent, so the
//! conditions of PAC, section 3, hold by construction. What a part may read is within the bytes that its packets have.

mod count;
mod reads;
mod stores;

pub use count::Accesses;

use crate::value::Value;
use crate::values::Values;
use crate::{Commit, Effect, Lookup, Schedule};
use hlir::plan::AccessMode;
use std::collections::BTreeSet;

/// Bytes that one access of the mode has at most.
pub fn widest(mode: AccessMode) -> u32 {
    match mode {
        AccessMode::Base | AccessMode::Combined => 8,
        AccessMode::Cached => 32,
    }
}

impl Schedule {
    /// Combines the accesses of all parts that run packet by packet. `first`: the first stage that does. `kept`: values
    /// that stay as they are, since vector code stores them for the commit phase.
    pub fn combine_accesses(&mut self, mode: AccessMode, first: usize, kept: &[Value]) {
        if mode == AccessMode::Base {
            return;
        }
        let mut fixed: BTreeSet<Value> = kept.iter().copied().collect();
        fixed.extend(self.stages.iter().flat_map(|stage| stage.reads.iter().copied()));
        for number in first..self.stages.len() {
            self.combine_in_stage(mode, number, &fixed);
        }
        let bytes = self.stages.last().map_or(0, |stage| stage.bytes);
        let values = &mut self.values;
        for commit in self.commit.iter_mut().chain(&mut self.expected) {
            stores::combine(values, commit, (mode, bytes), &fixed);
            combine_in_commit(values, commit, (mode, bytes), &fixed);
        }
    }

    fn combine_in_stage(&mut self, mode: AccessMode, number: usize, fixed: &BTreeSet<Value>) {
        let stage = &mut self.stages[number];
        let mut made: Vec<&mut Lookup> = self.lookups.iter_mut().filter(|it| it.stage == Some(number)).collect();
        let keys = made.iter().flat_map(|lookup| lookup.key.iter().copied());
        let results = stage.exits.iter().map(|exit| exit.when).chain(keys).collect();
        let now = reads::combine(&mut self.values, results, (widest(mode), stage.bytes), fixed);
        stage.exits.iter_mut().for_each(|exit| exit.when = now.of(exit.when));
        made.iter_mut().flat_map(|lookup| &mut lookup.key).for_each(|limb| *limb = now.of(*limb));
    }
}

fn combine_in_commit(
    values: &mut Values,
    commit: &mut Commit,
    (mode, bytes): (AccessMode, u32),
    fixed: &BTreeSet<Value>,
) {
    let late = commit.lookups.iter().flat_map(|late| late.key.iter().copied().chain([late.when]));
    let effects = commit.effects.iter().flat_map(Effect::operands);
    let results = late.chain(effects).chain([commit.exits]).collect();
    let now = reads::combine(values, results, (widest(mode), bytes), fixed);
    commit.exits = now.of(commit.exits);
    for late in &mut commit.lookups {
        late.when = now.of(late.when);
        late.key.iter_mut().for_each(|limb| *limb = now.of(*limb));
    }
    for effect in &mut commit.effects {
        effect.when = now.of(effect.when);
        effect.does = effect.does.with(|value| now.of(value));
    }
}
