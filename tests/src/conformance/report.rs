//! What a conformance run says at the end: a line a group, and a file of failures.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::Path;

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    Passed,
    Failed(String),
}

pub struct Result {
    pub group: String,
    pub name: String,
    pub outcome: Outcome,
}

#[derive(Default)]
pub struct Report {
    results: Vec<Result>,
}

/// The order of the summary; a group without cases is left out.
const GROUPS: [&str; 9] = [
    "accept",
    "reject",
    "located",
    "stf interp",
    "stf native",
    "stf other",
    "vectors interp",
    "vectors native",
    "p4info",
];

impl Report {
    pub fn add(&mut self, results: Vec<Result>) {
        self.results.extend(results);
    }

    fn failures(&self) -> impl Iterator<Item = (&Result, &str)> {
        self.results.iter().filter_map(|result| match &result.outcome {
            Outcome::Passed => None,
            Outcome::Failed(reason) => Some((result, reason.as_str())),
        })
    }

    /// `GROUP: N/M` a line, then the exempt cases among the failures.
    pub fn summary(&self, exempt: &[(String, String)]) -> String {
        let mut text = String::new();
        for group in GROUPS {
            let all = self.results.iter().filter(|result| result.group == group).count();
            let failed = self.failures().filter(|(result, _)| result.group == group).count();
            if all > 0 {
                let _ = writeln!(text, "{group}: {}/{all}", all - failed);
            }
        }
        for (path, reason) in exempt {
            if self.failures().any(|(result, _)| result.name == *path) {
                let _ = writeln!(text, "exempt: {path}: {reason}");
            }
        }
        text
    }

    /// Whether all failures are exempt. Programs of other architectures are counted, not judged.
    pub fn is_clean(&self, exempt: &[(String, String)]) -> bool {
        self.failures()
            .filter(|(result, _)| result.group != "stf other")
            .all(|(result, _)| exempt.iter().any(|(path, _)| *path == result.name))
    }

    /// One line a failure, grouped, each with its first message.
    pub fn write(&self, path: &Path) -> std::io::Result<()> {
        let mut groups: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (result, reason) in self.failures() {
            groups.entry(&result.group).or_default().push(format!("{}: {}: {reason}", result.group, result.name));
        }
        let mut text = String::new();
        for lines in groups.values_mut() {
            lines.sort();
            for line in lines {
                text.push_str(line);
                text.push('\n');
            }
        }
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder)?;
        }
        std::fs::write(path, text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failed(group: &str, name: &str) -> Result {
        Result { group: group.to_string(), name: name.to_string(), outcome: Outcome::Failed("because".to_string()) }
    }

    #[test]
    fn exempt_failures_are_counted_and_named() {
        let mut report = Report::default();
        report.add(vec![failed("accept", "a.p4"), failed("stf other", "b.stf")]);
        let passed = Result { group: "accept".to_string(), name: "c.p4".to_string(), outcome: Outcome::Passed };
        report.add(vec![passed]);
        let exempt = vec![("a.p4".to_string(), "needs a device".to_string())];
        assert_eq!(report.summary(&exempt), "accept: 1/2\nstf other: 0/1\nexempt: a.p4: needs a device\n");
        assert!(report.is_clean(&exempt));
        assert!(!report.is_clean(&[]));
    }
}
