//! Expressions: pure, total, on bit strings of any width and on booleans.
//!
//! A value has no sign; operators do. Lowering has made every cast, every evaluation order and every call explicit, so an expression reads
//! storage and nothing else, and may be evaluated at any time between two statements.

use crate::{FieldRef, HeaderId, Place, VariableId};
use num_bigint::BigUint;

/// The type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    Bool,
    /// A bit string; the width may be 0.
    Bits(u32),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Expression {
    Bool(bool),
    /// `value` is below `2^width`.
    Constant {
        value: BigUint,
        width: u32,
    },
    Variable(VariableId),
    /// A field that is not varbit.
    Field(FieldRef),
    /// Whether a header is valid.
    Valid(HeaderId),
    /// A parameter of the action whose body this is, by number; its value comes from the table entry.
    Parameter(u32),
    Intrinsic(Intrinsic),
    Unary {
        operator: Unary,
        operand: Box<Expression>,
    },
    Binary {
        operator: Binary,
        left: Box<Expression>,
        right: Box<Expression>,
    },
    /// Bits `high` to `low` of the operand, bit 0 being the least significant.
    Slice {
        operand: Box<Expression>,
        high: u32,
        low: u32,
    },
    /// The operand widened to `width` bits, with zeros or with copies of its most significant bit.
    Extend {
        operand: Box<Expression>,
        width: u32,
        signed: bool,
    },
    /// `then` if `condition`, else `otherwise`; both have the same type.
    Choose {
        condition: Box<Expression>,
        then: Box<Expression>,
        otherwise: Box<Expression>,
    },
    /// A boolean as one bit.
    FromBool(Box<Expression>),
    /// Length in bits of a varbit field: 32 bits wide.
    VarbitLength(FieldRef),
    /// Whether two varbit fields have equal lengths and bits.
    VarbitEqual(FieldRef, FieldRef),
}

/// What the engine knows of the packet in hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Intrinsic {
    /// The port that the packet came in on: 32 bits.
    IngressPort,
    /// Bytes of the packet now: as it arrived, or as the last deparser left it. 32 bits.
    PacketLength,
    /// Nanoseconds since the switch started, one value for a packet's whole run through the graph: 64 bits.
    Clock,
    /// In the `set` list of a copy: the port that the group's or session's member names. 32 bits.
    CopyPort,
    /// In the `set` list of a copy: the instance (replication id) that the member names. 16 bits.
    CopyInstance,
    /// In the `set` list of a copy: bytes to which the session truncates, 0 for no limit. 32 bits.
    CopyTruncation,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Unary {
    /// Boolean `!`
    Not,
    /// `~` on bits
    Complement,
    /// Two's complement `-` on bits
    Negate,
}

/// Both operands have the same width, except for shifts (any amount width) and `Concat`. Overflow wraps.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Binary {
    Add,
    Subtract,
    Multiply,
    /// Unsigned; a division by zero gives 0.
    Divide,
    /// Unsigned; a remainder by zero gives 0.
    Remainder,
    AddSaturating,
    SubtractSaturating,
    AddSaturatingSigned,
    SubtractSaturatingSigned,
    And,
    Or,
    Xor,
    /// An amount that is not below the width gives 0.
    ShiftLeft,
    ShiftRight,
    /// An amount that is not below the width gives copies of the sign.
    ShiftRightSigned,
    /// The left operand's bits are the more significant ones.
    Concat,
    /// On booleans or bits.
    Equal,
    NotEqual,
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    LessSigned,
    LessEqualSigned,
    GreaterSigned,
    GreaterEqualSigned,
    /// On booleans. Expressions being pure, short circuits cannot be observed.
    LogicalAnd,
    LogicalOr,
}

impl Intrinsic {
    pub const fn width(self) -> u32 {
        match self {
            Intrinsic::Clock => 64,
            Intrinsic::CopyInstance => 16,
            Intrinsic::IngressPort | Intrinsic::PacketLength | Intrinsic::CopyPort | Intrinsic::CopyTruncation => 32,
        }
    }
}

impl Binary {
    /// Whether the result is a boolean.
    pub const fn is_predicate(self) -> bool {
        match self {
            Binary::Equal
            | Binary::NotEqual
            | Binary::Less
            | Binary::LessEqual
            | Binary::Greater
            | Binary::GreaterEqual
            | Binary::LessSigned
            | Binary::LessEqualSigned
            | Binary::GreaterSigned
            | Binary::GreaterEqualSigned
            | Binary::LogicalAnd
            | Binary::LogicalOr => true,
            Binary::Add
            | Binary::Subtract
            | Binary::Multiply
            | Binary::Divide
            | Binary::Remainder
            | Binary::AddSaturating
            | Binary::SubtractSaturating
            | Binary::AddSaturatingSigned
            | Binary::SubtractSaturatingSigned
            | Binary::And
            | Binary::Or
            | Binary::Xor
            | Binary::ShiftLeft
            | Binary::ShiftRight
            | Binary::ShiftRightSigned
            | Binary::Concat => false,
        }
    }
}

impl Type {
    /// Width in bits; a boolean takes one.
    pub const fn width(self) -> u32 {
        match self {
            Type::Bool => 1,
            Type::Bits(width) => width,
        }
    }
}

impl Expression {
    pub fn constant(value: impl Into<BigUint>, width: u32) -> Expression {
        Expression::Constant { value: value.into(), width }
    }

    pub fn place(place: Place) -> Expression {
        match place {
            Place::Variable(variable) => Expression::Variable(variable),
            Place::Field(field) => Expression::Field(field),
        }
    }

    pub fn unary(operator: Unary, operand: Expression) -> Expression {
        Expression::Unary { operator, operand: Box::new(operand) }
    }

    pub fn binary(operator: Binary, left: Expression, right: Expression) -> Expression {
        Expression::Binary { operator, left: Box::new(left), right: Box::new(right) }
    }

    pub fn slice(operand: Expression, high: u32, low: u32) -> Expression {
        Expression::Slice { operand: Box::new(operand), high, low }
    }

    pub fn extend(operand: Expression, width: u32, signed: bool) -> Expression {
        Expression::Extend { operand: Box::new(operand), width, signed }
    }

    pub fn choose(condition: Expression, then: Expression, otherwise: Expression) -> Expression {
        Expression::Choose { condition: Box::new(condition), then: Box::new(then), otherwise: Box::new(otherwise) }
    }

    /// Calls `visit` with this expression and all below it, outermost first.
    pub fn walk(&self, visit: &mut impl FnMut(&Expression)) {
        visit(self);
        match self {
            Expression::Unary { operand, .. }
            | Expression::Slice { operand, .. }
            | Expression::Extend { operand, .. }
            | Expression::FromBool(operand) => operand.walk(visit),
            Expression::Binary { left, right, .. } => {
                left.walk(visit);
                right.walk(visit);
            }
            Expression::Choose { condition, then, otherwise } => {
                condition.walk(visit);
                then.walk(visit);
                otherwise.walk(visit);
            }
            Expression::Bool(_)
            | Expression::Constant { .. }
            | Expression::Variable(_)
            | Expression::Field(_)
            | Expression::Valid(_)
            | Expression::Parameter(_)
            | Expression::Intrinsic(_)
            | Expression::VarbitLength(_)
            | Expression::VarbitEqual(_, _) => {}
        }
    }
}
