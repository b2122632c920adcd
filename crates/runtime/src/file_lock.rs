//! A lock among processes: several switches of one program begin at the same time, and one of them compiles it.

use std::ffi::c_int;
use std::fs::{self, File};
use std::io;
use std::os::fd::AsRawFd as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// LOCK_EX and LOCK_NB of flock(2).
const EXCLUSIVE_AT_ONCE: c_int = 2 | 4;
/// A process may be stopped while it has the lock. Others go on without the lock after this time, which is longer than
/// any program known takes to compile.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(20);

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
    ///
    /// # Errors
    /// Another process keeps it for too long, or the file system has no locks.
    pub fn take(path: &Path) -> io::Result<FileLock> {
        FileLock::take_within(path, LONGEST_WAIT)
    }

    fn take_within(path: &Path, longest: Duration) -> io::Result<FileLock> {
        let file = File::create(path)?;
        let start = Instant::now();
        // SAFETY: the file is open; the call takes two numbers.
        while unsafe { flock(file.as_raw_fd(), EXCLUSIVE_AT_ONCE) } != 0 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::WouldBlock || start.elapsed() >= longest {
                return Err(error);
            }
            std::thread::sleep(POLL);
        }
        Ok(FileLock { path: path.to_path_buf(), _file: file })
    }
}

impl Drop for FileLock {
    fn drop(&mut self) {
        // Processes that wait have the file open, and find what this one has made; later ones need no lock.
        drop(fs::remove_file(&self.path));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_another_keeps_is_waited_for_and_then_given_up() {
        let path = std::env::temp_dir().join(format!("bacus-lock-test-{}", std::process::id()));
        let kept = FileLock::take(&path).expect("the lock is free");
        assert!(FileLock::take_within(&path, 2 * POLL).is_err_and(|why| why.kind() == io::ErrorKind::WouldBlock));
        drop(kept);
        assert!(FileLock::take_within(&path, Duration::ZERO).is_ok());
        assert!(!path.exists());
    }
}
