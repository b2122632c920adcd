//! The cache directory: the C runtime unpacked, pipelines that were compiled before, and whatever else can be made again.
//!
//! Everything in it is named by a hash of what it was made from and appears by a rename, so that a reader sees a whole file or none, also while
//! other processes write.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::{env, fs, io, process};

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// A directory that only this user writes.
#[derive(Clone, Debug)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// `$BACUS_CACHE`, and no other if it is set; else `bacus` in the user's cache directory, else in the directory for temporary files.
    pub fn open() -> io::Result<Cache> {
        let named = env::var_os("BACUS_CACHE").map(PathBuf::from);
        let user = env::var_os("XDG_CACHE_HOME").map(PathBuf::from);
        let home = env::var_os("HOME").map(|home| PathBuf::from(home).join(".cache"));
        let below = |directory: PathBuf| directory.join("bacus");
        let others = [user.map(below), home.map(below), Some(env::temp_dir().join("bacus"))];
        let candidates = if named.is_some() { [named, None, None] } else { others };
        let mut failure = io::Error::other("no directory for the cache");
        for root in candidates.into_iter().flatten() {
            match fs::create_dir_all(&root).and_then(|()| probe(&root)) {
                Ok(()) => return Ok(Cache { root }),
                Err(error) => failure = io::Error::new(error.kind(), format!("{}: {error}", root.display())),
            }
        }
        Err(failure)
    }

    pub fn at(root: impl Into<PathBuf>) -> io::Result<Cache> {
        let root = root.into();
        fs::create_dir_all(&root)?;
        Ok(Cache { root })
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The directory to give the C compiler for `#include "table/exact.h"`.
    pub fn runtime(&self) -> io::Result<PathBuf> {
        self.unpack("runtime", EMBEDDED)
    }

    /// Writes `files` (path and text) into a directory named by their hash, unless it is there, and returns its path.
    pub fn unpack(&self, name: &str, files: &[(&str, &str)]) -> io::Result<PathBuf> {
        let mut hash = Hash::new();
        for (path, text) in files {
            hash.add(path.as_bytes()).add(text.as_bytes());
        }
        let directory = self.root.join(format!("{name}-{}", hash.hex()));
        if directory.is_dir() {
            return Ok(directory);
        }
        let fresh = self.fresh(name);
        for (path, text) in files {
            let file = fresh.join(path);
            fs::create_dir_all(file.parent().unwrap_or(&fresh))?;
            fs::write(file, text)?;
        }
        match fs::rename(&fresh, &directory) {
            Ok(()) => Ok(directory),
            // Another process was faster; it wrote the same.
            Err(_) if directory.is_dir() => fs::remove_dir_all(&fresh).map(|()| directory),
            Err(error) => Err(error),
        }
    }

    /// An unused path in the cache.
    pub fn fresh(&self, name: &str) -> PathBuf {
        self.root.join(unused(name))
    }
}

/// A hidden file's name that no other thread or process takes for a file called `name`.
fn unused(name: &str) -> String {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    format!(".{name}-{}-{}", process::id(), NEXT.fetch_add(1, Ordering::Relaxed))
}

/// Whether files can be made there.
fn probe(root: &Path) -> io::Result<()> {
    let file = root.join(unused("probe"));
    fs::write(&file, "")?;
    fs::remove_file(file)
}

/// Writes a whole file or none: next to its place first, then renamed. What is there and no file, such as `/dev/null` or a pipe, stays what it is.
pub fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if fs::metadata(path).is_ok_and(|there| !there.is_file()) {
        return fs::write(path, bytes);
    }
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    let fresh = path.with_file_name(unused(&name));
    fs::write(&fresh, bytes).and_then(|()| fs::rename(&fresh, path)).inspect_err(|_| drop(fs::remove_file(&fresh)))
}

/// FNV-1a of 128 bits: names for contents, not protection against forgers.
#[derive(Clone, Debug)]
pub struct Hash(u128);

impl Hash {
    pub fn new() -> Hash {
        Hash(0x6c62272e07bb014262b821756295c58d)
    }

    /// Adds a piece; pieces do not run into each other.
    pub fn add(&mut self, bytes: &[u8]) -> &mut Hash {
        for byte in bytes.iter().chain(&(bytes.len() as u64).to_le_bytes()) {
            self.0 = (self.0 ^ u128::from(*byte)).wrapping_mul(0x0000000001000000000000000000013b);
        }
        self
    }

    pub fn hex(&self) -> String {
        format!("{:032x}", self.0)
    }
}

impl Default for Hash {
    fn default() -> Self {
        Hash::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_runtime_is_unpacked_once_and_whole() {
        let cache = Cache::at(env::temp_dir().join(format!("bacus-cache-test-{}", process::id()))).unwrap();
        let directory = cache.runtime().unwrap();
        assert_eq!(directory, cache.runtime().unwrap());
        assert!(fs::read_to_string(directory.join("abi.h")).unwrap().contains("struct worker {"));
        assert!(directory.join("packet/own_pool.h").is_file());
        fs::remove_dir_all(cache.root()).unwrap();
    }

    #[test]
    fn threads_may_write_the_same_file() {
        let cache = Cache::at(env::temp_dir().join(format!("bacus-cache-threads-{}", process::id()))).unwrap();
        let path = cache.root().join("whole");
        let text = vec![b'x'; 1 << 16];
        std::thread::scope(|scope| {
            let write = || (0..50).for_each(|_| write_whole(&path, &text).unwrap());
            (0..4).for_each(|_| drop(scope.spawn(write)));
        });
        assert_eq!(fs::read(&path).unwrap(), text);
        fs::remove_dir_all(cache.root()).unwrap();
    }

    #[test]
    fn what_is_no_file_is_not_replaced() {
        let cache = Cache::at(env::temp_dir().join(format!("bacus-cache-socket-{}", process::id()))).unwrap();
        let path = cache.root().join("socket");
        let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
        assert!(write_whole(&path, b"text").is_err(), "sockets cannot be opened");
        assert!(!fs::metadata(&path).unwrap().is_file());
        drop(listener);
        fs::remove_dir_all(cache.root()).unwrap();
    }

    #[test]
    fn pieces_do_not_run_into_each_other() {
        assert_ne!(Hash::new().add(b"ab").add(b"c").hex(), Hash::new().add(b"a").add(b"bc").hex());
    }
}
