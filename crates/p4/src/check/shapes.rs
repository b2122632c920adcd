//! The shape of types: their fields, type parameters and sizes.
//!
//! Questions about a type that only the declarations of the program can answer.

use std::sync::Arc;

use super::results::Checked;
use crate::ast::{DeclarationId, DeclarationKind, Field, Parameter, TypeParameter};
use crate::check::nodes::Node;
use crate::types::{Nominal, Substitution, Type, substitute};

/// A field of a type as one use of the type has it.
#[derive(Clone, Debug, PartialEq)]
pub struct FieldOf {
    pub id: DeclarationId,
    pub name: Arc<str>,
    pub of_type: Type,
}

/// How many bits a value takes, at least and at most.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    pub smallest: u32,
    pub largest: u32,
}

impl Size {
    fn plus(self, other: Size) -> Option<Size> {
        Some(Size {
            smallest: self.smallest.checked_add(other.smallest)?,
            largest: self.largest.checked_add(other.largest)?,
        })
    }
}

impl<'a> Checked<'a> {
    /// The fields of a struct, header or union in order, with the type arguments put in; none for other types.
    pub fn fields_of(&self, of_type: &Type) -> Vec<FieldOf> {
        let (Type::Struct(nominal) | Type::Header(nominal) | Type::Union(nominal)) = of_type else { return Vec::new() };
        let substitution = self.arguments_of(nominal);
        let field_of = |field: &'a Field| FieldOf {
            id: field.id,
            name: field.name.text.clone(),
            of_type: substitute(self.declared_type(field.id), &substitution),
        };
        self.fields(nominal.declaration).iter().map(field_of).collect()
    }

    /// Whether values of a type have headers in them, or are headers.
    pub fn has_headers(&self, of_type: &Type) -> bool {
        match of_type {
            Type::Tuple(parts) => parts.iter().any(|part| self.has_headers(part)),
            Type::List(element) | Type::Stack { element, .. } => self.has_headers(element),
            other => {
                other.is_header_like() || self.fields_of(other).iter().any(|field| self.has_headers(&field.of_type))
            }
        }
    }

    /// The fields as declared.
    pub fn fields(&self, structure: DeclarationId) -> &'a [Field] {
        match self.kind(structure) {
            Some(DeclarationKind::Structure(structure)) => &structure.fields,
            _ => &[],
        }
    }

    pub(super) fn kind(&self, id: DeclarationId) -> Option<&'a DeclarationKind> {
        self.nodes.get(id.index()).copied().flatten()?.declaration().map(|declaration| &declaration.kind)
    }

    /// The values of a declared type's parameters in one of its uses.
    pub fn arguments_of(&self, nominal: &Nominal) -> Substitution {
        let pairs = self.type_parameters(nominal.declaration).iter().zip(nominal.arguments.iter());
        Substitution::new(pairs.map(|(parameter, argument)| (parameter.id, argument.clone())).collect())
    }

    pub fn type_parameters(&self, id: DeclarationId) -> &'a [TypeParameter] {
        if let Some(Node::Method { method, .. }) = self.nodes[id.index()] {
            return &method.type_parameters;
        }
        match self.kind(id) {
            Some(DeclarationKind::Structure(structure)) => &structure.type_parameters,
            Some(DeclarationKind::Extern(declared)) => &declared.type_parameters,
            Some(DeclarationKind::Function(function)) => &function.type_parameters,
            Some(DeclarationKind::Parser(parser)) => &parser.type_parameters,
            Some(DeclarationKind::Control(control)) => &control.type_parameters,
            Some(DeclarationKind::Package(package)) => &package.type_parameters,
            _ => &[],
        }
    }

    /// The parameters of what is called with arguments: functions, methods, actions, and the `apply` of parsers and
    /// controls; of a package, those of its constructor.
    pub fn parameters(&self, id: DeclarationId) -> &'a [Parameter] {
        if let Some(Node::Method { method, .. }) = self.nodes[id.index()] {
            return &method.parameters;
        }
        match self.kind(id) {
            Some(DeclarationKind::Function(function)) => &function.parameters,
            Some(DeclarationKind::Action { parameters, .. }) => parameters,
            Some(DeclarationKind::Parser(parser)) => &parser.parameters,
            Some(DeclarationKind::Control(control)) => &control.parameters,
            Some(DeclarationKind::Package(package)) => &package.parameters,
            _ => &[],
        }
    }

    /// The parameters of the constructor of a parser, control or package; those of an extern are in its methods.
    pub fn constructor_parameters(&self, id: DeclarationId) -> &'a [Parameter] {
        match self.kind(id) {
            Some(DeclarationKind::Parser(parser)) => &parser.constructor_parameters,
            Some(DeclarationKind::Control(control)) => &control.constructor_parameters,
            Some(DeclarationKind::Package(package)) => &package.parameters,
            _ => &[],
        }
    }

    /// The bits of a value of this type; a `varbit` counts with its largest size. Nothing for types without a size,
    /// such as `int`, `error`, or a type parameter.
    pub fn width_of(&self, of_type: &Type) -> Option<u32> {
        self.size_of(of_type).map(|size| size.largest)
    }

    /// The smallest and the largest number of bits of a value of this type.
    pub fn size_of(&self, of_type: &Type) -> Option<Size> {
        match of_type {
            Type::Bool => Some(Size { smallest: 1, largest: 1 }),
            Type::Bits { width, .. } => Some(Size { smallest: *width, largest: *width }),
            Type::Varbit { width } => Some(Size { smallest: 0, largest: *width }),
            Type::Newtype(_) | Type::SerializableEnum(_) => self.size_of(&self.representation(of_type)),
            Type::Tuple(parts) | Type::ListLiteral { elements: parts, .. } => self.sum_of(parts.iter()),
            Type::Stack { element, size } => {
                let one = self.size_of(element)?;
                Some(Size { smallest: one.smallest.checked_mul(*size)?, largest: one.largest.checked_mul(*size)? })
            }
            Type::Struct(_) | Type::Header(_) => {
                self.sum_of(self.fields_of(of_type).iter().map(|field| &field.of_type))
            }
            Type::Union(_) => {
                let fields = self.fields_of(of_type);
                let sizes: Option<Vec<Size>> = fields.iter().map(|field| self.size_of(&field.of_type)).collect();
                let sizes = sizes?;
                Some(Size {
                    smallest: sizes.iter().map(|size| size.smallest).min().unwrap_or(0),
                    largest: sizes.iter().map(|size| size.largest).max().unwrap_or(0),
                })
            }
            _ => None,
        }
    }

    fn sum_of<'t>(&self, mut parts: impl Iterator<Item = &'t Type>) -> Option<Size> {
        parts.try_fold(Size::default(), |sum, part| sum.plus(self.size_of(part)?))
    }
}
