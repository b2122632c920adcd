//! Direct meters without rates: every packet that hits an entry is green, and one that misses keeps the colour it has.
//!
//! A meter would keep the lookup and the whole key, since each entry has a bucket of its own.

use super::known::Known;
use hlir::facts::Fact;
use hlir::{Call, Expression, MeterId, Place, Program, Scope, Statement, TableId};
use std::mem;

/// The colour green as a meter puts it.
const GREEN: u32 = 0;

/// Takes a table's direct meters out of the program. Returns the facts that its actions depend on from now on.
pub(super) fn without_rates(program: &mut Program, id: TableId, known: &Known) -> Vec<Fact> {
    let meters: Vec<MeterId> = of_table(program, id);
    let Some(default) = known.default.as_ref().filter(|_| known.is_unmetered && !meters.is_empty()) else {
        return Vec::new();
    };
    let is_used = uses_any(program, &meters, id, default.action);
    // An action that both entries and misses run would have to do either.
    let table = &program.tables[id];
    let runs_in_entries = table.actions[default.action as usize].scope != Scope::DefaultOnly;
    let is_both = runs_in_entries && known.actions.as_ref().is_none_or(|actions| actions.contains(&default.action));
    let automatic: Vec<Place> = meters.iter().filter_map(|meter| program.meters[*meter].automatic).collect();
    if uses_elsewhere(program, &meters, id) || is_both && (is_used || !automatic.is_empty()) {
        return Vec::new();
    }
    let green: Vec<Statement> = automatic.iter().map(|place| assign_green(program, *place)).collect();
    for action in 0..program.tables[id].actions.len() {
        let is_miss = action as u32 == default.action;
        let mut body = mem::take(&mut program.tables[id].actions[action].body);
        fold(program, &mut body, &meters, is_miss);
        let green = if is_miss { Vec::new() } else { green.clone() };
        program.tables[id].actions[action].body = green.into_iter().chain(body).collect();
    }
    for meter in meters {
        let meter = &mut program.meters[meter];
        (meter.table, meter.automatic, meter.size) = (None, None, 1);
    }
    let mut facts = vec![Fact::Unmetered, Fact::Default(default.clone())];
    if runs_in_entries && !is_both {
        let only = known.actions.clone().filter(|_| !known.is_empty);
        facts.push(only.map_or(Fact::Empty, Fact::Actions));
    }
    facts
}

fn of_table(program: &Program, id: TableId) -> Vec<MeterId> {
    program.meters.iter().filter(|(_, meter)| meter.table == Some(id)).map(|(meter, _)| meter).collect()
}

/// Whether an action of the table executes one of the meters.
fn uses_any(program: &Program, meters: &[MeterId], id: TableId, action: u32) -> bool {
    let mut body = program.tables[id].actions[action as usize].body.clone();
    let mut found = false;
    hlir::visit::calls(&mut body, &mut |call| {
        found |= matches!(call, Call::ExecuteMeter { meter, .. } if meters.contains(meter));
    });
    found
}

/// Whether something else than the table's own actions executes one of the meters, or these name an entry.
fn uses_elsewhere(program: &Program, meters: &[MeterId], id: TableId) -> bool {
    let mut found = false;
    let mut search = |body: &[Statement], is_own: bool| {
        hlir::visit::calls(&mut body.to_vec(), &mut |call| {
            if let Call::ExecuteMeter { meter, index, .. } = call {
                found |= meters.contains(meter) && !(is_own && index.is_none());
            }
        });
    };
    for (table, declared) in program.tables.iter() {
        declared.actions.iter().for_each(|action| search(&action.body, table == id));
    }
    program.nodes.values().for_each(|node| search(node.kind.body(), false));
    found
}

/// Puts green in the place of each execution of the meters, or nothing where a packet has missed.
fn fold(program: &Program, body: &mut Vec<Statement>, meters: &[MeterId], is_miss: bool) {
    let executes = |statement: &Statement| matches!(statement, Statement::Call(Call::ExecuteMeter { meter, .. }) if meters.contains(meter));
    body.retain(|statement| !(is_miss && executes(statement)));
    for statement in body {
        if let Statement::Call(Call::ExecuteMeter { meter, into, .. }) = statement
            && meters.contains(meter)
        {
            *statement = assign_green(program, *into);
        }
        hlir::visit::nested(statement, &mut |body| fold(program, body, meters, is_miss));
    }
}

fn assign_green(program: &Program, target: Place) -> Statement {
    let width = program.place_type(target).width();
    Statement::Assign { target, value: Expression::constant(GREEN, width) }
}
