//! Values as the language has them, each with its type, so that no inference is needed: an assignment converts to the type of what is stored.

use std::rc::Rc;

use num_bigint::BigInt;

/// Types (clause 7).
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    Void,
    Bool,
    /// `int`, without a width.
    Integer,
    Bits {
        width: usize,
        signed: bool,
    },
    Varbit(usize),
    Error,
    String,
    Enum(Rc<EnumType>),
    Structure(Rc<StructureType>),
    Stack {
        element: Rc<Type>,
        size: usize,
    },
    Tuple(Vec<Type>),
    /// An extern object, a parser, a control, a match kind: nothing that can be stored.
    Object(Rc<str>),
    /// A type nothing is known of: conversion leaves values as they are.
    Any,
}

/// An enumeration. One with an underlying type (7.2.3) is that type here: its members are constants of it.
#[derive(Debug, PartialEq)]
pub struct EnumType {
    pub name: Rc<str>,
    pub members: Vec<Rc<str>>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Shape {
    Struct,
    Header,
    Union,
}

#[derive(Debug, PartialEq)]
pub struct StructureType {
    pub name: Rc<str>,
    pub shape: Shape,
    pub fields: Vec<(Rc<str>, Type)>,
}

impl StructureType {
    pub fn position(&self, name: &str) -> Option<usize> {
        self.fields.iter().position(|(field, _)| &**field == name)
    }
}

/// `bit<width>` or `int<width>`; the value lies in the range of its type.
#[derive(Clone, Debug, PartialEq)]
pub struct Bits {
    pub width: usize,
    pub signed: bool,
    pub value: BigInt,
}

/// A struct, header or union. `valid` is a header's; a union is valid if a member is, and a struct always.
#[derive(Clone, Debug, PartialEq)]
pub struct Structure {
    pub of: Rc<StructureType>,
    pub valid: bool,
    pub fields: Vec<Value>,
}

/// A header stack (8.18) with its `nextIndex`, or an array of anything else.
#[derive(Clone, Debug, PartialEq)]
pub struct Stack {
    pub element: Rc<Type>,
    pub next: usize,
    pub elements: Vec<Value>,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Void,
    Bool(bool),
    Integer(BigInt),
    Bits(Bits),
    Varbit {
        most: usize,
        width: usize,
        value: BigInt,
    },
    Error(Rc<str>),
    Enum(Rc<EnumType>, Rc<str>),
    String(Rc<str>),
    Structure(Structure),
    Stack(Stack),
    Tuple(Vec<Value>),
    /// `{ a = 1, b = 2 }` until its type is known.
    Record(Vec<(Rc<str>, Value)>),
    /// `{#}` until its type is known.
    Invalid,
    /// `...`
    Default,
    /// What `table.apply()` returns (14.2.2).
    Applied {
        hit: bool,
        action: Rc<str>,
    },
}

/// The remainder of `value` in `width` bits of two's complement.
pub fn wrap(value: &BigInt, width: usize, signed: bool) -> BigInt {
    let modulus = BigInt::from(1) << width;
    let low: BigInt = value & (&modulus - 1u8);
    if signed && width > 0 && low.bit(width as u64 - 1) { low - modulus } else { low }
}

impl Bits {
    pub fn new(value: &BigInt, width: usize, signed: bool) -> Bits {
        Bits { width, signed, value: wrap(value, width, signed) }
    }

    /// The bits as a number without a sign.
    pub fn pattern(&self) -> BigInt {
        wrap(&self.value, self.width, false)
    }
}

impl Value {
    pub fn bits(value: impl Into<BigInt>, width: usize) -> Value {
        Value::Bits(Bits::new(&value.into(), width, false))
    }

    /// The number, of whatever has one.
    pub fn number(&self) -> Option<BigInt> {
        match self {
            Value::Integer(value) => Some(value.clone()),
            Value::Bits(bits) => Some(bits.value.clone()),
            Value::Bool(value) => Some(BigInt::from(u8::from(*value))),
            _ => None,
        }
    }

    pub fn type_of(&self) -> Type {
        match self {
            Value::Void | Value::Applied { .. } => Type::Void,
            Value::Bool(_) => Type::Bool,
            Value::Integer(_) => Type::Integer,
            Value::Bits(bits) => Type::Bits { width: bits.width, signed: bits.signed },
            Value::Varbit { most, .. } => Type::Varbit(*most),
            Value::Error(_) => Type::Error,
            Value::Enum(of, _) => Type::Enum(of.clone()),
            Value::String(_) => Type::String,
            Value::Structure(structure) => Type::Structure(structure.of.clone()),
            Value::Stack(stack) => Type::Stack { element: stack.element.clone(), size: stack.elements.len() },
            Value::Tuple(elements) => Type::Tuple(elements.iter().map(Value::type_of).collect()),
            Value::Record(_) | Value::Invalid | Value::Default => Type::Any,
        }
    }

    /// What a variable holds before anything is written: the specification leaves it open (6.7, 8.26), docs/language.md defines zero; headers
    /// are invalid.
    pub fn initial(of: &Type) -> Value {
        match of {
            Type::Void | Type::Object(_) | Type::Any => Value::Void,
            Type::Bool => Value::Bool(false),
            Type::Integer => Value::Integer(BigInt::ZERO),
            Type::Bits { width, signed } => Value::Bits(Bits { width: *width, signed: *signed, value: BigInt::ZERO }),
            Type::Varbit(most) => Value::Varbit { most: *most, width: 0, value: BigInt::ZERO },
            Type::Error => Value::Error("NoError".into()),
            Type::String => Value::String("".into()),
            Type::Enum(of) => Value::Enum(of.clone(), of.members[0].clone()),
            Type::Structure(of) => Value::Structure(Structure {
                of: of.clone(),
                valid: of.shape == Shape::Struct,
                fields: of.fields.iter().map(|(_, field)| Value::initial(field)).collect(),
            }),
            Type::Stack { element, size } => Value::Stack(Stack {
                element: element.clone(),
                next: 0,
                elements: (0..*size).map(|_| Value::initial(element)).collect(),
            }),
            Type::Tuple(elements) => Value::Tuple(elements.iter().map(Value::initial).collect()),
        }
    }

    /// Whether a header or union is valid (8.17, 8.20).
    pub fn is_valid(&self) -> bool {
        match self {
            Value::Structure(Structure { of, fields, .. }) if of.shape == Shape::Union => {
                fields.iter().any(Value::is_valid)
            }
            Value::Structure(structure) => structure.valid,
            _ => false,
        }
    }

    /// Equality of two values of one type (8.5 to 8.20): of headers both are invalid, or both are valid with equal fields.
    pub fn same(&self, other: &Value) -> bool {
        match (self, other) {
            (Value::Structure(left), Value::Structure(right)) => {
                let fields = || left.fields.iter().zip(&right.fields).all(|(one, two)| one.same(two));
                if left.of.shape == Shape::Header {
                    left.valid == right.valid && (!left.valid || fields())
                } else {
                    fields()
                }
            }
            (Value::Stack(left), Value::Stack(right)) => {
                left.elements.iter().zip(&right.elements).all(|(one, two)| one.same(two))
            }
            (Value::Tuple(left), Value::Tuple(right)) => left.iter().zip(right).all(|(one, two)| one.same(two)),
            (Value::Varbit { width, value, .. }, Value::Varbit { width: other_width, value: other_value, .. }) => {
                width == other_width && value == other_value
            }
            _ => self == other,
        }
    }

    /// The bits of a value that is laid out in a packet or a hash, most significant first. Invalid headers have none.
    pub fn append_bits(&self, out: &mut Vec<bool>) {
        match self {
            Value::Bool(value) => out.push(*value),
            Value::Bits(bits) => push(&bits.pattern(), bits.width, out),
            Value::Varbit { width, value, .. } => push(value, *width, out),
            Value::Structure(structure) if structure.of.shape == Shape::Header && !structure.valid => {}
            Value::Structure(structure) => structure.fields.iter().for_each(|field| field.append_bits(out)),
            Value::Stack(stack) => stack.elements.iter().for_each(|element| element.append_bits(out)),
            Value::Tuple(elements) => elements.iter().for_each(|element| element.append_bits(out)),
            Value::Record(fields) => fields.iter().for_each(|(_, field)| field.append_bits(out)),
            _ => {}
        }
    }
}

fn push(value: &BigInt, width: usize, out: &mut Vec<bool>) {
    out.extend((0..width as u64).rev().map(|bit| value.bit(bit)));
}

/// The number that bits are, the most significant first.
pub fn number_of(bits: &[bool]) -> BigInt {
    let mut bytes = vec![0u8; bits.len().div_ceil(8)];
    for (index, _) in bits.iter().rev().enumerate().filter(|(_, bit)| **bit) {
        bytes[index / 8] |= 1 << (index % 8);
    }
    BigInt::from_bytes_le(num_bigint::Sign::Plus, &bytes)
}

/// How many bits a value of the type has in a packet (9.1); a varbit field counts as none.
pub fn size_in_bits(of: &Type) -> usize {
    match of {
        Type::Bool => 1,
        Type::Bits { width, .. } => *width,
        Type::Structure(of) if of.shape == Shape::Union => {
            of.fields.iter().map(|(_, field)| size_in_bits(field)).max().unwrap_or(0)
        }
        Type::Structure(of) => of.fields.iter().map(|(_, field)| size_in_bits(field)).sum(),
        Type::Stack { element, size } => size_in_bits(element) * size,
        Type::Tuple(elements) => elements.iter().map(size_in_bits).sum(),
        Type::Void
        | Type::Integer
        | Type::Varbit(_)
        | Type::Error
        | Type::String
        | Type::Enum(_)
        | Type::Object(_)
        | Type::Any => 0,
    }
}
