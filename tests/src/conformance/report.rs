//! The report at the end of a conformance run: a line a group, and a file of failures.

use std::collections::{BTreeMap, BTreeSet};
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

/// A case that fails for a reason that is not ours.
pub struct Exempt {
    path: String,
    /// The one group that fails, if the reason begins with it; without one, whatever is done with the program may fail.
    group: Option<&'static str>,
    reason: String,
}

impl Exempt {
    pub fn new(path: &str, reason: &str) -> Exempt {
        let named = reason.split_once(": ").map(|(group, _)| group);
        let group = GROUPS.into_iter().find(|group| named == Some(group));
        Exempt { path: path.to_string(), group, reason: reason.to_string() }
    }

    fn is_of(&self, result: &Result) -> bool {
        result.name == self.path && self.group.is_none_or(|group| result.group == group)
    }
}

pub struct Report {
    results: Vec<Result>,
    exempt: Vec<Exempt>,
    /// Cases that could not be run, because the checkout has a link in place of the program, to what it lacks.
    absent: BTreeSet<String>,
}

/// The order of the summary; a group without cases is left out.
const GROUPS: [&str; 17] = [
    "accept",
    "format",
    "reject",
    "located",
    "stf interp",
    "stf native",
    "stf other",
    "vectors interp",
    "vectors native",
    "p4info",
    "json",
    "json p4info",
    "json packets",
    "json written",
    "json written stf",
    "json stf interp",
    "json stf native",
];

impl Report {
    pub fn new(exempt: Vec<Exempt>, absent: BTreeSet<String>) -> Report {
        Report { results: Vec::new(), exempt, absent }
    }

    pub fn add(&mut self, results: Vec<Result>) {
        self.results.extend(results);
    }

    fn failures(&self) -> impl Iterator<Item = (&Result, &str)> {
        self.results.iter().filter_map(|result| match &result.outcome {
            Outcome::Passed => None,
            Outcome::Failed(reason) => Some((result, reason.as_str())),
        })
    }

    fn is_exempt(&self, result: &Result) -> bool {
        self.exempt.iter().any(|exempt| exempt.is_of(result))
    }

    /// `GROUP: N/M` a line, where exempt cases that fail have not passed either, and how many of the failures they are; then why they are exempt, and what
    /// was not run.
    pub fn summary(&self) -> String {
        let mut text = String::new();
        for group in GROUPS {
            let all = self.results.iter().filter(|result| result.group == group).count();
            let (exempt, failed): (Vec<&Result>, Vec<&Result>) = self
                .failures()
                .map(|(result, _)| result)
                .filter(|result| result.group == group)
                .partition(|result| self.is_exempt(result));
            let failures = exempt.len() + failed.len();
            if all > 0 {
                let _ = write!(text, "{group}: {}/{all}", all - failures);
                let _ = match exempt.len() {
                    0 => writeln!(text),
                    count => writeln!(text, ", {count} of {failures} failures exempt"),
                };
            }
        }
        for exempt in &self.exempt {
            self.say_exempt(exempt, &mut text);
        }
        if !self.absent.is_empty() {
            let names: Vec<&str> = self.absent.iter().map(String::as_str).collect();
            let _ = writeln!(text, "not in this checkout: {}", names.join(", "));
        }
        text
    }

    /// Why a case is exempt, or that it need not be; nothing, if this run did not have it.
    fn say_exempt(&self, exempt: &Exempt, text: &mut String) {
        let (path, reason) = (&exempt.path, &exempt.reason);
        let _ = if self.failures().any(|(result, _)| exempt.is_of(result)) {
            writeln!(text, "exempt: {path}: {reason}")
        } else if self.results.iter().any(|result| exempt.is_of(result)) {
            writeln!(text, "stale: {path} passes, though it is exempt: {reason}")
        } else {
            Ok(())
        };
    }

    /// Whether all failures are exempt. Programs of other architectures are counted, not judged.
    pub fn is_clean(&self) -> bool {
        self.failures().all(|(result, _)| result.group == "stf other" || self.is_exempt(result))
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

    fn passed(group: &str, name: &str) -> Result {
        Result { group: group.to_string(), name: name.to_string(), outcome: Outcome::Passed }
    }

    fn report(exempt: Vec<Exempt>, results: Vec<Result>) -> Report {
        let mut report = Report::new(exempt, BTreeSet::new());
        report.add(results);
        report
    }

    #[test]
    fn exempt_failures_are_failures_and_named() {
        let results = || vec![failed("accept", "a.p4"), failed("stf other", "b.stf"), passed("accept", "c.p4")];
        let exempted = report(vec![Exempt::new("a.p4", "needs a device")], results());
        assert_eq!(
            exempted.summary(),
            "accept: 1/2, 1 of 1 failures exempt\nstf other: 0/1\nexempt: a.p4: needs a device\n"
        );
        assert!(exempted.is_clean());
        let judged = report(Vec::new(), results());
        assert_eq!(judged.summary(), "accept: 1/2\nstf other: 0/1\n");
        assert!(!judged.is_clean());
    }

    #[test]
    fn a_reason_that_names_a_group_is_for_that_group() {
        let exempt = || vec![Exempt::new("a.p4", "p4info: another order")];
        let in_group = report(exempt(), vec![passed("accept", "a.p4"), failed("p4info", "a.p4")]);
        assert_eq!(
            in_group.summary(),
            "accept: 1/1\np4info: 0/1, 1 of 1 failures exempt\nexempt: a.p4: p4info: another order\n"
        );
        assert!(in_group.is_clean());
        let elsewhere = report(exempt(), vec![failed("accept", "a.p4")]);
        assert_eq!(elsewhere.summary(), "accept: 0/1\n");
        assert!(!elsewhere.is_clean());
    }

    #[test]
    fn an_exempt_case_that_passes_is_said() {
        let exempt = vec![Exempt::new("a.p4", "needs a device"), Exempt::new("b.p4", "p4info: another order")];
        let stale = report(exempt, vec![passed("accept", "a.p4"), passed("accept", "b.p4")]);
        let summary = "accept: 2/2\nstale: a.p4 passes, though it is exempt: needs a device\n";
        assert_eq!(stale.summary(), summary, "of b.p4 nothing is known: its P4Info was not compared");
        assert!(stale.is_clean());
    }

    #[test]
    fn cases_that_a_checkout_lacks_are_named_in_a_line() {
        let absent = ["b.p4", "a.p4"].map(str::to_string).into();
        let report = Report::new(Vec::new(), absent);
        assert_eq!(report.summary(), "not in this checkout: a.p4, b.p4\n");
        assert!(report.is_clean());
    }
}
