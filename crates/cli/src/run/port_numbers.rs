//! The numbers of a switch's ports, for the server of controllers: groups and replicas name only ports that the switch has.

use std::collections::BTreeSet;
use std::sync::{Arc, PoisonError, RwLock};

/// Shared by the thread that opens and closes ports and by those of the server.
#[derive(Clone, Default)]
pub struct PortNumbers(Arc<RwLock<BTreeSet<u32>>>);

impl PortNumbers {
    pub fn new(numbers: impl Iterator<Item = u32>) -> PortNumbers {
        PortNumbers(Arc::new(RwLock::new(numbers.collect())))
    }

    pub fn set(&self, numbers: impl Iterator<Item = u32>) {
        *self.0.write().unwrap_or_else(PoisonError::into_inner) = numbers.collect();
    }

    pub fn has(&self, number: u32) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(&number)
    }
}
