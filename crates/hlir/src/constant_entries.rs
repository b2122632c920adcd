//! Constant entries that lookups compare in code, instead of in memory: which tables have them, and in which order
//! they match.

use crate::entry::EntryAction;
use crate::{Entry, Match, MatchKind, Program, TableId};
use std::collections::HashSet;

/// Entries at most: a lookup compares the key with each.
pub const MOST: usize = 16;

/// Why the entries of a table, with keys of these kinds and widths, cannot be compared in code.
pub fn refusal(program: &Program, id: TableId, keys: &[(MatchKind, u32)]) -> Option<&'static str> {
    let table = &program.tables[id];
    let mut known = HashSet::new();
    let mut is_new = |entry: &Entry| known.insert((entry.priority, entry.matches.clone()));
    let is_call = |entry: &Entry| matches!(entry.action, EntryAction::Call(_));
    if !table.entries_constant || table.entries.is_empty() || keys.is_empty() {
        Some("entries that are constant")
    } else if table.entries.len() > MOST {
        Some("at most 16 entries")
    } else if !table.default_constant {
        Some("a default action that is constant")
    } else if program.has_own_records(id) {
        Some("entries without direct counters, direct meters and idle timeouts")
    } else if program.places_in(id).is_some() {
        Some("entries without places of a value join")
    } else if table.profile.is_some() || table.add_on_miss || !table.entries.iter().all(is_call) {
        Some("entries with actions of their own, and none that packets insert")
    } else if keys.iter().any(|(kind, width)| *kind == MatchKind::Range && *width > 64) {
        Some("ranges of at most 64 bits")
    } else if !table.entries.iter().all(&mut is_new) {
        Some("no two entries with the same key")
    } else {
        None
    }
}

/// The entries by number, those that win before others.
pub fn in_order(program: &Program, id: TableId) -> Vec<usize> {
    let table = &program.tables[id];
    let widths = program.key_kinds(id);
    let length = |(key, (_, width)): (&Match, &(MatchKind, u32))| match key {
        Match::Exact(_) => *width,
        Match::Lpm { prefix, .. } => *prefix,
        Match::Ternary { .. } | Match::Range { .. } | Match::Any => 0,
    };
    let rank = |at: &usize| {
        let entry = &table.entries[*at];
        let longest = entry.matches.iter().zip(&widths).map(length).sum();
        std::cmp::Reverse(if table.has_priorities() { entry.priority } else { longest })
    };
    let mut order: Vec<usize> = (0..table.entries.len()).collect();
    // Stable: of equals the first one wins.
    order.sort_by_key(rank);
    order
}
