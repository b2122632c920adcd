//! Puts another compilation of the same program in the place of the one that runs.
//!
//! Tables that are equal in both stay as they are. The others are filled from the books before the first packet comes: what the control plane has written
//! outlives every choice of structure, layout and pass. Entries that packets inserted themselves stand in no book and stay only in equal tables.

use super::{NativeEngine, index};
use hlir::{Entry, Program, TableId};
use interp::engine::Refusal;
use runtime::{Counts, Lane, Pipeline};
use std::sync::Arc;

impl<'p, L: Lane> NativeEngine<'p, L> {
    /// `compiled` is the program as `pipeline` has it. Packets wait at the ports meanwhile. For who plans a running switch anew.
    pub fn exchange(&mut self, compiled: &'p Program, pipeline: Arc<Pipeline>) -> Result<(), Refusal> {
        let was_started = self.switch.is_started();
        self.switch.stop();
        let mut fresh = Vec::new();
        let exchanged = self.switch.exchange(pipeline.clone(), |_, numbers| fresh = numbers.to_vec());
        exchanged.map_err(|error| Refusal::wrong(error.to_string()))?;
        (self.compiled, self.pipeline) = (compiled, pipeline);
        // Edges and tables of another compilation have other numbers.
        self.counted = Counts::default();
        self.begin_aging();
        for (id, table) in self.program.tables.iter() {
            let Some(number) = self.table_number(id).filter(|number| fresh.contains(number)) else { continue };
            let default = self.defaults.get(&index(id)).unwrap_or(&table.default).clone();
            self.write_default(id, &default)?;
            self.write_groups(number, id)?;
            self.rewrite(number, id)?;
        }
        if was_started {
            self.switch.start();
        }
        Ok(())
    }

    /// Leaves a table with what its book has.
    pub(super) fn rewrite(&mut self, number: usize, table: TableId) -> Result<(), Refusal> {
        self.switch.tables()[number].clear();
        let entries: Vec<Entry> = self.entries[index(table)].entries().cloned().collect();
        entries.iter().try_for_each(|entry| self.write_entry(number, table, entry))
    }
}
