//! Looking at tokens and taking them, with one error message for all that can be missing.

use super::{MOST_ERRORS, Reader};
use crate::diagnostic::Diagnostic;
use crate::source::Span;
use crate::text::lex::{Token, TokenKind};
use crate::text::names::{AllNames, Names, id};
use crate::text::words::{self, Words};
use crate::{Notes, TableId};
use la_arena::Idx;
use num_bigint::BigUint;

/// An error that has been reported.
#[derive(Debug)]
pub(super) struct Failed;

pub(super) type Read<T> = Result<T, Failed>;

/// How deep a text may nest. The reader, and all who walk what it has read, call themselves once or a few times for each level.
const DEEPEST: u32 = 200;

impl Reader {
    pub fn peek(&self) -> &Token {
        self.peek_behind(0)
    }

    pub fn peek_behind(&self, count: usize) -> &Token {
        let at = self.at + count;
        if at < self.end { &self.tokens[at] } else { &self.sentinel }
    }

    pub fn advance(&mut self) {
        self.at = self.end.min(self.at + 1);
    }

    pub fn is_end(&self) -> bool {
        self.at >= self.end
    }

    /// From the token at `start` to the last one that was taken.
    pub fn since(&self, start: usize) -> Span {
        let last = self.at.saturating_sub(1).max(start).min(self.tokens.len() - 1);
        self.tokens[start.min(last)].span.to(self.tokens[last].span)
    }

    /// Reports that `expected` is not here.
    pub fn fail(&mut self, expected: &str) -> Failed {
        self.fail_with_hint(expected, "")
    }

    pub fn fail_with_hint(&mut self, expected: &str, hint: &str) -> Failed {
        let found = self.peek();
        let shown = match &found.kind {
            TokenKind::Name { text, quoted } => {
                if *quoted {
                    format!("the name {}", words::between(text, '`'))
                } else {
                    format!("`{text}`")
                }
            }
            TokenKind::Number { .. } | TokenKind::Tenths(_) => "a number".to_string(),
            TokenKind::Text(_) => "a string".to_string(),
            TokenKind::Docs(_) => "documentation".to_string(),
            TokenKind::Annotation(_) => "an annotation".to_string(),
            TokenKind::Origin { .. } => "an origin (`from …`)".to_string(),
            TokenKind::Ordinal(text) => format!("`#{text}`"),
            TokenKind::Symbol(symbol) => format!("`{symbol}`"),
            TokenKind::End => "the end".to_string(),
        };
        let place = if self.is_end() { self.since(self.at.saturating_sub(1)).after() } else { found.span };
        let error = Diagnostic::error(format!("expected {expected}, found {shown}")).label(place, "");
        self.errors.push(if hint.is_empty() { error } else { error.hint(hint) });
        Failed
    }

    pub fn complain(&mut self, span: Span, message: impl Into<String>, hint: &str) -> Failed {
        let error = Diagnostic::error(message).label(span, "");
        self.errors.push(if hint.is_empty() { error } else { error.hint(hint) });
        Failed
    }

    pub fn is_symbol(&self, symbol: &str) -> bool {
        matches!(&self.peek().kind, TokenKind::Symbol(found) if *found == symbol)
    }

    pub fn eat(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        if found {
            self.advance();
        }
        found
    }

    pub fn expect(&mut self, symbol: &str) -> Read<()> {
        if self.eat(symbol) { Ok(()) } else { Err(self.fail(&format!("`{symbol}`"))) }
    }

    /// The word here, unless it is quoted.
    pub fn word(&self) -> Option<&str> {
        self.peek().kind.word()
    }

    pub fn is_word(&self, word: &str) -> bool {
        self.word() == Some(word)
    }

    pub fn eat_word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        if found {
            self.advance();
        }
        found
    }

    pub fn expect_word(&mut self, word: &str) -> Read<()> {
        if self.eat_word(word) { Ok(()) } else { Err(self.fail(&format!("`{word}`"))) }
    }

    /// A word that continues a statement. Followed by `=` it is a variable of that name, to which the next statement assigns.
    pub fn clause(&mut self, word: &str) -> bool {
        let found = self.is_word(word) && self.peek_behind(1).kind != TokenKind::Symbol("=");
        if found {
            self.advance();
        }
        found
    }

    pub fn name(&mut self, what: &str) -> Read<String> {
        let Some(name) = self.peek().kind.name().map(str::to_string) else { return Err(self.fail(what)) };
        self.advance();
        Ok(name)
    }

    pub fn text(&mut self, what: &str) -> Read<String> {
        let TokenKind::Text(text) = &self.peek().kind else {
            return Err(self.fail_with_hint(what, "strings are written \"…\""));
        };
        let text = text.clone();
        self.advance();
        Ok(text)
    }

    /// A number whose width its place gives.
    pub fn value(&mut self, what: &str) -> Read<BigUint> {
        let TokenKind::Number { width, value } = &self.peek().kind else { return Err(self.fail(what)) };
        if width.is_some() {
            return Err(self.fail_with_hint(what, "write it without a width"));
        }
        let value = value.clone();
        self.advance();
        Ok(value)
    }

    /// A number that fits a `u32` or `u64`.
    pub fn number<T: TryFrom<BigUint>>(&mut self, what: &str) -> Read<T> {
        let span = self.peek().span;
        let value = self.value(what)?;
        T::try_from(value).map_err(|_| self.complain(span, format!("{what} is too large"), ""))
    }

    /// One of these words.
    pub fn one_of<T: Copy>(&mut self, list: Words<T>) -> Read<T> {
        match self.word().and_then(|word| words::value_of(list, word)) {
            Some(value) => {
                self.advance();
                Ok(value)
            }
            None => Err(self.fail(&words::alternatives(list))),
        }
    }

    /// Reads items up to `end`, with commas that may be left out.
    pub fn list<T>(&mut self, end: &str, mut item: impl FnMut(&mut Reader) -> Read<T>) -> Read<Vec<T>> {
        let mut list = Vec::new();
        while !self.eat(end) {
            if self.is_end() {
                return Err(self.fail(&format!("`{end}`")));
            }
            list.push(item(self)?);
            self.eat(",");
        }
        Ok(list)
    }

    /// Reads members, each a line or more, up to `}`. After an error it goes on with the next line.
    pub fn members(&mut self, mut member: impl FnMut(&mut Reader) -> Read<()>) -> Read<()> {
        loop {
            while self.eat(";") {}
            if self.eat("}") {
                return Ok(());
            }
            if self.is_end() || self.errors.len() >= MOST_ERRORS {
                return Err(self.fail("`}`"));
            }
            let (start, depth) = (self.at, self.depth);
            if member(self).is_err() {
                self.depth = depth;
                self.recover(start);
            }
        }
    }

    /// Goes on to the next line of the same nesting as the token at `start`, or to the brace that closes it.
    fn recover(&mut self, start: usize) {
        let failed_at = self.at;
        self.at = start;
        let mut open = 0;
        while !self.is_end() {
            let past = self.at > failed_at || self.at == failed_at && failed_at > start;
            if open == 0 && past && self.peek().first_of_line {
                return;
            }
            if self.is_symbol("}") && open == 0 {
                return;
            }
            open += i32::from(self.is_symbol("{")) - i32::from(self.is_symbol("}"));
            self.advance();
        }
    }

    /// Counts one more level of nesting. The caller gives the level back, unless an error ends all of them.
    pub fn deeper(&mut self) -> Read<()> {
        if self.depth >= DEEPEST {
            let span = self.peek().span;
            return Err(self.complain(span, "this is nested too deeply", "200 levels are the limit"));
        }
        self.depth += 1;
        Ok(())
    }

    /// Documentation and annotations in front of a part.
    pub fn notes(&mut self) -> Notes {
        let mut notes = Notes::default();
        let mut docs: Vec<String> = Vec::new();
        loop {
            if let TokenKind::Docs(line) = &self.peek().kind {
                docs.push(line.clone());
            } else if let TokenKind::Annotation(annotation) = &self.peek().kind {
                notes.annotations.push(annotation.clone());
            } else {
                break;
            }
            self.advance();
        }
        notes.docs = docs.join("\n");
        notes
    }

    /// The origin that may be at the end of a part's head.
    pub fn origin(&mut self, notes: &mut Notes) {
        let TokenKind::Origin { origin, has_file } = &self.peek().kind else { return };
        let mut origin = origin.clone();
        let path = if *has_file { self.sources.get(&origin.file) } else { self.main_source.as_ref() };
        match path {
            Some(path) => origin.file.clone_from(path),
            None if *has_file => {}
            None => {
                self.fail_with_hint(
                    "the file of this origin",
                    "name it, or name a file at the top: source \"router.p4\"",
                );
            }
        }
        notes.origin = Some(origin);
        self.advance();
    }

    /// A name of one kind, or `#` and a number. An unknown name is reported and becomes number 0.
    pub fn reference<T>(&mut self, what: &str, names: fn(&AllNames) -> &Names) -> Read<Idx<T>> {
        let found = self.number_of(what, |reader| Some(names(&reader.names)))?;
        Ok(id(found))
    }

    /// An action of `table`, by name or number.
    pub fn action(&mut self, table: TableId) -> Read<u32> {
        let index = crate::text::names::number(table) as usize;
        self.number_of("an action", |reader| reader.names.actions.get(index))
    }

    fn number_of(&mut self, what: &str, names: impl Fn(&Reader) -> Option<&Names>) -> Read<u32> {
        let span = self.peek().span;
        if let Some(number) = self.peek().kind.ordinal().and_then(|text| text.parse().ok()) {
            self.advance();
            return Ok(number);
        }
        let text = self.name(what)?;
        let names = names(self);
        if let Some(number) = names.and_then(|names| names.get(&text)) {
            return Ok(number);
        }
        let near = names.and_then(|names| nearest(&text, names.all())).map(str::to_string);
        self.unknown(span, what, &text, near);
        Ok(0)
    }

    /// Reports a name that means nothing here.
    pub fn unknown(&mut self, span: Span, what: &str, name: &str, near: Option<String>) {
        if self.declarations_failed {
            return;
        }
        let hint = near.map_or(String::new(), |near| format!("did you mean `{near}`?"));
        self.complain(span, format!("`{name}` is not the name of {what}"), &hint);
    }
}

/// The name that differs least from `name`, if it is close enough to be meant.
pub(super) fn nearest<'n>(name: &str, names: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let limit = (name.len() / 2).min(5);
    let near = names.filter(|other| other.len().abs_diff(name.len()) <= limit);
    let measured = near.map(|other| (distance(name, other), other));
    measured.filter(|(distance, _)| *distance <= limit).min().map(|(_, other)| other)
}

/// How many characters have to be added, left out or changed.
fn distance(left: &str, right: &str) -> usize {
    let right: Vec<char> = right.chars().collect();
    let mut row: Vec<usize> = (0..=right.len()).collect();
    for (i, a) in left.chars().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, b) in right.iter().enumerate() {
            let changed = diagonal + usize::from(a != *b);
            diagonal = row[j + 1];
            row[j + 1] = changed.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[right.len()]
}
