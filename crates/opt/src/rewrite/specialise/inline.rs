//! Lookups without a table: the default action where there are no entries, comparisons where there are few. And lookups
//! behind comparisons with the entries that most packets hit.

use super::known::is_neutral;
use super::tally;
use crate::rewrite::join::graph;
use hlir::entry::EntryAction;
use hlir::{
    ActionCall, Binary, Call, CounterId, Entry, Expression, Match, Next, Node, NodeId, NodeKind, Notes, Program,
    Statement, TableId,
};
use num_bigint::BigUint;

/// A table whose lookups are replaced.
pub(super) struct Inlined<'k> {
    pub table: TableId,
    pub default: &'k ActionCall,
}

impl Inlined<'_> {
    /// Whether its misses need no table: direct meters do, and so do entries that an action inserts.
    pub fn can_miss(&self, program: &Program) -> bool {
        let is_metered = program.meters.values().any(|meter| meter.table == Some(self.table));
        !is_metered && is_free(program, self.table, self.default)
    }

    /// Whether entries can be compared in code: none has a meter or a timer of its own.
    pub fn can_compare(&self, program: &Program, entries: &[Entry]) -> bool {
        let call =
            |entry: &Entry| matches!(&entry.action, EntryAction::Call(call) if is_free(program, self.table, call));
        let has_timers = program.tables[self.table].idle_timeout.is_some();
        !has_timers && entries.iter().all(call) && self.can_miss(program)
    }

    /// Replaces all lookups by the default action, or by comparisons with the entries, those that win first.
    ///
    /// Hits and misses are counted where packets go on. What direct counters count goes on in counters with an index for misses,
    /// and one behind that for each entry. Controllers find it there.
    pub fn replace(&self, program: &mut Program, nodes: &[NodeId], entries: &[Entry]) {
        let counters = program.counters.iter().filter(|(_, counter)| counter.table == Some(self.table));
        let counters: Vec<_> = counters.map(|(id, counter)| (id, counter.automatic)).collect();
        let automatic: Vec<CounterId> = counters.iter().filter(|(_, is)| *is).map(|(id, _)| *id).collect();
        nodes.iter().for_each(|node| self.compare(program, *node, entries, &automatic));
        for (id, _) in counters {
            let counter = &mut program.counters[id];
            (counter.table, counter.size, counter.automatic) = (None, 1 + entries.len() as u64, false);
        }
    }

    /// Whether entries can be compared before the lookup: direct counters would be in two places.
    pub fn can_lead(&self, program: &Program, entries: &[Entry]) -> bool {
        let has_counters = program.counters.values().any(|counter| counter.table == Some(self.table));
        !has_counters && program.tables[self.table].profile.is_none() && self.can_compare(program, entries)
    }

    /// Compares the key with entries before all lookups, in their order.
    pub fn lead(&self, program: &mut Program, nodes: &[NodeId], entries: &[Entry]) {
        for node in nodes {
            let lookup = program.nodes[*node].kind.clone();
            self.chain(program, *node, entries, (&[], lookup));
        }
    }

    fn compare(&self, program: &mut Program, node: NodeId, entries: &[Entry], automatic: &[CounterId]) {
        let NodeKind::Apply { next, exit, .. } = program.nodes[node].kind.clone() else { return };
        let to = target(&next, false, self.default.action);
        let missed = tally::of(program, self.table, false);
        let rest = block(after(missed, self.counted(program, self.default, 0, automatic)), to, exit);
        self.chain(program, node, entries, (automatic, rest));
    }

    /// Replaces a lookup by comparisons, each behind the one before, with something behind the last.
    fn chain(
        &self,
        program: &mut Program,
        node: NodeId,
        entries: &[Entry],
        (automatic, mut rest): (&[CounterId], NodeKind),
    ) {
        let NodeKind::Apply { next, exit, .. } = program.nodes[node].kind.clone() else { return };
        let name = program.nodes[node].name.clone();
        for (index, entry) in entries.iter().enumerate().rev() {
            let EntryAction::Call(call) = &entry.action else { continue };
            let hit = tally::of(program, self.table, true);
            let body = self.counted(program, call, index as u32 + 1, automatic);
            let hit = block(after(hit, body), target(&next, true, call.action), exit);
            let then = self.add(program, format!("{name}.entry_{}", index + 1), hit);
            let otherwise = self.add(program, format!("{name}.not_{}", index + 1), rest);
            rest = NodeKind::Branch { condition: self.condition(program, entry), then, otherwise };
        }
        program.nodes[node].kind = rest;
    }

    pub(super) fn add(&self, program: &mut Program, name: String, kind: NodeKind) -> NodeId {
        let names: Vec<String> = program.nodes.values().map(|node| node.name.clone()).collect();
        program.nodes.alloc(Node { name: graph::unique(name, &names), kind, notes: Notes::default() })
    }

    /// An action with its data, and what counts it: at this index of the table's counters.
    pub(super) fn counted(
        &self,
        program: &Program,
        call: &ActionCall,
        index: u32,
        automatic: &[CounterId],
    ) -> Vec<Statement> {
        let index = || Some(Expression::constant(index, 32));
        let count = |counter: &CounterId| Statement::Call(Call::Count { counter: *counter, index: index() });
        let mut body: Vec<Statement> = automatic.iter().map(count).collect();
        body.extend(self.body(program, call));
        hlir::visit::calls(&mut body, &mut |call| {
            if let Call::Count { index: place @ None, .. } = call {
                *place = index();
            }
        });
        body
    }

    /// An action with its data.
    fn body(&self, program: &Program, call: &ActionCall) -> Vec<Statement> {
        let action = &program.tables[self.table].actions[call.action as usize];
        let mut body = action.body.clone();
        replace_parameters(&mut body, &mut |number| {
            let value = call.arguments[number as usize].clone();
            Some(Expression::Constant { value, width: action.parameters[number as usize].width })
        });
        body
    }

    /// Whether an entry matches.
    fn condition(&self, program: &Program, entry: &Entry) -> Expression {
        let kinds = program.key_kinds(self.table);
        let keys = program.tables[self.table].keys.iter().zip(&entry.matches).zip(kinds);
        let compared = keys.filter(|((_, found), (kind, _))| !is_neutral(*kind, found));
        let conditions = compared.map(|((key, found), (_, width))| matches(&key.value, found, width));
        let all = conditions.reduce(|left, right| Expression::binary(Binary::LogicalAnd, left, right));
        all.unwrap_or(Expression::Bool(true))
    }
}

/// Whether an action does nothing that needs its table: counters are the caller's concern.
fn is_free(program: &Program, table: TableId, call: &ActionCall) -> bool {
    let mut body = program.tables[table].actions[call.action as usize].body.clone();
    let mut is_free = true;
    hlir::visit::calls(&mut body, &mut |call| {
        is_free &=
            !matches!(call, Call::AddEntry { .. } | Call::RestartTimer { .. } | Call::ExecuteMeter { index: None, .. });
    });
    is_free
}

/// A body behind a statement.
pub(super) fn after(first: Statement, body: Vec<Statement>) -> Vec<Statement> {
    std::iter::once(first).chain(body).collect()
}

pub(super) fn block(body: Vec<Statement>, next: NodeId, exit: Option<NodeId>) -> NodeKind {
    let mut exits = false;
    body.iter().for_each(|statement| statement.walk(&mut |inner| exits |= matches!(inner, Statement::Exit)));
    NodeKind::Block { body, next, exit: exit.filter(|_| exits) }
}

/// Where a packet goes on.
pub(super) fn target(next: &Next, is_hit: bool, action: u32) -> NodeId {
    match next {
        Next::Always(to) => *to,
        Next::Hit { hit, miss } => {
            if is_hit {
                *hit
            } else {
                *miss
            }
        }
        Next::Actions { cases, otherwise } => {
            cases.iter().find(|(case, _)| *case == action).map_or(*otherwise, |(_, to)| *to)
        }
    }
}

/// Whether a key of `width` bits matches.
fn matches(key: &Expression, found: &Match, width: u32) -> Expression {
    let constant = |value: &BigUint| Expression::Constant { value: value.clone(), width };
    let compare = |operator, left: Expression, right: &BigUint| Expression::binary(operator, left, constant(right));
    match found {
        Match::Any => Expression::Bool(true),
        Match::Exact(value) => compare(Binary::Equal, key.clone(), value),
        Match::Lpm { value, prefix } => {
            let low = width - prefix;
            let top = Expression::Constant { value: value >> low, width: *prefix };
            Expression::binary(Binary::Equal, Expression::slice(key.clone(), width - 1, low), top)
        }
        Match::Ternary { value, mask } => {
            let masked = Expression::binary(Binary::And, key.clone(), constant(mask));
            compare(Binary::Equal, masked, &(value & mask))
        }
        Match::Range { low, high } => {
            let above = compare(Binary::GreaterEqual, key.clone(), low);
            let below = compare(Binary::LessEqual, key.clone(), high);
            Expression::binary(Binary::LogicalAnd, above, below)
        }
    }
}

/// Replaces parameters of an action, wherever its body reads them.
pub(super) fn replace_parameters(body: &mut [Statement], by: &mut impl FnMut(u32) -> Option<Expression>) {
    hlir::visit::statements(body, &mut |value| replace_parameter(value, by));
}

fn replace_parameter(expression: &mut Expression, by: &mut impl FnMut(u32) -> Option<Expression>) {
    match expression {
        Expression::Parameter(number) => {
            if let Some(value) = by(*number) {
                *expression = value;
            }
        }
        Expression::Unary { operand, .. }
        | Expression::Slice { operand, .. }
        | Expression::Extend { operand, .. }
        | Expression::FromBool(operand) => replace_parameter(operand, by),
        Expression::Binary { left, right, .. } => {
            replace_parameter(left, by);
            replace_parameter(right, by);
        }
        Expression::Choose { condition, then, otherwise } => {
            replace_parameter(condition, by);
            replace_parameter(then, by);
            replace_parameter(otherwise, by);
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
