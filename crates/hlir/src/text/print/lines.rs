//! Lines of text with their indentation, and what all parts of a program are printed with: bodies in braces and notes.

use crate::Notes;
use crate::text::annotation;

/// Lines are kept below this length where a choice is to be made.
const LONGEST_LINE: usize = 100;

#[derive(Default)]
pub(super) struct Lines {
    out: String,
    depth: usize,
}

impl Lines {
    pub fn text(self) -> String {
        self.out
    }

    pub fn add(&mut self, line: impl AsRef<str>) {
        for _ in 0..self.depth {
            self.out.push_str("  ");
        }
        self.out.push_str(line.as_ref());
        self.out.push('\n');
    }

    /// An empty line, unless there is one already.
    pub fn gap(&mut self) {
        if !self.out.is_empty() && !self.out.ends_with("\n\n") {
            self.out.push('\n');
        }
    }

    /// `head { body } tail`: on one line if the body is empty or one short line.
    pub fn braces(&mut self, head: &str, tail: &str, body: impl FnOnce(&mut Lines)) {
        let mut inner = Lines::default();
        body(&mut inner);
        let tail = if tail.is_empty() { String::new() } else { format!(" {tail}") };
        match inner.out.lines().collect::<Vec<_>>()[..] {
            [] => self.add(format!("{head} {{}}{tail}")),
            [only] if is_short(head, only, &tail) => self.add(format!("{head} {{ {only} }}{tail}")),
            _ => {
                self.add(format!("{head} {{"));
                self.nested(&inner.out);
                self.add(format!("}}{tail}"));
            }
        }
    }

    /// Like `braces`, but always on lines of its own.
    pub fn block(&mut self, head: &str, tail: &str, body: impl FnOnce(&mut Lines)) {
        self.add(format!("{head} {{"));
        let mut inner = Lines::default();
        body(&mut inner);
        self.nested(&inner.out);
        let tail = if tail.is_empty() { String::new() } else { format!(" {tail}") };
        self.add(format!("}}{tail}"));
    }

    pub fn indented(&mut self, body: impl FnOnce(&mut Lines)) {
        let mut inner = Lines::default();
        body(&mut inner);
        self.nested(&inner.out);
    }

    fn nested(&mut self, text: &str) {
        self.depth += 1;
        for line in text.split_terminator('\n') {
            if line.is_empty() { self.out.push('\n') } else { self.add(line) }
        }
        self.depth -= 1;
    }

    /// `head { list } tail`, the list on lines of its own that are filled, where one line for all would be too long.
    pub fn filled(&mut self, head: &str, list: &[String], tail: &str) {
        let whole = format!("{head} {} {tail}", in_braces(list));
        if whole.len() <= LONGEST_LINE {
            return self.add(whole);
        }
        self.block(head, tail, |lines| {
            let mut line = String::new();
            for item in list {
                if !line.is_empty() && line.len() + item.len() > LONGEST_LINE {
                    lines.add(line.trim_end());
                    line.clear();
                }
                line.push_str(&format!("{item}, "));
            }
            lines.add(line.trim_end().trim_end_matches(','));
        });
    }

    /// What precedes a part: documentation and annotations.
    pub fn notes(&mut self, notes: &Notes) {
        for line in docs_lines(notes) {
            self.add(line);
        }
        if !notes.annotations.is_empty() {
            self.add(annotations(notes));
        }
    }
}

fn is_short(head: &str, only: &str, tail: &str) -> bool {
    let comment = only.starts_with("///") || only.starts_with('@');
    !comment && head.len() + only.len() + tail.len() < LONGEST_LINE
}

pub(super) fn docs_lines(notes: &Notes) -> Vec<String> {
    if notes.docs.is_empty() {
        return Vec::new();
    }
    let line = |line: &str| if line.is_empty() { "///".to_string() } else { format!("/// {line}") };
    notes.docs.split('\n').map(line).collect()
}

pub(super) fn annotations(notes: &Notes) -> String {
    notes.annotations.iter().map(annotation::print).collect::<Vec<_>>().join(" ")
}

pub(super) fn in_braces(list: &[String]) -> String {
    if list.is_empty() { "{}".to_string() } else { format!("{{ {} }}", list.join(", ")) }
}
