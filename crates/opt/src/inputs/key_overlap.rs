//! How many keys two tables have in common, estimated by KMV sketches (k minimum values).
//!
//! The k smallest hashes of a table's keys are a sample that two tables draw alike. The common part of the
//! merged sample estimates the common part of all keys (Beyer et al., "On synopses for distinct-value
//! estimation", 2007). Entries are read once, in any order, and few hashes are kept.

use hlir::{MatchKind, Program, TableId};
use std::collections::BTreeSet;

/// The k of the sketch. The estimate is off by one or two percent with 4,096.
const SAMPLE: usize = 4096;

/// Bits of the widest key: it must fit into one word.
const WIDEST: u32 = 64;

/// The sketch of one table's keys. Each key is added once.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct KeySketch {
    /// Widths of the key's fields in bits.
    widths: Vec<u32>,
    count: u64,
    smallest: BTreeSet<u64>,
}

impl KeySketch {
    /// For a table whose keys are all exact and fit into one word.
    pub fn of(program: &Program, table: TableId) -> Option<KeySketch> {
        let kinds = program.key_kinds(table);
        let widths: Vec<u32> = kinds.iter().map(|(_, width)| *width).collect();
        let is_exact = kinds.iter().all(|(kind, _)| *kind == MatchKind::Exact);
        let is_word = (1..=WIDEST).contains(&widths.iter().sum());
        (is_exact && is_word).then(|| KeySketch { widths, ..KeySketch::default() })
    }

    /// Adds an entry's key, given by its fields.
    pub fn add(&mut self, fields: impl IntoIterator<Item = u64>) {
        self.count += 1;
        let fields = self.widths.iter().zip(fields);
        let hash = hash(fields.fold(0, |key, (width, field)| key.checked_shl(*width).unwrap_or(0) | field));
        if self.smallest.len() < SAMPLE {
            self.smallest.insert(hash);
        } else if self.smallest.last().is_some_and(|last| hash < *last) && self.smallest.insert(hash) {
            self.smallest.pop_last();
        }
    }

    pub fn count(&self) -> u64 {
        self.count
    }

    /// The number of distinct keys in the union of both tables.
    pub fn union_count(&self, other: &KeySketch) -> u64 {
        let both = self.count + other.count;
        // Both samples are complete only up to the smaller of their largest hashes. A table with fewer than k
        // keys is in its sample as a whole.
        let far = |keys: &KeySketch| {
            if keys.smallest.len() < SAMPLE { u64::MAX } else { *keys.smallest.last().unwrap_or(&0) }
        };
        let most = far(self).min(far(other));
        let sample: Vec<u64> = self.smallest.union(&other.smallest).copied().filter(|hash| *hash <= most).collect();
        if sample.is_empty() {
            return both;
        }
        let common = sample.iter().filter(|hash| self.smallest.contains(hash) && other.smallest.contains(hash)).count();
        let part = common as f64 / sample.len() as f64;
        // |A ∪ B| = (|A| + |B|) / (1 + J), where J = |A ∩ B| / |A ∪ B| is the common part of the merged
        // sample.
        (both as f64 / (1.0 + part)).round() as u64
    }
}

/// An invertible mix, so that distinct keys have distinct hashes (David Stafford's variant 13 of the
/// finalizer of MurmurHash3).
fn hash(key: u64) -> u64 {
    let mixed = (key ^ key >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ mixed >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ mixed >> 31
}

#[cfg(test)]
mod tests {
    use super::*;

    fn keys(numbers: impl Iterator<Item = u64>) -> KeySketch {
        let mut keys = KeySketch { widths: vec![48], ..KeySketch::default() };
        numbers.for_each(|number| keys.add([number]));
        keys
    }

    #[test]
    fn fields_are_one_key() {
        let two = |first, second| {
            let mut keys = KeySketch { widths: vec![12, 48], ..KeySketch::default() };
            keys.add([first, second]);
            keys
        };
        assert_eq!(two(1, 2).union_count(&two(1, 2)), 1);
        assert_eq!(two(1, 2).union_count(&two(2, 1)), 2);
        assert_eq!(two(0, 7).smallest, keys(7..8).smallest);
    }

    #[test]
    fn few_keys_are_counted() {
        let union_count = |one: &KeySketch, other: &KeySketch| [one.union_count(other), other.union_count(one)];
        let (thousand, half) = (keys(0..1000), keys(500..1500));
        assert_eq!(union_count(&thousand, &thousand), [1000; 2]);
        assert_eq!(union_count(&thousand, &half), [1500; 2]);
        assert_eq!(union_count(&thousand, &keys(1000..1003)), [1003; 2]);
        assert_eq!(union_count(&thousand, &keys(0..3)), [1000; 2]);
        assert_eq!(union_count(&KeySketch::default(), &thousand), [1000; 2]);
        assert_eq!(union_count(&KeySketch::default(), &KeySketch::default()), [0; 2]);
    }

    #[test]
    fn many_keys_are_estimated_whatever_their_order() {
        let near =
            |estimated: u64, right: u64| assert!(estimated.abs_diff(right) < right / 30, "{estimated}, not {right}");
        let many = keys(0..200_000);
        assert_eq!(keys((0..200_000).rev()), many);
        assert_eq!(many.union_count(&many), 200_000);
        near(many.union_count(&keys(100_000..300_000)), 300_000);
        near(many.union_count(&keys(200_000..400_000)), 400_000);
        // One table that is in its sample as a whole, with few of its keys in the other's sample.
        near(many.union_count(&keys(0..1000)), 200_000);
        near(keys(1 << 40..(1 << 40) + 1000).union_count(&many), 201_000);
    }
}
