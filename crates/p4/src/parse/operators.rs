//! Binary operators by precedence climbing. The levels are P4's, not C's: `&`, `^` and `|` bind tighter than comparisons.

use super::{Angles, Parse, Parser};
use crate::ast::{BinaryOperator, Expression, ExpressionKind};
use crate::lex::TokenKind;

/// An operator at its place: how tightly it binds and how many tokens it takes.
struct Found {
    operator: BinaryOperator,
    level: u8,
    tokens: usize,
}

impl Parser<'_> {
    /// An operand and all operators behind it that bind at least as tightly as `loosest`.
    pub(super) fn binary(&mut self, loosest: u8) -> Parse<Expression> {
        let mut left = self.unary()?;
        while let Some(found) = self.binary_operator().filter(|found| found.level >= loosest) {
            for _ in 0..found.tokens {
                self.advance();
            }
            let right = self.binary(found.level + 1)?;
            let span = left.span.to(right.span);
            let (left_box, right_box) = (Box::new(left), Box::new(right));
            let kind = ExpressionKind::Binary { operator: found.operator, left: left_box, right: right_box };
            left = self.build(span, kind)?;
        }
        Ok(left)
    }

    fn binary_operator(&self) -> Option<Found> {
        let TokenKind::Fixed(text) = self.peek().kind else {
            return None;
        };
        let found = |operator, level| Some(Found { operator, level, tokens: 1 });
        if self.angles == Angles::Close && text.starts_with('>') {
            return None;
        }
        match text {
            "||" => found(BinaryOperator::Or, 0),
            "&&" => found(BinaryOperator::And, 1),
            "==" => found(BinaryOperator::Equal, 2),
            "!=" => found(BinaryOperator::NotEqual, 2),
            "<" => found(BinaryOperator::Less, 3),
            "<=" => found(BinaryOperator::LessOrEqual, 3),
            ">=" => found(BinaryOperator::GreaterOrEqual, 3),
            ">" if self.next_is_adjacent(">") => {
                Some(Found { operator: BinaryOperator::ShiftRight, level: 7, tokens: 2 })
            }
            ">" if self.next_is_adjacent(">=") => None,
            ">" => found(BinaryOperator::Greater, 3),
            "|" => found(BinaryOperator::BitOr, 4),
            "^" => found(BinaryOperator::BitXor, 5),
            "&" => found(BinaryOperator::BitAnd, 6),
            "<<" => found(BinaryOperator::ShiftLeft, 7),
            "+" => found(BinaryOperator::Add, 8),
            "-" => found(BinaryOperator::Subtract, 8),
            "|+|" => found(BinaryOperator::SaturatingAdd, 8),
            "|-|" => found(BinaryOperator::SaturatingSubtract, 8),
            "++" => found(BinaryOperator::Concatenate, 8),
            "*" => found(BinaryOperator::Multiply, 9),
            "/" => found(BinaryOperator::Divide, 9),
            "%" => found(BinaryOperator::Modulo, 9),
            _ => None,
        }
    }

    /// Does the token after this one follow it without a blank, and is it `text`?
    fn next_is_adjacent(&self, text: &str) -> bool {
        self.at_ahead(1, text) && self.peek().span.end == self.peek_ahead(1).span.start
    }

    /// The operator of `=` (none) and `+=` (some), taken; nothing if an assignment does not go on here.
    pub(super) fn assignment_operator(&mut self) -> Option<Option<BinaryOperator>> {
        let TokenKind::Fixed(text) = self.peek().kind else {
            return None;
        };
        let operator = match text {
            "=" => None,
            "+=" => Some(BinaryOperator::Add),
            "-=" => Some(BinaryOperator::Subtract),
            "|+|=" => Some(BinaryOperator::SaturatingAdd),
            "|-|=" => Some(BinaryOperator::SaturatingSubtract),
            "*=" => Some(BinaryOperator::Multiply),
            "/=" => Some(BinaryOperator::Divide),
            "%=" => Some(BinaryOperator::Modulo),
            "<<=" => Some(BinaryOperator::ShiftLeft),
            "&=" => Some(BinaryOperator::BitAnd),
            "|=" => Some(BinaryOperator::BitOr),
            "^=" => Some(BinaryOperator::BitXor),
            ">" if self.next_is_adjacent(">=") => {
                self.advance();
                Some(BinaryOperator::ShiftRight)
            }
            _ => return None,
        };
        self.advance();
        Some(operator)
    }
}
