//! What a benchmark says: a table for people, and records for programs.

use std::fmt::Write as _;

/// One measured cell. `cycles` are gross: what the port costs is in them.
pub struct Record {
    pub experiment: &'static str,
    pub program: String,
    pub entries: u64,
    pub traffic: &'static str,
    pub variant: String,
    pub burst: u32,
    pub cycles: f64,
    pub floor: f64,
    pub spread: f64,
    pub mpps: f64,
    pub pages: &'static str,
}

impl Record {
    /// Beyond the floor of the port.
    pub fn net_cycles(&self) -> f64 {
        self.cycles - self.floor
    }

    fn json(&self) -> String {
        format!(
            "{{\"experiment\":\"{}\",\"program\":\"{}\",\"entries\":{},\"traffic\":\"{}\",\"variant\":\"{}\",\"burst\":{},\
             \"cycles\":{:.2},\"net_cycles\":{:.2},\"mpps\":{:.2},\"predicted\":null,\"floor\":{:.2},\"spread\":{:.4},\"pages\":\"{}\"}}",
            self.experiment,
            self.program,
            self.entries,
            self.traffic,
            self.variant,
            self.burst,
            self.cycles,
            self.net_cycles(),
            self.mpps,
            self.floor,
            self.spread,
            self.pages,
        )
    }
}

/// One array of records.
pub fn json(records: &[Record]) -> String {
    let lines: Vec<String> = records.iter().map(Record::json).collect();
    format!("[\n{}\n]\n", lines.join(",\n"))
}

/// A row a cell; the ratio is to the hand-written program over the same tables, where there is one.
pub fn table(records: &[Record]) -> String {
    let mut text = format!(
        "{:<10} {:>9} {:<10} {:>6} {:>9} {:>9} {:>9} {:>8} {:>8}\n",
        "program", "entries", "variant", "burst", "cycles", "net", "Mpps", "spread", "to hand"
    );
    for record in records {
        let by_hand = records.iter().find(|other| {
            let same = (&other.program, other.entries, other.burst) == (&record.program, record.entries, record.burst);
            same && other.variant == "peer:hand" && record.variant != "peer:hand"
        });
        let ratio = by_hand.map_or(String::new(), |hand| format!("{:.2}", record.cycles / hand.cycles));
        let _ = writeln!(
            text,
            "{:<10} {:>9} {:<10} {:>6} {:>9.1} {:>9.1} {:>9.1} {:>7.1}% {:>8}",
            record.program,
            record.entries,
            record.variant,
            record.burst,
            record.cycles,
            record.net_cycles(),
            record.mpps,
            record.spread * 100.0,
            ratio
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(variant: &str, cycles: f64) -> Record {
        Record {
            experiment: "plain",
            program: "l2fwd".to_string(),
            entries: 256,
            traffic: "uniform",
            variant: variant.to_string(),
            burst: 32,
            cycles,
            floor: 6.0,
            spread: 0.01,
            mpps: 2445.0 / cycles,
            pages: "unmeasured",
        }
    }

    #[test]
    fn the_ratio_is_to_the_program_by_hand() {
        let text = table(&[record("peer:hand", 20.0), record("plain", 25.0)]);
        assert!(text.lines().nth(2).is_some_and(|line| line.ends_with("1.25")), "{text}");
        assert!(text.lines().nth(1).is_some_and(|line| line.trim_end().ends_with('%')), "{text}");
    }

    #[test]
    fn records_are_one_json_array() {
        let text = json(&[record("plain", 25.0), record("peer:hand", 20.0)]);
        assert!(text.starts_with("[\n{\"experiment\":\"plain\",\"program\":\"l2fwd\",\"entries\":256,"));
        assert!(text.contains("\"net_cycles\":19.00") && text.ends_with("}\n]\n"));
    }
}
