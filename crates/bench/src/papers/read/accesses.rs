//! Accesses to the packet's bytes (*Optimizing Packet Accesses*, table 2): each field for itself, neighbours combined, and
//! windows that are read once and stored once.

use crate::papers::figure::{Figure, Role};
use crate::papers::outcome::{Better, Reading};
use crate::papers::plans::{MODES, in_vectors};
use crate::papers::rows::{Bars, Rows, case_name, finding};

/// What the paper counted: accesses to DRAM, and their bytes.
const PAPER: [(&str, [[f64; 2]; 3]); 3] = [
    ("l3switch", [[29.0, 696.0], [13.0, 200.0], [2.0, 72.0]]),
    ("mpls_npf", [[16.0, 384.0], [9.0, 212.0], [2.0, 48.0]]),
    ("firewall", [[24.2, 580.0], [4.4, 140.0], [1.0, 32.0]]),
];

pub fn read(rows: &Rows<'_>) -> Reading {
    let mut reading = Reading::default();
    let cases = rows.cases();
    let (mut bars, mut names): ([Bars; 3], Vec<String>) = Default::default();
    for case in &cases {
        let paper = PAPER.iter().find(|(name, _)| *name == case.0).map(|(_, counted)| counted);
        for (mode, ((name, _), bars)) in MODES.iter().zip(&mut bars).enumerate() {
            let Some(row) = rows.row(*case, name) else { continue };
            let of_paper = paper.map(|counted| counted[mode]);
            if let Some(accesses) = row.accesses {
                let count = f64::from(accesses.reads + accesses.stores);
                let bytes = f64::from(accesses.bytes_read + accesses.bytes_stored);
                let paper = of_paper.map(|[count, _]| count);
                let what = format!("accesses, {name}");
                reading.findings.push(finding(
                    case_name(*case),
                    &what,
                    ("per packet", Better::Less),
                    paper,
                    (count, None),
                ));
                let what = format!("bytes, {name}");
                let paper_bytes = of_paper.map(|[_, bytes]| bytes);
                let unit = ("per packet", Better::Less);
                reading.findings.push(finding(case_name(*case), &what, unit, paper_bytes, (bytes, None)));
                bars.push(names.len(), paper, (count, None));
            }
            let both = (row.cycles, row.committed);
            let what = format!("cycles per packet, {name}");
            reading.findings.push(finding(case_name(*case), &what, ("cycles", Better::Less), None, both));
        }
        // A program whose plan has no stages has no bars.
        if MODES.iter().any(|(name, _)| rows.row(*case, name).is_some_and(|row| row.accesses.is_some())) {
            names.push(case.0.to_string());
        }
        let planned = MODES.iter().map(|(name, _)| in_vectors(name));
        for name in ["best".to_string()].into_iter().chain(planned) {
            let Some(row) = rows.row(*case, &name) else { continue };
            let both = (row.cycles, row.committed);
            let what = format!("cycles per packet, {name}");
            reading.findings.push(finding(case_name(*case), &what, ("cycles", Better::Less), None, both));
        }
    }
    let mut figure = Figure::bars("Accesses to a packet's bytes", "accesses per packet on the hot path", names);
    for (colour, ((name, _), bars)) in MODES.iter().zip(bars).enumerate() {
        figure.add(&format!("{name} on a network processor"), Role::Paper, colour, bars.paper);
        figure.add(name, Role::Measured, colour, bars.measured);
    }
    reading.figures.push(figure);
    reading.notes.push(
        "the paper's accesses are to DRAM of 8 bytes or more, without a cache; ours are loads and stores of the hot path, \
         of at most 8 bytes, and in cgpc of 32"
            .into(),
    );
    reading
}
