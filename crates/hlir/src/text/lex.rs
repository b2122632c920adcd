//! Cuts a text into tokens, once and before parsing, so that the parser can look ahead as far as it likes.
//!
//! Comments vanish; documentation, annotations and origins are tokens of their own, because their insides follow other rules.

use super::words::{self, SYMBOLS};
use crate::Origin;
use crate::diagnostic::Diagnostic;
use crate::notes::Annotation;
use crate::source::Span;
use num_bigint::BigUint;

/// Characters that one number may have. Reading decimal digits takes time that grows with their square.
const LONGEST_NUMBER: usize = 20_000;

#[derive(Clone, Debug, PartialEq)]
pub enum TokenKind {
    Name {
        text: String,
        quoted: bool,
    },
    Number {
        width: Option<u32>,
        value: BigUint,
    },
    /// `12.3`, in tenths.
    Tenths(u64),
    Text(String),
    /// A line of documentation.
    Docs(String),
    Annotation(Annotation),
    Origin {
        origin: Origin,
        /// Otherwise the file is the one that the text names first.
        has_file: bool,
    },
    /// What follows a `#`: the number of something which has no usable name.
    Ordinal(String),
    Symbol(&'static str),
    End,
}

impl TokenKind {
    /// The name, whether or not it was quoted.
    pub fn name(&self) -> Option<&str> {
        if let TokenKind::Name { text, .. } = self { Some(text) } else { None }
    }

    /// The word, which a quoted name is not.
    pub fn word(&self) -> Option<&str> {
        if let TokenKind::Name { text, quoted: false } = self { Some(text) } else { None }
    }

    /// The letters and digits behind a `#`.
    pub fn ordinal(&self) -> Option<&str> {
        if let TokenKind::Ordinal(text) = self { Some(text) } else { None }
    }
}

#[derive(Clone, Debug)]
pub struct Token {
    pub kind: TokenKind,
    pub span: Span,
    /// Whether it is the first of its line; errors are recovered from there.
    pub first_of_line: bool,
    /// Whether it is the first of its line, without a space before it.
    pub at_margin: bool,
}

/// The tokens of `text`, the last being `End`. What cannot be read is reported and left out.
pub fn lex(text: &str, errors: &mut Vec<Diagnostic>) -> Vec<Token> {
    let mut lexer = Lexer { text, at: 0, start: 0, first_of_line: true, tokens: Vec::new(), errors };
    if u32::try_from(text.len()).is_err() {
        lexer.errors.push(Diagnostic::error("the text is longer than 4 GiB"));
        lexer.at = text.len();
    }
    while lexer.at < text.len() {
        lexer.start = lexer.at;
        lexer.step();
    }
    lexer.start = lexer.at;
    lexer.push(TokenKind::End);
    lexer.tokens
}

pub(super) struct Lexer<'t, 'e> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    /// Where the token in hand begins.
    start: usize,
    first_of_line: bool,
    tokens: Vec<Token>,
    errors: &'e mut Vec<Diagnostic>,
}

impl<'t> Lexer<'t, '_> {
    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    fn span(&self) -> Span {
        Span::new(self.start as u32, self.at as u32)
    }

    pub(super) fn push(&mut self, kind: TokenKind) {
        let at_margin = self.start == 0 || self.text.as_bytes()[self.start - 1] == b'\n';
        self.tokens.push(Token { kind, span: self.span(), first_of_line: self.first_of_line, at_margin });
        self.first_of_line = false;
    }

    pub(super) fn error(&mut self, message: &str, hint: &str) {
        self.errors.push(Diagnostic::error(message).label(self.span(), "").hint(hint));
    }

    fn step(&mut self) {
        let Some(next) = self.rest().chars().next() else { return };
        match next {
            '\n' => {
                self.at += 1;
                self.first_of_line = true;
            }
            _ if next.is_whitespace() => self.at += next.len_utf8(),
            '/' if self.rest().starts_with("//") => self.comment(),
            '`' => self.quoted_name(),
            '"' => self.string(),
            '@' => self.annotation(),
            '#' => self.ordinal(),
            '0'..='9' => self.number(),
            _ if words::plain_length(self.rest()) > 0 => self.name(),
            _ => self.symbol(next),
        }
    }

    fn comment(&mut self) {
        let line = self.rest().split('\n').next().unwrap_or("");
        self.at += line.len();
        if let Some(docs) = line.strip_prefix("///").filter(|docs| !docs.starts_with('/')) {
            self.push(TokenKind::Docs(docs.strip_prefix(' ').unwrap_or(docs).to_string()));
        }
    }

    fn name(&mut self) {
        let length = words::plain_length(self.rest());
        let name = &self.rest()[..length];
        self.at += length;
        if name == "from"
            && let Some(origin) = self.origin()
        {
            self.push(origin);
            return;
        }
        self.push(TokenKind::Name { text: name.to_string(), quoted: false });
    }

    /// The origin behind the word `from`; without one, the word is a name like others and nothing is taken.
    fn origin(&mut self) -> Option<TokenKind> {
        let (before, errors_before) = (self.at, self.errors.len());
        self.at += self.rest().len() - self.rest().trim_start_matches([' ', '\t']).len();
        let start = self.at;
        if let Some(origin) = self.file().and_then(|file| self.origin_in(file, ":")) {
            return Some(TokenKind::Origin { origin, has_file: true });
        }
        self.errors.truncate(errors_before);
        self.at = start;
        if let Some(origin) = self.origin_in(String::new(), "") {
            return Some(TokenKind::Origin { origin, has_file: false });
        }
        self.at = before;
        None
    }

    fn file(&mut self) -> Option<String> {
        if self.rest().starts_with('"') {
            return self.until_quote('"');
        }
        let length = words::file_length(self.rest());
        self.at += length;
        Some(self.text[self.at - length..self.at].to_string())
    }

    /// Lines and columns, the first of them behind `mark`.
    fn origin_in(&mut self, file: String, mark: &str) -> Option<Origin> {
        let line = self.place_number(mark)?;
        let column = self.place_number(":")?;
        let end = self.place_number("-")?;
        // Most parts end in the line where they begin, and do not repeat it.
        let (end_line, end_column) = match self.place_number(":") {
            Some(end_column) => (end, end_column),
            None => (line, end),
        };
        Some(Origin { file, line, column, end_line, end_column })
    }

    /// A number behind `mark`; without both nothing is taken.
    fn place_number(&mut self, mark: &str) -> Option<u32> {
        let digits = self.rest().strip_prefix(mark)?;
        let length = digits.bytes().take_while(u8::is_ascii_digit).count();
        let number = digits[..length].parse().ok()?;
        self.at += mark.len() + length;
        Some(number)
    }

    fn quoted_name(&mut self) {
        if let Some(text) = self.until_quote('`') {
            self.push(TokenKind::Name { text, quoted: true });
        }
    }

    fn string(&mut self) {
        if let Some(text) = self.until_quote('"') {
            self.push(TokenKind::Text(text));
        }
    }

    /// The text between this quote and the next one, escapes replaced. `None` if it does not end on its line.
    pub(super) fn until_quote(&mut self, quote: char) -> Option<String> {
        let mut out = String::new();
        let start = self.at;
        let mut characters = self.rest().char_indices().skip(1);
        while let Some((at, character)) = characters.next() {
            self.at = start + at + character.len_utf8();
            match character {
                '\n' => break,
                '\\' => match escape(&mut characters) {
                    Some(character) => out.push(character),
                    None => self.error("unknown escape", "known are \\n, \\t, \\r, \\\\, \\u{…} and the quote itself"),
                },
                _ if character == quote => return Some(out),
                _ => out.push(character),
            }
        }
        // The line break is left to be seen, or the whole rest of the text has been taken.
        let line = self.text[start..].split('\n').next().unwrap_or("");
        self.at = start + line.len();
        self.error("a quote is not closed on its line", "write a line break as \\n");
        None
    }

    fn ordinal(&mut self) {
        let bytes = &self.rest().as_bytes()[1..];
        let mut length = bytes.iter().take_while(|byte| byte.is_ascii_alphanumeric()).count();
        if let [b'.', rest @ ..] = &bytes[length..] {
            let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
            length += if digits > 0 { 1 + digits } else { 0 };
        }
        let ordinal = self.rest()[1..1 + length].to_string();
        self.at += 1 + length;
        self.push(TokenKind::Ordinal(ordinal));
    }

    fn number(&mut self) {
        let length = self.rest().bytes().take_while(|byte| words::continues_name(*byte)).count();
        let word = &self.rest()[..length];
        self.at += length;
        if length > LONGEST_NUMBER {
            return self.error("the number is too long", "20000 characters is the limit");
        }
        let fraction = self.rest().as_bytes();
        if let [b'.', digit @ b'0'..=b'9', ..] = fraction
            && let Ok(whole) = word.parse::<u64>()
        {
            let tenth = u64::from(digit - b'0');
            self.at += 2;
            let more = self.rest().bytes().next().is_some_and(words::continues_name);
            match whole.checked_mul(10).and_then(|tenths| tenths.checked_add(tenth)).filter(|_| !more) {
                Some(tenths) => self.push(TokenKind::Tenths(tenths)),
                None => self.error("malformed number", "costs are written with one digit behind the point"),
            }
            return;
        }
        match number_of(word) {
            Some((width, value)) => self.push(TokenKind::Number { width, value }),
            None => self.error(&format!("malformed number `{word}`"), "write 511, 0x1ff, 0b11, or 9w511 with a width"),
        }
    }

    fn symbol(&mut self, next: char) {
        let fits = |symbol: &&&str| {
            self.rest().strip_prefix(**symbol).is_some_and(|after| {
                !symbol.ends_with('s')
                    || !after.bytes().next().is_some_and(|byte| words::continues_name(byte) || byte == b'.')
            })
        };
        match SYMBOLS.iter().find(fits) {
            Some(symbol) => {
                self.at += symbol.len();
                self.push(TokenKind::Symbol(symbol));
            }
            None => {
                self.at += next.len_utf8();
                self.error(&format!("unexpected character `{next}`"), "quote unusual names: `my name`");
            }
        }
    }
}

/// The character of an escape; the backslash has been taken.
fn escape(characters: &mut impl Iterator<Item = (usize, char)>) -> Option<char> {
    match characters.next()?.1 {
        'n' => Some('\n'),
        't' => Some('\t'),
        'r' => Some('\r'),
        'u' => {
            let mut code = 0u32;
            characters.next().filter(|(_, character)| *character == '{')?;
            loop {
                match characters.next()?.1 {
                    '}' => return char::from_u32(code),
                    digit => code = code.checked_mul(16)?.checked_add(digit.to_digit(16)?)?,
                }
            }
        }
        same @ ('\\' | '"' | '`') => Some(same),
        _ => None,
    }
}

fn number_of(word: &str) -> Option<(Option<u32>, BigUint)> {
    let (width, digits) = match word.split_once('w') {
        Some((width, digits)) => (Some(width.parse().ok()?), digits),
        None => (None, word),
    };
    let (radix, digits) = match digits.get(..2) {
        Some("0x") => (16, &digits[2..]),
        Some("0b") => (2, &digits[2..]),
        Some(_) | None => (10, digits),
    };
    let digits = digits.replace('_', "");
    Some((width, BigUint::parse_bytes(digits.as_bytes(), radix)?))
}
