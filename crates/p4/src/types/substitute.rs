//! Replaces type parameters by their types.
//!
//! Inside a generic declaration recorded types mention its parameters. A specialization carries a `Substitution`
//! and passes every recorded type through `substitute`.

use std::sync::Arc;

use super::{Nominal, Type};
use crate::ast::DeclarationId;

/// What the type parameters of one or more declarations are.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Substitution {
    bindings: Vec<(DeclarationId, Type)>,
}

impl Substitution {
    pub fn new(bindings: Vec<(DeclarationId, Type)>) -> Substitution {
        Substitution { bindings }
    }

    pub fn is_empty(&self) -> bool {
        self.bindings.is_empty()
    }

    pub fn bind(&mut self, parameter: DeclarationId, to: Type) {
        self.bindings.push((parameter, to));
    }

    pub fn get(&self, parameter: DeclarationId) -> Option<&Type> {
        self.bindings.iter().find(|(bound, _)| *bound == parameter).map(|(_, to)| to)
    }

    pub fn iter(&self) -> impl Iterator<Item = (DeclarationId, &Type)> {
        self.bindings.iter().map(|(parameter, to)| (*parameter, to))
    }

    /// This one and then `outer`: bindings of both, those of this one with `outer` applied.
    pub fn within(&self, outer: &Substitution) -> Substitution {
        let inner = self.bindings.iter().map(|(parameter, to)| (*parameter, substitute(to, outer)));
        Substitution { bindings: inner.chain(outer.bindings.iter().cloned()).collect() }
    }

    /// The same with each bound type changed by `change`.
    pub fn map(&self, change: impl Fn(&Type) -> Type) -> Substitution {
        Substitution { bindings: self.bindings.iter().map(|(parameter, to)| (*parameter, change(to))).collect() }
    }
}

/// `of_type` with the bound type parameters replaced; parameters that are not bound stay.
pub fn substitute(of_type: &Type, substitution: &Substitution) -> Type {
    if substitution.is_empty() {
        return of_type.clone();
    }
    of_type.replace(&|part| {
        let Type::Variable(nominal) = part else { return None };
        substitution.get(nominal.declaration).cloned()
    })
}

impl Nominal {
    fn replace(&self, replacement: &dyn Fn(&Type) -> Option<Type>) -> Nominal {
        if self.arguments.is_empty() {
            return self.clone();
        }
        Nominal { arguments: replace_all(&self.arguments, replacement), ..self.clone() }
    }
}

impl Type {
    /// The type with every part for which `replacement` has another one replaced; what is put in is not looked into.
    pub fn replace(&self, replacement: &dyn Fn(&Type) -> Option<Type>) -> Type {
        if let Some(other) = replacement(self) {
            return other;
        }
        let nested = |inner: &Arc<Type>| Arc::new(inner.replace(replacement));
        match self {
            Type::Tuple(parts) => Type::Tuple(replace_all(parts, replacement)),
            Type::ListLiteral { elements, defaulted } => {
                Type::ListLiteral { elements: replace_all(elements, replacement), defaulted: *defaulted }
            }
            Type::StructureLiteral { fields, defaulted } => Type::StructureLiteral {
                fields: fields.iter().map(|(name, field)| (name.clone(), field.replace(replacement))).collect(),
                defaulted: *defaulted,
            },
            Type::List(element) => Type::List(nested(element)),
            Type::Stack { element, size } => Type::Stack { element: nested(element), size: *size },
            Type::ValueSet(element) => Type::ValueSet(nested(element)),
            Type::Set(element) => Type::Set(nested(element)),
            Type::Name(named) => Type::Name(nested(named)),
            Type::Struct(nominal) => Type::Struct(nominal.replace(replacement)),
            Type::Header(nominal) => Type::Header(nominal.replace(replacement)),
            Type::Union(nominal) => Type::Union(nominal.replace(replacement)),
            Type::Extern(nominal) => Type::Extern(nominal.replace(replacement)),
            Type::Parser(nominal) => Type::Parser(nominal.replace(replacement)),
            Type::Control(nominal) => Type::Control(nominal.replace(replacement)),
            Type::Package(nominal) => Type::Package(nominal.replace(replacement)),
            Type::Newtype(_)
            | Type::Enum(_)
            | Type::SerializableEnum(_)
            | Type::Action(_)
            | Type::Table(_)
            | Type::TableResult(_)
            | Type::ActionRun(_)
            | Type::Variable(_)
            | Type::Unknown
            | Type::Void
            | Type::Bool
            | Type::Error
            | Type::MatchKind
            | Type::String
            | Type::Integer
            | Type::Bits { .. }
            | Type::Varbit { .. }
            | Type::State
            | Type::Inferred(_)
            | Type::DontCare
            | Type::InvalidLiteral
            | Type::DefaultLiteral
            | Type::Callable => self.clone(),
        }
    }
}

fn replace_all(parts: &Arc<[Type]>, replacement: &dyn Fn(&Type) -> Option<Type>) -> Arc<[Type]> {
    parts.iter().map(|part| part.replace(replacement)).collect()
}
