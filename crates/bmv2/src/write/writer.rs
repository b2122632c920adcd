//! What is written so far, and what it is written from.

use super::requests::{self, Requests};
use super::storage::Storage;
use hlir::{Expression, Node, NodeId, Notes, Origin, Program};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::fmt;

/// What BMv2's JSON has no form for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsayable {
    /// The construct, as the subject of a sentence.
    pub construct: String,
    /// Where it is, or what it is in.
    pub origin: Option<Origin>,
}

impl fmt::Display for Unsayable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(Origin { file, line, column, .. }) = &self.origin {
            write!(f, "{file}:{line}:{column}: ")?;
        }
        write!(f, "{} has no form in BMv2's JSON", self.construct)
    }
}

pub type Written<T = ()> = Result<T, Unsayable>;

/// A program while it is written.
pub struct Writer<'p> {
    pub program: &'p Program,
    pub storage: Storage,
    /// Actions, calculations and checksums so far, with their ids as indexes.
    pub actions: Vec<Value>,
    pub calculations: Vec<Value>,
    pub checksums: Vec<Value>,
    pub requests: Requests,
    /// Values of each digest, if all its calls send the same fields.
    pub digests: HashMap<hlir::DigestId, Option<Vec<Expression>>>,
    /// Widths of the parameters of the action that is written.
    pub parameters: Vec<u32>,
    /// Of the construct that is written.
    pub origin: Option<Origin>,
}

impl<'p> Writer<'p> {
    pub fn new(program: &'p Program) -> Writer<'p> {
        Writer {
            program,
            storage: Storage::of(program),
            actions: Vec::new(),
            calculations: Vec::new(),
            checksums: Vec::new(),
            requests: Requests::of(program),
            digests: requests::digest_values(program),
            parameters: Vec::new(),
            origin: None,
        }
    }

    pub fn unsayable<T>(&self, construct: impl Into<String>) -> Written<T> {
        Err(Unsayable { construct: construct.into(), origin: self.origin.clone() })
    }

    pub fn node(&self, id: NodeId) -> &'p Node {
        &self.program.nodes[id]
    }
}

/// `source_info`, where the source is known; null else.
fn source_info(notes: &Notes, fragment: &str) -> Value {
    let Some(origin) = &notes.origin else { return Value::Null };
    // Columns of the JSON begin at 0.
    let (line, column) = (origin.line, origin.column.saturating_sub(1));
    json!({ "filename": origin.file, "line": line, "column": column, "source_fragment": fragment })
}

/// Adds `source_info` to an object.
pub fn placed(mut object: Value, notes: &Notes, fragment: &str) -> Value {
    let info = source_info(notes, fragment);
    if let (Some(object), false) = (object.as_object_mut(), info.is_null()) {
        object.insert("source_info".to_string(), info);
    }
    object
}
