//! Chooses how many packets of a batch go through a stage together.
//!
//! Too few, and a group waits for its first line; too many, and what a packet carries between two stages no longer stays in the first cache.

use super::{is_legal, reason, with_model};
use crate::Inputs;
use crate::plan::batches::LARGEST_GROUP;
use hlir::{Plan, Program};

pub const GROUPS: [u32; 4] = [8, 16, 32, 64];

pub fn choose(program: &Program, plan: &mut Plan, inputs: &Inputs) {
    if !inputs.pinned.loops.is_empty() {
        return;
    }
    with_model(program, inputs, |model| {
        for number in 0..plan.loops.len() {
            let batch = plan.loops[number].batch;
            let mut sizes: Vec<u32> = GROUPS.into_iter().filter(|group| *group < batch).collect();
            sizes.push(batch.min(LARGEST_GROUP));
            sizes.dedup();
            let costs: Vec<(u32, f64)> = sizes
                .into_iter()
                .map(|group| {
                    let mut other = plan.clone();
                    other.loops[number].group = group;
                    (group, super::prefetch::at_best(model, &other))
                })
                .collect();
            // The largest of equals: it needs no more room than the burst has anyway.
            let best = costs.iter().rev().copied().min_by(|(_, a), (_, b)| a.total_cmp(b));
            let Some((group, cycles)) = best else { continue };
            let mut chosen = plan.clone();
            chosen.loops[number].group = group;
            let others = costs.iter().filter(|(other, _)| *other != group);
            let others = others.map(|(group, cycles)| (format!("group_{group}"), *cycles));
            let mut alternatives: Vec<(String, f64)> = others.collect();
            let before = chosen.loops[number].reason.take();
            alternatives.extend(
                before
                    .into_iter()
                    .flat_map(|reason| reason.alternatives)
                    .map(|(name, cost)| (name, cost as f64 / 10.0)),
            );
            chosen.loops[number].reason = reason(cycles, alternatives);
            if is_legal(program, &chosen) {
                *plan = chosen;
            }
        }
    });
}
