//! The cost of lookups in bit vectors: each chunk of the key has a class with a set of rules; their
//! intersection has the matching rules.
//! ```text
//! w_l = 30 + chunks · (28 + 1.5 · words of a set that are read / words per vector)
//! lines: 2 per chunk for index and numbers, all at once; then the sets' lines, f = chunks · lines per set
//! ```
//!
//! Both kinds are independent loads (`parallel`): a chunk's class does not depend on another chunk.

use super::{Cost, Keyed};
use crate::model::cache_line::Line;
use hlir::MatchKind;

/// Additional operations per chunk in a group where each value has a page and a set of its own: 256 hosts
/// took 11 cycles in l2fwd, not 4 as rules with as few chunks do.
const SCATTERED: f64 = 15.0;
/// Length of the dependency chain from key to record: it makes a lookup expensive packet by packet even with all lines in L1
/// (fitted to the firewall, as those of rules).
const CHAIN_OF_SETS: f64 = 80.0;

impl Keyed {
    /// A two-step lookup of the class of each chunk, then the intersection of the sets.
    pub(super) fn bit_vector(&self) -> Cost {
        let chunks = self.chunks();
        let set_words = self.set_words();
        // Half of a set on average, in steps of sixteen words.
        let looked_at = (set_words / 2.0).max(16.0f64.min(set_words));
        let operations = 30.0 + chunks * (28.0 + (looked_at / self.limbs_per_vector).max(1.0) * 1.5);
        // A chunk has few classes: those that rules distinguish, limited by the values in traffic.
        let classes = self.entries.min(4096);
        // Bytes of all sets: an upper bound of what traffic touches, since few classes are frequent.
        let sets = (chunks * classes as f64 * set_words * 8.0) as u64;
        let pages = chunks as u64 * (1024 + self.entries.min(256) * 256);
        let table = Line { parallel: chunks, ..Line::single(pages, 2.0 * chunks) };
        let frequency = chunks * (looked_at / 8.0).ceil();
        Cost {
            saved_in_group: (operations - self.bit_vector_group_operations()).max(0.0),
            chain: CHAIN_OF_SETS,
            ..Cost::new(operations, vec![table, Line::parallel(sets, frequency)])
        }
    }

    /// 64-bit words of a set: four, or whole lines.
    fn set_words(&self) -> f64 {
        match self.entries {
            0..=256 => 4.0,
            more => (more as f64 / 512.0).ceil() * 8.0,
        }
    }

    /// Operations of a grouped lookup. Classes are found for 32 packets at once with vectors of a line,
    /// otherwise packet by packet. Lines of sets are read until one has a rule, on average in the middle.
    /// With such vectors, sets of four words are intersected in registers, eight packets at once. Counted in
    /// groups of 5-tuples, gcc 12.
    fn bit_vector_group_operations(&self) -> f64 {
        let together = self.limbs_per_vector >= 8.0 && self.words <= 2.0;
        if together && self.set_words() <= 4.0 {
            return 10.0 + self.chunks() * 6.5 + self.scattered() * SCATTERED;
        }
        let class = if together { 6.0 } else { 12.0 };
        let lines = (self.set_words() / 8.0).ceil();
        let looked_at = self.set_words().min(8.0) * (lines + 1.0) / 2.0;
        10.0 + 10.0 * (lines + 1.0) / 2.0 + self.chunks() * (class + 2.0 * (looked_at / self.limbs_per_vector).max(1.0))
    }

    fn chunks(&self) -> f64 {
        self.keys.iter().map(|(_, width)| f64::from(width.div_ceil(16))).sum()
    }

    /// Chunks of exact fields with about as many values as entries: each value lies on a page of its own.
    fn scattered(&self) -> f64 {
        let exact = self.keys.iter().filter(|(kind, width)| *kind == MatchKind::Exact && *width > 16);
        exact.map(|(_, width)| f64::from(width.div_ceil(16))).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlir::plan::Structure;

    #[test]
    fn hosts_are_cheaper_by_hash_than_by_bit_vector() {
        let hosts = Keyed {
            keys: vec![(MatchKind::Exact, 48)],
            bits: 48,
            words: 1.0,
            entries: 256,
            long_prefixes: 0,
            coverage: None,
            masks: 1,
            limbs_per_vector: 8.0,
        };
        let [hash, sets] = [Structure::Exact48, Structure::BitVector].map(|structure| {
            let cost = hosts.cost(structure);
            cost.operations - cost.saved_in_group
        });
        assert!(sets > 2.0 * hash, "{sets} operations by sets, {hash} by a hash");
    }
}
