//! What the host leaves to a network interface, and a port must do instead.

use std::ffi::{CString, c_char, c_int};

unsafe extern "C" {
    fn offload_checksums(interface: *const c_char) -> c_int;
}

/// Whether the host leaves the checksums of frames that it sends to this interface. `None` where the system does not report it.
pub fn checksums(interface: &str) -> Option<bool> {
    let name = CString::new(interface).ok()?;
    // SAFETY: the function reads a string that ends, and asks the system.
    match unsafe { offload_checksums(name.as_ptr()) } {
        0 => Some(false),
        1 => Some(true),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn interfaces_that_are_missing_report_nothing() {
        assert_eq!(checksums("no-such-one"), None);
        assert_eq!(checksums("a name that is longer than those of interfaces"), None);
        // The loopback device has no wire, so that nothing computes them.
        assert_eq!(checksums("lo"), Some(true));
    }
}
