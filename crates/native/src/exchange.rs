//! Puts another compilation of the same program in the place of the one that runs.
//!
//! Tables that are equal in both stay as they are. The others are filled from the store before the first packet comes: what a controller has written
//! outlives every choice of structure, layout and pass. The store has no entries that packets inserted: these stay only in equal tables.

use super::NativeEngine;
use control::Refusal;
use hlir::{Program, TableId};

use runtime::{Counts, Lane, Pipeline, SwitchError};
use std::sync::Arc;

impl<L: Lane> NativeEngine<'_, L> {
    /// `compiled` is the program as `pipeline` has it. Packets flow meanwhile.
    pub fn exchange(&mut self, compiled: &Program, pipeline: Arc<Pipeline>) -> Result<(), Refusal> {
        let refused = |error: SwitchError| Refusal::wrong(error.to_string());
        let fresh = self.switch.prepare(pipeline.clone()).map_err(refused)?;
        let old_program = std::mem::replace(&mut self.compiled, Arc::new(compiled.clone()));
        let old_pipeline = std::mem::replace(&mut self.pipeline, pipeline);
        let exchanged = self.fill(&fresh).and_then(|()| self.switch.change_over().map_err(refused));
        if exchanged.is_err() {
            self.switch.give_up();
            (self.compiled, self.pipeline) = (old_program, old_pipeline);
            return exchanged;
        }
        // Edges and tables of another compilation have other numbers.
        self.counted = Counts::default();
        Ok(())
    }

    /// Fills tables of the pipeline that was prepared.
    fn fill(&self, fresh: &[usize]) -> Result<(), Refusal> {
        self.begin_aging();
        for (id, _) in self.program.tables.iter() {
            let Some(number) = self.table_number(id).filter(|number| fresh.contains(number)) else { continue };
            self.write_default(id, self.store.default_action(id))?;
            self.write_groups(number, id)?;
            self.rewrite(number, id)?;
        }
        Ok(())
    }

    /// Leaves a table with what the store has.
    pub(super) fn rewrite(&self, number: usize, table: TableId) -> Result<(), Refusal> {
        self.switch.tables()[number].clear();
        self.store.entries(table).try_for_each(|stored| self.write_entry(number, table, &stored.entry))
    }
}
