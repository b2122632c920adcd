//! What a pipeline has counted for a profile: packets on its edges, and the keys of its tables' lookups.

use crate::abi::ASKED_WORDS;

/// With fewer bits of a map clear, chance decides about the estimate.
const FEW_CLEAR: u32 = 16;

#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Counts {
    /// By edge.
    pub edges: Vec<u64>,
    /// By table.
    pub asked: Vec<Asked>,
}

impl Counts {
    /// Adds what another switch with the same pipeline has counted.
    pub fn add(&mut self, other: &Counts) {
        self.edges.resize(self.edges.len().max(other.edges.len()), 0);
        self.asked.resize(self.asked.len().max(other.asked.len()), Asked::default());
        self.edges.iter_mut().zip(&other.edges).for_each(|(sum, count)| *sum += count);
        self.asked.iter_mut().zip(&other.asked).for_each(|(all, asked)| all.add(asked));
    }
}

/// A bit for each hash of a looked-up key of a table.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Asked {
    map: Vec<u64>,
}

impl Asked {
    /// A table's map, of `ASKED_WORDS` words.
    pub fn of(map: impl Iterator<Item = u64>) -> Asked {
        Asked { map: map.collect() }
    }

    pub fn add(&mut self, other: &Asked) {
        self.map.resize(self.map.len().max(other.map.len()), 0);
        self.map.iter_mut().zip(&other.map).for_each(|(all, word)| *all |= word);
    }

    /// How many different keys there were, within some percent: by linear counting, from the share of bits that no key has set. `None` if there were too many
    /// to tell, some half a million.
    pub fn keys(&self) -> Option<u64> {
        let bits = 64 * ASKED_WORDS as u32;
        let clear = bits - self.map.iter().map(|word| word.count_ones()).sum::<u32>();
        let estimate = f64::from(bits) * (f64::from(bits) / f64::from(clear.max(1))).ln();
        (clear >= FEW_CLEAR).then_some(estimate.round() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A map in which random keys have set their bits.
    fn asked(keys: u64) -> Asked {
        let mut map = vec![0; ASKED_WORDS];
        let mut random = 1u64;
        for _ in 0..keys {
            random = random.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(0x1405_7b7e_f767_814f);
            let bit = (random >> 48) as usize;
            map[bit / 64] |= 1 << (bit % 64);
        }
        Asked::of(map.into_iter())
    }

    #[test]
    fn keys_are_estimated_by_the_bits_that_none_has_set() {
        for keys in [0, 1, 2, 100, 10_000, 300_000] {
            let told = asked(keys).keys().expect("bits are clear");
            assert!(told.abs_diff(keys) <= keys / 33, "{told} of {keys}");
        }
        assert_eq!(asked(5_000_000).keys(), None);
    }

    #[test]
    fn counts_of_switches_add_up() {
        let (one, other) = (asked(1000), asked(500));
        let mut sum = Counts { edges: vec![1, 2], asked: vec![one.clone()] };
        sum.add(&Counts { edges: vec![3, 4], asked: vec![other] });
        assert_eq!(sum, Counts { edges: vec![4, 6], asked: vec![one.clone()] }, "the first keys of both are the same");
        let mut none = Counts::default();
        none.add(&sum);
        assert_eq!(none, sum);
    }
}
