//! The action sets of a table's entries, each with a number.
//!
//! To the data plane a set is a group of that number, which no other entry refers to. The number stays while the entry has a set, whichever
//! it is: then only the number's contents change.

use hlir::ActionSet;
use std::collections::BTreeMap;

/// Groups from here on are sets of entries.
pub const FIRST_SET: u32 = 0xc000_0000;

#[derive(Clone, Debug, Default)]
pub struct Sets {
    kept: BTreeMap<u32, ActionSet>,
    next: u32,
    /// Numbers that no entry has any more since the latest update.
    released: Vec<u32>,
}

impl Sets {
    /// Before an update.
    pub fn begin(&mut self) {
        self.released.clear();
    }

    /// Whether no entry has a set, and none has lost one in the latest update.
    pub fn is_unused(&self) -> bool {
        self.kept.is_empty() && self.released.is_empty()
    }

    /// Keeps a set under the number that the entry's last one had. Gives its number.
    pub fn keep(&mut self, set: &ActionSet, number: Option<u32>) -> u32 {
        let number = number.unwrap_or_else(|| self.free());
        self.kept.insert(number, set.clone());
        number
    }

    /// The next set gets its number, so that an entry that is given back has the set that tables know.
    pub fn release(&mut self, number: u32) {
        self.kept.remove(&number);
        self.number_next(number);
        self.released.push(number);
    }

    pub fn get(&self, number: u32) -> Option<&ActionSet> {
        self.kept.get(&number)
    }

    pub fn iter(&self) -> impl Iterator<Item = (u32, &ActionSet)> {
        self.kept.iter().map(|(number, set)| (*number, set))
    }

    pub fn released(&self) -> &[u32] {
        &self.released
    }

    /// The next set gets this number, which is free: tables that outlive a program know the sets of their entries by it.
    pub fn number_next(&mut self, number: u32) {
        self.next = number - FIRST_SET;
    }

    fn free(&mut self) -> u32 {
        loop {
            let number = FIRST_SET + self.next;
            self.next = (self.next + 1) % (u32::MAX - FIRST_SET);
            if !self.kept.contains_key(&number) {
                return number;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A deletion that the data plane refuses is taken back: the record in its table still names the set's number.
    #[test]
    fn a_set_that_is_given_back_has_its_number() {
        let mut sets = Sets::default();
        let set = ActionSet { actions: Vec::new(), semantics: None, note: Vec::new() };
        let [first, second] = [sets.keep(&set, None), sets.keep(&set, None)];
        sets.release(first);
        assert_eq!(sets.keep(&set, None), first);
        assert!(second != first && sets.get(second).is_some());
    }
}
