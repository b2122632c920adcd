//! Types as they are written: widths are expressions, names are not yet resolved.

use super::{Expression, Path, Span};

#[derive(Clone, Debug)]
pub struct Type {
    pub span: Span,
    pub kind: TypeKind,
}

#[derive(Clone, Debug)]
pub enum TypeKind {
    Void,
    Bool,
    Error,
    MatchKind,
    String,
    /// `int` without a width: of any size, at compile time only.
    Integer,
    /// `bit<W>`; `bit` alone is `bit<1>` and has no width here.
    Bit(Option<Box<Expression>>),
    /// `int<W>`
    SignedBit(Box<Expression>),
    /// `varbit<W>`
    Varbit(Box<Expression>),
    Tuple(Vec<Type>),
    List(Box<Type>),
    /// A declared type, or a type parameter.
    Named(Path),
    /// `Name<A, B>`
    Specialized {
        base: Path,
        arguments: Vec<Type>,
    },
    /// `H[4]`: a header stack, or an array of anything else.
    Array {
        element: Box<Type>,
        size: Box<Expression>,
    },
    /// `_` among type arguments.
    DontCare,
}
