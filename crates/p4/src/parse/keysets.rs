//! Sets of keys in select expressions and table entries: `_`, `default`, `a &&& b`, `a .. b`, and tuples of them.

use super::{Parse, Parser};
use crate::ast::{Expression, ExpressionKind};

impl Parser<'_> {
    /// One set, or several in parentheses.
    pub(super) fn keyset(&mut self) -> Parse<Vec<Expression>> {
        // `(a) + 1` begins with a parenthesis, too: a tuple is followed by the colon.
        let behind = if self.at("(") { self.skip_balanced(self.position) } else { None };
        if !behind.is_some_and(|index| self.token_is(index, ":")) {
            return Ok(vec![self.single_keyset()?]);
        }
        self.advance();
        let keys = self.strict_list_until(")", Self::single_keyset)?;
        if keys.is_empty() {
            return Err(self.expected("a key before `:`"));
        }
        Ok(keys)
    }

    fn single_keyset(&mut self) -> Parse<Expression> {
        if self.at("_") {
            return self.dont_care();
        }
        if self.at("default") {
            let span = self.advance().span;
            return self.build(span, ExpressionKind::Default);
        }
        let first = self.expression()?;
        let start = first.span;
        let first_box = Box::new(first);
        let kind = if self.accept("&&&") {
            ExpressionKind::Mask { value: first_box, mask: Box::new(self.expression()?) }
        } else if self.accept("..") {
            ExpressionKind::Range { low: first_box, high: Box::new(self.expression()?) }
        } else {
            return Ok(*first_box);
        };
        self.build(self.since(start), kind)
    }
}
