//! Joint tables follow the store: each write to a source table becomes changes of the joint tables over it.
//!
//! A missing joint entry is never wrong, since its packets take the lookups of the source tables. A stale one
//! would be. So a write is done in this order: the products of the old source entry are removed
//! ([`Joins::before`]), the source table is written, the products of the new entry are inserted
//! ([`Joins::behind`]). A packet sees the tables before the write or behind it.

mod products;

use crate::plane::EntryKey;
use crate::{Refusal, Store, Update};
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Match, Program, TableId};
use num_bigint::BigUint;
use products::{Row, Side, Sources};
use std::collections::VecDeque;
use std::sync::Arc;

/// The values of an exact key, one for each field.
type Key = Box<[BigUint]>;

/// A change of a joint table, for the data plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Insert(TableId, Entry),
    Delete(EntryKey),
    /// All entries.
    Clear(TableId),
}

impl Change {
    /// The joint table.
    pub fn table(&self) -> TableId {
        match self {
            Change::Insert(table, _) | Change::Clear(table) => *table,
            Change::Delete(key) => key.table,
        }
    }
}

/// What a source table is written: the entry as it was and as it will be.
#[derive(Clone, Debug, Default)]
pub struct Write {
    source: Option<(TableId, Key)>,
    old: Option<ActionCall>,
    new: Option<ActionCall>,
}

/// The joint tables of a program, and what is known of their sources.
#[derive(Clone, Debug, Default)]
pub struct Joins {
    program: Arc<Program>,
    tables: Vec<Sources>,
    notices: Vec<String>,
}

impl Joins {
    /// The joint tables of a program, all empty.
    pub fn new(program: Arc<Program>) -> Joins {
        let tables = program.joins.iter().map(|join| Sources::new(&program, join)).collect();
        Joins { program, tables, notices: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.tables.is_empty()
    }

    /// What there is to say of joint tables that were emptied, or filled again.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// Entries of a joint table.
    pub fn entry_count(&self, table: TableId) -> u64 {
        let found = self.tables.iter().find(|sources| sources.table == table);
        found.map_or(0, |sources| if sources.is_full { 0 } else { sources.total })
    }

    /// The entries of all joint tables, which are empty, with the sources that a store has. `cell` says which
    /// cells of direct counters and meters an entry has in the data plane.
    pub fn fill(&mut self, store: &Store, cell: impl Fn(&EntryKey) -> Option<u64>) -> Vec<Change> {
        let program = self.program.clone();
        self.tables = program.joins.iter().map(|join| Sources::new(&program, join)).collect();
        let mut changes = Vec::new();
        for at in 0..self.tables.len() {
            let sources = [self.tables[at].first, self.tables[at].second];
            for (source, side) in sources.into_iter().zip([Side::First, Side::Second]) {
                // Entries of a joint table come when that one is filled.
                if program.join_of(source).is_some() {
                    continue;
                }
                for stored in store.entries(source) {
                    if let (Some(key), Some(call)) = (exact_key(&stored.entry.matches), call_of(&stored.entry)) {
                        let cell = self.cell(source, &key, &cell);
                        self.tables[at].add(side, key, call, cell);
                    }
                }
            }
        }
        for at in 0..self.tables.len() {
            let is_over_another =
                [self.tables[at].first, self.tables[at].second].map(|it| program.join_of(it).is_some());
            if is_over_another.contains(&true) {
                // Its entries come with those of the joint table below.
            } else if self.tables[at].is_too_large() {
                self.give_up(at);
            } else {
                let rows = self.tables[at].all();
                self.inserted(at, rows, &mut changes);
            }
        }
        changes
    }

    /// Makes changes in the data plane, by `change`. A joint table that one cannot be made in is emptied.
    pub fn make(&mut self, changes: Vec<Change>, mut change: impl FnMut(&Change) -> Result<(), Refusal>) {
        let mut waiting = VecDeque::from(changes);
        while let Some(next) = waiting.pop_front() {
            if change(&next).is_ok() {
                continue;
            }
            let emptied = self.overflowed(next.table());
            waiting.retain(|left| emptied.iter().all(|clear| clear.table() != left.table()));
            emptied.into_iter().rev().for_each(|clear| waiting.push_front(clear));
        }
    }

    /// The changes that come before a write to the data plane.
    pub fn before(&mut self, update: &Update) -> (Write, Vec<Change>) {
        let mut write = self.write_of(update);
        let mut changes = Vec::new();
        if let Some((table, key)) = &write.source {
            let (table, key) = (*table, key.clone());
            write.old = self.remove(table, &key, &mut changes);
        }
        (write, changes)
    }

    /// The changes that follow it, by what became of it. `cell` says which cells the entry has now.
    pub fn behind(&mut self, write: Write, is_done: bool, cell: impl Fn(&EntryKey) -> Option<u64>) -> Vec<Change> {
        let mut changes = Vec::new();
        let entry = if is_done { write.new } else { write.old };
        if let Some((table, key)) = write.source {
            if let Some(call) = entry {
                let cell = self.cell(table, &key, cell);
                self.add(table, key, call, cell, &mut changes);
            }
            self.fill_again(&mut changes);
        }
        changes
    }

    /// The cells of an entry, if its table has some.
    fn cell(&self, table: TableId, key: &Key, cell: impl Fn(&EntryKey) -> Option<u64>) -> Option<u64> {
        self.program.has_cells(table).then(|| cell(&row_key(table, key))).flatten()
    }

    /// Empties a joint table that has no more room in the data plane, for good.
    fn overflowed(&mut self, table: TableId) -> Vec<Change> {
        let mut changes = Vec::new();
        let at = self.tables.iter().position(|sources| sources.table == table && !sources.has_no_room);
        if let Some(at) = at {
            self.tables[at].has_no_room = true;
            self.empty(at, &mut changes);
        }
        changes
    }

    /// What an update means for the sources of joint tables.
    fn write_of(&self, update: &Update) -> Write {
        let is_source = |table: TableId| self.tables.iter().any(|it| it.first == table || it.second == table);
        let (table, matches, new) = match update {
            Update::Insert { table, entry } | Update::Modify { table, entry } => {
                (*table, &entry.matches, call_of(entry))
            }
            Update::Delete(key) => (key.table, &key.matches, None),
            Update::SetDefault { .. }
            | Update::SetIdleTimeout { .. }
            | Update::SetExpiry { .. }
            | Update::SetMember { .. }
            | Update::DeleteMember { .. }
            | Update::SetGroup { .. }
            | Update::DeleteGroup { .. }
            | Update::SetValueSet { .. }
            | Update::SetMulticast { .. }
            | Update::SetSession { .. }
            | Update::SetMeter { .. } => return Write::default(),
        };
        let source = exact_key(matches).filter(|_| is_source(table)).map(|key| (table, key));
        Write { source, old: None, new }
    }

    /// Takes an entry out of a source. Gives its action.
    fn remove(&mut self, table: TableId, key: &Key, changes: &mut Vec<Change>) -> Option<ActionCall> {
        let (at, side) = self.side_of(table)?;
        let is_empty = self.tables[at].is_full;
        let (call, rows) = self.tables[at].remove(side, key)?;
        if !is_empty {
            let joint = self.tables[at].table;
            let is_source = self.side_of(joint).is_some();
            for key in rows {
                // Those over this joint table first: the removed entry is one of their sources.
                if is_source {
                    self.remove(joint, &key, changes);
                }
                changes.push(Change::Delete(EntryKey { table: joint, matches: matches_of(key), priority: 0 }));
            }
        }
        Some(call)
    }

    /// Adds an entry of a source.
    fn add(&mut self, table: TableId, key: Key, call: ActionCall, cell: Option<u64>, changes: &mut Vec<Change>) {
        let Some((at, side)) = self.side_of(table) else { return };
        self.tables[at].add(side, key.clone(), call, cell);
        if self.tables[at].is_full {
            return;
        }
        if self.tables[at].is_too_large() {
            return self.empty(at, changes);
        }
        let rows = self.tables[at].products(side, &key);
        self.inserted(at, rows, changes);
    }

    /// Rows are inserted into a joint table, and become entries of a source of the next one.
    fn inserted(&mut self, at: usize, rows: Vec<Row>, changes: &mut Vec<Change>) {
        let joint = self.tables[at].table;
        let is_source = self.side_of(joint).is_some();
        for Row { key, call } in rows {
            if is_source {
                changes.push(Change::Insert(joint, row_entry(key.clone(), call.clone())));
                // Cells of its sources are in its data.
                self.add(joint, key, call, None, changes);
            } else {
                changes.push(Change::Insert(joint, row_entry(key, call)));
            }
        }
    }

    /// Empties a joint table and those over it; packets take the lookups of the sources.
    fn empty(&mut self, at: usize, changes: &mut Vec<Change>) {
        let joint = self.tables[at].table;
        if let Some((over, side)) = self.side_of(joint) {
            if !self.tables[over].is_full {
                changes.push(Change::Clear(self.tables[over].table));
                self.forget(over, changes);
            }
            self.tables[over].clear(side);
        }
        changes.push(Change::Clear(joint));
        self.give_up(at);
    }

    /// The joint tables over one that was emptied lose the entries that had a part in them.
    fn forget(&mut self, at: usize, changes: &mut Vec<Change>) {
        let joint = self.tables[at].table;
        if let Some((over, side)) = self.side_of(joint) {
            if !self.tables[over].is_full {
                changes.push(Change::Clear(self.tables[over].table));
                self.forget(over, changes);
            }
            self.tables[over].clear(side);
        }
    }

    fn give_up(&mut self, at: usize) {
        let sources = &mut self.tables[at];
        sources.is_full = true;
        let (name, total, limit) = (&self.program.tables[sources.table].name, sources.total, sources.limit);
        let why = if sources.has_no_room {
            format!("there is no room for its {total} entries")
        } else {
            format!("{total} entries exceed its limit of {limit}")
        };
        self.notices.push(format!("joint table `{name}` is empty: {why}; packets look up its sources"));
    }

    /// Fills tables that fit again, with room to spare: it costs as many writes as they have entries.
    fn fill_again(&mut self, changes: &mut Vec<Change>) {
        for at in 0..self.tables.len() {
            let sources = &mut self.tables[at];
            if sources.is_full && !sources.has_no_room && sources.total <= sources.limit / 2 {
                sources.is_full = false;
                let name = &self.program.tables[sources.table].name;
                self.notices.push(format!("joint table `{name}` has its {} entries again", sources.total));
                let rows = sources.all();
                self.inserted(at, rows, changes);
            }
        }
    }

    /// The join that a table is a source of. There is one at most.
    fn side_of(&self, table: TableId) -> Option<(usize, Side)> {
        self.tables.iter().enumerate().find_map(|(at, sources)| {
            if sources.first == table {
                Some((at, Side::First))
            } else if sources.second == table {
                Some((at, Side::Second))
            } else {
                None
            }
        })
    }
}

fn exact_key(matches: &[Match]) -> Option<Key> {
    let value = |found: &Match| match found {
        Match::Exact(value) => Some(value.clone()),
        Match::Lpm { .. } | Match::Ternary { .. } | Match::Range { .. } | Match::Any => None,
    };
    matches.iter().map(value).collect()
}

fn call_of(entry: &Entry) -> Option<ActionCall> {
    match &entry.action {
        EntryAction::Call(call) => Some(call.clone()),
        EntryAction::Member(_) | EntryAction::Group(_) => None,
    }
}

fn matches_of(key: Key) -> Vec<Match> {
    key.into_vec().into_iter().map(Match::Exact).collect()
}

fn row_key(table: TableId, key: &Key) -> EntryKey {
    EntryKey { table, matches: matches_of(key.clone()), priority: 0 }
}

fn row_entry(key: Key, call: ActionCall) -> Entry {
    Entry { matches: matches_of(key), priority: 0, action: EntryAction::Call(call), constant: false }
}
