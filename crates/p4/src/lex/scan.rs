//! The scanner: one pass over the text that cannot fail, only report.

use hlir::diagnostic::Diagnostic;
use hlir::source::Span;

use crate::spelling::with_similar;

use super::{RESERVED, SYMBOLS, Token, TokenKind};

/// The tokens of a text, the last one being `End`.
pub struct Lexed {
    pub tokens: Vec<Token>,
    /// The `/** ... */` comments, each with the index of the token that follows it.
    pub documentation: Vec<(usize, Span)>,
    pub diagnostics: Vec<Diagnostic>,
}

pub fn lex(text: &str) -> Lexed {
    let lexed = Lexed { tokens: Vec::new(), documentation: Vec::new(), diagnostics: Vec::new() };
    let mut scanner = Scanner { text, position: 0, at_line_start: true, in_pragma: false, lexed };
    while scanner.scan() {}
    scanner.lexed
}

/// Directives that are of no concern after the preprocessor.
const LEFT: [&str; 4] = ["line", "pragma", "ident", "sccs"];

/// Those that a program may have.
const DIRECTIVES: [&str; 13] = [
    "include", "define", "undef", "if", "ifdef", "ifndef", "elif", "else", "endif", "error", "warning", "line",
    "pragma",
];

struct Scanner<'t> {
    text: &'t str,
    position: usize,
    at_line_start: bool,
    in_pragma: bool,
    lexed: Lexed,
}

impl Scanner<'_> {
    /// Reads one token, comment, or run of blanks; returns whether there may be more.
    fn scan(&mut self) -> bool {
        let start = self.position;
        let Some(first) = self.rest().chars().next() else {
            self.end_pragma();
            self.push(TokenKind::End, start);
            return false;
        };
        let was_line_start = std::mem::replace(&mut self.at_line_start, false);
        if first == '\n' {
            self.end_pragma();
            self.position += 1;
            self.at_line_start = true;
        } else if first.is_whitespace() {
            self.position += first.len_utf8();
            self.at_line_start = was_line_start;
        } else if first == '#' && was_line_start {
            self.directive();
        } else if self.rest().starts_with("//") {
            self.skip_while(|character| character != '\n');
        } else if self.rest().starts_with("/*") {
            self.comment();
        } else {
            self.token(first);
        }
        true
    }

    /// What the preprocessor has left: marks of lines, pragmas, and comments of its own (`#` before a blank), as p4c takes them. A word that it does not know
    /// stays, too, since it runs as for an assembler.
    fn directive(&mut self) {
        let start = self.position;
        self.position += 1;
        self.skip_while(is_name_part);
        let place = Span::new(start as u32, self.position as u32);
        let word = &self.text[start + 1..self.position];
        if word.starts_with(is_name_start) && !LEFT.contains(&word) {
            let report = Diagnostic::error(format!("invalid preprocessing directive `#{word}`")).kind("syntax");
            let report = report.label(place, "no directive has this name; a comment begins with `//`");
            let known: Vec<String> = DIRECTIVES.iter().map(|known| format!("#{known}")).collect();
            self.lexed.diagnostics.push(with_similar(report, &known, &format!("#{word}")));
        }
        self.skip_while(|character| character != '\n');
    }

    fn token(&mut self, first: char) {
        let start = self.position;
        if is_name_start(first) {
            self.skip_while(is_name_part);
            let word = &self.text[start..self.position];
            let reserved = RESERVED.binary_search(&word).ok().map(|index| RESERVED[index]);
            let kind = if word == "_" { TokenKind::Fixed("_") } else { TokenKind::Identifier };
            self.push(reserved.map_or(kind, TokenKind::Fixed), start);
        } else if first.is_ascii_digit() {
            self.skip_while(is_name_part);
            self.push(TokenKind::Integer, start);
        } else if first == '"' {
            self.string();
        } else if let Some(length) = self.pragma() {
            self.position += length;
            self.in_pragma = true;
            self.push(TokenKind::Pragma, start);
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| self.rest().starts_with(**symbol)) {
            self.position += symbol.len();
            self.push(TokenKind::Fixed(symbol), start);
        } else {
            self.position += first.len_utf8();
            self.push(TokenKind::Unknown, start);
        }
    }

    /// The length of an `@pragma` that begins here.
    fn pragma(&self) -> Option<usize> {
        let rest = self.rest().strip_prefix("@pragma")?;
        if rest.starts_with(is_name_part) { None } else { Some("@pragma".len()) }
    }

    fn string(&mut self) {
        let start = self.position;
        let mut escaped = true;
        for (at, character) in self.rest().char_indices() {
            if character == '"' && !escaped {
                self.position += at + 1;
                self.push(TokenKind::String, start);
                return;
            }
            // The opening quote counts as escaped, so that it does not close the string.
            escaped = character == '\\' && !escaped;
        }
        let place = Span::new(start as u32, start as u32 + 1);
        self.report("a string that begins here never ends", place, "no closing `\"` before the end of the text");
        self.position = self.text.len();
    }

    fn comment(&mut self) {
        let start = self.position;
        let Some(length) = self.rest()[2..].find("*/") else {
            let place = Span::new(start as u32, start as u32 + 2);
            self.report("a comment that begins here never ends", place, "no `*/` before the end of the text");
            self.position = self.text.len();
            return;
        };
        self.position = start + 2 + length + 2;
        let comment = &self.text[start..self.position];
        if comment.starts_with("/**") && comment.len() > "/**/".len() {
            let span = Span::new(start as u32, self.position as u32);
            self.lexed.documentation.push((self.lexed.tokens.len(), span));
        }
        if comment.contains('\n') {
            self.end_pragma();
        }
    }

    fn end_pragma(&mut self) {
        if std::mem::take(&mut self.in_pragma) {
            self.push(TokenKind::EndPragma, self.position);
        }
    }

    fn rest(&self) -> &str {
        &self.text[self.position..]
    }

    fn skip_while(&mut self, belongs: impl Fn(char) -> bool) {
        let rest = self.rest();
        self.position += rest.find(|character| !belongs(character)).unwrap_or(rest.len());
    }

    fn push(&mut self, kind: TokenKind, start: usize) {
        self.lexed.tokens.push(Token { kind, span: Span::new(start as u32, self.position as u32) });
    }

    fn report(&mut self, message: &str, place: Span, label: &str) {
        self.lexed.diagnostics.push(Diagnostic::error(message).kind("syntax").label(place, label));
    }
}

fn is_name_start(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_'
}

fn is_name_part(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

#[cfg(test)]
mod tests {
    use super::*;
    use hlir::source::SourceMap;

    fn kinds(text: &str) -> Vec<(TokenKind, &str)> {
        let span_text = |token: &Token| &text[token.span.start as usize..token.span.end as usize];
        lex(text).tokens.iter().map(|token| (token.kind, span_text(token))).collect()
    }

    fn texts(text: &str) -> Vec<&str> {
        kinds(text).into_iter().map(|(_, text)| text).collect()
    }

    #[test]
    fn reserved_words_are_sorted_for_the_search() {
        assert!(RESERVED.is_sorted());
        assert!(SYMBOLS.is_sorted_by(|left, right| left.len() >= right.len()));
    }

    #[test]
    fn the_longest_symbol_wins_but_angles_stay_single() {
        assert_eq!(
            texts("a|+|=b|-|c&&&d>>e<<=f>=g..h...{#}[0+:8]"),
            [
                "a", "|+|=", "b", "|-|", "c", "&&&", "d", ">", ">", "e", "<<=", "f", ">=", "g", "..", "h", "...",
                "{#}", "[", "0", "+:", "8", "]", ""
            ]
        );
    }

    #[test]
    fn a_pragma_ends_with_its_line() {
        let found = kinds("@pragma size 100\ntable @pragmatic");
        assert_eq!(found[0].0, TokenKind::Pragma);
        assert_eq!(found[3].0, TokenKind::EndPragma);
        assert_eq!(found[4], (TokenKind::Fixed("table"), "table"));
        assert_eq!(found[5].1, "@");
    }

    #[test]
    fn directives_and_comments_are_skipped_and_documentation_is_kept() {
        let lexed = lex("# 1 \"f\"\n  #pragma once\na /* x */ // y\n/** Sends. */ b /**/");
        assert_eq!(lexed.tokens.len(), 3);
        assert_eq!(lexed.documentation.len(), 1);
        assert_eq!(lexed.documentation[0].0, 1);
    }

    #[test]
    fn unknown_directives_are_reported_with_the_one_that_was_meant() {
        let text = "#inlcude <core.p4>\n# a comment\n#\n  #ifdfe X\nname #tail";
        let lexed = lex(text);
        let map = SourceMap::new("p.p4", text);
        let found: Vec<String> = lexed.diagnostics.iter().map(|one| one.render(&map)).collect();
        for (found, (line, word, meant)) in found.iter().zip([(1, "#inlcude", "#include"), (4, "#ifdfe", "#ifdef")]) {
            assert!(found.contains(&format!("invalid preprocessing directive `{word}`")), "{found}");
            assert!(
                found.contains(&format!("p.p4({line})")) && found.contains(&format!("did you mean `{meant}`?")),
                "{found}"
            );
        }
        assert_eq!(found.len(), 2);
        assert_eq!(lexed.tokens.len(), 4, "`#` within a line begins no directive");
    }

    #[test]
    fn a_string_keeps_escaped_quotes_and_may_span_lines() {
        assert_eq!(texts("\"a \\\" b\" \"c\\\\\" \"d\ne\""), ["\"a \\\" b\"", "\"c\\\\\"", "\"d\ne\"", ""]);
        assert_eq!(lex("\"never").diagnostics.len(), 1);
        assert_eq!(lex("/* never").diagnostics.len(), 1);
    }
}
