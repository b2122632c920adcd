//! The controller's view: what P4Info lists, with P4Runtime's ids.
//!
//! An id is the kind's prefix and 24 bits of a hash of the name. Names are numbered in sorted order; one whose id is taken counts its hash
//! up. `@id` is taken as it is. What the flat program has forgotten, the types above all, was kept aside as [`Facts`].

mod actions;
mod facts;
mod objects;
mod order;
mod shared_names;
mod tables;
mod types;
mod unique;

use std::collections::{BTreeSet, HashSet};

use hlir::Notes;
use hlir::build::ids::{alias, number};
use hlir::notes::{Annotation, AnnotationBody, AnnotationValue};

use super::Lowering;
use crate::types::Type;
pub use facts::Facts;

/// The id that `@id` gives.
fn id_note(notes: &Notes) -> Option<u32> {
    number_note(notes.annotations.iter().rev().find(|note| note.name == "id")?)
}

/// The number that an annotation holds, in either spelling and in any of the forms of literals.
fn number_note(note: &Annotation) -> Option<u32> {
    match &note.body {
        AnnotationBody::Text(text) => literal(text.trim()),
        AnnotationBody::Values(values) => match &values[..] {
            [AnnotationValue::Number(number)] => u32::try_from(number).ok(),
            _ => None,
        },
        AnnotationBody::None | AnnotationBody::Pairs(_) => None,
    }
}

/// `17`, `0x11`, `32w0b1_0001`: a literal as it is written.
fn literal(text: &str) -> Option<u32> {
    let plain = text.replace('_', "").to_ascii_lowercase();
    let digits = match plain.split_once(['w', 's']) {
        Some((width, digits)) if !width.is_empty() && width.bytes().all(|digit| digit.is_ascii_digit()) => digits,
        _ => &plain,
    };
    let bases = [("0x", 16), ("0b", 2), ("0o", 8), ("0d", 10)];
    let based = bases.iter().find_map(|(prefix, base)| Some((digits.strip_prefix(prefix)?, *base)));
    let (digits, base) = based.unwrap_or((digits, 10));
    u32::from_str_radix(digits, base).ok()
}

/// Ids of keys, of fields or of parameters of one list: those that `@id` gives some of them, and for each of the others the next one free.
/// What has an id of its own still takes a place in the counting, as with p4c.
fn ids_together(given: &[Option<u32>]) -> Vec<u32> {
    let mut taken: HashSet<u32> = given.iter().flatten().copied().collect();
    let mut next = 1;
    let id = |given: &Option<u32>| {
        if let Some(given) = given {
            next += 1;
            return *given;
        }
        while !taken.insert(next) {
            next += 1;
        }
        next
    };
    given.iter().map(id).collect()
}

fn is_hidden(notes: &Notes) -> bool {
    notes.annotations.iter().any(|note| note.name == "hidden")
}

/// Bits of a value as the controller writes it: members of an enumeration without an underlying type have none.
fn controller_width(of_type: &Type, width: u32) -> u32 {
    if matches!(of_type, Type::Enum(_) | Type::Error) { 0 } else { width }
}

impl Lowering<'_> {
    /// Freezes the interface, once all tables and objects are there.
    pub fn finish_interface(&mut self) {
        // A direct counter or meter that no table names never runs, and cannot be read.
        let mut useless = HashSet::new();
        for (_, counter) in self.program.counters.iter_mut().filter(|(_, counter)| counter.table.is_none()) {
            if std::mem::take(&mut counter.automatic) {
                useless.insert(counter.name.clone());
            }
        }
        for (_, meter) in self.program.meters.iter_mut().filter(|(_, meter)| meter.table.is_none()) {
            if meter.automatic.take().is_some() {
                useless.insert(meter.name.clone());
            }
        }
        self.program.interface.package = self.checked.main().map(|main| self.notes_of(main)).unwrap_or_default();
        self.source_actions();
        self.source_tables();
        self.source_objects(&useless);
        self.tie_objects();
        self.program.interface.types = self.source_types();
        self.show_object_names();
        self.alias_all();
        self.program.interface.externs = self.facts.externs;
        self.order_interface();
        let shared = self.shared_ids();
        self.diagnostics.extend(shared);
    }

    /// Gives everything its alias. Names of all kinds count, those that two kinds share once.
    fn alias_all(&mut self) {
        let interface = &mut self.program.interface;
        let tables = interface.tables.iter_mut().map(|table| (&table.name, &mut table.alias));
        let actions = interface.actions.iter_mut().map(|action| (&action.name, &mut action.alias));
        let objects = interface.objects.iter_mut().map(|object| (&object.name, &mut object.alias));
        let named: Vec<(&String, &mut String)> = tables.chain(actions).chain(objects).collect();
        let all: BTreeSet<&str> = named.iter().map(|(name, _)| name.as_str()).collect();
        let all: Vec<String> = all.into_iter().map(str::to_string).collect();
        named.into_iter().for_each(|(name, given)| *given = alias(name, &all));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_read_in_every_form_of_a_literal() {
        let texts = ["17", "0x11", "0X1_1", "32w0b1_0001", "8s0o21", "0d17"];
        assert_eq!(texts.map(literal), [Some(17); 6]);
        assert_eq!(["", "x", "-1", "0x1_0000_0000"].map(literal), [None; 4]);
    }
}
