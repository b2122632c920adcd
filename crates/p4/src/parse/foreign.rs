//! What people write who know P4_14 or C: each reported in one message, with what P4_16 has instead.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use super::{Failed, Parse, Parser};
use crate::ast::{Expression, ExpressionKind, Integer};
use crate::lex::TokenKind;

/// Words that begin a declaration of P4_14 if a name follows, and none of P4_16.
const OLD_WORDS: &[&str] = &[
    "calculated_field",
    "field_list",
    "field_list_calculation",
    "header_type",
    "metadata",
    "parser_exception",
    "parser_value_set",
    "primitive_action",
];

/// Declarations with braces behind their name: P4_16 makes instances of these, with parentheses.
const OLD_OBJECTS: &[&str] = &["action_profile", "action_selector", "blackbox", "counter", "meter", "register"];

impl Parser<'_> {
    /// At a declaration of P4_14: all of the text is, so nothing more is reported about it.
    pub(super) fn refuse_old_version(&mut self) -> Parse<()> {
        if !self.at_old_declaration() {
            return Ok(());
        }
        let word = self.text_of(self.peek()).to_string();
        let label = format!("`{word}` as P4_14 has it");
        let failed = self.report(
            Diagnostic::error("this is P4_14, and bacus reads P4_16")
                .label(self.peek().span, label)
                .hint("translate it with p4c, `p4test --std p4-14 --pp new.p4 old.p4`, or write P4_16"),
        );
        self.stop();
        Err(failed)
    }

    fn at_old_declaration(&self) -> bool {
        let is_name = |ahead: usize| self.token(self.position + ahead).kind == TokenKind::Identifier;
        if !is_name(1) {
            return false;
        }
        let first = self.peek();
        match self.text_of(first) {
            word if OLD_WORDS.contains(&word) => !self.at_ahead(2, "("),
            word if OLD_OBJECTS.contains(&word) => self.at_ahead(2, "{"),
            // `header ethernet_t ethernet;`, which is an instance.
            "header" => is_name(2),
            "parser" => self.at_ahead(2, "{") && !self.at_ahead(3, "state") && !self.at_ahead(3, "@"),
            "control" if self.at_ahead(2, "{") => {
                let calls = self.at_ahead(3, "apply") || is_name(3) && !self.at_ahead(3, "apply");
                self.at_ahead(3, "if") || self.at_ahead(3, "}") || calls && self.at_ahead(4, "(")
            }
            "table" => self.at_ahead(2, "{") && !self.at_ahead(4, "="),
            _ => false,
        }
    }

    /// `action bit<9> f()`: an action returns nothing.
    pub(super) fn refuse_returned_type(&mut self) -> Parse<()> {
        if !self.is_type_keyword(self.position) {
            return Ok(());
        }
        let start = self.peek().span;
        let returned = self.parse_type()?;
        let text = self.text[returned.span.start as usize..returned.span.end as usize].to_string();
        let diagnostic = Diagnostic::error("an action returns nothing")
            .label(start.to(returned.span), "the name of an action has no type before it")
            .hint(format!("make it a function, `{text} name(...) {{ ... }}`, or give it an `out` parameter"));
        self.report(diagnostic);
        Ok(())
    }

    /// `while (...) { ... }` and `do { ... } while (...);`
    pub(super) fn refuse_while(&mut self) -> Parse<()> {
        let is_call = |behind: usize| self.token_is(behind, ";") || self.token_is(behind, ".");
        let is_loop = match self.text_of(self.peek()) {
            "while" if self.at_ahead(1, "(") => self.skip_balanced(self.position + 1).is_some_and(|end| !is_call(end)),
            "do" => self.at_ahead(1, "{"),
            _ => false,
        };
        if !is_loop {
            return Ok(());
        }
        let word = self.text_of(self.peek()).to_string();
        let diagnostic = Diagnostic::error(format!("P4 has no `{word}`")).label(self.peek().span, "a loop of C");
        Err(self.report(diagnostic.hint("write `for (; condition; ) { ... }`")))
    }

    /// `++x;` at the beginning of a statement.
    pub(super) fn refuse_prefix(&mut self) -> Parse<()> {
        let Some((operator, length)) = self.at_step() else { return Ok(()) };
        let start = self.peek().span;
        let behind = self.token(self.position + length);
        let operand = if behind.kind == TokenKind::Identifier { self.text_of(behind).to_string() } else { "x".into() };
        Err(self.refuse_step(start.to(self.token(self.position + length - 1).span), operator, &operand))
    }

    /// `x++;`
    pub(super) fn refuse_suffix(&mut self, target: &Expression) -> Parse<()> {
        let Some((operator, length)) = self.at_step() else { return Ok(()) };
        let span = self.peek().span.to(self.token(self.position + length - 1).span);
        Err(self.refuse_step(span, operator, &target.to_string()))
    }

    /// Whether `++` or `--` comes, and as how many tokens.
    fn at_step(&self) -> Option<(char, usize)> {
        if self.at("++") {
            return Some(('+', 1));
        }
        let adjoin = self.peek().span.end == self.token(self.position + 1).span.start;
        (self.at("-") && self.at_ahead(1, "-") && adjoin).then_some(('-', 2))
    }

    fn refuse_step(&mut self, span: Span, operator: char, operand: &str) -> Failed {
        let diagnostic = Diagnostic::error(format!("P4 has no `{operator}{operator}` for counting"));
        let label = if operator == '+' { "`++` joins bits" } else { "two signs" };
        self.report(diagnostic.label(span, label).hint(format!("write `{operand} = {operand} {operator} 1`")))
    }

    /// `10.0.0.1`: an address is a number. What comes of it is 0, so that the rest is read.
    pub(super) fn refuse_address(&mut self, base: &Expression) -> Parse<Option<Expression>> {
        let ExpressionKind::Integer(first) = &base.kind else { return Ok(None) };
        let is_number = |ahead: usize| self.token(self.position + ahead).kind == TokenKind::Integer;
        if !(self.at(".") && is_number(1)) {
            return Ok(None);
        }
        let mut octets = vec![u8::try_from(&first.value).ok()];
        while self.at(".") && self.token(self.position + 1).kind == TokenKind::Integer {
            self.advance();
            let token = self.advance();
            octets.push(self.text_of(token).parse().ok());
        }
        let span = base.span.to(self.previous());
        let octets: Option<Vec<u8>> = octets.into_iter().collect();
        let diagnostic = Diagnostic::error("P4 has no numbers with dots").label(span, "an address is a number");
        let diagnostic = match octets.as_deref() {
            Some([a, b, c, d]) => diagnostic.hint(format!("write `0x{a:02x}{b:02x}{c:02x}{d:02x}`")),
            _ => diagnostic.hint("write it in hexadecimal, as `0x0a000001`"),
        };
        self.report(diagnostic);
        let value = Integer { value: 0.into(), ..first.clone() };
        self.build(span, ExpressionKind::Integer(value)).map(Some)
    }
}
