//! What names mean at their place (6.9): a chain of declarations, the innermost and latest first, with the program's at its end.
//!
//! An action or table keeps the chain at its declaration, so that a name in it means what it meant there.

use std::collections::HashMap;
use std::rc::Rc;

use p4::ast::{Declaration, DeclarationId};

use super::value::{Type, Value};

#[derive(Clone)]
pub enum Binding<'a> {
    /// A variable or parameter: the index of its slot.
    Variable(usize),
    Constant(Value),
    Type(Type),
    /// Overloads of a function, extern function or action, and the chain that their bodies see.
    Code(Vec<&'a Declaration>, Env<'a>),
    /// The type of objects: a parser, control, extern or package.
    Class(&'a Declaration),
    Table(usize, Env<'a>),
    Instance(Rc<Instance<'a>>),
    ValueSet(usize),
    PacketIn,
    PacketOut,
}

pub type Env<'a> = Option<Rc<Scope<'a>>>;

pub struct Scope<'a> {
    name: &'a str,
    binding: Binding<'a>,
    outer: Env<'a>,
}

pub fn bind<'a>(env: &Env<'a>, name: &'a str, binding: Binding<'a>) -> Env<'a> {
    Some(Rc::new(Scope { name, binding, outer: env.clone() }))
}

pub fn find<'a>(env: &Env<'a>, name: &str) -> Option<Binding<'a>> {
    let mut scope = env.as_ref();
    while let Some(at) = scope {
        if at.name == name {
            return Some(at.binding.clone());
        }
        scope = at.outer.as_ref();
    }
    None
}

/// A parser, control or extern object made at compile time (10.3.1).
pub struct Instance<'a> {
    pub declaration: &'a Declaration,
    /// Its control-plane name, `ingress.c`.
    pub path: String,
    /// Its type parameters and constructor parameters.
    pub env: Env<'a>,
    /// Objects made in it, by their declaration; those of a direct invocation (14.1.2) by the declaration of their type.
    pub children: HashMap<DeclarationId, Rc<Instance<'a>>>,
    pub tables: HashMap<DeclarationId, usize>,
    pub value_sets: HashMap<DeclarationId, usize>,
    /// The state of an extern object.
    pub object: Option<usize>,
    /// The objects of an array of externs, `Counter(64) counters[4];`. Such an instance is nothing else.
    pub elements: Vec<Rc<Instance<'a>>>,
    /// Abstract methods that the instance implements, and what they see.
    pub methods: Option<(&'a [Declaration], Env<'a>)>,
}
