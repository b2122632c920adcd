//! Types as they are written: widths are expressions, names are not yet resolved.

use super::{Expression, Name, Path, Span};

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

impl Type {
    /// The type of a name, written where the name is.
    pub fn named(name: Name) -> Type {
        Type { span: name.span, kind: TypeKind::Named(Path { absolute: false, name }) }
    }

    /// The widths and sizes in this type.
    pub fn expressions(&self) -> Vec<&Expression> {
        match &self.kind {
            TypeKind::Void
            | TypeKind::Bool
            | TypeKind::Error
            | TypeKind::MatchKind
            | TypeKind::String
            | TypeKind::Integer
            | TypeKind::Bit(None)
            | TypeKind::Named(_)
            | TypeKind::DontCare => Vec::new(),
            TypeKind::Bit(Some(width)) | TypeKind::SignedBit(width) | TypeKind::Varbit(width) => vec![width],
            TypeKind::Tuple(types) | TypeKind::Specialized { arguments: types, .. } => {
                types.iter().flat_map(Type::expressions).collect()
            }
            TypeKind::List(element) => element.expressions(),
            TypeKind::Array { element, size } => element.expressions().into_iter().chain([size.as_ref()]).collect(),
        }
    }
}
