//! From types as they are written to types: names are looked up, widths evaluated, type arguments counted.
//!
//! What may be nested in what, and which types parameters may have, is in `nesting`.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;
use num_bigint::BigInt;

use super::checker::Checker;
use super::nodes::Node;
use super::results::Reference;
use crate::ast::{self, DeclarationId, DeclarationKind, Expression, Path, StructureKind, TypeKind};
use crate::types::{Nominal, Type};

/// Wider types are refused: nothing would run them, and sizes in bits have to fit a machine word.
pub(super) const WIDEST: u32 = 1 << 17;

impl<'a> Checker<'a> {
    /// A type where a value of it will exist: type arguments must be given.
    pub fn resolve(&mut self, written: &'a ast::Type) -> Type {
        let found = self.resolve_open(written);
        if let Some(nominal) = found.nominal()
            && nominal.arguments.is_empty()
            && !self.out.type_parameters(nominal.declaration).is_empty()
        {
            let message = format!("generic type `{}` needs type arguments", nominal.name);
            return self.error("type-error", written.span, message, "no type arguments are given here");
        }
        found
    }

    /// A type to be instantiated or called: type arguments may be left to inference.
    pub fn resolve_open(&mut self, written: &'a ast::Type) -> Type {
        match &written.kind {
            TypeKind::Void => Type::Void,
            TypeKind::Bool => Type::Bool,
            TypeKind::Error if self.errors.is_empty() => self.error(
                "not-found",
                written.span,
                "error: declaration not found",
                "no errors are declared before this place; `core.p4` declares the standard ones",
            ),
            TypeKind::Error => Type::Error,
            TypeKind::MatchKind => Type::MatchKind,
            TypeKind::String => Type::String,
            TypeKind::Integer => Type::Integer,
            TypeKind::Bit(None) => Type::BIT,
            TypeKind::Bit(Some(width)) => {
                self.width(width, written.span).map_or(Type::Unknown, |width| Type::Bits { width, signed: false })
            }
            TypeKind::SignedBit(width) => match self.width(width, written.span) {
                Some(0) => self.error("invalid", written.span, "the width of a signed type cannot be zero", ""),
                Some(width) => Type::Bits { width, signed: true },
                None => Type::Unknown,
            },
            TypeKind::Varbit(width) => {
                self.width(width, written.span).map_or(Type::Unknown, |width| Type::Varbit { width })
            }
            TypeKind::Tuple(parts) => {
                let resolved: Vec<Type> = parts.iter().map(|part| self.resolve(part)).collect();
                for (part, resolved) in parts.iter().zip(&resolved) {
                    self.check_tuple_part(part.span, resolved);
                }
                Type::Tuple(resolved.into())
            }
            TypeKind::List(element) => {
                let resolved = self.resolve(element);
                self.check_list_element(element.span, &resolved);
                Type::List(resolved.into())
            }
            TypeKind::Named(path) => self.named_type(path),
            TypeKind::Specialized { base, arguments } => self.specialized(written.span, base, arguments),
            TypeKind::Array { element, size } => self.array(written.span, element, size),
            TypeKind::DontCare => Type::DontCare,
        }
    }

    fn width(&mut self, expression: &'a Expression, span: Span) -> Option<u32> {
        let width = self.constant_number(expression, "the width of a type")?;
        if width < BigInt::ZERO {
            self.error("invalid", span, format!("{width}: invalid width of a type"), "a width cannot be negative");
            return None;
        }
        match u32::try_from(&width) {
            Ok(width) if width <= WIDEST => Some(width),
            Ok(_) | Err(_) => {
                let message = format!("{width}: types this wide are not supported");
                self.error("overlimit", span, message, &format!("at most {WIDEST} bits"));
                None
            }
        }
    }

    /// The value of an expression that has to be a number known at compile time.
    pub fn constant_number(&mut self, expression: &'a Expression, what: &str) -> Option<BigInt> {
        let of_type = self.value(expression, None);
        if let Some(number) = self.value_of(expression).and_then(|value| value.integer()) {
            return Some(number.clone());
        }
        if of_type.is_unknown() {
            return None;
        }
        let number = matches!(of_type, Type::Integer | Type::Bits { .. } | Type::SerializableEnum(_));
        let message = if number {
            format!("{what} has to be a constant")
        } else {
            format!("{what} has to be a number, this is `{of_type}`")
        };
        self.error("expected", expression.span, message, "the value has to be known at compile time");
        None
    }

    fn named_type(&mut self, path: &'a Path) -> Type {
        let found = self.look_up(path.name.as_str(), path.absolute);
        let Some(id) = found.first() else { return self.not_found(&path.name) };
        match self.type_named(*id) {
            Some(found) => found,
            None => self.error(
                "type-error",
                path.name.span,
                format!("`{}` is not a type", path.name),
                "a type is expected here",
            ),
        }
    }

    /// The type that a declaration introduces, generic types without type arguments.
    pub fn type_named(&mut self, id: DeclarationId) -> Option<Type> {
        let id = self.announced.get(&id).copied().unwrap_or(id);
        let nominal = self.nominal(id, Vec::new());
        let declaration = match self.node(id) {
            Node::TypeParameter { .. } => return Some(Type::Variable(nominal)),
            Node::Declaration(declaration) => declaration,
            Node::Field { .. } | Node::Member { .. } | Node::Method { .. } | Node::Parameter { .. } => return None,
            Node::State { .. } => return None,
        };
        Some(match &declaration.kind {
            DeclarationKind::Typedef { .. } => self.out.declared_type(id).clone(),
            DeclarationKind::NewType { .. } => Type::Newtype(nominal),
            DeclarationKind::Structure(structure) => structure_type(structure.kind, nominal),
            DeclarationKind::Enumeration(enumeration) if enumeration.underlying.is_some() => {
                Type::SerializableEnum(nominal)
            }
            DeclarationKind::Enumeration(_) => Type::Enum(nominal),
            DeclarationKind::Extern(_) => Type::Extern(nominal),
            DeclarationKind::Parser(_) => Type::Parser(nominal),
            DeclarationKind::Control(_) => Type::Control(nominal),
            DeclarationKind::Package(_) => Type::Package(nominal),
            DeclarationKind::Constant(_)
            | DeclarationKind::Variable(_)
            | DeclarationKind::Instance(_)
            | DeclarationKind::Error(_)
            | DeclarationKind::MatchKind(_)
            | DeclarationKind::Function(_)
            | DeclarationKind::Action { .. }
            | DeclarationKind::Table(_)
            | DeclarationKind::ValueSet(_)
            | DeclarationKind::Assertion(_) => return None,
        })
    }

    fn specialized(&mut self, span: Span, base: &'a Path, arguments: &'a [ast::Type]) -> Type {
        let generic = self.named_type(base);
        let resolved: Vec<Type> = arguments.iter().map(|argument| self.type_argument(argument)).collect();
        let Some(nominal) = generic.nominal().cloned() else {
            if !generic.is_unknown() {
                self.type_error(span, format!("`{}` is not generic: it takes no type arguments", base.name));
            }
            return Type::Unknown;
        };
        let expected = self.out.type_parameters(nominal.declaration).len();
        if expected != resolved.len() || !nominal.arguments.is_empty() {
            let message = format!(
                "`{}` has {} type parameter{}, {} given",
                base.name,
                if nominal.arguments.is_empty() { expected } else { 0 },
                if expected == 1 { "" } else { "s" },
                resolved.len()
            );
            return self.report(
                Diagnostic::error(message)
                    .kind("type-error")
                    .label(span, "")
                    .label(self.node(nominal.declaration).span(), "declared here"),
            );
        }
        if resolved.iter().any(|argument| argument.any(&|part| self.contains(part, nominal.declaration))) {
            let message = format!("`{}` contains itself as a type argument", base.name);
            return self.error("type-error", span, message, "");
        }
        let specialized = generic.with_arguments(resolved);
        self.check_specialized(span, &specialized);
        specialized
    }

    /// Whether a type is the declared one, or an object that takes it as a parameter.
    fn contains(&self, part: &Type, declaration: DeclarationId) -> bool {
        let Some(nominal) = part.nominal() else { return false };
        let object = matches!(part, Type::Parser(_) | Type::Control(_) | Type::Package(_));
        let parameters = if object { self.out.parameters(nominal.declaration) } else { &[] };
        nominal.declaration == declaration
            || parameters.iter().any(|parameter| {
                self.out.declared_type(parameter.id).nominal().is_some_and(|used| used.declaration == declaration)
            })
    }

    /// A type argument of a type or a call.
    pub fn type_argument(&mut self, written: &'a ast::Type) -> Type {
        self.resolve(written)
    }

    fn array(&mut self, span: Span, element: &'a ast::Type, size: &'a Expression) -> Type {
        let element_type = self.resolve(element);
        let Some(size) = self.constant_size(size) else { return Type::Unknown };
        self.check_array_element(element.span, &element_type);
        if size < BigInt::ZERO {
            return self.error("overlimit", span, format!("{size}: illegal array size"), "it cannot be negative");
        }
        match u32::try_from(&size) {
            Ok(size) if size <= WIDEST && !element_type.is_unknown() => {
                Type::Stack { element: element_type.into(), size }
            }
            Ok(size) if size <= WIDEST => Type::Unknown,
            Ok(_) | Err(_) => self.error("overlimit", span, format!("{size}: arrays this large are not supported"), ""),
        }
    }

    fn constant_size(&mut self, size: &'a Expression) -> Option<BigInt> {
        let of_type = self.value(size, None);
        let number = self.value_of(size).and_then(|value| value.integer()).cloned();
        if number.is_none() && !of_type.is_unknown() {
            self.type_error(size.span, "the size of a header stack or array has to be a constant");
        }
        number
    }

    /// Types an expression that may be the name of a type: `T` in `T.apply()`, `Color` in `Color.Red`.
    pub fn type_expression(&mut self, expression: &'a Expression, written: &'a ast::Type) -> Type {
        let named = self.resolve_open(written);
        if named.is_unknown() {
            return named;
        }
        self.refer(expression, Reference::Type(named.clone()));
        Type::Name(named.into())
    }
}

fn structure_type(kind: StructureKind, nominal: Nominal) -> Type {
    match kind {
        StructureKind::Struct => Type::Struct(nominal),
        StructureKind::Header => Type::Header(nominal),
        StructureKind::HeaderUnion => Type::Union(nominal),
    }
}

impl Type {
    /// A declared type with other type arguments.
    pub fn with_arguments(&self, arguments: Vec<Type>) -> Type {
        let with = |nominal: &Nominal| Nominal { arguments: arguments.into(), ..nominal.clone() };
        match self {
            Type::Struct(nominal) => Type::Struct(with(nominal)),
            Type::Header(nominal) => Type::Header(with(nominal)),
            Type::Union(nominal) => Type::Union(with(nominal)),
            Type::Extern(nominal) => Type::Extern(with(nominal)),
            Type::Parser(nominal) => Type::Parser(with(nominal)),
            Type::Control(nominal) => Type::Control(with(nominal)),
            Type::Package(nominal) => Type::Package(with(nominal)),
            _ => self.clone(),
        }
    }
}
