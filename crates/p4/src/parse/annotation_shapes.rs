//! The annotations with a meaning of their own, and what must stand in them: a wrong body is a mistake of syntax.
//!
//! An annotation that is not listed may say anything.

use hlir::diagnostic::Diagnostic;

use super::Parser;
use crate::ast::{Annotation, AnnotationBody, BinaryOperator, Expression, ExpressionKind, Type, TypeKind};

#[derive(Clone, Copy)]
enum Shape {
    Nothing,
    Text,
    Number,
    Pairs,
    /// A uri, and the type controllers see: `string`, `bit<W>` or, as it was written once, W alone.
    Translation,
}

const SHAPES: &[(&str, Shape)] = &[
    ("brief", Shape::Text),
    ("defaultonly", Shape::Nothing),
    ("deprecated", Shape::Text),
    ("description", Shape::Text),
    ("hidden", Shape::Nothing),
    ("id", Shape::Number),
    ("name", Shape::Text),
    ("p4runtime_translation", Shape::Translation),
    ("pkginfo", Shape::Pairs),
    ("tableonly", Shape::Nothing),
];

impl Shape {
    fn wanted(self) -> &'static str {
        match self {
            Shape::Nothing => "nothing",
            Shape::Text => "one string",
            Shape::Number => "one number",
            Shape::Pairs => "`key = value` pairs",
            Shape::Translation => "a string and a type, which is `string` or `bit<W>`",
        }
    }

    fn fits(self, annotation: &Annotation) -> bool {
        match (self, annotation.expressions()) {
            (Shape::Nothing, expressions) => {
                let empty_text =
                    matches!(&annotation.body, AnnotationBody::Unstructured { tokens, .. } if tokens.is_empty());
                let empty = matches!(annotation.body, AnnotationBody::Empty) || empty_text;
                empty && expressions.is_empty()
            }
            (Shape::Text, [only]) => is_text(only),
            (Shape::Number, [only]) => matches!(only.kind, ExpressionKind::Integer(_)),
            (Shape::Pairs, _) => !annotation.pairs().is_empty(),
            (Shape::Translation, [uri, controller]) => is_text(uri) && is_controller_type(controller),
            (Shape::Text | Shape::Number | Shape::Translation, _) => false,
        }
    }
}

fn is_text(expression: &Expression) -> bool {
    if let ExpressionKind::Binary { operator: BinaryOperator::Concatenate, left, right } = &expression.kind {
        return is_text(left) && is_text(right);
    }
    matches!(expression.kind, ExpressionKind::String(_))
}

fn is_controller_type(expression: &Expression) -> bool {
    if let ExpressionKind::Type(of_type) = &expression.kind {
        return is_string_or_bits(of_type);
    }
    matches!(expression.kind, ExpressionKind::Integer(_))
}

fn is_string_or_bits(of_type: &Type) -> bool {
    if let TypeKind::Bit(Some(width)) = &of_type.kind {
        return matches!(width.kind, ExpressionKind::Integer(_));
    }
    matches!(of_type.kind, TypeKind::String)
}

impl Parser<'_> {
    pub(super) fn check_shape(&mut self, annotation: &Annotation) {
        let Some((name, shape)) = SHAPES.iter().find(|(name, _)| *name == annotation.name.as_str()) else {
            return;
        };
        if !shape.fits(annotation) {
            let diagnostic = Diagnostic::error(format!("`@{name}` takes {}", shape.wanted())).kind("syntax");
            self.diagnostics.push(diagnostic.label(annotation.span, "something else stands here"));
        }
    }
}
