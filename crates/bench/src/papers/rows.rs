//! The records of an experiment, by case and variant.

use super::outcome::{Better, Finding};
use crate::report::Record;

pub struct Rows<'r> {
    records: &'r [Record],
}

/// Measured, and as it was predicted before.
pub type Both = (f64, Option<f64>);

impl<'r> Rows<'r> {
    pub fn new(records: &'r [Record]) -> Rows<'r> {
        Rows { records }
    }

    pub fn records(&self) -> &'r [Record] {
        self.records
    }

    /// Applications and sizes, in the order they were measured.
    pub fn cases(&self) -> Vec<(&'r str, u64)> {
        let mut cases: Vec<(&str, u64)> = Vec::new();
        for record in self.records {
            let case = (record.case.name(), record.case.size);
            if !cases.contains(&case) {
                cases.push(case);
            }
        }
        cases
    }

    /// All variants of a case.
    pub fn of_case(&self, (name, size): (&str, u64)) -> impl Iterator<Item = &'r Record> {
        self.records.iter().filter(move |record| record.case.name() == name && record.case.size == size)
    }

    /// The variant of a case, at its best burst.
    pub fn row(&self, case: (&str, u64), variant: &str) -> Option<&'r Record> {
        self.best(case, |name| name == variant)
    }

    /// The cheapest of the variants with such a name.
    pub fn best(&self, case: (&str, u64), is_meant: impl Fn(&str) -> bool) -> Option<&'r Record> {
        let meant = self.of_case(case).filter(|record| is_meant(&record.variant));
        meant.min_by(|one, other| one.cycles.total_cmp(&other.cycles))
    }
}

/// How much more packets a second `to` takes than `from`, in percent.
pub fn gain(from: &Record, to: &Record) -> Both {
    let percent = |from: f64, to: f64| (from / to - 1.0) * 100.0;
    (percent(from.cycles, to.cycles), from.committed.zip(to.committed).map(|(from, to)| percent(from, to)))
}

/// Packets a second of `to`, as a multiple of those of `from`.
pub fn speedup(from: &Record, to: &Record) -> Both {
    (from.cycles / to.cycles, from.committed.zip(to.committed).map(|(from, to)| from / to))
}

/// `l2fwd, 256 entries`; of l2fwd_crypto, the size is the bytes of a frame.
pub fn case_name((name, size): (&str, u64)) -> String {
    let unit = if name == "l2fwd_crypto" { "bytes" } else { "entries" };
    format!("{name}, {} {unit}", super::figure::short(size as f64))
}

pub fn finding(case: String, what: &str, (unit, better): (&str, Better), paper: Option<f64>, both: Both) -> Finding {
    let (measured, predicted) = both;
    Finding { case, what: what.to_string(), unit: unit.to_string(), paper, predicted, measured, better }
}

/// The value beside a name.
pub fn of(values: &[(&str, f64)], name: &str) -> Option<f64> {
    values.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

/// Points of a series over categories, one for each case that has a value.
#[derive(Default)]
pub struct Bars {
    pub paper: Vec<(f64, f64)>,
    pub predicted: Vec<(f64, f64)>,
    pub measured: Vec<(f64, f64)>,
}

impl Bars {
    pub fn push(&mut self, category: usize, paper: Option<f64>, (measured, predicted): Both) {
        let x = category as f64;
        self.paper.extend(paper.map(|value| (x, value)));
        self.predicted.extend(predicted.map(|value| (x, value)));
        self.measured.push((x, measured));
    }
}
