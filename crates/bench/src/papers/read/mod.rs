//! What the records of each experiment state, beside the numbers of its paper.

pub mod ablation;
pub mod accesses;
pub mod batches;
pub mod cores;
pub mod gains;
pub mod joins;
pub mod metadata;
pub mod paths;
pub mod peers;
pub mod predicted;
pub mod trie;
