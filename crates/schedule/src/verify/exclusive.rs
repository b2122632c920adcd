//! Whether conditions can hold for one packet. Conditions are followed down to comparisons, and comparisons of one
//! value with different constants exclude each other; beyond that, all comparisons count as independent.

use crate::value::{Operation, Value};
use crate::values::Values;
use hlir::value::Value as Number;
use hlir::{Binary, Type, Unary};
use std::collections::HashMap;

/// Steps after which conditions count as exclusive: a rule is broken only where this is certain.
const MOST_STEPS: u32 = 20_000;

/// Comparisons as the opposites of others.
const CANONICAL: [(Binary, Binary, bool); 5] = [
    (Binary::NotEqual, Binary::Equal, true),
    (Binary::GreaterEqual, Binary::Less, true),
    (Binary::LessEqual, Binary::Greater, true),
    (Binary::GreaterEqualSigned, Binary::LessSigned, true),
    (Binary::LessEqualSigned, Binary::GreaterSigned, true),
];

/// A comparison, or a boolean that is none. `Equal`, `Less` and `Greater` alone: others are their opposites.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Atom {
    Compares(Binary, Value, Value),
    Is(Value),
}

/// Whether a packet can have all these conditions, each as it is given.
pub fn is_possible(values: &Values, conditions: Vec<(Value, bool)>) -> bool {
    Search { values, steps: 0 }.is_possible(Known::default(), conditions)
}

#[derive(Clone, Default)]
struct Known {
    atoms: HashMap<Atom, bool>,
    /// Constants that values have.
    constants: HashMap<Value, Number>,
}

struct Search<'s> {
    values: &'s Values,
    steps: u32,
}

impl Search<'_> {
    /// Whether a packet can have all these conditions, each as it is given.
    fn is_possible(&mut self, mut known: Known, mut left: Vec<(Value, bool)>) -> bool {
        while let Some((value, holds)) = left.pop() {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return false;
            }
            match *self.values.of(value) {
                Operation::Constant(ref number) if number.is_true() != holds => return false,
                Operation::Constant(_) => {}
                Operation::Unary(Unary::Not, of) => left.push((of, !holds)),
                Operation::Binary(operator @ (Binary::LogicalAnd | Binary::LogicalOr), one, other) => {
                    if holds == (operator == Binary::LogicalAnd) {
                        left.extend([(one, holds), (other, holds)]);
                        continue;
                    }
                    let mut first = left.clone();
                    first.push((one, holds));
                    if self.is_possible(known.clone(), first) {
                        return true;
                    }
                    left.extend([(one, !holds), (other, holds)]);
                }
                Operation::Choose { condition, then, otherwise } => {
                    let mut first = left.clone();
                    first.extend([(condition, true), (then, holds)]);
                    if self.is_possible(known.clone(), first) {
                        return true;
                    }
                    left.extend([(condition, false), (otherwise, holds)]);
                }
                Operation::Binary(operator, one, other) => {
                    let (atom, holds) = self.comparison(operator, one, other, holds);
                    if !self.learn(&mut known, atom, holds) {
                        return false;
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
                | Operation::FromBool(_)
                | Operation::Sum(_)
                | Operation::Hash { .. } => {
                    if !self.learn(&mut known, Atom::Is(value), holds) {
                        return false;
                    }
                }
            }
        }
        true
    }

    fn comparison(&self, operator: Binary, left: Value, right: Value, holds: bool) -> (Atom, bool) {
        let (_, to, is_opposite) =
            CANONICAL.into_iter().find(|(from, ..)| *from == operator).unwrap_or((operator, operator, false));
        (Atom::Compares(to, left, right), holds != is_opposite)
    }

    /// Notes what an atom is. False if it is known to be otherwise.
    fn learn(&self, known: &mut Known, atom: Atom, holds: bool) -> bool {
        if *known.atoms.entry(atom).or_insert(holds) != holds {
            return false;
        }
        let Atom::Compares(Binary::Equal, left, right) = atom else { return true };
        let Some((value, number)) = self.with_constant(left, right) else { return true };
        match known.constants.get(&value) {
            Some(other) => (other == number) == holds,
            None if holds => {
                known.constants.insert(value, number.clone());
                self.agrees(known, value, number)
            }
            None => true,
        }
    }

    /// Whether no other comparison of a value is known to contradict that it is this number.
    fn agrees(&self, known: &Known, value: Value, number: &Number) -> bool {
        known.atoms.iter().all(|(atom, holds)| {
            let Atom::Compares(operator, left, right) = *atom else { return true };
            let operand = |of: Value| if of == value { Some(number) } else { self.values.known(of) };
            if self.values.kind(left) == Type::Bool || (left != value && right != value) {
                return true;
            }
            let (Some(left), Some(right)) = (operand(left), operand(right)) else { return true };
            left.clone().binary(operator, right).is_true() == *holds
        })
    }

    fn with_constant(&self, left: Value, right: Value) -> Option<(Value, &Number)> {
        match (self.values.known(left), self.values.known(right)) {
            (None, Some(number)) => Some((left, number)),
            (Some(number), None) => Some((right, number)),
            (None, None) | (Some(_), Some(_)) => None,
        }
    }
}
