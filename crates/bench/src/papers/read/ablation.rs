//! Each transformation on small and on large tables (*P4+BACUS*, figures 14 and 15), and the burst at entry with copies.

use crate::papers::figure::{Figure, Role};
use crate::papers::outcome::{Better, Reading};
use crate::papers::rows::{Bars, Rows, case_name, finding, gain, speedup};

/// Figure 14 has tables of up to so many entries.
const SMALL: u64 = 1_000;
/// With bursts of Bmax at entry instead of Bmax/4, in percent.
const UNBOUNDED: f64 = -36.0;
const VARIANTS: [(&str, &str); 5] = [
    ("B", "papers:B"),
    ("B+S+P", "papers:B+S+P"),
    ("B+TJ", "papers:B+join"),
    ("B+TJ+S+P", "papers:B+S+P+join"),
    ("bacus", "best"),
];

pub fn read(rows: &Rows<'_>) -> Reading {
    let mut reading = Reading::default();
    for (title, is_small) in [("Small tables", true), ("Large tables", false)] {
        let cases: Vec<(&str, u64)> =
            rows.cases().into_iter().filter(|(_, size)| (*size <= SMALL) == is_small).collect();
        if cases.is_empty() {
            continue;
        }
        let mut bars: [Bars; VARIANTS.len()] = Default::default();
        for (number, case) in cases.iter().enumerate() {
            let Some(packet) = rows.row(*case, "papers:packet") else { continue };
            for ((name, variant), bars) in VARIANTS.iter().zip(&mut bars) {
                let Some(row) = rows.row(*case, variant) else { continue };
                let both = speedup(packet, row);
                let unit = ("times the packets a second", Better::More);
                reading.findings.push(finding(
                    case_name(*case),
                    &format!("{name} over packet by packet"),
                    unit,
                    None,
                    both,
                ));
                bars.push(number, None, both);
            }
        }
        let names = cases.iter().map(|(name, _)| name.to_string()).collect();
        let mut figure = Figure::bars(title, "packets a second, as a multiple of packet by packet", names);
        for (colour, ((name, _), bars)) in VARIANTS.iter().zip(bars).enumerate() {
            figure.add(name, Role::Measured, colour, bars.measured);
            figure.add(name, Role::Predicted, colour, bars.predicted);
        }
        reading.figures.push(figure);
    }
    for case in rows.cases() {
        let (Some(bounded), Some(unbounded)) = (rows.row(case, "entry:16"), rows.row(case, "entry:64")) else {
            continue;
        };
        let what = "bursts of 64 (Bmax) at entry instead of 16 (Bmax/4)";
        // An effect to be seen, not a goal.
        let unit = ("% packets a second", Better::Neither);
        reading.findings.push(finding(case_name(case), what, unit, Some(UNBOUNDED), gain(bounded, unbounded)));
    }
    reading.notes.push(
        "figures 14 and 15 have no numbers in the paper's text: compared is which transformation helps where".into(),
    );
    reading.notes.push(
        "a missing B+TJ is a join that is not legal, or whose entries exceed the limit; mpls has one size here".into(),
    );
    reading
}
