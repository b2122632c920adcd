//! The P4Info ids of a program's objects, and the index of each in the program.
//!
//! Made once for a pipeline, so that a write finds everything by one look-up.

mod action;
mod keys;
mod ports;
mod translation;

pub use action::Actions;
pub use keys::{KeySchema, Keys};
pub use ports::PortSchema;
pub use translation::{Dictionaries, Reading};

use crate::failure::{Failure, Outcome};
use hlir::interface::{Definition, Detail, Interface, SourceObject, SourceParameter, SourceTable, TypeSpec};
use hlir::{CounterId, DigestId, MeterId, ProfileId, Program, RegisterId, TableId, ValueSetId};
use std::collections::HashMap;
use std::sync::Arc;

pub struct Schema {
    pub program: Arc<Program>,
    tables: HashMap<u32, TableSchema>,
    table_ids: HashMap<TableId, u32>,
    profiles: HashMap<u32, ProfileSchema>,
    pub counters: Vec<Indexed<CounterId>>,
    pub meters: Vec<Indexed<MeterId>>,
    pub registers: Vec<RegisterSchema>,
    pub value_sets: Vec<ValueSetSchema>,
    pub digests: Vec<DigestSchema>,
    pub packet_in: Option<HeaderSchema>,
    pub packet_out: Option<HeaderSchema>,
    pub dictionaries: Dictionaries,
    pub ports: PortSchema,
}

pub struct TableSchema {
    pub id: u32,
    pub table: TableId,
    pub name: String,
    pub keys: Keys,
    pub actions: Actions,
    /// The id of its profile, and the profile.
    pub profile: Option<(u32, ProfileId)>,
    pub counter: Option<CounterId>,
    pub meter: Option<MeterId>,
    pub has_priorities: bool,
    pub idle_timeout: bool,
    pub constant: bool,
    /// Whether the controller may know the default action.
    pub has_default: bool,
    /// Whether no controller may change the default action. That of a table with an action profile never changes.
    pub has_constant_default: bool,
}

pub struct ProfileSchema {
    pub id: u32,
    pub profile: ProfileId,
    pub name: String,
    /// The actions of its tables, which have all the same.
    pub actions: Actions,
    pub size: u64,
    pub selector: Option<SelectorSchema>,
}

pub struct SelectorSchema {
    /// Of one group; 0 for none.
    pub largest_group: u64,
}

/// Counters or meters found by an index.
pub struct Indexed<T> {
    pub id: u32,
    pub name: String,
    pub object: T,
    pub size: u64,
}

pub struct RegisterSchema {
    pub indexed: Indexed<RegisterId>,
    pub width: u32,
    pub element: TypeSpec,
}

pub struct ValueSetSchema {
    pub id: u32,
    pub name: String,
    pub set: ValueSetId,
    pub keys: Keys,
}

pub struct DigestSchema {
    pub id: u32,
    pub name: String,
    pub digest: DigestId,
    pub record: TypeSpec,
}

/// A header that goes with packets between switch and controller.
pub struct HeaderSchema {
    pub fields: Vec<KeySchema>,
    /// Which fields are `@padding`: controllers may leave them out.
    pub padding: Vec<bool>,
}

impl HeaderSchema {
    pub fn bits(&self) -> u32 {
        self.fields.iter().map(|field| field.width).sum()
    }
}

impl Schema {
    /// The id of a table, if controllers see it.
    pub fn id_of(&self, table: TableId) -> Option<u32> {
        self.table_ids.get(&table).copied()
    }

    pub fn new(program: Arc<Program>) -> Schema {
        let interface = &program.interface;
        let dictionaries = Dictionaries::of(interface);
        let tables: HashMap<u32, TableSchema> = interface
            .tables
            .iter()
            .filter_map(|source| Some((source.id, table(&program, source, &dictionaries)?)))
            .collect();
        let mut schema = Schema {
            table_ids: tables.values().map(|table| (table.table, table.id)).collect(),
            tables,
            profiles: HashMap::new(),
            counters: Vec::new(),
            meters: Vec::new(),
            registers: Vec::new(),
            value_sets: Vec::new(),
            digests: Vec::new(),
            packet_in: None,
            packet_out: None,
            ports: PortSchema::of(&program, &dictionaries),
            dictionaries,
            program: program.clone(),
        };
        interface.objects.iter().for_each(|object| schema.add(object));
        schema
    }

    fn add(&mut self, object: &SourceObject) {
        let program = self.program.clone();
        let (id, name) = (object.id, object.name.clone());
        match &object.detail {
            Detail::ActionProfile { tables, size, selector } => {
                let named = program.profiles.iter().find(|(_, profile)| profile.name == name);
                let Some((profile, _)) = named else { return };
                let first = tables.iter().find_map(|table| self.tables.get(table));
                let actions = first.map(|table| table.actions.clone()).unwrap_or_default();
                let selector = selector.as_ref().map(SelectorSchema::of);
                self.profiles.insert(id, ProfileSchema { id, profile, name, actions, size: *size, selector });
            }
            Detail::Counter { size, .. } => {
                if let Some((object, _)) = program.counters.iter().find(|(_, counter)| counter.name == name) {
                    self.counters.push(Indexed { id, name, object, size: *size });
                }
            }
            Detail::Meter { size, .. } => {
                if let Some((object, _)) = program.meters.iter().find(|(_, meter)| meter.name == name) {
                    self.meters.push(Indexed { id, name, object, size: *size });
                }
            }
            Detail::Register { element, size, .. } => {
                if let Some((object, found)) = program.registers.iter().find(|(_, register)| register.name == name) {
                    let indexed = Indexed { id, name, object, size: *size };
                    self.registers.push(RegisterSchema { indexed, width: found.width, element: element.clone() });
                }
            }
            Detail::ValueSet { keys, .. } => {
                if let Some((set, found)) = program.value_sets.iter().find(|(_, set)| set.name == name) {
                    let widths: Vec<u32> = found.fields.iter().map(|(_, width, _)| *width).collect();
                    let keys = Keys::of(keys, &widths, &self.dictionaries);
                    self.value_sets.push(ValueSetSchema { id, name, set, keys });
                }
            }
            Detail::Digest { record } => {
                if let Some((digest, _)) = program.digests.iter().find(|(_, digest)| digest.name == name) {
                    self.digests.push(DigestSchema { id, name, digest, record: record.clone() });
                }
            }
            Detail::ControllerHeader { fields } => {
                let is_padding = |field: &SourceParameter| {
                    field.notes.annotations.iter().any(|annotation| annotation.name == "padding")
                };
                let padding = fields.iter().map(is_padding).collect();
                let fields = fields.iter().map(|field| KeySchema::parameter(field, field.width, &self.dictionaries));
                let header = Some(HeaderSchema { fields: fields.collect(), padding });
                match name.as_str() {
                    "packet_in" => self.packet_in = header,
                    "packet_out" => self.packet_out = header,
                    _ => {}
                }
            }
            Detail::DirectCounter { .. } | Detail::DirectMeter { .. } => {}
        }
    }

    pub fn interface(&self) -> &Interface {
        &self.program.interface
    }

    pub fn table(&self, id: u32) -> Outcome<&TableSchema> {
        self.tables.get(&id).ok_or_else(|| no_such("table", id))
    }

    /// In the order of the program.
    pub fn tables(&self) -> impl Iterator<Item = &TableSchema> {
        self.interface().tables.iter().filter_map(|source| self.tables.get(&source.id))
    }

    pub fn table_of(&self, table: TableId) -> Option<&TableSchema> {
        self.tables.get(self.table_ids.get(&table)?)
    }

    pub fn profile(&self, id: u32) -> Outcome<&ProfileSchema> {
        self.profiles.get(&id).ok_or_else(|| no_such("action profile", id))
    }

    /// In the order of the program.
    pub fn profiles(&self) -> impl Iterator<Item = &ProfileSchema> {
        self.interface().objects.iter().filter_map(|object| self.profiles.get(&object.id))
    }

    pub fn value_set(&self, id: u32) -> Outcome<&ValueSetSchema> {
        self.value_sets.iter().find(|set| set.id == id).ok_or_else(|| no_such("value set", id))
    }

    pub fn digest(&self, id: u32) -> Outcome<&DigestSchema> {
        self.digests.iter().find(|digest| digest.id == id).ok_or_else(|| no_such("digest", id))
    }

    pub fn definition(&self, name: &str) -> Option<&Definition> {
        self.interface().types.iter().find(|declared| declared.name == name).map(|declared| &declared.definition)
    }
}

pub fn no_such(kind: &str, id: u32) -> Failure {
    Failure::invalid(format!("the program has no {kind} with id {id:#x}"))
}

impl SelectorSchema {
    fn of(source: &hlir::interface::SourceSelector) -> SelectorSchema {
        SelectorSchema { largest_group: source.largest_group }
    }
}

fn table(program: &Program, source: &SourceTable, dictionaries: &Dictionaries) -> Option<TableSchema> {
    let (id, found) = program.tables.iter().find(|(_, table)| table.name == source.name)?;
    let widths: Vec<u32> = program.key_kinds(id).into_iter().map(|(_, width)| width).collect();
    let of_table = |table: Option<TableId>| table == Some(id);
    let direct = |name: &str| {
        let known = program.interface.objects.iter().find(|object| object.name == name);
        known.is_some_and(|object| source.direct.contains(&object.id))
    };
    let counters = program.counters.iter().filter(|(_, counter)| of_table(counter.table) && direct(&counter.name));
    let meters = program.meters.iter().filter(|(_, meter)| of_table(meter.table) && direct(&meter.name));
    Some(TableSchema {
        id: source.id,
        table: id,
        name: source.name.clone(),
        keys: Keys::of(&source.keys, &widths, dictionaries),
        actions: Actions::of(&program.interface, source, found, dictionaries),
        profile: source.profile.zip(found.profile),
        counter: counters.map(|(counter, _)| counter).next(),
        meter: meters.map(|(meter, _)| meter).next(),
        has_priorities: found.has_priorities(),
        idle_timeout: found.idle_timeout.is_some(),
        constant: found.entries_constant,
        has_default: source.default.is_some(),
        has_constant_default: found.default_constant || found.profile.is_some(),
    })
}
