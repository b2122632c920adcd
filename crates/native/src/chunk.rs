//! Entries that a table takes together, as the store packs them: for those by the million.

use crate::translate;
use runtime::tables::Match;
use runtime::{Table, TableError, pipeline};

/// Entries of a chunk.
const TOGETHER: usize = 256;

/// See the module.
pub struct Chunk {
    entries: Vec<Match>,
    /// One behind the other.
    records: Vec<u8>,
    filled: usize,
}

impl Chunk {
    /// For a table of this form.
    pub fn new(table: &pipeline::Table) -> Chunk {
        Chunk {
            entries: (0..TOGETHER).map(|_| translate::empty_match(table)).collect(),
            records: vec![0; TOGETHER * table.record_bytes as usize],
            filled: 0,
        }
    }

    /// Adds an entry with the pipeline's number of its action, and gives whether the chunk is full.
    pub fn add(&mut self, table: &pipeline::Table, key: &[u8], (action, data): (usize, &[u8])) -> bool {
        let size = table.record_bytes as usize;
        translate::put_key(table, key, &mut self.entries[self.filled]);
        translate::put_record(table, action, data, &mut self.records[self.filled * size..][..size]);
        self.filled += 1;
        self.filled == TOGETHER
    }

    /// Inserts what was added, in its order, until one is refused. Gives how many were taken.
    pub fn insert(&mut self, table: &Table) -> (usize, Result<(), TableError>) {
        let filled = std::mem::take(&mut self.filled);
        let records = &self.records[..filled * table.description().record_bytes as usize];
        table.insert_all(self.entries.iter().take(filled), records)
    }
}
