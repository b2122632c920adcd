//! freeRtr's data plane in C, whose files are in a checkout that the user has: how its peer (`bench/peers/freertr.c`) is compiled.

use crate::options::Beside;
use driver::failure::Failure;
use runtime::cache::Hash;
use std::fs;
use std::path::PathBuf;

/// How freeRtr's data plane is compiled into its peer: as in its own `c.sh`, but for this machine, and with its printf replaced.
pub fn flags(beside: &Beside) -> Result<Vec<String>, Failure> {
    let Beside { native, messages } = beside;
    // Compiled code is kept by its flags: these change with the files.
    let mut contents = Hash::new();
    let mut files: Vec<PathBuf> = fs::read_dir(native)
        .map_err(|error| Failure::unreadable(native, &error))?
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|ending| ending == "c" || ending == "h"))
        .collect();
    files.sort();
    for file in &files {
        contents.add(&fs::read(file).map_err(|error| Failure::unreadable(file, &error))?);
    }
    Ok(vec![
        format!("-I{}", native.display()),
        format!("-DFREERTR_MESSAGES=\"{}\"", messages.display()),
        format!("-DFREERTR_CONTENTS=\"{}\"", contents.hex()),
        "-Dprintf=freertr_print".to_string(),
        "-fvisibility=hidden".to_string(),
        "-w".to_string(),
        native.join("p4emu_full.c").display().to_string(),
        "-Wl,--no-as-needed".to_string(),
        "-lcrypto".to_string(),
    ])
}
