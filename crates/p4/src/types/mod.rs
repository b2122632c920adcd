//! The types of P4: what expressions, fields and parameters have once names are resolved and widths are known.
//!
//! A declared type is its declaration and its type arguments, so two types are the same exactly if the values are equal.
//! Cloning is cheap: whatever could be long is shared.

mod substitute;
mod written;

use std::sync::Arc;

pub use substitute::{Substitution, substitute};

use crate::ast::DeclarationId;

/// A declared type with its type arguments; the name is there for messages.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Nominal {
    pub declaration: DeclarationId,
    pub name: Arc<str>,
    pub arguments: Arc<[Type]>,
}

/// The type of something in a checked program.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Type {
    /// Of something that an error was reported about: fits everywhere, so that one mistake is one message.
    Unknown,
    Void,
    Bool,
    Error,
    MatchKind,
    String,
    /// `int`: any size, at compile time only.
    Integer,
    Bits {
        width: u32,
        signed: bool,
    },
    /// `varbit<width>`
    Varbit {
        width: u32,
    },
    Tuple(Arc<[Type]>),
    List(Arc<Type>),
    /// `H[4]`: a header stack if the element is a header or a union, else an array.
    Stack {
        element: Arc<Type>,
        size: u32,
    },
    Struct(Nominal),
    Header(Nominal),
    Union(Nominal),
    /// An enumeration without an underlying type.
    Enum(Nominal),
    /// An enumeration with an underlying type; `Checked::underlying` has it.
    SerializableEnum(Nominal),
    /// `type T name`; `Checked::underlying` has T.
    Newtype(Nominal),
    Extern(Nominal),
    /// A parser type, or a parser with a body, as the type of its instances.
    Parser(Nominal),
    /// A control type, or a control with a body, as the type of its instances.
    Control(Nominal),
    Package(Nominal),
    /// The action itself, where its name is used as a value.
    Action(Nominal),
    Table(Nominal),
    /// What `table.apply()` returns: a value with `hit`, `miss` and `action_run`.
    TableResult(Nominal),
    /// What `table.apply().action_run` is: one of the actions of the table.
    ActionRun(Nominal),
    State,
    /// A value set over values of a type.
    ValueSet(Arc<Type>),
    /// A set of values as `&&&`, `..`, `_` and `default` make: only in select cases and table entries.
    Set(Arc<Type>),
    /// A type parameter, inside the declaration that has it.
    Variable(Nominal),
    /// A type still to be found; none is left in the result of a check without errors.
    Inferred(u32),
    /// `_` among the type arguments of something that never uses it.
    DontCare,
    /// A list literal that nothing asked to be of another type: behaves as a tuple.
    ListLiteral {
        elements: Arc<[Type]>,
        defaulted: bool,
    },
    /// A structure literal whose type is not known.
    StructureLiteral {
        fields: Arc<[(Arc<str>, Type)]>,
        defaulted: bool,
    },
    /// `{#}` whose type is not known.
    InvalidLiteral,
    /// `...` whose type is not known.
    DefaultLiteral,
    /// The expression names a type: `Color` in `Color.Red`.
    Name(Arc<Type>),
    /// The expression names something to be called: a function, a method, `apply`, `isValid`.
    Callable,
}

impl Type {
    pub const BIT: Type = Type::Bits { width: 1, signed: false };

    pub fn bits(width: u32) -> Type {
        Type::Bits { width, signed: false }
    }

    pub fn is_unknown(&self) -> bool {
        matches!(self, Type::Unknown)
    }

    /// The declaration and type arguments of a declared type.
    pub fn nominal(&self) -> Option<&Nominal> {
        match self {
            Type::Struct(nominal)
            | Type::Header(nominal)
            | Type::Union(nominal)
            | Type::Enum(nominal)
            | Type::SerializableEnum(nominal)
            | Type::Newtype(nominal)
            | Type::Extern(nominal)
            | Type::Parser(nominal)
            | Type::Control(nominal)
            | Type::Package(nominal)
            | Type::Action(nominal)
            | Type::Table(nominal)
            | Type::TableResult(nominal)
            | Type::ActionRun(nominal)
            | Type::Variable(nominal) => Some(nominal),
            Type::Unknown
            | Type::Void
            | Type::Bool
            | Type::Error
            | Type::MatchKind
            | Type::String
            | Type::Integer
            | Type::Bits { .. }
            | Type::Varbit { .. }
            | Type::Tuple(_)
            | Type::List(_)
            | Type::Stack { .. }
            | Type::State
            | Type::ValueSet(_)
            | Type::Set(_)
            | Type::Inferred(_)
            | Type::DontCare
            | Type::ListLiteral { .. }
            | Type::StructureLiteral { .. }
            | Type::InvalidLiteral
            | Type::DefaultLiteral
            | Type::Name(_)
            | Type::Callable => None,
        }
    }

    /// Objects of the compiler rather than values of the program: they are instantiated, never assigned.
    pub fn is_object(&self) -> bool {
        matches!(self, Type::Extern(_) | Type::Parser(_) | Type::Control(_) | Type::Package(_) | Type::Table(_))
    }

    /// A header, or a union of headers.
    pub fn is_header_like(&self) -> bool {
        matches!(self, Type::Header(_) | Type::Union(_))
    }

    /// A stack of headers, as opposed to an array.
    pub fn is_header_stack(&self) -> bool {
        matches!(self, Type::Stack { element, .. } if element.is_header_like())
    }

    /// Whether some type inside satisfies `test`; type arguments count, fields of declared types do not.
    pub fn any(&self, test: &dyn Fn(&Type) -> bool) -> bool {
        if test(self) {
            return true;
        }
        match self {
            Type::Tuple(parts) | Type::ListLiteral { elements: parts, .. } => parts.iter().any(|part| part.any(test)),
            Type::StructureLiteral { fields, .. } => fields.iter().any(|(_, part)| part.any(test)),
            Type::List(inner)
            | Type::Stack { element: inner, .. }
            | Type::ValueSet(inner)
            | Type::Set(inner)
            | Type::Name(inner) => inner.any(test),
            Type::Unknown
            | Type::Void
            | Type::Bool
            | Type::Error
            | Type::MatchKind
            | Type::String
            | Type::Integer
            | Type::Bits { .. }
            | Type::Varbit { .. }
            | Type::Struct(_)
            | Type::Header(_)
            | Type::Union(_)
            | Type::Enum(_)
            | Type::SerializableEnum(_)
            | Type::Newtype(_)
            | Type::Extern(_)
            | Type::Parser(_)
            | Type::Control(_)
            | Type::Package(_)
            | Type::Action(_)
            | Type::Table(_)
            | Type::TableResult(_)
            | Type::ActionRun(_)
            | Type::State
            | Type::Variable(_)
            | Type::Inferred(_)
            | Type::DontCare
            | Type::InvalidLiteral
            | Type::DefaultLiteral
            | Type::Callable => {
                self.nominal().is_some_and(|nominal| nominal.arguments.iter().any(|argument| argument.any(test)))
            }
        }
    }

    /// Whether something inside is still to be inferred.
    pub fn is_open(&self) -> bool {
        self.any(&|part| matches!(part, Type::Inferred(_)))
    }
}
