//! A program written by hand over tables of its own: a pipeline that is given its entries one by one (`bench/peers/peer.h`).

use crate::pipeline::Pipeline;
use crate::tables::{Match, RawMatch};
use std::ffi::{c_int, c_void};
use std::fmt;
use std::sync::Arc;

#[repr(C)]
struct RawPeer {
    open: unsafe extern "C" fn(entries: u64) -> c_int,
    insert: unsafe extern "C" fn(table: u32, matches: *const RawMatch, record: *const c_void) -> c_int,
    ready: unsafe extern "C" fn() -> c_int,
}

/// What a peer could not do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PeerError {
    Open,
    Insert,
    Ready,
}

impl fmt::Display for PeerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            PeerError::Open => "it cannot make its tables",
            PeerError::Insert => "it refuses an entry",
            PeerError::Ready => "it cannot finish its tables",
        })
    }
}

impl std::error::Error for PeerError {}

/// See the module. Its tables are those that its pipeline describes.
pub struct Peer {
    raw: *const RawPeer,
    _pipeline: Arc<Pipeline>,
}

fn checked(status: c_int, error: PeerError) -> Result<(), PeerError> {
    if status == 0 { Ok(()) } else { Err(error) }
}

impl Peer {
    /// The peer that a pipeline is, if it is one, with room for so many entries in the tables that grow.
    pub fn open(pipeline: &Arc<Pipeline>, entries: u64) -> Result<Option<Peer>, PeerError> {
        let Some(raw) = pipeline.symbol::<RawPeer>(b"bacus_peer\0") else { return Ok(None) };
        let peer = Peer { raw, _pipeline: pipeline.clone() };
        // SAFETY: the symbol is a `struct peer` in a library that lives as long as the pipeline.
        checked(unsafe { ((*peer.raw).open)(entries) }, PeerError::Open).map(|()| Some(peer))
    }

    pub fn insert(&self, table: usize, matches: &Match, record: &[u8]) -> Result<(), PeerError> {
        // SAFETY: as above; what is given lives through the call.
        let status = unsafe { ((*self.raw).insert)(table as u32, &matches.raw(), record.as_ptr().cast()) };
        checked(status, PeerError::Insert)
    }

    /// All entries are there.
    pub fn ready(&self) -> Result<(), PeerError> {
        // SAFETY: as above.
        checked(unsafe { ((*self.raw).ready)() }, PeerError::Ready)
    }
}
