//! The entries of one joint table: pairs of source entries that agree in what both are keyed by.

use super::Key;
use super::layout::{Call, Common, Layout, joined_data};
use crate::store::KeyHash;
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
/// of their cells.
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
    cell: Option<u32>,
    /// The number of its action in the recipe; none for an entry without a part in joint entries.
    part: Option<usize>,
    /// None if entries of the other source cannot agree.
    common: Option<Common>,
    /// The entries of a source in the order of their insertion: among equal priorities the first wins.
    sequence: u64,
}

type Sorted = BTreeMap<Key, Arc<Source>>;

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
    /// Whether entries of the sources have cells of direct counters and meters.
    have_cells: [bool; 2],
    entries: [HashMap<Key, Arc<Source>, KeyHash>; 2],
    /// Those of both sources that have something in common, by that.
    by_common: HashMap<Common, [Sorted; 2], KeyHash>,
    pairs: u64,
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
            have_cells: [join.first, join.second].map(|source| program.has_cells(source)),
            join: Arc::new(join.clone()),
            entries: [(); 2].map(|()| HashMap::with_hasher(KeyHash::new())),
            by_common: HashMap::with_hasher(KeyHash::new()),
            pairs: 0,
            sequence: 0,
        }
    }

    /// Entries that the joint table has, or would have.
    pub fn total(&self) -> u64 {
        if self.is_complete { self.entries[Side::First as usize].len() as u64 } else { self.pairs }
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
        let source = Source { call: None, cell: None, part: None, common: None, sequence };
        self.entries[Side::First as usize].insert(key, Arc::new(source));
    }

    /// Adds an entry, or replaces the one with its key.
    pub fn add(&mut self, side: Side, key: Key, call: Call, cell: Option<u32>) {
        let sequence = match self.remove(side, &key) {
            Some(sequence) => sequence,
            None => self.next_sequence(),
        };
        // Its lookups go by its own table if its cells are not known.
        let is_known = !self.have_cells[side as usize] || cell.is_some();
        let action = |number: &usize| match side {
            Side::First => self.join.firsts[*number].action,
            Side::Second => self.join.seconds[*number],
        };
        let actions = [self.join.firsts.len(), self.join.seconds.len()][side as usize];
        let part = (0..actions).find(|number| action(number) == call.action).filter(|_| is_known);
        let common = part.and_then(|part| match side {
            Side::First => self.layout.of_first(&key, &call, &self.join.firsts[part]),
            Side::Second => Some(self.layout.of_second(&key)),
        });
        let source = Arc::new(Source { call: Some(call), cell, part, common, sequence });
        if let Some(common) = &source.common {
            let agreeing = self.by_common.entry(common.clone()).or_default();
            self.pairs += agreeing[1 - side as usize].len() as u64;
            agreeing[side as usize].insert(key.clone(), source.clone());
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
        if let Some(common) = &source.common
            && let Some(agreeing) = self.by_common.get_mut(common)
        {
            agreeing[side as usize].remove(key);
            self.pairs -= agreeing[1 - side as usize].len() as u64;
            if agreeing.iter().all(BTreeMap::is_empty) {
                self.by_common.remove(common);
            }
        }
        Some(source.sequence)
    }

    /// Takes all entries of a source out.
    pub fn clear(&mut self, side: Side) {
        self.entries[side as usize].clear();
        self.by_common.retain(|_, agreeing| {
            agreeing[side as usize].clear();
            !agreeing[1 - side as usize].is_empty()
        });
        self.pairs = 0;
    }

    /// The joint entries that an entry has a part in, but those that only keep others from matching.
    pub fn products(&self, side: Side, key: &Key) -> Vec<Row> {
        let Some((source, agreeing)) = self.agreeing(side, key) else { return Vec::new() };
        let row = |(other_key, other): (&Key, &Arc<Source>)| match side {
            Side::First => self.row((key, source), (other_key, other)),
            Side::Second => self.row((other_key, other), (key, source)),
        };
        agreeing.iter().filter_map(row).collect()
    }

    /// An entry with a part in joint entries, and those of the other source that agree with it.
    fn agreeing(&self, side: Side, key: &Key) -> Option<(&Source, &Sorted)> {
        let source = self.entries[side as usize].get(key)?;
        Some((source, &self.by_common.get(source.common.as_ref()?)?[1 - side as usize]))
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
        let data = joined_data([(&one.call.as_ref()?.data, one.cell), (&other.call.as_ref()?.data, other.cell)]);
        Some(Row { key: self.layout.joint_key(first, Some(second)), call: Call { action, data } })
    }
}
