//! Warnings about names: declared and never used, or hiding another one.

use super::checker::{Checker, Scope};
use crate::ast::{DeclarationId, Name};

impl<'a> Checker<'a> {
    pub fn warn_unused(&mut self, _scope: &Scope) {}

    pub fn warn_shadowing(&mut self, _id: DeclarationId, _name: &'a Name) {}
}
