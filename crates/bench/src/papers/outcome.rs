//! What an experiment found: findings beside the paper's numbers and the predictions that were made before, figures, and under which conditions.

use super::figure::{Figure, short};
use serde::{Deserialize, Serialize};
use std::fmt::Write as _;

/// Which of two numbers is better.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Better {
    More,
    Less,
    /// A property of the machine.
    Neither,
}

/// One number, as the paper has it, as the model predicted it, and as it was measured.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Finding {
    pub case: String,
    pub what: String,
    pub unit: String,
    pub paper: Option<f64>,
    pub predicted: Option<f64>,
    pub measured: f64,
    pub better: Better,
}

/// Numbers and figures of an experiment.
#[derive(Default)]
pub struct Reading {
    pub findings: Vec<Finding>,
    pub figures: Vec<Figure>,
    pub notes: Vec<String>,
}

/// What other programs took of the machine meanwhile.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Load {
    /// CPUs that were busy with other programs, on average; unknown where `/proc/stat` cannot be read.
    pub other_cpus: Option<f64>,
}

impl Load {
    /// More than this much of a CPU moves results.
    const QUIET: f64 = 0.15;

    pub fn is_quiet(self) -> bool {
        self.other_cpus.is_some_and(|cpus| cpus < Load::QUIET)
    }

    pub fn words(self) -> String {
        match self.other_cpus {
            Some(cpus) if self.is_quiet() => format!("quiet machine (other programs: {cpus:.2} CPUs)"),
            Some(cpus) => format!("busy machine (other programs: {cpus:.2} CPUs): not for results"),
            None => "load of the machine unknown: not for results".to_string(),
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outcome {
    pub experiment: String,
    pub shows: String,
    /// The paper, and its figure or table.
    pub source: String,
    pub machine: String,
    pub processor: String,
    pub compiler: String,
    pub command: String,
    pub date: String,
    pub load: Load,
    pub findings: Vec<Finding>,
    pub figures: Vec<Figure>,
    pub notes: Vec<String>,
    /// All rows that were measured.
    pub records: Vec<serde_json::Value>,
}

impl Finding {
    /// Measured worse than the paper by more than three percent of it.
    pub fn is_lost(&self) -> bool {
        let Some(paper) = self.paper else { return false };
        let margin = paper.abs() * 0.03;
        match self.better {
            Better::More => self.measured < paper - margin,
            Better::Less => self.measured > paper + margin,
            Better::Neither => false,
        }
    }
}

fn number(value: Option<f64>) -> String {
    value.map_or("-".to_string(), short)
}

impl Outcome {
    /// What the run prints.
    pub fn table(&self) -> String {
        let mut text = format!("\n{}: {}\n{}\n{}\n\n", self.experiment, self.shows, self.source, self.load.words());
        let width = self.findings.iter().map(|finding| finding.case.chars().count()).max().unwrap_or(0).max(4);
        let what = self.findings.iter().map(|finding| finding.what.chars().count()).max().unwrap_or(0).max(4);
        let _ = writeln!(
            text,
            "{:<width$}  {:<what$} {:>10} {:>10} {:>10}  unit",
            "case", "what", "paper", "predicted", "measured"
        );
        for finding in &self.findings {
            let _ = writeln!(
                text,
                "{:<width$}  {:<what$} {:>10} {:>10} {:>10}  {}{}",
                finding.case,
                finding.what,
                number(finding.paper),
                number(finding.predicted),
                short(finding.measured),
                finding.unit,
                if finding.is_lost() { "  (less good than the paper)" } else { "" }
            );
        }
        self.notes.iter().for_each(|note| {
            let _ = writeln!(text, "note: {note}");
        });
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn finding(paper: Option<f64>, measured: f64, better: Better) -> Finding {
        Finding {
            case: "l2fwd".into(),
            what: "gain".into(),
            unit: "%".into(),
            paper,
            predicted: None,
            measured,
            better,
        }
    }

    #[test]
    fn what_is_worse_than_the_paper_is_lost() {
        assert!(finding(Some(138.0), 100.0, Better::More).is_lost());
        assert!(!finding(Some(138.0), 136.0, Better::More).is_lost() && !finding(None, 0.0, Better::More).is_lost());
        assert!(finding(Some(-3.3), -5.0, Better::More).is_lost() && finding(Some(10.0), 11.0, Better::Less).is_lost());
        assert!(!finding(Some(192.0), 384.0, Better::Neither).is_lost());
    }

    #[test]
    fn a_busy_machine_is_named() {
        assert!(Load { other_cpus: Some(0.05) }.is_quiet());
        for busy in [Load { other_cpus: Some(1.4) }, Load { other_cpus: None }] {
            assert!(!busy.is_quiet() && busy.words().contains("not for results"));
        }
    }
}
