//! Files: the user's as they are read (unpacked, if they were packed with gzip, and remembered, if they can be read only once), and what is written.

use crate::failure::Failure;
use flate2::read::MultiGzDecoder;
use nix::unistd::{AccessFlags, access};
use runtime::Cache;
use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Read as _};
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

/// Whether [`write`] would succeed, before the work that makes the file: the directory, or the nearest one that exists above it, can be written.
pub fn check_writable(path: &Path) -> Result<(), Failure> {
    let refused = |error: &io::Error| Err(Failure::unwritable(path, error));
    match fs::metadata(path) {
        Ok(there) if there.is_dir() => return refused(&io::ErrorKind::IsADirectory.into()),
        // A device is written in place.
        Ok(there) if !there.is_file() => return Ok(()),
        Ok(_) | Err(_) => {}
    }
    let named = |folder: &&Path| !folder.as_os_str().is_empty();
    let above = path.ancestors().skip(1).filter(named).find(|folder| folder.exists()).unwrap_or(Path::new("."));
    if !above.is_dir() {
        return refused(&io::ErrorKind::NotADirectory.into());
    }
    access(above, AccessFlags::W_OK | AccessFlags::X_OK).or_else(|error| refused(&error.into()))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_is_known_before_the_work() {
        let folder = std::env::temp_dir().join(format!("bacus-writable-{}", std::process::id()));
        fs::create_dir_all(&folder).expect("a directory can be made");
        let file = folder.join("file");
        fs::write(&file, "").expect("a file can be written");
        let message = |path: &Path| check_writable(path).err().map(|failure| format!("{failure:?}"));
        for path in [file.clone(), folder.join("new"), folder.join("a/b/new"), "new".into(), "/dev/null".into()] {
            assert_eq!(message(&path), None, "{}", path.display());
        }
        // Neither root nor a user can make anything there.
        for path in [folder.clone(), file.join("below"), file.join("a/b"), "/proc/self/new".into()] {
            let message = message(&path).expect("it is refused");
            assert!(message.contains(&path.display().to_string()), "{message}");
        }
        fs::remove_dir_all(&folder).expect("the directory is there");
    }
}
