//! What the system reports of itself in files, below a root that tests replace.

use std::fs;
use std::path::PathBuf;

pub struct Host {
    root: PathBuf,
}

impl Host {
    pub fn at(root: impl Into<PathBuf>) -> Host {
        Host { root: root.into() }
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.root.join(path)
    }

    /// A file's text without the white space around it; none where there is no such file.
    pub fn text(&self, path: &str) -> Option<String> {
        fs::read_to_string(self.path(path)).ok().map(|text| text.trim().to_string())
    }

    pub fn number(&self, path: &str) -> Option<u64> {
        self.text(path)?.parse().ok()
    }

    /// Names in a directory, in order.
    pub fn names(&self, path: &str) -> Vec<String> {
        let entries = fs::read_dir(self.path(path)).into_iter().flatten().flatten();
        let mut names: Vec<String> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        names
    }

    /// The last part of a link's target.
    pub fn target(&self, path: &str) -> Option<String> {
        let target = fs::read_link(self.path(path)).ok()?;
        target.file_name().and_then(|name| name.to_str()).map(str::to_string)
    }

    /// The first number behind a name in a file of lines `name: number …`.
    pub fn field(&self, path: &str, name: &str) -> Option<String> {
        let text = self.text(path)?;
        let line = text.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim_start_matches(':').split_whitespace().next().map(str::to_string)
    }

    pub fn exists(&self, path: &str) -> bool {
        self.path(path).exists()
    }
}

#[cfg(test)]
pub mod tests {
    use super::*;

    /// A host that has these files alone.
    pub fn host(name: &str, files: &[(&str, &str)]) -> Host {
        let root = std::env::temp_dir().join(format!("bacus-doctor-{}-{name}", std::process::id()));
        let _ = fs::remove_dir_all(&root);
        for (path, text) in files {
            let file = root.join(path);
            fs::create_dir_all(file.parent().expect("a file is in a directory")).expect("a directory can be made");
            fs::write(file, text).expect("a file can be written");
        }
        Host::at(root)
    }
}
