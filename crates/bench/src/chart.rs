//! The records as a picture: cycles per packet as bars, grouped by the number of entries; a panel for each program, experiment and traffic.
//!
//! `best` has one strong colour everywhere, other plans of ours are paler, programs by others are grey. The ratio to the best of these is written on `best`.

use super::bars::{Bar, Group, Look, Panel};
use super::experiment::Experiment;
use super::report::{Record, best};
use super::traffic::Traffic;

/// Bars that are longer than so many times the longest of `best` and the best peer are cut.
const CUT: f64 = 3.0;
const KEY: [(Look, &str); 4] = [
    (Look::Best, "bacus, its best plan"),
    (Look::Ours, "bacus, other plans"),
    (Look::BestPeer, "the best of others"),
    (Look::Peer, "others"),
];
const KEY_OF_OVERVIEW: [(Look, &str); 3] =
    [(Look::Best, "bacus"), (Look::BestPeer, "written by hand"), (Look::Peer, "DPDK's libraries and SWX, the best")];

/// Panels side by side.
const COLUMNS: usize = 2;

pub fn svg(records: &[Record]) -> String {
    let panels: Vec<Panel> = panels(records).iter().map(|(title, rows)| panel(records, title, rows)).collect();
    super::bars::picture(&panels, COLUMNS, &KEY)
}

/// One panel for a page: each program with its largest tables, uniform traffic, beside the program by hand and the best of DPDK's.
pub fn overview(records: &[Record]) -> String {
    let mut largest: Vec<&Record> = Vec::new();
    for record in records.iter().filter(|record| is_of_overview(record)) {
        match largest.iter_mut().find(|known| known.case.application == record.case.application) {
            Some(known) if known.case.size < record.case.size => *known = record,
            Some(_) => {}
            None => largest.push(record),
        }
    }
    let groups: Vec<Group> = largest.into_iter().filter_map(|record| beside_peers(records, record)).collect();
    let title = "Cycles per packet with the largest tables, uniform traffic".to_string();
    let notes = vec!["above the blue bars: their share of the cycles of the better of the others".to_string()];
    super::bars::picture(&[Panel { title, groups, notes, cut: f64::MAX }], 1, &KEY_OF_OVERVIEW)
}

fn is_of_overview(record: &Record) -> bool {
    record.case.experiment == Experiment::Programs && record.traffic == Traffic::Uniform
}

/// With the same descriptor where there is one of both: DPDK's programs have mbufs, and so has ours beside them.
fn beside_peers(records: &[Record], record: &Record) -> Option<Group> {
    let of = |is_meant: &dyn Fn(&Record) -> bool| best(records, record, is_meant).map(|found| found.cycles);
    let ours = of(&|row| row.variant == "best-mbuf")?;
    let by_hand = of(&|row| row.variant == "peer:target-mbuf");
    let dpdk = of(&|row| row.is_peer() && !is_by_hand(&row.variant));
    let least = [by_hand, dpdk].into_iter().flatten().min_by(f64::total_cmp)?;
    let others = [("by hand", by_hand, Look::BestPeer), ("DPDK", dpdk, Look::Peer)];
    let others = others.into_iter().filter_map(|(name, cycles, look)| Some(Bar::of(name, cycles?, look)));
    let ours = Bar { note: Some(format!("{:.2}", ours / least)), ..Bar::of("bacus", ours, Look::Best) };
    let name = format!("{}, {}", record.case.application, with_commas(record.case.size));
    Some(Group { name, bars: [ours].into_iter().chain(others).collect() })
}

fn is_by_hand(variant: &str) -> bool {
    ["peer:hand", "peer:target"].iter().any(|name| variant.starts_with(name))
}

fn panels(records: &[Record]) -> Vec<(String, Vec<&Record>)> {
    let mut panels: Vec<(String, Vec<&Record>)> = Vec::new();
    for record in records {
        let other = Some(record.case.experiment).filter(|experiment| *experiment != Experiment::Programs);
        let experiment = other.map_or(String::new(), |other| format!("{other}, "));
        let title = format!("{}, {experiment}{} traffic", record.case.application, record.traffic);
        match panels.iter_mut().find(|(known, _)| *known == title) {
            Some((_, rows)) => rows.push(record),
            None => panels.push((title, vec![record])),
        }
    }
    panels
}

fn panel(records: &[Record], title: &str, rows: &[&Record]) -> Panel {
    let (mut sizes, mut variants): (Vec<u64>, Vec<&str>) = (Vec::new(), Vec::new());
    for row in rows {
        if !sizes.contains(&row.case.size) {
            sizes.push(row.case.size);
        }
        if !variants.contains(&row.variant.as_str()) {
            variants.push(&row.variant);
        }
    }
    sizes.sort_unstable();
    // `best` first, then what else is ours, then the others.
    variants.sort_by_key(|variant| (variant.starts_with("peer:"), !variant.starts_with("best")));
    let mut cut = 0f64;
    let mut groups = Vec::new();
    for size in sizes {
        let Some(row) = rows.iter().find(|row| row.case.size == size) else { continue };
        let peer = best(records, row, Record::is_peer);
        let bars = variants.iter().filter_map(|variant| {
            let found = best(records, row, |other| other.variant == *variant)?;
            let ratio = peer.filter(|_| *variant == "best").map(|peer| format!("{:.2}", found.cycles / peer.cycles));
            let name = variant.trim_start_matches("peer:");
            Some(Bar { note: ratio, ..Bar::of(name, found.cycles, look(found, peer)) })
        });
        let bars: Vec<Bar> = bars.collect();
        let ours = bars.iter().filter(|bar| bar.name.starts_with("best")).map(|bar| bar.cycles);
        cut = ours.chain(peer.map(|peer| peer.cycles)).fold(cut, f64::max);
        groups.push(Group { name: with_commas(size), bars });
    }
    let others: Vec<&str> = variants.iter().filter_map(|variant| variant.strip_prefix("peer:")).collect();
    let ours: Vec<&str> = variants.iter().copied().filter(|variant| !variant.starts_with("peer:")).collect();
    let mut notes = vec![format!("from left to right: {}", ours.join(", "))];
    if !others.is_empty() {
        notes.push(format!("then, in grey: {}", others.join(", ")));
    }
    Panel { title: format!("{title}: cycles per packet over entries"), groups, notes, cut: cut * CUT }
}

fn look(record: &Record, best_peer: Option<&Record>) -> Look {
    if record.variant == "best" {
        Look::Best
    } else if best_peer.is_some_and(|peer| peer.variant == record.variant) {
        Look::BestPeer
    } else if record.is_peer() {
        Look::Peer
    } else {
        Look::Ours
    }
}

/// `16777216` as `16,777,216`.
fn with_commas(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> =
        digits.as_bytes().rchunks(3).rev().map(|three| std::str::from_utf8(three).unwrap_or("")).collect();
    groups.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::repredict;
    use std::fs;
    use std::path::Path;

    #[test]
    fn numbers_have_commas() {
        assert_eq!([7, 1000, 65_536, 16_777_216].map(with_commas), ["7", "1,000", "65,536", "16,777,216"]);
    }

    /// The pictures beside the recorded results are those of the records. `UPDATE_EXPECT=1` draws them anew.
    #[test]
    fn recorded_pictures_are_of_their_records() {
        let results = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../bench/results");
        let same = |file: &str, drawn: String| {
            let file = results.join(file);
            if std::env::var_os("UPDATE_EXPECT").is_some() {
                fs::write(&file, drawn).expect("the file can be written");
            } else {
                assert!(fs::read_to_string(&file).expect("the picture is there") == drawn, "{}", file.display());
            }
        };
        let records = repredict::read(&results.join("epyc-genoa/bench.json")).expect("the records are there");
        same("epyc-genoa/bench.svg", svg(&records));
        same("beside-peers.svg", overview(&records));
    }
}
