//! Joint tables follow the store: each write to a source table becomes changes of the joint tables over it.
//!
//! A missing joint entry is never wrong where keys are exact, since its packets take the lookups of the source
//! tables. A stale one would be. So a write is done in this order: the products of the old source entry are removed
//! ([`Joins::before`]), the source table is written, the products of the new entry are inserted
//! ([`Joins::behind`]). A packet sees the tables before the write or behind it.
//!
//! Where the first table has other keys, a missing entry would let another one match. There the joint table is
//! complete: entries are not removed but modified to the hidden action `slow`, which leaves the packet to the
//! sources. A joint entry is inserted before its source entry and deleted after it; it runs `slow` at both times. While
//! the table is filled or emptied, packets do not see it.
//!
//! Where entries of the first table decide about the second's key, one that finds no entry there represents its
//! default action, whose write is one of all these joint entries.
//!
//! A value join has no joint entries but those at the [`places`] of keys. Entries of its first table are written without
//! a place, which leaves packets to the second table, and get theirs behind the write.

mod layout;
mod places;
mod sources;

use crate::plane::EntryKey;
use crate::{Refusal, Store, Update};
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, Program, TableId};
pub use layout::Call;
use layout::{Keys, packed_call, unpacked_call, unpacked_entry};
use places::Places;
use sources::{Row, Side, Sources};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// A packed key, as the store has it.
pub type Key = crate::store::bytes::Bytes;

/// A change of a joint table, for the data plane.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Change {
    Insert(TableId, Key, Call),
    /// The entry is there.
    Modify(TableId, Key, Call),
    Delete(TableId, Key),
    /// Deletes all entries. From now on packets do not see the table, and they do not before the first one goes.
    Clear(TableId),
    /// Packets see the table, with all its entries at once.
    Show(TableId),
    /// The default action of the first table of a value join, with its place.
    Default(TableId, Call),
    /// Waits until no packet has what it read before.
    Grace(TableId),
}

impl Change {
    /// The joint table, or the first table of a value join.
    pub fn table(&self) -> TableId {
        match self {
            Change::Insert(table, ..)
            | Change::Modify(table, ..)
            | Change::Delete(table, _)
            | Change::Clear(table)
            | Change::Show(table)
            | Change::Default(table, _)
            | Change::Grace(table) => *table,
        }
    }
}

/// The entry that a change inserts, or modifies to.
pub fn entry(program: &Program, table: TableId, key: &Key, call: &Call) -> Entry {
    unpacked_entry(program, table, key, call)
}

/// The action that a change has.
pub fn call(program: &Program, table: TableId, call: &Call) -> ActionCall {
    unpacked_call(program, table, call)
}

/// What identifies the entry of a change.
pub fn entry_key(program: &Program, table: TableId, key: &Key) -> EntryKey {
    let (matches, priority) = Keys::of(program, table).unpack(key);
    EntryKey { table, matches, priority }
}

/// What a source table is written.
#[derive(Clone, Debug, Default)]
pub enum Write {
    /// Nothing that joint tables have a part in.
    #[default]
    Other,
    /// The entry as it was and as it will be.
    Entry { table: TableId, key: Key, old: Option<Call>, new: Option<Call> },
    /// The default action as it will be.
    Default { table: TableId, new: Call },
}

/// The joint tables of a program, and what is known of their sources.
#[derive(Clone, Debug, Default)]
pub struct Joins {
    program: Arc<Program>,
    tables: Vec<Sources>,
    places: Vec<Places>,
    notices: Vec<String>,
}

impl Joins {
    /// The joint tables of a program, all empty.
    pub fn new(program: Arc<Program>) -> Joins {
        let (tables, places) = all_sources(&program);
        Joins { program, tables, places, notices: Vec::new() }
    }

    pub fn is_empty(&self) -> bool {
        self.tables.is_empty() && self.places.is_empty()
    }

    /// Keys that have a place, by value join.
    pub fn places(&self) -> Vec<usize> {
        self.places.iter().map(Places::len).collect()
    }

    /// Messages about joint tables that were emptied, or filled again.
    pub fn take_notices(&mut self) -> Vec<String> {
        std::mem::take(&mut self.notices)
    }

    /// All joint tables anew, with the sources that a store has. `counter_index` gives the index of an entry's direct counters
    /// and meters in the data plane.
    pub fn fill(&mut self, store: &Store, counter_index: impl Fn(&EntryKey) -> Option<u64>) -> Vec<Change> {
        let program = self.program.clone();
        (self.tables, self.places) = all_sources(&program);
        let mut changes = Vec::new();
        self.fill_places(store, &counter_index, &mut changes);
        for at in 0..self.tables.len() {
            self.tables[at].is_hidden = true;
            changes.push(Change::Clear(self.tables[at].table));
            let sources = [self.tables[at].first, self.tables[at].second];
            if self.tables[at].has_misses() {
                self.tables[at].set_default(packed_call(&program, sources[1], store.default_action(sources[1])));
            }
            for (source, side) in sources.into_iter().zip([Side::First, Side::Second]) {
                // Entries of a joint table come when that one is filled.
                if program.join_of(source).is_some() {
                    continue;
                }
                for (key, call) in stored(&program, source, store) {
                    let counter_index = self.counter_index(source, &key, &counter_index);
                    self.tables[at].add(side, key, call, counter_index);
                }
            }
        }
        let is_joint = |table: TableId| program.join_of(table).is_some();
        let made_of = |sources: &Sources| [sources.first, sources.second].map(is_joint);
        // Entries over another joint table come with those of that one: as products. In a complete joint table these
        // take the place of entries that do nothing, which come before.
        for at in 0..self.tables.len() {
            if self.tables[at].is_complete && made_of(&self.tables[at]) == [false, true] {
                self.begin(at, &mut changes);
            }
        }
        for at in 0..self.tables.len() {
            if made_of(&self.tables[at]) == [false, false] {
                self.begin(at, &mut changes);
            }
        }
        self.show(&mut changes);
        changes
    }

    /// Inserts the entries that a joint table has of what its sources have now, if they are not too many.
    fn begin(&mut self, at: usize, changes: &mut Vec<Change>) {
        if self.tables[at].is_too_large() { self.give_up(at) } else { self.inserted(at, changes) }
    }

    /// Forgets what the joint tables have, which the data plane has emptied: writes make no changes until they are
    /// filled.
    pub fn forget_all(&mut self) {
        self.tables.clear();
        self.places.clear();
    }

    /// Makes changes in the data plane, by `change`. A joint table that one cannot be made in is emptied.
    pub fn make(&mut self, changes: Vec<Change>, mut change: impl FnMut(&Change) -> Result<(), Refusal>) {
        let mut waiting = VecDeque::from(changes);
        while let Some(next) = waiting.pop_front() {
            let Err(refusal) = change(&next) else {
                self.places.iter_mut().for_each(|places| places.note_made(&next));
                continue;
            };
            let emptied = match self.places.iter().any(|places| [places.table, places.first].contains(&next.table())) {
                true => self.refused(&next, &refusal),
                false => self.overflowed(next.table()),
            };
            waiting.retain(|left| emptied.iter().all(|clear| clear.table() != left.table()));
            emptied.into_iter().rev().for_each(|clear| waiting.push_front(clear));
        }
    }

    /// The changes that come before a write to the data plane.
    pub fn before(&mut self, update: &Update) -> (Write, Vec<Change>) {
        let mut write = self.write_of(update);
        let mut changes = Vec::new();
        match &mut write {
            Write::Other => {}
            Write::Entry { table, key, old, new } => {
                let side = self.side_of(*table);
                *old = side.and_then(|(at, side)| self.tables[at].call(side, key)).cloned();
                let second = self.places.iter().find(|places| places.second == *table);
                second.into_iter().for_each(|places| places.withdraw(key, &mut changes));
                self.suspend(*table, key, new.as_ref(), &mut changes);
            }
            Write::Default { table, .. } => {
                let second = self.places.iter().find(|places| places.second == *table);
                second.into_iter().for_each(|places| places.withdraw_missed(&mut changes));
                let Some((at, _)) = self.side_of(*table).filter(|(at, _)| !self.tables[*at].is_full) else {
                    return (write, changes);
                };
                let keys = self.tables[at].missed_rows().into_iter().map(|row| row.key).collect();
                self.withdraw(at, keys, &mut changes);
            }
        }
        (write, changes)
    }

    /// The changes that follow it, by what became of it. `counter_index` gives the one that the entry has now.
    pub fn behind(
        &mut self,
        write: Write,
        is_done: bool,
        counter_index: impl Fn(&EntryKey) -> Option<u64>,
    ) -> Vec<Change> {
        let mut changes = Vec::new();
        match write {
            Write::Other => return changes,
            Write::Entry { table, key, old, new } => {
                let of_new = new.as_ref().and_then(|_| self.counter_index(table, &key, &counter_index));
                self.settle_places((table, &key), (new.as_ref(), of_new), is_done, &mut changes);
                let entry = if is_done { new } else { old };
                let counter_index = entry.as_ref().and_then(|_| self.counter_index(table, &key, counter_index));
                self.settle(table, key, entry.map(|call| (call, counter_index)), &mut changes);
            }
            Write::Default { table, new } => {
                self.settle_default_of_places(table, Some(&new).filter(|_| is_done), &mut changes);
                self.settle_default(table, Some(new).filter(|_| is_done), &mut changes);
            }
        }
        self.note_places();
        self.fill_again(&mut changes);
        changes
    }

    /// The counter index of an entry, if its table has direct counters or meters.
    fn counter_index(
        &self,
        table: TableId,
        key: &Key,
        counter_index: impl Fn(&EntryKey) -> Option<u64>,
    ) -> Option<u32> {
        let number = || counter_index(&entry_key(&self.program, table, key));
        self.program
            .has_own_records(table)
            .then(number)
            .flatten()
            .and_then(|counter_index| u32::try_from(counter_index).ok())
    }

    /// What an update means for the sources of joint tables.
    fn write_of(&self, update: &Update) -> Write {
        let (table, matches, priority, new) = match update {
            Update::Insert { table, entry } | Update::Modify { table, entry } => {
                (*table, &entry.matches, entry.priority, Some(entry))
            }
            Update::Delete(key) => (key.table, &key.matches, key.priority, None),
            Update::SetDefault { table, call } => {
                let is_missed = |sources: &Sources| sources.second == *table && sources.has_misses();
                let new = || packed_call(&self.program, *table, call);
                let is_placed = self.places.iter().any(|places| [places.first, places.second].contains(table));
                let is_part = is_placed || self.tables.iter().any(is_missed);
                return if is_part { Write::Default { table: *table, new: new() } } else { Write::Other };
            }
            Update::SetIdleTimeout { .. }
            | Update::SetExpiry { .. }
            | Update::SetMember { .. }
            | Update::DeleteMember { .. }
            | Update::SetGroup { .. }
            | Update::DeleteGroup { .. }
            | Update::SetValueSet { .. }
            | Update::SetCrc { .. }
            | Update::SetMulticast { .. }
            | Update::SetSession { .. }
            | Update::SetMeter { .. }
            | Update::Record(_)
            | Update::SetPort { .. } => return Write::Other,
        };
        let is_placed = self.places.iter().any(|places| [places.first, places.second].contains(&table));
        if !is_placed && self.side_of(table).is_none() {
            return Write::Other;
        }
        let call = |entry: &Entry| match &entry.action {
            EntryAction::Call(call) => Some(packed_call(&self.program, table, call)),
            EntryAction::Member(_) | EntryAction::Group(_) | EntryAction::Set(_) => None,
        };
        let key = Keys::of(&self.program, table).pack(matches, priority);
        Write::Entry { table, key, old: None, new: new.and_then(call) }
    }

    /// Before an entry of a source is written: no joint entry that it has a part in does the work of both tables.
    /// `new` is what it will be.
    fn suspend(&mut self, table: TableId, key: &Key, new: Option<&Call>, changes: &mut Vec<Change>) {
        let Some((at, side)) = self.side_of(table) else { return };
        let sources = &mut self.tables[at];
        let (joint, is_complete) = (sources.table, sources.is_complete);
        if sources.is_full || is_complete && sources.is_hidden {
            return;
        }
        if is_complete && side == Side::First && !sources.contains(side, key) {
            if new.is_some() {
                sources.announce(key.clone());
                match sources.is_too_large() {
                    true => self.empty(at, changes),
                    false => self.change(at, Change::Insert(joint, key.clone(), Call::slow()), changes),
                }
            }
            return;
        }
        let keys = sources.product_keys(side, key);
        self.withdraw(at, keys, changes);
    }

    /// Lets joint entries that are there do nothing.
    fn withdraw(&mut self, at: usize, keys: Vec<Key>, changes: &mut Vec<Change>) {
        let (joint, is_complete) = (self.tables[at].table, self.tables[at].is_complete);
        changes.reserve(keys.len());
        for key in keys {
            let change =
                if is_complete { Change::Modify(joint, key, Call::slow()) } else { Change::Delete(joint, key) };
            self.change(at, change, changes);
        }
    }

    /// Lets joint entries that were withdrawn, or are new, do what they are for.
    fn give(&mut self, at: usize, rows: Vec<Row>, changes: &mut Vec<Change>) {
        let (joint, is_complete) = (self.tables[at].table, self.tables[at].is_complete);
        changes.reserve(rows.len());
        for Row { key, call } in rows {
            let change = if is_complete { Change::Modify(joint, key, call) } else { Change::Insert(joint, key, call) };
            self.change(at, change, changes);
        }
    }

    /// Behind the write of a second table's default action, which was refused if there is no new one.
    fn settle_default(&mut self, table: TableId, new: Option<Call>, changes: &mut Vec<Change>) {
        let Some((at, _)) = self.side_of(table) else { return };
        let sources = &mut self.tables[at];
        new.into_iter().for_each(|call| sources.set_default(call));
        if sources.is_full {
            return;
        }
        if sources.is_too_large() {
            return self.empty(at, changes);
        }
        let rows = sources.missed_rows();
        self.give(at, rows, changes);
    }

    /// Behind the write of an entry of a source, which is now there, or not.
    fn settle(&mut self, table: TableId, key: Key, entry: Option<(Call, Option<u32>)>, changes: &mut Vec<Change>) {
        let Some((at, side)) = self.side_of(table) else { return };
        let sources = &mut self.tables[at];
        let (joint, is_complete, was_there) = (sources.table, sources.is_complete, sources.contains(side, &key));
        let is_there = entry.is_some();
        match entry {
            Some((call, counter_index)) => sources.add(side, key.clone(), call, counter_index),
            None => drop(sources.remove(side, &key)),
        }
        if sources.is_full {
            return;
        }
        if sources.is_too_large() {
            return self.empty(at, changes);
        }
        if is_complete && side == Side::First && !is_there {
            if was_there {
                self.change(at, Change::Delete(joint, key), changes);
            }
            return;
        }
        if is_complete && side == Side::First && !was_there {
            let row = sources.first_row(&key);
            return self.change(at, Change::Insert(joint, row.key, row.call), changes);
        }
        let rows = sources.products(side, &key);
        self.give(at, rows, changes);
    }

    /// A change of an entry of a joint table, which is a write to a source of the next one.
    fn change(&mut self, at: usize, change: Change, changes: &mut Vec<Change>) {
        let joint = self.tables[at].table;
        if self.side_of(joint).is_none() {
            return changes.push(change);
        }
        let (key, new) = match &change {
            Change::Insert(_, key, call) | Change::Modify(_, key, call) => (key.clone(), Some(call.clone())),
            Change::Delete(_, key) => (key.clone(), None),
            Change::Clear(_) | Change::Show(_) | Change::Default(..) | Change::Grace(_) => return changes.push(change),
        };
        self.suspend(joint, &key, new.as_ref(), changes);
        changes.push(change);
        // Counter indices of its sources are in its data.
        self.settle(joint, key, new.map(|call| (call, None)), changes);
    }

    /// Inserts all entries of a joint table.
    fn inserted(&mut self, at: usize, changes: &mut Vec<Change>) {
        let joint = self.tables[at].table;
        for Row { key, call } in self.tables[at].all() {
            self.change(at, Change::Insert(joint, key, call), changes);
        }
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

    /// Empties a joint table and those over it; packets take the lookups of the sources.
    fn empty(&mut self, at: usize, changes: &mut Vec<Change>) {
        self.forget(at, changes);
        self.tables[at].is_hidden = true;
        changes.push(Change::Clear(self.tables[at].table));
        self.give_up(at);
    }

    /// The joint tables over one that was emptied lose the entries that had a part in them.
    fn forget(&mut self, at: usize, changes: &mut Vec<Change>) {
        let Some((over, side)) = self.side_of(self.tables[at].table) else { return };
        if !self.tables[over].is_full {
            self.tables[over].is_hidden = true;
            changes.push(Change::Clear(self.tables[over].table));
            self.forget(over, changes);
        }
        self.tables[over].clear(side);
        // Packets do not see it, but its first table's entries must all be there when they do again: as `slow`.
        let sources = &self.tables[over];
        if sources.is_complete && !sources.is_full && side == Side::Second {
            self.inserted(over, changes);
        }
    }

    fn give_up(&mut self, at: usize) {
        let sources = &mut self.tables[at];
        sources.is_full = true;
        let (name, total, limit) = (&self.program.tables[sources.table].name, sources.total(), sources.limit);
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
            if sources.is_full && !sources.has_no_room && sources.total() <= sources.limit / 2 {
                sources.is_full = false;
                let name = &self.program.tables[sources.table].name;
                self.notices.push(format!("joint table `{name}` has its {} entries again", sources.total()));
                self.inserted(at, changes);
            }
        }
        self.show(changes);
    }

    /// Lets packets see the joint tables that are filled.
    fn show(&mut self, changes: &mut Vec<Change>) {
        for at in 0..self.tables.len() {
            let sources = &self.tables[at];
            let is_below = |other: &Sources| [sources.first, sources.second].contains(&other.table);
            let is_filled = !sources.is_full && !self.tables.iter().any(|other| is_below(other) && other.is_hidden);
            if sources.is_hidden && is_filled {
                changes.push(Change::Show(sources.table));
                self.tables[at].is_hidden = false;
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

/// The joint tables of a program, and the places of its value joins, all empty.
fn all_sources(program: &Program) -> (Vec<Sources>, Vec<Places>) {
    let (placed, joint): (Vec<_>, Vec<_>) = program.joins.iter().partition(|join| join.place.is_some());
    let visible = if placed.is_empty() { Program::default() } else { program.without_places() };
    (
        joint.into_iter().map(|join| Sources::new(program, join)).collect(),
        placed.into_iter().map(|join| Places::new(program, &visible, join)).collect(),
    )
}

/// The entries of a source that have actions of their own. Those of the program come in its order, which decides
/// among equal priorities; the store knows no order of the others.
fn stored(program: &Program, table: TableId, store: &Store) -> Vec<(Key, Call)> {
    let keys = Keys::of(program, table);
    let own = program.tables[table].entries.iter().enumerate();
    let order: HashMap<Key, usize> = own.map(|(at, entry)| (keys.pack(&entry.matches, entry.priority), at)).collect();
    let mut entries: Vec<(Key, Call)> =
        store.calls(table).map(|(key, action, data)| (key.clone(), Call { action, data: data.clone() })).collect();
    if !order.is_empty() {
        entries.sort_by_key(|(key, _)| order.get(key).copied().unwrap_or(usize::MAX));
    }
    entries
}
