//! Annotations that the language gives a form to.
//!
//! Most are free; a few have arguments of a given kind, and structured ones are all of constants and occur once.

use super::checker::Checker;
use crate::ast::{Annotation, AnnotationBody, Expression, ExpressionKind};
use crate::types::Type;

impl<'a> Checker<'a> {
    pub fn check_annotations(&mut self, annotations: &'a [Annotation]) {
        for (at, annotation) in annotations.iter().enumerate() {
            match &annotation.body {
                AnnotationBody::Empty => {}
                AnnotationBody::Unstructured { .. } => self.check_form(annotation),
                AnnotationBody::Expressions(expressions) => {
                    self.check_repeated(annotation, &annotations[..at]);
                    for expression in expressions {
                        self.structured(expression);
                    }
                }
                AnnotationBody::Pairs(pairs) => {
                    self.check_repeated(annotation, &annotations[..at]);
                    self.check_distinct(pairs.iter().map(|pair| &pair.key));
                    for pair in pairs {
                        self.structured(&pair.value);
                    }
                }
            }
        }
    }

    fn check_repeated(&mut self, annotation: &'a Annotation, earlier: &'a [Annotation]) {
        let structured = |other: &&Annotation| {
            other.name.text == annotation.name.text
                && matches!(other.body, AnnotationBody::Expressions(_) | AnnotationBody::Pairs(_))
        };
        if let Some(first) = earlier.iter().find(structured) {
            self.report(
                hlir::diagnostic::Diagnostic::error(format!("duplicate structured annotation `@{}`", annotation.name))
                    .kind("duplicate")
                    .label(annotation.name.span, "second one")
                    .label(first.name.span, "first one"),
            );
        }
    }

    fn structured(&mut self, expression: &'a Expression) {
        let of_type = self.value(expression, None);
        if of_type.is_unknown() {
            return;
        }
        if !matches!(of_type, Type::Bool | Type::Integer | Type::String | Type::Bits { .. }) {
            let message = format!("a structured annotation holds numbers, strings and truth values, not `{of_type}`");
            self.type_error(expression.span, message);
        } else if self.value_of(expression).is_none() {
            self.type_error(expression.span, "a structured annotation holds compile-time constants");
        }
    }

    /// The annotations whose argument is a string.
    fn check_form(&mut self, annotation: &'a Annotation) {
        let name = annotation.name.as_str();
        let text = matches!(name, "name" | "deprecated" | "noWarn");
        if !text {
            return;
        }
        let Some(argument) = annotation.single() else { return };
        if matches!(argument.kind, ExpressionKind::String(_)) {
            return;
        }
        let of_type = self.value(argument, None);
        if of_type != Type::String && !of_type.is_unknown() {
            let kind = if name == "name" { "invalid" } else { "type-error" };
            self.error(kind, argument.span, format!("`@{name}` has to contain a string"), "");
        }
    }
}
