//! What commands print: rows of named columns, as aligned text, tab-separated, or as JSON.

use serde_json::{Map, Value};
use std::ops::Range;

#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Form {
    #[default]
    Text,
    /// A line of column names, then a line a row.
    Tsv,
    /// An object a line.
    Json,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cell {
    Text(String),
    Number(u128),
    /// What is an object, a list or a number for JSON, and a text for people.
    Shown {
        text: String,
        json: Value,
    },
    Empty,
}

pub struct Report {
    pub columns: Vec<String>,
    /// These columns are the members of one object in JSON, which has this name.
    pub group: Option<(&'static str, Range<usize>)>,
    pub rows: Vec<Vec<Cell>>,
}

impl From<&str> for Cell {
    fn from(text: &str) -> Cell {
        Cell::Text(text.to_string())
    }
}

impl From<String> for Cell {
    fn from(text: String) -> Cell {
        Cell::Text(text)
    }
}

impl From<u64> for Cell {
    fn from(number: u64) -> Cell {
        Cell::Number(number.into())
    }
}

impl From<u32> for Cell {
    fn from(number: u32) -> Cell {
        Cell::Number(number.into())
    }
}

/// What the protocol counts in fields with a sign is never negative.
impl From<i64> for Cell {
    fn from(number: i64) -> Cell {
        Cell::Number(number.max(0) as u128)
    }
}

impl<T: Into<Cell>> From<Option<T>> for Cell {
    fn from(value: Option<T>) -> Cell {
        value.map_or(Cell::Empty, Into::into)
    }
}

impl Cell {
    pub fn shown(text: impl Into<String>, json: Value) -> Cell {
        Cell::Shown { text: text.into(), json }
    }

    pub fn text(&self) -> String {
        self.is_read();
        match self {
            Cell::Text(text) | Cell::Shown { text, .. } => text.clone(),
            Cell::Number(number) => number.to_string(),
            Cell::Empty => String::new(),
        }
    }

    /// Whether the cell has something, and whether that is no text.
    fn kind(&self) -> (bool, bool) {
        self.is_read();
        match self {
            Cell::Text(_) => (true, false),
            Cell::Shown { json, .. } => (true, json.is_number()),
            Cell::Number(_) => (true, true),
            Cell::Empty => (false, true),
        }
    }

    /// Tests count the reads: their number must not grow with the square of the rows.
    fn is_read(&self) {
        #[cfg(test)]
        tests::READS.with(|reads| reads.set(reads.get() + 1));
    }

    fn json(&self) -> Option<Value> {
        match self {
            Cell::Text(text) => Some(Value::from(text.clone())),
            Cell::Shown { json, .. } => Some(json.clone()),
            Cell::Number(number) => {
                Some(u64::try_from(*number).map_or_else(|_| Value::from(number.to_string()), Value::from))
            }
            Cell::Empty => None,
        }
    }
}

impl Report {
    pub fn new(columns: &[&str]) -> Report {
        Report { columns: columns.iter().map(ToString::to_string).collect(), group: None, rows: Vec::new() }
    }

    pub fn row(&mut self, cells: Vec<Cell>) {
        self.rows.push(cells);
    }

    pub fn print(&self, form: Form) -> String {
        match form {
            Form::Text => self.text(),
            Form::Tsv => {
                let row = |cells: &mut dyn Iterator<Item = String>| cells.collect::<Vec<_>>().join("\t") + "\n";
                let head = row(&mut self.columns.iter().cloned());
                // Tabs and line ends of values would end a field.
                let plain = |cell: &Cell| cell.text().replace(['\t', '\n'], " ");
                head + &self.rows.iter().map(|cells| row(&mut cells.iter().map(plain))).collect::<String>()
            }
            Form::Json => self.rows.iter().map(|cells| self.object(cells)).collect(),
        }
    }

    fn object(&self, cells: &[Cell]) -> String {
        let (mut members, mut inner) = (Map::new(), Map::new());
        for (at, (column, cell)) in self.columns.iter().zip(cells).enumerate() {
            let Some(value) = cell.json() else { continue };
            let is_inner = self.group.as_ref().is_some_and(|(_, group)| group.contains(&at));
            let object = if is_inner { &mut inner } else { &mut members };
            object.insert(column.clone(), value);
        }
        if let Some((name, _)) = self.group.as_ref().filter(|_| !inner.is_empty()) {
            members.insert(name.to_string(), Value::Object(inner));
        }
        format!("{}\n", Value::Object(members))
    }

    /// Empty columns are left out; numbers are aligned right. Each row is read once to find the widths, and once to be printed.
    fn text(&self) -> String {
        let mut layout: Vec<Layout> = self.columns.iter().map(|name| Layout::of(name)).collect();
        for row in &self.rows {
            layout.iter_mut().zip(row).for_each(|(layout, cell)| layout.add(cell));
        }
        let used: Vec<usize> = (0..layout.len()).filter(|at| layout[*at].is_used).collect();
        if used.is_empty() {
            return String::new();
        }
        let line = |text: &dyn Fn(usize) -> String| {
            let cells: Vec<String> = used.iter().map(|at| layout[*at].pad(&text(*at))).collect();
            format!("{}\n", cells.join("  ").trim_end())
        };
        let head = line(&|at| self.columns[at].clone());
        head + &self.rows.iter().map(|row| line(&|at| row[at].text())).collect::<String>()
    }
}

/// How a column is printed.
struct Layout {
    width: usize,
    is_used: bool,
    is_number: bool,
}

impl Layout {
    fn of(name: &str) -> Layout {
        Layout { width: name.chars().count(), is_used: false, is_number: true }
    }

    fn add(&mut self, cell: &Cell) {
        self.width = self.width.max(cell.text().chars().count());
        let (is_used, is_number) = cell.kind();
        self.is_used |= is_used;
        self.is_number &= is_number;
    }

    fn pad(&self, text: &str) -> String {
        let width = self.width;
        if self.is_number { format!("{text:>width$}") } else { format!("{text:<width$}") }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::cell::Cell as Count;

    thread_local! {
        /// How often a cell was read.
        pub static READS: Count<usize> = const { Count::new(0) };
    }

    fn report() -> Report {
        let mut report = Report::new(&["name", "count", "none"]);
        report.row(vec!["a".into(), 7u64.into(), Cell::Empty]);
        report.row(vec!["long \"one\"".into(), 100u64.into(), Cell::Empty]);
        report
    }

    #[test]
    fn rows_have_three_forms() {
        assert_eq!(report().print(Form::Text), "name        count\na               7\nlong \"one\"    100\n");
        assert_eq!(report().print(Form::Tsv), "name\tcount\tnone\na\t7\t\nlong \"one\"\t100\t\n");
        let json = "{\"count\":7,\"name\":\"a\"}\n{\"count\":100,\"name\":\"long \\\"one\\\"\"}\n";
        assert_eq!(report().print(Form::Json), json);
    }

    /// Not a number of reads that grows with the square of the rows: 65,536 rows took more than a minute.
    #[test]
    fn each_cell_is_read_three_times_whatever_the_number_of_rows() {
        const ROWS: usize = 65_536;
        let mut report = Report::new(&["name", "index", "value"]);
        (0..ROWS as u64).for_each(|row| report.row(vec!["cells".into(), row.into(), Cell::Empty]));
        READS.with(|reads| reads.set(0));
        assert_eq!(report.print(Form::Text).lines().count(), ROWS + 1);
        let reads = READS.with(Count::get);
        assert!(reads <= 3 * ROWS * report.columns.len(), "{reads} reads");
    }

    #[test]
    fn columns_of_a_group_are_one_object_in_json() {
        let mut report = Report::new(&["kind", "a", "b"]);
        report.group = Some(("key", 1..3));
        report.row(vec!["entry".into(), Cell::shown("7", Value::from(7)), "x".into()]);
        report.row(vec!["default".into(), Cell::Empty, Cell::Empty]);
        let json = "{\"key\":{\"a\":7,\"b\":\"x\"},\"kind\":\"entry\"}\n{\"kind\":\"default\"}\n";
        assert_eq!(report.print(Form::Json), json);
        assert_eq!(report.print(Form::Tsv), "kind\ta\tb\nentry\t7\tx\ndefault\t\t\n");
    }

    #[test]
    fn nothing_is_printed_for_no_rows() {
        assert_eq!(Report::new(&["name"]).print(Form::Text), "");
    }
}
