//! The metadata of v1model: the standard fields by their names, what the program asks for, and variables of the architecture's own.

use std::collections::HashMap;

use super::V1model;
use crate::build::slots::{Slot, Slots};
use crate::build::{Known, arithmetic, assignment};
use crate::{Expression, NodeId, Notes, Place, Type, VariableId};

/// What a program may ask the buffering managers for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Request {
    CloneIngress,
    CloneEgress,
    Resubmit,
    Recirculate,
}

impl Request {
    /// The hidden variable that is true once the request was made.
    pub fn name(self) -> &'static str {
        match self {
            Request::CloneIngress => "clone_i2e",
            Request::CloneEgress => "clone_e2e",
            Request::Resubmit => "resubmit",
            Request::Recirculate => "recirculate",
        }
    }

    /// The hidden variable that has the number of the field list, where requests have different ones.
    pub fn list_name(self) -> String {
        format!("{}_list", self.name())
    }

    /// The hidden variable that has the number of the mirror session.
    pub fn session_name(self) -> String {
        format!("{}_session", self.name())
    }
}

/// The field list of a request that keeps nothing.
pub const NO_LIST: u32 = u32::MAX;

/// What the architecture knows of a program's metadata.
#[derive(Clone, Debug, Default)]
pub struct Metadata {
    /// The fields of the standard metadata, by name.
    pub standard: HashMap<String, Known>,
    /// Variables of the architecture's own, by the name behind `v1model.`.
    pub hidden: HashMap<String, Known>,
    /// All user and standard metadata.
    pub slots: Vec<Slot>,
    /// Metadata that each field list keeps, by its number.
    pub lists: HashMap<u32, Vec<Slot>>,
    /// Numbers of the field lists that each request was made with.
    pub requests: HashMap<Request, Vec<u32>>,
    pub uses_multicast: bool,
}

impl Metadata {
    pub fn lists_of(&self, request: Request) -> Vec<u32> {
        self.requests.get(&request).cloned().unwrap_or_default()
    }

    /// How wide a field of the standard metadata is in the program.
    pub fn standard_width(&self, name: &str) -> u32 {
        self.standard.get(name).map_or(32, |known| known.of_type.width())
    }

    /// The port that means dropping: the largest number that `egress_spec` holds, 511 of nine bits.
    pub fn drop_port(&self) -> Expression {
        let width = self.standard_width("egress_spec");
        Expression::constant(arithmetic::ones(width), width)
    }

    pub fn is_drop_port(&self, spec: Expression) -> Expression {
        arithmetic::equal(spec, self.drop_port())
    }

    /// The variables of a field list that the program uses.
    pub fn kept(&self, slots: &Slots, list: u32) -> Vec<VariableId> {
        let kept = self.lists.get(&list);
        kept.map_or_else(Vec::new, |kept| kept.iter().filter_map(|slot| slots.variable(*slot)).collect())
    }
}

impl V1model<'_> {
    /// A variable of the architecture's own.
    pub(super) fn hidden(&mut self, name: &str, of_type: Type) -> VariableId {
        let slot = match self.metadata.hidden.get(name) {
            Some(known) => known.slot,
            None => {
                let full = format!("{}.{name}", self.builder.program.architecture);
                let slot = self.builder.slots.add(&full, of_type, Notes::default());
                self.metadata.hidden.insert(name.to_string(), Known { slot, of_type });
                slot
            }
        };
        self.builder.variable(slot)
    }

    /// The variable of a field of the standard metadata, if anything uses it.
    pub(super) fn used_standard(&self, name: &str) -> Option<VariableId> {
        self.metadata.standard.get(name).and_then(|known| self.builder.slots.variable(known.slot))
    }

    pub(super) fn is_used(&self, name: &str) -> bool {
        self.used_standard(name).is_some()
    }

    pub(super) fn standard_place(&mut self, name: &str) -> Option<Place> {
        let slot = self.metadata.standard.get(name)?.slot;
        Some(Place::Variable(self.builder.variable(slot)))
    }

    pub(super) fn set_standard(&mut self, block: NodeId, name: &str, value: Expression) {
        let value = self.as_standard(name, value);
        if let Some(Place::Variable(variable)) = self.standard_place(name) {
            self.builder.emit(block, assignment(variable, value));
        }
    }

    pub(super) fn set_if_used(&mut self, set: &mut Vec<(Place, Expression)>, name: &str, value: Expression) {
        if let Some(variable) = self.used_standard(name) {
            set.push((Place::Variable(variable), self.as_standard(name, value)));
        }
    }

    /// A number as wide as a field of the standard metadata is.
    pub(super) fn as_standard(&self, name: &str, value: Expression) -> Expression {
        let width = self.builder.width(&value);
        arithmetic::resize(value, width, self.metadata.standard_width(name), false)
    }
}
