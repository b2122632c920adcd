//! The messages of P4Runtime 1.5.
//!
//! `config`, `runtime`, `status`, `switch` and the descriptors are generated from the files in `proto/` and committed, so that building bacus needs no protocol
//! compiler. `cargo test -p control` compares the two; with `UPDATE_EXPECT=1` it regenerates them.

/// What a controller knows of a program.
pub mod config {
    #[allow(clippy::all)]
    #[rustfmt::skip]
    mod info;
    #[allow(clippy::all)]
    #[rustfmt::skip]
    mod types;
    #[allow(clippy::all)]
    #[rustfmt::skip]
    mod objects;

    pub use info::*;
    pub use objects::*;
    pub use types::*;
}

/// Messages between a controller and a switch.
pub mod runtime {
    #[allow(clippy::all)]
    #[rustfmt::skip]
    mod data;
    #[allow(clippy::all)]
    #[rustfmt::skip]
    mod requests;
    #[allow(clippy::all)]
    #[rustfmt::skip]
    mod tables;
    #[allow(clippy::all)]
    #[rustfmt::skip]
    mod objects;
    #[allow(clippy::all)]
    #[rustfmt::skip]
    mod stream;
    #[allow(clippy::all)]
    #[rustfmt::skip]
    mod pipeline;

    pub use {data::*, objects::*, pipeline::*, requests::*, stream::*, tables::*};
}

/// What gRPC puts into the details of an error.
#[allow(clippy::all)]
#[rustfmt::skip]
pub mod status;

/// The counts of a switch of bacus.
#[allow(clippy::all)]
#[rustfmt::skip]
pub mod switch;

/// The messages of P4Runtime as descriptors, by which messages are printed and read.
pub const DESCRIPTORS: &[u8] = include_bytes!("descriptors.bin");
