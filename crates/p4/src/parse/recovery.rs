//! Reporting mistakes, and finding the place to go on after one.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::{DEEPEST_NESTING, Failed, Parse, Parser};
use crate::lex::TokenKind;

/// After so many mistakes a text is hardly P4, and parsing stops.
const MOST_MISTAKES: usize = 200;

/// Words that begin a declaration of the program and nothing inside one: where they appear, whatever came before is over.
const PROGRAM_KEYWORDS: &[&str] =
    &["control", "parser", "package", "extern", "struct", "header", "header_union", "enum", "typedef"];

impl Parser<'_> {
    pub(super) fn at_program_keyword(&self) -> bool {
        match self.peek().kind {
            TokenKind::Fixed(text) => PROGRAM_KEYWORDS.contains(&text),
            TokenKind::Identifier
            | TokenKind::Integer
            | TokenKind::String
            | TokenKind::Pragma
            | TokenKind::EndPragma
            | TokenKind::Unknown
            | TokenKind::End => false,
        }
    }

    /// Reports a mistake at the next token, unless one was already.
    pub(super) fn report(&mut self, diagnostic: Diagnostic) -> Failed {
        if self.gave_up || self.last_reported == Some(self.position) {
            return Failed;
        }
        self.last_reported = Some(self.position);
        self.diagnostics.push(diagnostic.kind("syntax"));
        if self.diagnostics.len() >= MOST_MISTAKES {
            let place = self.peek().span;
            let diagnostic = Diagnostic::error(format!("more than {MOST_MISTAKES} mistakes")).kind("syntax");
            self.diagnostics.push(diagnostic.label(place, "the text is not looked at from here on"));
            self.stop();
        }
        Failed
    }

    /// Lets everything that is being parsed find the end of the text, without a message about it.
    pub(super) fn stop(&mut self) {
        self.gave_up = true;
        self.position = self.tokens.len() - 1;
    }

    pub(super) fn report_at(&mut self, message: &str, place: Span, label: &str) -> Failed {
        self.report(Diagnostic::error(message).label(place, label))
    }

    /// Something else should be here.
    pub(super) fn expected(&mut self, what: &str) -> Failed {
        let found = self.found();
        let place = self.peek().span;
        let previous = self.previous();
        let missing_at_line_end = !self.on_line_of_previous();
        let message = format!("expected {what}, found {found}");
        if self.at_end() || (missing_at_line_end && what.starts_with('`')) {
            return self.report_at(&message, previous.after(), &format!("expected {what} here"));
        }
        self.report_at(&message, place, &format!("expected {what}"))
    }

    pub(super) fn expected_name(&mut self) -> Failed {
        let token = self.peek();
        let text = self.text_of(token).to_string();
        let word = self.at_reserved_word();
        if !word && text != "_" {
            return self.expected("a name");
        }
        let message = if word {
            format!("`{text}` is a keyword and cannot be a name")
        } else {
            "`_` cannot be a name".to_string()
        };
        let hint = if word { format!("choose another name, such as `{text}_`") } else { "choose a name".to_string() };
        self.report(Diagnostic::error(message).label(token.span, "a name is expected here").hint(hint))
    }

    fn found(&self) -> String {
        let token = self.peek();
        let text = self.text_of(token);
        match token.kind {
            TokenKind::Identifier | TokenKind::Fixed(_) | TokenKind::Pragma => format!("`{text}`"),
            TokenKind::Integer => "a number".to_string(),
            TokenKind::String => "a string".to_string(),
            TokenKind::EndPragma => "the end of the line".to_string(),
            TokenKind::Unknown => format!("the character `{text}`, which P4 does not use"),
            TokenKind::End => "the end of the text".to_string(),
        }
    }

    pub(super) fn report_missing(&mut self, what: &str, place: Span) {
        self.report_at(&format!("missing `{what}`"), place, &format!("`{what}` expected here"));
    }

    pub(super) fn report_superfluous_comma(&mut self, comma: Span) {
        self.report_at("superfluous `,`", comma, "nothing follows this comma");
    }

    /// The `{` at `open` has no `}`: the next token cannot be inside it.
    pub(super) fn report_unclosed(&mut self, open: Span) {
        let found = self.found();
        let place = if self.at_end() { self.previous().after() } else { self.peek().span };
        let diagnostic = Diagnostic::error("this `{` is never closed")
            .label(open, "opened here")
            .label(place, format!("not closed before {found}"));
        self.report(diagnostic);
    }

    /// Nothing after this place is parsed: it would take more levels than there is room for.
    pub(super) fn give_up(&mut self) -> Failed {
        let diagnostic = Diagnostic::error("this is nested too deeply")
            .label(self.peek().span, format!("more than {DEEPEST_NESTING} levels inside each other"))
            .hint("split the expression or statement, naming its parts");
        self.last_reported = None;
        self.report(diagnostic);
        self.stop();
        Failed
    }

    /// Skips what cannot be understood: to behind the next `;` or block of this level, or to before the `}` that ends it.
    pub(super) fn recover(&mut self) {
        let mut nesting = 0;
        while !self.at_end() && !self.at_program_keyword() {
            if self.at("{") {
                nesting += 1;
            } else if self.at("}") {
                if nesting == 0 {
                    return;
                }
                nesting -= 1;
                if nesting == 0 {
                    self.advance();
                    return;
                }
            } else if self.at(";") && nesting == 0 {
                self.advance();
                return;
            }
            self.advance();
        }
    }

    /// Moves behind the `}` of a list in which something was wrong, so that it is not taken for the end of a block.
    pub(super) fn skip_rest_of_braces(&mut self) {
        let start = self.position;
        let mut nesting = 1;
        while !self.at_end() && !self.at(";") && !self.at_program_keyword() {
            if self.at("{") {
                nesting += 1;
            } else if self.at("}") {
                nesting -= 1;
            }
            self.advance();
            if nesting == 0 {
                return;
            }
        }
        self.position = start;
    }

    /// Repeats `element` until the `}` of the block opened at `open`, going on after mistakes.
    pub(super) fn block_of<T>(&mut self, open: Span, mut element: impl FnMut(&mut Self) -> Parse<T>) -> Parse<Vec<T>> {
        let mistakes_before = self.diagnostics.len();
        let mut elements = Vec::new();
        while !self.at("}") {
            if self.at_end() || self.at_program_keyword() {
                // After a mistake in the block, braces may have been miscounted: then its end is not worth a second message.
                if self.diagnostics.len() == mistakes_before {
                    self.report_unclosed(open);
                }
                return Err(Failed);
            }
            let start = self.position;
            match element(self) {
                Ok(parsed) => elements.push(parsed),
                Err(Failed) => self.recover_from(start),
            }
        }
        self.advance();
        Ok(elements)
    }

    /// Recovers, and takes at least one token since `start` unless that would run over the end of a block.
    pub(super) fn recover_from(&mut self, start: usize) {
        self.recover();
        if self.position == start && !self.at("}") && !self.at_program_keyword() {
            self.advance();
        }
    }
}
