//! The commit phase of packets that hit in every lookup and run the expected actions: the same values under these facts.

use crate::run::Run;
use crate::value::{Found, Operation, Sum, Value};
use crate::values::Values;
use crate::{Commit, Does, Effect};
use hlir::{Binary, NodeId};
use std::collections::HashMap;

/// What is known of packets.
struct Facts {
    /// Lookups that have found an entry.
    hits: Vec<NodeId>,
    /// The action of a lookup's entries.
    actions: HashMap<NodeId, usize>,
    made: HashMap<Value, Value>,
}

impl Run<'_> {
    /// Commit under the plan's expectations, if it has any.
    pub fn expected(&mut self, commit: &Commit) -> Option<Commit> {
        let expected = self.lookups.iter().filter_map(|lookup| {
            let action = self.path.actions.get(&lookup.place)?;
            Some((lookup.node, *action))
        });
        let actions: HashMap<NodeId, usize> = expected.collect();
        if actions.is_empty() {
            return None;
        }
        let hits = self.lookups.iter().map(|lookup| lookup.node).collect();
        let mut facts = Facts { hits, actions, made: HashMap::new() };
        let mut known = |value| facts.of(&mut self.values, value);
        let exits = known(commit.exits);
        let effects = commit.effects.iter().map(|effect| {
            let does = match &effect.does {
                Does::Store { bit, value, field } => Does::Store { bit: *bit, value: known(*value), field: *field },
                Does::Count { counter, index } => Does::Count { counter: *counter, index: known(*index) },
                Does::Send { port } => Does::Send { port: known(*port) },
                other @ (Does::CountDirect { .. }
                | Does::NotMade { .. }
                | Does::Miss { .. }
                | Does::Touch { .. }
                | Does::Drop { .. }) => other.clone(),
            };
            Effect { when: known(effect.when), node: effect.node, does }
        });
        let effects: Vec<Effect> = effects.collect();
        let effects = effects
            .into_iter()
            .filter(|effect| self.values.holds(effect.when) != Some(false) && !self.stores_what_is_there(&effect.does));
        Some(Commit { exits, effects: effects.collect(), missed: None })
    }

    /// Whether an effect stores the packet's own bits.
    fn stores_what_is_there(&self, does: &Does) -> bool {
        let Does::Store { bit, value, .. } = does else { return false };
        *self.values.of(*value) == Operation::Packet { bit: *bit }
    }
}

impl Facts {
    /// A value as it is under the facts.
    fn of(&mut self, values: &mut Values, value: Value) -> Value {
        for needed in values.needed([value]) {
            if !self.made.contains_key(&needed) {
                let made = self.made_of(values, needed);
                self.made.insert(needed, made);
                if let Some(name) = values.name(needed).map(str::to_string) {
                    values.call(made, || name);
                }
            }
        }
        self.made[&value]
    }

    /// The same, where that of its operands is known.
    fn made_of(&self, values: &mut Values, value: Value) -> Value {
        let made = |operand: &Value| self.made[operand];
        let kind = values.kind(value);
        match values.of(value).clone() {
            Operation::Lookup { node, what: Found::Action } => match self.actions.get(&node) {
                Some(action) => values.word(*action as u64, 32),
                None => value,
            },
            Operation::Binary(operator, left, right) => {
                self.compared(values, operator, left, right).unwrap_or_else(|| {
                    let (left, right) = (made(&left), made(&right));
                    values.binary(operator, left, right)
                })
            }
            Operation::Unary(operator, operand) => values.unary(operator, made(&operand)),
            Operation::Slice { of, low } => values.slice(made(&of), low, kind.width()),
            Operation::Extend { of, signed } => values.extend(made(&of), kind.width(), signed),
            Operation::Choose { condition, then, otherwise } => {
                values.choose(made(&condition), made(&then), made(&otherwise))
            }
            Operation::FromBool(truth) => values.from_bool(made(&truth)),
            Operation::Sum(sum) => {
                let words = sum.words.iter().map(made).collect();
                values.sum(Sum { before: sum.before.as_ref().map(made), words, ..sum })
            }
            // A register was read in a stage.
            Operation::Constant(_)
            | Operation::Packet { .. }
            | Operation::Length
            | Operation::Port
            | Operation::Register { .. }
            | Operation::Lookup { .. } => value,
        }
    }

    /// Whether a lookup has found nothing.
    fn compared(&self, values: &mut Values, operator: Binary, left: Value, right: Value) -> Option<Value> {
        let Operation::Lookup { node, what: Found::Number } = values.of(left) else { return None };
        let is_none = values.known(right).is_some_and(|number| !number.is_true()) && self.hits.contains(node);
        let is_equality = operator == Binary::Equal || operator == Binary::NotEqual;
        (is_none && is_equality).then(|| values.bool(operator == Binary::NotEqual))
    }
}
