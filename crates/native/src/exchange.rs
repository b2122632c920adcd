//! Puts another compilation of the same program in the place of the one that runs.
//!
//! Tables that are equal in both stay as they are. The others are filled from the store before the first packet comes: what a controller has written
//! outlives every choice of structure, layout and pass. The store has no entries that packets inserted: these stay only in equal tables.

use super::NativeEngine;
use control::Refusal;
use hlir::{Program, TableId};

use runtime::{Counts, Lane, Pipeline};
use std::sync::Arc;

impl<L: Lane> NativeEngine<'_, L> {
    /// `compiled` is the program as `pipeline` has it. Packets wait at the ports meanwhile. For who plans a running switch anew.
    pub fn exchange(&mut self, compiled: &Program, pipeline: Arc<Pipeline>) -> Result<(), Refusal> {
        let was_started = self.switch.is_started();
        self.switch.stop();
        let mut fresh = Vec::new();
        let exchanged = self.switch.exchange(pipeline.clone(), |_, numbers| fresh = numbers.to_vec());
        exchanged.map_err(|error| Refusal::wrong(error.to_string()))?;
        (self.compiled, self.pipeline) = (Arc::new(compiled.clone()), pipeline);
        // Edges and tables of another compilation have other numbers.
        self.counted = Counts::default();
        self.begin_aging();
        for (id, _) in self.program.clone().tables.iter() {
            let Some(number) = self.table_number(id).filter(|number| fresh.contains(number)) else { continue };
            let default = self.store.default_action(id).clone();
            self.write_default(id, &default)?;
            self.write_groups(number, id)?;
            self.rewrite(number, id)?;
        }
        if was_started {
            self.switch.start();
        }
        Ok(())
    }

    /// Leaves a table with what the store has.
    pub(super) fn rewrite(&self, number: usize, table: TableId) -> Result<(), Refusal> {
        self.switch.tables()[number].clear();
        self.store.entries(table).try_for_each(|stored| self.write_entry(number, table, &stored.entry))
    }
}
