//! Entries that win before all others of their table, whatever else it holds.
//!
//! Code compares the key with some entries before the lookup. That is right as long as no other entry wins for what one of them
//! matches. In a table of exact keys none does. Elsewhere each written entry is compared with these few, so the
//! decision takes as long for any table.

use super::{Mask, lowest, mask, ones};
use hlir::{Entry, Match, MatchKind, Program, TableId};
use num_bigint::BigUint;

/// Kinds and widths of a table's keys, and what its entries are ordered by.
pub(crate) struct Order {
    keys: Vec<(MatchKind, u32)>,
    has_priorities: bool,
}

impl Order {
    pub fn of(program: &Program, table: TableId) -> Order {
        Order { keys: program.key_kinds(table), has_priorities: program.tables[table].has_priorities() }
    }

    /// Whether two entries never match the same, unless their matches are the same.
    pub fn is_exact(&self) -> bool {
        self.keys.iter().all(|(kind, _)| *kind == MatchKind::Exact)
    }

    /// The entry with the larger one wins: the priority, or the length of prefixes.
    pub fn rank(&self, entry: &Entry) -> u32 {
        let length = |found: &Match| match found {
            Match::Lpm { prefix, .. } => *prefix,
            Match::Exact(_) | Match::Ternary { .. } | Match::Range { .. } | Match::Any => 0,
        };
        match self.has_priorities {
            true => entry.priority,
            false => entry.matches.iter().map(length).sum(),
        }
    }

    /// Whether an entry may win where another one matches.
    pub fn may_win_over(&self, entry: &Entry, other: &Entry) -> bool {
        self.rank(entry) >= self.rank(other) && self.overlap(entry, other)
    }

    /// Whether a packet may match both.
    fn overlap(&self, one: &Entry, other: &Entry) -> bool {
        let matches = one.matches.iter().zip(&other.matches);
        matches.zip(&self.keys).all(|((one, other), key)| overlap(one, other, *key))
    }
}

/// Whether a value of the key may match both. Of a range and a mask of some bits, it may.
fn overlap(one: &Match, other: &Match, key: (MatchKind, u32)) -> bool {
    let value = |found: &Match| lowest(found).cloned().unwrap_or_default();
    match (mask(one, key), mask(other, key)) {
        (Mask::Bits(these), Mask::Bits(those)) => (value(one) ^ value(other)) & these & those == BigUint::ZERO,
        (Mask::Range(low, high), Mask::Range(from, to)) => low <= to && from <= high,
        (Mask::Range(low, high), Mask::Bits(bits)) => bits != ones(key.1) || is_between(&value(other), &low, &high),
        (Mask::Bits(bits), Mask::Range(low, high)) => bits != ones(key.1) || is_between(&value(one), &low, &high),
    }
}

fn is_between(value: &BigUint, low: &BigUint, high: &BigUint) -> bool {
    low <= value && value <= high
}
