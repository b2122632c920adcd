//! A lock among processes: several switches of one program begin at the same time, and one of them compiles it.

use std::ffi::c_int;
use std::fs::File;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::{fs, io};

const EXCLUSIVE: c_int = 2;

unsafe extern "C" {
    fn flock(file: c_int, operation: c_int) -> c_int;
}

/// Held until it is dropped, or the process ends.
pub struct FileLock {
    path: PathBuf,
    _file: File,
}

impl FileLock {
    /// Waits until no other process has it.
    pub fn take(path: &Path) -> io::Result<FileLock> {
        let file = File::create(path)?;
        loop {
            // SAFETY: the file is open; the call takes two numbers.
            if unsafe { flock(file.as_raw_fd(), EXCLUSIVE) } == 0 {
                return Ok(FileLock { path: path.to_path_buf(), _file: file });
            }
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(error);
            }
        }
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Processes that wait have the file open, and find what this one has made; later ones need no lock.
        drop(fs::remove_file(&self.path));
    }
}
