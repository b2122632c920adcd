//! The abstract syntax of P4_16: what the parser builds and the checker reads, close to the text, nothing resolved.
//!
//! Every expression and every declaration has a dense id, so that later phases keep what they find out in vectors beside
//! the tree. A name stays a name: whether it is a type, a value or an instance is the checker's to decide.

mod annotations;
mod declarations;
mod expressions;
mod print;
mod statements;
mod tables;
mod types;
pub mod walk;

pub use annotations::{Annotation, AnnotationBody, AnnotationToken, KeyValue};
pub use declarations::{
    Constant, Control, Declaration, DeclarationId, DeclarationKind, Direction, Enumeration, Extern, Field, Function,
    Instance, Member, Method, Package, Parameter, Parser, ParserBody, SelectCase, State, Structure, StructureKind,
    Transition, TypeParameter, ValueSet, Variable,
};
pub use expressions::{
    Argument, BinaryOperator, Expression, ExpressionId, ExpressionKind, Integer, IntegerBase, NamedExpression, Path,
    UnaryOperator,
};
pub use statements::{Block, Collection, For, ForIn, Statement, StatementKind, SwitchCase, SwitchLabel};
pub use tables::{ActionReference, Entry, KeyElement, Property, PropertyValue, Table};
pub use types::{Type, TypeKind};

use std::fmt;
use std::sync::Arc;

pub use hlir::source::Span;

/// A parsed program. The counts are one beyond the largest ids in use: the length of a side table.
#[derive(Clone, Debug, Default)]
pub struct Program {
    pub declarations: Vec<Declaration>,
    pub expression_count: u32,
    pub declaration_count: u32,
    /// The declarations that an included file holds, in increasing order: those of architectures, mostly.
    pub included: Vec<DeclarationId>,
}

/// An identifier where it is written. Equal texts mostly share their memory.
#[derive(Clone, Debug)]
pub struct Name {
    pub text: Arc<str>,
    pub span: Span,
}

impl Name {
    pub fn new(text: &str, span: Span) -> Name {
        Name { text: text.into(), span }
    }

    pub fn as_str(&self) -> &str {
        &self.text
    }
}

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.text)
    }
}

/// What precedes a thing and describes it.
#[derive(Clone, Debug, Default)]
pub struct Attributes {
    pub annotations: Vec<Annotation>,
    /// The text of the `/** ... */` comment before it, without the stars at the beginning of lines.
    pub documentation: Option<Arc<str>>,
}

impl Attributes {
    /// The last annotation of that name: a later one overrides.
    pub fn find(&self, name: &str) -> Option<&Annotation> {
        self.annotations.iter().rev().find(|annotation| annotation.name.as_str() == name)
    }

    pub fn has(&self, name: &str) -> bool {
        self.find(name).is_some()
    }
}
