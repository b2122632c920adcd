//! Which storage an argument can reach, and whether two arguments may reach the same.
//!
//! An argument is passed by reference only where that cannot be distinguished from copying it in and out (P4_16 6.8). Two arguments overlap where one
//! may write what the other is: by name, through a slice, through an element that only the packet chooses, or through the other members of a
//! header union, of which at most one is valid.

use std::collections::HashSet;

use hlir::HeaderId;

use super::Lowering;
use super::effects::Touch;
use super::storage::{Leaf, Storage};
use super::value::Target;

/// Everything that reading or writing some storage involves.
#[derive(Clone, Debug, Default)]
pub struct Extent {
    leaves: HashSet<Leaf>,
    /// Whole headers, validity included.
    headers: HashSet<HeaderId>,
    /// Headers that become invalid when one of `headers` becomes valid.
    siblings: HashSet<HeaderId>,
}

impl Extent {
    pub fn overlaps(&self, other: &Extent) -> bool {
        !self.leaves.is_disjoint(&other.leaves) || self.changes(other) || other.changes(self)
    }

    /// Whether writing `self` may change the validity of a header that `other` has, or of which it has a field.
    fn changes(&self, other: &Extent) -> bool {
        let changed = |header: &HeaderId| self.headers.contains(header) || self.siblings.contains(header);
        let is_part = |leaf: &Leaf| matches!(leaf, Leaf::Field(field) if changed(&field.header));
        other.headers.iter().any(changed) || other.leaves.iter().any(is_part)
    }
}

impl<'a> Lowering<'a> {
    pub fn extent(&self, storages: &[Storage]) -> Extent {
        let mut extent = Extent::default();
        for storage in storages {
            extent.leaves.extend(storage.leaves());
            extent.headers.extend(storage.headers());
        }
        extent.siblings = extent.headers.iter().flat_map(|header| self.slots.siblings(*header)).copied().collect();
        extent
    }

    /// Saves the indices in a target that something in `touched` may change.
    pub fn save_indices(&mut self, target: &mut Target, touched: &[Touch]) {
        match target {
            Target::Choice { candidates, index, .. } => {
                candidates.iter_mut().for_each(|candidate| self.save_indices(candidate, touched));
                self.save_if_touched(index, touched);
            }
            Target::PlusSlice { base, low, .. } => {
                self.save_indices(base, touched);
                self.save_if_touched(low, touched);
            }
            Target::Slice { base, .. } | Target::Copied { target: base, .. } => self.save_indices(base, touched),
            Target::Storage(_) | Target::Nowhere(_) | Target::Discard => {}
        }
    }

    fn save_if_touched(&mut self, index: &mut hlir::Expression, touched: &[Touch]) {
        let value = super::value::Value::Scalar(index.clone());
        if self.is_touched(&value, touched)
            && let super::value::Value::Scalar(saved) = self.save(value, "index")
        {
            *index = saved;
        }
    }
}

impl Target {
    /// All storage that the target may be, or be a part of.
    pub fn storages(&self) -> Vec<Storage> {
        match self {
            Target::Storage(storage) => vec![storage.clone()],
            Target::Slice { base, .. } | Target::PlusSlice { base, .. } | Target::Copied { target: base, .. } => {
                base.storages()
            }
            Target::Choice { candidates, .. } => candidates.iter().flat_map(Target::storages).collect(),
            Target::Nowhere(_) | Target::Discard => Vec::new(),
        }
    }
}
