//! Hits and misses of lookups that became code.
//!
//! Where a lookup was, comparisons or a default action are. Its hits and misses are counted in indices of a counter that
//! the compiler adds. Packets are conserved on the way through the graph, so few places have to count, and seldom those of
//! the hot path: the others' counts are sums and differences.

use crate::{CounterId, Program, TableId};

/// The index of such a counter at which the data plane counts the packets that it receives, where a sum uses it.
pub const RECEIVED: u32 = 0;

/// How many lookups of a table have hit, or have missed, beside those that the table has counted itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LookupSum {
    pub table: TableId,
    pub is_hit: bool,
    pub counter: CounterId,
    /// Indices of the counter whose packets are added.
    pub added: Vec<u32>,
    /// And those whose packets are subtracted.
    pub subtracted: Vec<u32>,
}

impl Program {
    /// The counter that counts the packets received, at [`RECEIVED`].
    pub fn received(&self) -> Option<CounterId> {
        let sum = self.lookup_sums.iter().find(|sum| sum.indices().any(|index| index == RECEIVED));
        sum.map(|sum| sum.counter)
    }

    /// Hits and misses of a table's lookups that became code, where its counter's index has so many packets.
    pub fn lookups_in_code(&self, table: TableId, packets: impl Fn(CounterId, u32) -> u64) -> [u64; 2] {
        [true, false].map(|is_hit| {
            let sums = self.lookup_sums.iter().filter(|sum| sum.table == table && sum.is_hit == is_hit);
            sums.map(|sum| sum.value(|index| packets(sum.counter, index))).sum()
        })
    }
}

impl LookupSum {
    pub fn indices(&self) -> impl Iterator<Item = u32> {
        self.added.iter().chain(&self.subtracted).copied()
    }

    /// The number of lookups, where a counter's index has so many packets. While packets are in flight, differences may
    /// be behind.
    pub fn value(&self, packets: impl Fn(u32) -> u64) -> u64 {
        let sum = |indices: &[u32]| indices.iter().map(|index| packets(*index)).sum::<u64>();
        sum(&self.added).saturating_sub(sum(&self.subtracted))
    }
}
