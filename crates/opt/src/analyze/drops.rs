//! Drop analysis: the places that a program writes to drop a packet, and the nodes that always lead to a
//! drop.
//!
//! Architectures drop by a value: v1model by `egress_spec == 511`, PSA by a boolean. The `drop` rules of a
//! buffering manager define which. An arm of a branch ends in a drop if it assigns the value and no later
//! statement assigns another. Programs test for errors, so such an arm is unlikely.

use hlir::{Binary, Effect, Expression, NodeId, NodeKind, Place, Program, Statement};
use num_bigint::BigUint;

/// A drop marker: a value of a place that makes the buffering manager drop the packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DropMarker {
    pub place: Place,
    /// `None` for `true`.
    pub value: Option<BigUint>,
}

/// The drops of one program.
pub struct DropAnalysis<'p> {
    program: &'p Program,
    markers: Vec<DropMarker>,
    /// By marker and node: whether a packet that arrives with the marker set is dropped.
    propagates: Vec<Vec<bool>>,
    /// By node: whether every packet that arrives is dropped.
    always: Vec<bool>,
}

pub fn node_index(node: NodeId) -> usize {
    node.into_raw().into_u32() as usize
}

impl<'p> DropAnalysis<'p> {
    /// `order` has each node before its successors, except along back edges. Both loops below go through it
    /// backwards, so that a node's successors are known before the node.
    pub fn new(program: &'p Program, order: &[NodeId]) -> DropAnalysis<'p> {
        let mut drops = DropAnalysis { program, markers: markers(program), propagates: Vec::new(), always: Vec::new() };
        for index in 0..drops.markers.len() {
            let mut propagates = vec![false; program.nodes.len()];
            for &node in order.iter().rev() {
                propagates[node_index(node)] = drops.propagates_at(&drops.markers[index], node, &propagates);
            }
            drops.propagates.push(propagates);
        }
        drops.always = vec![false; program.nodes.len()];
        for &node in order.iter().rev() {
            drops.always[node_index(node)] = drops.always_drops_at(node);
        }
        drops
    }

    /// Whether every packet that arrives at `node` is dropped.
    pub fn always_drops(&self, node: NodeId) -> bool {
        self.always[node_index(node)]
    }

    /// Whether packets that run `body` and go on at `next` (or at `exit`, if the body exits) are dropped.
    pub fn body_drops(&self, body: &[Statement], next: NodeId, exit: Option<NodeId>) -> bool {
        let exits = body.iter().any(|statement| matches!(statement, Statement::Exit));
        let to = if exits { exit.unwrap_or(next) } else { next };
        self.markers
            .iter()
            .enumerate()
            .any(|(index, marker)| self.propagates[index][node_index(to)] && sets_marker_last(body, marker))
    }

    /// Whether `body` leaves all markers as they are.
    pub fn keeps_markers(&self, body: &[Statement]) -> bool {
        self.markers.iter().all(|marker| !assigns(body, marker.place))
    }

    fn propagates_at(&self, marker: &DropMarker, id: NodeId, propagates: &[bool]) -> bool {
        let node = &self.program.nodes[id];
        if let NodeKind::Buffer { rules, .. } = &node.kind {
            let takes = |rule: &&hlir::Rule| rule.effect.is_last();
            let drops = |rule: &hlir::Rule| matches!(rule.effect, Effect::Drop { .. });
            let first = rules.iter().filter(takes).find(|rule| drops(rule) && holds_for(&rule.condition, marker));
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
        !bodies.iter().any(|body| assigns(body, marker.place))
            && !successors.is_empty()
            && successors.iter().all(|next| propagates[node_index(*next)])
    }

    fn always_drops_at(&self, id: NodeId) -> bool {
        let node = &self.program.nodes[id];
        match &node.kind {
            NodeKind::Block { body, next, exit } => {
                self.body_drops(body, *next, *exit)
                    || self.keeps_markers(body) && self.always_drops(*next) && exit.is_none()
            }
            NodeKind::Branch { then, otherwise, .. } => self.always_drops(*then) && self.always_drops(*otherwise),
            NodeKind::State { .. } | NodeKind::Apply { .. } | NodeKind::Deparse { .. } => false,
            NodeKind::Buffer { rules, .. } => rules.iter().find(|rule| rule.effect.is_last()).is_some_and(|rule| {
                matches!(rule.effect, Effect::Drop { .. }) && rule.condition == Expression::Bool(true)
            }),
        }
    }
}

/// The values that drop rules test for.
fn markers(program: &Program) -> Vec<DropMarker> {
    let mut markers = Vec::new();
    for node in program.nodes.values() {
        let NodeKind::Buffer { rules, .. } = &node.kind else { continue };
        for rule in rules.iter().filter(|rule| matches!(rule.effect, Effect::Drop { .. })) {
            if let Some(marker) = marker_of(&rule.condition)
                && !markers.contains(&marker)
            {
                markers.push(marker);
            }
        }
    }
    markers
}

fn marker_of(condition: &Expression) -> Option<DropMarker> {
    match condition {
        Expression::Variable(variable) => Some(DropMarker { place: Place::Variable(*variable), value: None }),
        Expression::Binary { operator: Binary::Equal, left, right } => match (&**left, &**right) {
            (place, Expression::Constant { value, .. }) | (Expression::Constant { value, .. }, place) => {
                Some(DropMarker { place: place_of(place)?, value: Some(value.clone()) })
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

/// The place that an expression reads, if it is one.
pub fn place_of(expression: &Expression) -> Option<Place> {
    if let Expression::Variable(variable) = expression {
        Some(Place::Variable(*variable))
    } else if let Expression::Field(field) = expression {
        Some(Place::Field(*field))
    } else {
        None
    }
}

/// Whether a condition certainly holds when the marker is set.
fn holds_for(condition: &Expression, marker: &DropMarker) -> bool {
    *condition == Expression::Bool(true) || marker_of(condition).as_ref() == Some(marker)
}

fn is_marker(value: &Expression, marker: &DropMarker) -> bool {
    match (value, &marker.value) {
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

/// Whether the last assignment to the marker's place, on the body's outermost level, sets the marker.
fn sets_marker_last(body: &[Statement], marker: &DropMarker) -> bool {
    let last = body.iter().rposition(|statement| assigns(std::slice::from_ref(statement), marker.place));
    last.is_some_and(|at| matches!(&body[at], Statement::Assign { value, .. } if is_marker(value, marker)))
}
