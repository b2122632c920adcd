//! Values at compile time, and the operators on them.
//!
//! Numbers are unbounded; a value of type `bit<W>` or `int<W>` is kept within its range. What P4 leaves undefined or
//! forbids (a division by zero, a negative shift) is a `Mistake`, for the checker to report where it happened.

mod operators;

pub use hlir::build::arithmetic::wrap;
use std::sync::Arc;

use num_bigint::BigInt;

pub use operators::{Mistake, binary, concatenate, slice, unary};

use crate::ast::DeclarationId;
use crate::types::Type;

/// The value of a constant expression.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    Bool(bool),
    /// Of `bit<W>`, `int<W>`, `int`, a serialisable enumeration or a `type` of one of these.
    Integer(BigInt),
    String(Arc<str>),
    /// A member of an enumeration without an underlying type, of the errors, or of the match kinds.
    Member(DeclarationId),
    /// Of a tuple, a list, a stack or an array, in order.
    Sequence(Arc<[Value]>),
    /// Of a struct or a valid header: all fields in the order of the type.
    Structure(Arc<[Value]>),
    /// A header or header union that is not valid.
    Invalid,
    /// The members `&&&` and `..` make sets of.
    Mask(BigInt, BigInt),
    Range(BigInt, BigInt),
    /// `_` or `default`.
    Everything,
}

impl Value {
    pub fn integer(&self) -> Option<&BigInt> {
        if let Value::Integer(value) = self { Some(value) } else { None }
    }

    pub fn boolean(&self) -> Option<bool> {
        if let Value::Bool(value) = self { Some(*value) } else { None }
    }
}

/// Whether a number is in the range of `bit<width>` or `int<width>`.
pub fn fits(value: &BigInt, width: u32, signed: bool) -> bool {
    wrap(value, width, signed) == *value
}

/// The value after a cast to a type whose representation is `target`; nothing if that is no cast of constants.
pub fn cast(value: &Value, target: &Type) -> Option<Value> {
    match (value, target) {
        (Value::Integer(number), Type::Bits { width, signed }) => Some(Value::Integer(wrap(number, *width, *signed))),
        (Value::Integer(number), Type::Bool) => Some(Value::Bool(*number != BigInt::ZERO)),
        (Value::Bool(value), Type::Bits { .. } | Type::Integer) => Some(Value::Integer(BigInt::from(u8::from(*value)))),
        _ => Some(value.clone()),
    }
}
