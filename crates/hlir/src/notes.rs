//! What the source has about an object beside its meaning: its place, its annotations, its documentation.

use num_bigint::BigInt;

/// A place in the source: 1-based lines and columns, `end` exclusive.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Origin {
    pub file: String,
    pub line: u32,
    pub column: u32,
    pub end_line: u32,
    pub end_column: u32,
}

/// What the source has about an object beside its meaning; kept for P4Info, explain and trace.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Notes {
    pub origin: Option<Origin>,
    pub annotations: Vec<Annotation>,
    /// The text of its documentation comment, or empty.
    pub docs: String,
}

/// `@name`, `@name(text)`, `@name[1, "two", true]` or `@name[key = 1]`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Annotation {
    pub name: String,
    pub body: AnnotationBody,
}

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum AnnotationBody {
    #[default]
    None,
    /// The text between the parentheses, as it was written.
    Text(String),
    Values(Vec<AnnotationValue>),
    Pairs(Vec<(String, AnnotationValue)>),
}

/// A value in a structured annotation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum AnnotationValue {
    Number(BigInt),
    Text(String),
    Bool(bool),
}

impl Annotation {
    /// The text of its body, if it is one.
    pub fn text(&self) -> Option<&str> {
        match &self.body {
            AnnotationBody::Text(text) => Some(text),
            AnnotationBody::None | AnnotationBody::Values(_) | AnnotationBody::Pairs(_) => None,
        }
    }
}

/// The share of packets that the text of `@traffic` states: one number from 0 to 1.
pub fn stated_share(text: &str) -> Option<f64> {
    let share: f64 = text.trim().trim_matches('"').parse().ok()?;
    (0.0..=1.0).contains(&share).then_some(share)
}
