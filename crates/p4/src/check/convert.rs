//! Implicit casts: gives an expression the type that its place wants, and records how.
//!
//! Literals take the type at once, part by part; everything else keeps its type and gets a `conversion`.

use std::sync::Arc;

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::checker::Checker;
use crate::ast::{Expression, ExpressionKind, NamedExpression};
use crate::evaluate::{Value, cast, fits};
use crate::spelling::with_similar;
use crate::types::Type;

impl<'a> Checker<'a> {
    /// Types an expression and casts it implicitly to `target`, or reports that it cannot be.
    pub fn expression_as(&mut self, expression: &'a Expression, target: &Type) -> bool {
        let actual = self.value(expression, Some(target));
        self.convert_or_report(expression, &actual, target)
    }

    pub fn convert_or_report(&mut self, expression: &'a Expression, actual: &Type, target: &Type) -> bool {
        if self.convert(expression, target) {
            return true;
        }
        if !self.out.used_type(expression).is_unknown() {
            self.mismatch(expression.span, target, actual);
        }
        false
    }

    /// Reports why a parser, control or package does not fit where another type of its kind is wanted. False if it is
    /// neither, so that another message is needed.
    pub fn explain_difference(&mut self, span: Span, expected: &Type, actual: &Type) -> bool {
        let same_kind = std::mem::discriminant(expected) == std::mem::discriminant(actual);
        let object = matches!(expected, Type::Parser(_) | Type::Control(_) | Type::Package(_));
        let (Some(wanted), Some(offered)) = (expected.nominal(), actual.nominal()) else { return false };
        if !same_kind || !object || wanted.declaration == offered.declaration {
            return false;
        }
        let wanted_parameters = self.out.parameters(wanted.declaration);
        let offered_parameters = self.out.parameters(offered.declaration);
        let mut report = Diagnostic::error(format!("`{actual}` does not fit `{wanted}`")).kind("type-error");
        let different = wanted_parameters.iter().zip(offered_parameters).find(|(wanted, offered)| {
            let wanted_type = self.out.declared_type(wanted.id);
            let generic = wanted_type.any(&|part| matches!(part, Type::Variable(_)));
            wanted.direction != offered.direction || (!generic && wanted_type != self.out.declared_type(offered.id))
        });
        report = match different {
            Some((wanted, offered)) => report
                .label(span, "")
                .label(offered.span, "this parameter is different")
                .label(wanted.span, "from the one that is wanted"),
            None => report
                .label(span, format!("it has {} parameters", offered_parameters.len()))
                .label(self.node(offered.declaration).span(), "declared here")
                .label(
                    self.node(wanted.declaration).span(),
                    format!("{} parameters are wanted", wanted_parameters.len()),
                ),
        };
        self.report(report);
        true
    }

    pub fn mismatch(&mut self, span: Span, expected: &Type, actual: &Type) -> Type {
        if self.explain_difference(span, expected, actual) {
            return Type::Unknown;
        }
        let mut report = Diagnostic::error(format!("cannot implicitly cast `{actual}` to `{expected}`"))
            .kind("type-error")
            .label(span, format!("this is `{actual}`, `{expected}` is expected"));
        let numbers = |of_type: &Type| matches!(of_type, Type::Bits { .. } | Type::Newtype(_));
        if numbers(expected) && (numbers(actual) || matches!(actual, Type::SerializableEnum(_) | Type::Integer)) {
            report = report.hint(format!("write the cast: `({expected})`"));
        }
        self.report(report)
    }

    /// Casts an expression that has been typed. False if its type cannot be cast implicitly to `target`.
    pub fn convert(&mut self, expression: &'a Expression, target: &Type) -> bool {
        let from = self.out.used_type(expression).clone();
        if from == *target || from.is_unknown() || target.is_unknown() {
            return true;
        }
        match &from {
            Type::Integer => self.convert_integer(expression, target),
            Type::ListLiteral { .. } => self.convert_list(expression, target),
            Type::StructureLiteral { .. } => self.convert_structure(expression, target),
            Type::InvalidLiteral => {
                let fits = target.is_header_like();
                if fits {
                    self.set_type(expression, target.clone());
                    self.set_value(expression, Some(Value::Invalid));
                }
                fits
            }
            Type::DefaultLiteral => self.convert_default(expression, target),
            Type::SerializableEnum(_) if matches!(target, Type::Bits { .. }) => {
                let fits = self.unify(target, &from);
                if fits {
                    self.facts(expression).converted = Some(target.clone());
                }
                fits
            }
            Type::Bits { .. } if *target == Type::Integer => {
                self.facts(expression).converted = Some(Type::Integer);
                true
            }
            Type::Tuple(_) if matches!(target, Type::ListLiteral { .. }) => true,
            _ => self.unify(target, &from) || self.convert_opened(expression, &from, target),
        }
    }

    /// A dialect of p4c: the programs that it prints have lost the new types of their own declarations, but include the architecture, which
    /// has not. So a value of an architecture's new type is taken for the bits that it is, and in the other direction, with a warning.
    pub fn convert_opened(&mut self, expression: &'a Expression, from: &Type, target: &Type) -> bool {
        let is_included = |of_type: &Type| match of_type {
            Type::Newtype(nominal) => self.out.program.included.binary_search(&nominal.declaration).is_ok(),
            _ => false,
        };
        let opened = match (from, target) {
            (Type::Bits { .. }, Type::Newtype(_)) => is_included(target) && self.out.representation(target) == *from,
            (Type::Newtype(_), Type::Bits { .. }) => is_included(from) && self.out.representation(from) == *target,
            _ => false,
        };
        if opened {
            self.report(
                Diagnostic::warning(format!(
                    "`{from}` is taken for `{target}`, which it does not convert to by itself"
                ))
                .kind("mismatch")
                .label(expression.span, "")
                .hint(format!("write the cast: `({target})`")),
            );
            self.facts(expression).converted = Some(target.clone());
        }
        opened
    }

    fn convert_integer(&mut self, expression: &'a Expression, target: &Type) -> bool {
        let representation =
            if matches!(target, Type::Newtype(_)) { self.out.representation(target) } else { target.clone() };
        let Type::Bits { width, signed } = &representation else { return matches!(target, Type::Set(_)) };
        if let ExpressionKind::Conditional { accepted, rejected, .. } = &expression.kind
            && self.value_of(expression).is_none()
        {
            let both = self.convert(accepted, target) && self.convert(rejected, target);
            self.set_type(expression, target.clone());
            return both;
        }
        if let Some(Value::Integer(value)) = self.value_of(expression).cloned() {
            if !fits(&value, *width, *signed) {
                self.warn_overflow(expression.span, &value, &representation);
            }
            self.set_value(expression, cast(&Value::Integer(value), &representation));
        }
        self.facts(expression).converted = Some(target.clone());
        true
    }

    pub fn warn_overflow(&mut self, span: Span, value: &num_bigint::BigInt, target: &Type) {
        let Type::Bits { width, signed } = target else { return };
        let negative = *value < num_bigint::BigInt::ZERO;
        if negative && !signed {
            self.warn("mismatch", span, format!("{value}: negative value with unsigned type {target}"), "");
        } else {
            self.warn(
                "overflow",
                span,
                format!("{value}: value does not fit in {width} bits"),
                "the high bits are dropped",
            );
        }
    }

    fn convert_list(&mut self, expression: &'a Expression, target: &Type) -> bool {
        let ExpressionKind::List { elements, defaulted } = &expression.kind else {
            return self.convert_nested(expression, target);
        };
        let Some(wanted) = self.element_types(target, elements.len(), *defaulted) else { return false };
        if elements.iter().zip(&wanted).any(|(element, wanted)| !self.convert_part(element, wanted)) {
            return false;
        }
        self.set_type(expression, target.clone());
        let parts: Option<Vec<Value>> = elements.iter().map(|element| self.value_of(element).cloned()).collect();
        let rest: Option<Vec<Value>> = wanted[elements.len()..].iter().map(|rest| self.default_value(rest)).collect();
        let value = parts.zip(rest).map(|(parts, rest)| self.assembled(target, parts.into_iter().chain(rest)));
        self.set_value(expression, value);
        true
    }

    /// One part of a literal: a mistake in it is reported at the part, so that the whole is not.
    fn convert_part(&mut self, part: &'a Expression, target: &Type) -> bool {
        let from = self.out.used_type(part).clone();
        if self.convert(part, target) {
            return true;
        }
        if !self.out.used_type(part).is_unknown() {
            self.mismatch(part.span, target, &from);
            self.set_type(part, Type::Unknown);
        }
        true
    }

    fn assembled(&self, target: &Type, parts: impl Iterator<Item = Value>) -> Value {
        let parts: Arc<[Value]> = parts.collect();
        if matches!(target, Type::Struct(_) | Type::Header(_)) {
            Value::Structure(parts)
        } else {
            Value::Sequence(parts)
        }
    }

    /// The types a list literal's elements must have to be a `target`, those of omitted elements included.
    fn element_types(&self, target: &Type, given: usize, defaulted: bool) -> Option<Vec<Type>> {
        let wanted: Vec<Type> = match target {
            Type::Tuple(parts) => parts.to_vec(),
            Type::ListLiteral { elements, .. } => elements.to_vec(),
            Type::List(element) => vec![element.as_ref().clone(); given],
            Type::Stack { element, size } if *size as usize >= given && *size < 1 << 16 => {
                vec![element.as_ref().clone(); *size as usize]
            }
            Type::Struct(_) | Type::Header(_) => {
                self.out.fields_of(target).into_iter().map(|field| field.of_type).collect()
            }
            _ => return None,
        };
        let fits = wanted.len() == given || (defaulted && given < wanted.len());
        fits.then_some(wanted)
    }

    fn convert_structure(&mut self, expression: &'a Expression, target: &Type) -> bool {
        let ExpressionKind::Structure { fields: given, defaulted } = &expression.kind else {
            return self.convert_nested(expression, target);
        };
        if !matches!(target, Type::Struct(_) | Type::Header(_)) {
            return false;
        }
        let fields = self.out.fields_of(target);
        self.set_type(expression, target.clone());
        for part in given {
            let Some(field) = fields.iter().find(|field| field.name == part.name.text) else {
                let message = format!("`{target}` has no field `{}`", part.name);
                let report = Diagnostic::error(message).kind("type-error").label(part.name.span, "");
                let names: Vec<_> = fields.iter().map(|field| field.name.clone()).collect();
                self.report(with_similar(report, &names, part.name.as_str()));
                continue;
            };
            let wanted = field.of_type.clone();
            self.convert_part(&part.value, &wanted);
        }
        let missing = fields.iter().find(|field| !given.iter().any(|part| part.name.text == field.name));
        if let (Some(missing), false) = (missing, *defaulted) {
            let message = format!("no value for field `{}` of `{target}`", missing.name);
            self.report(
                Diagnostic::error(message)
                    .kind("type-error")
                    .label(expression.span, "")
                    .hint("end the list in `...` to give the other fields their default values"),
            );
        }
        let value_of = |field: &super::FieldOf| match given.iter().find(|part| part.name.text == field.name) {
            Some(NamedExpression { value, .. }) => self.value_of(value).cloned(),
            None => self.default_value(&field.of_type),
        };
        let values: Option<Vec<Value>> = fields.iter().map(value_of).collect();
        self.set_value(expression, values.map(|values| Value::Structure(values.into())));
        true
    }

    /// A literal behind a `?:`; any other expression of a literal's type is cast as a whole.
    fn convert_nested(&mut self, expression: &'a Expression, target: &Type) -> bool {
        if let ExpressionKind::Conditional { accepted, rejected, .. } = &expression.kind {
            let both = self.convert(accepted, target) && self.convert(rejected, target);
            self.set_type(expression, target.clone());
            return both;
        }
        let from = self.out.used_type(expression).clone();
        let fits = self.unify(target, &from);
        if fits {
            self.facts(expression).converted = Some(target.clone());
        }
        fits
    }

    fn convert_default(&mut self, expression: &'a Expression, target: &Type) -> bool {
        if !self.has_default(target) {
            self.type_error(expression.span, format!("`{target}` has no default value"));
        }
        self.set_type(expression, target.clone());
        let value = self.default_value(target);
        self.set_value(expression, value);
        true
    }

    /// Whether `...` can be a value of this type.
    fn has_default(&self, of_type: &Type) -> bool {
        match of_type {
            Type::Tuple(parts) => parts.iter().all(|part| self.has_default(part)),
            Type::Struct(_) => self.out.fields_of(of_type).iter().all(|field| self.has_default(&field.of_type)),
            Type::Stack { element, .. } => self.has_default(element),
            _ => matches!(
                of_type,
                Type::Bool
                    | Type::Bits { .. }
                    | Type::Integer
                    | Type::Varbit { .. }
                    | Type::String
                    | Type::Error
                    | Type::Enum(_)
                    | Type::SerializableEnum(_)
                    | Type::Newtype(_)
                    | Type::Header(_)
                    | Type::Union(_)
                    | Type::Unknown
                    | Type::Variable(_)
            ),
        }
    }

    /// The default value of a type, where it is a constant.
    pub fn default_value(&self, of_type: &Type) -> Option<Value> {
        let all = |parts: &mut dyn Iterator<Item = Type>| -> Option<Arc<[Value]>> {
            parts.map(|part| self.default_value(&part)).collect()
        };
        match self.out.representation(of_type) {
            Type::Bool => Some(Value::Bool(false)),
            Type::Bits { .. } | Type::Integer => Some(Value::Integer(num_bigint::BigInt::ZERO)),
            Type::String => Some(Value::String("".into())),
            Type::Header(_) | Type::Union(_) => Some(Value::Invalid),
            Type::Error => self.errors.get("NoError").copied().map(Value::Member),
            Type::Enum(nominal) => self.first_member(nominal.declaration),
            Type::Tuple(parts) => all(&mut parts.iter().cloned()).map(Value::Sequence),
            Type::Stack { element, size } if size < 1 << 16 && !matches!(*element, Type::Stack { .. }) => {
                all(&mut (0..size).map(|_| element.as_ref().clone())).map(Value::Sequence)
            }
            Type::Struct(_) => {
                all(&mut self.out.fields_of(of_type).into_iter().map(|field| field.of_type)).map(Value::Structure)
            }
            _ => None,
        }
    }

    fn first_member(&self, enumeration: crate::ast::DeclarationId) -> Option<Value> {
        let Some(crate::ast::DeclarationKind::Enumeration(enumeration)) = self.out.kind(enumeration) else {
            return None;
        };
        enumeration.members.first().map(|member| Value::Member(member.id))
    }
}
