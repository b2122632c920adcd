//! Looking at tokens and taking them.

use hlir::source::Span;

use super::{Failed, Parse, Parser};
use crate::ast::Name;
use crate::lex::{RESERVED, Token, TokenKind};

impl Parser<'_> {
    pub(super) fn peek(&self) -> Token {
        self.peek_ahead(0)
    }

    pub(super) fn peek_ahead(&self, distance: usize) -> Token {
        self.token(self.position + distance)
    }

    /// The token at an index, the end of the text beyond the last.
    pub(super) fn token(&self, index: usize) -> Token {
        self.tokens[index.min(self.tokens.len() - 1)]
    }

    pub(super) fn text_of(&self, token: Token) -> &str {
        &self.text[token.span.start as usize..token.span.end as usize]
    }

    /// Is the next token this symbol, reserved word, or word with a meaning in this place?
    pub(super) fn at(&self, text: &str) -> bool {
        self.at_ahead(0, text)
    }

    pub(super) fn at_ahead(&self, distance: usize, text: &str) -> bool {
        self.token_is(self.position + distance, text)
    }

    pub(super) fn token_is(&self, index: usize, text: &str) -> bool {
        let token = self.token(index);
        match token.kind {
            TokenKind::Fixed(fixed) => fixed == text,
            TokenKind::Identifier => self.text_of(token) == text,
            TokenKind::Integer
            | TokenKind::String
            | TokenKind::Pragma
            | TokenKind::EndPragma
            | TokenKind::Unknown
            | TokenKind::End => false,
        }
    }

    pub(super) fn at_end(&self) -> bool {
        self.peek().kind == TokenKind::End
    }

    pub(super) fn at_name(&self) -> bool {
        self.peek().kind == TokenKind::Identifier
    }

    /// Takes the next token, never the end of the text.
    pub(super) fn advance(&mut self) -> Token {
        let token = self.peek();
        if token.kind != TokenKind::End {
            self.position += 1;
        }
        token
    }

    pub(super) fn accept(&mut self, text: &str) -> bool {
        let found = self.at(text);
        if found {
            self.position += 1;
        }
        found
    }

    pub(super) fn expect(&mut self, text: &str) -> Parse<Span> {
        if self.at(text) { Ok(self.advance().span) } else { Err(self.expected(&format!("`{text}`"))) }
    }

    /// A `;`. A missing one at the end of a line is reported and then taken as read, since it is clear where it belongs.
    pub(super) fn expect_semicolon(&mut self) -> Parse<()> {
        if self.accept(";") {
            return Ok(());
        }
        if !self.on_line_of_previous() || self.at("}") {
            self.report_missing(";", self.previous().after());
            return Ok(());
        }
        Err(self.expected("`;`"))
    }

    /// A `{`. A missing one at the end of a line is reported and then taken as read.
    pub(super) fn open_brace(&mut self) -> Parse<Span> {
        if self.at("{") {
            return Ok(self.advance().span);
        }
        let failed = self.expected("`{`");
        if self.at_end() || self.at_program_keyword() || self.on_line_of_previous() {
            return Err(failed);
        }
        Ok(self.previous())
    }

    /// The `}` of the block that was opened at `open`.
    pub(super) fn close_brace(&mut self, open: Span) -> Parse<Span> {
        if self.at("}") {
            return Ok(self.advance().span);
        }
        if self.at_end() || self.at_program_keyword() {
            self.report_unclosed(open);
            return Err(Failed);
        }
        Err(self.expected("`}`"))
    }

    /// The place of the token taken last.
    pub(super) fn previous(&self) -> Span {
        self.position.checked_sub(1).map_or(Span::NONE, |index| self.token(index).span)
    }

    /// From the beginning of a thing to the token taken last.
    pub(super) fn since(&self, start: Span) -> Span {
        start.to(self.previous())
    }

    pub(super) fn name(&mut self) -> Parse<Name> {
        if self.at_name() {
            return Ok(self.take_name());
        }
        let keyword = self.at_reserved_word() && self.on_line_of_previous();
        let failed = self.expected_name();
        // A keyword in the place of a name is most likely meant as one: what follows makes sense then.
        if keyword { Ok(self.take_name()) } else { Err(failed) }
    }

    pub(super) fn on_line_of_previous(&self) -> bool {
        let between = self.text.get(self.previous().end as usize..self.peek().span.start as usize);
        between.is_some_and(|between| !between.contains('\n'))
    }

    pub(super) fn at_reserved_word(&self) -> bool {
        let token = self.peek();
        matches!(token.kind, TokenKind::Fixed(_)) && RESERVED.contains(&self.text_of(token))
    }

    /// The next token as a name, whatever it is.
    pub(super) fn take_name(&mut self) -> Name {
        let token = self.advance();
        let text = &self.text[token.span.start as usize..token.span.end as usize];
        if let Some(known) = self.names.get(text) {
            return Name { text: known.clone(), span: token.span };
        }
        let name = Name::new(text, token.span);
        self.names.insert(name.text.clone());
        name
    }

    /// `open element, element close`, with an optional comma before `close`. What opened it has been taken.
    pub(super) fn list_until<T>(
        &mut self,
        close: &str,
        mut element: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let mut elements = Vec::new();
        while !self.at(close) {
            elements.push(element(self)?);
            if !self.accept(",") && !self.at(close) {
                return Err(self.expected(&format!("`,` or `{close}`")));
            }
        }
        self.advance();
        Ok(elements)
    }

    /// As `list_until`, for lists in which a comma must be followed by an element.
    pub(super) fn strict_list_until<T>(
        &mut self,
        close: &str,
        element: impl FnMut(&mut Self) -> Parse<T>,
    ) -> Parse<Vec<T>> {
        let elements = self.list_until(close, element)?;
        let comma = self.position.saturating_sub(2);
        if self.token_is(comma, ",") {
            self.report_superfluous_comma(self.token(comma).span);
        }
        Ok(elements)
    }
}
