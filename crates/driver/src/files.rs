//! Files: the user's as they are read (unpacked, if they were packed with gzip, and remembered, if they can be read only once), and what is written.

use crate::failure::Failure;
use flate2::read::MultiGzDecoder;
use runtime::Cache;
use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

const GZIP: [u8; 2] = [0x1f, 0x8b];

/// What is in a file. Planning and loading both read entries, of which a pipe gives what it has once.
pub fn contents(path: &Path) -> Result<Arc<Vec<u8>>, Failure> {
    static PIPES: Mutex<BTreeMap<PathBuf, Arc<Vec<u8>>>> = Mutex::new(BTreeMap::new());
    let mut pipes = PIPES.lock().expect("no thread panics while it reads a file");
    if let Some(bytes) = pipes.get(path) {
        return Ok(bytes.clone());
    }
    let unreadable = |error| Failure::unreadable(path, &error);
    let is_file = fs::metadata(path).map_err(unreadable)?.is_file();
    let bytes = Arc::new(unpacked(path, fs::read(path).map_err(unreadable)?)?);
    if !is_file {
        pipes.insert(path.to_path_buf(), bytes.clone());
    }
    Ok(bytes)
}

fn unpacked(path: &Path, bytes: Vec<u8>) -> Result<Vec<u8>, Failure> {
    if !bytes.starts_with(&GZIP) {
        return Ok(bytes);
    }
    let mut all = Vec::new();
    let cut = |error| Failure::input(format!("{}: packed with gzip, and cut or damaged: {error}", path.display()));
    MultiGzDecoder::new(bytes.as_slice()).read_to_end(&mut all).map_err(cut)?;
    Ok(all)
}

/// A file of UTF-8 text.
pub fn text(path: &Path) -> Result<String, Failure> {
    let bytes = fs::read(path).map_err(|error| Failure::unreadable(path, &error))?;
    String::from_utf8(bytes).map_err(|_| Failure::input(format!("{}: not UTF-8 text", path.display())))
}

/// Writes a whole file or none, and the folders above it.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), Failure> {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.map_or(Ok(()), fs::create_dir_all).map_err(|error| Failure::unwritable(path, &error))?;
    runtime::cache::write_whole(path, bytes).map_err(|error| Failure::unwritable(path, &error))
}

/// Where compiled code is kept from one run to the next.
pub fn cache() -> Result<Cache, Failure> {
    Cache::open().map_err(|error| Failure::environment(format!("the cache cannot be used: {error}")))
}
