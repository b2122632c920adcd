//! The cost of lookups that descend levels: prefix tries, and B-trees over the intervals that entries cut the
//! key space into.
//! ```text
//! trie: steps = log64(entries) + 3, at most key bits / 6;   lines: one per step and half of one more
//! tree: levels = 1 + log8(leaves);                          lines: one per level, B = nodes of the level · 64
//! ```
//!
//! Each line's address is in the line before: nothing within a lookup overlaps, so packet by packet `steps` of
//! docs/model.md adds up, and a stage does a level of all packets at a time.

use super::{Cost, Keyed};
use crate::model::cache_line::{LINE_BYTES, Line};

/// Average fill of a B-tree's nodes after bulk loading.
const TREE_FILL: f64 = 0.95;
/// Number of prefixes from which on they are so dense that leaves have windows (btree.h), and the intervals
/// per leaf then (counted in random prefixes of IPv6, and in a router's).
const DENSE_PREFIXES: u64 = 2_048;
const PIECES_OF_DENSE: f64 = 7.5;
/// Share of a trie node's pointers outside its first line (5.8 nodes and 2.6 such lines per lookup, counted
/// in 200,000 prefixes of IPv6).
const FURTHER_LINES: f64 = 0.5;
/// Operations around one step of a trie walk, where a group's steps are made together.
const WALK: f64 = 24.0;
/// Trie nodes per misprediction: whether a prefix ends in the node, and whether the walk goes on.
const NODES_PER_MISPREDICTION: f64 = 2.0;
/// Dependent operations between two lines: in a trie, bits of the key are extracted and counted in each node's bitmap.
const STEP_OF_TRIE: f64 = 18.0;
const STEP_OF_TREE: f64 = 12.0;

impl Keyed {
    /// Six bits per node, with path compression: as many nodes as entries, log64 of them on a walk, and some
    /// where prefixes of one origin diverge. A node with more than four children has its pointers in another
    /// line.
    pub(super) fn lpm_trie(&self) -> Cost {
        let steps = self.steps();
        // Levels that are not full share the nodes.
        let full = |step: u32| 64u64.saturating_pow(step);
        let shared = (0..steps as u32).filter(|step| full(*step) > self.entries).count().max(1) as u64;
        let lines = (0..steps as u32).map(|step| {
            let nodes = if full(step) > self.entries { self.entries / shared + 1 } else { full(step) };
            Line::single(nodes * LINE_BYTES, if step + 1 < steps as u32 { 1.0 + FURTHER_LINES } else { 1.0 })
        });
        Cost {
            // Each step reloads and spills a walk's state.
            saved_in_group: -WALK * steps,
            // A walk differs from key to key.
            mispredictions: (steps - 1.0) / NODES_PER_MISPREDICTION,
            step: STEP_OF_TRIE,
            loops: steps,
            ..Cost::new(6.0 + steps * (70.0 + 4.0 * self.words), lines.collect())
        }
    }

    fn steps(&self) -> f64 {
        let branching = (self.entries as f64).log2().max(1.0) / 6.0;
        (branching + 3.0).ceil().min(f64::from(self.bits.div_ceil(6)))
    }

    /// Intervals per leaf, and children per node: twice as many where a window holds the whole key.
    fn branching(&self) -> (f64, f64) {
        match (self.bits, self.entries) {
            (0..=32, _) => (8.0, 15.0),
            (_, DENSE_PREFIXES..) => (PIECES_OF_DENSE, 8.0),
            _ => (6.0, 8.0),
        }
    }

    fn leaves(&self) -> f64 {
        (2.0 * self.entries as f64 / self.branching().0 / TREE_FILL).max(1.0)
    }

    /// Nodes at a level above the leaves; partly filled nodes are at the top.
    fn nodes(&self, above: i32) -> f64 {
        let (leaves, branching) = (self.leaves(), self.branching().1);
        let full = branching * (8.0f64).powi(above - 1) * TREE_FILL.powi(above);
        if above > 0 { (leaves / full).max(1.0) } else { leaves }
    }

    fn levels(&self) -> f64 {
        let nodes = self.leaves() * 8.0 / self.branching().1;
        1.0 + nodes.log(8.0 * TREE_FILL).ceil().max(0.0)
    }

    /// Each entry cuts the key space twice. Almost all nodes are full.
    pub(super) fn btree(&self) -> Cost {
        let levels = self.levels();
        let lines = (0..levels as i32).rev().map(|above| Line::single(self.nodes(above) as u64 * LINE_BYTES, 1.0));
        // Eight separators are compared at once, with vectors that hold them.
        Cost {
            // Eight dependent steps at a time are not always hidden by the other eight (fitted to a sweep of ipv6fwd).
            saved_in_group: -2.0 * levels,
            step: STEP_OF_TREE,
            loops: levels,
            ..Cost::new(4.0 + levels * (10.0 + 3.5 * 8.0 / self.limbs_per_vector), lines.collect())
        }
    }
}
