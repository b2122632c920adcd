//! Makes a program with a difference smaller while the difference stays: delta debugging on the syntax tree.
//!
//! The tree defines what may be left out; the text is what is edited, so any program that parses can be reduced. A step is kept if the program
//! still shows a difference of the same kind; one that uses an undefined value shows none.

mod edits;

use std::time::{Duration, Instant};

use crate::compare::{Difference, Kind, Outcome};
use crate::preprocess::joined;
use edits::{Changes, Edit, edits};

/// A program and its lines of STF.
#[derive(Clone, Debug)]
pub struct Reduced {
    pub program: String,
    pub lines: Vec<String>,
    pub difference: Difference,
}

/// Returns what comes of a program and its lines.
pub type Judge<'a> = dyn Fn(&str, &[String]) -> Outcome + 'a;

struct Reducer<'a> {
    architecture: &'a str,
    judge: &'a Judge<'a>,
    best: Reduced,
    until: Instant,
}

/// Reduces until nothing more can be left out, or the time is over.
pub fn reduce(architecture: &str, found: Reduced, time: Duration, judge: &Judge<'_>) -> Reduced {
    let mut reducer = Reducer { architecture, judge, best: found, until: Instant::now() + time };
    loop {
        let before = reducer.size();
        reducer.drop_lines();
        reducer.shrink_program();
        if reducer.size() >= before || reducer.is_late() {
            return reducer.best;
        }
    }
}

impl Reducer<'_> {
    fn size(&self) -> usize {
        self.best.program.len() + self.best.lines.iter().map(String::len).sum::<usize>()
    }

    fn is_late(&self) -> bool {
        Instant::now() > self.until
    }

    fn keep_if_different(&mut self, program: String, lines: Vec<String>) -> bool {
        match (self.judge)(&program, &lines) {
            Outcome::Different(difference) if alike(&difference, &self.best.difference) => {
                self.best = Reduced { program, lines, difference };
                true
            }
            Outcome::Different(_) | Outcome::Same { .. } | Outcome::Undefined(_) => false,
        }
    }

    fn drop_lines(&mut self) {
        let mut size = self.best.lines.len();
        while size > 0 {
            let mut at = 0;
            while at < self.best.lines.len() && !self.is_late() {
                let end = (at + size).min(self.best.lines.len());
                let mut lines = self.best.lines.clone();
                lines.drain(at..end);
                if !self.keep_if_different(self.best.program.clone(), lines) {
                    at = end;
                }
            }
            size /= 2;
        }
    }

    /// One pass over all edits. After one that worked the edits are those of the new program, from the same place on.
    fn shrink_program(&mut self) {
        let by_packets = matches!(self.best.difference.kind, Kind::Packets | Kind::Native);
        let changes = if by_packets { Changes::All } else { Changes::Deletions };
        let mut at = 0;
        let mut candidates = self.candidates(changes);
        while at < candidates.len() && !self.is_late() {
            let begin = joined(self.architecture, "").len();
            let smaller = apply(&self.best.program, begin, &candidates[at]);
            if self.keep_if_different(smaller, self.best.lines.clone()) {
                candidates = self.candidates(changes);
            } else {
                at += 1;
            }
        }
    }

    fn candidates(&self, changes: Changes) -> Vec<Edit> {
        let text = joined(self.architecture, &self.best.program);
        let begin = joined(self.architecture, "").len() as u32;
        p4::with_deep_stack(|| {
            let parsed = p4::parse("program.p4", &text);
            edits(&text, begin, &parsed.program.declarations, changes)
        })
    }
}

/// Whether two differences are of one kind; messages are the same but for numbers and names in quotes.
fn alike(left: &Difference, right: &Difference) -> bool {
    left.kind == right.kind
        && (matches!(left.kind, Kind::Packets | Kind::Native) || signature(&left.message) == signature(&right.message))
}

/// The first line of a message, without what is particular to the program.
pub fn signature(message: &str) -> String {
    let line = message.lines().next().unwrap_or("");
    let line = line.split_once("error: ").map_or(line, |(_, rest)| rest);
    let mut quoted = false;
    let kept = line.chars().filter(|letter| {
        if *letter == '`' {
            quoted = !quoted;
        }
        !quoted && !letter.is_ascii_digit()
    });
    kept.collect()
}

fn apply(program: &str, begin: usize, edit: &Edit) -> String {
    let mut sorted: Vec<_> = edit.iter().collect();
    sorted.sort_by_key(|(span, _)| std::cmp::Reverse(span.start));
    let mut text = program.to_string();
    for (span, new) in sorted {
        let (start, end) = (span.start as usize - begin, span.end as usize - begin);
        if end <= text.len() {
            text.replace_range(start..end, new);
        }
    }
    // Lines that are empty now go, too.
    let kept: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    kept.join("\n") + "\n"
}
