//! What a benchmark prints: a table for people, and records for programs.

use super::experiment::Case;
use super::found::{DRIFT, Found, written};
use super::traffic::Traffic;
use schedule::access::Accesses;
use std::fmt::Write as _;

/// One measured row: medians over processes. `cycles` and `predicted` are gross: what the port costs is in them.
#[derive(Clone, Debug)]
pub struct Record {
    pub case: Case,
    pub traffic: Traffic,
    pub variant: String,
    pub burst: u32,
    pub cycles: f64,
    /// A packet; unknown of programs by hand.
    pub lookups: Option<f64>,
    pub floor: f64,
    pub limit: f64,
    pub spread: f64,
    pub predicted: Option<f64>,
    /// Predicted before it was measured, for the machine of the file.
    pub committed: Option<f64>,
    /// To the bytes of a packet on the hot path, where they are counted.
    pub accesses: Option<Accesses>,
    pub mpps: f64,
    pub drift: f64,
    pub pages: String,
    /// Of the programs and the peers.
    pub compiler: String,
    /// How many have measured it.
    pub processes: u32,
}

/// Of two middle values, the lower: a disturbance only adds cycles.
fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values[(values.len() - 1) / 2]
}

/// What several processes have found of one variant, which is not nothing.
pub fn record(case: &Case, found: &[&Found], ticks_per_us: f64, compiler: &str) -> Record {
    let of = |value: fn(&Found) -> f64| median(found.iter().map(|found| value(found)).collect());
    let cycles = of(|found| found.cycles);
    // Within a process, or between them: whichever is more.
    let (low, high) =
        found.iter().fold((f64::MAX, 0f64), |(low, high), found| (low.min(found.cycles), high.max(found.cycles)));
    let first = found[0];
    let pages = if found.iter().all(|found| found.pages == first.pages) { first.pages.clone() } else { "mixed".into() };
    Record {
        case: case.clone(),
        traffic: first.traffic,
        variant: first.variant.clone(),
        burst: first.burst,
        cycles,
        lookups: first.lookups,
        accesses: first.accesses,
        floor: of(|found| found.floor),
        limit: of(|found| found.limit),
        spread: of(|found| found.spread).max((high - low) / 2.0 / cycles),
        predicted: first.predicted.map(|_| median(found.iter().filter_map(|found| found.predicted).collect())),
        committed: first.committed,
        mpps: ticks_per_us / cycles,
        drift: of(|found| found.drift),
        pages,
        compiler: compiler.to_string(),
        processes: found.len() as u32,
    }
}

impl Record {
    /// Beyond the floor of the port.
    pub fn net_cycles(&self) -> f64 {
        self.cycles - self.floor
    }

    pub fn is_peer(&self) -> bool {
        self.variant.starts_with("peer:")
    }

    pub fn json(&self) -> String {
        let [predicted, committed, lookups] = [self.predicted, self.committed, self.lookups]
            .map(|value| value.map_or("null".to_string(), |value| format!("{value:.2}")));
        let accesses = self.accesses.map_or("null".to_string(), |accesses| format!("\"{}\"", written(accesses)));
        format!(
            "{{\"experiment\":\"{}\",\"program\":\"{}\",\"entries\":{},\"traffic\":\"{}\",\"variant\":\"{}\",\"burst\":{},\
             \"cycles\":{:.2},\"net_cycles\":{:.2},\"mpps\":{:.2},\
             \"predicted\":{predicted},\"committed\":{committed},\"lookups\":{lookups},\"accesses\":{accesses},\
             \"floor\":{:.2},\"spread\":{:.4},\"pages\":\"{}\",\"compiler\":\"{}\",\
             \"processes\":{}}}",
            self.case.experiment,
            self.case.application,
            self.case.size,
            self.traffic,
            self.variant,
            self.burst,
            self.cycles,
            self.net_cycles(),
            self.mpps,
            self.floor,
            self.spread,
            self.pages,
            self.compiler.replace(['"', '\\'], " "),
            self.processes,
        )
    }
}

/// One array of records.
pub fn json(records: &[Record]) -> String {
    let lines: Vec<String> = records.iter().map(Record::json).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

/// Whose packets two rows have in common.
fn is_beside(one: &Record, other: &Record) -> bool {
    (&one.case, one.traffic) == (&other.case, other.traffic)
}

/// The cheapest of the rows beside `record` for which `is_meant` holds: whatever its burst, for each is entitled to its best.
pub fn best<'r>(records: &'r [Record], record: &Record, is_meant: impl Fn(&Record) -> bool) -> Option<&'r Record> {
    let beside = records.iter().filter(|other| is_beside(other, record) && is_meant(other));
    beside.min_by(|one, other| one.cycles.total_cmp(&other.cycles))
}

/// What `cycles` are of those of another row.
fn ratio(record: &Record, other: Option<&Record>) -> String {
    other.map_or("-".to_string(), |other| format!("{:.2}", record.cycles / other.cycles))
}

/// Names of the peers beside a row, in the order they were measured.
fn peers(records: &[Record], record: &Record) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for other in records.iter().filter(|other| is_beside(other, record) && other.is_peer()) {
        if !names.contains(&other.variant) {
            names.push(other.variant.clone());
        }
    }
    names
}

/// A block a case: a row a variant, and to the right what it is of the plain program, of the calibrated floor, and of each peer at its best.
pub fn table(records: &[Record]) -> String {
    let mut text = String::new();
    for (number, record) in records.iter().enumerate() {
        if number == 0 || !is_beside(&records[number - 1], record) {
            head(&mut text, records, record);
        }
        row(&mut text, records, record);
    }
    text
}

/// Where no memory was large, there is nothing to lack.
pub fn lacks_large_pages(record: &Record) -> bool {
    record.pages != "2M" && record.pages != "none"
}

fn head(text: &mut String, records: &[Record], record: &Record) {
    let Record { case, traffic, pages, compiler, .. } = record;
    let _ = write!(text, "\n{}, {} entries, {traffic}, {} ({compiler})", case.name(), case.size, case.experiment);
    if lacks_large_pages(record) {
        let _ = write!(text, "  [pages: {pages}]");
    }
    if record.drift > DRIFT {
        let _ = write!(text, "  [unsteady: a line's cost moved by {:.0} %]", record.drift * 100.0);
    }
    let _ = write!(
        text,
        "\n{:<20} {:>5} {:>8} {:>8} {:>8} {:>7} {:>9} {:>9} {:>9}",
        "variant", "burst", "cycles", "net", "Mpps", "spread", "predicted", "of plain", "of floor"
    );
    for name in peers(records, record) {
        let _ = write!(text, " {:>12}", format!("of {}", name.trim_start_matches("peer:")));
    }
    text.push('\n');
}

fn row(text: &mut String, records: &[Record], record: &Record) {
    let predicted = record.predicted.map_or("-".to_string(), |cycles| format!("{cycles:.1}"));
    let plain = if record.variant.ends_with("-mbuf") { "plain-mbuf" } else { "plain" };
    let _ = write!(
        text,
        "{:<20} {:>5} {:>8.1} {:>8.1} {:>8.1} {:>6.1}% {predicted:>9} {:>9} {:>9.2}",
        record.variant,
        record.burst,
        record.cycles,
        record.net_cycles(),
        record.mpps,
        record.spread * 100.0,
        ratio(record, best(records, record, |other| other.variant == plain)),
        record.cycles / record.limit
    );
    for name in peers(records, record) {
        let _ = write!(text, " {:>12}", ratio(record, best(records, record, |other| other.variant == name)));
    }
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::experiment::Experiment;

    fn found(variant: &str, cycles: f64) -> Found {
        Found {
            variant: variant.to_string(),
            traffic: Traffic::Uniform,
            burst: 32,
            cycles,
            lookups: None,
            accesses: None,
            floor: 6.0,
            spread: 0.01,
            predicted: None,
            committed: None,
            limit: 10.0,
            drift: 0.02,
            pages: "2M".to_string(),
        }
    }

    fn of(variant: &str, cycles: &[f64]) -> Record {
        let case = Case { application: "l2fwd".into(), size: 256, experiment: Experiment::Programs };
        let all: Vec<Found> = cycles.iter().map(|cycles| found(variant, *cycles)).collect();
        record(&case, &all.iter().collect::<Vec<_>>(), 2445.0, "gcc 12")
    }

    #[test]
    fn a_row_is_the_median_and_says_how_far_processes_are_apart() {
        let row = of("plain", &[30.0, 20.0, 24.0]);
        assert_eq!((row.cycles, row.net_cycles()), (24.0, 18.0));
        assert!((row.spread - 5.0 / 24.0).abs() < 1e-9);
        assert_eq!(of("plain", &[30.0, 20.0]).cycles, 20.0);
    }

    #[test]
    fn ratios_are_to_the_plain_program_the_floor_and_each_peer() {
        let text = table(&[of("plain", &[25.0]), of("peer:hash8", &[50.0]), of("peer:hand", &[20.0])]);
        let plain = text.lines().find(|line| line.starts_with("plain")).unwrap();
        let words: Vec<&str> = plain.split_whitespace().collect();
        assert_eq!(words[words.len() - 4..], ["1.00", "2.50", "0.50", "1.25"], "{text}");
        assert!(text.contains("of hash8") && !text.contains("pages"), "{text}");
    }

    #[test]
    fn records_are_one_json_array() {
        let text = json(&[of("plain", &[25.0]), of("peer:hand", &[20.0])]);
        assert!(text.starts_with("[\n{\"experiment\":\"programs\",\"program\":\"l2fwd\",\"entries\":256,"));
        assert!(
            text.contains("\"net_cycles\":19.00")
                && text.contains("\"predicted\":null")
                && text.contains("\"compiler\":\"gcc 12\"")
                && text.ends_with("}\n]\n")
        );
    }
}
