//! Prints how the lookups that became code are counted.

use super::Printer;
use crate::lookup_sums::LookupSum;

impl Printer<'_> {
    pub(super) fn lookup_sum(&self, sum: &LookupSum) -> String {
        let LookupSum { table, is_hit, counter, added, subtracted } = sum;
        let outcome = if *is_hit { "hit" } else { "miss" };
        let indices = |word: &str, indices: &[u32]| {
            let listed: Vec<String> = indices.iter().map(u32::to_string).collect();
            if listed.is_empty() { String::new() } else { format!(" {word} {}", listed.join(", ")) }
        };
        let (table, counter) = (self.table_name(*table), self.counter_name(*counter));
        format!("lookups {outcome} {table} in {counter}{}{}", indices("add", added), indices("subtract", subtracted))
    }
}
