//! Which lines of a DIR-24-8 array the prefixes of a table cover, and how evenly.
//!
//! The array has an element for the first 24 bits of every address. Prefixes are dense in parts of the
//! address space, and a short one covers as much as thousands of long ones. With uniform traffic over
//! prefixes, nine of ten lookups touch a fifth of the covered lines (counted in a routing table of 2015). So
//! the lines are split into a hot and a cold part.

use crate::model::cache_line::{LINE_BYTES, SMALL_PAGE};
use hlir::{MatchKind, Program, TableId};
use std::collections::{HashMap, HashSet};

/// Address bits that index the array.
const BITS: u32 = 24;
/// Elements per piece, the unit in which prefixes are counted: a line of the widest elements (4 bytes).
const PIECE: u32 = 16;
/// Share of the lookups that touch a cold line.
pub const COLD_SHARE: f64 = 0.1;
/// The split is dropped where a cold line is touched at least this fraction as often as a hot one.
const UNIFORM: f64 = 0.25;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct LineCount {
    pub lines: u64,
    /// Small pages of these lines; pages with a hot line count as hot.
    pub pages: u64,
}

/// Lines that lookups touch if each prefix gets the same traffic.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct Coverage {
    /// The fewest lines that serve all but [`COLD_SHARE`] of the lookups; all lines if they are touched
    /// evenly.
    pub hot: LineCount,
    /// The other lines, as an effective count: as many as there would be if each were touched equally often.
    /// The 60,000 lines of a default route with one packet in a thousand hardly count.
    pub cold: LineCount,
}

/// Counts the prefixes of a table.
pub struct Counter {
    /// Bits of a key.
    width: u32,
    prefixes: u64,
    /// By piece of the array: the fractions of prefixes that it has. Empty before the first prefix.
    pieces: Vec<f32>,
}

impl Counter {
    /// For a table with a single LPM key that DIR-24-8 can hold.
    pub fn of(program: &Program, table: TableId) -> Option<Counter> {
        match program.key_kinds(table)[..] {
            [(MatchKind::Lpm, width @ 1..=32)] => Some(Counter::new(width)),
            _ => None,
        }
    }

    fn new(width: u32) -> Counter {
        Counter { width, prefixes: 0, pieces: Vec::new() }
    }

    /// Counts a prefix of `bits` bits. `value` is as wide as the key.
    pub fn add(&mut self, value: u32, bits: u32) {
        let index_bits = self.width.min(BITS);
        self.pieces.resize((1usize << index_bits).div_ceil(PIECE as usize), 0.0);
        let first = (value >> (self.width - index_bits)) / PIECE;
        // log2 of the pieces that the prefix covers.
        let span_bits = (index_bits - bits.min(index_bits)).saturating_sub(PIECE.ilog2());
        let count = 1usize << span_bits;
        let first = first as usize / count * count;
        let coverage = self.pieces.iter_mut().skip(first).take(count);
        coverage.for_each(|piece| *piece += 1.0 / count as f32);
        self.prefixes += 1;
    }

    /// The coverage for elements of 1, 2 and 4 bytes, if all of the table's entries were counted.
    pub fn coverage(&self, entries: u64) -> Option<[Coverage; 3]> {
        (entries > 0 && self.prefixes == entries).then(|| [1u64, 2, 4].map(|bytes| self.coverage_in(bytes)))
    }

    fn coverage_in(&self, element_bytes: u64) -> Coverage {
        let pieces = (LINE_BYTES / element_bytes / u64::from(PIECE)) as usize;
        coverage(self.pieces.chunks(pieces).map(|pieces| pieces.iter().sum()))
    }
}

/// Coverage of lines in order, given the prefixes of each.
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

/// Small pages of these lines with the prefixes of each, without the pages in `but`.
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

/// The effective number of equally weighted items: (Σ w)² / Σ w². Two draws coincide as rarely as with that
/// many items.
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
    fn cold_lines_are_separated_from_hot_ones() {
        let mut counter = Counter::new(32);
        // Two hundred prefixes for each of ten lines, on pages of their own, and one for each of 200 lines on
        // four pages.
        for line in 0..10u32 {
            (0..200).for_each(|_| counter.add(line << 24, 24));
        }
        (0..200).for_each(|line| counter.add(0x8000_0000 | line << 14, 24));
        let bytes = counter.coverage_in(1);
        assert_eq!(bytes.hot, LineCount { lines: 10, pages: 10 });
        assert_eq!(bytes.cold, LineCount { lines: 200, pages: 3 });
    }

    #[test]
    fn cold_lines_of_a_short_prefix_count_little() {
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
    fn a_page_with_a_hot_line_is_hot() {
        let mut counter = Counter::new(32);
        (0..2000).for_each(|_| counter.add(0x0a00_0000, 24));
        (1..33).chain(64..96).for_each(|line| counter.add(0x0a00_0000 | line << 14, 24));
        // Of 64 cold lines, half share a page with the hottest one.
        let bytes = counter.coverage_in(1);
        assert_eq!((bytes.hot.pages, bytes.cold), (1, LineCount { lines: 64, pages: 1 }));
    }

    #[test]
    fn an_even_table_has_no_cold_lines() {
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
    fn a_table_without_entries_has_no_coverage() {
        assert_eq!(Counter::new(32).coverage(0), None);
    }
}
