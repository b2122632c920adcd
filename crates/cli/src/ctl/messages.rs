//! What `bacus ctl` prints of commands that fail: the place, the reason, and the forms of the command.

use ctl::{Failure, Reason};
use std::path::Path;
use std::process::ExitCode;
use stf::{Mistake, Place};

/// Things that are odd, though the command was executed.
pub fn print_warnings(warnings: &[Mistake], file: Option<&Path>) {
    warnings.iter().for_each(|warning| eprintln!("warning: {}{}", place(file, warning.place), warning.message));
}

/// A failure of no command: of the connection.
pub fn print_plainly(failure: &Failure) -> ExitCode {
    failure.reasons().iter().for_each(|reason| eprintln!("error: {}", reason.sentence));
    ExitCode::from(failure.exit_code())
}

/// A failure of a command: of a line in a file, or of the one that was typed.
pub fn print_failure(failure: &Failure, line: &str, number: u32, file: Option<&Path>) -> ExitCode {
    lines(failure, line, number, file).iter().for_each(|line| eprintln!("{line}"));
    ExitCode::from(failure.exit_code())
}

fn place(file: Option<&Path>, place: Place) -> String {
    file.map_or_else(String::new, |file| format!("{}:{}:{}: ", file.display(), place.line, place.column))
}

fn lines(failure: &Failure, line: &str, number: u32, file: Option<&Path>) -> Vec<String> {
    if let Failure::Program(text) = failure {
        return vec![text.trim_end().to_string()];
    }
    let Failure::Mistake(mistake) = failure else {
        let before = |line: u32| file.map_or_else(String::new, |file| format!("{}:{line}: ", file.display()));
        let lines = failure.reasons().into_iter();
        let line = |Reason { line, sentence }| format!("error: {}{sentence}", before(line.unwrap_or(number)));
        return lines.map(line).collect();
    };
    let mut lines = vec![format!("error: {}{}", place(file, mistake.place), mistake.message)];
    if file.is_none() {
        let caret = " ".repeat(mistake.place.column.saturating_sub(1) as usize);
        lines.extend([format!("  {line}"), format!("  {caret}^")]);
    }
    let usage = line.split_whitespace().next().and_then(ctl::usage_of).filter(|_| mistake.message.contains("expected"));
    lines.extend(usage.into_iter().flat_map(|usage| usage.forms).map(|form| format!("usage: {form}")));
    lines
}
