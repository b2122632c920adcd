//! Tables of which all entries distinguish the same bits: a lookup of these bits is exact, whatever the keys were declared
//! as. Rules that name an address and a port are so, and so are routes of one length.

use super::known::{Known, can_be_known, lookups};
use crate::Inputs;
use hlir::facts::{Assumption, Fact};
use hlir::{Binary, Expression, MatchKind, Program, TableId};
use num_bigint::BigUint;

/// Bits of an address, for whose prefixes there are structures that need no more than exact ones do.
const ADDRESS: u32 = 32;

/// Masks keys, so that structures can hold them as exact ones. Returns the facts that this depends on.
pub(super) fn of_equal_masks(program: &mut Program, inputs: &Inputs) -> Vec<Assumption> {
    let mut used = Vec::new();
    for id in program.tables.iter().map(|(id, _)| id).collect::<Vec<_>>() {
        let is_held = program.tables[id].profile.is_some() || program.has_timers_or_meters(id);
        if !lookups(program, id).is_empty() && can_be_known(program, id) && !is_held {
            let known = Known::of(program, id, &inputs.facts);
            used.extend(table(program, id, &known).into_iter().map(|fact| Assumption { table: id, fact }));
        }
    }
    used
}

fn table(program: &mut Program, id: TableId, known: &Known) -> Vec<Fact> {
    let held: Vec<(u32, (MatchKind, u32))> = (0u32..)
        .zip(program.key_kinds(id))
        .filter(|(key, (kind, _))| *kind != MatchKind::Exact && program.left_out(id, *key).is_none())
        .collect();
    let has_priorities = program.tables[id].has_priorities();
    let bits: u32 = program.held_keys(id).iter().map(|(_, width)| width).sum();
    let pays = !held.is_empty() && (has_priorities || bits > ADDRESS);
    let mask_of = |key: u32| known.masks.iter().find(|(of, _)| *of == key).map(|(_, mask)| mask.clone());
    let can_be = |(key, (kind, _)): &(u32, (MatchKind, u32))| *kind != MatchKind::Range && mask_of(*key).is_some();
    if !pays || has_priorities && !known.is_distinct || !held.iter().all(can_be) {
        return Vec::new();
    }
    let mut used = Vec::new();
    for (key, (_, width)) in held {
        let Some(mask) = mask_of(key) else { continue };
        if mask.count_ones() < u64::from(width) {
            apply(&mut program.tables[id].keys[key as usize].value, &mask, width);
        }
        used.push(Fact::Mask { key, mask });
    }
    used.extend(has_priorities.then_some(Fact::Distinct));
    used
}

fn apply(key: &mut Expression, mask: &BigUint, width: u32) {
    let constant = Expression::Constant { value: mask.clone(), width };
    *key = Expression::binary(Binary::And, key.clone(), constant);
}
