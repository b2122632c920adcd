//! Tests of the project as a whole: its files and dependencies (`tidy`), its command as a user runs it, and the conformance runner.
//!
//! What a single crate promises is tested in that crate.

pub mod conformance;
pub mod modules;

use std::path::PathBuf;

/// The directory that holds the whole project.
pub fn project() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).parent().expect("the tests lie one level below the project").to_path_buf()
}
