//! Summaries over several rows: whether large tables slow a program down by more than their lines cost, and what drops cost.

use super::experiment::Experiment;
use super::joins;
use super::report::{Record, best};
use super::speedup;
use super::traffic::Traffic;
use std::fmt::Write as _;

const FLAT: (&str, u64, u64) = ("l2fwd", 256, 1 << 24);

/// Empty where the rows it needs were not measured.
pub fn text(records: &[Record]) -> String {
    [flat(records), drops(records), speedup::table(records), joins::table(records)].concat()
}

/// The rate with the largest table, as a share of that with the smallest: with its lines at what they cost now, it could be so much.
fn flat(records: &[Record]) -> String {
    let (application, small, large) = FLAT;
    let mut text = String::new();
    let is_case = |record: &Record, size| {
        let Record { case, traffic, .. } = record;
        (case.application.as_str(), case.size, case.experiment) == (application, size, Experiment::Programs)
            && *traffic == Traffic::Uniform
    };
    for one in records.iter().filter(|record| is_case(record, small) && !is_slower(records, record)) {
        let Some(first) = records.iter().find(|record| is_case(record, large)) else { continue };
        let Some(other) = best(records, first, |record| record.variant == one.variant) else { continue };
        if text.is_empty() {
            let _ = writeln!(
                text,
                "\n{application}: the rate with {large} entries, of that with {small}\n{:<20} {:>9} {:>9} {:>9}",
                "variant", "measured", "possible", "of that"
            );
        }
        let rate = one.cycles / other.cycles;
        let possible = one.net_cycles() / (one.net_cycles() + other.limit - other.floor);
        let _ = writeln!(text, "{:<20} {rate:>9.2} {possible:>9.2} {:>9.2}", one.variant, rate / possible);
    }
    text
}

/// Another burst of the variant is faster.
fn is_slower(records: &[Record], record: &Record) -> bool {
    best(records, record, |other| other.variant == record.variant).is_some_and(|best| best.burst != record.burst)
}

/// Cycles with drops, of those without.
fn drops(records: &[Record]) -> String {
    let mut text = String::new();
    for record in records.iter().filter(|record| record.case.experiment.dropped() > 0 && !is_slower(records, record)) {
        let without = |other: &Record| {
            let (case, mine) = (&other.case, &record.case);
            (&case.application, case.size, case.experiment) == (&mine.application, mine.size, Experiment::Programs)
                && (&other.variant, other.traffic) == (&record.variant, record.traffic)
        };
        let rows = records.iter().filter(|other| without(other));
        let Some(least) = rows.map(|other| other.cycles).min_by(f64::total_cmp) else { continue };
        if text.is_empty() {
            let _ = writeln!(
                text,
                "\ncycles with drops, of those without\n{:<20} {:<20} {:>9}",
                "case", "variant", "ratio"
            );
        }
        let _ = writeln!(text, "{:<20} {:<20} {:>9.2}", case_name(record), record.variant, record.cycles / least);
    }
    text
}

fn case_name(record: &Record) -> String {
    format!("{} {}", record.case.application, record.case.experiment)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Case;

    fn row(application: &str, size: u64, experiment: Experiment, variant: &str, cycles: f64) -> Record {
        Record {
            case: Case { application: application.into(), size, experiment },
            traffic: Traffic::Uniform,
            variant: variant.into(),
            burst: 64,
            cycles,
            lookups: None,
            accesses: None,
            floor: 6.0,
            limit: 6.0 + 14.0,
            spread: 0.0,
            predicted: Some(cycles / 2.0),
            committed: None,
            mpps: 0.0,
            drift: 0.0,
            pages: "2M".into(),
            compiler: "cc".into(),
            processes: 1,
        }
    }

    #[test]
    fn a_flat_program_reaches_what_its_lines_allow() {
        let rows = [
            row("l2fwd", 256, Experiment::Programs, "best", 20.0),
            row("l2fwd", 1 << 24, Experiment::Programs, "best", 40.0),
        ];
        // Half the rate, where 14 / (14 + 14) were possible.
        assert!(text(&rows).lines().any(|line| line.split_whitespace().eq(["best", "0.50", "0.50", "1.00"])));
        assert_eq!(text(&rows[..1]), "");
    }

    #[test]
    fn drops_are_compared_with_the_same_variant_without() {
        let rows = [
            row("ipv4fwd", 100_000, Experiment::Programs, "best", 20.0),
            row("ipv4fwd", 100_000, Experiment::Drops(4), "best", 23.0),
        ];
        assert!(text(&rows).contains("drops-4") && text(&rows).contains("1.15"), "{}", text(&rows));
    }

    #[test]
    fn gains_are_beside_those_of_papers_and_model() {
        let rows = [
            row("l2fwd", 1 << 24, Experiment::Gains, "papers:packet", 60.0),
            row("l2fwd", 1 << 24, Experiment::Gains, "papers:B+S+P", 20.0),
        ];
        let summary = text(&rows);
        assert!(summary.contains("+138 %") && summary.contains("+200 %") && summary.contains("1.00"), "{summary}");
    }
}
