//! Entries that most packets hit, as an interpreter has counted them.

use control::Store;
use control::plane::EntryKey;
use hlir::facts::Assumption;
use interp::Switch;
use std::cmp::Reverse;

/// The share of a table's lookups at least that such an entry has, and that such entries of a table have together.
const FREQUENT: f64 = 0.2;
const TOGETHER: f64 = 0.5;
/// Lookups from which on it is known.
const LEAST_LOOKUPS: u64 = 256;

/// That those entries win before others, for each table of which few have most of the hits since [`Switch::start_counts`]. The store has
/// what the interpreter's tables hold.
pub fn leading(interpreter: &Switch, store: &Store) -> Vec<Assumption> {
    let Some(counted) = interpreter.counts() else { return Vec::new() };
    let of_table = |(table, _)| {
        let keys = frequent(interpreter.entry_hits(table).collect(), counted.lookups(table));
        Some(Assumption { table, fact: store.leading(table, &keys)? })
    };
    store.program().tables.iter().filter_map(of_table).collect()
}

/// The entries that most lookups of a table hit, the most frequent first; none where no few do.
fn frequent(mut hits: Vec<(EntryKey, u64)>, (all_hits, misses): (u64, u64)) -> Vec<EntryKey> {
    let lookups = all_hits + misses;
    let least = FREQUENT * lookups as f64;
    hits.retain(|(_, hits)| *hits as f64 >= least);
    let together: u64 = hits.iter().map(|(_, hits)| hits).sum();
    if lookups < LEAST_LOOKUPS || (together as f64) < TOGETHER * lookups as f64 {
        return Vec::new();
    }
    hits.sort_by_cached_key(|(key, hits)| (Reverse(*hits), format!("{key:?}")));
    hits.into_iter().map(|(key, _)| key).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlir::{Match, TableId};

    #[test]
    fn entries_are_frequent_with_a_fifth_each_and_half_together() {
        let table = TableId::from_raw(0.into());
        let key = |value: u32| EntryKey { table, matches: vec![Match::Exact(value.into())], priority: 0 };
        let frequent_of = |hits: &[u64], misses: u64| {
            let entries = (0u32..).zip(hits).map(|(value, hits)| (key(value), *hits)).collect();
            let found = frequent(entries, (hits.iter().sum(), misses));
            found.iter().map(|key| key.matches[0].clone()).collect::<Vec<_>>()
        };
        let values = |values: &[u32]| values.iter().map(|value| Match::Exact((*value).into())).collect::<Vec<_>>();
        assert_eq!(frequent_of(&[100, 300, 250, 350], 0), values(&[3, 1, 2]));
        assert_eq!(frequent_of(&[300, 190], 510), [], "an entry with under a fifth does not count");
        assert_eq!(frequent_of(&[300, 210], 490), values(&[0, 1]));
        assert_eq!(frequent_of(&[255], 0), [], "too few lookups");
    }
}
