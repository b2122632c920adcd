//! What the store alone keeps beside entries: how digests are wanted, and the numbers of texts.

use crate::subscription::DigestConfig;
use std::collections::BTreeMap;

#[derive(Clone, Debug, Default)]
pub struct Records {
    pub digests: BTreeMap<usize, DigestConfig>,
    /// By the name of the type and the text.
    pub texts: BTreeMap<(String, String), u64>,
}
