//! Places in files as editors have them, and in the preprocessed text as the frontend has them.
//!
//! The preprocessor keeps lines, but not columns: it drops blanks, and expands macros. So tokens of a line are matched with those of the same
//! line of the file, from both ends; what is between came of a macro.

use hlir::source::{SourceMap, Span};
use lsp_types::{Position, Range};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::Path;
use std::rc::Rc;

type Lines = Rc<Vec<String>>;

pub struct Places {
    pub map: SourceMap,
    /// The program's own file, as the editor has it.
    program: String,
    text: Lines,
    /// Other files, as they are read.
    others: RefCell<BTreeMap<String, Lines>>,
}

/// A place in a file.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    pub file: String,
    pub range: Range,
    /// Whether the range is the token itself, not the expansion of a macro.
    pub is_exact: bool,
}

impl Places {
    pub fn new(map: SourceMap, program: &str, text: &str) -> Places {
        let text = Rc::new(text.lines().map(str::to_string).collect());
        Places { map, program: program.to_string(), text, others: RefCell::default() }
    }

    pub fn lines(&self, file: &str) -> Lines {
        if file == self.program {
            return self.text.clone();
        }
        if let Some(lines) = self.others.borrow().get(file) {
            return lines.clone();
        }
        let text = std::fs::read(file).map(|bytes| String::from_utf8_lossy(&bytes).into_owned()).unwrap_or_default();
        let lines: Lines = Rc::new(text.lines().map(str::to_string).collect());
        self.others.borrow_mut().insert(file.to_string(), lines.clone());
        lines
    }

    /// Where a span of the text is in its file.
    pub fn place(&self, span: Span) -> Option<Place> {
        if span.is_none() {
            return None;
        }
        let location = self.map.locate(span.start);
        let (line_start, written) = self.map.line_at(span.start);
        let lines = self.lines(&location.file);
        let number = location.line.checked_sub(1)?;
        let line = lines.get(number as usize).map_or("", String::as_str);
        let (start, end) = ((span.start - line_start) as usize, (span.end - line_start) as usize);
        let last = end.max(start).min(written.len());
        let found = matched(written, line, start).zip(matched(written, line, last));
        let (from, to) = found.unwrap_or_else(|| between(written, line));
        let at = |column: usize| Position { line: number, character: utf16(line, column) };
        let range = Range { start: at(from), end: at(to.max(from)) };
        Some(Place { file: location.file.to_string(), range, is_exact: found.is_some() && end <= written.len() })
    }

    /// Where a position of a file is in the text.
    pub fn offsets(&self, file: &str, position: Position) -> Vec<u32> {
        let lines = self.lines(file);
        let Some(line) = lines.get(position.line as usize) else { return Vec::new() };
        let column = bytes(line, position.character);
        let offset = |start: u32| {
            let (_, written) = self.map.line_at(start);
            matched(line, written, column).map(|column| start + column as u32)
        };
        self.map.offsets_of(file, position.line + 1).into_iter().filter_map(offset).collect()
    }

    /// Whether a file is part of the program.
    pub fn has(&self, file: &Path) -> bool {
        self.map.files().any(|part| Path::new(part) == file)
    }
}

/// Where each begins and ends.
type Tokens = Vec<(usize, usize)>;

/// Words and other characters, without blanks.
fn tokens(line: &str) -> Tokens {
    let is_word = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
    let mut tokens: Vec<(usize, usize)> = Vec::new();
    let mut in_word = false;
    for (at, letter) in line.char_indices() {
        let end = at + letter.len_utf8();
        match tokens.last_mut() {
            Some(last) if in_word && is_word(letter) => last.1 = end,
            _ if letter.is_whitespace() => {}
            Some(_) | None => tokens.push((at, end)),
        }
        in_word = is_word(letter);
    }
    tokens
}

/// The tokens that two lines have in common at their beginning and at their end.
fn common(from: &str, to: &str) -> (Tokens, Tokens, usize, usize) {
    let (ours, theirs) = (tokens(from), tokens(to));
    let is_same = |one: &(usize, usize), other: &(usize, usize)| from[one.0..one.1] == to[other.0..other.1];
    let prefix = ours.iter().zip(&theirs).take_while(|(one, other)| is_same(one, other)).count();
    let most = ours.len().min(theirs.len()) - prefix;
    let suffix =
        ours.iter().rev().zip(theirs.iter().rev()).take(most).take_while(|(one, other)| is_same(one, other)).count();
    (ours, theirs, prefix, suffix)
}

/// The column of the same place of the same token in another line.
fn matched(from: &str, to: &str, column: usize) -> Option<usize> {
    if from == to {
        return Some(column.min(to.len()));
    }
    let (ours, theirs, prefix, suffix) = common(from, to);
    let touches = |token: &&(usize, usize)| token.0 <= column && column <= token.1;
    // Between two tokens, the one that begins there, unless only the one before is a word.
    let begins = ours.iter().position(|token| token.0 <= column && column < token.1);
    let at = begins.or_else(|| ours.iter().position(|token| touches(&token)))?;
    let other = if at < prefix {
        at
    } else if at >= ours.len() - suffix {
        at + theirs.len() - ours.len()
    } else {
        return None;
    };
    let (token, other) = (ours[at], theirs.get(other)?);
    Some((other.0 + column.saturating_sub(token.0)).min(other.1))
}

/// What a line of a file has in the place of what another line has not in common with it.
fn between(written: &str, line: &str) -> (usize, usize) {
    let (_, theirs, prefix, suffix) = common(written, line);
    let start = theirs.get(prefix.min(theirs.len().saturating_sub(1))).map_or(0, |token| token.0);
    let last = theirs.len().saturating_sub(suffix + 1);
    (start, theirs.get(last).map_or(line.len(), |token| token.1).max(start))
}

/// Columns of the protocol are units of UTF-16.
fn utf16(line: &str, column: usize) -> u32 {
    line.char_indices().take_while(|(at, _)| *at < column).map(|(_, letter)| letter.len_utf16() as u32).sum()
}

pub fn bytes(line: &str, character: u32) -> usize {
    let mut units = 0;
    for (at, letter) in line.char_indices() {
        if units >= character {
            return at;
        }
        units += letter.len_utf16() as u32;
    }
    line.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_matched_by_tokens_and_macros_have_none() {
        let (file, text) = ("    a  =  MOST +\tb; // é", "    a = 17 + b; // é");
        assert_eq!(matched(text, file, 4), Some(4));
        assert_eq!(matched(text, file, 6), Some(7));
        assert_eq!(matched(text, file, 8), None, "17 is the macro's expansion");
        assert_eq!(matched(text, file, 13), Some(17));
        assert_eq!(matched(file, text, 17), Some(13));
        assert_eq!(between(text, file), (10, 14));
        assert_eq!(utf16("é𝄞x", 6), 3);
        assert_eq!(bytes("é𝄞x", 3), 6);
    }
}
