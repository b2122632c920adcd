//! What controllers write and read back that has no place in the store: how digests are wanted, and what they attach to default actions.

use crate::target::DigestConfig;
use hlir::{DigestId, Program, TableId};
use la_arena::{Arena, Idx};
use std::collections::HashMap;

#[derive(Default)]
pub struct Records {
    pub digests: HashMap<DigestId, DigestConfig>,
    /// What controllers attached to default actions.
    pub default_notes: HashMap<TableId, Vec<u8>>,
}

/// A record as it was before a write.
#[derive(Debug)]
pub enum Before {
    Digest(DigestId, Option<DigestConfig>),
    DefaultNote(TableId, Option<Vec<u8>>),
}

impl Records {
    pub fn restore(&mut self, before: Before) {
        match before {
            Before::Digest(digest, was) => put(&mut self.digests, digest, was),
            Before::DefaultNote(table, was) => put(&mut self.default_notes, table, was),
        }
    }

    /// The records of another program that has kept the store: objects go by their names.
    pub fn moved(self, from: &Program, to: &Program) -> Records {
        let table = |id: TableId| named(&to.tables, |table| table.name == from.tables[id].name);
        let digest = |id: DigestId| named(&to.digests, |digest| digest.name == from.digests[id].name);
        let notes = self.default_notes.into_iter();
        Records {
            digests: self.digests.into_iter().filter_map(|(id, config)| Some((digest(id)?, config))).collect(),
            default_notes: notes.filter_map(|(id, note)| Some((table(id)?, note))).collect(),
        }
    }
}

fn named<T>(objects: &Arena<T>, is_it: impl Fn(&T) -> bool) -> Option<Idx<T>> {
    objects.iter().find(|(_, object)| is_it(object)).map(|(id, _)| id)
}

fn put<K: std::hash::Hash + Eq, V>(map: &mut HashMap<K, V>, key: K, value: Option<V>) {
    match value {
        Some(value) => drop(map.insert(key, value)),
        None => drop(map.remove(&key)),
    }
}
