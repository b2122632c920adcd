//! Annotations: `@name`, `@name(anything)`, `@name[1, 2]`, `@name[key = value]` and `@pragma name anything`.
//!
//! The body in parentheses is free text to the language. It is kept as written, and, where it happens to be a list of
//! expressions (`@name("x")`, `@id(3)`), as expressions too, since most annotations are read that way.

use std::sync::Arc;

use super::{Expression, Name, Span};

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
    /// `@name("x")`, `@pragma name x`: the text between the parentheses, its tokens, and what it is as expressions if it is.
    Unstructured { text: Arc<str>, tokens: Vec<AnnotationToken>, expressions: Option<Vec<Expression>> },
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

    /// The only argument, if that is what the body is.
    pub fn single(&self) -> Option<&Expression> {
        match self.expressions() {
            [only] => Some(only),
            _ => None,
        }
    }
}
