//! What controllers write and read back that has no place in the store: one-shot sets, and how digests are wanted.

use crate::target::DigestConfig;
use control::message::runtime::ActionProfileActionSet;
use control::plane::EntryKey;
use control::store::FIRST_HIDDEN;
use hlir::{DigestId, Match, ProfileId, Program, TableId};
use la_arena::{Arena, Idx};
use std::collections::{HashMap, HashSet};

/// An entry, as the key of a map.
pub type EntryName = (TableId, u32, Vec<Match>);

/// A one-shot set and what it was made into.
#[derive(Clone, Debug)]
pub struct OneShot {
    pub set: ActionProfileActionSet,
    pub profile: ProfileId,
    pub group: u32,
    pub members: Vec<u32>,
}

#[derive(Default)]
pub struct Records {
    pub one_shots: HashMap<EntryName, OneShot>,
    pub digests: HashMap<DigestId, DigestConfig>,
    /// What controllers attached to default actions.
    pub default_notes: HashMap<TableId, Vec<u8>>,
    hidden: HashSet<(ProfileId, u32)>,
    next_hidden: u32,
}

/// A record as it was before a write.
#[derive(Debug)]
pub enum Before {
    OneShot(EntryName, Option<OneShot>),
    Digest(DigestId, Option<DigestConfig>),
    DefaultNote(TableId, Option<Vec<u8>>),
    HiddenId(ProfileId, u32),
}

impl Records {
    pub fn restore(&mut self, before: Before) {
        match before {
            Before::OneShot(name, was) => {
                for made in was.iter() {
                    let ids = made.members.iter().chain([&made.group]);
                    self.hidden.extend(ids.map(|id| (made.profile, *id)));
                }
                put(&mut self.one_shots, name, was);
            }
            Before::Digest(digest, was) => put(&mut self.digests, digest, was),
            Before::DefaultNote(table, was) => put(&mut self.default_notes, table, was),
            Before::HiddenId(profile, id) => self.release_id(profile, id),
        }
    }

    /// The records of another program that has kept the store: objects go by their names.
    pub fn moved(self, from: &Program, to: &Program) -> Records {
        let table = |id: TableId| named(&to.tables, |table| table.name == from.tables[id].name);
        let profile = |id: ProfileId| named(&to.profiles, |profile| profile.name == from.profiles[id].name);
        let digest = |id: DigestId| named(&to.digests, |digest| digest.name == from.digests[id].name);
        let shots = self.one_shots.into_iter();
        let notes = self.default_notes.into_iter();
        Records {
            one_shots: shots
                .filter_map(|((id, priority, matches), made)| {
                    let made = OneShot { profile: profile(made.profile)?, ..made };
                    Some(((table(id)?, priority, matches), made))
                })
                .collect(),
            digests: self.digests.into_iter().filter_map(|(id, config)| Some((digest(id)?, config))).collect(),
            default_notes: notes.filter_map(|(id, note)| Some((table(id)?, note))).collect(),
            hidden: self.hidden.into_iter().filter_map(|(id, hidden)| Some((profile(id)?, hidden))).collect(),
            next_hidden: self.next_hidden,
        }
    }

    /// An id for a member or group of a one-shot set.
    pub fn hidden_id(&mut self, profile: ProfileId) -> u32 {
        loop {
            let id = FIRST_HIDDEN + self.next_hidden;
            self.next_hidden = (self.next_hidden + 1) % (u32::MAX - FIRST_HIDDEN);
            if self.hidden.insert((profile, id)) {
                return id;
            }
        }
    }

    pub fn release_id(&mut self, profile: ProfileId, id: u32) {
        self.hidden.remove(&(profile, id));
    }

    pub fn one_shot(&self, key: &EntryKey) -> Option<&OneShot> {
        if self.one_shots.is_empty() { None } else { self.one_shots.get(&name(key)) }
    }
}

fn named<T>(objects: &Arena<T>, is_it: impl Fn(&T) -> bool) -> Option<Idx<T>> {
    objects.iter().find(|(_, object)| is_it(object)).map(|(id, _)| id)
}

pub fn name(key: &EntryKey) -> EntryName {
    (key.table, key.priority, key.matches.clone())
}

fn put<K: std::hash::Hash + Eq, V>(map: &mut HashMap<K, V>, key: K, value: Option<V>) {
    match value {
        Some(value) => drop(map.insert(key, value)),
        None => drop(map.remove(&key)),
    }
}
