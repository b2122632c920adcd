//! Lines: where they break, and how far they are indented.

use super::brackets::{Role, roles};
use super::scan::{Kind, Piece};
use super::spaces::blanks;

/// Columns of a level.
const LEVEL: usize = 4;

/// An open bracket: the column of its content, that of its partner at the beginning of a line, and whether its content
/// is statements, which go on in further lines.
#[derive(Clone, Copy)]
struct Open {
    content: usize,
    partner: usize,
    has_statements: bool,
}

const FILE: Open = Open { content: 0, partner: 0, has_statements: true };

struct Lines<'t> {
    pieces: Vec<Piece<'t>>,
    roles: Vec<Role>,
    text: String,
    /// Column of the line's first piece, and of the next one.
    indent: usize,
    column: usize,
    open: Vec<Open>,
    /// Brackets at each `#if`, and at the end of its first branch.
    branches: Vec<(Vec<Open>, Option<Vec<Open>>)>,
    /// The first piece of the statement, and whether there is one.
    statement: Option<usize>,
}

/// The text of pieces in lines.
pub(super) fn lines(pieces: Vec<Piece<'_>>) -> String {
    let roles = roles(&pieces);
    let mut lines = Lines {
        pieces,
        roles,
        text: String::new(),
        indent: 0,
        column: 0,
        open: Vec::new(),
        branches: Vec::new(),
        statement: None,
    };
    (0..lines.pieces.len()).for_each(|at| lines.piece(at));
    if !lines.text.is_empty() {
        lines.text.push('\n');
    }
    lines.text
}

impl Lines<'_> {
    fn piece(&mut self, at: usize) {
        let breaks = self.breaks_before(at);
        if self.roles[at].is_argument {
            self.as_it_was(at);
        } else if at == 0 || breaks > 0 {
            (0..breaks).for_each(|_| self.text.push('\n'));
            self.indent = self.indentation(at);
            self.column = self.indent;
            self.text.extend(std::iter::repeat_n(' ', self.indent));
        } else {
            let count = blanks(&self.pieces, &self.roles, at);
            self.text.extend(std::iter::repeat_n(' ', count));
            self.column += count;
        }
        let piece = self.pieces[at];
        match piece.kind {
            Kind::BlockComment if !self.roles[at].is_argument => self.block_comment(piece),
            Kind::BlockComment
            | Kind::Word
            | Kind::String
            | Kind::Symbol
            | Kind::LineComment
            | Kind::Directive
            | Kind::Pragma => self.text.push_str(piece.text),
        }
        self.column += piece.text.chars().count();
        match piece.kind {
            Kind::Directive => self.directive(piece.text),
            Kind::Word | Kind::String | Kind::Symbol => self.code(at),
            Kind::LineComment | Kind::BlockComment | Kind::Pragma => {}
        }
    }

    /// Between the arguments of annotations and macros nothing changes.
    fn as_it_was(&mut self, at: usize) {
        let gap = self.pieces[at].gap;
        self.text.push_str(gap);
        match gap.rsplit_once('\n') {
            Some((_, last)) => (self.indent, self.column) = (last.chars().count(), last.chars().count()),
            None => self.column += gap.chars().count(),
        }
    }

    /// Ends of lines before a piece, at most two: those of the text, and around the statements of a block.
    fn breaks_before(&self, at: usize) -> usize {
        let piece = self.pieces[at];
        let Some(before) = at.checked_sub(1).map(|before| self.pieces[before]) else { return 0 };
        let needs =
            matches!(before.kind, Kind::LineComment | Kind::Directive | Kind::Pragma) || piece.kind == Kind::Directive;
        let mut written = piece.newlines.min(2);
        // No blank line at the ends of a block.
        if before.is("{") || piece.is("}") {
            written = written.min(1);
        }
        let is_split = !piece.is_comment() && !self.roles[at].is_argument && self.splits(at);
        written.max(usize::from(needs || is_split))
    }

    /// Whether the piece at an index begins a line since it is in a block.
    fn splits(&self, at: usize) -> bool {
        let (before, piece) = (&self.pieces[at - 1], &self.pieces[at]);
        let is_in_block = self.open.last().is_none_or(|open| open.has_statements);
        if piece.is("}") {
            return self.roles[at].is_block;
        }
        if before.is("{") {
            return self.roles[at - 1].is_block;
        }
        let goes_on = ["else", ";", ",", ")", "."].contains(&piece.text);
        let is_body = before.is("}") && (self.roles[at - 1].is_block || self.roles[at - 1].is_inline);
        is_in_block && (before.is(";") || is_body && !goes_on)
    }

    fn indentation(&self, at: usize) -> usize {
        let piece = self.pieces[at];
        let top = self.open.last().copied().unwrap_or(FILE);
        if piece.kind == Kind::Directive {
            return 0;
        }
        if piece.closes() {
            return top.partner;
        }
        let goes_on =
            top.has_statements && self.statement.is_some_and(|first| self.goes_on(first, at)) && !piece.is("{");
        top.content + if goes_on { LEVEL } else { 0 }
    }

    /// Whether a line continues the statement that begins at `first`: annotations and macros are complete by themselves.
    fn goes_on(&self, first: usize, at: usize) -> bool {
        let mut next = first;
        while next < at {
            let begins_alone = self.pieces[next].is("@") || self.is_macro(next);
            if self.pieces[next].is("@") {
                next += 1;
            }
            if !begins_alone {
                return !self.pieces[next..at].iter().all(|piece| piece.is_comment() || piece.kind == Kind::Directive);
            }
            next = self.behind_arguments(next + 1, at);
        }
        false
    }

    fn is_macro(&self, at: usize) -> bool {
        self.pieces.get(at + 1).is_some_and(|next| next.is("("))
            && self.roles.get(at + 2).is_some_and(|role| role.is_argument)
    }

    /// Behind the parentheses or brackets that begin at an index, if there are any.
    fn behind_arguments(&self, at: usize, end: usize) -> usize {
        if !self.pieces.get(at).is_some_and(|piece| piece.is("(") || piece.is("[")) {
            return at;
        }
        let mut depth = 0;
        for (index, piece) in self.pieces.iter().enumerate().take(end).skip(at) {
            if piece.opens() {
                depth += 1;
            } else if piece.closes() {
                depth -= 1;
            }
            if depth == 0 {
                return index + 1;
            }
        }
        end
    }

    /// Further lines of a comment with a star at their beginning are aligned; others stay as they are.
    fn block_comment(&mut self, piece: Piece<'_>) {
        let mut lines = piece.text.split('\n');
        self.text.push_str(lines.next().unwrap_or_default().trim_end());
        let has_stars = piece.text.split('\n').skip(1).all(|line| line.trim_start().starts_with('*'));
        for line in lines {
            self.text.push('\n');
            if has_stars {
                self.text.extend(std::iter::repeat_n(' ', self.column + 1));
                self.text.push_str(line.trim());
            } else {
                self.text.push_str(line.trim_end());
            }
        }
    }

    fn code(&mut self, at: usize) {
        let piece = self.pieces[at];
        let top = self.open.last().copied().unwrap_or(FILE);
        if piece.opens() {
            let ends_line =
                self.pieces.get(at + 1).is_none_or(|next| next.newlines > 0 || next.kind == Kind::LineComment);
            let is_block = self.roles[at].is_block;
            let open = if piece.is("{") && (is_block || ends_line) {
                Open { content: top.content + LEVEL, partner: top.content, has_statements: is_block }
            } else if ends_line {
                Open { content: self.indent + LEVEL, partner: self.indent, has_statements: false }
            } else {
                let content = self.column + blanks(&self.pieces, &self.roles, at + 1);
                Open { content, partner: self.column.saturating_sub(1), has_statements: false }
            };
            self.open.push(open);
            if open.has_statements {
                self.statement = None;
            }
        } else if piece.closes() {
            self.open.pop();
            // Behind a brace, a word or an annotation begins a statement.
            let next = self.pieces[at + 1..].iter().find(|next| next.is_code());
            let begins = next.is_none_or(|next| next.kind == Kind::Word || next.is("@") || next.is("}"));
            if piece.is("}") && begins && self.open.last().is_none_or(|open| open.has_statements) {
                self.statement = None;
            }
        } else if piece.is(";") && top.has_statements {
            self.statement = None;
        } else if self.statement.is_none() && top.has_statements {
            self.statement = Some(at);
        }
    }

    /// Each branch begins with the brackets that were open at its `#if`; behind all of them, those of the first branch are open.
    fn directive(&mut self, text: &str) {
        let word = text[1..].trim_start();
        let word = &word[..word.find(|letter: char| !letter.is_ascii_alphabetic()).unwrap_or(word.len())];
        match word {
            "if" | "ifdef" | "ifndef" => self.branches.push((self.open.clone(), None)),
            "elif" | "else" | "elifdef" | "elifndef" => {
                if let Some((before, first)) = self.branches.last_mut() {
                    let end = std::mem::replace(&mut self.open, before.clone());
                    first.get_or_insert(end);
                }
            }
            "endif" => {
                if let Some((_, Some(first))) = self.branches.pop() {
                    self.open = first;
                }
            }
            _ => {}
        }
    }
}
