//! The places of one value join: a number for each key of the second table that entries of the first give.
//!
//! Each key has one place for all entries that give it, and keeps it as long as there is one. The table of the join has
//! at this place what the second table does: of its entry, or its default action, if it has none. A place is given to another key only
//! behind a grace period, since packets may have read it before.

use super::layout::{Call, Keys, Layout, SharedKey, joined_data, packed_call};
use super::{Change, Joins, Key, stored};
use crate::plane::EntryKey;
use crate::store::KeyHash;
use crate::store::bytes::Bytes;
use crate::store::packed;
use crate::{Refusal, RefusalKind, Store};
use hlir::join::Join;
use hlir::{Match, Program, TableId};
use std::collections::HashMap;
use std::sync::Arc;

/// A key that entries of the first table give.
#[derive(Clone, Copy, Debug)]
struct Place {
    number: u32,
    /// Entries that give the key; the default action may be one.
    users: u64,
}

/// The sources of a value join.
#[derive(Clone, Debug)]
pub struct Places {
    pub table: TableId,
    pub first: TableId,
    pub second: TableId,
    join: Arc<Join>,
    layout: Layout,
    keys: Keys,
    /// Bits of a place.
    width: u32,
    places: HashMap<SharedKey, Place, KeyHash>,
    /// The keys that entries of the first table give, if these have a place.
    firsts: HashMap<Key, SharedKey, KeyHash>,
    default: Option<SharedKey>,
    /// The second table's entries: the hidden action, and the data of that. None for one that packets look up there.
    seconds: HashMap<SharedKey, Option<Call>, KeyHash>,
    /// The hidden action of the second table's default action; none if it has no part in the join.
    missed: Option<Call>,
    has_direct_elements: bool,
    /// Counter indices above this number have no room for the time of a hit.
    times: u64,
    /// Places above this one were never used.
    used: u32,
    /// Places that nothing has, and those that packets may still have.
    free: Vec<u32>,
    retired: Vec<u32>,
    /// Whether an entry found no place left.
    is_full: bool,
    is_noted: bool,
    /// Whether packets do not see the table any more: a change of it was refused.
    is_lost: bool,
    /// Whether packets do not see it yet.
    is_hidden: bool,
}

impl Places {
    /// `program` is the one that has the join; `visible` the same without places.
    pub fn new(program: &Program, visible: &Program, join: &Join) -> Places {
        let keyed = || HashMap::with_hasher(KeyHash::new());
        let keys = Keys::of(program, join.table);
        Places {
            table: join.table,
            first: join.first,
            second: join.second,
            layout: Layout::new(visible, join),
            keys,
            width: program.key_kinds(join.table).first().map_or(0, |(_, width)| *width),
            join: Arc::new(join.clone()),
            places: HashMap::with_hasher(KeyHash::new()),
            firsts: keyed(),
            default: None,
            seconds: HashMap::with_hasher(KeyHash::new()),
            missed: None,
            has_direct_elements: program.has_own_records(join.second),
            times: join.objects.timers[1].map_or(u64::MAX, |times| program.registers[times].size),
            used: 0,
            free: Vec::new(),
            retired: Vec::new(),
            is_full: false,
            is_noted: false,
            is_lost: false,
            is_hidden: false,
        }
    }

    /// What follows from a change that the data plane has made.
    pub fn note_made(&mut self, change: &Change) {
        if change.table() == self.table {
            self.is_hidden = match change {
                Change::Clear(_) => true,
                Change::Show(_) => false,
                Change::Insert(..)
                | Change::Modify(..)
                | Change::Delete(..)
                | Change::Default(..)
                | Change::Grace(_) => self.is_hidden,
            };
        }
    }

    /// Leaves an action of the first table without the place that it may have had in the pipeline before.
    fn without_place(&self, call: &Call) -> Option<Call> {
        let gives = self.join.firsts.iter().any(|first| first.action == call.action);
        gives.then(|| self.placed(call, 0))
    }

    /// Keys that have a place.
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// An entry of the first table was written, without a place, or deleted.
    pub fn set_first(&mut self, key: &Key, new: Option<&Call>, changes: &mut Vec<Change>) {
        let old = self.firsts.remove(key);
        let shared_key = new.and_then(|call| self.key_of(key, call));
        let place = self.exchange(old, shared_key, changes);
        if let (Some(call), Some((shared_key, place))) = (new, place) {
            self.firsts.insert(key.clone(), shared_key);
            changes.push(Change::Modify(self.first, key.clone(), self.placed(call, place)));
        }
    }

    /// The first table's default action was written, without a place.
    pub fn set_default(&mut self, call: &Call, changes: &mut Vec<Change>) {
        let old = self.default.take();
        let shared_key = self.key_of(&Bytes::from(&[][..]), call);
        if let Some((shared_key, place)) = self.exchange(old, shared_key, changes) {
            self.default = Some(shared_key);
            changes.push(Change::Default(self.first, self.placed(call, place)));
        }
    }

    /// Before an entry of the second table is written: packets look it up there.
    pub fn withdraw(&self, key: &Key, changes: &mut Vec<Change>) {
        let shared_key = self.layout.of_second(key);
        if let Some(place) = self.place_in_use(&shared_key) {
            changes.push(Change::Delete(self.table, self.place_key(place)));
        }
    }

    /// Behind the write, which was refused if there is nothing to set: packets find it at its place.
    pub fn set_second(&mut self, key: &Key, written: Option<Option<(Call, Option<u32>)>>, changes: &mut Vec<Change>) {
        let shared_key = self.layout.of_second(key);
        match written {
            Some(Some((call, counter_index))) => {
                let second = self.hit(&call, counter_index);
                self.seconds.insert(shared_key.clone(), second);
            }
            Some(None) => drop(self.seconds.remove(&shared_key)),
            None => {}
        }
        if let Some(place) = self.place_in_use(&shared_key) {
            self.show(&shared_key, place, changes);
        }
    }

    /// Before the second table's default action is written: packets that miss there miss there.
    pub fn withdraw_missed(&self, changes: &mut Vec<Change>) {
        let missed = self.places_of_missed().into_iter().map(|place| Change::Delete(self.table, self.place_key(place)));
        changes.extend(missed);
    }

    /// Behind the write, which was refused if there is no new one.
    pub fn set_missed(&mut self, new: Option<&Call>, changes: &mut Vec<Change>) {
        if let Some(call) = new {
            let number = self.join.missed.iter().position(|action| *action == call.action);
            let action = number.map(|number| self.join.placed_miss(number));
            self.missed = action.map(|action| Call { action, data: call.data.clone() });
        }
        let Some(missed) = self.missed.clone() else { return };
        let insert = |place: u32| Change::Insert(self.table, self.place_key(place), missed.clone());
        changes.extend(self.places_of_missed().into_iter().map(insert));
    }

    /// The places of keys that the second table has no entry for, where its default action is stored.
    fn places_of_missed(&self) -> Vec<u32> {
        if self.is_lost || self.missed.is_none() {
            return Vec::new();
        }
        let alone = self.places.iter().filter(|(shared_key, _)| !self.seconds.contains_key(*shared_key));
        alone.map(|(_, place)| place.number).collect()
    }

    /// The hidden action of an entry of the second table, and its data. None for one that its own table runs.
    fn hit(&self, call: &Call, counter_index: Option<u32>) -> Option<Call> {
        let part = self.join.seconds.iter().position(|action| *action == call.action)?;
        let has_room = |counter_index: u32| u64::from(counter_index) < self.times;
        if self.has_direct_elements && !counter_index.is_some_and(has_room) {
            return None;
        }
        let data = joined_data([(&call.data, counter_index.filter(|_| self.has_direct_elements)), (&[], None)]);
        Some(Call { action: Join::placed_action(part), data })
    }

    /// What is stored at the place of a key.
    fn at_place(&self, shared_key: &SharedKey) -> Option<&Call> {
        self.seconds.get(shared_key).map_or(self.missed.as_ref(), Option::as_ref)
    }

    /// The place at which the table has an entry for this key.
    fn place_in_use(&self, shared_key: &SharedKey) -> Option<u32> {
        let place = self.places.get(shared_key).filter(|_| !self.is_lost)?;
        self.at_place(shared_key).map(|_| place.number)
    }

    fn show(&self, shared_key: &SharedKey, place: u32, changes: &mut Vec<Change>) {
        if let Some(call) = self.at_place(shared_key) {
            changes.push(Change::Insert(self.table, self.place_key(place), call.clone()));
        }
    }

    /// The key that an action of the first table gives, if it gives one.
    fn key_of(&self, key: &Key, call: &Call) -> Option<SharedKey> {
        let first = self.join.firsts.iter().find(|first| first.action == call.action);
        first.filter(|_| !self.is_lost).and_then(|first| self.layout.of_first(key, call, first))
    }

    /// The place of the key that an entry gives now, in place of the one before. What is stored there is there before the
    /// entry has the place.
    fn exchange(
        &mut self,
        old: Option<SharedKey>,
        new: Option<SharedKey>,
        changes: &mut Vec<Change>,
    ) -> Option<(SharedKey, u32)> {
        if old != new {
            self.release(old.clone(), changes);
        }
        let shared_key = new?;
        if let Some(place) = self.places.get_mut(&shared_key) {
            place.users += u64::from(old.as_ref() != Some(&shared_key));
            return Some((shared_key, place.number));
        }
        let Some(number) = self.number(changes) else {
            self.is_full = true;
            return None;
        };
        self.places.insert(shared_key.clone(), Place { number, users: 1 });
        self.show(&shared_key, number, changes);
        Some((shared_key, number))
    }

    /// A place that no key has and no packet.
    fn number(&mut self, changes: &mut Vec<Change>) -> Option<u32> {
        if self.free.is_empty() && u64::from(self.used) < self.join.limit {
            self.used += 1;
            return Some(self.used);
        }
        if self.free.is_empty() && !self.retired.is_empty() {
            changes.push(Change::Grace(self.table));
            self.free = std::mem::take(&mut self.retired);
        }
        self.free.pop()
    }

    /// An entry does not give this key any more.
    fn release(&mut self, shared_key: Option<SharedKey>, changes: &mut Vec<Change>) {
        let Some(shared_key) = shared_key else { return };
        let Some(place) = self.places.get_mut(&shared_key) else { return };
        place.users -= 1;
        let Place { number, users } = *place;
        if users > 0 {
            return;
        }
        if self.place_in_use(&shared_key).is_some() {
            changes.push(Change::Delete(self.table, self.place_key(number)));
        }
        self.places.remove(&shared_key);
        self.retired.push(number);
    }

    fn place_key(&self, place: u32) -> Key {
        self.keys.pack(&[Match::Exact(place.into())], 0)
    }

    /// The action with its place behind its data.
    fn placed(&self, call: &Call, place: u32) -> Call {
        let place = place.to_le_bytes();
        let data = joined_data([(&call.data, None), (&place[..packed::bytes_of(self.width)], None)]);
        Call { action: call.action, data }
    }
}

impl Joins {
    /// The places of all entries anew. The tables are empty until all records have theirs: records and packets may
    /// have places of the pipeline before.
    pub(super) fn fill_places(
        &mut self,
        store: &Store,
        counter_index: &impl Fn(&EntryKey) -> Option<u64>,
        changes: &mut Vec<Change>,
    ) {
        let program = self.program.clone();
        for at in 0..self.places.len() {
            let Places { table, first, second, .. } = self.places[at];
            changes.push(Change::Clear(table));
            let default = packed_call(&program, first, store.default_action(first));
            self.places[at].set_default(&default, changes);
            if let Some(call) = self.places[at].without_place(&default).filter(|_| self.places[at].default.is_none()) {
                changes.push(Change::Default(first, call));
            }
            for (key, call) in stored(&program, first, store) {
                self.places[at].set_first(&key, Some(&call), changes);
                let places = &self.places[at];
                if let Some(call) = places.without_place(&call).filter(|_| !places.firsts.contains_key(&key)) {
                    changes.push(Change::Modify(first, key, call));
                }
            }
            changes.extend([Change::Grace(table), Change::Show(table)]);
            for (key, call) in stored(&program, second, store) {
                let counter_index = self.counter_index(second, &key, counter_index);
                self.places[at].set_second(&key, Some(Some((call, counter_index))), changes);
            }
            let missed = packed_call(&program, second, store.default_action(second));
            self.places[at].set_missed(Some(&missed), changes);
        }
        self.note_places();
    }

    /// Behind the write of an entry of a source: `new` is what it is now, with its counter index, if the write was done.
    pub(super) fn settle_places(
        &mut self,
        (table, key): (TableId, &Key),
        (new, counter_index): (Option<&Call>, Option<u32>),
        is_done: bool,
        changes: &mut Vec<Change>,
    ) {
        for places in &mut self.places {
            if places.first == table && is_done {
                places.set_first(key, new, changes);
            } else if places.second == table {
                places.set_second(key, is_done.then(|| new.map(|call| (call.clone(), counter_index))), changes);
            }
        }
    }

    /// Behind the write of a source's default action, which was refused if there is no new one.
    pub(super) fn settle_default_of_places(&mut self, table: TableId, new: Option<&Call>, changes: &mut Vec<Change>) {
        for places in &mut self.places {
            if places.first == table {
                new.into_iter().for_each(|call| places.set_default(call, changes));
            } else if places.second == table {
                places.set_missed(new, changes);
            }
        }
    }

    /// A change that the data plane refuses: a place without an entry, or a record without a place, leaves packets to
    /// the second table. Only an entry that stays where none may be would be wrong.
    pub(super) fn refused(&mut self, change: &Change, refusal: &Refusal) -> Vec<Change> {
        let is_part = |places: &&mut Places| [places.table, places.first].contains(&change.table());
        let Some(places) = self.places.iter_mut().find(is_part) else { return Vec::new() };
        let is_harmless = match change {
            Change::Insert(..) => refusal.kind != RefusalKind::Exists,
            Change::Delete(..) => refusal.kind == RefusalKind::Missing,
            // A record may have a place of the pipeline before, until all are written.
            Change::Modify(..) | Change::Default(..) => !places.is_hidden,
            Change::Grace(_) => true,
            Change::Clear(_) | Change::Show(_) => false,
        };
        if is_harmless || places.is_lost {
            return Vec::new();
        }
        places.is_lost = true;
        let name = &self.program.tables[places.table].name;
        self.notices
            .push(format!("value join `{name}` is not used: {}; packets look up its second table", refusal.sentence));
        vec![Change::Clear(places.table)]
    }

    /// Reports once where an entry has found no place.
    pub(super) fn note_places(&mut self) {
        for places in self.places.iter_mut().filter(|places| places.is_full && !places.is_noted) {
            places.is_noted = true;
            let (name, limit) = (&self.program.tables[places.table].name, places.join.limit);
            self.notices.push(format!(
                "value join `{name}` has no place left of {limit}: packets of further keys look up its second table"
            ));
        }
    }
}
