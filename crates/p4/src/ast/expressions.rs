//! Expressions, and the sets of keys (`_`, `a &&& b`, `a .. b`) that appear in select, switch and table entries.
//!
//! A call is one thing here, be it of a function, method, action or constructor: `callee` distinguishes them once it is
//! resolved. So `Counter<bit<32>>(64)` is a call whose callee is the path `Counter`.

use std::sync::Arc;

use num_bigint::BigInt;

use super::{Name, Span, Type};

/// Index of an expression in side tables, unique and dense in a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ExpressionId(pub u32);

impl ExpressionId {
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

#[derive(Clone, Debug)]
pub struct Expression {
    pub id: ExpressionId,
    pub span: Span,
    pub kind: ExpressionKind,
}

#[derive(Clone, Debug)]
pub enum ExpressionKind {
    Bool(bool),
    Integer(Integer),
    /// The text with its escapes resolved.
    String(Arc<str>),
    /// A name, of a value, an instance, or a type (`Color.Red`, `Parser.apply(...)`, `Counter(64)`).
    Path(Path),
    This,
    /// A type that is not a bare name, where a value could be: `error` in `error.NoMatch`, `T<bit<8>>` in `T<bit<8>>.apply()`.
    Type(Box<Type>),
    /// `{ a, b }`; `defaulted` if it ends in `...`, the fields not given then having their default values.
    List {
        elements: Vec<Expression>,
        defaulted: bool,
    },
    /// `{ x = a, y = b }`, `defaulted` as for lists.
    Structure {
        fields: Vec<NamedExpression>,
        defaulted: bool,
    },
    /// `{#}`: an invalid header or header union.
    Invalid,
    /// `...`: the default value of the type that is expected.
    DefaultValue,
    Unary {
        operator: UnaryOperator,
        operand: Box<Expression>,
    },
    Binary {
        operator: BinaryOperator,
        left: Box<Expression>,
        right: Box<Expression>,
    },
    Conditional {
        condition: Box<Expression>,
        accepted: Box<Expression>,
        rejected: Box<Expression>,
    },
    Cast {
        target: Box<Type>,
        operand: Box<Expression>,
    },
    Member {
        base: Box<Expression>,
        member: Name,
    },
    Index {
        base: Box<Expression>,
        index: Box<Expression>,
    },
    /// `base[high:low]`
    Slice {
        base: Box<Expression>,
        high: Box<Expression>,
        low: Box<Expression>,
    },
    /// `base[low +: width]`
    PlusSlice {
        base: Box<Expression>,
        low: Box<Expression>,
        width: Box<Expression>,
    },
    Call {
        callee: Box<Expression>,
        type_arguments: Vec<Type>,
        arguments: Vec<Argument>,
    },
    /// `value &&& mask`, in sets of keys.
    Mask {
        value: Box<Expression>,
        mask: Box<Expression>,
    },
    /// `low .. high`, both included, in sets of keys.
    Range {
        low: Box<Expression>,
        high: Box<Expression>,
    },
    /// `_`, in sets of keys and as an argument for an `out` parameter that is not read.
    DontCare,
    /// `default`, in sets of keys.
    Default,
    /// What could not be parsed; an error was reported; nothing more is reported about it.
    Erroneous,
}

impl Expression {
    /// The expressions this one is made of, in the order of the text, those within types included.
    pub fn children(&self) -> Vec<&Expression> {
        match &self.kind {
            ExpressionKind::Bool(_)
            | ExpressionKind::Integer(_)
            | ExpressionKind::String(_)
            | ExpressionKind::Path(_)
            | ExpressionKind::This
            | ExpressionKind::Invalid
            | ExpressionKind::DefaultValue
            | ExpressionKind::DontCare
            | ExpressionKind::Default
            | ExpressionKind::Erroneous => Vec::new(),
            ExpressionKind::Type(of_type) => of_type.expressions(),
            ExpressionKind::List { elements, .. } => elements.iter().collect(),
            ExpressionKind::Structure { fields, .. } => fields.iter().map(|field| &field.value).collect(),
            ExpressionKind::Unary { operand, .. } => vec![operand],
            ExpressionKind::Binary { left, right, .. } => vec![left, right],
            ExpressionKind::Conditional { condition, accepted, rejected } => vec![condition, accepted, rejected],
            ExpressionKind::Cast { target, operand } => {
                target.expressions().into_iter().chain([operand.as_ref()]).collect()
            }
            ExpressionKind::Member { base, .. } => vec![base],
            ExpressionKind::Index { base, index } => vec![base, index],
            ExpressionKind::Slice { base, high, low } => vec![base, high, low],
            ExpressionKind::PlusSlice { base, low, width } => vec![base, low, width],
            ExpressionKind::Call { callee, type_arguments, arguments } => {
                let types = type_arguments.iter().flat_map(Type::expressions);
                let values = arguments.iter().map(|argument| &argument.value);
                std::iter::once(callee.as_ref()).chain(types).chain(values).collect()
            }
            ExpressionKind::Mask { value, mask } => vec![value, mask],
            ExpressionKind::Range { low, high } => vec![low, high],
        }
    }
}

/// `8w0xFF`: the value, the width if the literal has one and whether it is then signed (`8s`), and how it was spelled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integer {
    pub value: BigInt,
    pub width: Option<u32>,
    pub signed: bool,
    pub base: IntegerBase,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IntegerBase {
    Binary,
    Octal,
    Decimal,
    Hexadecimal,
}

/// `name`, or `.name`, which looks up the name at the top of the program.
#[derive(Clone, Debug)]
pub struct Path {
    pub absolute: bool,
    pub name: Name,
}

#[derive(Clone, Debug)]
pub struct NamedExpression {
    pub name: Name,
    pub value: Expression,
}

/// An argument, `name = value` if it has a name.
#[derive(Clone, Debug)]
pub struct Argument {
    pub span: Span,
    pub name: Option<Name>,
    pub value: Expression,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum UnaryOperator {
    /// `-`
    Negate,
    /// `+`
    Plus,
    /// `~`
    Complement,
    /// `!`
    Not,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BinaryOperator {
    Multiply,
    Divide,
    Modulo,
    Add,
    Subtract,
    /// `|+|`
    SaturatingAdd,
    /// `|-|`
    SaturatingSubtract,
    /// `++`
    Concatenate,
    ShiftLeft,
    ShiftRight,
    BitAnd,
    BitXor,
    BitOr,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    And,
    Or,
}

impl UnaryOperator {
    pub fn symbol(self) -> &'static str {
        match self {
            UnaryOperator::Negate => "-",
            UnaryOperator::Plus => "+",
            UnaryOperator::Complement => "~",
            UnaryOperator::Not => "!",
        }
    }
}

impl BinaryOperator {
    pub fn symbol(self) -> &'static str {
        match self {
            BinaryOperator::Multiply => "*",
            BinaryOperator::Divide => "/",
            BinaryOperator::Modulo => "%",
            BinaryOperator::Add => "+",
            BinaryOperator::Subtract => "-",
            BinaryOperator::SaturatingAdd => "|+|",
            BinaryOperator::SaturatingSubtract => "|-|",
            BinaryOperator::Concatenate => "++",
            BinaryOperator::ShiftLeft => "<<",
            BinaryOperator::ShiftRight => ">>",
            BinaryOperator::BitAnd => "&",
            BinaryOperator::BitXor => "^",
            BinaryOperator::BitOr => "|",
            BinaryOperator::Less => "<",
            BinaryOperator::LessOrEqual => "<=",
            BinaryOperator::Greater => ">",
            BinaryOperator::GreaterOrEqual => ">=",
            BinaryOperator::Equal => "==",
            BinaryOperator::NotEqual => "!=",
            BinaryOperator::And => "&&",
            BinaryOperator::Or => "||",
        }
    }
}
