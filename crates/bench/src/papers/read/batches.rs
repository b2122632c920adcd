//! Throughput over batch size and table size (*A Performance Model*, figure 5): solid with prefetches, and batching alone.

use crate::papers::figure::{Figure, Role, short};
use crate::papers::outcome::{Better, Reading};
use crate::papers::plans::BURSTS;
use crate::papers::rows::{Rows, finding};
use crate::report::Record;

/// The batch that the paper finds best without prefetches: for tables in the caches, and beyond them.
const BEST_BATCH: [f64; 2] = [32.0, 128.0];
/// Entries of the paper's tables that are in no cache.
const BEYOND: u64 = 1 << 20;

pub fn read(rows: &Rows<'_>) -> Reading {
    let mut reading = Reading::default();
    let cases = rows.cases();
    let mut figure = Figure::curves(
        "Throughput over batch size, by entries of the table",
        "packets of a batch",
        "million packets a second",
    );
    let mut flat: [Vec<f64>; 2] = Default::default();
    for (number, case) in cases.iter().enumerate() {
        for (kind, prefix) in ["B+P:", "B:"].into_iter().enumerate() {
            let points: Vec<(u32, &Record)> = BURSTS
                .iter()
                .filter_map(|burst| Some((*burst, rows.row(*case, &format!("{prefix}{burst}"))?)))
                .collect();
            let Some((burst, best)) = points.iter().min_by(|one, other| one.1.cycles.total_cmp(&other.1.cycles)) else {
                continue;
            };
            let name = format!("{}, {}", short(case.1 as f64), prefix.trim_end_matches(':'));
            let expected = points.iter().filter_map(|(burst, row)| Some((f64::from(*burst), row.committed?)));
            let predicted = expected.clone().min_by(|one, other| one.1.total_cmp(&other.1)).map(|(burst, _)| burst);
            let paper = BEST_BATCH[usize::from(case.1 >= BEYOND)];
            let what = format!("best batch, {}", if kind == 0 { "with prefetches" } else { "batching alone" });
            let unit = ("packets", Better::Neither);
            let case_name = format!("l2fwd with one lookup, {} entries", short(case.1 as f64));
            reading.findings.push(finding(
                case_name,
                &what,
                unit,
                (kind == 1).then_some(paper),
                (f64::from(*burst), predicted),
            ));
            flat[kind].push(best.mpps);
            let colour = 2 * number + kind;
            figure.add(
                &name,
                Role::Measured,
                colour,
                points.iter().map(|(burst, row)| (f64::from(*burst), row.mpps)).collect(),
            );
            figure.add(&name, Role::Predicted, colour, predicted_rates(&points));
        }
    }
    for (kind, rates) in ["with prefetches", "batching alone"].into_iter().zip(&flat) {
        let (Some(first), Some(last)) = (rates.first(), rates.last()) else { continue };
        let what = format!("rate with the largest table, of that with the smallest, {kind}");
        reading.findings.push(finding(
            "l2fwd with one lookup".into(),
            &what,
            ("of 1", Better::More),
            None,
            (last / first, None),
        ));
    }
    reading.figures.push(figure);
    reading.notes.push(
        "the paper gives no numbers: with prefetches, throughput is stable over table sizes; without, it falls".into(),
    );
    reading
}

fn predicted_rates(points: &[(u32, &Record)]) -> Vec<(f64, f64)> {
    let rate = |(burst, row): &(u32, &Record)| Some((f64::from(*burst), row.mpps * row.cycles / row.committed?));
    points.iter().filter_map(rate).collect()
}
