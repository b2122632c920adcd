//! What is known of a packet from the entry that it hit: the places that hold functions of the entry's data.

use super::closed::{decides, folded, truth};
use super::derive::body_of;
use super::{Accesses, slow_path};
use crate::{Binary, Expression, NodeId, NodeKind, Place, Program, Statement, Unary};
use std::collections::HashMap;

/// Larger expressions are taken for unknown.
const LARGEST: usize = 64;

/// Places with known values: closed expressions over the action's parameters.
#[derive(Clone, Debug, Default)]
pub struct Known(HashMap<Place, Expression>);

impl Known {
    /// The conditions of the branches through which every packet comes to `node`.
    pub fn at(program: &Program, node: NodeId) -> Known {
        let mut known = Known::default();
        let mut written = Accesses::default();
        let mut steps = only_way(program, node);
        // Where no branch is left, there is nothing to learn.
        while let Some((from, _)) = steps.last()
            && !matches!(program.nodes[*from].kind, NodeKind::Branch { .. })
        {
            steps.pop();
        }
        for (from, at) in steps {
            match &program.nodes[from].kind {
                NodeKind::Branch { condition, then, otherwise } if then != otherwise => {
                    known.learn(condition, *then == at, &written);
                }
                NodeKind::Branch { .. } => {}
                NodeKind::Block { body, .. } => written.add(&Accesses::of_statements(program, body)),
                NodeKind::Apply { table, .. } if slow_path(program, from) == Some(at) => {
                    debug_assert!(program.tables[*table].actions[super::Join::SLOW as usize].body.is_empty());
                }
                NodeKind::Apply { table, .. } => written.add(&Accesses::of_table(program, *table)),
                NodeKind::State { .. } | NodeKind::Deparse { .. } | NodeKind::Buffer { .. } => break,
            }
        }
        known
    }

    /// Takes a condition for decided, unless its places have been written since.
    fn learn(&mut self, condition: &Expression, decision: bool, written: &Accesses) {
        if let Expression::Variable(variable) = condition {
            return self.note(Place::Variable(*variable), Expression::Bool(decision), written);
        }
        if let Expression::Unary { operator: Unary::Not, operand } = condition {
            return self.learn(operand, !decision, written);
        }
        let Expression::Binary { operator, left, right } = condition else { return };
        let both = if decision { Binary::LogicalAnd } else { Binary::LogicalOr };
        if *operator == both {
            self.learn(left, decision, written);
            self.learn(right, decision, written);
        } else if let (Binary::Equal, true, Expression::Variable(variable), Expression::Constant { .. }) =
            (*operator, decision, &**left, &**right)
        {
            self.note(Place::Variable(*variable), (**right).clone(), written);
        }
    }

    fn note(&mut self, place: Place, value: Expression, written: &Accesses) {
        if !written.written(place) {
            self.0.entry(place).or_insert(value);
        }
    }

    /// An expression with what is known put in its place. None if that is not all.
    pub fn closed(&self, program: &Program, expression: &Expression) -> Option<Expression> {
        let inner = |expression: &Expression| self.closed(program, expression);
        let boxed = |expression: &Expression| inner(expression).map(Box::new);
        let made = match expression {
            Expression::Bool(_) | Expression::Constant { .. } | Expression::Parameter(_) => expression.clone(),
            Expression::Variable(variable) => self.0.get(&Place::Variable(*variable))?.clone(),
            Expression::Field(field) => self.0.get(&Place::Field(*field))?.clone(),
            Expression::Unary { operator, operand } => {
                Expression::Unary { operator: *operator, operand: boxed(operand)? }
            }
            Expression::Binary { operator, left, right } => {
                let (left, right) = (inner(left), inner(right));
                if decides(*operator, left.as_ref()) || decides(*operator, right.as_ref()) {
                    return Some(Expression::Bool(*operator == Binary::LogicalOr));
                }
                Expression::binary(*operator, left?, right?)
            }
            Expression::Slice { operand, high, low } => {
                Expression::Slice { operand: boxed(operand)?, high: *high, low: *low }
            }
            Expression::Extend { operand, width, signed } => {
                Expression::Extend { operand: boxed(operand)?, width: *width, signed: *signed }
            }
            Expression::Choose { condition, then, otherwise } => {
                let condition = inner(condition)?;
                if let Some(decision) = truth(&condition) {
                    return inner(if decision { then } else { otherwise });
                }
                Expression::choose(condition, inner(then)?, inner(otherwise)?)
            }
            Expression::FromBool(operand) => Expression::FromBool(boxed(operand)?),
            Expression::Valid(_)
            | Expression::Intrinsic(_)
            | Expression::VarbitLength(_)
            | Expression::VarbitEqual(_, _) => return None,
        };
        let made = folded(made, program);
        let mut size = 0;
        made.walk(&mut |_| size += 1);
        (size <= LARGEST).then_some(made)
    }

    /// Runs statements.
    pub fn run(&mut self, program: &Program, body: &[Statement]) {
        body.iter().for_each(|statement| self.statement(program, statement));
    }

    fn statement(&mut self, program: &Program, statement: &Statement) {
        match statement {
            Statement::Assign { target, value } => match self.closed(program, value) {
                Some(value) => drop(self.0.insert(*target, value)),
                None => drop(self.0.remove(target)),
            },
            Statement::If { condition, then, otherwise } => {
                let condition = self.closed(program, condition);
                if let Some(decision) = condition.as_ref().and_then(truth) {
                    return self.run(program, if decision { then } else { otherwise });
                }
                if leaves(then) || leaves(otherwise) {
                    return self.forget(program, statement);
                }
                let mut other = self.clone();
                self.run(program, then);
                other.run(program, otherwise);
                self.merge(condition, &other);
            }
            Statement::Scope { body, .. } if !leaves(body) => self.run(program, body),
            Statement::Scope { .. }
            | Statement::Loop { .. }
            | Statement::SetValid(_)
            | Statement::SetInvalid(_)
            | Statement::CopyHeader { .. }
            | Statement::CopyVarbit { .. }
            | Statement::Leave(_)
            | Statement::Exit
            | Statement::Extract { .. }
            | Statement::Advance(_)
            | Statement::Lookahead { .. }
            | Statement::Verify { .. }
            | Statement::Emit(_)
            | Statement::Truncate(_)
            | Statement::Call(_) => self.forget(program, statement),
        }
    }

    /// What is known where one of two branches was taken.
    fn merge(&mut self, condition: Option<Expression>, other: &Known) {
        self.0.retain(|place, value| match other.0.get(place) {
            Some(otherwise) if otherwise == value => true,
            Some(otherwise) => condition.as_ref().is_some_and(|condition| {
                *value = Expression::choose(condition.clone(), value.clone(), otherwise.clone());
                true
            }),
            None => false,
        });
    }

    fn forget(&mut self, program: &Program, statement: &Statement) {
        let accesses = Accesses::of_statements(program, std::slice::from_ref(statement));
        self.0.retain(|place, _| !accesses.written(*place));
    }
}

/// The edges by which every packet comes to `node`, the last one first: each node's predecessor and the node. Only a node with one predecessor, by which
/// no packet enters, has one.
fn only_way(program: &Program, node: NodeId) -> Vec<(NodeId, NodeId)> {
    // `None`: several lead to the node.
    let mut before: HashMap<NodeId, Option<NodeId>> = HashMap::new();
    for (from, other) in program.nodes.iter() {
        for to in other.successors() {
            before.entry(to).and_modify(|only| *only = only.filter(|it| *it == from)).or_insert(Some(from));
        }
    }
    program.parsers.values().map(|parser| parser.reject).chain(program.entry).for_each(|entered| {
        before.insert(entered, None);
    });
    let (mut steps, mut at) = (Vec::new(), node);
    while let Some(Some(from)) = before.get(&at)
        && steps.len() < program.nodes.len()
    {
        steps.push((*from, at));
        at = *from;
    }
    steps
}

fn leaves(body: &[Statement]) -> bool {
    let mut leaves = false;
    body.iter().for_each(|statement| {
        statement.walk(&mut |inner| leaves |= matches!(inner, Statement::Leave(_) | Statement::Exit));
    });
    leaves
}

/// Where a packet gets from a table's node behind one of its actions.
pub(super) struct Followed {
    /// Statements on the path.
    pub between: Vec<Statement>,
    /// What is known at the end.
    pub known: Known,
    /// The next lookup.
    pub node: NodeId,
}

/// Follows a hit that runs `action` to the next lookup, through blocks and through branches that are decided.
/// None if there is none, or the packet may end before.
pub(super) fn follow(program: &Program, from: NodeId, action: u32, known: &Known) -> Option<Followed> {
    let NodeKind::Apply { table, next, .. } = &program.nodes[from].kind else { return None };
    let (mut known, mut between) = (known.clone(), Vec::new());
    known.run(program, &body_of(program, *table, action));
    let mut at = super::target(next, action);
    for _ in 0..program.nodes.len() {
        match &program.nodes[at].kind {
            NodeKind::Block { body, next, .. } => {
                if Accesses::of_statements(program, body).ends() {
                    return None;
                }
                known.run(program, body);
                between.extend(body.iter().cloned());
                at = *next;
            }
            NodeKind::Branch { condition, then, otherwise } => {
                at = if truth(&known.closed(program, condition)?)? { *then } else { *otherwise };
            }
            NodeKind::Apply { .. } => return Some(Followed { between, known, node: at }),
            NodeKind::State { .. } | NodeKind::Deparse { .. } | NodeKind::Buffer { .. } => return None,
        }
    }
    None
}
