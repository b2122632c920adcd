//! Subscriptions of digests, as a controller writes them.

/// How the records of a digest are wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub struct DigestConfig {
    /// Nanoseconds that a record may wait for others; 0 for none.
    pub timeout_ns: u64,
    /// Records of a list at most; 0 leaves it to the server.
    pub largest_list: u32,
    /// Nanoseconds for which a record is not sent again while its list is not acknowledged.
    pub acknowledge_ns: u64,
}
