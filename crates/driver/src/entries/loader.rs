//! Writes entries by the million, many at once, in the table and in the store: no big integers, but the bytes that the store packs.

use control::store::packed;
use control::{DataPlane, Refusal, Store};
use hlir::TableId;
use native::{Chunk, NativeEngine, Replay, translate};
use runtime::pipeline::{self, MatchKind};
use runtime::{Table, TableError, memory_limit};
use std::sync::Arc;

/// Entries between two looks at the memory of the process.
const TOGETHER: usize = 256;

/// An entry that is being put together, as the store packs it.
#[derive(Default)]
struct Pending {
    key: Vec<u8>,
    /// Of the action.
    data: Vec<u8>,
}

/// Entries that are being put together for one table.
pub struct Loader<'e> {
    table: Arc<Table>,
    store: &'e mut Store,
    id: TableId,
    /// Those before `filled` are complete.
    pending: Vec<Pending>,
    filled: usize,
    /// The same as the table has them.
    chunk: Chunk,
    /// How many the table has taken.
    inserted: u64,
    /// Entries until the memory of the process is looked at.
    until_checked: usize,
    /// The action's number in the program, and in the pipeline.
    action: (u32, usize),
}

impl<'e> Loader<'e> {
    /// `None` for a table that was optimized away: its entries have no effect.
    pub fn new<L: Replay>(engine: &'e mut NativeEngine<'_, L>, id: TableId) -> Option<Loader<'e>> {
        let number = engine.table_number(id)?;
        let table = engine.switch().tables()[number].clone();
        engine.set_table_clock(id, number);
        Some(Loader {
            pending: vec![Pending::default()],
            chunk: Chunk::new(table.description()),
            store: engine.store_mut(),
            table,
            id,
            filled: 0,
            inserted: 0,
            until_checked: 0,
            action: (0, 0),
        })
    }

    pub fn description(&self) -> &pipeline::Table {
        self.table.description()
    }

    /// Makes room for so many entries.
    pub fn reserve(&mut self, entries: u64) -> Result<(), TableError> {
        self.table.reserve(entries)?;
        self.store.reserve(self.id, entries as usize);
        Ok(())
    }

    /// Begins an entry.
    pub fn clear(&mut self) {
        let Pending { key, data } = &mut self.pending[self.filled];
        key.clear();
        key.extend([0; packed::PRIORITY_BYTES]);
        data.clear();
    }

    /// Of tables whose entries have priorities.
    pub fn set_priority(&mut self, priority: u32) {
        self.pending[self.filled].key[..packed::PRIORITY_BYTES].copy_from_slice(&priority.to_le_bytes());
    }

    /// What the next field is compared with; bytes with the lowest first, and no more of them than the field has.
    pub fn add_field(&mut self, kind: MatchKind, value: &[u8], mask: &[u8], high: &[u8]) {
        let key = &mut self.pending[self.filled].key;
        key.extend_from_slice(value);
        match kind {
            MatchKind::Exact => {}
            MatchKind::Range => key.extend_from_slice(high),
            MatchKind::Lpm | MatchKind::Ternary | MatchKind::Optional => key.extend_from_slice(mask),
        }
    }

    /// The action that entries have from now on. Gives its parameters, as controllers know them: where records have a
    /// place of a value join behind these, entries come without one.
    pub fn set_action(&mut self, name: &str) -> Result<Vec<pipeline::Parameter>, Refusal> {
        let table = self.table.description();
        let number = translate::action_number(table, name)?;
        let declared = &self.store.program().tables[self.id].actions;
        let action = declared.iter().position(|action| action.name == name);
        let unknown = || Refusal::wrong(format!("table `{}` has no action `{name}`", table.name));
        let action = action.ok_or_else(unknown)?;
        self.action = (action as u32, number);
        Ok(table.actions[number].parameters.iter().take(declared[action].parameters.len()).cloned().collect())
    }

    /// The action's next parameter, lowest byte first.
    pub fn add_parameter(&mut self, parameter: &pipeline::Parameter, bytes: &[u8]) {
        let data = &mut self.pending[self.filled].data;
        let end = data.len() + packed::bytes_of(parameter.width);
        data.extend(bytes);
        data.resize(end, 0);
    }

    /// Inserts the entry.
    pub fn insert(&mut self) -> Result<(), TableError> {
        self.push()?;
        self.flush()
    }

    /// Inserts the entry, now or together with later ones.
    pub fn push(&mut self) -> Result<(), TableError> {
        let Pending { key, data } = &self.pending[self.filled];
        let is_full = self.chunk.add(self.table.description(), key, (self.action.1, data));
        self.filled += 1;
        if self.pending.len() == self.filled {
            self.pending.push(Pending::default());
        }
        if is_full { self.flush() } else { Ok(()) }
    }

    /// Inserts what was pushed, in its order, until one is refused.
    pub fn flush(&mut self) -> Result<(), TableError> {
        self.until_checked = self.until_checked.saturating_sub(self.filled);
        if self.until_checked == 0 {
            self.until_checked = TOGETHER;
            if !memory_limit::has_room() {
                return Err(TableError::NoMemory);
            }
        }
        let pending = &self.pending[..std::mem::take(&mut self.filled)];
        let (inserted, outcome) = self.chunk.insert(&self.table);
        for Pending { key, data } in &pending[..inserted] {
            self.store.keep_packed(self.id, key, (self.action.0, data));
        }
        self.inserted += inserted as u64;
        outcome
    }

    /// How many the table has.
    pub fn entries(&self) -> u64 {
        self.table.len()
    }

    /// How many the table has taken.
    pub fn inserted(&self) -> u64 {
        self.inserted
    }
}

/// A mask of `prefix` ones above zeros within `width` bits, at most 64.
pub fn short_prefix_mask(prefix: u32, width: u32) -> u64 {
    let ones = |count: u32| u64::MAX.checked_shr(64 - count).unwrap_or(0);
    ones(width) ^ ones(width - prefix)
}

/// A mask of `prefix` ones above zeros, `width` bits, lowest byte first.
pub fn prefix_mask(prefix: u32, width: u32) -> Vec<u8> {
    (0..width.div_ceil(8))
        .map(|at| {
            let ones = |bit: &u32| 8 * at + bit < width && 8 * at + bit >= width - prefix;
            (0..8).filter(ones).fold(0u8, |byte, bit| byte | 1 << bit)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prefixes_are_masks_from_the_top() {
        assert_eq!(prefix_mask(24, 32), [0, 0xff, 0xff, 0xff]);
        assert_eq!(prefix_mask(3, 9), [0xc0, 1]);
        assert_eq!(prefix_mask(0, 16), [0, 0]);
    }

    #[test]
    fn masks_of_words_are_what_their_bytes_are() {
        for width in 1..=64 {
            for prefix in 0..=width {
                let mask = short_prefix_mask(prefix, width).to_le_bytes();
                assert_eq!(mask[..width.div_ceil(8) as usize], prefix_mask(prefix, width));
            }
        }
    }
}
