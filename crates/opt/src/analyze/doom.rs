//! Which places a program writes to drop a packet, and which nodes surely lead to it.
//!
//! Architectures drop by a value: v1model by `egress_spec == 511`, PSA by a boolean. A buffering manager's `drop` rules say which. An arm of a branch
//! that assigns the value, and behind which nobody assigns another, ends in a drop: programmers test for what goes wrong, so it is the unlikely arm.

use hlir::{Binary, Effect, Expression, NodeId, NodeKind, Place, Program, Statement};
use num_bigint::BigUint;

/// A value of a place that drops the packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mark {
    pub place: Place,
    /// `None` for `true`.
    pub value: Option<BigUint>,
}

/// What is known about drops, for one program.
pub struct Doom<'p> {
    program: &'p Program,
    marks: Vec<Mark>,
    /// By mark and node: a packet that carries the mark there is dropped.
    keeps: Vec<Vec<bool>>,
    /// By node: every packet that comes there is dropped.
    surely: Vec<bool>,
}

pub fn number(node: NodeId) -> usize {
    node.into_raw().into_u32() as usize
}

impl<'p> Doom<'p> {
    /// `order` has each node before those that follow it, but for edges that lead back.
    pub fn new(program: &'p Program, order: &[NodeId]) -> Doom<'p> {
        let mut doom = Doom { program, marks: marks(program), keeps: Vec::new(), surely: Vec::new() };
        for index in 0..doom.marks.len() {
            let mut keeps = vec![false; program.nodes.len()];
            for &node in order.iter().rev() {
                keeps[number(node)] = doom.keeps_mark(&doom.marks[index], node, &keeps);
            }
            doom.keeps.push(keeps);
        }
        doom.surely = vec![false; program.nodes.len()];
        for &node in order.iter().rev() {
            doom.surely[number(node)] = doom.surely_at(node);
        }
        doom
    }

    /// Whether every packet that comes to `node` is dropped.
    pub fn is_doomed(&self, node: NodeId) -> bool {
        self.surely[number(node)]
    }

    /// Whether packets that run `body` and then go on at `next`, or by `exit` if the body has one, are dropped.
    pub fn dooms(&self, body: &[Statement], next: NodeId, exit: Option<NodeId>) -> bool {
        let leaves = body.iter().any(|statement| matches!(statement, Statement::Exit));
        let to = if leaves { exit.unwrap_or(next) } else { next };
        self.marks.iter().enumerate().any(|(index, mark)| self.keeps[index][number(to)] && marks_last(body, mark))
    }

    /// Whether nothing of `body` takes a mark away again.
    pub fn leaves_marks(&self, body: &[Statement]) -> bool {
        self.marks.iter().all(|mark| !assigns(body, mark.place))
    }

    fn keeps_mark(&self, mark: &Mark, id: NodeId, keeps: &[bool]) -> bool {
        let node = &self.program.nodes[id];
        if let NodeKind::Buffer { rules, .. } = &node.kind {
            let takes = |rule: &&hlir::Rule| rule.effect.is_last();
            let drops = |rule: &hlir::Rule| matches!(rule.effect, Effect::Drop { .. });
            let first = rules.iter().filter(takes).find(|rule| drops(rule) && tests(&rule.condition, mark));
            return first.is_some();
        }
        let bodies: Vec<&[Statement]> = match &node.kind {
            NodeKind::Apply { table, .. } => {
                self.program.tables[*table].actions.iter().map(|action| action.body.as_slice()).collect()
            }
            NodeKind::State { .. }
            | NodeKind::Block { .. }
            | NodeKind::Branch { .. }
            | NodeKind::Deparse { .. }
            | NodeKind::Buffer { .. } => vec![node.kind.body()],
        };
        let successors = node.successors();
        !bodies.iter().any(|body| assigns(body, mark.place))
            && !successors.is_empty()
            && successors.iter().all(|next| keeps[number(*next)])
    }

    fn surely_at(&self, id: NodeId) -> bool {
        let node = &self.program.nodes[id];
        match &node.kind {
            NodeKind::Block { body, next, exit } => {
                self.dooms(body, *next, *exit) || self.leaves_marks(body) && self.is_doomed(*next) && exit.is_none()
            }
            NodeKind::Branch { then, otherwise, .. } => self.is_doomed(*then) && self.is_doomed(*otherwise),
            NodeKind::State { .. } | NodeKind::Apply { .. } | NodeKind::Deparse { .. } => false,
            NodeKind::Buffer { rules, .. } => rules.iter().find(|rule| rule.effect.is_last()).is_some_and(|rule| {
                matches!(rule.effect, Effect::Drop { .. }) && rule.condition == Expression::Bool(true)
            }),
        }
    }
}

/// Values that drop rules test for.
fn marks(program: &Program) -> Vec<Mark> {
    let mut marks = Vec::new();
    for node in program.nodes.values() {
        let NodeKind::Buffer { rules, .. } = &node.kind else { continue };
        for rule in rules.iter().filter(|rule| matches!(rule.effect, Effect::Drop { .. })) {
            if let Some(mark) = mark_of(&rule.condition)
                && !marks.contains(&mark)
            {
                marks.push(mark);
            }
        }
    }
    marks
}

fn mark_of(condition: &Expression) -> Option<Mark> {
    match condition {
        Expression::Variable(variable) => Some(Mark { place: Place::Variable(*variable), value: None }),
        Expression::Binary { operator: Binary::Equal, left, right } => match (&**left, &**right) {
            (place, Expression::Constant { value, .. }) | (Expression::Constant { value, .. }, place) => {
                Some(Mark { place: place_of(place)?, value: Some(value.clone()) })
            }
            (_, _) => None,
        },
        Expression::Bool(_)
        | Expression::Constant { .. }
        | Expression::Field(_)
        | Expression::Valid(_)
        | Expression::Parameter(_)
        | Expression::Intrinsic(_)
        | Expression::Unary { .. }
        | Expression::Binary { .. }
        | Expression::Slice { .. }
        | Expression::Extend { .. }
        | Expression::Choose { .. }
        | Expression::FromBool(_)
        | Expression::VarbitLength(_)
        | Expression::VarbitEqual(_, _) => None,
    }
}

/// The place that an expression is, if it is one.
pub fn place_of(expression: &Expression) -> Option<Place> {
    if let Expression::Variable(variable) = expression {
        Some(Place::Variable(*variable))
    } else if let Expression::Field(field) = expression {
        Some(Place::Field(*field))
    } else {
        None
    }
}

/// Whether a condition holds for sure where the mark is.
fn tests(condition: &Expression, mark: &Mark) -> bool {
    *condition == Expression::Bool(true) || mark_of(condition).as_ref() == Some(mark)
}

fn is_mark(value: &Expression, mark: &Mark) -> bool {
    match (value, &mark.value) {
        (Expression::Constant { value, .. }, Some(wanted)) => value == wanted,
        (Expression::Bool(value), None) => *value,
        (_, _) => false,
    }
}

fn assigns(body: &[Statement], place: Place) -> bool {
    let mut found = false;
    for statement in body {
        statement.walk(&mut |inner| {
            found |= matches!(inner, Statement::Assign { target, .. } if *target == place);
        });
    }
    found
}

/// Whether the last assignment of the place, on the body's outermost level, is the mark.
fn marks_last(body: &[Statement], mark: &Mark) -> bool {
    let last = body.iter().rposition(|statement| assigns(std::slice::from_ref(statement), mark.place));
    last.is_some_and(|at| matches!(&body[at], Statement::Assign { value, .. } if is_mark(value, mark)))
}
