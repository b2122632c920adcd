//! What was measured: a line for each number, with its goal.

use driver::failure::Failure;
use driver::stdout::print_line;
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::path::Path;

/// What a number should be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Goal {
    AtLeast(f64),
    AtMost(f64),
}

/// One number of one measure.
#[derive(Clone, Debug, PartialEq)]
pub struct Record {
    pub measure: &'static str,
    pub what: &'static str,
    pub value: f64,
    pub unit: &'static str,
    pub goal: Option<Goal>,
}

/// The numbers of a measure, as it finds them.
pub struct Records {
    measure: &'static str,
    pub all: Vec<Record>,
}

impl Records {
    pub fn of(measure: &'static str) -> Records {
        Records { measure, all: Vec::new() }
    }

    fn add(&mut self, what: &'static str, value: f64, unit: &'static str, goal: Option<Goal>) {
        self.all.push(Record { measure: self.measure, what, value, unit, goal });
    }

    pub fn note(&mut self, what: &'static str, value: f64, unit: &'static str) {
        self.add(what, value, unit, None);
    }

    pub fn at_least(&mut self, what: &'static str, value: f64, unit: &'static str, goal: f64) {
        self.add(what, value, unit, Some(Goal::AtLeast(goal)));
    }

    pub fn at_most(&mut self, what: &'static str, value: f64, unit: &'static str, goal: f64) {
        self.add(what, value, unit, Some(Goal::AtMost(goal)));
    }
}

impl Goal {
    fn is_met(self, value: f64) -> bool {
        match self {
            Goal::AtLeast(least) => value >= least,
            Goal::AtMost(most) => value <= most,
        }
    }
}

/// Digits enough to compare with a goal.
fn number(value: f64) -> String {
    match value.abs() {
        large if large >= 100.0 || value.fract() == 0.0 => grouped(value.round() as i64),
        middle if middle >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.3}"),
    }
}

fn grouped(value: i64) -> String {
    let digits = value.unsigned_abs().to_string();
    let first = digits.len() % 3;
    let mut text = if value < 0 { "-".to_string() } else { String::new() };
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && at % 3 == first {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// A line of the table.
pub fn line(record: &Record) -> String {
    let Record { measure, what, value, unit, goal } = record;
    let mut line = format!("{measure:<13} {what:<42} {:>13} {unit:<10}", number(*value));
    let goal_text = goal.map(|goal| match goal {
        Goal::AtLeast(least) => (format!("at least {}", number(least)), goal.is_met(*value)),
        Goal::AtMost(most) => (format!("at most {}", number(most)), goal.is_met(*value)),
    });
    if let Some((text, met)) = goal_text {
        let _ = write!(line, " {text:<18} {}", if met { "met" } else { "missed" });
    }
    line.trim_end().to_string()
}

fn json_of(record: &Record) -> Value {
    let Record { measure, what, value, unit, goal } = record;
    let (least, most) = match goal {
        Some(Goal::AtLeast(least)) => (Some(*least), None),
        Some(Goal::AtMost(most)) => (None, Some(*most)),
        None => (None, None),
    };
    let met = goal.map(|goal| goal.is_met(*value));
    json!({"measure": measure, "what": what, "value": value, "unit": unit, "at_least": least, "at_most": most, "met": met})
}

/// Writes all of them into a directory, as a table and as JSON.
pub fn write(folder: &Path, records: &[Record]) -> Result<(), Failure> {
    let failed = |error: std::io::Error| Failure::environment(format!("{}: {error}", folder.display()));
    std::fs::create_dir_all(folder).map_err(failed)?;
    let table: String = records.iter().map(|record| line(record) + "\n").collect();
    let json = Value::Array(records.iter().map(json_of).collect());
    std::fs::write(folder.join("control.txt"), table).map_err(failed)?;
    std::fs::write(folder.join("control.json"), format!("{json:#}\n")).map_err(failed)?;
    print_line!("written: {}, control.txt and control.json", folder.display());
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_has_the_number_its_goal_and_whether_it_is_met() {
        let mut records = Records::of("inserts");
        records.at_least("in batches", 171_234.5, "/s", 200_000.0);
        records.at_most("p99", 1.5, "ms", 2.0);
        records.note("entries", 1_000_000.0, "");
        let lines: Vec<String> = records.all.iter().map(line).collect();
        assert!(lines[0].contains("171,23") && lines[0].ends_with("at least 200,000   missed"), "{}", lines[0]);
        assert!(lines[1].contains("1.500 ms") && lines[1].ends_with("met"), "{}", lines[1]);
        assert!(lines[2].ends_with("1,000,000"), "{}", lines[2]);
    }
}
