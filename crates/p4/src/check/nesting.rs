//! Which types may be part of which: fields, elements, parameters, variables, returned values.
//!
//! These are the tables of the specification's sections on type nesting and on parameters.

use hlir::source::Span;

use super::checker::Checker;
use crate::ast::{DeclarationId, Direction, Field, Parameter, StructureKind};
use crate::types::Type;

/// Structures of more parts are refused.
const MOST_PARTS: u64 = 1 << 20;

/// What parameters are of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ParametersOf {
    /// The `apply` of a parser or control.
    Apply,
    /// The constructor of a parser, control or package.
    Constructor,
    ExternConstructor,
    /// A method of an extern, or an extern function.
    Extern,
    Function,
    Action,
}

impl<'a> Checker<'a> {
    /// Whether a field of a struct, header or union may have a type.
    pub fn may_be_field(&self, kind: StructureKind, of_type: &Type) -> bool {
        match kind {
            StructureKind::Struct => self.may_be_in_struct(of_type),
            StructureKind::Header => self.may_be_in_header(of_type),
            StructureKind::HeaderUnion => {
                matches!(of_type, Type::Header(_) | Type::Unknown | Type::Variable(_) | Type::DontCare)
            }
        }
    }

    fn may_be_in_struct(&self, of_type: &Type) -> bool {
        match of_type {
            Type::Tuple(parts) => parts.iter().all(|part| self.may_be_in_struct(part)),
            Type::Stack { .. } => true,
            _ => matches!(
                of_type,
                Type::Unknown
                    | Type::Bool
                    | Type::Error
                    | Type::Bits { .. }
                    | Type::Varbit { .. }
                    | Type::Struct(_)
                    | Type::Header(_)
                    | Type::Union(_)
                    | Type::Enum(_)
                    | Type::SerializableEnum(_)
                    | Type::Newtype(_)
                    | Type::Variable(_)
                    | Type::List(_)
                    | Type::String
            ),
        }
    }

    fn may_be_in_header(&self, of_type: &Type) -> bool {
        match of_type {
            Type::Struct(_) => self.out.fields_of(of_type).iter().all(|field| self.may_be_in_header(&field.of_type)),
            Type::Stack { element, .. } => self.may_be_in_header(element),
            Type::Newtype(_) => self.may_be_in_header(&self.out.representation(of_type)),
            _ => matches!(
                of_type,
                Type::Unknown
                    | Type::Bool
                    | Type::Bits { .. }
                    | Type::Varbit { .. }
                    | Type::SerializableEnum(_)
                    | Type::Variable(_)
                    | Type::DontCare
            ),
        }
    }

    /// How many parts a value of a type has, at all levels.
    fn parts_of(&self, of_type: &Type) -> u64 {
        let sum = |parts: &[Type]| parts.iter().fold(0, |sum: u64, part| sum.saturating_add(self.parts_of(part)));
        match of_type {
            Type::Tuple(parts) => sum(parts),
            Type::Stack { element, size } => self.parts_of(element).saturating_mul(u64::from(*size)),
            Type::Struct(nominal) | Type::Header(nominal) | Type::Union(nominal) => {
                let own = self.parts.get(&nominal.declaration).copied().unwrap_or(1);
                own.saturating_mul(sum(&nominal.arguments).max(1))
            }
            _ => 1,
        }
    }

    /// Notes how many parts a structure has; a few lines can make one of more than any memory holds.
    pub fn count_parts(&mut self, id: DeclarationId, span: Span, fields: &[Field]) {
        let own = |sum: u64, field: &Field| sum.saturating_add(self.parts_of(self.out.declared_type(field.id)));
        let parts = fields.iter().fold(0, own);
        if parts > MOST_PARTS {
            self.error("overlimit", span, "a structure with so many parts is not supported", "");
            for field in fields {
                self.declare_type(field.id, Type::Unknown);
            }
        }
        self.parts.insert(id, if parts > MOST_PARTS { 1 } else { parts.max(1) });
    }

    pub fn check_tuple_part(&mut self, span: Span, of_type: &Type) {
        if !has_values(of_type) {
            self.type_error(span, format!("a tuple cannot have a field of type `{of_type}`"));
        }
    }

    pub fn check_list_element(&mut self, span: Span, of_type: &Type) {
        if !has_values(of_type) {
            self.type_error(span, format!("a list cannot have elements of type `{of_type}`"));
        }
    }

    pub fn check_array_element(&mut self, span: Span, of_type: &Type) {
        let unfit = matches!(of_type, Type::Integer | Type::String | Type::MatchKind | Type::List(_));
        if unfit || !has_values(of_type) {
            self.type_error(span, format!("`{of_type}` cannot be the element of a header stack or array"));
        }
    }

    /// The fields of a generic type once its parameters are known.
    pub fn check_specialized(&mut self, span: Span, of_type: &Type) {
        let kind = match of_type {
            Type::Struct(_) => StructureKind::Struct,
            Type::Header(_) => StructureKind::Header,
            Type::Union(_) => StructureKind::HeaderUnion,
            _ => return,
        };
        let wrong = self.out.fields_of(of_type).into_iter().find(|field| !self.may_be_field(kind, &field.of_type));
        if let Some(wrong) = wrong
            && wrong.of_type != Type::DontCare
        {
            let message = format!("field `{}` of `{of_type}` cannot have type `{}`", wrong.name, wrong.of_type);
            self.type_error(span, message);
        }
    }

    /// What may be returned by a function or method.
    pub fn check_returned(&mut self, span: Span, of_type: &Type) {
        let object = of_type.is_object() && !matches!(of_type, Type::Extern(_));
        if object || *of_type == Type::Integer {
            self.type_error(span, format!("`{of_type}` cannot be returned"));
        }
    }

    /// What may be the type of a variable.
    pub fn check_variable(&mut self, span: Span, of_type: &Type) -> bool {
        if of_type.is_object() {
            let message = format!("cannot declare variables of type `{of_type}`");
            self.error("type-error", span, message, "an object is instantiated: `T(arguments) name;`");
            return false;
        }
        if matches!(
            of_type,
            Type::Integer | Type::String | Type::Void | Type::MatchKind | Type::List(_) | Type::DontCare
        ) {
            let message = format!("cannot declare variables with type `{of_type}`");
            self.error("type-error", span, message, "values of this type exist at compile time only");
            return false;
        }
        true
    }

    pub fn check_parameters(&mut self, parameters: &'a [Parameter], of: ParametersOf) {
        for parameter in parameters {
            let of_type = self.out.declared_type(parameter.id).clone();
            self.check_parameter(parameter, &of_type, of);
        }
        if of == ParametersOf::Action {
            self.check_action_parameters(parameters);
        }
    }

    fn check_parameter(&mut self, parameter: &'a Parameter, of_type: &Type, of: ParametersOf) {
        let span = parameter.name.span;
        let directed = parameter.direction != Direction::None;
        let is_constructor = matches!(of, ParametersOf::Constructor | ParametersOf::ExternConstructor);
        if is_constructor && directed {
            self.error("invalid", span, "constructor parameters cannot have a direction", "");
            return;
        }
        if *of_type == Type::Void || *of_type == Type::DontCare {
            self.type_error(span, format!("a parameter cannot have type `{of_type}`"));
        }
        if directed && (matches!(of_type, Type::String | Type::Integer | Type::List(_)) || of_type.is_object()) {
            self.type_error(span, format!("a parameter with type `{of_type}` cannot have a direction"));
            return;
        }
        let routine = matches!(of_type, Type::Parser(_) | Type::Control(_));
        let package_for_control = matches!(of_type, Type::Package(_)) && !self.is_package_constructor();
        let defined = routine && of_type.nominal().is_some_and(|nominal| self.has_body(nominal.declaration));
        if defined
            || (routine && of != ParametersOf::Constructor)
            || matches!(of_type, Type::Table(_))
            || package_for_control
        {
            self.type_error(span, format!("a parameter cannot have type `{of_type}` here"));
        }
        if of == ParametersOf::Action && matches!(of_type, Type::Extern(_)) {
            self.type_error(span, "action parameters cannot have extern types");
        }
        if of == ParametersOf::Action && matches!(of_type, Type::Integer) {
            self.type_error(span, "actions cannot have parameters with type `int`");
        }
        let may_be_optional = match of {
            ParametersOf::Function | ParametersOf::Action => false,
            ParametersOf::Constructor => self.is_package_constructor(),
            ParametersOf::Apply | ParametersOf::ExternConstructor | ParametersOf::Extern => true,
        };
        if parameter.attributes.has("optional") && !may_be_optional {
            let message = "`@optional` parameters are for externs, packages, and what is applied";
            self.error("invalid", span, message, "");
        }
        if parameter.default.is_some() && matches!(parameter.direction, Direction::Out | Direction::InOut) {
            self.error("invalid", span, "`out` and `inout` parameters cannot have default values", "");
        }
    }

    fn is_package_constructor(&self) -> bool {
        let owner = self.around.inside.last();
        owner.is_some_and(|owner| matches!(self.out.kind(*owner), Some(crate::ast::DeclarationKind::Package(_))))
    }

    fn check_action_parameters(&mut self, parameters: &'a [Parameter]) {
        let first = parameters.iter().position(|parameter| parameter.direction == Direction::None);
        let Some(first) = first else { return };
        if let Some(late) = parameters[first..].iter().find(|parameter| parameter.direction != Direction::None) {
            self.report(
                hlir::diagnostic::Diagnostic::error("action parameters without a direction have to be at the end")
                    .kind("type-error")
                    .label(late.name.span, "this one has a direction")
                    .label(parameters[first].name.span, "this one before it has none"),
            );
        }
    }
}

/// Whether there are values of a type, which could be a part of others.
fn has_values(of_type: &Type) -> bool {
    !of_type.is_object() && !matches!(of_type, Type::Void | Type::DontCare)
}
