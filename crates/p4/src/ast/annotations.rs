//! Annotations: `@name`, `@name(anything)`, `@name[1, 2]`, `@name[key = value]` and `@pragma name anything`.
//!
//! The body in parentheses is free text to the language. It is kept as written, and, where it happens to be a list of
//! expressions (`@name("x")`, `@id(3)`), as expressions too, since most annotations are read as such.

use std::sync::Arc;

use super::{BinaryOperator, Expression, ExpressionKind, Name, Span};

#[derive(Clone, Debug)]
pub struct Annotation {
    pub span: Span,
    pub name: Name,
    pub body: AnnotationBody,
}

#[derive(Clone, Debug)]
pub enum AnnotationBody {
    /// `@hidden`
    Empty,
    /// `@name("x")`, `@pragma name x`: the text between the parentheses, its tokens, and what these are if read as expressions.
    /// Types count as expressions here (`@p4runtime_translation("uri", bit<32>)`); `key = value` pairs are read as such.
    Unstructured {
        text: Arc<str>,
        tokens: Vec<AnnotationToken>,
        expressions: Option<Vec<Expression>>,
        pairs: Option<Vec<KeyValue>>,
    },
    /// `@field[1, "two"]`
    Expressions(Vec<Expression>),
    /// `@field[name = "x", id = 2]`
    Pairs(Vec<KeyValue>),
}

/// A token of an unstructured annotation, as written.
#[derive(Clone, Debug)]
pub struct AnnotationToken {
    pub text: Arc<str>,
    pub span: Span,
}

#[derive(Clone, Debug)]
pub struct KeyValue {
    pub key: Name,
    pub value: Expression,
}

impl Annotation {
    /// The body as a list of expressions, for whichever spelling has one.
    pub fn expressions(&self) -> &[Expression] {
        match &self.body {
            AnnotationBody::Unstructured { expressions: Some(expressions), .. }
            | AnnotationBody::Expressions(expressions) => expressions,
            AnnotationBody::Empty
            | AnnotationBody::Unstructured { expressions: None, .. }
            | AnnotationBody::Pairs(_) => &[],
        }
    }

    /// The body as `key = value` pairs, for whichever spelling has them.
    pub fn pairs(&self) -> &[KeyValue] {
        match &self.body {
            AnnotationBody::Unstructured { pairs: Some(pairs), .. } | AnnotationBody::Pairs(pairs) => pairs,
            AnnotationBody::Empty
            | AnnotationBody::Unstructured { pairs: None, .. }
            | AnnotationBody::Expressions(_) => &[],
        }
    }

    /// The string that is the only argument, put together from its parts.
    pub fn string(&self) -> Option<String> {
        self.single().and_then(text_of)
    }

    /// The only argument, if that is what the body is.
    pub fn single(&self) -> Option<&Expression> {
        match self.expressions() {
            [only] => Some(only),
            _ => None,
        }
    }
}

fn text_of(expression: &Expression) -> Option<String> {
    if let ExpressionKind::Binary { operator: BinaryOperator::Concatenate, left, right } = &expression.kind {
        return Some(text_of(left)? + &text_of(right)?);
    }
    if let ExpressionKind::String(text) = &expression.kind { Some(text.to_string()) } else { None }
}
