//! The annotations with a meaning of their own, and what they must contain: a wrong body is a mistake of syntax.
//!
//! An annotation that is not listed may contain anything.

use hlir::diagnostic::Diagnostic;

use super::Parser;
use crate::ast::{Annotation, AnnotationBody, BinaryOperator, Expression, ExpressionKind, Type, TypeKind};

#[derive(Clone, Copy)]
enum Shape {
    Nothing,
    Text,
    /// Any number of strings.
    Texts,
    Number,
    Pairs,
    /// One of these strings.
    Word(&'static [&'static str]),
    /// A uri, and the type controllers see: `string`, `bit<W>` or, as it was written once, W alone.
    Translation,
}

const SHAPES: &[(&str, Shape)] = &[
    ("brief", Shape::Text),
    ("controller_header", Shape::Text),
    ("defaultonly", Shape::Nothing),
    ("deprecated", Shape::Text),
    ("description", Shape::Text),
    ("hidden", Shape::Nothing),
    ("id", Shape::Number),
    ("max_group_size", Shape::Number),
    ("max_member_weight", Shape::Number),
    ("name", Shape::Text),
    ("noWarn", Shape::Texts),
    ("p4runtime_translation", Shape::Translation),
    ("pkginfo", Shape::Pairs),
    ("platform_property", Shape::Pairs),
    ("selector_size_semantics", Shape::Word(&["sum_of_weights", "sum_of_members"])),
    ("tableonly", Shape::Nothing),
];

impl Shape {
    fn wanted(self) -> String {
        match self {
            Shape::Nothing => "nothing".to_string(),
            Shape::Text => "one string".to_string(),
            Shape::Texts => "strings".to_string(),
            Shape::Number => format!("one number up to {}", u32::MAX),
            Shape::Pairs => "`key = value` pairs".to_string(),
            Shape::Word(words) => format!("one of \"{}\"", words.join("\", \"")),
            Shape::Translation => "a string and a type, which is `string` or `bit<W>`".to_string(),
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
            (Shape::Texts, []) => matches!(annotation.body, AnnotationBody::Empty),
            (Shape::Texts, texts) => texts.iter().all(is_text),
            (Shape::Number, [only]) => {
                matches!(&only.kind, ExpressionKind::Integer(number) if u32::try_from(&number.value).is_ok())
            }
            (Shape::Word(words), [only]) => {
                matches!(&only.kind, ExpressionKind::String(text) if words.contains(&text.as_ref()))
            }
            (Shape::Pairs, _) => !annotation.pairs().is_empty(),
            (Shape::Translation, [uri, controller]) => is_text(uri) && is_controller_type(controller),
            (Shape::Text | Shape::Number | Shape::Word(_) | Shape::Translation, _) => false,
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
            self.diagnostics.push(diagnostic.label(annotation.span, "this is something else"));
        }
    }
}
