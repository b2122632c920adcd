//! L-values (6.6): a variable and the path to a part of it, evaluated once and then good for reading and writing.

use num_bigint::BigInt;
use p4::ast::{Expression, ExpressionKind};

use super::convert::convert;
use super::environment::{Binding, Env};
use super::machine::Machine;
use super::value::{Bits, Shape, Structure, Type, Value};
use super::{Run, Stop, unsupported};

#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    Field(usize),
    /// An element; beyond the end there is nothing (8.18: undefined; docs/language.md: reads zero, writes nothing).
    Index(usize),
    /// Bits from the lower one on, `width` of them.
    Slice {
        low: usize,
        width: usize,
    },
}

#[derive(Clone, Debug)]
pub struct Place {
    pub slot: usize,
    pub steps: Vec<Step>,
}

impl Place {
    pub fn then(mut self, step: Step) -> Place {
        self.steps.push(step);
        self
    }
}

impl<'a> Machine<'a> {
    /// Evaluates an l-value, the expressions in it from left to right (6.8: "the corresponding l-value is saved").
    pub(super) fn place(&mut self, expression: &'a Expression, env: &Env<'a>) -> Run<Place> {
        match &expression.kind {
            ExpressionKind::Path(path) => match self.lookup(path, env)? {
                Binding::Variable(slot) => Ok(Place { slot, steps: Vec::new() }),
                _ => unsupported(format!("{expression} is no l-value")),
            },
            ExpressionKind::Member { base, member } => {
                let place = self.place(base, env)?;
                self.member_place(place, member.as_str())
            }
            ExpressionKind::Index { base, index } => {
                let place = self.place(base, env)?;
                let index = self.index(index, env)?;
                Ok(place.then(Step::Index(index)))
            }
            ExpressionKind::Slice { base, high, low } => {
                let place = self.place(base, env)?;
                let (high, low) = (self.size(high, env)?, self.size(low, env)?);
                Ok(place.then(Step::Slice { low, width: high + 1 - low }))
            }
            ExpressionKind::PlusSlice { base, low, width } => {
                let place = self.place(base, env)?;
                let low = self.index(low, env)?;
                let width = self.size(width, env)?;
                Ok(place.then(Step::Slice { low, width }))
            }
            _ => unsupported(format!("{expression} is no l-value")),
        }
    }

    fn member_place(&mut self, place: Place, member: &str) -> Run<Place> {
        match self.peek(&place) {
            Value::Structure(structure) => match structure.of.position(member) {
                Some(at) => Ok(place.then(Step::Field(at))),
                None => unsupported(format!("no field {member}")),
            },
            // 8.18: beyond the end of the stack the parser rejects.
            Value::Stack(stack) if member == "next" => {
                if stack.next >= stack.elements.len() {
                    return Err(Stop::Error("StackOutOfBounds".into()));
                }
                let next = stack.next;
                Ok(place.then(Step::Index(next)))
            }
            Value::Stack(stack) if member == "last" => {
                if stack.next == 0 {
                    return Err(Stop::Error("StackOutOfBounds".into()));
                }
                let last = stack.next - 1;
                Ok(place.then(Step::Index(last)))
            }
            other => unsupported(format!("no member {member} of {:?}", other.type_of())),
        }
    }

    /// An index or the low bit of a slice; what is too large for any value is one beyond all.
    pub(super) fn index(&mut self, expression: &'a Expression, env: &Env<'a>) -> Run<usize> {
        let number = self.number(expression, env)?;
        Ok(usize::try_from(&number).unwrap_or(usize::MAX / 2).min(usize::MAX / 2))
    }

    /// The value at a place, whether or not it may be read.
    pub(super) fn peek(&self, place: &Place) -> Value {
        place.steps.iter().fold(self.slots[place.slot].clone(), |value, step| part(&value, step).0)
    }

    pub(super) fn read(&mut self, place: &Place) -> Value {
        let mut value = self.slots[place.slot].clone();
        let mut beyond = false;
        for step in &place.steps {
            beyond |= matches!((&value, step), (Value::Stack(stack), Step::Index(at)) if *at >= stack.elements.len());
            let (inner, undefined) = part(&value, step);
            if undefined && !beyond {
                self.note_undefined("a field of an invalid header is read");
            }
            value = inner;
        }
        value
    }

    pub(super) fn write(&mut self, place: &Place, value: Value) {
        store(&mut self.slots[place.slot], &place.steps, value);
    }
}

/// A part of a value, and whether it is undefined: a field of an invalid header (8.17).
pub fn part(value: &Value, step: &Step) -> (Value, bool) {
    match (value, step) {
        (Value::Structure(structure), Step::Field(at)) => {
            (structure.fields[*at].clone(), structure.of.shape == Shape::Header && !structure.valid)
        }
        (Value::Stack(stack), Step::Index(index)) => match stack.elements.get(*index) {
            Some(element) => (element.clone(), false),
            None => (Value::initial(&stack.element), false),
        },
        (Value::Tuple(elements), Step::Index(index)) => (elements.get(*index).cloned().unwrap_or(Value::Void), false),
        (Value::Bits(bits), Step::Slice { low, width }) => (slice(&bits.pattern(), *low, *width), false),
        (Value::Integer(number), Step::Slice { low, width }) => (slice(number, *low, *width), false),
        (_, _) => (Value::Void, false),
    }
}

/// 8.5, 8.7: a slice has no sign; bits beyond the value are zero.
fn slice(value: &BigInt, low: usize, width: usize) -> Value {
    let moved = if low >= 1 << 20 { BigInt::ZERO } else { value >> low };
    Value::bits(moved, width)
}

/// Writes a part of a value.
fn store(target: &mut Value, steps: &[Step], value: Value) {
    let Some((step, rest)) = steps.split_first() else {
        let of = target.type_of();
        *target = settled(convert(value, &of));
        return;
    };
    match (target, step) {
        (Value::Structure(structure), Step::Field(at)) => match structure.of.shape {
            Shape::Struct => store(&mut structure.fields[*at], rest, value),
            // 8.17: a write to a field of an invalid header changes nothing.
            Shape::Header if !structure.valid => {}
            Shape::Header => store(&mut structure.fields[*at], rest, value),
            Shape::Union => store_member(structure, *at, rest, value),
        },
        (Value::Stack(stack), Step::Index(index)) => {
            if let Some(element) = stack.elements.get_mut(*index) {
                store(element, rest, value);
            }
        }
        (Value::Bits(bits), Step::Slice { low, width }) => {
            let mut part = slice(&bits.pattern(), *low, *width);
            store(&mut part, rest, value);
            if let (Value::Bits(part), true) = (part, *low < bits.width) {
                let mask: BigInt = ((BigInt::from(1) << *width) - 1) << *low;
                let joined = (bits.pattern() & !mask) | (part.pattern() << *low);
                *bits = Bits::new(&joined, bits.width, bits.signed);
            }
        }
        (_, _) => {}
    }
}

/// 8.20: a union holds one header. Giving it a valid one makes the others invalid, giving it an invalid one makes all invalid.
fn store_member(union: &mut Structure, at: usize, rest: &[Step], value: Value) {
    if !rest.is_empty() {
        store(&mut union.fields[at], rest, value);
        return;
    }
    let header = settled(convert(value, &union.fields[at].type_of()));
    for (index, field) in union.fields.iter_mut().enumerate() {
        *field = if index == at { header.clone() } else { Value::initial(&field.type_of()) };
    }
}

/// A value in which the fields of invalid headers are zero, so that they are when the header becomes valid.
fn settled(value: Value) -> Value {
    match value {
        Value::Structure(structure) if structure.of.shape == Shape::Header && !structure.valid => {
            Value::initial(&Type::Structure(structure.of))
        }
        Value::Structure(structure) => {
            let fields = structure.fields.into_iter().map(settled).collect();
            Value::Structure(Structure { fields, ..structure })
        }
        other => other,
    }
}
