//! Derives the joint table of two lookups from the graph. The rewrite makes it, and the verifier compares.

use super::follow::{Followed, follow};
use super::{Accesses, FirstAction, Join, Known, Objects, SecondKey};
use crate::{
    Action, ActionCall, Call, CounterId, Expression, IdleTimeout, Intrinsic, Key, MatchKind, Meter, MeterId, Next,
    NodeId, NodeKind, Notes, Parameter, Program, RegisterId, Scope, Statement, Table, TableId, visit,
};
use num_bigint::BigUint;
use std::collections::HashSet;
use std::sync::Arc;

/// What a joint table over some actions of the first lookup is.
#[derive(Clone, Debug)]
pub struct Derived {
    pub first: TableId,
    pub second: TableId,
    pub second_node: NodeId,
    pub keys: Vec<SecondKey>,
    /// The key expressions of the joint table, with their names.
    pub joint_keys: Vec<Key>,
    pub firsts: Vec<FirstAction>,
    pub seconds: Vec<u32>,
    pub missed: Vec<u32>,
    pub objects: Objects,
    /// The hidden actions, in the order of [`Join::action`], and where the packet goes on behind each.
    pub actions: Vec<(Action, NodeId)>,
}

/// The node that looks a table up, if there is exactly one.
pub fn node_of(program: &Program, table: TableId) -> Option<NodeId> {
    let is_lookup = |kind: &NodeKind| matches!(kind, NodeKind::Apply { table: found, .. } if *found == table);
    let mut nodes = program.nodes.iter().filter(|(_, node)| is_lookup(&node.kind));
    nodes.next().map(|(node, _)| node).filter(|_| nodes.next().is_none())
}

/// Where a packet goes on that hit an entry with this action.
pub fn target(next: &Next, action: u32) -> NodeId {
    match next {
        Next::Always(to) => *to,
        Next::Hit { hit, .. } => *hit,
        Next::Actions { cases, otherwise } => {
            cases.iter().find(|(case, _)| *case == action).map_or(*otherwise, |(_, to)| *to)
        }
    }
}

/// Where a packet goes on that hit no entry, with this default action.
pub(super) fn missed_target(next: &Next, action: u32) -> NodeId {
    if let Next::Hit { miss, .. } = next { *miss } else { target(next, action) }
}

/// Where a joint table's misses go on: at its first source.
pub fn slow_path(program: &Program, node: NodeId) -> Option<NodeId> {
    let NodeKind::Apply { table, next, .. } = &program.nodes[node].kind else { return None };
    program.join_of(*table)?;
    match next {
        Next::Hit { miss, .. } => Some(*miss),
        Next::Actions { otherwise, .. } => Some(*otherwise),
        Next::Always(_) => None,
    }
}

/// Why a table cannot be a source of a join, whichever the other one is. Its lookups must be free of all that
/// belongs to one entry.
pub fn refusal(program: &Program, id: TableId) -> Option<&'static str> {
    let table = &program.tables[id];
    let mut keys = HashSet::new();
    if table.keys.is_empty() {
        Some("it has no keys")
    } else if table.profile.is_some() {
        Some("its actions come from a profile")
    } else if table.add_on_miss {
        Some("packets insert entries into it")
    } else if table.idle_timeout == Some(IdleTimeout::Delete) {
        Some("its entries are deleted when their time has passed")
    } else if !table.entries.iter().all(|entry| keys.insert((entry.priority, &entry.matches))) {
        Some("two of its own entries have the same key")
    } else if node_of(program, id).is_none() {
        Some("it is not looked up at exactly one node")
    } else if program.join_of(id).is_some_and(|join| join.place.is_some()) {
        Some("it is the table of a value join")
    } else {
        None
    }
}

/// The objects of a program's next joint table, which follow those that it has.
pub(super) fn next_objects(program: &Program, sources: [TableId; 2]) -> Objects {
    let mut registers = (program.registers.len() as u32..).map(|number| RegisterId::from_raw(number.into()));
    let is_aged = |source: TableId| program.tables[source].idle_timeout.is_some();
    Objects {
        misses: Some(CounterId::from_raw((program.counters.len() as u32).into())),
        timers: sources.map(|source| if is_aged(source) { registers.next() } else { None }),
    }
}

/// The joint table of the lookup at `node` and the one behind it, over as many actions as possible. Its
/// objects are those that the program gets next.
///
/// # Errors
/// Why there is none.
pub fn derive(program: &Program, node: NodeId) -> Result<Derived, String> {
    let derive_of = |firsts: &[u32]| derive_of(program, node, firsts, None);
    let NodeKind::Apply { table, .. } = &program.nodes[node].kind else { return Err("it is no lookup".to_string()) };
    let known = Known::at(program, node);
    let all = 0..program.tables[*table].actions.len() as u32;
    let hits: Vec<u32> = all.filter(|action| is_joinable(program, *table, *action)).collect();
    let followed: Vec<(u32, NodeId)> =
        hits.iter().filter_map(|action| Some((*action, follow(program, node, *action, &known)?.node))).collect();
    let Some((_, next)) = followed.first().copied() else {
        return Err("no action leads straight to another lookup".to_string());
    };
    let mut actions: Vec<u32> = followed.iter().filter(|(_, to)| *to == next).map(|(action, _)| *action).collect();
    let everything = derive_of(&actions);
    let Err(refused) = &everything else { return everything };
    // Without the actions that write the second table's key in ways that the entry does not decide.
    actions.retain(|action| derive_of(&[*action]).is_ok());
    match derive_of(&actions) {
        Ok(derived) => Ok(derived),
        Err(_) if actions.len() < 2 => Err(refused.clone()),
        Err(_) => derive_of(&actions[..1]),
    }
}

/// The joint table of the lookup at `node` and the one behind it, over these actions of the first. No objects
/// represent those that the program gets next.
///
/// # Errors
/// Why there is none.
pub fn derive_of(program: &Program, node: NodeId, firsts: &[u32], objects: Option<Objects>) -> Result<Derived, String> {
    let NodeKind::Apply { table: first, .. } = &program.nodes[node].kind else {
        return Err("it is no lookup".to_string());
    };
    let known = Known::at(program, node);
    let mut paths = Vec::new();
    for action in firsts {
        if !is_joinable(program, *first, *action) {
            return Err(format!("action {} may end the packet", name_of(program, *first, *action)));
        }
        let path = follow(program, node, *action, &known);
        paths.push(path.ok_or_else(|| format!("{} leads to no lookup", name_of(program, *first, *action)))?);
    }
    let Some(second_node) = paths.first().map(|path| path.node) else { return Err("no action is left".to_string()) };
    if paths.iter().any(|path| path.node != second_node) {
        return Err("its actions lead to several lookups".to_string());
    }
    let NodeKind::Apply { table: second, next, .. } = &program.nodes[second_node].kind else {
        return Err("no lookup follows".to_string());
    };
    for (id, which) in [(*first, "first"), (*second, "second")] {
        if let Some(why) = refusal(program, id) {
            return Err(format!("the {which} table `{}`: {why}", program.tables[id].name));
        }
    }
    let (keys, joint_keys) = keys(program, (*first, firsts, &paths), *second);
    let refused =
        refused_kinds(program, (*first, *second), &keys).or_else(|| refused_equal_keys(program, *second, &keys));
    if let Some(why) = refused {
        return Err(why);
    }
    let firsts = determined(program, *first, firsts, &paths, (*second, &keys))?;
    let [seconds, missed] = other_halves(program, (*first, firsts.len()), *second, &keys)?;
    let mut objects = objects.unwrap_or_else(|| next_objects(program, [*first, *second]));
    if missed.is_empty() {
        objects.misses = None;
    }
    let mut actions = Vec::new();
    for (one, path) in firsts.iter().zip(&paths) {
        let hidden = |other: u32, is_hit: bool| {
            let of_second = Second { table: *second, action: other, is_hit };
            hidden_action(program, (*first, one.action), &path.between, &of_second, &objects)
        };
        actions.extend(seconds.iter().map(|other| (hidden(*other, true), target(next, *other))));
        actions.extend(missed.iter().map(|other| (hidden(*other, false), missed_target(next, *other))));
    }
    Ok(Derived {
        first: *first,
        second: *second,
        second_node,
        keys,
        joint_keys,
        firsts,
        seconds,
        missed,
        objects,
        actions,
    })
}

/// The actions that hidden actions run behind those of the first table, which are so many: for a hit in the second
/// table, and for a miss.
fn other_halves(
    program: &Program,
    (first, count): (TableId, usize),
    second: TableId,
    keys: &[SecondKey],
) -> Result<[Vec<u32>; 2], String> {
    let all = 0..program.tables[second].actions.len() as u32;
    let seconds: Vec<u32> = all.filter(|action| is_runnable(program, second, *action)).collect();
    let is_decided = keys.iter().all(|key| is_fixed(&program.tables[first].keys, key));
    let missed = if is_decided { defaults(program, second) } else { Vec::new() };
    let hidden = count * (seconds.len() + missed.len());
    if hidden == 0 {
        return Err(no_action(program, second));
    }
    if hidden > Join::MOST_ACTIONS {
        return Err(format!("it would have {hidden} hidden actions, of which {} are possible", Join::MOST_ACTIONS));
    }
    Ok([seconds, missed])
}

/// The actions that hidden actions can run for a miss of the second table.
pub(super) fn defaults(program: &Program, second: TableId) -> Vec<u32> {
    let table = &program.tables[second];
    // A joint table has no misses of its own: its packets take its sources. Others are handed to the control plane.
    if program.join_of(second).is_some() || table.punt_on_miss {
        return Vec::new();
    }
    let may_be = |action: &u32| match table.default_constant {
        true => *action == table.default.action,
        false => table.actions[*action as usize].scope != Scope::TableOnly,
    };
    let runs = |action: &u32| !Accesses::of_statements(program, &table.actions[*action as usize].body).of_entry();
    (0..table.actions.len() as u32).filter(may_be).filter(runs).collect()
}

/// Why the match kinds of two tables forbid a join. A joint table has the match kinds of the first. Where they are
/// not all exact, each entry of the first has exactly one of the joint table, or another entry would match instead.
fn refused_kinds(program: &Program, (first, second): (TableId, TableId), keys: &[SecondKey]) -> Option<String> {
    let name = |table: TableId| &program.tables[table].name;
    if !is_exact(program, second) {
        return Some(format!("the second table `{}`: not all of its keys are exact", name(second)));
    }
    if is_exact(program, first) {
        return None;
    }
    let loose = keys.iter().position(|key| !is_fixed(&program.tables[first].keys, key))?;
    let key = &program.tables[second].keys[loose].name;
    let (first, second) = (name(first), name(second));
    Some(format!(
        "the first table `{first}`: not all of its keys are exact, and its entries do not determine key `{key}` of `{second}`"
    ))
}

/// Why two keys of the second table with the same value forbid a join: an entry that has different values for them
/// matches no packet, but the joint table has the value as one key.
fn refused_equal_keys(program: &Program, second: TableId, keys: &[SecondKey]) -> Option<String> {
    let is_equal = |at: &usize| matches!(keys[*at], SecondKey::Joint(_)) && keys[..*at].contains(&keys[*at]);
    let equal = (0..keys.len()).find(is_equal)?;
    let table = &program.tables[second];
    Some(format!("the second table `{}`: key `{}` has the value of another key", table.name, table.keys[equal].name))
}

/// Why a second table has no part in joint entries.
pub(super) fn no_action(program: &Program, second: TableId) -> String {
    format!("no action of `{}` runs without its entry", program.tables[second].name)
}

/// Whether all keys of a table are exact.
pub(super) fn is_exact(program: &Program, table: TableId) -> bool {
    program.tables[table].keys.iter().all(|key| key.kind == MatchKind::Exact)
}

/// Whether an entry of the first table, which has these keys, decides about a key of the second.
fn is_fixed(first: &[Key], key: &SecondKey) -> bool {
    match key {
        SecondKey::Determined => true,
        SecondKey::Joint(index) => first.get(*index as usize).is_some_and(|key| key.kind == MatchKind::Exact),
    }
}

pub(super) fn name_of(program: &Program, table: TableId, action: u32) -> String {
    let found = program.tables[table].actions.get(action as usize);
    found.map_or("an action that does not exist".to_string(), |action| format!("`{}`", action.name))
}

/// Whether the hidden actions can run an action of the second table.
pub(super) fn is_runnable(program: &Program, table: TableId, action: u32) -> bool {
    let Some(declared) = program.tables[table].actions.get(action as usize) else { return false };
    let is_slow = program.join_of(table).is_some() && action == Join::SLOW;
    !is_slow && declared.scope != Scope::DefaultOnly && !Accesses::of_statements(program, &declared.body).of_entry()
}

/// Whether they can run an action of the first table, behind which the second lookup follows.
fn is_joinable(program: &Program, table: TableId, action: u32) -> bool {
    is_runnable(program, table, action)
        && !Accesses::of_statements(program, &program.tables[table].actions[action as usize].body).ends()
}

/// What a packet does that runs an action: what counts and measures every packet by itself, then the action.
pub(super) fn body_of(program: &Program, table: TableId, action: u32) -> Vec<Statement> {
    let counters = program.counters.iter().filter(|(_, it)| it.table == Some(table) && it.automatic);
    let counts = counters.map(|(counter, _)| Call::Count { counter, index: None });
    let meters = program.meters.iter().filter(|(_, meter)| meter.table == Some(table));
    let colour = |(meter, declared): (MeterId, &Meter)| {
        Some(Call::ExecuteMeter { meter, index: None, colour: None, into: declared.automatic? })
    };
    let automatic = counts.chain(meters.filter_map(colour)).map(Statement::Call);
    automatic.chain(program.tables[table].actions[action as usize].body.iter().cloned()).collect()
}

/// Where the second table's keys come from, and the keys of the joint table.
fn keys(
    program: &Program,
    (first, actions, paths): (TableId, &[u32], &[Followed]),
    second: TableId,
) -> (Vec<SecondKey>, Vec<Key>) {
    let mut written = Accesses::default();
    for (action, path) in actions.iter().zip(paths) {
        written.add(&Accesses::of_statements(program, &body_of(program, first, *action)));
        written.add(&Accesses::of_statements(program, &path.between));
    }
    let mut joint_keys = program.tables[first].keys.clone();
    let mut keys = Vec::new();
    for key in &program.tables[second].keys {
        if written.writes_what_is_read_by(&Accesses::of_expression(&key.value)) {
            keys.push(SecondKey::Determined);
            continue;
        }
        let common = joint_keys.iter().position(|other| other.value == key.value);
        keys.push(SecondKey::Joint(common.unwrap_or(joint_keys.len()) as u32));
        if common.is_none() {
            joint_keys.push(key.clone());
        }
    }
    (keys, joint_keys)
}

/// The values of the determined keys behind each action.
fn determined(
    program: &Program,
    first: TableId,
    actions: &[u32],
    paths: &[Followed],
    (second, keys): (TableId, &[SecondKey]),
) -> Result<Vec<FirstAction>, String> {
    let table = &program.tables[second];
    let is_determined = |(_, key): &(&Key, &SecondKey)| **key == SecondKey::Determined;
    let values: Vec<&Key> = table.keys.iter().zip(keys).filter(is_determined).map(|(key, _)| key).collect();
    let of_action = |(action, path): (&u32, &Followed)| {
        let value = |key: &&Key| -> Result<Expression, String> {
            path.known.closed(program, &key.value).ok_or_else(|| {
                let action = name_of(program, first, *action);
                format!("RAW: behind {action}, key `{}` of `{}` is no function of the entry", key.name, table.name)
            })
        };
        let determined = values.iter().map(value).collect::<Result<Vec<_>, String>>()?;
        Ok(FirstAction { action: *action, determined })
    };
    actions.iter().zip(paths).map(of_action).collect()
}

/// What a hidden action does of the second table.
struct Second {
    table: TableId,
    action: u32,
    /// Or it is the default action of a packet that found no entry.
    is_hit: bool,
}

/// The first table's action, what is between, and the second table's action as one.
fn hidden_action(
    program: &Program,
    (first, one): (TableId, u32),
    between: &[Statement],
    &Second { table: second, action: other, is_hit }: &Second,
    objects: &Objects,
) -> Action {
    let mut body = body_of(program, first, one);
    let mut moved = if is_hit { body_of(program, second, other) } else { missed_body(program, second, other, objects) };
    let widths = |table: TableId, action: u32, has_entry: bool| {
        let index = (program.has_own_records(table) && has_entry).then_some(Join::INDEX_BITS);
        program.tables[table].parameter_widths(action as usize).into_iter().chain(index).collect::<Vec<u32>>()
    };
    let [firsts, seconds] = [widths(first, one, true), widths(second, other, is_hit)];
    let shift = firsts.len() as u32;
    visit::statements(&mut moved, &mut |expression| move_parameters(expression, shift));
    let indices = [shift, shift + seconds.len() as u32].map(|end| end.saturating_sub(1));
    count_at(&mut body, indices[0]);
    count_at(&mut moved, indices[1]);
    let restarted = |timer: Option<RegisterId>, index: u32| Some(restart(timer?, index));
    body.splice(0..0, restarted(objects.timers[0], indices[0]));
    moved.splice(0..0, restarted(objects.timers[1].filter(|_| is_hit), indices[1]));
    let parameter = |(at, width): (usize, &u32)| Parameter {
        name: format!("{}{at}", if at < shift as usize { "first" } else { "second" }),
        width: *width,
        notes: Notes::default(),
    };
    let [one, other] = [(first, one), (second, other)].map(|(id, action)| &program.tables[id].actions[action as usize]);
    Action {
        name: format!("{}+{}{}", one.name, if is_hit { "" } else { "default:" }, other.name),
        parameters: firsts.iter().chain(&seconds).enumerate().map(parameter).collect(),
        body: body.into_iter().chain(between.iter().cloned()).chain(moved).collect(),
        scope: Scope::TableOnly,
        notes: Notes::default(),
    }
}

/// What a miss that runs a default action does: it is counted, and the action counts and measures at the elements of the default action.
pub(super) fn missed_body(program: &Program, table: TableId, action: u32, objects: &Objects) -> Vec<Statement> {
    let mut body = body_of(program, table, action);
    let first = || Expression::Constant { value: BigUint::ZERO, width: Join::INDEX_BITS };
    count_where(&mut body, &first());
    let counted = objects.misses.map(|counter| Statement::Call(Call::Count { counter, index: Some(first()) }));
    counted.into_iter().chain(body).collect()
}

/// Restarts the timer of a source's entry, whose counter index is in this parameter.
pub(super) fn restart(register: RegisterId, index: u32) -> Statement {
    let (index, value) = (Expression::Parameter(index), Expression::Intrinsic(Intrinsic::Clock));
    Statement::Call(Call::WriteRegister { register, index, value })
}

/// Counts and measures at the counter index in this parameter, in place of that of the entry that was hit.
pub(super) fn count_at(body: &mut [Statement], parameter: u32) {
    count_where(body, &Expression::Parameter(parameter));
}

fn count_where(body: &mut [Statement], element: &Expression) {
    visit::calls(body, &mut |call| match call {
        Call::Count { index: index @ None, .. } | Call::ExecuteMeter { index: index @ None, .. } => {
            *index = Some(element.clone());
        }
        Call::Count { .. }
        | Call::ExecuteMeter { .. }
        | Call::ReadRegister { .. }
        | Call::WriteRegister { .. }
        | Call::Hash { .. }
        | Call::AddChecksum { .. }
        | Call::Random { .. }
        | Call::SendDigest { .. }
        | Call::Log { .. }
        | Call::Assert { .. }
        | Call::AddEntry { .. }
        | Call::RestartTimer { .. }
        | Call::Custom { .. } => {}
    });
}

fn move_parameters(expression: &mut Expression, by: u32) {
    match expression {
        Expression::Parameter(index) => *index += by,
        Expression::Unary { operand, .. }
        | Expression::Slice { operand, .. }
        | Expression::Extend { operand, .. }
        | Expression::FromBool(operand) => move_parameters(operand, by),
        Expression::Binary { left, right, .. } => {
            move_parameters(left, by);
            move_parameters(right, by);
        }
        Expression::Choose { condition, then, otherwise } => {
            [condition, then, otherwise].into_iter().for_each(|part| move_parameters(part, by));
        }
        Expression::Bool(_)
        | Expression::Constant { .. }
        | Expression::Variable(_)
        | Expression::Field(_)
        | Expression::Valid(_)
        | Expression::Intrinsic(_)
        | Expression::VarbitLength(_)
        | Expression::VarbitEqual(_, _) => {}
    }
}

impl Derived {
    /// The joint table, with room for `limit` entries.
    pub fn table(&self, program: &Program, limit: u64) -> Table {
        let scope = if self.is_complete() { Scope::Everywhere } else { Scope::DefaultOnly };
        let names = [self.first, self.second].map(|id| program.tables[id].name.as_str());
        hidden_table(names.join("+"), self.joint_keys.clone(), (scope, &self.actions), limit)
    }

    /// Whether each entry of the first table has one of the joint table.
    pub fn is_complete(&self) -> bool {
        self.joint_keys.iter().any(|key| key.kind != MatchKind::Exact)
    }

    /// The edges of the joint table's node, which leads to `slow` where no hidden action has done the work.
    pub fn next(&self, slow: NodeId) -> Next {
        let hit = self.actions[0].1;
        if !self.is_complete() && self.actions.iter().all(|(_, to)| *to == hit) {
            return Next::Hit { hit, miss: slow };
        }
        let cases = self.actions.iter().zip(Join::SLOW + 1..).map(|((_, to), action)| (action, *to)).collect();
        Next::Actions { cases, otherwise: slow }
    }
}

/// A table that only joins have: its hidden actions behind `slow`, which leaves the packet to the sources and is its
/// default.
pub(super) fn hidden_table(
    name: String,
    keys: Vec<Key>,
    (slow, actions): (Scope, &[(Action, NodeId)]),
    limit: u64,
) -> Table {
    let slow = Action {
        name: "slow".to_string(),
        parameters: Vec::new(),
        body: Vec::new(),
        scope: slow,
        notes: Notes::default(),
    };
    Table {
        name,
        keys,
        actions: distinct(std::iter::once(&slow).chain(actions.iter().map(|(action, _)| action))),
        default: ActionCall { action: Join::SLOW, arguments: Vec::new() },
        default_constant: true,
        size: Some(limit),
        entries: Arc::default(),
        entries_constant: false,
        profile: None,
        selector: Vec::new(),
        empty_group: None,
        idle_timeout: None,
        add_on_miss: false,
        punt_on_miss: false,
        notes: Notes::default(),
    }
}

/// The actions with a name of its own each: an action of the program may be called `slow`, and `a+b` then `c` is no
/// other name than `a` then `b+c`. Data planes find actions by name.
fn distinct<'a>(actions: impl Iterator<Item = &'a Action>) -> Vec<Action> {
    let mut names: HashSet<String> = HashSet::new();
    let named = |action: &Action| {
        let mut name = action.name.clone();
        while !names.insert(name.clone()) {
            name.push('+');
        }
        Action { name, ..action.clone() }
    };
    actions.map(named).collect()
}
