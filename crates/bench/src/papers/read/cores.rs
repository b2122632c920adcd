//! Throughput over workers (*A Performance Model*, figure 4).

use crate::cores::{ALONE, WORKERS};
use crate::papers::figure::{Figure, Role};
use crate::papers::outcome::{Better, Reading};
use crate::papers::rows::{Rows, case_name, finding};
use crate::report::Record;

pub fn read(rows: &Rows<'_>) -> Reading {
    let mut reading = Reading::default();
    let mut figure = Figure::curves("Throughput over workers", "workers", "million packets a second");
    for (number, case) in rows.cases().into_iter().enumerate() {
        let mut points: Vec<(f64, &Record)> =
            rows.of_case(case).filter_map(|row| Some((count(row, WORKERS)?, row))).collect();
        points.sort_by(|one, other| one.0.total_cmp(&other.0));
        let Some((_, one)) = points.first().copied() else { continue };
        for (count, row) in points.iter().skip(1) {
            let scaled = |cycles: Option<f64>, of: Option<f64>| Some(of? / cycles?);
            let both = (one.cycles / row.cycles, scaled(row.committed, one.committed));
            let what = format!("{count} workers over one");
            // The paper describes it as linear, without numbers.
            reading.findings.push(finding(case_name(case), &what, ("times", Better::More), Some(*count), both));
        }
        for (count, row) in rows.of_case(case).filter_map(|row| Some((count(row, ALONE)?, row))) {
            let times = ("times", Better::More);
            let what = format!("{count} switches that share nothing, over one");
            reading.findings.push(finding(case_name(case), &what, times, None, (one.cycles / row.cycles, None)));
            let Some((_, workers)) = points.iter().find(|(workers, _)| *workers == count) else { continue };
            let what = format!("{count} workers over {count} switches that share nothing");
            let both = (row.cycles / workers.cycles, Some(1.0));
            reading.findings.push(finding(case_name(case), &what, times, Some(1.0), both));
        }
        let name = case.0;
        figure.add(name, Role::Measured, number, points.iter().map(|(count, row)| (*count, row.mpps)).collect());
        let predicted = points.iter().filter_map(|(count, row)| Some((*count, row.mpps * row.cycles / row.committed?)));
        figure.add(name, Role::Predicted, number, predicted.collect());
    }
    reading.figures.push(figure);
    reading.notes.push(
        "the paper: linear until the ports are full, at 44 Mpps; here there are no ports that could be full".into(),
    );
    reading.notes.push(
        "threads of one core, and other programs, take from several workers what one has alone: they take the same from switches that share nothing"
            .into(),
    );
    reading
}

/// How many workers a variant of this kind has.
fn count(record: &Record, kind: &str) -> Option<f64> {
    record.variant.strip_prefix(kind)?.parse().ok()
}
