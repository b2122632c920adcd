//! Joins exact tables with common keys into one array: half the memory, so more of it stays cached.

use super::{Planner, is_legal, reason, structures};
use crate::Inputs;
use crate::model::records;
use hlir::plan::{Choice, JointTables, Structure};
use hlir::{Plan, Program, TableId};
use std::collections::BTreeMap;

/// Minimum share of the larger table's keys that the other one has. With fewer in common, a joint array is
/// hardly smaller than two.
const COMMON: f64 = 0.5;

pub fn choose(planner: &Planner, plan: &mut Plan) {
    let (program, inputs) = (planner.model.program, planner.model.inputs);
    plan.joints.clone_from(&inputs.constraints.joints);
    let mut pairs = pairs(program, plan, inputs);
    if pairs.is_empty() {
        return;
    }
    let mut least = planner.whole_plan_cycles("joint", plan);
    // Pairs with most keys in common first, since a table can be in one joint array only.
    pairs.sort_by_key(|(common, _)| std::cmp::Reverse(*common));
    for (_, mut joint) in pairs {
        let mut other = plan.clone();
        other.joints.push(joint.clone());
        if !is_legal(program, &other) {
            continue;
        }
        let cycles = planner.whole_plan_cycles("joint", &other);
        if cycles * structures::SAME < least {
            joint.reason = reason(cycles, [(Choice::Separate, least)]);
            plan.joints.push(joint);
            least = cycles;
        }
    }
}

/// Pairs of tables that could have a joint array, with the number of common keys.
fn pairs(program: &Program, plan: &Plan, inputs: &Inputs) -> Vec<(u64, JointTables)> {
    let structure: BTreeMap<&str, Structure> =
        plan.tables.iter().map(|planned| (planned.table.as_str(), planned.structure)).collect();
    let is_shareable =
        |id: &TableId| structure.get(name(program, *id)).is_some_and(|structure| structure.traits().can_be_joint);
    let tables: Vec<TableId> = program.tables.iter().map(|(id, _)| id).filter(is_shareable).collect();
    let mut pairs = Vec::new();
    for (at, one) in tables.iter().enumerate() {
        for other in &tables[at + 1..] {
            let same = [one, other].map(|id| structure.get(name(program, *id)));
            if same[0] == same[1] {
                pairs.extend(pair(program, inputs, *one, *other));
            }
        }
    }
    pairs
}

fn pair(program: &Program, inputs: &Inputs, one: TableId, other: TableId) -> Option<(u64, JointTables)> {
    let width = |id: TableId| program.held_keys(id).iter().map(|(_, width)| width).sum::<u32>();
    if width(one) != width(other) {
        return None;
    }
    let content = |id: TableId| inputs.occupancy.of(&program.tables[id]);
    let [first, second] = [one, other].map(content);
    let union = inputs.occupancy.union_count(&program.tables[one], &program.tables[other])?;
    let common = (first.entries + second.entries).saturating_sub(union);
    if (common as f64) < COMMON * first.entries.max(second.entries) as f64 {
        return None;
    }
    // The other table needs two bits, for its default's record and another.
    let bits = |id: TableId| records::bits(program, id, &content(id), JointTables::BITS - 2);
    let [one_bits, other_bits] = [bits(one)?, bits(other)?];
    let left = JointTables::BITS.checked_sub(one_bits + other_bits)?;
    let (secondary, primary, bits) =
        if one_bits <= other_bits { (one, other, one_bits) } else { (other, one, other_bits) };
    let [secondary, primary] = [secondary, primary].map(|id| name(program, id).to_string());
    // Unused bits are divided equally.
    Some((common, JointTables { secondary, primary, bits: bits + left / 2, reason: None }))
}

fn name(program: &Program, id: TableId) -> &str {
    &program.tables[id].name
}
