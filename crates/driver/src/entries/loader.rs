//! Writes entries by the million: no big integers, no allocation for each, nothing but bits put in place.

use control::Refusal;
use hlir::TableId;
use native::{NativeEngine, Replay};
use runtime::pipeline::{self, MatchKind};
use runtime::tables::Match;
use runtime::{Table, TableError};
use std::sync::Arc;

/// The entry that is being put together for one table.
pub struct Loader {
    table: Arc<Table>,
    pub entry: Match,
    pub record: Vec<u8>,
    /// Whether priorities are made of prefix lengths.
    prefixes_rank: bool,
}

impl Loader {
    /// `None` for a table that was optimized away: its entries have no effect.
    pub fn new<L: Replay>(engine: &mut NativeEngine<'_, L>, table: TableId) -> Option<Loader> {
        let number = engine.table_number(table)?;
        let table = engine.switch().tables()[number].clone();
        let description = table.description();
        let limbs = description.key_limbs as usize;
        let has_lpm = description.fields.iter().any(|field| field.kind == MatchKind::Lpm);
        let prefixes_rank = description.structure.is_prioritised() && has_lpm && !has_priorities(description);
        let zero = || vec![0; limbs];
        let entry = Match { value: zero(), mask: zero(), high: zero(), priority: 0 };
        Some(Loader { entry, record: vec![0; description.record_bytes as usize], prefixes_rank, table })
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
    }

    /// What field number `field` is compared with; bytes with the lowest first.
    pub fn set_field(&mut self, field: usize, value: &[u8], mask: &[u8], high: &[u8]) {
        let field = &self.table.description().fields[field];
        deposit(&mut self.entry.value, field.shift, field.width, value);
        deposit(&mut self.entry.mask, field.shift, field.width, mask);
        deposit(&mut self.entry.high, field.shift, field.width, high);
        if self.prefixes_rank {
            self.entry.priority += mask.iter().map(|byte| byte.count_ones()).sum::<u32>();
        }
    }

    /// The action that entries have from now on.
    pub fn set_action(&mut self, name: &str) -> Result<usize, Refusal> {
        let table = self.table.description();
        let number = table.actions.iter().position(|action| action.name == name);
        let number = number.ok_or_else(|| Refusal::wrong(format!("table `{}` has no action `{name}`", table.name)))?;
        self.record.fill(0);
        self.record[..4].copy_from_slice(&(number as u32).to_le_bytes());
        Ok(number)
    }

    /// A parameter of the action, lowest byte first.
    pub fn set_parameter(&mut self, parameter: &pipeline::Parameter, bytes: &[u8]) {
        parameter.put(&mut self.record, bytes);
    }

    pub fn insert(&self) -> Result<(), TableError> {
        self.table.insert(&self.entry, &self.record).map(drop)
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
