//! Updates of one Write, together: new entries of one table are inserted at once, so their cache misses overlap and the table is locked once.

use super::{NativeEngine, Replay, table_refusal, translate};
use control::{DataPlane as _, Inverse, Refusal, Update};
use hlir::entry::EntryAction;
use hlir::{ActionCall, Entry, TableId};
use runtime::{TableError, WorkerPorts, tables};

/// What became of an update, as `DataPlane::write` gives it.
pub(super) type Outcome = Result<Option<Inverse>, Refusal>;

/// A new entry with an action of its own.
fn insertion(update: &Update) -> Option<(TableId, &Entry, &ActionCall)> {
    let Update::Insert { table, entry } = update else { return None };
    let EntryAction::Call(call) = &entry.action else { return None };
    Some((*table, entry, call))
}

impl<L: Replay> NativeEngine<'_, L> {
    pub(super) fn write_together(&mut self, updates: &[Update]) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(updates.len());
        let mut rest = updates;
        while let Some(first) = rest.first() {
            let count = self.together(rest);
            match insertion(first)
                .filter(|_| count > 1)
                .and_then(|(table, ..)| Some((table, self.table_number(table)?)))
            {
                Some(place) => outcomes.extend(self.insert_together(place, &rest[..count])),
                None => outcomes.push(self.write(first)),
            }
            rest = &rest[count..];
        }
        outcomes
    }
}

impl<L: WorkerPorts> NativeEngine<'_, L> {
    /// How many of the updates, from the first on, are insertions into one table; 1 where they have to be one by one. Joint tables follow each
    /// entry, and specialised code may have to be left for one.
    fn together(&self, updates: &[Update]) -> usize {
        if !self.compiled.joins.is_empty() || self.is_specialised() {
            return 1;
        }
        let table = updates.first().and_then(insertion).map(|(table, ..)| table);
        let same = |update: &&Update| table.is_some() && insertion(update).map(|(table, ..)| table) == table;
        updates.iter().take_while(same).count().max(1)
    }

    fn insert_together(&mut self, place: (TableId, usize), updates: &[Update]) -> Vec<Outcome> {
        let table = self.switch.tables()[place.1].clone();
        self.set_table_clock(place.0, place.1);
        let size = table.description().record_bytes as usize;
        let (mut entries, mut records) = (Vec::with_capacity(updates.len()), Vec::with_capacity(updates.len() * size));
        // Of those that the store accepts, the place of the outcome.
        let (mut outcomes, mut accepted) = (Vec::with_capacity(updates.len()), Vec::with_capacity(updates.len()));
        for (at, update) in updates.iter().enumerate() {
            let kept = self.keep_insertion(place, update, &mut records);
            outcomes.push(kept.map(|(inverse, entry)| {
                accepted.push(at);
                entries.push(entry);
                inverse
            }));
        }
        let mut from = 0;
        while from < accepted.len() {
            let (done, outcome) = table.insert_all(entries[from..].iter(), &records[from * size..]);
            from += done;
            let (Err(error), Some(at)) = (outcome, accepted.get(from)) else { continue };
            if let Ok(Some(inverse)) = &outcomes[*at] {
                self.store.restore(inverse);
            }
            outcomes[*at] = Err(table_refusal(&table.description().name, error));
            from += 1;
        }
        outcomes
    }

    /// Checks and keeps a new entry, and lays it out for its table.
    fn keep_insertion(
        &mut self,
        (id, number): (TableId, usize),
        update: &Update,
        records: &mut Vec<u8>,
    ) -> Result<(Option<Inverse>, tables::Match), Refusal> {
        if !self.has_memory() {
            return Err(table_refusal(&self.program.tables[id].name, TableError::NoMemory));
        }
        let inverse = self.store.apply(update)?;
        let laid_out = self.laid_out(number, update);
        if laid_out.is_err() {
            inverse.iter().for_each(|inverse| self.store.restore(inverse));
        }
        let (entry, record) = laid_out?;
        records.extend(record);
        Ok((inverse, entry))
    }

    fn laid_out(&self, number: usize, update: &Update) -> Result<(tables::Match, Vec<u8>), Refusal> {
        let (id, entry, call) = insertion(update).ok_or_else(|| Refusal::wrong("the update inserts no entry"))?;
        let description = &self.pipeline.description().tables[number];
        Ok((translate::matches(description, &entry.matches, entry.priority)?, self.record(number, id, call)?))
    }
}
