//! The arrays behind counters and meters.

use crate::error::SwitchError;
use crate::pipeline::Description;
use crate::region::{Region, Zero};
use crate::tables::counter_indices_of;

/// Elements of a counter or meter: as many as its size, or room for all entries of its table.
pub(crate) fn element_count(size: u64, table: u32, description: &Description) -> u64 {
    match description.tables.get(table as usize) {
        Some(table) if size == 0 => counter_indices_of(table),
        Some(_) | None => size,
    }
}

/// The elements of a counter or meter with this name.
pub(crate) fn elements<T: Zero>(kind: &str, name: &str, count: u64) -> Result<Region<T>, SwitchError> {
    Region::of(count).ok_or_else(|| SwitchError::no_memory(kind, name, count, size_of::<T>() as u32))
}
