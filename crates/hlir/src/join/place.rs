//! Value joins: the entry of the first table gives the whole key of the second, so its record also has the *place* of
//! that key, and the second lookup is one access to an array.
//!
//! Each key that an entry of the first table gives has a place of its own. The table of the join has at this place what
//! the second table does with the key: of its entry, or of its default action. Where it has nothing, the packet goes on
//! at the second table, as if there were no join. So a place may be missing at any time, in a record or in the table,
//! and only a stale one would be wrong.

use super::derive::{
    body_of, count_at, defaults, hidden_table, is_exact, is_runnable, missed_body, missed_target, name_of,
    next_objects, no_action, restart,
};
use super::{Accesses, FirstAction, Join, Known, Objects, node_of, refusal, target};
use crate::{
    Action, Effect, Expression, Key, MatchKind, Next, Node, NodeId, NodeKind, Notes, Parameter, Place, Program,
    RegisterId, Scope, Statement, Table, TableId, VariableId,
};
use num_bigint::BigUint;
use std::collections::HashMap;

/// What a value join of two lookups is.
#[derive(Clone, Debug)]
pub struct Placed {
    pub first: TableId,
    pub second: TableId,
    pub second_node: NodeId,
    /// Actions of the first table that give the second's key. Behind others, packets take the second lookup.
    pub firsts: Vec<FirstAction>,
    pub seconds: Vec<u32>,
    /// Actions that may be the second table's default.
    pub missed: Vec<u32>,
    pub objects: Objects,
    /// The hidden actions, in the order of `seconds` and `missed`, and where the packet goes on behind each.
    pub actions: Vec<(Action, NodeId)>,
}

/// The value join of two tables. `entered` is the node by which packets come to the second lookup: its own, or that of
/// the join, which precedes it. No objects represent those that the program gets next.
///
/// # Errors
/// Why there is none.
pub fn derive_places(
    program: &Program,
    [first, second]: [TableId; 2],
    entered: NodeId,
    objects: Option<Objects>,
) -> Result<Placed, String> {
    let name = |table: TableId| &program.tables[table].name;
    if !is_exact(program, second) {
        return Err(format!("the second table `{}`: not all of its keys are exact", name(second)));
    }
    // Of all pairs of tables, few pass this.
    let firsts = firsts(program, first, second)?;
    for (id, which) in [(first, "first"), (second, "second")] {
        if let Some(why) = refusal(program, id) {
            return Err(format!("the {which} table `{}`: {why}", name(id)));
        }
        if program.join_of(id).is_some() {
            return Err(format!("the {which} table `{}` is a joint table", name(id)));
        }
    }
    let [Some(first_node), Some(second_node)] = [first, second].map(|table| node_of(program, table)) else {
        return Err("a table is not looked up at exactly one node".to_string());
    };
    let NodeKind::Apply { next, .. } = &program.nodes[second_node].kind else {
        return Err("no lookup follows".to_string());
    };
    let between = between(program, (first, first_node), (second, entered))?;
    let mut read = Accesses::default();
    program.tables[second].keys.iter().for_each(|key| read.add(&Accesses::of_expression(&key.value)));
    if let Some(node) =
        between.iter().find(|node| writes(program, &program.nodes[**node]).writes_what_is_read_by(&read))
    {
        let (node, first) = (&program.nodes[*node].name, name(first));
        return Err(format!("RAW: `{node}` writes the key of `{}` behind `{first}`", name(second)));
    }
    let all = 0..program.tables[second].actions.len() as u32;
    let seconds: Vec<u32> = all.filter(|action| is_runnable(program, second, *action)).collect();
    if seconds.is_empty() {
        return Err(no_action(program, second));
    }
    let missed = defaults(program, second);
    let mut objects = objects.unwrap_or_else(|| Objects {
        // The first table's entries are hit as always.
        timers: [None, next_objects(program, [second; 2]).timers[0]],
        ..next_objects(program, [first, second])
    });
    if missed.is_empty() {
        objects.misses = None;
    }
    let hit = |other: &u32| (hit_action(program, second, *other, objects.timers[1]), target(next, *other));
    let miss = |other: &u32| (missed_action(program, second, *other, &objects), missed_target(next, *other));
    let actions = seconds.iter().map(hit).chain(missed.iter().map(miss)).collect();
    Ok(Placed { first, second, second_node, firsts, seconds, missed, objects, actions })
}

/// The actions of the first table behind which all keys of the second follow from the entry.
fn firsts(program: &Program, first: TableId, second: TableId) -> Result<Vec<FirstAction>, String> {
    let (mut firsts, mut refused) = (Vec::new(), None);
    let keys = &program.tables[second].keys;
    for (action, declared) in (0..).zip(&program.tables[first].actions) {
        if Accesses::of_statements(program, &declared.body).ends() {
            continue;
        }
        let mut known = Known::default();
        known.run(program, &body_of(program, first, action));
        let values: Vec<Option<Expression>> = keys.iter().map(|key| known.closed(program, &key.value)).collect();
        match values.iter().position(Option::is_none) {
            None => firsts.push(FirstAction { action, determined: values.into_iter().flatten().collect() }),
            Some(at) => {
                let (action, key) = (name_of(program, first, action), &keys[at].name);
                let second = &program.tables[second].name;
                let why = format!("RAW: behind {action}, key `{key}` of `{second}` is no function of the entry");
                refused.get_or_insert(why);
            }
        }
    }
    match refused {
        _ if !firsts.is_empty() => Ok(firsts),
        Some(why) => Err(why),
        None => Err(format!("no action of `{}` goes on to the second lookup", program.tables[first].name)),
    }
}

/// The nodes by which packets come from the lookup in the first table to `entered`.
///
/// # Errors
/// Packets come there without that lookup, or cannot be followed.
pub fn between(
    program: &Program,
    (first, first_node): (TableId, NodeId),
    (second, entered): (TableId, NodeId),
) -> Result<Vec<NodeId>, String> {
    let [first, second] = [first, second].map(|table| &program.tables[table].name);
    let (mut between, mut waiting, mut is_behind) = (Vec::new(), vec![entered], false);
    let mut before: HashMap<NodeId, Vec<NodeId>> = HashMap::new();
    for (id, node) in program.nodes.iter() {
        node.own_successors().into_iter().for_each(|to| before.entry(to).or_default().push(id));
    }
    let mut enters_elsewhere = false;
    while let Some(at) = waiting.pop() {
        enters_elsewhere |= enters(program, at, entered);
        for id in before.get(&at).into_iter().flatten() {
            if *id == first_node {
                is_behind = true;
            } else if !between.contains(id) {
                between.push(*id);
                waiting.push(*id);
            }
        }
    }
    if !is_behind {
        return Err(format!("`{second}` does not follow `{first}`"));
    }
    if enters_elsewhere {
        return Err(format!("packets come to `{second}` without a lookup in `{first}`"));
    }
    Ok(between)
}

/// Whether packets come to a node otherwise than by an edge between lookups: they enter the program there, leave a
/// parser or a buffering manager. Packets that the control plane resumes at `second` do not pass the join.
fn enters(program: &Program, at: NodeId, second: NodeId) -> bool {
    let of_parser = program.parsers.values().any(|parser| [parser.start, parser.accept, parser.reject].contains(&at));
    let leads_here = |node: &Node| match &node.kind {
        NodeKind::Buffer { rules, otherwise } => {
            let resumes = |effect: &Effect| matches!(effect, Effect::Punt { .. }) && at == second;
            let mut effects = rules.iter().map(|rule| &rule.effect).filter(|effect| !resumes(effect));
            *otherwise == Some(at) || effects.any(|effect| effect.target() == Some(at))
        }
        NodeKind::State { .. } | NodeKind::Deparse { .. } => node.successors().contains(&at),
        NodeKind::Block { .. } | NodeKind::Branch { .. } | NodeKind::Apply { .. } => false,
    };
    program.entry == Some(at) || of_parser || program.nodes.values().any(leads_here)
}

/// What a packet does at a node.
fn writes(program: &Program, node: &Node) -> Accesses {
    match &node.kind {
        NodeKind::Apply { table, .. } => Accesses::of_table(program, *table),
        NodeKind::Block { body, .. } | NodeKind::State { body, .. } | NodeKind::Deparse { body, .. } => {
            Accesses::of_statements(program, body)
        }
        NodeKind::Branch { .. } | NodeKind::Buffer { .. } => Accesses::default(),
    }
}

/// What a hit in the second table does, and with a counter index as data what belongs to its entry.
fn hit_action(program: &Program, table: TableId, action: u32, timer: Option<RegisterId>) -> Action {
    let mut body = body_of(program, table, action);
    let has_index = program.has_own_records(table);
    let index = has_index.then_some(Join::INDEX_BITS);
    let widths: Vec<u32> = program.tables[table].parameter_widths(action as usize).into_iter().chain(index).collect();
    let last = widths.len().saturating_sub(1) as u32;
    if has_index {
        count_at(&mut body, last);
    }
    body.splice(0..0, timer.map(|timer| restart(timer, last)));
    hidden_action(program.tables[table].actions[action as usize].name.clone(), &widths, body)
}

/// What a miss of the second table does: its default action, with the data of that.
fn missed_action(program: &Program, table: TableId, action: u32, objects: &Objects) -> Action {
    let name = format!("default:{}", program.tables[table].actions[action as usize].name);
    let widths = program.tables[table].parameter_widths(action as usize);
    hidden_action(name, &widths, missed_body(program, table, action, objects))
}

fn hidden_action(name: String, widths: &[u32], body: Vec<Statement>) -> Action {
    let parameter =
        |(at, width): (usize, &u32)| Parameter { name: format!("second{at}"), width: *width, notes: Notes::default() };
    let (scope, notes) = (Scope::TableOnly, Notes::default());
    Action { name, parameters: widths.iter().enumerate().map(parameter).collect(), body, scope, notes }
}

/// What each action of the first table begins with: its place is this parameter, or there is none.
pub fn set_place(place: VariableId, width: u32, parameter: Option<u32>) -> Statement {
    let none = Expression::Constant { value: BigUint::ZERO, width };
    let value = parameter.map_or(none, Expression::Parameter);
    Statement::Assign { target: Place::Variable(place), value }
}

impl Placed {
    /// The table of the join, with so many places.
    pub fn table(&self, program: &Program, place: VariableId, limit: u64) -> Table {
        let names = [self.first, self.second].map(|id| program.tables[id].name.as_str());
        let key = Key {
            value: Expression::Variable(place),
            kind: MatchKind::Exact,
            name: program.variables[place].name.clone(),
            notes: Notes::default(),
        };
        hidden_table(names.join(">"), vec![key], (Scope::DefaultOnly, &self.actions), limit)
    }

    /// The edges of its node: where it has nothing, the packet goes on at the second table.
    pub fn next(&self) -> Next {
        let hit = self.actions[0].1;
        if self.actions.iter().all(|(_, to)| *to == hit) {
            return Next::Hit { hit, miss: self.second_node };
        }
        let cases = self.actions.iter().zip(Join::SLOW + 1..).map(|((_, to), action)| (action, *to)).collect();
        Next::Actions { cases, otherwise: self.second_node }
    }
}
