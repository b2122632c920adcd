//! Counts as reports show them while packets flow: by name, of all code that has run, and never below what was reported before.

use super::{NativeEngine, Replay};
use control::DataPlane as _;

impl<L: Replay> NativeEngine<'_, L> {
    /// Drops by reason, also those of generic code while specialised code runs, which may lack the reason. In the order of the program.
    pub fn drops_by_reason(&self) -> Vec<(String, u64)> {
        self.program.drop_reasons().into_iter().zip(self.drops()).collect()
    }

    /// [`NativeEngine::table_hits`] for a reader that takes a count that falls for a new beginning. Lookups in code are differences of counts, which
    /// workers write one after the other: within a burst, a sum may be ahead of the lookups, and be right again behind it.
    pub fn reported_hits(&mut self, number: usize) -> (u64, u64) {
        let (hits, misses) = self.table_hits(number);
        let name = self.pipeline.description().tables[number].name.clone();
        let last = self.reported.entry(name).or_default();
        *last = (hits.max(last.0), misses.max(last.1));
        *last
    }
}
