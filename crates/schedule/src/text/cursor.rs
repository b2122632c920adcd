//! Reading token by token.

use super::places::{Places, Site};
use crate::value::Value;
use crate::values::Values;
use hlir::Program;
use hlir::diagnostic::Diagnostic;
use hlir::source::Span;
use hlir::text::{Token, TokenKind};
use num_bigint::BigUint;
use std::collections::HashMap;

/// A line could not be read; the error has been noted.
pub struct Failed;

pub type Read<T> = Result<T, Failed>;

pub struct Cursor<'p> {
    pub program: &'p Program,
    pub tokens: Vec<Token>,
    pub at: usize,
    pub errors: Vec<Diagnostic>,
    pub places: Places,
    pub values: Values,
    /// Values by name or number.
    pub named: HashMap<String, Value>,
}

impl Cursor<'_> {
    pub fn token(&self) -> &TokenKind {
        &self.tokens[self.at].kind
    }

    pub fn next_token(&self) -> &TokenKind {
        &self.tokens[(self.at + 1).min(self.tokens.len() - 1)].kind
    }

    pub fn span(&self) -> Span {
        self.tokens[self.at].span
    }

    pub fn take(&mut self) -> Token {
        let token = self.tokens[self.at].clone();
        self.at = (self.at + 1).min(self.tokens.len() - 1);
        token
    }

    pub fn is_end(&self) -> bool {
        *self.token() == TokenKind::End
    }

    pub fn is_symbol(&self, symbol: &str) -> bool {
        matches!(self.token(), TokenKind::Symbol(found) if *found == symbol)
    }

    pub fn is_word(&self, word: &str) -> bool {
        self.token().word() == Some(word)
    }

    /// Takes a symbol if it is there.
    pub fn symbol(&mut self, symbol: &str) -> bool {
        let found = self.is_symbol(symbol);
        self.at += usize::from(found);
        found
    }

    /// Takes a word if it is there.
    pub fn word(&mut self, word: &str) -> bool {
        let found = self.is_word(word);
        self.at += usize::from(found);
        found
    }

    pub fn expect_symbol(&mut self, symbol: &str) -> Read<()> {
        if self.symbol(symbol) { Ok(()) } else { self.fail(&format!("`{symbol}`")) }
    }

    pub fn expect_word(&mut self, word: &str) -> Read<()> {
        if self.word(word) { Ok(()) } else { self.fail(&format!("`{word}`")) }
    }

    pub fn fail<T>(&mut self, expected: &str) -> Read<T> {
        // What is missing at the end of a line is no fault of the next one.
        let is_next_line = self.at > 0 && self.tokens[self.at].first_of_line;
        let span = if is_next_line { self.tokens[self.at - 1].span } else { self.span() };
        let place = if is_next_line { "behind this" } else { "here" };
        self.error(Diagnostic::error(format!("expected {expected}")).label(span, place))
    }

    pub fn error<T>(&mut self, error: Diagnostic) -> Read<T> {
        self.errors.push(error);
        Err(Failed)
    }

    /// A number of the text that is no value.
    pub fn number<N: TryFrom<BigUint>>(&mut self, what: &str) -> Read<N> {
        if let TokenKind::Number { width: None, value } = self.token()
            && let Ok(number) = N::try_from(value.clone())
        {
            self.at += 1;
            return Ok(number);
        }
        self.fail(what)
    }

    /// `[start..end]`; the end is not below the start.
    pub fn range(&mut self, what: &str) -> Read<(u32, u32)> {
        self.expect_symbol("[")?;
        let start: u32 = self.number(what)?;
        self.expect_symbol("..")?;
        let at = self.span();
        let end: u32 = self.number(what)?;
        if end < start || end > u32::MAX / 8 {
            return self.error(Diagnostic::error("the range ends before it begins").label(at, "its end"));
        }
        self.expect_symbol("]")?;
        Ok((start, end))
    }

    /// An object of the program, by name or number.
    pub fn object<T>(&mut self, what: &str, find: impl Fn(&Program, &TokenKind) -> Option<T>) -> Read<T> {
        match find(self.program, self.token()) {
            Some(found) => {
                self.at += 1;
                Ok(found)
            }
            None => {
                let (span, name) = (self.span(), &self.program.name);
                let error = Diagnostic::error(format!("expected {what} of the program `{name}`"));
                self.error(error.label(span, "the program has none of this name"))
            }
        }
    }

    /// Reads a list, separated by commas.
    pub fn list<T>(&mut self, mut read: impl FnMut(&mut Self) -> Read<T>) -> Read<Vec<T>> {
        let mut list = vec![read(self)?];
        while self.symbol(",") {
            list.push(read(self)?);
        }
        Ok(list)
    }

    /// Goes on at the line behind the one that begins with a token.
    pub fn skip_line(&mut self, start: usize) {
        self.at = self.at.max(start + 1);
        while !self.is_end() && !self.tokens[self.at].first_of_line {
            self.at += 1;
        }
    }

    /// The end of a line, which began at `start`.
    pub fn end_line(&mut self, start: Span) -> Read<Span> {
        let last = self.tokens[self.at.saturating_sub(1)].span;
        if self.is_end() || self.tokens[self.at].first_of_line {
            Ok(start.to(last))
        } else {
            self.fail("the end of the line")
        }
    }

    pub fn note(&mut self, site: Site, span: Span) {
        self.places.note(site, span);
    }
}
