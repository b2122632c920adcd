//! Values in static single assignment form: each is computed by one operation from earlier values.
//!
//! A value is a boolean or a bit string of any width, and operators are those of HLIR, so the meaning of an
//! operation is that of `hlir::value`. What reads the packet reads bytes as they arrived: a field that the
//! path has assigned is the assigned value instead.

use hlir::value::Value as Number;
use hlir::{Algorithm, Binary, NodeId, RegisterId, Unary};

/// The result of an operation, by index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Value(pub u32);

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// A boolean has one bit.
    Constant(Number),
    /// Bits of the packet from this one on, most significant first.
    Packet {
        bit: u32,
    },
    /// Length of the packet in bytes, 32 bits.
    Length,
    /// Bytes of the buffer before the packet, 32 bits.
    Headroom,
    /// The ingress port, 32 bits.
    Port,
    /// An element of a register that no packet writes; 0 beyond its end.
    Register {
        register: RegisterId,
        index: Value,
    },
    /// What the lookup at a node yields.
    Lookup {
        node: NodeId,
        what: Found,
        /// Of an action, or a parameter, of a table with a selector: a record may lead to a group. Its number modulo that of the
        /// group's members chooses one, whose record it then is. 64 bits.
        hash: Option<Value>,
    },
    Unary(Unary, Value),
    Binary(Binary, Value, Value),
    /// Bits of an operand from bit `low` on, 0 being the least significant.
    Slice {
        of: Value,
        low: u32,
    },
    /// The operand with zeros or copies of its sign above.
    Extend {
        of: Value,
        signed: bool,
    },
    Choose {
        condition: Value,
        then: Value,
        otherwise: Value,
    },
    /// A boolean as one bit.
    FromBool(Value),
    Sum(Sum),
    /// The hash of bytes, 64 bits: of at most 64 bits each but whole bytes together, the first ones first.
    Hash {
        algorithm: Algorithm,
        data: Vec<Value>,
    },
}

/// A ones' complement sum of 16-bit words, folded to 16 bits (RFC 1071, section 4.1).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Sum {
    /// A sum to which the words are added.
    pub before: Option<Value>,
    /// Bytes of the packet, each piece of an even number: first byte, and the one behind the last.
    pub bytes: Vec<(u32, u32)>,
    /// Values of whole words.
    pub words: Vec<Value>,
    /// The complement of each word is added.
    pub subtract: bool,
}

/// In the place of an action's number: there is no member to choose.
pub const NO_MEMBER: u32 = u32::MAX;

/// A result of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Found {
    /// The record number that the key finds, 0 if there is none; 32 bits.
    Number,
    /// The number of the action that runs, 32 bits: of the record, or of the default action's; [`NO_MEMBER`] where the
    /// record leads to a group without members.
    Action,
    /// A parameter of that record, by number, from its bit `low` on; arbitrary bits if another action runs.
    Parameter { action: usize, parameter: usize, low: u32 },
}

impl Operation {
    pub fn operands(&self) -> Vec<Value> {
        match self {
            Operation::Constant(_)
            | Operation::Packet { .. }
            | Operation::Length
            | Operation::Headroom
            | Operation::Port => Vec::new(),
            Operation::Lookup { hash, .. } => hash.iter().copied().collect(),
            Operation::Register { index: of, .. }
            | Operation::Unary(_, of)
            | Operation::Slice { of, .. }
            | Operation::Extend { of, .. }
            | Operation::FromBool(of) => vec![*of],
            Operation::Binary(_, left, right) => vec![*left, *right],
            Operation::Choose { condition, then, otherwise } => vec![*condition, *then, *otherwise],
            Operation::Sum(sum) => sum.before.iter().chain(&sum.words).copied().collect(),
            Operation::Hash { data, .. } => data.clone(),
        }
    }

    /// Bytes of the packet that an operation of this width reads itself: the first one, and the one behind the last.
    pub fn bytes_read(&self, width: u32) -> Vec<(u32, u32)> {
        if let Operation::Packet { bit } = self {
            return vec![(bit / 8, (bit + width).div_ceil(8))];
        }
        if let Operation::Sum(sum) = self { sum.bytes.clone() } else { Vec::new() }
    }

    /// The same of other operands.
    pub fn with(&self, to: impl Fn(Value) -> Value) -> Operation {
        match self {
            Operation::Register { register, index } => Operation::Register { register: *register, index: to(*index) },
            Operation::Lookup { node, what, hash } => {
                Operation::Lookup { node: *node, what: *what, hash: hash.map(to) }
            }
            Operation::Unary(operator, of) => Operation::Unary(*operator, to(*of)),
            Operation::Binary(operator, left, right) => Operation::Binary(*operator, to(*left), to(*right)),
            Operation::Slice { of, low } => Operation::Slice { of: to(*of), low: *low },
            Operation::Extend { of, signed } => Operation::Extend { of: to(*of), signed: *signed },
            Operation::Choose { condition, then, otherwise } => {
                Operation::Choose { condition: to(*condition), then: to(*then), otherwise: to(*otherwise) }
            }
            Operation::FromBool(of) => Operation::FromBool(to(*of)),
            Operation::Sum(sum) => Operation::Sum(Sum {
                before: sum.before.map(&to),
                bytes: sum.bytes.clone(),
                words: sum.words.iter().map(|word| to(*word)).collect(),
                subtract: sum.subtract,
            }),
            Operation::Hash { algorithm, data } => {
                Operation::Hash { algorithm: *algorithm, data: data.iter().map(|piece| to(*piece)).collect() }
            }
            same @ (Operation::Constant(_)
            | Operation::Packet { .. }
            | Operation::Length
            | Operation::Headroom
            | Operation::Port) => same.clone(),
        }
    }
}
