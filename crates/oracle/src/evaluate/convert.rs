//! Conversions: the implicit ones of an assignment (8.11.2, 8.12 to 8.17), and the explicit casts (8.11.1).

use std::rc::Rc;

use num_bigint::BigInt;

use super::value::{Bits, Shape, Stack, Structure, Type, Value};

/// A value as one of the given type, as an assignment or an argument makes it.
pub fn convert(value: Value, to: &Type) -> Value {
    match (value, to) {
        (Value::Default, to) => Value::initial(to),
        (Value::Integer(value), Type::Bits { width, signed }) => Value::Bits(Bits::new(&value, *width, *signed)),
        (Value::Bits(bits), Type::Integer) => Value::Integer(bits.value),
        (Value::Varbit { width, value, .. }, Type::Varbit(most)) => Value::Varbit { most: *most, width, value },
        (Value::Invalid, Type::Structure(_)) => Value::initial(to),
        (Value::Tuple(elements), Type::Structure(of)) => {
            let mut elements = elements.into_iter();
            let fields = of.fields.iter().map(|(_, field)| convert(elements.next().unwrap_or(Value::Default), field));
            Value::Structure(Structure { of: of.clone(), valid: true, fields: fields.collect() })
        }
        (Value::Record(given), Type::Structure(of)) => {
            let find = |name: &str| given.iter().find(|(field, _)| &**field == name).map(|(_, value)| value.clone());
            let fields = of.fields.iter().map(|(name, field)| convert(find(name).unwrap_or(Value::Default), field));
            Value::Structure(Structure { of: of.clone(), valid: true, fields: fields.collect() })
        }
        (Value::Tuple(elements), Type::Stack { element, size }) => {
            let mut elements = elements.into_iter();
            let all = (0..*size).map(|_| convert(elements.next().unwrap_or(Value::Default), element));
            Value::Stack(Stack { element: element.clone(), next: 0, elements: all.collect() })
        }
        (Value::Tuple(elements), Type::Tuple(types)) => {
            let mut elements = elements.into_iter();
            Value::Tuple(types.iter().map(|of| convert(elements.next().unwrap_or(Value::Default), of)).collect())
        }
        (Value::Structure(structure), Type::Structure(of)) if !Rc::ptr_eq(&structure.of, of) => {
            let fields = structure.fields.into_iter().zip(&of.fields).map(|(value, (_, field))| convert(value, field));
            Value::Structure(Structure { of: of.clone(), valid: structure.valid, fields: fields.collect() })
        }
        (value, _) => value,
    }
}

/// `(to) value`.
pub fn cast(value: Value, to: &Type) -> Value {
    match (value, to) {
        (Value::Bits(bits), Type::Bits { width, signed }) => Value::Bits(Bits::new(&bits.value, *width, *signed)),
        (Value::Bits(bits), Type::Bool) => Value::Bool(bits.value != BigInt::ZERO),
        (Value::Integer(value), Type::Bool) => Value::Bool(value != BigInt::ZERO),
        (Value::Bool(value), Type::Bits { width, signed }) => {
            Value::Bits(Bits::new(&BigInt::from(u8::from(value)), *width, *signed))
        }
        (Value::Structure(structure), Type::Tuple(types)) if structure.of.shape == Shape::Struct => {
            Value::Tuple(structure.fields.into_iter().zip(types).map(|(value, of)| convert(value, of)).collect())
        }
        (value, to) => convert(value, to),
    }
}
