//! Conditions that the way of a packet through the graph has decided: which headers are valid, and variables that are only ever
//! set to constants. A core that remembers which branches were taken before does not mispredict them.

use hlir::effects::{Part, statement_writes};
use hlir::{Effect, Expression, NodeId, NodeKind, Place, Program, Statement, VariableId};
use std::collections::BTreeSet;

/// See the module.
pub struct Decided {
    /// Variables that are set to anything but constants.
    computed: BTreeSet<VariableId>,
}

impl Decided {
    /// Of a program whose packets visit these nodes.
    pub fn of(program: &Program, nodes: &[NodeId]) -> Decided {
        let mut decided = Decided { computed: BTreeSet::new() };
        for node in nodes {
            match &program.nodes[*node].kind {
                NodeKind::State { body, .. } | NodeKind::Block { body, .. } | NodeKind::Deparse { body, .. } => {
                    decided.note(body);
                }
                NodeKind::Apply { table, .. } => {
                    program.tables[*table].actions.iter().for_each(|action| decided.note(&action.body));
                    let meters = program.meters.values().filter(|meter| meter.table == Some(*table));
                    meters.filter_map(|meter| meter.automatic).for_each(|place| decided.note_part(place.into()));
                }
                NodeKind::Buffer { rules, .. } => {
                    for rule in rules {
                        if let Effect::Unicast { set, .. } = &rule.effect {
                            set.iter().for_each(|(place, value)| decided.note_assignment(*place, value));
                        }
                    }
                }
                NodeKind::Branch { .. } => {}
            }
        }
        decided
    }

    fn note(&mut self, body: &[Statement]) {
        for statement in body {
            statement.walk(&mut |inner| {
                if let Statement::Assign { target, value } = inner {
                    return self.note_assignment(*target, value);
                }
                statement_writes(inner).into_iter().for_each(|part| self.note_part(part));
            });
        }
    }

    fn note_assignment(&mut self, place: Place, value: &Expression) {
        if !matches!(value, Expression::Bool(_) | Expression::Constant { .. }) {
            self.note_part(place.into());
        }
    }

    fn note_part(&mut self, part: Part) {
        if let Part::Variable(variable) = part {
            self.computed.insert(variable);
        }
    }

    /// Whether a condition is decided before it is tested.
    pub fn has(&self, condition: &Expression) -> bool {
        let mut is_decided = true;
        condition.walk(&mut |part| {
            is_decided &= match part {
                Expression::Variable(variable) => !self.computed.contains(variable),
                Expression::Bool(_)
                | Expression::Constant { .. }
                | Expression::Valid(_)
                | Expression::Unary { .. }
                | Expression::Binary { .. }
                | Expression::Slice { .. }
                | Expression::Extend { .. }
                | Expression::Choose { .. }
                | Expression::FromBool(_) => true,
                Expression::Field(_)
                | Expression::Parameter(_)
                | Expression::Intrinsic(_)
                | Expression::VarbitLength(_)
                | Expression::VarbitEqual(..) => false,
            };
        });
        is_decided
    }
}
