//! A line, and the command in it.

use crate::commands;
use crate::help;
use crate::problem::{Outcome, Problem};
use crate::session::{Session, say};

/// What follows a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Step {
    Next,
    End,
}

/// Runs a line. What is wrong with it is printed; only a lost connection ends the session.
pub fn run(session: &mut Session, line: &str) -> Outcome<Step> {
    let line = line.trim();
    let line = if line.is_empty() { std::mem::take(&mut session.last) } else { line.to_string() };
    if line.is_empty() {
        return Ok(Step::Next);
    }
    let name_end = line.find(|c: char| !c.is_ascii_alphanumeric() && c != '_').unwrap_or(line.len());
    let (name, rest) = line.split_at(name_end);
    let arguments: Vec<&str> = rest.split_whitespace().collect();
    if name == "EOF" {
        say!(session, "");
        return Ok(Step::End);
    }
    let done = if let Some(topic) = line.strip_prefix('?') {
        help::print(session, topic.trim())
    } else if name == "help" {
        help::print(session, arguments.first().copied().unwrap_or(""))
    } else {
        match commands::find(name) {
            Some(run) => run(session, &arguments),
            None => {
                say!(session, "*** Unknown syntax: {line}");
                Ok(())
            }
        }
    };
    session.last = line;
    match done {
        Ok(()) => Ok(Step::Next),
        Err(lost @ Problem::Lost(_)) => Err(lost),
        Err(problem) => {
            say!(session, "{problem}");
            Ok(Step::Next)
        }
    }
}
