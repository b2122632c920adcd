//! The externs that random programs declare themselves, as `generate/v1model_texts.rs` has them. docs/externs.md describes how values are passed.

use num_bigint::BigInt;

use super::call::{Arguments, Passed};
use super::convert::convert;
use super::externs::Object;
use super::machine::Machine;
use super::value::{Type, Value};
use super::{Run, unsupported};

/// The name of an extern without the number behind it.
pub fn base_name(name: &str) -> &str {
    name.trim_end_matches(|letter: char| letter.is_ascii_digit())
}

impl<'a> Machine<'a> {
    /// What was passed, in order, as numbers: the fields of structures one by one, enumerations and errors by their places.
    fn numbers(&self, passed: &Arguments<'a>) -> Vec<BigInt> {
        let mut numbers = Vec::new();
        for (_, passed) in passed {
            if let Passed::Value(value) | Passed::InOut(_, value) = passed {
                self.flatten(value, &mut numbers);
            }
        }
        numbers
    }

    fn flatten(&self, value: &Value, into: &mut Vec<BigInt>) {
        let place = |found: Option<usize>| BigInt::from(found.unwrap_or(0));
        match value {
            Value::Structure(structure) => structure.fields.iter().for_each(|field| self.flatten(field, into)),
            Value::Tuple(elements) => elements.iter().for_each(|element| self.flatten(element, into)),
            Value::Record(fields) => fields.iter().for_each(|(_, field)| self.flatten(field, into)),
            Value::Error(error) => into.push(place(self.errors.iter().position(|known| known == error))),
            Value::Enum(of, member) => into.push(place(of.members.iter().position(|known| known == member))),
            other => into.push(Machine::big(other)),
        }
    }

    /// Writes an `out` or `inout` argument; a header becomes valid.
    fn give(&mut self, passed: &Arguments<'a>, at: usize, value: Value) {
        if let Some((_, Passed::Out(place) | Passed::InOut(place, _))) = passed.get(at) {
            let of = self.peek(place).type_of();
            self.write(place, convert(value, &of));
        }
    }

    pub(super) fn mixer_method(
        &mut self,
        object: usize,
        method: &str,
        passed: &Arguments<'a>,
        of: &Type,
    ) -> Run<Value> {
        let given = self.numbers(passed);
        let Object::Mixer { state } = &mut self.objects[object] else { return unsupported("no mixer") };
        let modulus: BigInt = BigInt::from(1) << 32;
        let result = match (method, &given[..]) {
            ("mix", [a, b]) => {
                *state = (&*state + a) % modulus;
                let (state, next) = (state.clone(), a ^ b);
                let result = b + &state;
                self.give(passed, 1, Value::Integer(next));
                self.give(passed, 2, Value::Integer(state));
                result
            }
            ("mix", [a]) => {
                *state = (&*state * 3 + a) % modulus;
                state.clone()
            }
            ("odd", []) => return Ok(Value::Bool(state.bit(0))),
            ("mark", []) => {
                let marks = [state.clone(), BigInt::from(7)].map(Value::Integer);
                self.give(passed, 0, Value::Tuple(marks.to_vec()));
                return Ok(Value::Void);
            }
            _ => return unsupported(format!("method {method}")),
        };
        Ok(convert(Value::Integer(result), of))
    }

    /// A function of the program's own; `None` if the evaluator does not know it.
    pub(super) fn own_function(&mut self, name: &str, passed: &Arguments<'a>, of: &Type) -> Option<Value> {
        let given = self.numbers(passed);
        let limb: BigInt = BigInt::from(1) << 64;
        match (base_name(name), &given[..]) {
            ("fold", [x, y, wide]) => Some(convert(Value::Integer(x + y + wide % &limb + wide / &limb), of)),
            ("widen", [wide, flip]) => {
                let (low, high) = ((wide % &limb + flip) % &limb, (wide / &limb) ^ BigInt::from(5));
                self.give(passed, 0, Value::Integer(high * limb + low));
                Some(Value::Void)
            }
            ("pair", [a]) => {
                let parts = [a + 1, a * 257].map(Value::Integer);
                Some(convert(Value::Tuple(parts.to_vec()), of))
            }
            ("sum", [p, q]) => Some(convert(Value::Integer(p + q * 2), of)),
            ("heads", [a]) => Some(convert(Value::Tuple([a.clone(), a + 1].map(Value::Integer).to_vec()), of)),
            ("number", [error, colour]) => Some(convert(Value::Integer(error * 16 + colour), of)),
            _ => None,
        }
    }
}
