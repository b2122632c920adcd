//! The numbers of a switch's ports, for the server of controllers: groups and replicas name only ports that the switch has, and a program that is pushed
//! must be able to name all of them.

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

    pub fn add(&self, number: u32) {
        self.0.write().unwrap_or_else(PoisonError::into_inner).insert(number);
    }

    /// Refuses a program in which one of the ports is beyond the architecture's numbers, or drops.
    pub fn check(&self, program: &hlir::Program) -> Result<(), String> {
        let numbers = program.port_numbers();
        let ports = self.0.read().unwrap_or_else(PoisonError::into_inner);
        ports.iter().find_map(|port| numbers.unusable(*port)).map_or(Ok(()), Err)
    }

    pub fn has(&self, number: u32) -> bool {
        self.0.read().unwrap_or_else(PoisonError::into_inner).contains(&number)
    }
}
