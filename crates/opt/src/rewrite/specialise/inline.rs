//! Lookups without a table: the default action where there are no entries, comparisons where there are few.

use super::is_neutral;
use crate::rewrite::join::graph;
use hlir::entry::EntryAction;
use hlir::{
    ActionCall, Binary, Call, Entry, Expression, Match, Next, Node, NodeId, NodeKind, Notes, Program, Statement,
    TableId,
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

    /// Whether entries can be compared in code: none has a counter, a meter or a timer of its own.
    pub fn can_compare(&self, program: &Program, entries: &[Entry]) -> bool {
        let call =
            |entry: &Entry| matches!(&entry.action, EntryAction::Call(call) if is_free(program, self.table, call));
        !program.has_own_records(self.table) && entries.iter().all(call) && is_free(program, self.table, self.default)
    }

    /// Replaces all lookups by the default action. What direct counters count of misses goes on in counters of one
    /// index, where controllers find it.
    pub fn miss(&self, program: &mut Program, nodes: &[NodeId]) {
        let counters = program.counters.iter().filter(|(_, counter)| counter.table == Some(self.table));
        let counters: Vec<_> = counters.map(|(id, counter)| (id, counter.automatic)).collect();
        let automatic = counters.iter().filter(|(_, automatic)| *automatic);
        let index = || Some(Expression::constant(0u32, 32));
        let count = |counter| Statement::Call(Call::Count { counter, index: index() });
        let counts: Vec<Statement> = automatic.map(|(counter, _)| count(*counter)).collect();
        for node in nodes {
            let NodeKind::Apply { next, exit, .. } = program.nodes[*node].kind.clone() else { continue };
            let to = target(&next, false, self.default.action);
            let mut body = counts.clone();
            body.extend(self.body(program, self.default));
            hlir::visit::calls(&mut body, &mut |call| {
                if let Call::Count { index: place @ None, .. } = call {
                    *place = index();
                }
            });
            program.nodes[*node].kind = block(body, to, exit);
        }
        for (id, _) in counters {
            let counter = &mut program.counters[id];
            (counter.table, counter.size, counter.automatic) = (None, 1, false);
        }
    }

    /// Replaces a lookup by comparisons with the entries, those that win first.
    pub fn compare(&self, program: &mut Program, node: NodeId, entries: &[Entry]) {
        let NodeKind::Apply { next, exit, .. } = program.nodes[node].kind.clone() else { return };
        let name = program.nodes[node].name.clone();
        let to = target(&next, false, self.default.action);
        let missed = block(self.body(program, self.default), to, exit);
        let mut rest = missed;
        for (index, entry) in entries.iter().enumerate().rev() {
            let EntryAction::Call(call) = &entry.action else { continue };
            let hit = block(self.body(program, call), target(&next, true, call.action), exit);
            let then = self.add(program, format!("{name}.entry_{}", index + 1), hit);
            let otherwise = self.add(program, format!("{name}.not_{}", index + 1), rest);
            rest = NodeKind::Branch { condition: self.condition(program, entry), then, otherwise };
        }
        program.nodes[node].kind = rest;
    }

    fn add(&self, program: &mut Program, name: String, kind: NodeKind) -> NodeId {
        let names: Vec<String> = program.nodes.values().map(|node| node.name.clone()).collect();
        program.nodes.alloc(Node { name: graph::unique(name, &names), kind, notes: Notes::default() })
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

fn block(body: Vec<Statement>, next: NodeId, exit: Option<NodeId>) -> NodeKind {
    let mut exits = false;
    body.iter().for_each(|statement| statement.walk(&mut |inner| exits |= matches!(inner, Statement::Exit)));
    NodeKind::Block { body, next, exit: exit.filter(|_| exits) }
}

/// Where a packet goes on.
fn target(next: &Next, is_hit: bool, action: u32) -> NodeId {
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
