//! Finds the switch of a user by its socket: every switch has one, called by its process's number.

use crate::failure::Failure;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

/// The sockets of all switches that live.
pub fn switches(folder: &Path) -> Vec<PathBuf> {
    let mut living: Vec<PathBuf> = std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .filter_map(|file| Some(file.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|ending| ending == "sock"))
        // A socket without a listener is left from a switch that was killed.
        .filter(|path| UnixStream::connect(path).is_ok())
        .collect();
    living.sort();
    living
}

/// The socket of the one switch that lives.
///
/// # Errors
/// There is none, or there are several.
pub fn one_switch(folder: &Path) -> Result<PathBuf, Failure> {
    match switches(folder).as_slice() {
        [socket] => Ok(socket.clone()),
        [] => Err(Failure::Unreachable(format!(
            "no switch of yours runs ({} has no socket that answers): start one with `bacus run`, or name another's address with --connect",
            folder.display()
        ))),
        several => {
            let listed: Vec<String> =
                several.iter().map(|socket| format!("\n  {}{}", socket.display(), program(socket))).collect();
            Err(Failure::Unreachable(format!(
                "{} switches run: choose one with --connect{}",
                several.len(),
                listed.concat()
            )))
        }
    }
}

/// How the switch behind a socket was started.
fn program(socket: &Path) -> String {
    let number = socket.file_stem().and_then(|stem| stem.to_str()).unwrap_or("");
    let words = std::fs::read(format!("/proc/{number}/cmdline")).unwrap_or_default();
    let words: Vec<String> =
        words.split(|byte| *byte == 0).skip(1).take(2).map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    if words.is_empty() { String::new() } else { format!("  ({})", words.join(" ").trim_end()) }
}
