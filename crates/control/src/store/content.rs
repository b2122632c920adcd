//! What the tables hold, in numbers: what a planner asks before it chooses a data structure.

use super::packed::{self, Field};
use super::table::TableStore;
use super::{Store, index};
use hlir::table::action_bit;
use hlir::{MatchKind, TableId};
use std::collections::HashSet;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Content {
    pub entries: u64,
    /// Different actions with different data.
    pub records: u64,
    /// Different combinations of masks.
    pub masks: u64,
    /// Entries whose lpm key has a prefix longer than 24 bits.
    pub long_prefixes: u64,
    /// Actions that entries call: a set of their numbers in the table, as [`action_bit`] has them.
    pub actions: u64,
}

/// Prefixes up to here are found in the first array of DIR-24-8.
const SHORT_BITS: u32 = 24;

/// One field of a packed key: its value or lower end, and its mask or upper end.
struct Part<'k> {
    kind: MatchKind,
    width: u32,
    first: &'k [u8],
    second: &'k [u8],
}

impl Part<'_> {
    /// Whether a range has one value, and whether it has all.
    fn range(&self) -> (bool, bool) {
        let is_from_zero = self.first.iter().all(|byte| *byte == 0);
        (self.first == self.second, is_from_zero && ones(self.second) == self.width)
    }

    /// Bits that are compared; 0 for a range that is neither one value nor all.
    fn bits(&self) -> u32 {
        match self.kind {
            MatchKind::Exact => self.width,
            MatchKind::Range => {
                if self.range().0 {
                    self.width
                } else {
                    0
                }
            }
            MatchKind::Lpm | MatchKind::Ternary | MatchKind::Optional => ones(self.second),
        }
    }

    /// What fields that distinguish the same values share.
    fn put_mask(&self, mask: &mut Vec<u8>) {
        match (self.kind, self.range()) {
            (MatchKind::Exact, _) => {}
            (MatchKind::Range, (true, _)) => mask.push(0),
            (MatchKind::Range, (false, true)) => mask.push(1),
            (MatchKind::Range, (false, false)) => mask.extend([&[2][..], self.first, self.second].concat()),
            (MatchKind::Lpm | MatchKind::Ternary | MatchKind::Optional, _) => mask.extend(self.second),
        }
    }
}

fn ones(bytes: &[u8]) -> u32 {
    bytes.iter().map(|byte| byte.count_ones()).sum()
}

/// A number of up to 64 bits.
fn word(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn parts<'k>(key: &'k [u8], fields: &[Field]) -> impl Iterator<Item = Part<'k>> {
    let mut rest = &key[packed::PRIORITY_BYTES..];
    fields.iter().map(move |(kind, width)| {
        let (first, behind) = rest.split_at(packed::bytes_of(*width));
        let size = if *kind == MatchKind::Exact { 0 } else { first.len() };
        let (second, behind) = behind.split_at(size);
        rest = behind;
        Part { kind: *kind, width: *width, first, second }
    })
}

impl TableStore {
    fn content(&self) -> Content {
        let (mut records, mut masks) = (HashSet::new(), HashSet::new());
        let mut content = Content { entries: self.len() as u64, ..Content::default() };
        for (key, record, call) in self.keyed_records() {
            records.insert(record);
            content.actions |= call.map_or(0, |action| action_bit(action as usize));
            let mut mask = Vec::new();
            let mut prefix = None;
            for part in parts(key, self.fields()) {
                part.put_mask(&mut mask);
                prefix = prefix.or((part.kind == MatchKind::Lpm).then(|| part.bits()));
            }
            masks.insert(mask);
            content.long_prefixes += u64::from(prefix.is_some_and(|bits| bits > SHORT_BITS));
        }
        (content.records, content.masks) = (records.len() as u64, masks.len() as u64);
        content
    }
}

impl Store {
    /// What a table holds.
    pub fn content(&self, table: TableId) -> Content {
        self.tables[index(table)].content()
    }

    /// The prefixes of a table whose key is one of up to 32 bits: values, and how many of their bits count.
    pub fn prefixes(&self, table: TableId) -> impl Iterator<Item = (u32, u32)> {
        let table = &self.tables[index(table)];
        let prefix = |part: Part<'_>| {
            let is_mask = part.kind != MatchKind::Range || part.range() != (false, false);
            is_mask.then(|| (word(part.first) as u32, part.bits()))
        };
        let keys = table.keys().filter(|_| table.fields().len() == 1);
        keys.filter_map(move |key| parts(key, table.fields()).next().and_then(prefix))
    }

    /// The keys of a table whose fields are all exact, and of at most 64 bits.
    pub fn exact_keys(&self, table: TableId) -> impl Iterator<Item = impl Iterator<Item = u64>> {
        let table = &self.tables[index(table)];
        table.keys().map(|key| parts(key, table.fields()).map(|part| word(part.first)))
    }
}
