//! The groups of a table's selector, as packets see them: each the records of its members, replaced as a whole.
//!
//! A group has a slot, which is stored in the records of the entries that refer to it. A packet sees a group before or after a change, never
//! between; what it may still see is freed after every worker has passed enough ends of bursts.
//! ```text
//! entry's record ─▶ slot ─▶ groups[slot] ─▶ members' records
//! ```
//!
//! A new group is complete before its pointer is stored (Release). An entry refers to a slot whose group is
//! there; a group is removed when no entry refers to it any more, and its slot is used again a grace period
//! later.

use crate::abi;
use std::alloc::{Layout, alloc_zeroed, dealloc, handle_alloc_error};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicPtr, Ordering};

const SLOTS_LEAST: usize = 16;

pub(crate) struct Selection {
    raw: Box<abi::Selection>,
    /// What `raw` points to.
    groups: Box<[AtomicPtr<abi::SelectorGroup>]>,
    blocks: Vec<Option<Block>>,
    slots: BTreeMap<u32, u32>,
    free: Vec<u32>,
}

/// The memory of one version of a group.
struct Block {
    memory: *mut u8,
    layout: Layout,
}

// SAFETY: a block belongs to its selection; readers only read it.
unsafe impl Send for Block {}

impl Selection {
    pub fn new() -> Selection {
        let mut selection = Selection {
            raw: Box::new(abi::Selection { groups: AtomicPtr::default() }),
            groups: Box::default(),
            blocks: Vec::new(),
            slots: BTreeMap::new(),
            free: Vec::new(),
        };
        selection.replace_groups(SLOTS_LEAST);
        selection
    }

    pub fn raw(&self) -> *const abi::Selection {
        &*self.raw
    }

    pub fn slot(&self, number: u32) -> Option<u32> {
        self.slots.get(&number).copied()
    }

    /// Makes or replaces a group; `wait` returns when no worker sees what was there before.
    pub fn set(&mut self, number: u32, records: &[Vec<u8>], wait: impl Fn()) {
        let slot = self.slots.get(&number).copied().unwrap_or_else(|| self.take_slot(&wait));
        self.slots.insert(number, slot);
        self.publish(slot, Some(Block::build(records)), wait);
    }

    /// Removes a group that no entry refers to.
    pub fn remove(&mut self, number: u32, wait: impl Fn()) {
        if let Some(slot) = self.slots.remove(&number) {
            self.publish(slot, None, wait);
            self.free.push(slot);
        }
    }

    fn publish(&mut self, slot: u32, block: Option<Block>, wait: impl Fn()) {
        let group = block.as_ref().map_or(std::ptr::null_mut(), |block| block.memory.cast());
        self.groups[slot as usize].store(group, Ordering::Release);
        let old = std::mem::replace(&mut self.blocks[slot as usize], block);
        // The old block is dropped behind the wait, at the end of this function.
        if old.is_some() {
            wait();
        }
    }

    fn take_slot(&mut self, wait: &impl Fn()) -> u32 {
        if let Some(slot) = self.free.pop() {
            return slot;
        }
        if self.blocks.len() == self.groups.len() {
            // Old and new array point to the same groups, so it does not matter which one a worker has.
            let old = self.replace_groups(2 * self.groups.len());
            wait();
            drop(old);
        }
        self.blocks.push(None);
        self.blocks.len() as u32 - 1
    }

    /// Publishes an array with so many slots, and gives the old one back.
    fn replace_groups(&mut self, slots: usize) -> Box<[AtomicPtr<abi::SelectorGroup>]> {
        let known = self.groups.iter().map(|group| AtomicPtr::new(group.load(Ordering::Relaxed)));
        let groups = known.chain(std::iter::repeat_with(AtomicPtr::default)).take(slots).collect();
        let old = std::mem::replace(&mut self.groups, groups);
        self.raw.groups.store(self.groups.as_mut_ptr(), Ordering::Release);
        old
    }
}

impl Block {
    fn build(records: &[Vec<u8>]) -> Block {
        let head = size_of::<abi::SelectorGroup>();
        let bytes = head + records.iter().map(Vec::len).sum::<usize>();
        let layout = Layout::from_size_align(bytes, 64).expect("a group is not too large");
        // SAFETY: the layout is not empty.
        let memory = unsafe { alloc_zeroed(layout) };
        if memory.is_null() {
            handle_alloc_error(layout);
        }
        let mut at = head;
        // SAFETY: head and records lie within the block.
        unsafe {
            (*memory.cast::<abi::SelectorGroup>()).count = records.len() as u32;
            for record in records {
                std::ptr::copy_nonoverlapping(record.as_ptr(), memory.add(at), record.len());
                at += record.len();
            }
        }
        Block { memory, layout }
    }
}

impl Drop for Block {
    fn drop(&mut self) {
        // SAFETY: it was allocated with this layout, and no thread reads it any more.
        unsafe { dealloc(self.memory, self.layout) };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell;

    fn seen(selection: &Selection, slot: u32) -> Option<(u32, u8)> {
        let groups = selection.raw.groups.load(Ordering::Acquire);
        // SAFETY: slots are below the array's length, groups are NULL or have as many members as they declare.
        unsafe {
            let group = (*groups.add(slot as usize)).load(Ordering::Acquire).as_ref()?;
            Some((group.count, if group.count == 0 { 0 } else { *group.records.as_ptr() }))
        }
    }

    #[test]
    fn groups_keep_their_slots_and_slots_are_used_again() {
        let mut selection = Selection::new();
        let waits = Cell::new(0);
        let wait = || waits.set(waits.get() + 1);
        for number in 0..40u8 {
            selection.set(u32::from(number), &[vec![number; 8], vec![0; 8]], wait);
        }
        assert_eq!(waits.get(), 2, "the array grew twice, and no group was replaced");
        let slot = selection.slot(33).unwrap();
        assert_eq!(seen(&selection, slot), Some((2, 33)));
        selection.set(33, &[], wait);
        assert_eq!((selection.slot(33), seen(&selection, slot)), (Some(slot), Some((0, 0))));
        selection.remove(33, wait);
        assert_eq!((selection.slot(33), seen(&selection, slot)), (None, None));
        selection.set(99, &[vec![7; 8]], wait);
        assert_eq!((selection.slot(99), seen(&selection, slot)), (Some(slot), Some((1, 7))));
    }
}
