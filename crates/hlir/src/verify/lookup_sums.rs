//! Checks of the sums that count lookups which became code.

use super::{Site, Verifier};
use crate::text::{get, number};

impl Verifier<'_> {
    pub(super) fn lookup_sums(&mut self) {
        for (index, sum) in (0u32..).zip(&self.program.lookup_sums) {
            let site = Site::LookupSum(index);
            if get(&self.program.tables, sum.table).is_none() {
                self.error(site, format!("there is no table number {}", number(sum.table)));
            }
            let Some(counter) = get(&self.program.counters, sum.counter) else {
                self.error(site, format!("there is no counter number {}", number(sum.counter)));
                continue;
            };
            for missing in sum.indices().filter(|index| u64::from(*index) >= counter.size) {
                self.error(site, format!("counter `{}` has no index {missing}", counter.name));
            }
        }
    }
}
