//! What the storage of a program is made of: instances of headers and metadata, their fields, stacks and unions.

use std::collections::HashMap;

use hlir::build::slots::Slot;
use hlir::{FieldRef, HeaderId};

/// A header instance, or a metadata instance.
#[derive(Debug)]
pub struct Instance {
    pub name: String,
    /// Nothing for metadata, which is always valid.
    pub header: Option<HeaderId>,
    pub fields: Vec<Member>,
    pub of_type: String,
}

/// A field of an instance.
#[derive(Clone, Debug)]
pub struct Member {
    pub name: String,
    pub leaf: Leaf,
    pub width: u32,
    pub signed: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leaf {
    Slot(Slot),
    Field(FieldRef),
    Varbit(FieldRef),
}

/// A stack of headers, or of unions: the numbers of its elements, and how many were extracted.
#[derive(Clone, Debug)]
pub struct Stack {
    pub elements: Vec<usize>,
    pub next: Slot,
}

/// All storage of the program, by number and by name.
#[derive(Debug, Default)]
pub struct Storage {
    pub instances: Vec<Instance>,
    pub named: HashMap<String, usize>,
    pub stacks: HashMap<String, Stack>,
    /// The instances of each union, in the order of its type.
    pub unions: Vec<Vec<usize>>,
    pub named_unions: HashMap<String, usize>,
    /// The names of the members of the unions of a type.
    pub union_members: HashMap<String, Vec<String>>,
    pub union_stacks: HashMap<String, (Stack, String)>,
}
