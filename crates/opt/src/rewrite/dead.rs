//! Dead code elimination: assignments to variables without readers, empty nodes, and unreachable nodes.
//!
//! Lowering gives a variable to every metadata field and every temporary; most programs read few of them. A
//! removed variable needs no room in the packet's state and no copy when the packet enters again.

use crate::{Inputs, visit};
use hlir::{
    Call, Effect, Expression, Keep, Next, Node, NodeId, NodeKind, Place, Program, Statement, Table, TableId, VariableId,
};
use std::collections::{HashMap, HashSet};

pub fn remove(program: &mut Program, _: &Inputs) {
    remove_unreachable(program);
    let unused = take_unused(program);
    while remove_assignments(program) {}
    for (id, table) in unused {
        program.tables[id] = table;
    }
    remove_empty(program);
}

/// Removes blocks without statements, branches that decide nothing, and what no packet reaches then.
pub(super) fn remove_empty(program: &mut Program) {
    skip_empty_blocks(program);
    while merge_branches(program) {
        skip_empty_blocks(program);
    }
    remove_unreachable(program);
}

/// Takes out the tables that no packet comes to: what their keys and actions read has no reader for that. They are left to
/// controllers, who may write to them.
fn take_unused(program: &mut Program) -> Vec<(TableId, Table)> {
    let applied = |node: &Node| match node.kind {
        NodeKind::Apply { table, .. } => Some(table),
        NodeKind::State { .. }
        | NodeKind::Block { .. }
        | NodeKind::Branch { .. }
        | NodeKind::Deparse { .. }
        | NodeKind::Buffer { .. } => None,
    };
    let used: HashSet<TableId> = program.nodes.values().filter_map(applied).collect();
    let unused: Vec<TableId> = program.tables.iter().map(|(id, _)| id).filter(|id| !used.contains(id)).collect();
    let take = |id: TableId| {
        let table = &mut program.tables[id];
        let empty = Table { keys: Vec::new(), actions: Vec::new(), selector: Vec::new(), ..table.clone() };
        (id, std::mem::replace(table, empty))
    };
    unused.into_iter().map(take).collect()
}

/// Removes assignments to variables without readers. Returns whether there were any: others may have lost
/// their last reader then.
fn remove_assignments(program: &mut Program) -> bool {
    let read = read_variables(program);
    let mut removed = false;
    visit::bodies(program, &mut |body| removed |= sweep(body, &read));
    for (_, node) in program.nodes.iter_mut() {
        if let NodeKind::Buffer { rules, .. } = &mut node.kind {
            for rule in rules {
                removed |= sweep_effect(&mut rule.effect, &read);
            }
        }
    }
    removed
}

/// Variables whose values matter: what conditions, keys, headers and calls with effects read, and what is read for the value of
/// such a variable. A copy that keeps a variable is no reader.
fn read_variables(program: &mut Program) -> HashSet<VariableId> {
    let (mut read, mut needs) = (HashSet::new(), Needs::new());
    visit::outside_bodies(program, &mut |expression| read.extend(variables(expression)));
    visit::bodies(program, &mut |body| readers(body, &mut read, &mut needs));
    let mut waiting: Vec<VariableId> = read.iter().copied().collect();
    while let Some(variable) = waiting.pop() {
        let of_value = needs.remove(&variable).unwrap_or_default();
        waiting.extend(of_value.into_iter().filter(|one| read.insert(*one)));
    }
    read
}

/// By variable: what the statements read that do nothing but assign it. A variable that only its own next value needs has
/// no reader.
type Needs = HashMap<VariableId, HashSet<VariableId>>;

fn readers(body: &mut [Statement], read: &mut HashSet<VariableId>, needs: &mut Needs) {
    for statement in body {
        if let Statement::If { condition, .. } = statement {
            read.extend(variables(condition));
        }
        let mut has_nested = false;
        visit::nested(statement, &mut |body| {
            has_nested = true;
            readers(body, read, needs);
        });
        if has_nested {
            continue;
        }
        let readers = match assigned(statement) {
            Some(variable) => needs.entry(variable).or_default(),
            None => &mut *read,
        };
        if let Statement::Call(call) = &*statement {
            readers.extend(visit::call_reads(call).into_iter().filter_map(variable_of));
        }
        visit::statements(std::slice::from_mut(statement), &mut |expression| readers.extend(variables(expression)));
    }
}

fn variables(expression: &Expression) -> HashSet<VariableId> {
    let mut found = HashSet::new();
    expression.walk(&mut |part| {
        if let Expression::Variable(variable) = part {
            found.insert(*variable);
        }
    });
    found
}

/// The variable that a statement assigns, if it does nothing else.
fn assigned(statement: &Statement) -> Option<VariableId> {
    if let Statement::Assign { target: place, .. }
    | Statement::Call(Call::ReadRegister { into: place, .. } | Call::Hash { into: place, .. }) = statement
    {
        variable_of(*place)
    } else {
        None
    }
}

fn variable_of(place: Place) -> Option<VariableId> {
    match place {
        Place::Variable(variable) => Some(variable),
        Place::Field(_) => None,
    }
}

fn is_unread(place: Place, read: &HashSet<VariableId>) -> bool {
    variable_of(place).is_some_and(|variable| !read.contains(&variable))
}

fn sweep(body: &mut Vec<Statement>, read: &HashSet<VariableId>) -> bool {
    let before = body.len();
    body.retain(|statement| !is_dead(statement, read));
    let mut removed = body.len() < before;
    for statement in body.iter_mut() {
        visit::nested(statement, &mut |body| removed |= sweep(body, read));
    }
    removed
}

/// Whether a statement has no effect. A lookahead may fail, so it stays; so do calls with state.
fn is_dead(statement: &Statement, read: &HashSet<VariableId>) -> bool {
    if let Statement::If { then, otherwise, .. } = statement {
        return then.is_empty() && otherwise.is_empty();
    }
    if let Statement::Scope { body, .. } = statement {
        return body.is_empty();
    }
    assigned(statement).is_some_and(|variable| !read.contains(&variable))
}

/// Removes assignments and kept variables of a copy that have no readers.
fn sweep_effect(effect: &mut Effect, read: &HashSet<VariableId>) -> bool {
    let (set, keep) = match effect {
        Effect::Unicast { set, .. } => (set, None),
        Effect::Replicate { copy, .. }
        | Effect::Clone { copy, .. }
        | Effect::Resubmit { copy }
        | Effect::Recirculate { copy } => (&mut copy.set, Some(&mut copy.keep)),
        Effect::Drop { .. } | Effect::Send { .. } | Effect::Punt { .. } => return false,
    };
    let before = set.len();
    set.retain(|(place, _)| !is_unread(*place, read));
    if let Some(Keep::Only(kept)) = keep {
        kept.retain(|variable| read.contains(variable));
    }
    set.len() < before
}

/// Redirects edges past empty blocks.
fn skip_empty_blocks(program: &mut Program) {
    let skips: HashMap<NodeId, NodeId> =
        program.nodes.iter().filter_map(|(id, node)| Some((id, skip(node)?))).collect();
    let resolve = |mut id: NodeId| {
        // There is no cycle of empty blocks: edges between blocks lead forward.
        while let Some(next) = skips.get(&id) {
            id = *next;
        }
        id
    };
    for (_, node) in program.nodes.iter_mut() {
        redirect(&mut node.kind, &resolve);
    }
    for (_, parser) in program.parsers.iter_mut() {
        parser.accept = resolve(parser.accept);
        parser.reject = resolve(parser.reject);
    }
    program.entry = program.entry.map(resolve);
}

fn skip(node: &Node) -> Option<NodeId> {
    match &node.kind {
        NodeKind::Block { body, next, .. } => body.is_empty().then_some(*next),
        NodeKind::State { .. }
        | NodeKind::Branch { .. }
        | NodeKind::Apply { .. }
        | NodeKind::Deparse { .. }
        | NodeKind::Buffer { .. } => None,
    }
}

/// Replaces branches with equal targets by empty blocks. Returns whether there were any.
fn merge_branches(program: &mut Program) -> bool {
    let mut merged = false;
    for (_, node) in program.nodes.iter_mut() {
        if let NodeKind::Branch { then, otherwise, .. } = &node.kind
            && then == otherwise
        {
            node.kind = NodeKind::Block { body: Vec::new(), next: *then, exit: None };
            merged = true;
        }
    }
    merged
}

/// Replaces every target of an edge.
pub(super) fn redirect(kind: &mut NodeKind, resolve: &impl Fn(NodeId) -> NodeId) {
    match kind {
        NodeKind::State { select, .. } => {
            select.cases.iter_mut().for_each(|case| case.to = resolve(case.to));
            select.otherwise = select.otherwise.map(resolve);
        }
        NodeKind::Block { next, exit, .. } => {
            *next = resolve(*next);
            *exit = exit.map(resolve);
        }
        NodeKind::Branch { then, otherwise, .. } => {
            *then = resolve(*then);
            *otherwise = resolve(*otherwise);
        }
        NodeKind::Apply { next, exit, .. } => {
            redirect_next(next, resolve);
            *exit = exit.map(resolve);
        }
        NodeKind::Deparse { next, .. } => *next = resolve(*next),
        NodeKind::Buffer { rules, otherwise } => {
            for rule in rules {
                match &mut rule.effect {
                    Effect::Unicast { to, .. } => *to = resolve(*to),
                    Effect::Replicate { copy, .. }
                    | Effect::Clone { copy, .. }
                    | Effect::Resubmit { copy }
                    | Effect::Recirculate { copy } => copy.to = resolve(copy.to),
                    Effect::Punt { resume, .. } => *resume = resolve(*resume),
                    Effect::Drop { .. } | Effect::Send { .. } => {}
                }
            }
            *otherwise = otherwise.map(resolve);
        }
    }
}

fn redirect_next(next: &mut Next, resolve: &impl Fn(NodeId) -> NodeId) {
    match next {
        Next::Always(to) => *to = resolve(*to),
        Next::Hit { hit, miss } => {
            *hit = resolve(*hit);
            *miss = resolve(*miss);
        }
        Next::Actions { cases, otherwise } => {
            cases.iter_mut().for_each(|(_, to)| *to = resolve(*to));
            *otherwise = resolve(*otherwise);
        }
    }
}

/// Keeps the reachable nodes, in order. Nodes that a parser names stay, since its text needs them.
fn remove_unreachable(program: &mut Program) {
    let Some(entry) = program.entry else { return };
    let mut reached = HashSet::new();
    let mut waiting = vec![entry];
    while let Some(id) = waiting.pop() {
        if reached.insert(id) {
            let node = &program.nodes[id];
            waiting.extend(node.successors());
            if let Some(parser) = node.parser() {
                let parser = &program.parsers[parser];
                waiting.extend([parser.start, parser.accept, parser.reject]);
            }
        }
    }
    for (_, parser) in program.parsers.iter() {
        waiting.extend([parser.start, parser.accept, parser.reject]);
    }
    if waiting.iter().any(|id| !reached.contains(id)) || reached.len() == program.nodes.len() {
        return;
    }
    let mut kept = la_arena::Arena::new();
    let mut moved = HashMap::new();
    for (id, node) in program.nodes.iter().filter(|(id, _)| reached.contains(id)) {
        moved.insert(id, kept.alloc(node.clone()));
    }
    let resolve = |id: NodeId| moved[&id];
    for (_, node) in kept.iter_mut() {
        redirect(&mut node.kind, &resolve);
    }
    for (_, parser) in program.parsers.iter_mut() {
        parser.start = resolve(parser.start);
        parser.accept = resolve(parser.accept);
        parser.reject = resolve(parser.reject);
    }
    program.entry = program.entry.map(resolve);
    program.nodes = kept;
}
