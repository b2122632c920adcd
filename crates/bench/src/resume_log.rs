//! What the processes of a run have written, kept beside the records until the run is complete: one that was interrupted goes on where it stopped.

use super::experiment::Case;
use driver::failure::Failure;
use std::fs::{self, File, OpenOptions};
use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Before what a process wrote, and after it: what is between is complete.
const BEGIN: &str = "begin\t";
const END: &str = "end";

/// Without a folder nothing is kept.
pub struct ResumeLog {
    file: Option<(PathBuf, File)>,
    /// What an interrupted run has measured.
    kept: Vec<(String, Vec<String>)>,
}

impl ResumeLog {
    /// Takes up the log of a run that measured the same, which is what `key` identifies; else begins a new one.
    pub fn open(folder: Option<&Path>, name: &str, key: &str) -> Result<ResumeLog, Failure> {
        let Some(folder) = folder else { return Ok(ResumeLog { file: None, kept: Vec::new() }) };
        let path = folder.join(format!("{name}.journal"));
        let failed = |error| Failure::unwritable(&path, &error);
        let text = fs::read_to_string(&path).unwrap_or_default();
        let goes_on = text.lines().next() == Some(key);
        fs::create_dir_all(folder).map_err(failed)?;
        let mut options = OpenOptions::new();
        let options = if goes_on { options.append(true) } else { options.write(true).truncate(true) };
        let mut file = options.create(true).open(&path).map_err(failed)?;
        if !goes_on {
            writeln!(file, "{key}").map_err(failed)?;
        }
        Ok(ResumeLog { kept: if goes_on { blocks(&text) } else { Vec::new() }, file: Some((path.clone(), file)) })
    }

    pub fn kept(&self) -> usize {
        self.kept.len()
    }

    /// What the process of this number has written about a case, if it has been measured before.
    pub fn take(&mut self, case: &Case, process: u32) -> Option<Vec<String>> {
        let title = format!("{case} {process}");
        let at = self.kept.iter().position(|(known, _)| *known == title)?;
        Some(self.kept.swap_remove(at).1)
    }

    pub fn add(&mut self, case: &Case, process: u32, lines: &[String]) -> Result<(), Failure> {
        let Some((path, file)) = &mut self.file else { return Ok(()) };
        let text = format!("{BEGIN}{case} {process}\n{}\n{END}\n", lines.join("\n"));
        file.write_all(text.as_bytes()).map_err(|error| Failure::unwritable(path, &error))
    }

    /// The run is complete.
    pub fn remove(self) -> Result<(), Failure> {
        match self.file {
            Some((path, _)) => fs::remove_file(&path).map_err(|error| Failure::unwritable(&path, &error)),
            None => Ok(()),
        }
    }
}

fn blocks(text: &str) -> Vec<(String, Vec<String>)> {
    let mut blocks = Vec::new();
    let mut open: Option<(String, Vec<String>)> = None;
    for line in text.lines().skip(1) {
        if let Some(title) = line.strip_prefix(BEGIN) {
            open = Some((title.to_string(), Vec::new()));
        } else if line == END {
            blocks.extend(open.take());
        } else if let Some((_, lines)) = &mut open {
            lines.push(line.to_string());
        }
    }
    blocks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_said_to_its_end_is_there_again() {
        let folder = std::env::temp_dir().join(format!("bacus-resume-log-{}", std::process::id()));
        let case: Case = "l2fwd:256:programs".parse().expect("a case");
        let mut log = ResumeLog::open(Some(&folder), "bench", "one").expect("a resume log");
        log.add(&case, 0, &["found\t1".to_string(), "note\t2".to_string()]).expect("a line");
        let path = folder.join("bench.journal");
        let text = fs::read_to_string(&path).expect("it is there");
        fs::write(&path, format!("{text}{BEGIN}{case} 1\nfound\t3\n")).expect("cut off");
        let mut again = ResumeLog::open(Some(&folder), "bench", "one").expect("a resume log");
        assert_eq!(again.kept(), 1);
        assert_eq!(again.take(&case, 0), Some(vec!["found\t1".to_string(), "note\t2".to_string()]));
        assert_eq!(again.take(&case, 1), None);
        let other = ResumeLog::open(Some(&folder), "bench", "two").expect("a resume log");
        assert_eq!(other.kept(), 0);
        other.remove().expect("removed");
        fs::remove_dir_all(folder).expect("the folder is there");
    }
}
