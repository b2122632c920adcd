//! What only a source tree of DPDK has: distributions ship neither the header that generated SWX programs want nor those of drivers.

use driver::failure::Failure;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

/// A tree of the version that is installed.
pub struct DpdkTree {
    folder: PathBuf,
}

impl DpdkTree {
    pub fn open(folder: &Path) -> Result<DpdkTree, Failure> {
        let folder = fs::canonicalize(folder).map_err(|error| Failure::unreadable(folder, &error))?;
        let file = folder.join("VERSION");
        let version = fs::read_to_string(&file).map_err(|error| Failure::unreadable(&file, &error))?;
        let output = Command::new("pkg-config").args(["--modversion", "libdpdk"]).output();
        let output = output.map_err(|error| Failure::environment(format!("pkg-config cannot be run: {error}")))?;
        let installed = String::from_utf8_lossy(&output.stdout);
        if version.trim() != installed.trim() {
            let (version, installed) = (version.trim(), installed.trim());
            let text = format!("{} is DPDK {version}, but {installed} is installed", folder.display());
            return Err(Failure::input(text));
        }
        Ok(DpdkTree { folder })
    }

    /// How a peer gets the C of its SWX program compiled, and the file that puts our ports into it.
    pub fn swx_flags(&self, compiler: &str, peers: &Path) -> Vec<String> {
        let headers = self.folder.join("lib/pipeline").display().to_string();
        // The generated code reads words where it has just written halves of them.
        let flags = "$(pkg-config --cflags libdpdk) -O3 -march=native -fno-strict-aliasing -w -fPIC -shared";
        vec![
            format!("-DSWX_COMPILE=\"{compiler} {flags} -I'{headers}'\""),
            format!("-isystem{headers}"),
            peers.join("swx_ports.c").display().to_string(),
        ]
    }
}
