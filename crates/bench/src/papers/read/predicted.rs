//! What the model predicted before, against what was measured (*A Performance Model*, section 3).

use crate::papers::figure::{Figure, Kind, Role};
use crate::papers::outcome::{Better, Reading};
use crate::papers::rows::{Rows, case_name, finding};
use crate::report::Record;

pub fn read(rows: &Rows<'_>) -> Reading {
    let mut reading = Reading::default();
    let known: Vec<&Record> = rows.records().iter().filter(|record| record.committed.is_some()).collect();
    for case in rows.cases() {
        for variant in ["plain", "best"] {
            let Some(row) = rows.row(case, variant) else { continue };
            let unit = ("cycles per packet", Better::Less);
            reading.findings.push(finding(case_name(case), variant, unit, None, (row.cycles, row.committed)));
        }
    }
    let error = |record: &&&Record, predicted: fn(&Record) -> Option<f64>| {
        predicted(record).map(|cycles| (cycles / record.cycles - 1.0).abs() * 100.0)
    };
    for (what, predicted) in [
        ("median error of predictions made before", (|record| record.committed) as fn(&Record) -> Option<f64>),
        ("median error for the machine as it was meanwhile", |record| record.predicted),
    ] {
        let mut errors: Vec<f64> = known.iter().filter_map(|record| error(&record, predicted)).collect();
        errors.sort_by(f64::total_cmp);
        if let Some(median) = errors.get(errors.len() / 2) {
            let case = format!("{} plans", errors.len());
            reading.findings.push(finding(case, what, ("%", Better::Less), None, (*median, None)));
        }
    }
    let mut figure =
        Figure::curves("Measured over predicted", "predicted before, cycles per packet", "measured, cycles per packet");
    (figure.kind, figure.log_y) = (Kind::Scatter, true);
    for (colour, (name, is_meant)) in [
        ("best plan", (|variant: &str| variant == "best") as fn(&str) -> bool),
        ("other plans", |variant| variant != "best" && variant != "plain"),
        ("packet by packet", |variant| variant == "plain"),
    ]
    .into_iter()
    .enumerate()
    {
        let meant = known.iter().filter(|record| is_meant(&record.variant));
        figure.add(name, Role::Measured, colour, meant.filter_map(|row| Some((row.committed?, row.cycles))).collect());
    }
    reading.figures.push(figure);
    reading.notes.push("the paper gives no error of its model".into());
    reading
}
