//! What a pipeline has counted for a profile: packets on its edges, and the lookups of its tables and their keys.

use crate::abi::KEY_SKETCH_WORDS;

/// With fewer bits of a map clear, chance decides about the estimate.
const FEW_CLEAR: u32 = 16;

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Counts {
    /// By edge.
    pub edges: Vec<u64>,
    /// By table: lookups that hit, and that miss.
    pub lookups: Vec<(u64, u64)>,
    /// By table.
    pub key_sketches: Vec<KeySketch>,
}

impl Counts {
    /// Adds what another switch with the same pipeline has counted.
    pub fn add(&mut self, other: &Counts) {
        self.edges.resize(self.edges.len().max(other.edges.len()), 0);
        self.lookups.resize(self.lookups.len().max(other.lookups.len()), (0, 0));
        self.key_sketches.resize(self.key_sketches.len().max(other.key_sketches.len()), KeySketch::default());
        self.edges.iter_mut().zip(&other.edges).for_each(|(sum, count)| *sum += count);
        self.lookups.iter_mut().zip(&other.lookups).for_each(|(sum, more)| *sum = (sum.0 + more.0, sum.1 + more.1));
        self.key_sketches.iter_mut().zip(&other.key_sketches).for_each(|(all, sketch)| all.add(sketch));
    }
}

/// A bit for each hash of a looked-up key of a table.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct KeySketch {
    map: Vec<u64>,
}

impl KeySketch {
    /// A table's map, of `KEY_SKETCH_WORDS` words.
    pub fn of(map: impl Iterator<Item = u64>) -> KeySketch {
        KeySketch { map: map.collect() }
    }

    pub fn add(&mut self, other: &KeySketch) {
        self.map.resize(self.map.len().max(other.map.len()), 0);
        self.map.iter_mut().zip(&other.map).for_each(|(all, word)| *all |= word);
    }

    /// How many different keys there were, within some percent: by linear counting, from the share of bits that no key has set. `None` if there were too many
    /// to count, some half a million.
    pub fn keys(&self) -> Option<u64> {
        let bits = 64 * KEY_SKETCH_WORDS as u32;
        let clear = bits - self.map.iter().map(|word| word.count_ones()).sum::<u32>();
        let estimate = f64::from(bits) * (f64::from(bits) / f64::from(clear.max(1))).ln();
        (clear >= FEW_CLEAR).then_some(estimate.round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map in which random keys have set their bits.
    fn sketch_of(keys: u64) -> KeySketch {
        let mut map = vec![0; KEY_SKETCH_WORDS];
        let mut random = 1u64;
        for _ in 0..keys {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let bit = (random >> 48) as usize;
            map[bit / 64] |= 1 << (bit % 64);
        }
        KeySketch::of(map.into_iter())
    }

    #[test]
    fn keys_are_estimated_by_the_bits_that_none_has_set() {
        for keys in [0, 1, 2, 100, 10_000, 300_000] {
            let estimate = sketch_of(keys).keys().expect("bits are clear");
            assert!(estimate.abs_diff(keys) <= keys / 33, "{estimate} of {keys}");
        }
        assert_eq!(sketch_of(5_000_000).keys(), None);
    }

    #[test]
    fn counts_of_switches_add_up() {
        let (one, other) = (sketch_of(1000), sketch_of(500));
        let mut sum = Counts { edges: vec![1, 2], lookups: vec![(5, 1)], key_sketches: vec![one.clone()] };
        sum.add(&Counts { edges: vec![3, 4], lookups: vec![(2, 0)], key_sketches: vec![other] });
        assert_eq!(
            sum,
            Counts { edges: vec![4, 6], lookups: vec![(7, 1)], key_sketches: vec![one.clone()] },
            "the first keys of both are the same"
        );
        let mut none = Counts::default();
        none.add(&sum);
        assert_eq!(none, sum);
    }
}
