//! The entries of a table by BMv2's handles: a handle is the number of a slot, and above it how often the slot was freed.

use std::collections::BTreeSet;

/// Bits of the number of a slot.
const NUMBER_BITS: u32 = 24;

/// An entry as `ctl` writes it: its key, its priority.
pub type Entry = (String, String);

#[derive(Default)]
struct Slot {
    times_freed: u64,
    entry: Option<Entry>,
}

/// What a file has added to a table.
#[derive(Default)]
pub struct Slots {
    slots: Vec<Slot>,
    /// Of a large table, a search among all slots for each new entry would take minutes.
    free: BTreeSet<usize>,
}

impl Slots {
    /// Takes the free slot of the least number, as BMv2 does.
    pub fn add(&mut self, entry: Entry) {
        match self.free.pop_first() {
            Some(number) => self.slots[number].entry = Some(entry),
            None => self.slots.push(Slot { times_freed: 0, entry: Some(entry) }),
        }
    }

    pub fn entry(&self, handle: u64) -> Option<&Entry> {
        self.slots[self.number(handle)?].entry.as_ref()
    }

    pub fn remove(&mut self, handle: u64) -> Option<Entry> {
        let number = self.number(handle)?;
        self.release(number)
    }

    pub fn clear(&mut self) {
        for number in 0..self.slots.len() {
            self.release(number);
        }
    }

    fn release(&mut self, number: usize) -> Option<Entry> {
        let slot = &mut self.slots[number];
        let entry = slot.entry.take()?;
        slot.times_freed += 1;
        self.free.insert(number);
        Some(entry)
    }

    /// The slot of a handle that is in use.
    fn number(&self, handle: u64) -> Option<usize> {
        let number = (handle & ((1 << NUMBER_BITS) - 1)) as usize;
        let slot = self.slots.get(number)?;
        (slot.times_freed == handle >> NUMBER_BITS && slot.entry.is_some()).then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(key: &str) -> Entry {
        (key.to_string(), String::new())
    }

    #[test]
    fn the_free_slot_of_the_least_number_is_taken_under_another_handle() {
        let mut slots = Slots::default();
        ["a", "b", "c"].into_iter().for_each(|key| slots.add(entry(key)));
        assert_eq!((slots.remove(2), slots.remove(0)), (Some(entry("c")), Some(entry("a"))));
        assert_eq!((slots.remove(0), slots.entry(2)), (None, None));
        ["d", "e", "f"].into_iter().for_each(|key| slots.add(entry(key)));
        let again = 1 << NUMBER_BITS;
        let found: Vec<Option<&Entry>> = [again, 1, again | 2, 3, 0].map(|handle| slots.entry(handle)).into();
        assert_eq!(found, [Some(&entry("d")), Some(&entry("b")), Some(&entry("e")), Some(&entry("f")), None]);
        slots.clear();
        assert!([again, 1, again | 2, 3].into_iter().all(|handle| slots.entry(handle).is_none()));
        slots.add(entry("g"));
        assert_eq!(slots.entry(2 << NUMBER_BITS), Some(&entry("g")));
    }
}
