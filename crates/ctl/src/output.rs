//! What commands print: rows of named columns, as aligned text, tab-separated, or as JSON.

use serde_json::{Map, Value};

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
    Empty,
}

pub struct Report {
    pub columns: Vec<String>,
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
    pub fn text(&self) -> String {
        match self {
            Cell::Text(text) => text.clone(),
            Cell::Number(number) => number.to_string(),
            Cell::Empty => String::new(),
        }
    }

    fn json(&self) -> Option<Value> {
        match self {
            Cell::Text(text) => Some(Value::from(text.clone())),
            Cell::Number(number) => {
                Some(u64::try_from(*number).map_or_else(|_| Value::from(number.to_string()), Value::from))
            }
            Cell::Empty => None,
        }
    }
}

impl Report {
    pub fn new(columns: &[&str]) -> Report {
        Report { columns: columns.iter().map(ToString::to_string).collect(), rows: Vec::new() }
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
        let named = self.columns.iter().zip(cells);
        let members: Map<String, Value> =
            named.filter_map(|(column, cell)| Some((column.clone(), cell.json()?))).collect();
        format!("{}\n", Value::Object(members))
    }

    /// Empty columns are left out; numbers are aligned right.
    fn text(&self) -> String {
        let is_used = |at: &usize| self.rows.iter().any(|row| row.get(*at).is_some_and(|cell| *cell != Cell::Empty));
        let used: Vec<usize> = (0..self.columns.len()).filter(is_used).collect();
        let width = |at: usize| {
            let cells = self.rows.iter().map(|row| row[at].text().chars().count());
            cells.chain([self.columns[at].chars().count()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = used.iter().map(|at| width(*at)).collect();
        let is_number = |at: usize| self.rows.iter().all(|row| !matches!(row[at], Cell::Text(_)));
        let line = |cell: &dyn Fn(usize) -> String| {
            let cells = used.iter().zip(&widths).map(|(at, width)| match is_number(*at) {
                true => format!("{:>width$}", cell(*at)),
                false => format!("{:<width$}", cell(*at)),
            });
            format!("{}\n", cells.collect::<Vec<_>>().join("  ").trim_end())
        };
        if used.is_empty() {
            return String::new();
        }
        let head = line(&|at| self.columns[at].clone());
        head + &self.rows.iter().map(|row| line(&|at| row[at].text())).collect::<String>()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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

    #[test]
    fn nothing_is_printed_for_no_rows() {
        assert_eq!(Report::new(&["name"]).print(Form::Text), "");
    }
}
