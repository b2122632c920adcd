//! Path compression of tries (*A Performance Model*, 4.6): 20,000 prefixes of 48 bits, of which some, all or none have paths that can be compressed.

use crate::papers::figure::{Figure, Role};
use crate::papers::outcome::{Better, Reading};
use crate::papers::plans::{COMPRESSED, UNCOMPRESSED};
use crate::papers::rows::{Bars, Rows, finding};
use crate::purpose::Experiment;
use crate::report::Record;
use crate::workload::routers::{compressible_prefixes, trie_nodes};

/// Percent of throughput: in the worst case, on average, and in the best.
const PAPER: [(u32, f64); 3] = [(0, -3.3), (50, 16.1), (100, 38.0)];
/// Lookups that compression saved then.
const SAVED: [(u32, f64); 3] = [(0, 0.0), (50, 1.25), (100, 3.0)];

pub fn read(rows: &Rows<'_>) -> Reading {
    let mut reading = Reading::default();
    let (mut bars, mut names) = (Bars::default(), Vec::new());
    let percent =
        |record: &Record| if let Experiment::Trie(percent) = record.case.experiment { Some(percent) } else { None };
    let of =
        |values: &[(u32, f64)], wanted: u32| values.iter().find(|(known, _)| *known == wanted).map(|(_, value)| *value);
    let compressed = rows.records().iter().filter(|record| record.variant == COMPRESSED);
    for (record, share) in compressed.filter_map(|record| Some((record, percent(record)?))) {
        let is_other = |other: &&Record| other.variant == UNCOMPRESSED && other.case == record.case;
        let Some(other) = rows.records().iter().find(is_other) else { continue };
        let (all, kept) = trie_nodes(&compressible_prefixes(record.case.size, share));
        // A walk's cost is by nodes, as the model has it of the compressed trie.
        let predicted = record.committed.map(|cycles| {
            let walk = (cycles - record.floor).max(0.0);
            (((record.floor + walk * all / kept) / cycles) - 1.0) * 100.0
        });
        let case = format!("20,000 /48, {share} % with paths of their own");
        let gain = (other.cycles / record.cycles - 1.0) * 100.0;
        let unit = ("% packets a second", Better::More);
        let what = "compressed over uncompressed";
        reading.findings.push(finding(case.clone(), what, unit, of(&PAPER, share), (gain, predicted)));
        let unit = ("nodes a lookup", Better::Neither);
        reading.findings.push(finding(case, "nodes saved", unit, of(&SAVED, share), (all - kept, None)));
        bars.push(names.len(), of(&PAPER, share), (gain, predicted));
        names.push(format!("{share} %"));
    }
    let mut figure = Figure::bars(
        "Path compression of a trie",
        "% more packets a second, by the share of prefixes whose paths can be compressed",
        names,
    );
    figure.add("lookup tables of 8 bits", Role::Paper, 0, bars.paper);
    figure.add("nodes of six bits", Role::Measured, 0, bars.measured);
    figure.add("nodes of six bits", Role::Predicted, 0, bars.predicted);
    reading.figures.push(figure);
    reading.notes.push(
        "the paper's trie has a table of 24 bits, then steps of eight; ours has steps of six bits from the first on"
            .into(),
    );
    reading.notes.push("the uncompressed trie is predicted from the compressed one's walk, by nodes".into());
    reading
}
