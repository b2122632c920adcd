//! Tables: properties in the order they are written, those the language knows taken apart.

use super::{Attributes, Expression, Name, Span};

#[derive(Clone, Debug)]
pub struct Table {
    pub properties: Vec<Property>,
}

#[derive(Clone, Debug)]
pub struct Property {
    pub span: Span,
    pub attributes: Attributes,
    pub is_constant: bool,
    pub name: Name,
    pub value: PropertyValue,
}

#[derive(Clone, Debug)]
pub enum PropertyValue {
    /// `key = { ... }`
    Keys(Vec<KeyElement>),
    /// `actions = { ... }`
    Actions(Vec<ActionReference>),
    /// `entries = { ... }`
    Entries(Vec<Entry>),
    /// `default_action = a(1);`, `size = 64;`, `implementation = action_profile(16);`, whatever a target reads.
    Expression(Expression),
}

#[derive(Clone, Debug)]
pub struct KeyElement {
    pub span: Span,
    pub annotations: Vec<super::Annotation>,
    pub expression: Expression,
    pub match_kind: Name,
}

/// One of the actions of a table: `action` is a path, or a call of one that binds its directed parameters.
#[derive(Clone, Debug)]
pub struct ActionReference {
    pub span: Span,
    pub annotations: Vec<super::Annotation>,
    pub action: Expression,
}

/// `const priority = 10: (0x800, _) : forward(1) @name("x");`
#[derive(Clone, Debug)]
pub struct Entry {
    pub span: Span,
    pub annotations: Vec<super::Annotation>,
    pub is_constant: bool,
    pub priority: Option<Expression>,
    /// One set of keys for each key of the table, `(a, b)` being two.
    pub keys: Vec<Expression>,
    /// A call of a path, or a path alone.
    pub action: Expression,
}

impl Table {
    pub fn find(&self, name: &str) -> Option<&Property> {
        self.properties.iter().find(|property| property.name.as_str() == name)
    }
}
