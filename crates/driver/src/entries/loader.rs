//! Writes entries by the million: no big integers, nothing but bits put in place, in the table and in the store.

use control::{DataPlane, Refusal, Store};
use hlir::TableId;
use native::{NativeEngine, Replay};
use runtime::pipeline::{self, MatchKind};
use runtime::tables::Match;
use runtime::{Table, TableError};
use std::sync::Arc;

/// The entry that is being put together for one table.
pub struct Loader<'e> {
    table: Arc<Table>,
    store: &'e mut Store,
    id: TableId,
    pub entry: Match,
    pub record: Vec<u8>,
    /// The action's number in the program.
    action: u32,
    /// The keys and the action's data, as the store packs them.
    key: Vec<u8>,
    data: Vec<u8>,
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
        let entry = Match { value: zero(), mask: zero(), high: zero(), priority: 0 };
        let record = vec![0; description.record_bytes as usize];
        let (store, key, data) = (engine.store_mut(), Vec::new(), Vec::new());
        Some(Loader { table, store, id, entry, record, action: 0, key, data, has_priorities, prefixes_rank })
    }

    pub fn description(&self) -> &pipeline::Table {
        self.table.description()
    }

    pub fn reserve(&self, entries: u64) -> Result<(), TableError> {
        self.table.reserve(entries)
    }

    /// Begins an entry.
    pub fn clear(&mut self) {
        self.entry.value.fill(0);
        self.entry.mask.fill(0);
        self.entry.high.fill(0);
        self.entry.priority = 0;
        self.key.clear();
        self.data.clear();
    }

    /// What field number `field` is compared with; bytes with the lowest first.
    pub fn set_field(&mut self, field: usize, value: &[u8], mask: &[u8], high: &[u8]) {
        let field = &self.table.description().fields[field];
        deposit(&mut self.entry.value, field.shift, field.width, value);
        deposit(&mut self.entry.mask, field.shift, field.width, mask);
        deposit(&mut self.entry.high, field.shift, field.width, high);
        match field.kind {
            MatchKind::Exact => self.key.extend(value),
            MatchKind::Range => self.key.extend(value.iter().chain(high)),
            MatchKind::Lpm | MatchKind::Ternary | MatchKind::Optional => self.key.extend(value.iter().chain(mask)),
        }
        if self.prefixes_rank {
            self.entry.priority += mask.iter().map(|byte| byte.count_ones()).sum::<u32>();
        }
    }

    /// The action that entries have from now on.
    pub fn set_action(&mut self, name: &str) -> Result<usize, Refusal> {
        let table = self.table.description();
        let number = table.actions.iter().position(|action| action.name == name);
        let number = number.ok_or_else(|| Refusal::wrong(format!("table `{}` has no action `{name}`", table.name)))?;
        let mut declared = self.store.program().tables[self.id].actions.iter();
        self.action = declared.position(|action| action.name == name).unwrap_or_default() as u32;
        self.record.fill(0);
        self.record[..4].copy_from_slice(&(number as u32).to_le_bytes());
        Ok(number)
    }

    /// A parameter of the action, lowest byte first.
    pub fn set_parameter(&mut self, parameter: &pipeline::Parameter, bytes: &[u8]) {
        parameter.put(&mut self.record, bytes);
        let end = self.data.len() + parameter.width.div_ceil(8) as usize;
        self.data.extend(bytes);
        self.data.resize(end, 0);
    }

    pub fn insert(&mut self) -> Result<(), TableError> {
        self.table.insert(&self.entry, &self.record)?;
        let priority = if self.has_priorities { self.entry.priority } else { 0 };
        self.store.keep_packed(self.id, priority, &self.key, (self.action, &self.data));
        Ok(())
    }
}

fn has_priorities(table: &pipeline::Table) -> bool {
    let orders = |kind| matches!(kind, MatchKind::Ternary | MatchKind::Range | MatchKind::Optional);
    table.fields.iter().any(|field| orders(field.kind))
}

/// Adds the low `width` bits of a number to limbs, from bit `shift` on.
fn deposit(limbs: &mut [u64], shift: u32, width: u32, bytes: &[u8]) {
    for (at, byte) in bytes.iter().enumerate().take(width.div_ceil(8) as usize) {
        let left = width - 8 * at as u32;
        let byte = u64::from(if left < 8 { byte & ((1u16 << left) - 1) as u8 } else { *byte });
        let bit = shift + 8 * at as u32;
        limbs[(bit / 64) as usize] |= byte << (bit % 64);
        if bit % 64 > 56 && byte >> (64 - bit % 64) != 0 {
            limbs[(bit / 64) as usize + 1] |= byte >> (64 - bit % 64);
        }
    }
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
}
