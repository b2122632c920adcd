//! What a benchmark prints first: a line for each program and number of entries, the best plan beside the best program by others.

use super::experiment::Experiment;
use super::report::{Record, best};
use std::fmt::Write as _;

/// Empty where no `best` was measured.
pub fn table(records: &[Record]) -> String {
    let mut text = String::new();
    for (number, record) in records.iter().enumerate() {
        let is_first =
            !records[..number].iter().any(|other| (&other.case, other.traffic) == (&record.case, record.traffic));
        let Some(ours) = best(records, record, |row| row.variant == "best").filter(|_| is_first) else { continue };
        if text.is_empty() {
            let _ = writeln!(
                text,
                "{:<24} {:>10} {:<8} {:>8} {:>8} {:>10} {:<14} {:>6} {:>10}",
                "program", "entries", "traffic", "plain", "best", "best peer", "", "ratio", "predicted"
            );
        }
        let other = Some(record.case.experiment).filter(|experiment| *experiment != Experiment::Programs);
        let program = other.map_or(record.case.name().to_string(), |other| format!("{} {other}", record.case.name()));
        let peer = best(records, record, Record::is_peer);
        let (cycles, name, ratio) = match peer {
            Some(peer) => (
                format!("{:.1}", peer.cycles),
                peer.variant.trim_start_matches("peer:"),
                format!("{:.2}", ours.cycles / peer.cycles),
            ),
            None => ("-".to_string(), "", "-".to_string()),
        };
        let plain = best(records, record, |row| row.variant == "plain");
        let plain = plain.map_or("-".to_string(), |plain| format!("{:.1}", plain.cycles));
        let predicted = ours.predicted.map_or("-".to_string(), |cycles| format!("{cycles:.1}"));
        let _ = writeln!(
            text,
            "{program:<24} {:>10} {:<8} {plain:>8} {:>8.1} {cycles:>10} {name:<14} {ratio:>6} {predicted:>10}",
            record.case.size,
            record.traffic.to_string(),
            ours.cycles
        );
    }
    if !text.is_empty() {
        text.insert_str(0, "cycles per packet, each variant at its best burst; `ratio` is `best` of `best peer`\n\n");
        text.push_str("\nDetails: a block for each of these lines.\n");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repredict;
    use std::path::Path;

    #[test]
    fn a_line_says_what_best_costs_beside_the_best_peer() {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/results/epyc-genoa/bench.json");
        let text = table(&repredict::read(&results).unwrap());
        let line = text.lines().find(|line| line.starts_with("l2fwd ")).unwrap();
        let words: Vec<&str> = line.split_whitespace().collect();
        assert_eq!(words[..3], ["l2fwd", "256", "uniform"], "{text}");
        let number = |at: usize| words[at].parse::<f64>().unwrap();
        assert!((number(4) / number(5) - number(7)).abs() < 0.01, "{line}");
        assert!(text.lines().any(|line| line.starts_with("mpls ") && line.contains(" - ")), "{text}");
        assert_eq!(table(&[]), "");
    }
}
