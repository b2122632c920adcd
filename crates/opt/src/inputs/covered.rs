//! Which lines of an array over addresses the prefixes of a table cover, and how evenly.
//!
//! DIR-24-8 has an element for the first 24 bits of every address. Prefixes stand close in parts of the address space, and a short one covers as much as
//! thousands of long ones: packets to as many addresses of each ask nine times out of ten for a fifth of the lines (counted in a router's table of 2015).

use crate::model::line::{LINE_BYTES, SMALL_PAGE};
use hlir::{MatchKind, Program, TableId};

/// Bits of an address that the array has an element for.
const BITS: u32 = 24;
/// Elements of the smallest piece of the array that prefixes are counted in: a line of the widest elements, of 4 bytes.
const PIECE: u32 = 16;
/// Of the look-ups, those that ask for a line which few ask for.
pub const RARELY: f64 = 0.1;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Lines {
    pub lines: u64,
    /// Small pages that they lie on.
    pub pages: u64,
}

/// What packets ask for if each prefix gets as many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Covered {
    /// The fewest lines that suffice for all but [`RARELY`] of the look-ups.
    pub usual: Lines,
    /// All others that a prefix covers.
    pub rare: Lines,
}

/// Counts prefixes.
pub struct Counter {
    /// Bits of a key.
    width: u32,
    prefixes: u64,
    /// For each piece of the array, the parts of prefixes that it has.
    pieces: Vec<f32>,
}

impl Counter {
    /// For a table whose key is one prefix that DIR-24-8 could hold.
    pub fn of(program: &Program, table: TableId) -> Option<Counter> {
        match program.key_kinds(table)[..] {
            [(MatchKind::Lpm, width @ 1..=32)] => Some(Counter::new(width)),
            _ => None,
        }
    }

    fn new(width: u32) -> Counter {
        let pieces = (1usize << width.min(BITS)).div_ceil(PIECE as usize);
        Counter { width, prefixes: 0, pieces: vec![0.0; pieces] }
    }

    /// Counts a prefix of so many bits; `value` is as wide as the key.
    pub fn add(&mut self, value: u32, bits: u32) {
        let index_bits = self.width.min(BITS);
        let first = (value >> (self.width - index_bits)) / PIECE;
        // Pieces that it covers, as a number of bits.
        let covers = (index_bits - bits.min(index_bits)).saturating_sub(PIECE.ilog2());
        let count = 1usize << covers;
        let first = first as usize / count * count;
        let covered = self.pieces.iter_mut().skip(first).take(count);
        covered.for_each(|piece| *piece += 1.0 / count as f32);
        self.prefixes += 1;
    }

    /// What a table's entries cover, for elements of 1, 2 and 4 bytes, if as many prefixes were counted.
    pub fn covered(&self, entries: u64) -> Option<[Covered; 3]> {
        (self.prefixes == entries).then(|| [1u64, 2, 4].map(|bytes| self.covered_in(bytes)))
    }

    fn covered_in(&self, element_bytes: u64) -> Covered {
        let pieces = (LINE_BYTES / element_bytes / u64::from(PIECE)) as usize;
        covered(self.pieces.chunks(pieces).map(|pieces| pieces.iter().sum()))
    }
}

/// By lines in order, with the prefixes of each.
fn covered(prefixes: impl Iterator<Item = f32>) -> Covered {
    let mut lines: Vec<(f32, u64)> = prefixes.zip(0..).filter(|(prefixes, _)| *prefixes > 0.0).collect();
    lines.sort_unstable_by(|(one, _), (other, _)| other.total_cmp(one));
    let all: f64 = lines.iter().map(|(prefixes, _)| f64::from(*prefixes)).sum();
    let mut left = all;
    let usual = lines.iter().take_while(|(prefixes, _)| {
        let is_usual = left > all * RARELY;
        left -= f64::from(*prefixes);
        is_usual
    });
    let (usual, rare) = lines.split_at(usual.count());
    Covered { usual: counted(usual), rare: counted(rare) }
}

fn counted(lines: &[(f32, u64)]) -> Lines {
    let mut pages: Vec<u64> = lines.iter().map(|(_, number)| number / (SMALL_PAGE / LINE_BYTES)).collect();
    pages.sort_unstable();
    pages.dedup();
    Lines { lines: lines.len() as u64, pages: pages.len() as u64 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_of_one_line_are_one_line() {
        let mut counter = Counter::new(32);
        for last in 0..64 {
            counter.add(0x0a00_0000 | last << 8, 24);
        }
        let covered = counter.covered(64).expect("all were counted");
        assert_eq!(covered.map(|covered| covered.usual.lines + covered.rare.lines), [1, 2, 4]);
        assert_eq!(counter.covered(65), None);
    }

    #[test]
    fn a_short_prefix_covers_lines_that_few_ask_for() {
        let mut counter = Counter::new(32);
        counter.add(0x0a00_0000, 8);
        for first in 0..99u32 {
            counter.add(first << 24 | 0x8000_0000, 32);
        }
        // 65,536 elements of a byte are 1,024 lines on 16 pages, each of which gets less than a thousandth of a packet in a hundred.
        let bytes = counter.covered_in(1);
        assert_eq!(bytes.usual, Lines { lines: 90, pages: 90 });
        assert_eq!(bytes.rare, Lines { lines: 9 + 1024, pages: 9 + 16 });
    }

    #[test]
    fn an_even_table_has_a_tenth_of_its_lines_rare() {
        let mut counter = Counter::new(16);
        (0..1u32 << 16).for_each(|value| counter.add(value, 16));
        let words = counter.covered_in(4);
        assert!(words.usual.lines.abs_diff(3686) <= 1 && words.usual.lines + words.rare.lines == 4096, "{words:?}");
    }

    #[test]
    fn the_shortest_prefix_covers_all() {
        let mut counter = Counter::new(32);
        counter.add(0x1234_5678, 0);
        let bytes = counter.covered_in(1);
        assert_eq!(bytes.usual.lines + bytes.rare.lines, 1 << 18);
    }
}
