//! The commit phase of packets that hit in every lookup and run the expected actions: the same values under these facts.

use crate::run::Run;
use crate::value::{Found, Operation, Sum, Value};
use crate::values::Values;
use crate::{Commit, Does, Effect, LateLookup};
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
        let actions = self.expected_actions();
        if actions.is_empty() {
            return None;
        }
        let hits = self.lookups.iter().map(|lookup| lookup.node).collect();
        let mut facts = Facts { hits, actions, made: HashMap::new() };
        let mut known = |value| facts.of(&mut self.values, value);
        let exits = known(commit.exits);
        let lookups = commit.lookups.iter().map(|lookup| LateLookup {
            key: lookup.key.iter().map(|limb| known(*limb)).collect(),
            when: known(lookup.when),
            ..lookup.clone()
        });
        let lookups: Vec<LateLookup> = lookups.collect();
        let effects = commit.effects.iter().map(|effect| Effect {
            when: known(effect.when),
            node: effect.node,
            does: effect.does.with(&mut known),
        });
        let effects: Vec<Effect> = effects.collect();
        let effects = effects
            .into_iter()
            .filter(|effect| self.values.holds(effect.when) != Some(false) && !self.stores_what_is_there(&effect.does));
        let effects = effects.collect();
        let lookups = lookups.into_iter().filter(|lookup| self.values.holds(lookup.when) != Some(false));
        Some(Commit { exits, lookups: lookups.collect(), effects, missed: None })
    }

    /// Whether all that packets do has a schedule that hit along the path and run the expected actions of staged
    /// lookups. What a plan expects of other lookups is a guess.
    pub fn usual_stays(&mut self, late: &[LateLookup]) -> bool {
        let on_path = |late: &&LateLookup| self.path.nodes.contains(&late.node);
        let late = late.iter().filter(on_path).map(|late| late.node);
        let hits = self.lookups.iter().map(|lookup| lookup.node).chain(late).collect();
        let mut facts = Facts { hits, actions: self.expected_actions(), made: HashMap::new() };
        let barred = facts.of(&mut self.values, self.barred);
        self.values.holds(barred) == Some(false)
    }

    /// The expected actions of lookups that stages make.
    fn expected_actions(&self) -> HashMap<NodeId, usize> {
        let expected = self.lookups.iter().filter_map(|lookup| {
            let action = self.path.actions.get(&lookup.place)?;
            Some((lookup.node, *action))
        });
        expected.collect()
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
            Operation::Hash { algorithm, data } => values.hash(algorithm, data.iter().map(made).collect()),
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
