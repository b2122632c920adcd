//! The cost of lookups in hash tables.
//! ```text
//! B = 64 · entries / slots / load             bytes of the buckets; f = 1 line per lookup
//! q = 1.3 · E[max(0, X − slots)] / λ           X ~ Poisson(λ), λ = load · slots: keys of a bucket
//! ```
//!
//! `q` costs twice: a second line, and a misprediction that ends the overlap of misses (`lookups_per_stall`).

use super::{Cost, HASHING, Keyed};
use crate::model::cache_line::{LINE_BYTES, Line};

/// Load factor of hash tables after bulk loading, as in runtime/table/exact48_words.c and exact_cuckoo.c:
/// they are shrunk to the minimum then.
const LOAD_EXACT: f64 = 0.625;
/// Load factor of arrays of 48-bit or 60-bit keys: 1/2 for very small and very large arrays (in bytes), 3/4
/// in between.
const LOAD_EXACT48: [f64; 2] = [0.5, 0.75];
const SMALL_EXACT48: f64 = 524_288.0;
const LARGE_EXACT48: f64 = 134_217_728.0;
/// Keys in their second bucket displace keys that have it as their first. Counted with random keys: of a
/// thousand keys at load 3/4 with eight slots, 66 are in their second bucket and 52 overflow; at 5/8 with
/// five slots 61 and 51, with three 124 and 95; at 1/2 with eight, hardly any.
const DISPLACED: f64 = 1.3;
/// Share of keys that overflow their first bucket. The number of keys per bucket has a Poisson distribution
/// with mean λ = load × slots; the excess over `slots` overflows.
fn overflowing(slots: u32, load: f64) -> f64 {
    let mean = load * f64::from(slots);
    // Terms of the Poisson distribution, each from the one before; beyond 8 · slots they vanish.
    let mut probability = (-mean).exp();
    let mut over = 0.0;
    for count in 1..8 * slots {
        probability *= mean / f64::from(count);
        over += f64::from(count.saturating_sub(slots)) * probability;
    }
    over / mean
}

impl Keyed {
    /// The bucket of a hash table with so many slots per line.
    fn hashed(&self, slots: f64, load: f64) -> Vec<Line> {
        let bytes = (self.entries as f64 / slots / load).ceil() as u64 * LINE_BYTES;
        vec![Line::single(bytes, 1.0)]
    }

    /// Few keys have almost a line each, since the array has a minimum size.
    /// Its array has at least 8,192 buckets, for the words to be unique: half a megabyte, of which keys touch a
    /// line each.
    pub(super) fn exact60(&self) -> Cost {
        let alone = (self.entries * LINE_BYTES).min(SMALL_EXACT48 as u64);
        let mut lines = self.hashed(8.0, self.load_exact48());
        lines[0] = Line::single(lines[0].footprint.bytes().max(alone), 1.0);
        // The words are computed from the keys, once more than their lines are.
        let saved_in_group = if self.limbs_per_vector >= 8.0 { 17.0 } else { 13.0 };
        Cost { saved_in_group, ..self.two_lines(Cost::new(40.0, lines), 8, self.load_exact48()) }
    }

    pub(super) fn exact48(&self) -> Cost {
        let lines = self.hashed(8.0, self.load_exact48());
        // With vectors of a whole line, one instruction compacts the match; cores issue half as many such
        // instructions.
        let saved_in_group = if self.limbs_per_vector >= 8.0 { 18.0 } else { 17.0 };
        Cost { saved_in_group, ..self.two_lines(Cost::new(36.0, lines), 8, self.load_exact48()) }
    }

    /// A two-byte pilot for four keys, then the key's slot.
    pub(super) fn perfect(&self) -> Cost {
        let pilots = Line::single((self.entries / 4 * 2).max(LINE_BYTES), 1.0);
        // The array's address stays in a register, and words are compared together. Counted in lookups of 16K keys, like
        // all operations here.
        let saved_in_group = if self.limbs_per_vector >= 4.0 { 10.0 } else { 3.0 };
        let cost = Cost::new(20.0, vec![pilots, Line::single(self.entries * 8, 1.0)]);
        Cost { saved_in_group, begin: HASHING, ..cost }
    }

    /// A key is in one of two buckets with so many slots: `q` is the share of those in their second one. A grouped lookup
    /// has a second loop for these.
    fn two_lines(&self, cost: Cost, slots: u32, load: f64) -> Cost {
        Cost { second_line: DISPLACED * overflowing(slots, load), begin: HASHING, loops: 2.0, ..cost }
    }

    fn load_exact48(&self) -> f64 {
        let [loose, dense] = LOAD_EXACT48;
        let words = 8.0 * self.entries as f64;
        if words / dense > LARGE_EXACT48 { loose } else { (words / SMALL_EXACT48).clamp(loose, dense) }
    }

    fn slots(&self) -> u32 {
        if matches!(self.words as u32, 2..=4) { 3 } else { 5 }
    }

    pub(super) fn exact(&self) -> Cost {
        let mut lines = self.hashed(f64::from(self.slots()), LOAD_EXACT);
        if matches!(self.words as u32, 3 | 4) {
            // A bucket of two lines, which are prefetched together.
            lines = vec![Line::single(2 * lines[0].footprint.bytes(), 2.0)];
        } else if self.words > 2.0 {
            // Wider keys are in items: one line more, that of the whole key.
            lines.push(Line::single(self.entries * item_bytes(self.words as u64), 1.0));
        }
        // Results are stored at once, and the commit phase of an all-hit group needs no hit test. Four keys of one limb are
        // hashed at once. Counted in l2fwd.
        let saved_in_group = if self.words > 1.0 { 11.0 } else { 17.0 };
        Cost { saved_in_group, ..self.two_lines(Cost::new(36.0 + 5.0 * self.words, lines), self.slots(), LOAD_EXACT) }
    }
}

/// Bytes from one item to the next, as `exact_item_bytes` of the runtime: an item that fits into a line lies in one.
fn item_bytes(words: u64) -> u64 {
    let bytes = 8 + 8 * words;
    if (33..LINE_BYTES).contains(&bytes) { LINE_BYTES } else { bytes }
}

#[cfg(test)]
mod tests {
    use super::item_bytes;

    #[test]
    fn items_that_fit_into_a_line_lie_in_one() {
        let bytes: Vec<u64> = (3..=8).map(item_bytes).collect();
        assert_eq!(bytes, [32, 64, 64, 64, 64, 72]);
    }
}
