//! Variables that are made when they are first used, so that a program has only those that matter to it.

use std::collections::HashMap;

use super::names::Names;
use crate::{HeaderId, Notes, Program, Type, Variable, VariableId};

/// A variable that exists as soon as something reads or writes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Slot(u32);

#[derive(Debug)]
struct SlotData {
    name: String,
    of_type: Type,
    notes: Notes,
    variable: Option<VariableId>,
}

/// All slots, and which headers are members of one union.
#[derive(Debug, Default)]
pub struct Slots {
    slots: Vec<SlotData>,
    /// The other members of the union that a header is a member of.
    siblings: HashMap<HeaderId, Vec<HeaderId>>,
}

impl Slots {
    pub fn add(&mut self, name: &str, of_type: Type, notes: Notes) -> Slot {
        self.slots.push(SlotData { name: name.to_string(), of_type, notes, variable: None });
        Slot(self.slots.len() as u32 - 1)
    }

    /// Notes that these headers are the members of one union.
    pub fn unite(&mut self, headers: &[HeaderId]) {
        for header in headers {
            let others = headers.iter().copied().filter(|other| other != header).collect();
            self.siblings.insert(*header, others);
        }
    }

    pub fn siblings(&self, header: HeaderId) -> &[HeaderId] {
        self.siblings.get(&header).map_or(&[], Vec::as_slice)
    }

    /// The variable of a slot, if anything has used it.
    pub fn variable(&self, slot: Slot) -> Option<VariableId> {
        self.slots[slot.0 as usize].variable
    }

    /// The variable of a slot, made now if nothing has used it before.
    pub fn used(&mut self, slot: Slot, names: &mut Names, program: &mut Program) -> VariableId {
        let data = &mut self.slots[slot.0 as usize];
        if let Some(variable) = data.variable {
            return variable;
        }
        let name = names.storage(&data.name);
        let variable = Variable { name, kind: data.of_type, notes: std::mem::take(&mut data.notes) };
        let id = program.variables.alloc(variable);
        data.variable = Some(id);
        id
    }
}
