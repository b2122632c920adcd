//! Writes entries by the million: no big integers, nothing but bits put in place, many at once, in the table and in the store.

use control::{DataPlane, Refusal, Store};
use hlir::TableId;
use native::translate::{deposit, has_priorities};
use native::{NativeEngine, Replay};
use runtime::pipeline::{self, MatchKind};
use runtime::tables::Match;
use runtime::{Table, TableError, memory_limit};
use std::sync::Arc;

/// Entries that the table takes together.
const TOGETHER: usize = 256;

/// An entry that is being put together.
struct Pending {
    entry: Match,
    /// The keys and the action's data, as the store packs them.
    key: Vec<u8>,
    data: Vec<u8>,
}

/// Entries that are being put together for one table.
pub struct Loader<'e> {
    table: Arc<Table>,
    store: &'e mut Store,
    id: TableId,
    /// Those before `filled` are complete. Their records are one behind the other.
    pending: Vec<Pending>,
    records: Vec<u8>,
    filled: usize,
    /// How many the table has taken.
    inserted: u64,
    /// Entries until the memory of the process is looked at.
    until_checked: usize,
    /// The action's number in the program.
    action: u32,
    has_priorities: bool,
    /// Whether priorities are made of prefix lengths.
    prefixes_rank: bool,
}

impl<'e> Loader<'e> {
    /// `None` for a table that was optimized away: its entries have no effect.
    pub fn new<L: Replay>(engine: &'e mut NativeEngine<'_, L>, id: TableId) -> Option<Loader<'e>> {
        let number = engine.table_number(id)?;
        let table = engine.switch().tables()[number].clone();
        let description = table.description();
        let limbs = description.key_limbs as usize;
        let has_lpm = description.fields.iter().any(|field| field.kind == MatchKind::Lpm);
        let has_priorities = has_priorities(description);
        let prefixes_rank = description.structure.is_prioritised() && has_lpm && !has_priorities;
        let zero = || vec![0; limbs];
        let entry = || Match { value: zero(), mask: zero(), high: zero(), priority: 0 };
        let pending = (0..TOGETHER).map(|_| Pending { entry: entry(), key: Vec::new(), data: Vec::new() }).collect();
        let records = vec![0; TOGETHER * description.record_bytes as usize];
        let (store, filled, inserted, until_checked, action) = (engine.store_mut(), 0, 0, 0, 0);
        Some(Loader {
            table,
            store,
            id,
            pending,
            records,
            filled,
            inserted,
            until_checked,
            action,
            has_priorities,
            prefixes_rank,
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
        let Pending { entry, key, data } = &mut self.pending[self.filled];
        entry.value.fill(0);
        entry.mask.fill(0);
        entry.high.fill(0);
        entry.priority = 0;
        key.clear();
        data.clear();
    }

    pub fn set_priority(&mut self, priority: u32) {
        self.pending[self.filled].entry.priority = priority;
    }

    /// What field number `field` is compared with; bytes with the lowest first.
    pub fn set_field(&mut self, field: usize, value: &[u8], mask: &[u8], high: &[u8]) {
        let field = &self.table.description().fields[field];
        let Pending { entry, key, .. } = &mut self.pending[self.filled];
        deposit(&mut entry.value, field.shift, field.width, value);
        deposit(&mut entry.mask, field.shift, field.width, mask);
        deposit(&mut entry.high, field.shift, field.width, high);
        match field.kind {
            MatchKind::Exact => key.extend(value),
            MatchKind::Range => key.extend(value.iter().chain(high)),
            MatchKind::Lpm | MatchKind::Ternary | MatchKind::Optional => key.extend(value.iter().chain(mask)),
        }
        if self.prefixes_rank {
            entry.priority += mask.iter().map(|byte| byte.count_ones()).sum::<u32>();
        }
    }

    /// The same for a field of at most 64 bits.
    pub fn set_short_field(&mut self, field: usize, value: u64, mask: u64, high: u64) {
        let field = &self.table.description().fields[field];
        let Pending { entry, key, .. } = &mut self.pending[self.filled];
        deposit_word(&mut entry.value, field.shift, value);
        deposit_word(&mut entry.mask, field.shift, mask);
        deposit_word(&mut entry.high, field.shift, high);
        let size = field.width.div_ceil(8) as usize;
        let second = match field.kind {
            MatchKind::Exact => None,
            MatchKind::Range => Some(high),
            MatchKind::Lpm | MatchKind::Ternary | MatchKind::Optional => Some(mask),
        };
        key.extend_from_slice(&value.to_le_bytes()[..size]);
        second.iter().for_each(|second| key.extend_from_slice(&second.to_le_bytes()[..size]));
        if self.prefixes_rank {
            entry.priority += mask.count_ones();
        }
    }

    /// The action that entries have from now on. Gives its parameters, as controllers know them: where records have a
    /// place of a value join behind these, entries come without one.
    pub fn set_action(&mut self, name: &str) -> Result<Vec<pipeline::Parameter>, Refusal> {
        let table = self.table.description();
        let number = table.actions.iter().position(|action| action.name == name);
        let unknown = || Refusal::wrong(format!("table `{}` has no action `{name}`", table.name));
        let declared = &self.store.program().tables[self.id].actions;
        let action = declared.iter().position(|action| action.name == name);
        let (number, action) = number.zip(action).ok_or_else(unknown)?;
        let count = declared[action].parameters.len();
        self.action = action as u32;
        self.records.fill(0);
        for record in self.records.chunks_exact_mut(table.record_bytes as usize) {
            record[..4].copy_from_slice(&(number as u32).to_le_bytes());
        }
        Ok(table.actions[number].parameters.iter().take(count).cloned().collect())
    }

    /// A parameter of the action, lowest byte first.
    pub fn set_parameter(&mut self, parameter: &pipeline::Parameter, bytes: &[u8]) {
        let size = self.table.description().record_bytes as usize;
        parameter.put(&mut self.records[self.filled * size..][..size], bytes);
        let data = &mut self.pending[self.filled].data;
        let end = data.len() + parameter.width.div_ceil(8) as usize;
        data.extend(bytes);
        data.resize(end, 0);
    }

    /// Inserts the entry.
    pub fn insert(&mut self) -> Result<(), TableError> {
        self.filled += 1;
        self.flush()
    }

    /// Inserts the entry, now or together with later ones.
    pub fn push(&mut self) -> Result<(), TableError> {
        self.filled += 1;
        if self.filled == TOGETHER { self.flush() } else { Ok(()) }
    }

    /// Inserts what was pushed, in its order, until one is refused.
    pub fn flush(&mut self) -> Result<(), TableError> {
        let pending = &self.pending[..std::mem::take(&mut self.filled)];
        self.until_checked = self.until_checked.saturating_sub(pending.len());
        if self.until_checked == 0 {
            self.until_checked = TOGETHER;
            if !memory_limit::has_room() {
                return Err(TableError::NoMemory);
            }
        }
        let records = &self.records[..pending.len() * self.table.description().record_bytes as usize];
        let (inserted, outcome) = self.table.insert_all(pending.iter().map(|pending| &pending.entry), records);
        for Pending { entry, key, data } in &pending[..inserted] {
            let priority = if self.has_priorities { entry.priority } else { 0 };
            self.store.keep_packed(self.id, priority, key, (self.action, data));
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

/// Adds a number to limbs, from bit `shift` on.
fn deposit_word(limbs: &mut [u64], shift: u32, word: u64) {
    let (limb, bit) = ((shift / 64) as usize, shift % 64);
    limbs[limb] |= word << bit;
    if bit != 0 && word >> (64 - bit) != 0 {
        limbs[limb + 1] |= word >> (64 - bit);
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
    fn bits_are_put_in_place_over_limbs() {
        let mut limbs = vec![0, 0];
        deposit(&mut limbs, 60, 12, &[0xff, 0xff]);
        assert_eq!(limbs, [0xf000_0000_0000_0000, 0xff]);
        deposit(&mut limbs, 0, 9, &[0x01, 0xff]);
        assert_eq!(limbs[0] & 0xffff, 0x101);
    }

    #[test]
    fn prefixes_are_masks_from_the_top() {
        assert_eq!(prefix_mask(24, 32), [0, 0xff, 0xff, 0xff]);
        assert_eq!(prefix_mask(3, 9), [0xc0, 1]);
        assert_eq!(prefix_mask(0, 16), [0, 0]);
    }

    #[test]
    fn words_are_what_their_bytes_are() {
        for width in 1..=64 {
            let value = 0xfedc_ba98_7654_3210 & short_prefix_mask(width, width);
            for shift in [0, 1, 17, 63, 64, 70] {
                let (mut bytewise, mut wordwise) = ([0; 3], [0; 3]);
                deposit(&mut bytewise, shift, width, &value.to_le_bytes());
                deposit_word(&mut wordwise, shift, value);
                assert_eq!(bytewise, wordwise, "{width} bits at {shift}");
            }
            for prefix in 0..=width {
                let mask = short_prefix_mask(prefix, width).to_le_bytes();
                assert_eq!(mask[..width.div_ceil(8) as usize], prefix_mask(prefix, width));
            }
        }
    }
}
