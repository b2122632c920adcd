//! Specialisation: what a program's tables are known to hold becomes code.
//!
//! Most tables of a large program are empty in most switches. The lookup of an empty table is its default action, a
//! table with few entries is a few comparisons, and an argument that all entries share is a constant. What follows from
//! that is folded ([`flow`](super::flow)): metadata that only empty tables could have set is constant, conditions on it
//! go, and so do headers that nothing makes valid. Entries that most packets hit may be compared before the lookup.
//!
//! Facts of the source always hold. Others are assumptions: the program lists each one that was used, and the store
//! refuses writes that break one. Never specialised: tables that packets write, and tables with action profiles that have
//! entries.
//!
//! A lookup is cheap in a stage, comparisons where packets mostly take the same branch. Which tables become comparisons is
//! therefore decided by the plans that follow: [`candidates`].

mod inline;
mod keys;
mod known;
mod masks;
mod meters;
pub(super) mod tally;

use super::flow;
use crate::Inputs;
use hlir::facts::{Assumption, Fact};
use hlir::{Expression, NodeId, NodeKind, Program, Statement, TableId};
use inline::Inlined;
pub use known::of_source;
use known::{Known, can_be_known, lookups};
use std::iter;

/// Tables whose entries are known, at most, for which each choice of comparisons is tried. Of more tables, either all
/// become comparisons or none.
const MOST_CHOSEN: usize = 3;

/// The specialised programs, of which the one with the cheapest plan is taken. In the first, each table becomes
/// comparisons whose entries can be compared.
pub fn candidates(program: &Program, inputs: &Inputs) -> Vec<Program> {
    if !program.joins.is_empty() {
        return vec![program.clone()];
    }
    let all = specialised(program, inputs, &|_| true);
    let is_comparison = |one: &&Assumption| matches!(one.fact, Fact::Entries(_)) && !program.assumptions.contains(one);
    let compared: Vec<TableId> = all.assumptions.iter().filter(is_comparison).map(|one| one.table).collect();
    let choices = match compared.len() {
        0 => 0,
        count if count <= MOST_CHOSEN => (1 << count) - 1,
        _ => 1,
    };
    let without = (0..choices).map(|choice: usize| {
        let is_chosen = |id| compared.iter().position(|other| *other == id).is_some_and(|at| choice >> at & 1 == 1);
        specialised(program, inputs, &is_chosen)
    });
    let without: Vec<Program> = without.collect();
    iter::once(all).chain(without).collect()
}

/// The program for these facts. Entries become comparisons only where `is_compared`.
fn specialised(program: &Program, inputs: &Inputs, is_compared: &dyn Fn(TableId) -> bool) -> Program {
    let mut program = program.clone();
    let mut used = Vec::new();
    for id in program.tables.iter().map(|(id, _)| id).collect::<Vec<_>>() {
        let nodes = lookups(&program, id);
        if nodes.is_empty() || !can_be_known(&program, id) {
            continue;
        }
        let mut known = Known::of(&program, id, &inputs.facts);
        known.entries = known.entries.filter(|_| is_compared(id));
        let facts = meters::without_rates(&mut program, id, &known);
        let facts = facts.into_iter().chain(table(&mut program, id, &nodes, &known));
        used.extend(facts.map(|fact| Assumption { table: id, fact }));
    }
    let has_values = inputs.facts.iter().any(|one| matches!(one.fact, Fact::Key { .. }));
    if !used.is_empty() || has_values {
        assume(&mut program, used);
        flow::fold(&mut program);
    }
    // What values lookups have is known behind the other facts.
    let used = keys::of_one_value(&mut program, inputs);
    if !used.is_empty() {
        assume(&mut program, used);
        flow::fold(&mut program);
    }
    // Which keys are left is known behind these.
    let used = masks::of_equal_masks(&mut program, inputs);
    assume(&mut program, used);
    program
}

fn assume(program: &mut Program, facts: Vec<Assumption>) {
    for fact in facts {
        if !program.assumptions.contains(&fact) {
            program.assumptions.push(fact);
        }
    }
}

/// Specialises the lookups of a table. Returns the facts that they depend on from now on.
fn table(program: &mut Program, id: TableId, nodes: &[NodeId], known: &Known) -> Vec<Fact> {
    let Some(default) = &known.default else { return Vec::new() };
    let inlined = Inlined { table: id, default };
    if known.is_empty && inlined.can_miss(program) {
        inlined.replace(program, nodes, &[]);
        return vec![Fact::Empty, Fact::Default(default.clone())];
    }
    if program.tables[id].profile.is_some() {
        return Vec::new();
    }
    if let Some(entries) = known.entries.as_ref().filter(|entries| inlined.can_compare(program, entries)) {
        inlined.replace(program, nodes, entries);
        return vec![Fact::Entries(entries.clone()), Fact::Default(default.clone())];
    }
    let mut used: Vec<Fact> = narrow_actions(program, id, known).into_iter().collect();
    used.extend(fix_arguments(program, id, known));
    if !used.is_empty() {
        used.push(Fact::Default(default.clone()));
    }
    if let Some(entries) = known.leading.as_ref().filter(|entries| inlined.can_lead(program, entries)) {
        inlined.lead(program, nodes, entries);
        used.push(Fact::Leading(entries.clone()));
    }
    used.extend(drop_keys(program, id, known));
    remove_exits(program, id);
    used
}

/// Empties actions that neither entries nor misses run.
fn narrow_actions(program: &mut Program, id: TableId, known: &Known) -> Option<Fact> {
    let (actions, default) = (known.actions.as_ref()?, known.default.as_ref()?);
    let mut is_used = false;
    for (number, action) in (0u32..).zip(&mut program.tables[id].actions) {
        if number != default.action && !actions.contains(&number) && !action.body.is_empty() {
            action.body.clear();
            is_used = true;
        }
    }
    is_used.then(|| Fact::Actions(actions.clone()))
}

/// Replaces parameters by the arguments that all entries have.
fn fix_arguments(program: &mut Program, id: TableId, known: &Known) -> Vec<Fact> {
    let Some(default) = &known.default else { return Vec::new() };
    let mut used = Vec::new();
    for (action, parameter, value) in &known.arguments {
        let declared = &mut program.tables[id].actions[*action as usize];
        let by_default = default.arguments.get(*parameter as usize).filter(|_| default.action == *action);
        if by_default.is_some_and(|other| other != value) {
            continue;
        }
        let width = declared.parameters[*parameter as usize].width;
        let constant = Expression::Constant { value: value.clone(), width };
        let mut is_used = false;
        inline::replace_parameters(&mut declared.body, &mut |number| {
            is_used |= number == *parameter;
            (number == *parameter).then(|| constant.clone())
        });
        if is_used {
            used.push(Fact::Argument { action: *action, parameter: *parameter, value: value.clone() });
        }
    }
    used
}

/// Replaces keys that no entry distinguishes by a constant.
fn drop_keys(program: &mut Program, id: TableId, known: &Known) -> Vec<Fact> {
    let widths = program.key_kinds(id);
    let mut used = Vec::new();
    for index in &known.any {
        let key = &mut program.tables[id].keys[*index as usize];
        if !matches!(key.value, Expression::Constant { .. }) {
            key.value = Expression::constant(0u32, widths[*index as usize].1);
        }
        used.push(Fact::Any(*index));
    }
    used
}

/// A table node without an action that exits has no edge for it.
fn remove_exits(program: &mut Program, id: TableId) {
    let exits = |body: &[Statement]| {
        let mut found = false;
        body.iter().for_each(|statement| statement.walk(&mut |inner| found |= matches!(inner, Statement::Exit)));
        found
    };
    if program.tables[id].actions.iter().any(|action| exits(&action.body)) {
        return;
    }
    for (_, node) in program.nodes.iter_mut() {
        if let NodeKind::Apply { table, exit, .. } = &mut node.kind
            && *table == id
        {
            *exit = None;
        }
    }
}
