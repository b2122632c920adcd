//! Places in a source text: a `Span` is a pair of offsets, a `SourceMap` gives their file, line and column.
//!
//! A P4 program reaches the compiler as one preprocessed text made of many files. Spans are offsets into that text, so
//! that they stay small and cheap to copy; the map knows the line marks of the preprocessor and translates back.

use std::sync::Arc;

/// A range of bytes `start..end` of the one text a program was read from. The default span, `0..0`, means "no place".
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    pub const NONE: Span = Span { start: 0, end: 0 };

    pub fn new(start: u32, end: u32) -> Span {
        Span { start, end }
    }

    /// The smallest span that covers both; a span that is no place does not count.
    pub fn to(self, other: Span) -> Span {
        if self.is_none() {
            return other;
        }
        if other.is_none() {
            return self;
        }
        Span { start: self.start.min(other.start), end: self.end.max(other.end) }
    }

    pub fn is_none(self) -> bool {
        self == Span::NONE
    }

    /// The empty place just behind this one: where something is missing.
    pub fn after(self) -> Span {
        Span { start: self.end, end: self.end }
    }
}

/// From line `first_line` of the text (counted from 0) on, lines come from `file`, beginning with its line `file_line`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineMark {
    pub first_line: u32,
    pub file: Arc<str>,
    pub file_line: u32,
}

/// A place as people read it. Lines and columns count from 1, a column is a character.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub file: Arc<str>,
    pub line: u32,
    pub column: u32,
}

/// The text of a program and where each of its lines came from.
#[derive(Clone, Debug)]
pub struct SourceMap {
    text: Arc<str>,
    line_starts: Vec<u32>,
    marks: Vec<LineMark>,
}

impl SourceMap {
    /// The map of a text that is one file.
    pub fn new(file: &str, text: &str) -> SourceMap {
        SourceMap::with_marks(file, text, Vec::new())
    }

    /// The map of a text with marks in increasing order of `first_line`; lines before the first mark belong to `file`.
    pub fn with_marks(file: &str, text: &str, marks: Vec<LineMark>) -> SourceMap {
        let newlines = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at as u32 + 1);
        let line_starts = std::iter::once(0).chain(newlines).collect();
        let first = LineMark { first_line: 0, file: file.into(), file_line: 1 };
        let marks = std::iter::once(first).chain(marks).collect();
        SourceMap { text: text.into(), line_starts, marks }
    }

    /// The whole text that spans are offsets into.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// What is written at `span`; nothing if the span does not belong to this text.
    pub fn snippet(&self, span: Span) -> &str {
        self.text.get(span.start as usize..span.end as usize).unwrap_or("")
    }

    pub fn locate(&self, offset: u32) -> Location {
        let line = self.line_index(offset);
        let mark = &self.marks[self.marks.partition_point(|mark| mark.first_line <= line as u32) - 1];
        let before = self.text.get(self.line_starts[line] as usize..offset as usize).unwrap_or("");
        Location {
            file: mark.file.clone(),
            line: mark.file_line + (line as u32 - mark.first_line),
            column: before.chars().count() as u32 + 1,
        }
    }

    /// Whether `offset` is in a file that the program includes.
    pub fn is_included(&self, offset: u32) -> bool {
        let line = self.line_index(offset) as u32;
        let mark = self.marks.partition_point(|mark| mark.first_line <= line) - 1;
        self.marks[mark].file != self.marks[0].file
    }

    /// The line of the program's own file by which the file that `offset` is in was included; nothing if it is the program's own.
    pub fn inclusion(&self, offset: u32) -> Option<Span> {
        let line = self.line_index(offset) as u32;
        let around = self.marks.partition_point(|mark| mark.first_line <= line);
        let own = self.marks[..around].iter().rposition(|mark| mark.file == self.marks[0].file)?;
        // The mark that leaves the program is where the directive was.
        let leaving = self.marks[..around].get(own + 1)?.first_line.checked_sub(1)?;
        let (start, written) = self.line_at(self.line_starts[leaving as usize]);
        Some(Span::new(start, start + written.len() as u32))
    }

    /// The files that the text is made of.
    pub fn files(&self) -> impl Iterator<Item = &str> {
        self.marks.iter().map(|mark| &*mark.file)
    }

    /// The offsets where the text has a line of a file: several, if the file was included more than once.
    pub fn offsets_of(&self, file: &str, line: u32) -> Vec<u32> {
        let mut offsets = Vec::new();
        for (at, mark) in
            self.marks.iter().enumerate().filter(|(_, mark)| &*mark.file == file && mark.file_line <= line)
        {
            let end = self.marks.get(at + 1).map_or(self.line_starts.len() as u32, |next| next.first_line);
            let index = mark.first_line + (line - mark.file_line);
            // The mark that ends the part is a line of its own.
            let is_mark = self.marks.get(at + 1).is_some_and(|next| next.first_line == index + 1);
            if index < end && !is_mark {
                offsets.push(self.line_starts[index as usize]);
            }
        }
        offsets
    }

    /// The offset where the line that contains `offset` begins, and that line without its newline.
    pub fn line_at(&self, offset: u32) -> (u32, &str) {
        let line = self.line_index(offset);
        let start = self.line_starts[line];
        let end = self.line_starts.get(line + 1).map_or(self.text.len(), |next| *next as usize - 1);
        (start, self.text[start as usize..end].trim_end_matches('\r'))
    }

    fn line_index(&self, offset: u32) -> usize {
        self.line_starts.partition_point(|start| *start <= offset) - 1
    }
}
