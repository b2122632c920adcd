//! What the control plane has written to one table: needed to clear it, to follow a profile's members, and to load another pipeline.

use hlir::{Entry, Match};
use std::collections::HashMap;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    Program,
    Controller,
}

#[derive(Clone, Debug, Default)]
pub struct Book {
    entries: HashMap<(Vec<Match>, u32), (Entry, Origin)>,
}

impl Book {
    pub fn note(&mut self, entry: Entry, origin: Origin) {
        self.entries.insert((entry.matches.clone(), entry.priority), (entry, origin));
    }

    /// An entry keeps its origin when it gets another action.
    pub fn change(&mut self, entry: Entry) {
        let origin = self.entries.get(&(entry.matches.clone(), entry.priority)).map(|(_, origin)| *origin);
        self.note(entry, origin.unwrap_or(Origin::Controller));
    }

    pub fn forget(&mut self, matches: &[Match], priority: u32) {
        self.entries.remove(&(matches.to_vec(), priority));
    }

    /// Takes out all entries of the controller's.
    pub fn take_controllers(&mut self) -> Vec<Entry> {
        let (gone, kept) = self.entries.drain().partition(|(_, (_, origin))| *origin == Origin::Controller);
        self.entries = kept;
        let gone: HashMap<_, (Entry, Origin)> = gone;
        gone.into_values().map(|(entry, _)| entry).collect()
    }

    pub fn entries(&self) -> impl Iterator<Item = &Entry> {
        self.entries.values().map(|(entry, _)| entry)
    }
}
