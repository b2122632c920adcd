//! The handles of a table's entries, as BMv2 numbers them: the first slot that is free, and above its 24 bits how often it was used before.
//!
//! Other servers write to the same tables. An entry that they wrote gets a handle when this one looks for it, and the handle of an entry
//! that they deleted expires.

use control::plane::EntryKey;
use std::collections::{BTreeSet, HashMap, HashSet};

const SLOT_BITS: u32 = 24;

/// Why a handle is of no entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NoEntry {
    /// It never was.
    Invalid,
    /// The entry that had it was deleted.
    Expired,
}

#[derive(Default)]
struct Slot {
    version: u32,
    key: Option<EntryKey>,
}

#[derive(Default)]
pub struct Handles {
    slots: Vec<Slot>,
    of_key: HashMap<EntryKey, usize>,
    free: BTreeSet<usize>,
}

impl Handles {
    /// The handle of a new entry.
    pub fn add(&mut self, key: EntryKey) -> i32 {
        let at = self.free.pop_first().unwrap_or_else(|| {
            self.slots.push(Slot::default());
            self.slots.len() - 1
        });
        self.of_key.insert(key.clone(), at);
        self.slots[at].key = Some(key);
        self.handle(at)
    }

    fn handle(&self, at: usize) -> i32 {
        // Thrift has no unsigned numbers: the bits are BMv2's.
        (self.slots[at].version << SLOT_BITS | at as u32) as i32
    }

    pub fn of(&self, key: &EntryKey) -> Option<i32> {
        self.of_key.get(key).map(|at| self.handle(*at))
    }

    pub fn key(&self, handle: i32) -> Result<&EntryKey, NoEntry> {
        let (version, at) = (handle as u32 >> SLOT_BITS, (handle as u32 & ((1 << SLOT_BITS) - 1)) as usize);
        let slot = self.slots.get(at).ok_or(NoEntry::Invalid)?;
        match &slot.key {
            Some(key) if slot.version & 0xff == version => Ok(key),
            Some(_) => Err(NoEntry::Expired),
            None => Err(NoEntry::Invalid),
        }
    }

    /// The entry whose handle has this slot, whatever its version.
    pub fn in_slot(&self, at: i32) -> Option<&EntryKey> {
        self.slots.get(usize::try_from(at).ok()?)?.key.as_ref()
    }

    pub fn remove(&mut self, key: &EntryKey) {
        let Some(at) = self.of_key.remove(key) else { return };
        let slot = &mut self.slots[at];
        slot.version = (slot.version + 1) & 0xff;
        slot.key = None;
        self.free.insert(at);
    }

    /// Entries and handles, by slot.
    pub fn iter(&self) -> impl Iterator<Item = (i32, &EntryKey)> {
        let used = self.slots.iter().enumerate().filter_map(|(at, slot)| Some((at, slot.key.as_ref()?)));
        used.map(|(at, key)| (self.handle(at), key))
    }

    /// Expires the handles of what is not among `keys`, and gives one to each key that has none, in their order.
    pub fn follow(&mut self, keys: Vec<EntryKey>) {
        let there: HashSet<&EntryKey> = keys.iter().collect();
        let gone: Vec<EntryKey> = self.of_key.keys().filter(|key| !there.contains(key)).cloned().collect();
        gone.iter().for_each(|key| self.remove(key));
        for key in keys {
            if !self.of_key.contains_key(&key) {
                self.add(key);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlir::Match;

    fn key(value: u32) -> EntryKey {
        let table = la_arena::Idx::from_raw(la_arena::RawIdx::from_u32(0));
        EntryKey { table, matches: vec![Match::Exact(value.into())], priority: 0 }
    }

    #[test]
    fn a_freed_slot_is_used_first_and_has_another_version() {
        let mut handles = Handles::default();
        assert_eq!([0, 1, 2].map(|value| handles.add(key(value))), [0, 1, 2]);
        handles.remove(&key(1));
        assert_eq!(handles.key(1), Err(NoEntry::Invalid));
        assert_eq!(handles.add(key(7)), 1 << 24 | 1);
        assert_eq!(handles.key(1), Err(NoEntry::Expired));
        assert_eq!(handles.key(1 << 24 | 1), Ok(&key(7)));
        assert_eq!(handles.key(9), Err(NoEntry::Invalid));
        assert_eq!(handles.key(-1), Err(NoEntry::Invalid));
    }

    #[test]
    fn entries_of_other_writers_get_handles_and_lose_them() {
        let mut handles = Handles::default();
        handles.add(key(5));
        handles.follow(vec![key(6), key(5)]);
        assert_eq!((handles.of(&key(5)), handles.of(&key(6))), (Some(0), Some(1)));
        handles.follow(vec![key(6)]);
        assert_eq!((handles.of(&key(5)), handles.of(&key(6))), (None, Some(1)));
        assert_eq!(handles.iter().count(), 1);
    }
}
