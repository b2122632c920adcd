//! The controller's view: what P4Info lists, with P4Runtime's ids.
//!
//! An id is the kind's prefix and 24 bits of a hash of the name. Names are numbered in sorted order; one whose id is taken counts its hash
//! up. `@id` is taken as it is.

use std::collections::{BTreeMap, HashSet};

use hlir::Notes;
use hlir::interface::{
    ObjectKind, Physical, SourceAction, SourceActionUse, SourceKey, SourceObject, SourceParameter, SourceTable,
};

use super::Lowering;
use crate::ast::{DeclarationId, Direction};
use crate::check::Call;

const TABLE: u32 = 0x02;
const ACTION: u32 = 0x01;

/// Jenkins' one-at-a-time hash.
fn one_at_a_time(name: &str) -> u32 {
    let mut hash: u32 = 0;
    for byte in name.bytes() {
        hash = hash.wrapping_add(u32::from(byte));
        hash = hash.wrapping_add(hash << 10);
        hash ^= hash >> 6;
    }
    hash = hash.wrapping_add(hash << 3);
    hash ^= hash >> 11;
    hash.wrapping_add(hash << 15)
}

/// Ids of one kind, by name.
fn number(prefix: u32, names: &BTreeMap<String, Option<u32>>) -> BTreeMap<String, u32> {
    let mut taken = HashSet::new();
    let mut ids = BTreeMap::new();
    for (name, given) in names {
        if let Some(given) = given {
            let id = (prefix << 24) | (given & 0xff_ffff);
            taken.insert(id);
            ids.insert(name.clone(), id);
        }
    }
    for (name, given) in names {
        if given.is_some() {
            continue;
        }
        let mut hash = one_at_a_time(name);
        let id = loop {
            let id = (prefix << 24) | (hash & 0xff_ffff);
            if taken.insert(id) {
                break id;
            }
            hash = hash.wrapping_add(1);
        };
        ids.insert(name.clone(), id);
    }
    ids
}

/// The shortest suffix, in whole components, that no other name of the kind ends in.
fn alias(name: &str, all: &[String]) -> String {
    let components: Vec<&str> = name.split('.').collect();
    for count in 1..components.len() {
        let suffix = components[components.len() - count..].join(".");
        let ends = |other: &&String| **other == suffix || other.ends_with(&format!(".{suffix}"));
        if all.iter().filter(ends).count() == 1 {
            return suffix;
        }
    }
    name.to_string()
}

fn id_note(notes: &Notes) -> Option<u32> {
    let note = notes.annotations.iter().rev().find(|note| note.name == "id")?;
    let text = note.body.as_deref()?.trim();
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn is_hidden(notes: &Notes) -> bool {
    notes.annotations.iter().any(|note| note.name == "hidden")
}

impl<'a> Lowering<'a> {
    /// Freezes the interface, once all tables and objects are there.
    pub fn finish_interface(&mut self) {
        // A direct counter or meter that no table names never runs, and nobody can ask for it.
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
        self.source_actions();
        self.source_tables();
        self.source_objects(&useless);
    }

    /// Keeps an action that the program calls itself for the list of actions.
    pub fn note_called_action(&mut self, action: DeclarationId, call: &Call) {
        // Those that only actions call are part of them.
        if self.path != self.prefix {
            return;
        }
        let name = self.action_name(action);
        let notes = self.notes_of(action);
        if is_hidden(&notes) || self.called_actions.iter().any(|known| known.name == name) {
            return;
        }
        let mut parameters = Vec::new();
        for binding in call.bindings.iter().filter(|binding| binding.direction == Direction::None) {
            let notes = self.notes_of(binding.parameter);
            let width = self.scalar_type(&self.substituted(&binding.of_type)).map_or(0, |scalar| scalar.width());
            let id = id_note(&notes).unwrap_or(parameters.len() as u32 + 1);
            parameters.push(SourceParameter { id, name: self.external_name(binding.parameter), width, notes });
        }
        self.called_actions.push(SourceAction { id: 0, name, alias: String::new(), parameters, notes });
    }

    fn source_actions(&mut self) {
        let mut names = BTreeMap::new();
        let mut order: Vec<(String, SourceAction)> = Vec::new();
        for (_, table) in self.program.tables.iter() {
            if is_hidden(&table.notes) {
                continue;
            }
            for action in &table.actions {
                if names.contains_key(&action.name) {
                    continue;
                }
                names.insert(action.name.clone(), id_note(&action.notes));
                let parameters = action.parameters.iter().enumerate().map(|(at, parameter)| SourceParameter {
                    id: id_note(&parameter.notes).unwrap_or(at as u32 + 1),
                    name: parameter.name.clone(),
                    width: parameter.width,
                    notes: parameter.notes.clone(),
                });
                let parameters = parameters.collect();
                let (name, notes) = (action.name.clone(), action.notes.clone());
                let made = SourceAction { id: 0, name: name.clone(), alias: String::new(), parameters, notes };
                order.push((name, made));
            }
        }
        for action in std::mem::take(&mut self.called_actions) {
            if !names.contains_key(&action.name) {
                names.insert(action.name.clone(), id_note(&action.notes));
                order.push((action.name.clone(), action));
            }
        }
        let ids = number(ACTION, &names);
        let all: Vec<String> = names.into_keys().collect();
        for (name, mut action) in order {
            action.id = ids[&name];
            action.alias = alias(&name, &all);
            self.program.interface.actions.push(action);
        }
    }

    fn source_tables(&mut self) {
        let visible = |table: &hlir::Table| !is_hidden(&table.notes);
        let tables = self.program.tables.iter().filter(|(_, table)| visible(table));
        let names: BTreeMap<String, Option<u32>> =
            tables.map(|(_, table)| (table.name.clone(), id_note(&table.notes))).collect();
        let ids = number(TABLE, &names);
        let all: Vec<String> = names.into_keys().collect();
        let reached: HashSet<_> = self
            .program
            .nodes
            .iter()
            .filter_map(|(_, node)| match &node.kind {
                hlir::NodeKind::Apply { table, .. } => Some(*table),
                hlir::NodeKind::State { .. }
                | hlir::NodeKind::Block { .. }
                | hlir::NodeKind::Branch { .. }
                | hlir::NodeKind::Deparse { .. }
                | hlir::NodeKind::Buffer { .. } => None,
            })
            .collect();
        let mut made = Vec::new();
        for (id, table) in self.program.tables.iter().filter(|(_, table)| visible(table)) {
            let keys = table.keys.iter().enumerate().map(|(at, key)| SourceKey {
                id: id_note(&key.notes).unwrap_or(at as u32 + 1),
                name: key.name.clone(),
                width: self.width(&key.value),
                kind: key.kind,
                notes: key.notes.clone(),
            });
            let actions = table.actions.iter().map(|action| SourceActionUse {
                action: self.action_id(&action.name),
                scope: action.scope,
                notes: Notes::default(),
            });
            made.push(SourceTable {
                id: ids[&table.name],
                name: table.name.clone(),
                alias: alias(&table.name, &all),
                keys: keys.collect(),
                actions: actions.collect(),
                size: table.size,
                entries_constant: table.entries_constant,
                physical: if reached.contains(&id) { Physical::Table(id) } else { Physical::None },
                notes: table.notes.clone(),
            });
        }
        self.program.interface.tables = made;
    }

    fn action_id(&self, name: &str) -> u32 {
        self.program.interface.actions.iter().find(|action| action.name == name).map_or(0, |action| action.id)
    }

    fn source_objects(&mut self, useless: &HashSet<String>) {
        let program = &self.program;
        let mut all: Vec<(ObjectKind, String, Notes)> = Vec::new();
        for (_, set) in program.value_sets.iter() {
            all.push((ObjectKind::ValueSet, set.name.clone(), set.notes.clone()));
        }
        for (_, profile) in program.profiles.iter() {
            all.push((ObjectKind::ActionProfile, profile.name.clone(), profile.notes.clone()));
        }
        for (_, counter) in program.counters.iter() {
            let direct = counter.table.is_some() || counter.automatic;
            let kind = if direct { ObjectKind::DirectCounter } else { ObjectKind::Counter };
            all.push((kind, counter.name.clone(), counter.notes.clone()));
        }
        for (_, meter) in program.meters.iter() {
            let direct = meter.table.is_some() || meter.automatic.is_some();
            let kind = if direct { ObjectKind::DirectMeter } else { ObjectKind::Meter };
            all.push((kind, meter.name.clone(), meter.notes.clone()));
        }
        for (_, register) in program.registers.iter() {
            all.push((ObjectKind::Register, register.name.clone(), register.notes.clone()));
        }
        for (_, digest) in program.digests.iter() {
            all.push((ObjectKind::Digest, digest.name.clone(), digest.notes.clone()));
        }
        all.retain(|(_, name, notes)| !is_hidden(notes) && !useless.contains(name));
        let kinds: Vec<ObjectKind> = all.iter().map(|(kind, _, _)| *kind).collect();
        let mut objects = Vec::new();
        for (kind, name, notes) in &all {
            let same = all.iter().zip(&kinds).filter(|(_, other)| *other == kind).map(|(object, _)| object);
            let names: BTreeMap<String, Option<u32>> =
                same.map(|(_, name, notes)| (name.clone(), id_note(notes))).collect();
            let ids = number(u32::from(kind.prefix()), &names);
            let every: Vec<String> = names.into_keys().collect();
            objects.push(SourceObject {
                kind: *kind,
                id: ids[name],
                name: name.clone(),
                alias: alias(name, &every),
                notes: notes.clone(),
            });
        }
        self.program.interface.objects = objects;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_those_of_p4runtime() {
        // NoAction has this id in every P4Info.
        let names = BTreeMap::from([("NoAction".to_string(), None)]);
        assert_eq!(number(ACTION, &names)["NoAction"], 21_257_015);
    }

    #[test]
    fn an_alias_is_the_shortest_suffix_of_its_own() {
        let all = ["ingress.a.t".to_string(), "ingress.b.t".to_string(), "egress.u".to_string()];
        assert_eq!(alias("egress.u", &all), "u");
        assert_eq!(alias("ingress.a.t", &all), "a.t");
    }
}
