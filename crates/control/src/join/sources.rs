//! The entries of one joint table: pairs of source entries that agree in what both are keyed by.

use super::Key;
use super::layout::{Call, Layout, SharedKey, joined_data};
use crate::store::KeyHash;
use crate::store::bytes::Bytes;
use hlir::join::Join;
use hlir::{Program, TableId};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    First,
    Second,
}

/// An entry of a joint table: its key, the hidden action, and the action data of both sources with the numbers
/// of their counter indices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    pub key: Key,
    pub call: Call,
}

#[derive(Clone, Debug)]
struct Source {
    /// None for an entry that is still to come: the joint table has one for it already.
    call: Option<Call>,
    /// The number of its direct counters and meters, if its table has some.
    counter_index: Option<u32>,
    /// The number of its action in the recipe; none for an entry without a part in joint entries.
    part: Option<usize>,
    /// None if entries of the other source cannot agree.
    shared_key: Option<SharedKey>,
    /// The entries of a source in the order of their insertion: among equal priorities the first wins.
    sequence: u64,
}

type Sorted = BTreeMap<Key, Arc<Source>>;

/// Pairs of entries that agree, and entries of the first table alone.
fn counted([firsts, seconds]: &[Sorted; 2]) -> (u64, u64) {
    let [firsts, pairs] = [firsts.len() as u64, firsts.len() as u64 * seconds.len() as u64];
    (pairs, if seconds.is_empty() { firsts } else { 0 })
}

/// The sources of a joint table.
#[derive(Clone, Debug)]
pub struct Sources {
    pub table: TableId,
    pub first: TableId,
    pub second: TableId,
    pub limit: u64,
    /// Whether the joint table has an entry for each one of the first table.
    pub is_complete: bool,
    /// Whether it is left empty, since it would have too many.
    pub is_full: bool,
    /// Whether the data plane had no room for them.
    pub has_no_room: bool,
    /// Whether packets do not see the joint table, since it is not filled.
    pub is_hidden: bool,
    join: Arc<Join>,
    layout: Layout,
    /// Whether entries of the sources have direct counters or meters.
    have_counter_indices: [bool; 2],
    /// Counter indices above these numbers have no room for the time of a hit.
    times: [u64; 2],
    entries: [HashMap<Key, Arc<Source>, KeyHash>; 2],
    /// Those of both sources that share a key, by that key.
    by_common: HashMap<SharedKey, [Sorted; 2], KeyHash>,
    /// The second table's default action as a product has it: its number in the recipe, and its data. None if it
    /// has no part in joint entries.
    missed: Option<(usize, Bytes)>,
    pairs: u64,
    /// Entries of the first table that find none in the second, where their entry decides about that.
    unmatched: u64,
    sequence: u64,
}

impl Sources {
    pub fn new(program: &Program, join: &Join) -> Sources {
        Sources {
            table: join.table,
            first: join.first,
            second: join.second,
            limit: join.limit,
            is_complete: join.is_complete(program),
            is_full: false,
            has_no_room: false,
            is_hidden: false,
            layout: Layout::new(program, join),
            have_counter_indices: [join.first, join.second].map(|source| program.has_own_records(source)),
            times: join.objects.timers.map(|times| times.map_or(u64::MAX, |times| program.registers[times].size)),
            join: Arc::new(join.clone()),
            entries: [(); 2].map(|()| HashMap::with_hasher(KeyHash::new())),
            by_common: HashMap::with_hasher(KeyHash::new()),
            missed: None,
            pairs: 0,
            unmatched: 0,
            sequence: 0,
        }
    }

    /// Whether a change of the second table's default action is one of joint entries.
    pub fn has_misses(&self) -> bool {
        !self.join.missed.is_empty()
    }

    /// The second table's default action from now on.
    pub fn set_default(&mut self, call: Call) {
        let number = self.join.missed.iter().position(|action| *action == call.action);
        self.missed = number.map(|number| (number, call.data));
    }

    /// Entries that the joint table has, or would have.
    pub fn total(&self) -> u64 {
        match (self.is_complete, &self.missed) {
            (true, _) => self.entries[Side::First as usize].len() as u64,
            (false, Some(_)) => self.pairs + self.unmatched,
            (false, None) => self.pairs,
        }
    }

    pub fn is_too_large(&self) -> bool {
        self.total() > self.limit
    }

    /// The action of an entry.
    pub fn call(&self, side: Side, key: &Key) -> Option<&Call> {
        self.entries[side as usize].get(key)?.call.as_ref()
    }

    pub fn contains(&self, side: Side, key: &Key) -> bool {
        self.entries[side as usize].contains_key(key)
    }

    /// Adds an entry of the first table that is still to come: it has no part in joint entries.
    pub fn announce(&mut self, key: Key) {
        let sequence = self.next_sequence();
        let source = Source { call: None, counter_index: None, part: None, shared_key: None, sequence };
        self.entries[Side::First as usize].insert(key, Arc::new(source));
    }

    /// Adds an entry, or replaces the one with its key.
    pub fn add(&mut self, side: Side, key: Key, call: Call, counter_index: Option<u32>) {
        let sequence = match self.remove(side, &key) {
            Some(sequence) => sequence,
            None => self.next_sequence(),
        };
        // Its lookups go by its own table if its counter index is not known, or too large.
        let has_room = |counter_index: u32| u64::from(counter_index) < self.times[side as usize];
        let is_known = !self.have_counter_indices[side as usize] || counter_index.is_some_and(has_room);
        let action = |number: &usize| match side {
            Side::First => self.join.firsts[*number].action,
            Side::Second => self.join.seconds[*number],
        };
        let actions = [self.join.firsts.len(), self.join.seconds.len()][side as usize];
        let part = (0..actions).find(|number| action(number) == call.action).filter(|_| is_known);
        let shared_key = match (side, part) {
            (Side::First, Some(part)) => self.layout.of_first(&key, &call, &self.join.firsts[part]),
            (Side::Second, Some(_)) => Some(self.layout.of_second(&key)),
            // A packet with this key hits: no product with the default action may exist.
            (Side::Second, None) if self.has_misses() => Some(self.layout.of_second(&key)),
            (_, None) => None,
        };
        let source = Arc::new(Source { call: Some(call), counter_index, part, shared_key, sequence });
        if let Some(shared_key) = &source.shared_key {
            self.agree(shared_key, |agreeing| drop(agreeing[side as usize].insert(key.clone(), source.clone())));
        }
        self.entries[side as usize].insert(key, source);
    }

    fn next_sequence(&mut self) -> u64 {
        self.sequence += 1;
        self.sequence
    }

    /// Takes an entry out. Gives when it was inserted.
    pub fn remove(&mut self, side: Side, key: &Key) -> Option<u64> {
        let source = self.entries[side as usize].remove(key)?;
        if let Some(shared_key) = &source.shared_key {
            self.agree(shared_key, |agreeing| drop(agreeing[side as usize].remove(key)));
        }
        Some(source.sequence)
    }

    /// Changes the entries that share a key, and counts their products.
    fn agree(&mut self, shared_key: &SharedKey, change: impl FnOnce(&mut [Sorted; 2])) {
        let agreeing = self.by_common.entry(shared_key.clone()).or_default();
        let (pairs, unmatched) = counted(agreeing);
        change(agreeing);
        let (pairs_now, unmatched_now) = counted(agreeing);
        self.pairs = self.pairs + pairs_now - pairs;
        self.unmatched = self.unmatched + unmatched_now - unmatched;
        if agreeing.iter().all(BTreeMap::is_empty) {
            self.by_common.remove(shared_key);
        }
    }

    /// Takes all entries of a source out.
    pub fn clear(&mut self, side: Side) {
        self.entries[side as usize].clear();
        self.by_common.retain(|_, agreeing| {
            agreeing[side as usize].clear();
            !agreeing[1 - side as usize].is_empty()
        });
        self.pairs = 0;
        self.unmatched = self.by_common.values().map(|agreeing| counted(agreeing).1).sum();
    }

    /// The joint entries that an entry has a part in, but those that only keep others from matching.
    ///
    /// Where entries of the first table decide about the second's key, an entry of the second may also be one that is
    /// not there.
    pub fn products(&self, side: Side, key: &Key) -> Vec<Row> {
        self.each_product(side, key, |first, second| match second {
            Some(second) => self.row(first, second),
            None => self.missed_row(first.0, first.1),
        })
    }

    /// The keys of these entries.
    pub fn product_keys(&self, side: Side, key: &Key) -> Vec<Key> {
        self.each_product(side, key, |(first, one), second| match second {
            Some((second, other)) => one.part.and(other.part).map(|_| self.layout.joint_key(first, Some(second))),
            None => self.missed_row(first, one).map(|row| row.key),
        })
    }

    /// What `make` gives for each pair of a first entry and a second one, which is none where the default action takes its part.
    fn each_product<T>(
        &self,
        side: Side,
        key: &Key,
        make: impl Fn((&Key, &Source), Option<(&Key, &Source)>) -> Option<T>,
    ) -> Vec<T> {
        let source = self.entries[side as usize].get(key);
        let shared_key = match (side, source) {
            (_, Some(source)) => source.shared_key.clone(),
            (Side::Second, None) if self.has_misses() => Some(self.layout.of_second(key)),
            (Side::First | Side::Second, None) => None,
        };
        let Some([firsts, seconds]) = shared_key.and_then(|shared_key| self.by_common.get(&shared_key)) else {
            return Vec::new();
        };
        let of_second = |second: Option<&Arc<Source>>| {
            let makes = |(first, one): (&Key, &Arc<Source>)| make((first, one), second.map(|other| (key, &**other)));
            firsts.iter().filter_map(makes).collect()
        };
        match (side, source) {
            (Side::First, Some(source)) if seconds.is_empty() => make((key, source), None).into_iter().collect(),
            (Side::First, Some(source)) => {
                seconds.iter().filter_map(|(second, other)| make((key, source), Some((second, other)))).collect()
            }
            (Side::First, None) => Vec::new(),
            (Side::Second, second) => of_second(second),
        }
    }

    /// The joint entries of entries of the first table that find none in the second.
    pub fn missed_rows(&self) -> Vec<Row> {
        let alone = self.by_common.values().filter(|[_, seconds]| seconds.is_empty());
        alone.flat_map(|[firsts, _]| firsts).filter_map(|(key, source)| self.missed_row(key, source)).collect()
    }

    fn missed_row(&self, key: &Key, first: &Source) -> Option<Row> {
        let (missed, default) = self.missed.as_ref()?;
        let action = self.join.missed_action(first.part?, *missed);
        let data = joined_data([(&first.call.as_ref()?.data, first.counter_index), (default, None)]);
        Some(Row { key: key.clone(), call: Call { action, data } })
    }

    /// All joint entries, in the order of the entries of the first table.
    pub fn all(&self) -> Vec<Row> {
        let mut firsts: Vec<(&Key, u64)> =
            self.entries[Side::First as usize].iter().map(|(key, source)| (key, source.sequence)).collect();
        firsts.sort_by_key(|(_, sequence)| *sequence);
        let rows = |(key, _): (&Key, u64)| match self.is_complete {
            true => vec![self.first_row(key)],
            false => self.products(Side::First, key),
        };
        firsts.into_iter().flat_map(rows).collect()
    }

    /// The entry of a complete joint table for one of the first table.
    pub fn first_row(&self, key: &Key) -> Row {
        let product = self.products(Side::First, key).pop();
        product.unwrap_or_else(|| Row { key: key.clone(), call: Call::slow() })
    }

    fn row(&self, (first, one): (&Key, &Source), (second, other): (&Key, &Source)) -> Option<Row> {
        let action = self.join.action(one.part?, other.part?);
        let data = joined_data([
            (&one.call.as_ref()?.data, one.counter_index),
            (&other.call.as_ref()?.data, other.counter_index),
        ]);
        Some(Row { key: self.layout.joint_key(first, Some(second)), call: Call { action, data } })
    }
}
