//! The list of commands, and what each does.

use crate::commands::COMMANDS;
use crate::problem::Outcome;
use crate::session::{Session, say};

/// Characters of a line.
const WIDTH: usize = 79;

/// Prints the list, or what one command does.
pub fn print(session: &mut Session, topic: &str) -> Outcome {
    if topic.is_empty() {
        say!(session, "\nDocumented commands (type help <topic>):");
        say!(session, "========================================");
        let mut names: Vec<&str> = COMMANDS.iter().map(|(name, ..)| *name).chain(["help"]).collect();
        names.sort_unstable();
        for line in columns(&names) {
            say!(session, "{line}");
        }
        say!(session, "");
        return Ok(());
    }
    match COMMANDS.iter().find(|(name, ..)| *name == topic) {
        Some((name, arguments, about, _)) => {
            let usage = format!("{name} {arguments}");
            say!(session, "{about}: {}", usage.trim_end());
        }
        None if topic == "help" => say!(session, "List commands, or show what one does: help [command]"),
        None => say!(session, "*** No help on {topic}"),
    }
    Ok(())
}

/// Names in as few lines as fit, from top to bottom, each as wide as its column: so Python's `cmd` prints them for BMv2.
fn columns(names: &[&str]) -> Vec<String> {
    let arranged = |rows: usize| -> Vec<String> {
        let columns: Vec<&[&str]> = names.chunks(rows).collect();
        let widths: Vec<usize> =
            columns.iter().map(|column| column.iter().map(|name| name.len()).max().unwrap_or(0)).collect();
        let line = |row: usize| {
            let cells = columns.iter().zip(&widths);
            let cells = cells.filter_map(|(column, width)| column.get(row).map(|name| format!("{name:width$}")));
            cells.collect::<Vec<_>>().join("  ")
        };
        (0..rows).map(line).collect()
    };
    let fits = |rows: &usize| arranged(*rows).iter().all(|line| line.len() <= WIDTH);
    arranged((1..names.len()).find(fits).unwrap_or(names.len().max(1)))
}

#[cfg(test)]
mod tests {
    use super::columns;

    #[test]
    fn columns_are_filled_from_top_to_bottom() {
        let long = "x".repeat(50);
        assert_eq!(columns(&["a", "b"]), ["a  b"]);
        assert_eq!(columns(&[&long, &long]), [long.clone(), long.clone()]);
        assert_eq!(columns(&["a", &long, "c", &long]).len(), 2 + 2);
    }
}
