//! What table joins gain on l2l3acl (*COP*, table 1), and up to how many entries l2fwd's pays (*P4+BACUS*, figure 13).

use crate::joins;
use crate::papers::figure::{Figure, Role, short};
use crate::papers::outcome::{Better, Reading};
use crate::papers::rows::{Bars, Rows, case_name, finding, speedup};

/// Packets a second: as P4C compiles it, scheduled and prefetched, and joined as well; by entries.
pub const COP: [(u64, [f64; 3]); 3] = [(4, [2.9, 4.8, 7.4]), (16_384, [2.7, 4.8, 6.9]), (1 << 20, [2.4, 4.2, 6.2])];
const TIMES: (&str, Better) = ("times the packets a second", Better::More);
/// Entries up to which a join pays, packet by packet and with B+S+P.
const PAYS: [(&str, f64); 2] = [("papers, packet by packet", 64.0), ("papers, B+S+P", 1024.0)];

pub fn join(rows: &Rows<'_>) -> Reading {
    let mut reading = Reading::default();
    let cases = rows.cases();
    let mut bars: [Bars; 3] = Default::default();
    for (number, case) in cases.iter().enumerate() {
        let paper = COP.iter().find(|(entries, _)| *entries == case.1).map(|(_, rates)| *rates);
        let Some(plain) = rows.row(*case, "papers:packet") else { continue };
        let pick = rows.best(*case, |variant| variant.starts_with("pick:")).or(rows.row(*case, "best"));
        let variants = [
            ("S+P, papers' structures", rows.row(*case, "papers:B+S+P"), paper.map(|rates| rates[1] / rates[0])),
            (
                "S+P and all joins, papers' structures",
                rows.row(*case, "papers:B+S+P+join"),
                paper.map(|rates| rates[2] / rates[0]),
            ),
            ("our structures and the joins that the model picks", pick, paper.map(|rates| rates[2] / rates[0])),
        ];
        for ((what, row, paper), bars) in variants.into_iter().zip(&mut bars) {
            let Some(row) = row else { continue };
            let both = speedup(plain, row);
            reading.findings.push(finding(case_name(*case), what, TIMES, paper, both));
            bars.push(number, paper, both);
        }
        let lookups = |variant: &str| rows.row(*case, variant).and_then(|row| row.lookups);
        for (what, variant, paper) in
            [("lookups without joins", "papers:B+S+P", 7.0), ("lookups with all joins", "papers:B+S+P+join", 4.0)]
        {
            if let Some(count) = lookups(variant) {
                let unit = ("lookups a packet", Better::Less);
                reading.findings.push(finding(case_name(*case), what, unit, Some(paper), (count, None)));
            }
        }
    }
    let names = cases.iter().map(|(_, size)| format!("{} entries", short(*size as f64))).collect();
    let mut figure = Figure::bars("l2l3acl with joins", "packets a second, as a multiple of packet by packet", names);
    let [scheduled, joined, ours] = bars;
    figure.add("S+P", Role::Paper, 0, scheduled.paper);
    figure.add("S+P", Role::Measured, 0, scheduled.measured);
    figure.add("S+P", Role::Predicted, 0, scheduled.predicted);
    figure.add("S+P+join", Role::Paper, 1, joined.paper);
    figure.add("S+P+join", Role::Measured, 1, joined.measured);
    figure.add("S+P+join", Role::Predicted, 1, joined.predicted);
    figure.add("bacus' own pick", Role::Measured, 2, ours.measured);
    figure.add("bacus' own pick", Role::Predicted, 2, ours.predicted);
    reading.figures.push(figure);
    reading
        .notes
        .push("COP's numbers of entries are minimum, medium and maximum; 4, 16,384 and 1,048,576 are ours".into());
    reading
}

pub fn sweep(rows: &Rows<'_>) -> Reading {
    let mut reading = Reading::default();
    for (name, measured, predicted) in joins::paying(rows.records()) {
        let paper = crate::papers::rows::of(&PAYS, name);
        let unit = ("entries", Better::Neither);
        let what = "entries up to which the join pays (0: never)";
        reading.findings.push(finding(format!("l2fwd, {name}"), what, unit, paper, (measured, Some(predicted))));
    }
    let mut figure = Figure::curves(
        "The join of l2fwd's tables over their size",
        "entries of each table",
        "million packets a second",
    );
    for (colour, (name, without, with)) in joins::WAYS.into_iter().enumerate() {
        for (variant, label, colour) in
            [(without, name.to_string(), 2 * colour), (with, format!("{name}, joined"), 2 * colour + 1)]
        {
            let rows = joins::rows_of(rows.records(), variant);
            let rate = |row: &&crate::report::Record, cycles: f64| row.mpps * row.cycles / cycles;
            let measured = rows.iter().map(|row| (row.case.size as f64, row.mpps)).collect();
            let predicted =
                rows.iter().filter_map(|row| Some((row.case.size as f64, rate(row, row.committed?)))).collect();
            figure.add(&label, Role::Measured, colour, measured);
            figure.add(&label, Role::Predicted, colour, predicted);
        }
    }
    reading.figures.push(figure);
    reading
        .notes
        .push("the paper joins up to 1K entries; at 4K its joint table exceeds the memory that it allocates".into());
    reading
}
