//! Which names are types: `(a) - b` is a cast if `a` is a type, and `f<a>(b)` is a call only then.
//!
//! P4 declares before use, so that following the declarations while parsing is enough. Nothing else is decided by it:
//! a name that is used but not declared is for the checker to report.

use std::collections::HashMap;
use std::sync::Arc;

use super::{Parse, Parser};
use crate::ast::{Name, Path};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Meaning {
    Type,
    Value,
}

pub(super) struct Scopes {
    /// From the whole program to the innermost block.
    levels: Vec<HashMap<Arc<str>, Meaning>>,
}

impl Scopes {
    pub(super) fn new() -> Scopes {
        Scopes { levels: vec![HashMap::new()] }
    }

    fn declare(&mut self, name: &Name, meaning: Meaning) {
        if let Some(innermost) = self.levels.last_mut() {
            innermost.insert(name.text.clone(), meaning);
        }
    }

    fn meaning(&self, text: &str) -> Option<Meaning> {
        self.levels.iter().rev().find_map(|level| level.get(text).copied())
    }
}

impl Parser<'_> {
    pub(super) fn declare_type(&mut self, name: &Name) {
        self.scopes.declare(name, Meaning::Type);
    }

    pub(super) fn declare_value(&mut self, name: &Name) {
        self.scopes.declare(name, Meaning::Value);
    }

    /// Parses something whose declarations are its own.
    pub(super) fn in_scope<T>(&mut self, parse: impl FnOnce(&mut Self) -> Parse<T>) -> Parse<T> {
        self.scopes.levels.push(HashMap::new());
        let parsed = parse(self);
        self.scopes.levels.pop();
        parsed
    }

    /// Is the token at this index the name of a type?
    pub(super) fn names_type(&self, index: usize) -> bool {
        self.scopes.meaning(self.text_of(self.token(index))) == Some(Meaning::Type)
    }

    pub(super) fn is_type(&self, path: &Path) -> bool {
        let text = path.name.as_str();
        if path.absolute {
            return self.scopes.levels[0].get(text) == Some(&Meaning::Type);
        }
        self.scopes.meaning(text) == Some(Meaning::Type)
    }
}
