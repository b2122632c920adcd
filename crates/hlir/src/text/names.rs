//! Which name means what. The printer and the parser build the same tables, so that a name is printed only where it will be read back as
//! the same thing; where two things share a name, the first has it, and the others are written by number: `#3`.

use crate::{FieldRef, HeaderId, Program, VariableId};
use la_arena::{Arena, Idx, RawIdx};
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Storage {
    Header(HeaderId),
    Field(FieldRef),
    Variable(VariableId),
}

/// The names of one kind of thing, by number.
#[derive(Clone, Debug, Default)]
pub(crate) struct Names {
    numbers: HashMap<String, u32>,
    declared: u32,
}

impl Names {
    pub fn of<T>(arena: &Arena<T>, name: impl Fn(&T) -> &str) -> Names {
        let mut names = Names::default();
        arena.values().for_each(|value| names.declare(name(value)));
        names
    }

    pub fn of_list<'n>(list: impl Iterator<Item = &'n str>) -> Names {
        let mut names = Names::default();
        list.for_each(|name| names.declare(name));
        names
    }

    /// Makes `name` mean the next number, unless it already means an earlier one.
    pub fn declare(&mut self, name: &str) {
        self.numbers.entry(name.to_string()).or_insert(self.declared);
        self.declared += 1;
    }

    pub fn get(&self, name: &str) -> Option<u32> {
        self.numbers.get(name).copied()
    }

    pub fn all(&self) -> impl Iterator<Item = &str> {
        self.numbers.keys().map(String::as_str)
    }
}

/// The names of everything in a program.
#[derive(Clone, Debug, Default)]
pub(crate) struct AllNames {
    pub storage: HashMap<String, Storage>,
    pub tables: Names,
    pub counters: Names,
    pub meters: Names,
    pub registers: Names,
    pub crcs: Names,
    pub digests: Names,
    pub value_sets: Names,
    pub profiles: Names,
    pub externs: Names,
    pub parsers: Names,
    pub nodes: Names,
    /// For each table, its actions.
    pub actions: Vec<Names>,
}

impl AllNames {
    pub fn of(program: &Program) -> AllNames {
        let actions = |table: &crate::Table| Names::of_list(table.actions.iter().map(|action| action.name.as_str()));
        AllNames {
            storage: storage_names(program),
            tables: Names::of(&program.tables, |table| &table.name),
            counters: Names::of(&program.counters, |counter| &counter.name),
            meters: Names::of(&program.meters, |meter| &meter.name),
            registers: Names::of(&program.registers, |register| &register.name),
            crcs: Names::of(&program.crcs, |crc| &crc.name),
            digests: Names::of(&program.digests, |digest| &digest.name),
            value_sets: Names::of(&program.value_sets, |set| &set.name),
            profiles: Names::of(&program.profiles, |profile| &profile.name),
            externs: Names::of(&program.externs, |custom| &custom.name),
            parsers: Names::of(&program.parsers, |parser| &parser.name),
            nodes: Names::of(&program.nodes, |node| &node.name),
            actions: program.tables.iter().map(|(_, table)| actions(table)).collect(),
        }
    }
}

/// Headers, their fields (`header.field`) and variables share one space of names.
pub(crate) fn storage_names(program: &Program) -> HashMap<String, Storage> {
    let mut names = HashMap::new();
    for (header, value) in program.headers.iter() {
        names.entry(value.name.clone()).or_insert(Storage::Header(header));
        for (index, field) in value.fields.iter().enumerate() {
            let reference = FieldRef { header, field: index as u32 };
            names.entry(format!("{}.{}", value.name, field.name)).or_insert(Storage::Field(reference));
        }
    }
    for (variable, value) in program.variables.iter() {
        names.entry(value.name.clone()).or_insert(Storage::Variable(variable));
    }
    names
}

pub(crate) fn number<T>(id: Idx<T>) -> u32 {
    id.into_raw().into_u32()
}

pub(crate) fn id<T>(number: u32) -> Idx<T> {
    Idx::from_raw(RawIdx::from_u32(number))
}

/// The thing with this id, if there is one: ids of a text or of a broken program may point nowhere.
pub(crate) fn get<T>(arena: &Arena<T>, id: Idx<T>) -> Option<&T> {
    ((number(id) as usize) < arena.len()).then(|| &arena[id])
}
