//! Which lines of an array over addresses the prefixes of a table cover, and how evenly.
//!
//! DIR-24-8 has an element for the first 24 bits of every address. Prefixes stand close in parts of the address space, and a short one covers as much as
//! thousands of long ones: packets to as many addresses of each ask nine times out of ten for a fifth of the lines (counted in a router's table of 2015).

use crate::model::cache_line::{LINE_BYTES, SMALL_PAGE};
use hlir::{MatchKind, Program, TableId};
use std::collections::{HashMap, HashSet};

/// Bits of an address that the array has an element for.
const BITS: u32 = 24;
/// Elements of the smallest piece of the array that prefixes are counted in: a line of the widest elements, of 4 bytes.
const PIECE: u32 = 16;
/// Of the look-ups, those that ask for a line which few ask for.
pub const COLD_SHARE: f64 = 0.1;
/// Lines that are asked for at least this part as often as others are asked for alike.
const UNIFORM: f64 = 0.25;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LineCount {
    pub lines: u64,
    /// Small pages that they lie on, but for those of lines that more ask for.
    pub pages: u64,
}

/// What packets ask for if each prefix gets as many.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Coverage {
    /// The fewest lines that suffice for all but [`COLD_SHARE`] of the look-ups; or all, if all are asked for alike.
    pub hot: LineCount,
    /// The others: as many as they would be if each were asked for alike. So the sixty thousand lines of a default route, which gets one packet in a thousand,
    /// are few among the others.
    pub cold: LineCount,
}

/// Counts prefixes.
pub struct Counter {
    /// Bits of a key.
    width: u32,
    prefixes: u64,
    /// For each piece of the array, the parts of prefixes that it has. None before the first prefix.
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
        Counter { width, prefixes: 0, pieces: Vec::new() }
    }

    /// Counts a prefix of so many bits; `value` is as wide as the key.
    pub fn add(&mut self, value: u32, bits: u32) {
        let index_bits = self.width.min(BITS);
        self.pieces.resize((1usize << index_bits).div_ceil(PIECE as usize), 0.0);
        let first = (value >> (self.width - index_bits)) / PIECE;
        // Pieces that it covers, as a number of bits.
        let span_bits = (index_bits - bits.min(index_bits)).saturating_sub(PIECE.ilog2());
        let count = 1usize << span_bits;
        let first = first as usize / count * count;
        let coverage = self.pieces.iter_mut().skip(first).take(count);
        coverage.for_each(|piece| *piece += 1.0 / count as f32);
        self.prefixes += 1;
    }

    /// What a table's entries cover, for elements of 1, 2 and 4 bytes, if as many prefixes were counted.
    pub fn coverage(&self, entries: u64) -> Option<[Coverage; 3]> {
        (entries > 0 && self.prefixes == entries).then(|| [1u64, 2, 4].map(|bytes| self.coverage_in(bytes)))
    }

    fn coverage_in(&self, element_bytes: u64) -> Coverage {
        let pieces = (LINE_BYTES / element_bytes / u64::from(PIECE)) as usize;
        coverage(self.pieces.chunks(pieces).map(|pieces| pieces.iter().sum()))
    }
}

/// By lines in order, with the prefixes of each.
fn coverage(prefixes: impl Iterator<Item = f32>) -> Coverage {
    let lines = prefixes.map(f64::from).zip(0..);
    let mut lines: Vec<(f64, u64)> = lines.filter(|(prefixes, _)| *prefixes > 0.0).collect();
    lines.sort_unstable_by(|(one, at), (other, cold_pages)| other.total_cmp(one).then(at.cmp(cold_pages)));
    let all: f64 = lines.iter().map(|(prefixes, _)| prefixes).sum();
    let mut left = all;
    let hot = lines.iter().take_while(|(prefixes, _)| {
        let is_hot = left > all * COLD_SHARE;
        left -= prefixes;
        is_hot
    });
    let (hot, cold) = lines.split_at(hot.count());
    let pages = pages_of(hot, &HashSet::new());
    let cold_pages = pages_of(cold, &pages.keys().copied().collect());
    let counted = Coverage {
        hot: LineCount { lines: hot.len() as u64, pages: pages.len() as u64 },
        cold: LineCount {
            lines: effective_count(cold.iter().map(|(one, _)| *one)),
            pages: effective_count(cold_pages.values().copied()),
        },
    };
    let rate = |part: f64, lines: u64| part / lines.max(1) as f64;
    if counted.cold.lines > 0
        && rate(COLD_SHARE, counted.cold.lines) < UNIFORM * rate(1.0 - COLD_SHARE, counted.hot.lines)
    {
        return counted;
    }
    let pages = pages_of(&lines, &HashSet::new()).len() as u64;
    Coverage { hot: LineCount { lines: lines.len() as u64, pages }, cold: LineCount::default() }
}

/// Small pages of these lines, with the prefixes of each, but for some.
fn pages_of(lines: &[(f64, u64)], but: &HashSet<u64>) -> HashMap<u64, f64> {
    let mut pages = HashMap::new();
    for (prefixes, line) in lines {
        let page = line / (SMALL_PAGE / LINE_BYTES);
        if !but.contains(&page) {
            *pages.entry(page).or_default() += prefixes;
        }
    }
    pages
}

/// How many would be asked for alike, of which each is asked for so often: two of the same draw are as seldom then.
fn effective_count(weights: impl Iterator<Item = f64>) -> u64 {
    let (sum, squares) = weights.fold((0.0, 0.0), |(sum, squares), one| (sum + one, squares + one * one));
    if squares > 0.0 { (sum * sum / squares).round() as u64 } else { 0 }
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
        let coverage = counter.coverage(64).expect("all were counted");
        assert_eq!(coverage.map(|coverage| coverage.hot.lines + coverage.cold.lines), [1, 2, 4]);
        assert_eq!(counter.coverage(65), None);
    }

    #[test]
    fn lines_that_few_ask_for_are_told_from_others() {
        let mut counter = Counter::new(32);
        // Two hundred prefixes for each of ten lines, on pages of their own, and one for each of 200 on one page and three.
        for line in 0..10u32 {
            (0..200).for_each(|_| counter.add(line << 24, 24));
        }
        (0..200).for_each(|line| counter.add(0x8000_0000 | line << 14, 24));
        let bytes = counter.coverage_in(1);
        assert_eq!(bytes.hot, LineCount { lines: 10, pages: 10 });
        assert_eq!(bytes.cold, LineCount { lines: 200, pages: 3 });
    }

    #[test]
    fn lines_of_a_short_prefix_that_few_ask_for_are_few() {
        let mut counter = Counter::new(32);
        counter.add(0x1234_5678, 0);
        for line in 0..10u32 {
            (0..200).for_each(|_| counter.add(line << 24, 24));
        }
        (0..199).for_each(|line| counter.add(0x8000_0000 | line << 14, 24));
        // One packet in two thousand goes to one of 262,144 lines.
        let cold = counter.coverage_in(1).cold;
        assert!((199..204).contains(&cold.lines), "{cold:?}");
    }

    #[test]
    fn a_page_of_lines_that_more_ask_for_is_theirs() {
        let mut counter = Counter::new(32);
        (0..2000).for_each(|_| counter.add(0x0a00_0000, 24));
        (1..33).chain(64..96).for_each(|line| counter.add(0x0a00_0000 | line << 14, 24));
        // Of 64 rare lines, half share a page with the one that most ask for.
        let bytes = counter.coverage_in(1);
        assert_eq!((bytes.hot.pages, bytes.cold), (1, LineCount { lines: 64, pages: 1 }));
    }

    #[test]
    fn of_an_even_table_no_lines_are_rare() {
        let mut counter = Counter::new(16);
        (0..1u32 << 16).for_each(|value| counter.add(value, 16));
        assert_eq!(
            counter.coverage_in(4),
            Coverage { hot: LineCount { lines: 4096, pages: 64 }, cold: LineCount::default() }
        );
    }

    #[test]
    fn the_shortest_prefix_covers_all() {
        let mut counter = Counter::new(32);
        counter.add(0x1234_5678, 0);
        assert_eq!(counter.coverage_in(1).hot, LineCount { lines: 1 << 18, pages: 1 << 12 });
    }

    #[test]
    fn a_table_without_entries_covers_nothing_that_is_known() {
        assert_eq!(Counter::new(32).coverage(0), None);
    }
}
