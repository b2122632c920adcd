//! The echo pipeline, a port for it, and packets.

use runtime::{Buffers, Cache, Compiler, Descriptor, MemoryPort, Pipeline, Settings, Trace, compile};
use std::path::PathBuf;
use std::sync::Arc;

const ECHO: &str = include_str!("../pipelines/echo.c");
pub const SETTINGS: Settings = Settings { ports: 8, seed: 0 };

/// The echo pipeline with the byte that it marks packets with.
pub fn echo(mark: u8) -> Arc<Pipeline> {
    pipeline(&format!("#define ECHO_MARK {mark}\n"))
}

pub fn pipeline(definitions: &str) -> Arc<Pipeline> {
    Arc::new(Pipeline::load(&object(definitions)).unwrap())
}

/// The file of the object.
pub fn object(definitions: &str) -> PathBuf {
    let cache = Cache::at(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let c = format!("{definitions}{ECHO}");
    Compiler::find(None).unwrap().pipeline(&cache, "echo", &c, Descriptor::Own).unwrap()
}

/// For mbufs; `None` without DPDK's development files.
pub fn pipeline_for_mbufs() -> Option<Arc<Pipeline>> {
    let cache = Cache::at(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let c = format!("#define ECHO_MBUF\n{ECHO}");
    match Compiler::find(None).unwrap().pipeline(&cache, "echo", &c, Descriptor::Mbuf) {
        Err(compile::Failure::NoDpdk) => None,
        object => Some(Arc::new(Pipeline::load(&object.unwrap()).unwrap())),
    }
}

pub fn port() -> MemoryPort {
    MemoryPort::new(Buffers { count: 256, ..Buffers::default() })
}

pub fn frames(lengths: impl IntoIterator<Item = usize>) -> Vec<(u16, Vec<u8>)> {
    lengths.into_iter().enumerate().map(|(at, length)| ((at % 4) as u16, vec![at as u8; length])).collect()
}

pub fn trace(frames: &[(u16, Vec<u8>)]) -> Trace {
    Trace::new(frames.iter().map(|(port, bytes)| (*port, bytes.as_slice())))
}
