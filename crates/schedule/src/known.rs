//! Values as they are with what is known of the packets that they are computed for.

use crate::value::{Found, Operation, Sum, Value};
use crate::values::Values;
use hlir::{Binary, NodeId, Type, Unary};
use std::collections::{BTreeMap, HashMap};

/// What is known of packets.
#[derive(Clone, Default)]
pub struct Known {
    /// Lookups that have found an entry.
    hits: Vec<NodeId>,
    /// The action of a lookup's entries.
    actions: HashMap<NodeId, usize>,
    conditions: BTreeMap<Value, bool>,
    /// Constants that values are equal to.
    constants: HashMap<Value, Value>,
    /// Whether there are no such packets.
    is_impossible: bool,
    /// What was computed with it.
    made: HashMap<Value, Value>,
}

impl Known {
    /// The same, and that these lookups have found entries, with these actions.
    pub fn and_of_lookups(self, hits: Vec<NodeId>, actions: HashMap<NodeId, usize>) -> Known {
        Known { hits, actions, made: HashMap::new(), ..self }
    }

    /// What is known of lookups alone.
    pub fn without_conditions(&self) -> Known {
        Known { hits: self.hits.clone(), actions: self.actions.clone(), ..Known::default() }
    }

    /// Notes that a condition holds, or that it does not, and what follows.
    pub fn assume(&mut self, values: &mut Values, condition: Value, holds: bool) {
        self.made.clear();
        let mut left = vec![(condition, holds)];
        while let Some((value, holds)) = left.pop() {
            match *values.of(value) {
                Operation::Constant(_) => {}
                Operation::Unary(Unary::Not, of) => {
                    self.note(value, holds);
                    left.push((of, !holds));
                }
                Operation::Binary(operator @ (Binary::LogicalAnd | Binary::LogicalOr), one, other)
                    if holds == (operator == Binary::LogicalAnd) =>
                {
                    self.condition(values, value, holds);
                    left.extend([(one, holds), (other, holds)]);
                }
                Operation::Binary(operator, one, other) => {
                    self.condition(values, value, holds);
                    let is_equal = if holds { Binary::Equal } else { Binary::NotEqual };
                    if operator == is_equal && values.kind(one) != Type::Bool {
                        self.equal(values, one, other);
                    }
                }
                Operation::Packet { .. }
                | Operation::Length
                | Operation::Headroom
                | Operation::Port
                | Operation::Register { .. }
                | Operation::Lookup { .. }
                | Operation::Unary(..)
                | Operation::Slice { .. }
                | Operation::Extend { .. }
                | Operation::Choose { .. }
                | Operation::FromBool(_)
                | Operation::Sum(_)
                | Operation::Hash { .. } => self.condition(values, value, holds),
            }
            if left.is_empty() {
                left.extend(self.implied(values));
            }
        }
    }

    /// A part of a conjunction that does not hold, or of a disjunction that holds, if all others are known.
    fn implied(&self, values: &Values) -> Option<(Value, bool)> {
        self.conditions.iter().find_map(|(condition, holds)| {
            let Operation::Binary(operator, one, other) = *values.of(*condition) else { return None };
            let all = if *holds { Binary::LogicalOr } else { Binary::LogicalAnd };
            let open = |part: Value, rest: Value| {
                let decides = self.conditions.get(&rest) == Some(&!holds);
                let is_known = values.holds(part).is_some() || self.conditions.contains_key(&part);
                (decides && !is_known).then_some((part, *holds))
            };
            if operator == all { open(one, other).or_else(|| open(other, one)) } else { None }
        })
    }

    fn condition(&mut self, values: &mut Values, value: Value, holds: bool) {
        self.note(value, holds);
        let not = values.not(value);
        self.note(not, !holds);
        // The same by De Morgan's laws: nodes ask in either form.
        if let Operation::Binary(operator @ (Binary::LogicalAnd | Binary::LogicalOr), one, other) = *values.of(value) {
            let [one, other] = [one, other].map(|part| values.not(part));
            let dual = if operator == Binary::LogicalAnd { Binary::LogicalOr } else { Binary::LogicalAnd };
            let dual = values.binary(dual, one, other);
            self.note(dual, !holds);
        }
    }

    fn note(&mut self, value: Value, holds: bool) {
        let before = self.conditions.insert(value, holds);
        self.is_impossible |= before.is_some_and(|before| before != holds);
    }

    pub fn is_impossible(&self) -> bool {
        self.is_impossible
    }

    fn equal(&mut self, values: &Values, one: Value, other: Value) {
        match (values.known(one), values.known(other)) {
            (None, Some(_)) => self.constants.insert(one, other),
            (Some(_), None) => self.constants.insert(other, one),
            (None, None) | (Some(_), Some(_)) => None,
        };
    }

    /// A value as it is for these packets.
    pub fn of(&mut self, values: &mut Values, value: Value) -> Value {
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
        if let Some(known) = self.known(values, value) {
            return known;
        }
        let made = self.computed(values, value);
        self.known(values, made).unwrap_or(made)
    }

    fn known(&self, values: &mut Values, value: Value) -> Option<Value> {
        match self.conditions.get(&value) {
            Some(holds) => Some(values.bool(*holds)),
            None => self.constants.get(&value).copied(),
        }
    }

    fn computed(&self, values: &mut Values, value: Value) -> Value {
        let made = |operand: &Value| self.made[operand];
        let kind = values.kind(value);
        match values.of(value).clone() {
            // The hash that chooses a member stays as it is: a packet reads its group once, for one hash.
            Operation::Lookup { node, what: Found::Action, .. } => match self.actions.get(&node) {
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
            | Operation::Headroom
            | Operation::Port
            | Operation::Register { .. }
            | Operation::Lookup { .. } => value,
        }
    }

    /// Whether a lookup has found nothing.
    fn compared(&self, values: &mut Values, operator: Binary, left: Value, right: Value) -> Option<Value> {
        let Operation::Lookup { node, what: Found::Number, .. } = values.of(left) else { return None };
        let is_none = values.known(right).is_some_and(|number| !number.is_true()) && self.hits.contains(node);
        let is_equality = operator == Binary::Equal || operator == Binary::NotEqual;
        (is_none && is_equality).then(|| values.bool(operator == Binary::NotEqual))
    }
}
