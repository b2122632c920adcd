//! The messages of P4Runtime that bacus writes.
//!
//! What stands in `config` and `runtime`, and the descriptors, are generated from the files in `proto/` and kept here, so that nobody needs a
//! compiler of protocols to build bacus. `cargo test -p control` compares the two; with `UPDATE_EXPECT=1` it writes them anew.

/// What a controller knows of a program.
pub mod config {
    #[allow(clippy::all)]
    #[rustfmt::skip]
    mod info;
    #[allow(clippy::all)]
    #[rustfmt::skip]
    mod types;

    pub use info::*;
    pub use types::*;
}

/// What a controller writes.
#[allow(clippy::all)]
#[rustfmt::skip]
pub mod runtime;

/// The same as descriptors, by which messages are printed and read.
pub const DESCRIPTORS: &[u8] = include_bytes!("descriptors.bin");
