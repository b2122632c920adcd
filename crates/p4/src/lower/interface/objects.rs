//! Counters, meters, registers, digests, value sets, profiles and controller headers of the controller's view.

use std::collections::{BTreeMap, HashMap, HashSet};

use hlir::interface::{
    Detail, ObjectKind, SizeSemantics, SourceKey, SourceObject, SourceParameter, SourceSelector, TypeSpec,
};
use hlir::notes::{AnnotationBody, AnnotationValue};
use hlir::{Notes, TableId};

use super::{id_note, ids_together, is_hidden, number, number_note};
use crate::lower::Lowering;
use crate::lower::notes::string_annotation;
use crate::types::Type;

impl Lowering<'_> {
    pub(super) fn source_objects(&mut self, useless: &HashSet<String>) {
        let mut all = self.stateful_objects();
        all.retain(|(_, name, notes)| !is_hidden(notes) && !useless.contains(name));
        let headers = self.controller_headers();
        let known: Vec<(ObjectKind, &str)> =
            all.iter().map(|(detail, name, _)| (detail.kind(), name.as_str())).collect();
        let conflicts = self.object_conflicts(&known);
        let mut names: HashMap<u8, BTreeMap<String, Option<u32>>> = HashMap::new();
        for (detail, name, notes) in &all {
            names.entry(detail.kind().prefix()).or_default().insert(self.shown_object(name), id_note(notes));
        }
        self.name_conflicts.extend(conflicts);
        let ids: HashMap<u8, BTreeMap<String, u32>> =
            names.iter().map(|(prefix, names)| (*prefix, number(u32::from(*prefix), names))).collect();
        let objects = all.into_iter().map(|(detail, name, notes)| {
            let prefix = detail.kind().prefix();
            let id = ids[&prefix][&self.shown_object(&name)];
            SourceObject { id, alias: String::new(), name, detail, notes }
        });
        let objects = objects.collect();
        self.program.interface.objects = objects;
        self.program.interface.objects.extend(headers);
    }

    fn stateful_objects(&self) -> Vec<(Detail, String, Notes)> {
        let program = &self.program;
        let tables = self.table_ids();
        let index = |name: &str| self.facts.indexes.get(name).and_then(|of_type| self.type_name(of_type));
        let element = |name: &str, width| {
            self.facts.element_types.get(name).map_or(TypeSpec::Bits(width), |element| self.spec(element))
        };
        let mut all: Vec<(Detail, String, Notes)> = Vec::new();
        for (_, set) in program.value_sets.iter() {
            let detail = Detail::ValueSet { size: set.size, keys: self.value_set_keys(set) };
            all.push((detail, set.name.clone(), set.notes.clone()));
        }
        for (_, profile) in program.profiles.iter() {
            let selector = profile.selector.as_ref().map(|_| selector(&profile.notes));
            let detail = Detail::ActionProfile { tables: Vec::new(), size: profile.size, selector };
            all.push((detail, profile.name.clone(), profile.notes.clone()));
        }
        for (_, counter) in program.counters.iter() {
            let detail = match counter.table {
                Some(table) => {
                    Detail::DirectCounter { unit: counter.unit, table: tables.get(&table).copied().unwrap_or(0) }
                }
                None => Detail::Counter { unit: counter.unit, size: counter.size, index: index(&counter.name) },
            };
            all.push((detail, counter.name.clone(), counter.notes.clone()));
        }
        for (_, meter) in program.meters.iter() {
            let detail = match meter.table {
                Some(table) => {
                    Detail::DirectMeter { unit: meter.unit, table: tables.get(&table).copied().unwrap_or(0) }
                }
                None => Detail::Meter { unit: meter.unit, size: meter.size, index: index(&meter.name) },
            };
            all.push((detail, meter.name.clone(), meter.notes.clone()));
        }
        for (_, register) in program.registers.iter() {
            let element = element(&register.name, register.width);
            let detail = Detail::Register { element, size: register.size, index: index(&register.name) };
            all.push((detail, register.name.clone(), register.notes.clone()));
        }
        for (_, digest) in program.digests.iter() {
            all.push((Detail::Digest { record: element(&digest.name, 0) }, digest.name.clone(), digest.notes.clone()));
        }
        all
    }

    /// The ids of the tables that the controller knows.
    fn table_ids(&self) -> HashMap<TableId, u32> {
        let named: HashMap<&str, u32> =
            self.program.interface.tables.iter().map(|table| (table.name.as_str(), table.id)).collect();
        let ids = self.program.tables.iter().filter_map(|(id, table)| Some((id, *named.get(table.name.as_str())?)));
        ids.collect()
    }

    /// Links tables to their profiles, direct counters and direct meters, and profiles to their tables.
    pub(super) fn tie_objects(&mut self) {
        let ids = self.table_ids();
        let mut interface = std::mem::take(&mut self.program.interface);
        for (id, table) in self.program.tables.iter() {
            let Some(source) = interface.tables.iter_mut().find(|source| Some(&source.id) == ids.get(&id)) else {
                continue;
            };
            let profile = table.profile.map(|profile| self.program.profiles[profile].name.as_str());
            for object in &mut interface.objects {
                match &mut object.detail {
                    Detail::ActionProfile { tables, .. } if profile == Some(&object.name) => {
                        tables.push(source.id);
                        source.profile = Some(object.id);
                    }
                    Detail::DirectCounter { table, .. } if *table == source.id => source.direct.push(object.id),
                    Detail::DirectMeter { table, .. } if *table == source.id => source.direct.push(object.id),
                    Detail::ActionProfile { .. }
                    | Detail::DirectCounter { .. }
                    | Detail::DirectMeter { .. }
                    | Detail::ValueSet { .. }
                    | Detail::ControllerHeader { .. }
                    | Detail::Counter { .. }
                    | Detail::Meter { .. }
                    | Detail::Register { .. }
                    | Detail::Digest { .. } => {}
                }
            }
        }
        self.program.interface = interface;
    }

    fn value_set_keys(&self, set: &hlir::ValueSet) -> Vec<SourceKey> {
        let facts = self.facts.fields.get(&set.name).map_or(&[][..], |fields| fields);
        let given: Vec<_> = facts.iter().map(|(_, notes)| id_note(notes)).collect();
        let ids = ids_together(&given);
        let keys = set.fields.iter().enumerate().map(|(at, (name, width, kind))| {
            let (type_name, notes) = match facts.get(at) {
                Some((of_type, notes)) => (self.type_name(of_type), notes.clone()),
                None => (None, Notes::default()),
            };
            let id = ids.get(at).copied().unwrap_or(at as u32 + 1);
            // The only value of a set that is of no struct has no name.
            let name = if notes.origin.is_some() { name.clone() } else { String::new() };
            SourceKey { id, name, width: *width, kind: *kind, type_name, notes }
        });
        keys.collect()
    }

    /// Headers that packets to and from the controller carry, in the order of the source. Their ids are made of their types' names.
    fn controller_headers(&self) -> Vec<SourceObject> {
        let mut headers = Vec::new();
        for (declaration, of_type) in self.controller_header_types() {
            let Some(name) = string_annotation(&declaration.attributes.annotations, "controller_header") else {
                continue;
            };
            let mut fields = Vec::new();
            self.controller_fields(&of_type, "", &mut fields);
            let given: Vec<_> = fields.iter().map(|field| id_note(&field.notes)).collect();
            fields.iter_mut().zip(ids_together(&given)).for_each(|(field, id)| field.id = id);
            fields.retain(|field| !is_hidden(&field.notes));
            let detail = Detail::ControllerHeader { fields };
            let notes = self.notes(declaration.span, &declaration.attributes);
            headers.push((
                self.external_name(declaration.id),
                SourceObject { id: 0, alias: name.clone(), name, detail, notes },
            ));
        }
        let ids = headers.iter().map(|(of_type, header)| (of_type.clone(), id_note(&header.notes))).collect();
        let ids = number(u32::from(ObjectKind::ControllerHeader.prefix()), &ids);
        headers.into_iter().map(|(of_type, header)| SourceObject { id: ids[&of_type], ..header }).collect()
    }

    fn controller_fields(&self, of_type: &Type, prefix: &str, into: &mut Vec<SourceParameter>) {
        for field in self.checked.fields_of(of_type) {
            let name = Self::qualified(prefix, &self.external_name(field.id));
            if matches!(field.of_type, Type::Struct(_)) {
                self.controller_fields(&field.of_type, &name, into);
                continue;
            }
            let width = self.checked.width_of(&field.of_type).unwrap_or(0);
            let notes = self.notes_of(field.id);
            into.push(SourceParameter { id: 0, name, width, type_name: self.type_name(&field.of_type), notes });
        }
    }
}

/// The size of a selector given by annotations.
fn selector(notes: &Notes) -> SourceSelector {
    let text = |name: &str| {
        let note = notes.annotations.iter().find(|note| note.name == name)?;
        match &note.body {
            AnnotationBody::Text(text) => Some(text.trim().trim_matches('"').to_string()),
            AnnotationBody::Values(values) => match &values[..] {
                [AnnotationValue::Text(text)] => Some(text.clone()),
                _ => None,
            },
            AnnotationBody::None | AnnotationBody::Pairs(_) => None,
        }
    };
    let number = |name: &str| number_note(notes.annotations.iter().find(|note| note.name == name)?).map(u64::from);
    let semantics = match text("selector_size_semantics").as_deref() {
        Some("sum_of_weights") => Some(SizeSemantics::SumOfWeights),
        Some("sum_of_members") => Some(SizeSemantics::SumOfMembers(number("max_member_weight"))),
        _ => None,
    };
    SourceSelector { largest_group: number("max_group_size").unwrap_or(0), semantics }
}
