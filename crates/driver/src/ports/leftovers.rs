//! Files that a switch leaves behind when it is killed: captures that were not finished, and copies of captures to be read. The next switch that would make
//! such a file removes those whose process is gone.

use std::fs;
use std::path::Path;

/// Removes files of the directory whose names are `before`, the number of a process that is gone, `after`.
pub fn remove(directory: &Path, before: &str, after: &str) {
    let directory = if directory.as_os_str().is_empty() { Path::new(".") } else { directory };
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process =
            name.to_str().and_then(|name| name.strip_prefix(before)?.strip_suffix(after)?.parse::<u32>().ok());
        if process.is_some_and(|process| !Path::new("/proc").join(process.to_string()).exists()) {
            drop(fs::remove_file(entry.path()));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_files_of_processes_that_are_gone_are_removed() {
        let directory = std::env::temp_dir().join(format!("bacus-leftovers-{}", std::process::id()));
        fs::create_dir_all(&directory).expect("a directory can be made");
        let (gone, alive) = (".out.pcap.4194305".to_string(), format!(".out.pcap.{}", std::process::id()));
        let others = [alive, ".other.pcap.4194305".to_string(), ".out.pcap.kept".to_string(), "out.pcap".to_string()];
        for name in others.iter().chain([&gone]) {
            fs::write(directory.join(name), "").expect("a file can be written");
        }
        remove(&directory, ".out.pcap.", "");
        assert!(!directory.join(gone).exists());
        assert!(others.iter().all(|name| directory.join(name).exists()));
        fs::remove_dir_all(&directory).expect("the directory is there");
    }
}
