//! The time in answers.

use std::time::{SystemTime, UNIX_EPOCH};

/// Nanoseconds since 1970.
pub fn now_ns() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    since.as_nanos().try_into().unwrap_or(i64::MAX)
}
