//! Which machine file plans are made for, and what is known of this machine without measuring it.

use crate::failure::Failure;
use crate::files;
use opt::inputs::Machine;
use std::fs;
use std::path::{Path, PathBuf};

/// Where a host's machine file is looked for: below the current directory.
pub fn default_file() -> PathBuf {
    let host = fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = if host.trim().is_empty() { "host" } else { host.trim() };
    Path::new("machines").join(format!("{host}.toml"))
}

/// What plans are made for where no file is named: the host's file where there is one, else what was measured for this processor last, wherever that was.
pub fn calibrated_file() -> Option<PathBuf> {
    let default = default_file();
    if default.exists() { Some(default) } else { in_cache().ok().filter(|path| of_this_processor(path).is_some()) }
}

/// Where a calibration is kept for every directory.
pub fn in_cache() -> Result<PathBuf, Failure> {
    Ok(files::cache()?.root().join(default_file()))
}

/// The machine of a file, if it describes the processor that this program runs on, and was measured as this program would.
pub fn of_this_processor(path: &Path) -> Option<Machine> {
    let text = fs::read_to_string(path).unwrap_or_default();
    Machine::parse(&text).ok().filter(|machine| machine.cpu == cpu())
}

/// The processor's name with family and model: what makes a file of another one stale.
pub fn cpu() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let field = |name: &str| {
        let line = text.lines().find(|line| line.split(':').next().is_some_and(|key| key.trim() == name));
        line.and_then(|line| line.split_once(':')).map_or("?".to_string(), |(_, value)| value.trim().to_string())
    };
    format!("{} (family {}, model {})", field("model name"), field("cpu family"), field("model"))
}

/// Levels and sizes (in KB) of the caches for data, as the kernel knows them from the processor; none where it does not.
pub fn caches() -> Vec<(u32, u64)> {
    caches_of(Path::new("/sys/devices/system/cpu/cpu0/cache"))
}

fn caches_of(folder: &Path) -> Vec<(u32, u64)> {
    let cache = |folder: PathBuf| {
        let read = |name: &str| fs::read_to_string(folder.join(name)).map(|text| text.trim().to_string()).ok();
        let is_of_data = read("type")? != "Instruction";
        let kb = read("size")?.strip_suffix('K')?.parse().ok()?;
        is_of_data.then_some((read("level")?.parse().ok()?, kb))
    };
    let indices = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut caches: Vec<(u32, u64)> = indices.filter_map(|index| cache(index.path())).collect();
    caches.sort_unstable();
    caches
}

/// The one thing that is asked, not measured: which vectors there are.
pub fn vector_bytes() -> u32 {
    if is_x86_feature_detected!("avx512bw") {
        64
    } else if is_x86_feature_detected!("avx2") {
        32
    } else {
        16
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn caches_are_those_of_data_by_level() {
        let folder = std::env::temp_dir().join(format!("bacus-caches-{}", std::process::id()));
        let known =
            [("3", "Unified", "32768K"), ("1", "Data", "48K"), ("1", "Instruction", "32K"), ("2", "Unified", "1280K")];
        for (index, (level, kind, size)) in known.into_iter().enumerate() {
            let cache = folder.join(format!("index{index}"));
            fs::create_dir_all(&cache).expect("a directory can be made");
            for (name, text) in [("level", level), ("type", kind), ("size", size)] {
                fs::write(cache.join(name), format!("{text}\n")).expect("a file can be written");
            }
        }
        fs::write(folder.join("uevent"), "").expect("a file can be written");
        assert_eq!(caches_of(&folder), [(1, 48), (2, 1280), (3, 32768)]);
        assert!(caches_of(&folder.join("none")).is_empty());
        fs::remove_dir_all(&folder).expect("the directory is there");
    }
}
