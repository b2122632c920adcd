//! Keys of which all entries have one value: a lookup that has it as well needs no such key, any other is a miss.
//!
//! Tables of routes are the reason: with the number of a virtual router beside the address, a key is too wide for the
//! structures of addresses, though most switches have one router.

use super::inline::{Inlined, after, block, target};
use super::known::{Known, can_be_known, lookups};
use super::tally;
use crate::Inputs;
use crate::inputs::hints::LIKELY;
use hlir::facts::{Assumption, Fact};
use hlir::notes::{Annotation, AnnotationBody};
use hlir::{ActionCall, Binary, CounterId, DEFAULT_INDEX, Expression, MatchKind, NodeId, NodeKind, Program, TableId};
use num_bigint::BigUint;

/// Bits of an address, to which the structures of addresses are made.
const ADDRESS: u32 = 32;

/// Makes constants of keys of which all entries have one value. Returns the facts that the lookups depend on from now on.
pub(super) fn of_one_value(program: &mut Program, inputs: &Inputs) -> Vec<Assumption> {
    let mut used = Vec::new();
    for id in program.tables.iter().map(|(id, _)| id).collect::<Vec<_>>() {
        let nodes = lookups(program, id);
        let is_held = program.tables[id].profile.is_some() || program.has_timers_or_meters(id);
        if nodes.is_empty() || !can_be_known(program, id) || is_held {
            continue;
        }
        let known = Known::of(program, id, &inputs.facts);
        let Some(default) = &known.default else { continue };
        let facts = table(program, (id, default), &nodes, &known.values);
        used.extend(facts.into_iter().map(|fact| Assumption { table: id, fact }));
    }
    used
}

fn table(
    program: &mut Program,
    (id, default): (TableId, &ActionCall),
    nodes: &[NodeId],
    values: &[(u32, BigUint)],
) -> Vec<Fact> {
    let mut used = Vec::new();
    let inlined = Inlined { table: id, default };
    let constant = |program: &Program, key: u32| {
        let key = &program.tables[id].keys[key as usize].value;
        if let Expression::Constant { value, .. } = key { Some(value.clone()) } else { None }
    };
    for (key, value) in values {
        let fact = Fact::Key { key: *key, value: value.clone() };
        match constant(program, *key) {
            Some(same) if same == *value => used.push(fact),
            // Controllers find the counters of entries in their table.
            Some(_) if inlined.can_miss(program) && !program.has_own_records(id) => {
                inlined.replace(program, nodes, &[]);
                return vec![fact, Fact::Default(default.clone())];
            }
            Some(_) | None => {}
        }
    }
    let compared: Vec<&(u32, BigUint)> = values.iter().filter(|(key, _)| constant(program, *key).is_none()).collect();
    if becomes_address(program, id, values, &compared) && inlined.can_miss(program) {
        compared.iter().for_each(|(key, value)| used.push(Fact::Key { key: *key, value: value.clone() }));
        used.push(Fact::Default(default.clone()));
        compare(program, &inlined, nodes, &compared);
    }
    used
}

/// Whether an address remains of the key of a table of prefixes, but only if these keys are compared. Those of one value
/// that are not are constant.
fn becomes_address(program: &Program, id: TableId, one_value: &[(u32, BigUint)], compared: &[&(u32, BigUint)]) -> bool {
    let kinds = program.key_kinds(id);
    let is_prefix = kinds.iter().filter(|(kind, _)| *kind == MatchKind::Lpm).count() == 1;
    let bits = |without: &dyn Fn(u32) -> bool| -> u32 {
        (0u32..).zip(&kinds).filter(|(key, _)| !without(*key)).map(|(_, (_, width))| width).sum()
    };
    let is_exact = |key: &&(u32, BigUint)| kinds[key.0 as usize].0 == MatchKind::Exact;
    let has_one_value = |key: u32| one_value.iter().any(|(other, _)| *other == key);
    let is_constant = |key: u32| has_one_value(key) && !compared.iter().any(|(other, _)| *other == key);
    is_prefix && compared.iter().all(is_exact) && bits(&is_constant) > ADDRESS && bits(&has_one_value) <= ADDRESS
}

/// Looks up only packets that have these values, and runs the default action for the others.
fn compare(program: &mut Program, inlined: &Inlined, nodes: &[NodeId], keys: &[&(u32, BigUint)]) {
    let declared = &program.tables[inlined.table].keys;
    let equal = |(key, value): &&(u32, BigUint)| {
        let key = &declared[*key as usize].value;
        let width = program.expression_type(key, &[]).width();
        Expression::binary(Binary::Equal, key.clone(), Expression::Constant { value: value.clone(), width })
    };
    let all = |left, right| Expression::binary(Binary::LogicalAnd, left, right);
    let Some(condition) = keys.iter().map(equal).reduce(all) else { return };
    let automatic =
        program.counters.iter().filter(|(_, counter)| counter.table == Some(inlined.table) && counter.automatic);
    let automatic: Vec<CounterId> = automatic.map(|(id, _)| id).collect();
    // A miss is counted where the table has the default action's counters.
    let missed = tally::of(program, inlined.table, false);
    let missed = after(missed, inlined.counted(program, inlined.default, DEFAULT_INDEX as u32, &automatic));
    for node in nodes {
        let lookup = program.nodes[*node].kind.clone();
        let NodeKind::Apply { next, exit, .. } = &lookup else { continue };
        let miss = block(missed.clone(), target(next, false, inlined.default.action), *exit);
        let name = program.nodes[*node].name.clone();
        let then = inlined.add(program, format!("{name}.lookup"), lookup);
        // Entries are for the packets that come.
        program.nodes[then].notes.annotations.push(Annotation { name: LIKELY.to_string(), body: AnnotationBody::None });
        let otherwise = inlined.add(program, format!("{name}.other"), miss);
        program.nodes[*node].kind = NodeKind::Branch { condition: condition.clone(), then, otherwise };
    }
    for (key, value) in keys {
        let declared = &program.tables[inlined.table].keys[*key as usize].value;
        let width = program.expression_type(declared, &[]).width();
        program.tables[inlined.table].keys[*key as usize].value = Expression::Constant { value: value.clone(), width };
    }
}
