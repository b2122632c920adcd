//! Port layers as shared objects, compiled on the machine that runs them: what they are linked with depends on what is installed there.

use crate::cache::Cache;
use crate::compile::{Compiler, Failure, Source, io_failure};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Flags for packages that are installed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Installed {
    pub headers: Vec<String>,
    pub libraries: Vec<String>,
}

impl Compiler {
    /// Compiles the DPDK port layer.
    pub fn dpdk_layer(&self, cache: &Cache) -> Result<PathBuf, Failure> {
        self.layer(cache, "bacus_dpdk", &["dpdk", "interface", "spread"], &self.dpdk()?)
    }

    /// Compiles the port layer without DPDK: with AF_XDP where its libraries are installed.
    pub fn native_layer(&self, cache: &Cache) -> Result<PathBuf, Failure> {
        let with = |installed: &Installed| {
            self.layer(cache, "bacus_native", &["native", "memif", "interface", "spread", "xdp"], installed)
        };
        let none = Installed::default();
        let without =
            || self.layer(cache, "bacus_native", &["native", "memif", "interface", "spread", "without_xdp"], &none);
        match installed(&["libxdp", "libbpf"]) {
            Some(installed) => with(&installed),
            None if self.is_there() => without(),
            // Its libraries may be there, and their packages for compilers not.
            None => with(&none).or_else(|_| without()),
        }
    }

    fn layer(&self, cache: &Cache, name: &str, beginnings: &[&str], installed: &Installed) -> Result<PathBuf, Failure> {
        let mut flags: Vec<String> =
            ["-O3", "-march=native", "-std=gnu11", "-Wall", "-Wextra"].map(String::from).into();
        flags.extend(self.vector_flag());
        let runtime = cache.runtime().map_err(io_failure("cannot unpack the runtime"))?;
        self.shared_object(cache, name, &Source::Files(&layer_files(&runtime, beginnings)), &flags, installed)
    }

    /// What is compiled needs DPDK; what was compiled before does not need its headers.
    pub(crate) fn dpdk(&self) -> Result<Installed, Failure> {
        match installed(&["libdpdk"]) {
            None if self.is_there() => Err(Failure::NoDpdk),
            found => Ok(found.unwrap_or_default()),
        }
    }
}

/// The C files of a port layer, by what their names begin with, and those of packet memory.
fn layer_files(runtime: &Path, beginnings: &[&str]) -> Vec<PathBuf> {
    let is_of_layer = |path: &Path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        path.starts_with("port") && name.ends_with(".c") && beginnings.iter().any(|first| name.starts_with(first))
    };
    let files = crate::cache::EMBEDDED.iter().map(|(path, _)| Path::new(path)).filter(|path| is_of_layer(path));
    let pools = ["own.c", "region.c"].map(|file| runtime.join("port").join(file));
    files.map(|path| runtime.join(path)).chain(pools).collect()
}

/// The version of DPDK against which port layers would be compiled here, if there is one.
pub fn dpdk_version() -> Option<String> {
    package_flags("--modversion", &["libdpdk"])?.pop()
}

/// The flags of packages, if all of them are installed.
fn installed(packages: &[&str]) -> Option<Installed> {
    let flags = |kind: &str| package_flags(kind, packages);
    Some(Installed { headers: flags("--cflags")?, libraries: flags("--libs")? })
}

/// Their headers become system headers, since their warnings are not ours to mend; the processor stays ours to choose.
fn package_flags(kind: &str, packages: &[&str]) -> Option<Vec<String>> {
    let output = Command::new("pkg-config").arg(kind).args(packages).output().ok()?;
    let flags = String::from_utf8_lossy(&output.stdout).into_owned();
    let flags = flags.split_whitespace().filter(|flag| !flag.starts_with("-march"));
    let as_system = |flag: &str| flag.strip_prefix("-I").map_or(flag.to_string(), |from| format!("-isystem{from}"));
    output.status.success().then(|| flags.map(as_system).collect())
}
