//! Recognising without parsing: is what follows a type, and what comes after it?
//!
//! Each function takes the index of a token and returns the index behind what it recognised. Nothing is built or reported.

use super::{DEEPEST_NESTING, Parser};
use crate::lex::TokenKind;

/// Words that begin a type.
const TYPE_KEYWORDS: &[&str] =
    &["bit", "bool", "error", "int", "match_kind", "string", "tuple", "value_set", "varbit", "void"];

impl Parser<'_> {
    pub(super) fn is_type_keyword(&self, index: usize) -> bool {
        TYPE_KEYWORDS.iter().any(|keyword| self.token_is(index, keyword))
    }

    fn is_name(&self, index: usize) -> bool {
        self.token(index).kind == TokenKind::Identifier
    }

    /// Behind a type, whether its names are declared or not.
    pub(super) fn skip_type(&self, index: usize) -> Option<usize> {
        self.skip_type_nested(index, 0)
    }

    fn skip_type_nested(&self, index: usize, depth: u32) -> Option<usize> {
        if depth > DEEPEST_NESTING {
            return None;
        }
        let start = if self.token_is(index, ".") { index + 1 } else { index };
        let known = self.is_type_keyword(index) || self.is_name(start) || self.token_is(index, "_");
        let mut after = known.then_some(start + 1)?;
        if self.token_is(after, "<") {
            let sized = ["bit", "int", "varbit"].iter().any(|word| self.token_is(start, word));
            after = if sized { self.skip_width(after)? } else { self.skip_angles_nested(after, depth + 1)? };
        }
        while self.token_is(after, "[") {
            after = self.skip_balanced(after)?;
        }
        Some(after)
    }

    /// Behind `<width>`, where a `>` in the width is in parentheses.
    fn skip_width(&self, index: usize) -> Option<usize> {
        let mut after = index + 1;
        while !self.token_is(after, ">") {
            after = match self.token(after).kind {
                TokenKind::Fixed("(" | "[") => self.skip_balanced(after)?,
                TokenKind::Fixed(")" | "]" | "{" | "}" | ";" | "," | "=") | TokenKind::End => return None,
                TokenKind::Fixed(_)
                | TokenKind::Identifier
                | TokenKind::Integer
                | TokenKind::String
                | TokenKind::Pragma
                | TokenKind::EndPragma
                | TokenKind::Unknown => after + 1,
            };
        }
        Some(after + 1)
    }

    /// Behind `<A, B>`, where the arguments are types.
    pub(super) fn skip_type_arguments(&self, index: usize) -> Option<usize> {
        self.skip_angles_nested(index, 0)
    }

    fn skip_angles_nested(&self, index: usize, depth: u32) -> Option<usize> {
        let mut after = index + 1;
        while !self.token_is(after, ">") {
            after = self.skip_type_nested(after, depth)?;
            if self.token_is(after, ",") {
                after += 1;
            } else if !self.token_is(after, ">") {
                return None;
            }
        }
        Some(after + 1)
    }

    /// Behind the bracket that closes the one at `index`; none if a `;` comes first or brackets do not match.
    pub(super) fn skip_balanced(&self, index: usize) -> Option<usize> {
        let mut open = Vec::new();
        let mut after = index;
        loop {
            let TokenKind::Fixed(text) = self.token(after).kind else {
                if self.token(after).kind == TokenKind::End {
                    return None;
                }
                after += 1;
                continue;
            };
            match text {
                "(" => open.push(")"),
                "[" => open.push("]"),
                "{" => open.push("}"),
                ")" | "]" | "}" if open.pop() != Some(text) => return None,
                ";" => return None,
                _ => {}
            }
            after += 1;
            if open.is_empty() {
                return Some(after);
            }
        }
    }

    /// Does a declaration of a variable or an instance begin here? `T x`, `T<U>[4] x`, `T(arguments) x`.
    pub(super) fn at_local_declaration(&self) -> bool {
        if self.at("const") || self.is_type_keyword(self.position) {
            return !(self.at("error") && self.at_ahead(1, "."));
        }
        let Some(after) = self.skip_type(self.position) else {
            return false;
        };
        // `T _` is a declaration, too, only a wrong one.
        let named = |index| self.is_name(index) || self.token_is(index, "_");
        named(after)
            || (self.token_is(after, "(") && self.skip_balanced(after).is_some_and(|behind| self.is_name(behind)))
    }

    /// Behind `(T)` where that is a cast: T is a type, or a name that is no value and an operand follows.
    pub(super) fn skip_cast(&self, index: usize) -> Option<usize> {
        self.skip_cast_nested(index, 0)
    }

    fn skip_cast_nested(&self, index: usize, depth: u32) -> Option<usize> {
        let after = self.skip_type(index + 1).filter(|after| self.token_is(*after, ")"))? + 1;
        let start = if self.token_is(index + 1, ".") { index + 2 } else { index + 1 };
        let certain = self.is_type_keyword(start) || self.names_type(start) || self.is_list(start);
        let only_a_name = after == start + 2;
        let operand_follows = || {
            let cast_follows = depth < DEEPEST_NESTING
                && self.token_is(after, "(")
                && self.skip_cast_nested(after, depth + 1).is_some();
            cast_follows || self.begins_operand(after)
        };
        (certain || (only_a_name && operand_follows())).then_some(after)
    }

    /// Could the token begin an operand and not continue an expression? Two operands in a row make no sense otherwise.
    fn begins_operand(&self, index: usize) -> bool {
        match self.token(index).kind {
            TokenKind::Identifier | TokenKind::Integer | TokenKind::String => true,
            TokenKind::Fixed(text) => matches!(text, "true" | "false" | "this" | "~" | "!" | "{#}"),
            TokenKind::Pragma | TokenKind::EndPragma | TokenKind::Unknown | TokenKind::End => false,
        }
    }

    /// Are the `<` here and what follows type arguments of a call, rather than a comparison? Behind them if so.
    pub(super) fn skip_call_type_arguments(&self, certain: bool) -> Option<usize> {
        let first = if self.at_ahead(1, ".") { self.position + 2 } else { self.position + 1 };
        let first_is_type =
            self.is_type_keyword(first) || self.token_is(first, "_") || self.names_type(first) || self.is_list(first);
        if !certain && !first_is_type {
            return None;
        }
        let after = self.skip_type_arguments(self.position)?;
        let continued = self.token_is(after, "(") || (certain && self.token_is(after, "."));
        continued.then_some(after)
    }

    /// `list<`, the one type whose name is not reserved.
    pub(super) fn is_list(&self, index: usize) -> bool {
        self.token_is(index, "list") && self.token_is(index + 1, "<")
    }
}
