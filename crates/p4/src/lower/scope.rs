//! The meaning of names while a part of the program is lowered: a chain of bindings, one link for each instance and each call.

use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;

use super::value::{Target, Value};
use crate::ast::DeclarationId;
use crate::types::Substitution;

#[derive(Clone, Debug, PartialEq)]
pub enum Binding {
    /// A variable, or an `out` or `inout` parameter.
    Target(Target),
    /// A constant, an `in` parameter, an object.
    Value(Value),
}

#[derive(Debug, Default)]
pub struct Scope {
    bindings: RefCell<HashMap<DeclarationId, Binding>>,
    /// The values of type parameters here, those of all enclosing declarations included.
    pub types: Substitution,
    parent: Option<Rc<Scope>>,
}

impl Scope {
    pub fn inside(parent: &Rc<Scope>, types: Substitution) -> Rc<Scope> {
        let types = types.within(&parent.types);
        Rc::new(Scope { bindings: RefCell::default(), types, parent: Some(parent.clone()) })
    }

    pub fn bind(&self, declaration: DeclarationId, binding: Binding) {
        self.bindings.borrow_mut().insert(declaration, binding);
    }

    pub fn lookup(&self, declaration: DeclarationId) -> Option<Binding> {
        let mut scope = self;
        loop {
            if let Some(binding) = scope.bindings.borrow().get(&declaration) {
                return Some(binding.clone());
            }
            scope = scope.parent.as_deref()?;
        }
    }
}
