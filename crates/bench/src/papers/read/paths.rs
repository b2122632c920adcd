//! One hot path against several, and packet by packet, on mixes of IPv4, IPv6 and ARP.

use crate::experiment::{Case, Experiment};
use crate::papers::figure::{Figure, Role};
use crate::papers::outcome::{Better, Reading};
use crate::papers::plans::{IN_TURN, ONE_PATH};
use crate::papers::rows::{Bars, Rows, case_name, finding, gain};
use crate::report::Record;

const SEVERAL: &str = "best";
const VARIANTS: [(&str, &str); 3] =
    [("packet by packet", IN_TURN), ("one hot path", ONE_PATH), ("several hot paths", SEVERAL)];

pub fn read(rows: &Rows<'_>) -> Reading {
    let mut reading = Reading::default();
    for (program, size) in rows.cases() {
        let mut cases: Vec<&Case> = rows.of_case((program, size)).map(|record| &record.case).collect();
        cases.dedup();
        let mut bars: [Bars; VARIANTS.len()] = Default::default();
        for (number, case) in cases.iter().enumerate() {
            let name = format!("{}, {}", case_name((program, size)), mix(case));
            for ((what, variant), bars) in VARIANTS.iter().zip(&mut bars) {
                let Some(record) = row(rows, case, variant) else { continue };
                let both = (record.cycles, record.committed);
                reading.findings.push(finding(name.clone(), what, ("cycles", Better::Less), None, both));
                bars.push(number, None, both);
            }
            if let (Some(one), Some(several)) = (row(rows, case, ONE_PATH), row(rows, case, SEVERAL)) {
                let unit = ("% packets a second", Better::More);
                reading.findings.push(finding(name, "several over one", unit, None, gain(one, several)));
            }
        }
        let title = format!("Hot paths of {}", case_name((program, size)));
        let mixes = cases.iter().map(|case| mix(case)).collect();
        let mut figure = Figure::bars(&title, "cycles per packet, by percent of IPv4/IPv6/ARP", mixes);
        for (colour, ((name, _), bars)) in VARIANTS.iter().zip(bars).enumerate() {
            figure.add(name, Role::Measured, colour, bars.measured);
            figure.add(name, Role::Predicted, colour, bars.predicted);
        }
        reading.figures.push(figure);
    }
    reading
        .notes
        .push("of one family there is but one path: both plans are the same, and differ by what measuring does".into());
    reading
}

/// As `70/25/5`.
fn mix(case: &Case) -> String {
    if let Experiment::Paths(mix) = case.experiment { mix.to_string().replace('-', "/") } else { String::new() }
}

/// The variant of a case, at its best burst.
fn row<'r>(rows: &Rows<'r>, case: &Case, variant: &str) -> Option<&'r Record> {
    let meant = rows.records().iter().filter(|record| record.case == *case && record.variant == variant);
    meant.min_by(|one, other| one.cycles.total_cmp(&other.cycles))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::mix::Mix;
    use crate::traffic::Traffic;

    fn record(mix: Mix, variant: &str, cycles: f64) -> Record {
        Record {
            case: Case { application: "dualstack".into(), size: 1_000, experiment: Experiment::Paths(mix) },
            traffic: Traffic::Uniform,
            variant: variant.into(),
            burst: 64,
            cycles,
            lookups: None,
            accesses: None,
            floor: 6.0,
            limit: 20.0,
            spread: 0.0,
            predicted: None,
            committed: Some(cycles * 2.0),
            mpps: 0.0,
            drift: 0.0,
            pages: "2M".into(),
            compiler: "cc".into(),
            processes: 1,
        }
    }

    #[test]
    fn each_mix_has_its_own_cycles_and_predictions() {
        let variants = |mix, one| [record(mix, ONE_PATH, one), record(mix, SEVERAL, 20.0), record(mix, IN_TURN, 50.0)];
        let records = [variants(Mix::of(100, 0), 20.0), variants(Mix::of(70, 25), 30.0)].concat();
        let reading = read(&Rows::new(&records));
        let gains: Vec<(&str, f64, Option<f64>)> = reading
            .findings
            .iter()
            .filter(|finding| finding.what == "several over one")
            .map(|finding| (finding.case.as_str(), finding.measured.round(), finding.predicted.map(f64::round)))
            .collect();
        let names = ["dualstack, 1000 entries, 100/0/0", "dualstack, 1000 entries, 70/25/5"];
        assert_eq!(gains, [(names[0], 0.0, Some(0.0)), (names[1], 50.0, Some(50.0))]);
        let [figure] = &reading.figures[..] else { panic!("one size has one figure") };
        assert_eq!((figure.categories.len(), figure.series.len()), (2, 6));
        assert_eq!(figure.series[2].points, [(0.0, 20.0), (1.0, 30.0)]);
    }
}
