//! What batches and prefetches gain: by *COP* (figure 2), and by *A Performance Model* (figures 2 and 3).

use crate::papers::figure::{Figure, Role};
use crate::papers::outcome::{Better, Reading};
use crate::papers::plans::GROUPS;
use crate::papers::rows::{Bars, Rows, case_name, finding, gain, of};

/// Percent that scheduling and prefetching gained together.
const COP: [(&str, f64); 6] = [
    ("l2fwd", 138.0),
    ("ipv4fwd", 64.0),
    ("ipv6fwd", 280.0),
    ("ndn", 121.0),
    ("l2fwd_crypto", 2.0),
    ("l2l3acl", 135.0),
];
/// Percent that batching gained, and then prefetching.
const BATCHING: [(&str, f64); 2] = [("l2fwd", 20.0), ("ndn", 20.0)];
const PREFETCHING: [(&str, f64); 2] = [("l2fwd", 23.0), ("ndn", 21.0)];
/// Both, over code without them (4.3).
const TOGETHER: [(&str, f64); 4] = [("l2fwd", 48.0), ("ipv4fwd", 55.0), ("ipv6fwd", 57.0), ("ndn", 46.0)];
/// Over G-Opt, and over DPDK's own applications.
const G_OPT: [(&str, f64); 4] = [("l2fwd", 20.0), ("ipv4fwd", 15.0), ("ipv6fwd", 17.0), ("ndn", 59.0)];
const DPDK: [(&str, f64); 2] = [("ipv4fwd", -4.0), ("ipv6fwd", 20.0)];

const GAIN: (&str, Better) = ("% packets a second", Better::More);

pub fn gains(rows: &Rows<'_>) -> Reading {
    let mut reading = Reading::default();
    let cases = rows.cases();
    let mut bars = [Bars::default(), Bars::default()];
    for (number, case) in cases.iter().enumerate() {
        let pairs = [
            ("B over packet by packet, papers' structures", "papers:packet", "papers:B", None, None),
            (
                "B+S+P over packet by packet, papers' structures",
                "papers:packet",
                "papers:B+S+P",
                of(&COP, case.0),
                Some(0),
            ),
            ("best plan over packet by packet, our structures", "best:packet", "best", None, Some(1)),
        ];
        for (what, from, to, paper, series) in pairs {
            let (Some(from), Some(to)) = (rows.row(*case, from), rows.row(*case, to)) else { continue };
            let both = gain(from, to);
            reading.findings.push(finding(case_name(*case), what, GAIN, paper, both));
            if let Some(series) = series {
                bars[series].push(number, paper, both);
            }
        }
    }
    let names = cases.iter().map(|(name, _)| name.to_string()).collect();
    let mut figure =
        Figure::bars("Gain of scheduling and prefetching", "% more packets a second than packet by packet", names);
    let [theirs, ours] = bars;
    figure.add("COP, figure 2", Role::Paper, 0, theirs.paper);
    figure.add("papers' structures", Role::Measured, 0, theirs.measured);
    figure.add("papers' structures", Role::Predicted, 0, theirs.predicted);
    figure.add("our structures", Role::Measured, 1, ours.measured);
    figure.add("our structures", Role::Predicted, 1, ours.predicted);
    reading.figures.push(figure);
    reading.notes.push("the papers' machine is a Haswell of 2.6 GHz with NICs; ours are packets in memory, so gains are of the program alone".into());
    reading
}

pub fn groups(rows: &Rows<'_>) -> Reading {
    let mut reading = Reading::default();
    let cases = rows.cases();
    let mut bars: [Bars; 2] = Default::default();
    let mut curves = Figure::curves(
        "Cycles over the size of groups",
        "packets that are prefetched at once, of a batch of 32; 1: batching alone",
        "cycles per packet",
    );
    for (number, case) in cases.iter().enumerate() {
        let name = case.0;
        let best_group = rows.best(*case, |variant| variant.starts_with("papers:B+P:"));
        let [packet, batched, g_opt, best] =
            ["papers:packet", "papers:B", "papers:B+P:8", "best"].map(|variant| rows.row(*case, variant));
        let by_hand = rows.best(*case, is_dpdk);
        let pairs = [
            ("B over packet by packet", packet, batched, of(&BATCHING, name), None),
            ("P (best group) over B", batched, best_group, of(&PREFETCHING, name), None),
            ("B+P over packet by packet", packet, best_group, of(&TOGETHER, name), Some(0)),
            ("best plan over a G-Opt-like one (groups of 8)", g_opt, best, of(&G_OPT, name), Some(1)),
            (
                "best plan (mbufs) over the best DPDK program",
                by_hand,
                rows.row(*case, "best-mbuf"),
                of(&DPDK, name),
                None,
            ),
        ];
        for (what, from, to, paper, series) in pairs {
            let (Some(from), Some(to)) = (from, to) else { continue };
            let both = gain(from, to);
            reading.findings.push(finding(case_name(*case), what, GAIN, paper, both));
            if let Some(series) = series {
                bars[series].push(number, paper, both);
            }
        }
        add_curves(&mut curves, rows, (number, *case));
    }
    let names = cases.iter().map(|(name, _)| name.to_string()).collect();
    let mut figure = Figure::bars("Batching and prefetching, and over G-Opt", "% more packets a second", names);
    let [together, g_opt] = bars;
    figure.add("B+P over packet by packet", Role::Paper, 0, together.paper);
    figure.add("B+P over packet by packet", Role::Measured, 0, together.measured);
    figure.add("B+P over packet by packet", Role::Predicted, 0, together.predicted);
    figure.add("over G-Opt", Role::Paper, 1, g_opt.paper);
    figure.add("over a G-Opt-like plan", Role::Measured, 1, g_opt.measured);
    figure.add("over a G-Opt-like plan", Role::Predicted, 1, g_opt.predicted);
    reading.figures.extend([figure, curves]);
    reading.notes.push(
        "G-Opt itself is not run: the plan has its structure, groups of eight with a prefetch before every lookup"
            .into(),
    );
    reading
}

/// Cycles over group sizes: measured and predicted.
fn add_curves(curves: &mut Figure, rows: &Rows<'_>, (number, case): (usize, (&str, u64))) {
    let point = |group: u32, variant: String| Some((f64::from(group), rows.row(case, &variant)?));
    let points: Vec<_> = std::iter::once(point(1, "papers:B".to_string()))
        .chain(GROUPS.map(|group| point(group, format!("papers:B+P:{group}"))))
        .flatten()
        .collect();
    curves.add(case.0, Role::Measured, number, points.iter().map(|(x, row)| (*x, row.cycles)).collect());
    let predicted = points.iter().filter_map(|(x, row)| Some((*x, row.committed?)));
    curves.add(case.0, Role::Predicted, number, predicted.collect());
}

fn is_dpdk(variant: &str) -> bool {
    variant.strip_prefix("peer:").is_some_and(|peer| !peer.starts_with("target") && !peer.starts_with("hand"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::{Case, Experiment};
    use crate::papers::rows::Both;
    use crate::report::Record;

    fn row(application: &str, variant: &str, (cycles, committed): Both) -> Record {
        Record {
            case: Case { application: application.into(), size: 1 << 20, experiment: Experiment::Gains },
            traffic: crate::traffic::Traffic::Uniform,
            variant: variant.into(),
            burst: 32,
            cycles,
            lookups: None,
            accesses: None,
            floor: 6.0,
            limit: 6.0,
            spread: 0.0,
            predicted: None,
            committed,
            mpps: 0.0,
            drift: 0.0,
            pages: "2M".into(),
            compiler: "gcc".into(),
            processes: 1,
        }
    }

    #[test]
    fn a_gain_is_beside_the_papers_and_what_was_predicted() {
        let records = [
            row("l2fwd", "papers:packet", (100.0, Some(90.0))),
            row("l2fwd", "papers:B+S+P", (40.0, Some(30.0))),
            row("ipv6fwd", "papers:packet", (100.0, None)),
            row("ipv6fwd", "papers:B+S+P", (50.0, None)),
        ];
        let reading = gains(&Rows::new(&records));
        let found = &reading.findings[0];
        assert_eq!(
            (found.paper, found.measured.round(), found.predicted.map(f64::round)),
            (Some(138.0), 150.0, Some(200.0))
        );
        assert!(!found.is_lost() && reading.findings[1].is_lost(), "280 % in the paper, 100 % here");
        assert_eq!(reading.figures[0].series.len(), 3, "of no variant, no series");
    }

    #[test]
    fn groups_are_compared_with_batching_alone_and_with_code_by_hand() {
        let records = [
            row("ipv4fwd", "papers:packet", (120.0, None)),
            row("ipv4fwd", "papers:B", (100.0, None)),
            row("ipv4fwd", "papers:B+P:8", (60.0, None)),
            row("ipv4fwd", "papers:B+P:32", (50.0, None)),
            row("ipv4fwd", "best", (30.0, None)),
            row("ipv4fwd", "best-mbuf", (40.0, None)),
            row("ipv4fwd", "peer:lpm", (48.0, None)),
            row("ipv4fwd", "peer:target-mbuf", (10.0, None)),
        ];
        let reading = groups(&Rows::new(&records));
        let measured: Vec<f64> = reading.findings.iter().map(|found| found.measured.round()).collect();
        assert_eq!(measured, [20.0, 100.0, 140.0, 100.0, 20.0]);
        assert_eq!(reading.figures[1].series[0].points, [(1.0, 100.0), (8.0, 60.0), (32.0, 50.0)]);
    }
}
