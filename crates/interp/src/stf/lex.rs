//! Splits a line of STF into names, numbers and marks.

use super::{Mistake, Place};

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Token {
    pub kind: Kind,
    pub text: String,
    pub place: Place,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// `ingress.ipv4`, `extra$0.h`, `hdr.stack[1].x`, or anything between quotes.
    Name,
    /// Decimal, hexadecimal or binary, with `*` for any digit; also `0.5` and `10ms`.
    Number,
    Mark,
}

/// Longer marks first.
const MARKS: [&str; 18] =
    ["&&&", "==", "!=", "<=", ">=", "..", ":", "/", "(", ")", ",", "=", "<", ">", "+", "$", "*", "-"];

/// The tokens of a line, up to its comment.
pub fn tokens(line: &str, number: u32) -> Result<Vec<Token>, Mistake> {
    let characters: Vec<char> = line.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < characters.len() && characters[at] != '#' {
        if characters[at].is_whitespace() {
            at += 1;
            continue;
        }
        let place = Place { line: number, column: at as u32 + 1 };
        let (kind, length, text) = token(&characters[at..], place)?;
        found.push(Token { kind, text, place });
        at += length;
    }
    Ok(found)
}

/// The token at the front: its kind, how many characters it takes, and its text.
fn token(rest: &[char], place: Place) -> Result<(Kind, usize, String), Mistake> {
    let first = rest[0];
    if first == '"' {
        let length = rest[1..].iter().position(|c| *c == '"');
        let length = length.ok_or_else(|| Mistake::new(place, "this name has no closing `\"`"))?;
        return Ok((Kind::Name, length + 2, rest[1..=length].iter().collect()));
    }
    if is_name_start(rest, 0) {
        let length = name_length(rest);
        return Ok((Kind::Name, length, rest[..length].iter().collect()));
    }
    if first.is_ascii_digit() {
        let length = number_length(rest);
        return Ok((Kind::Number, length, rest[..length].iter().collect()));
    }
    let mark = MARKS.iter().find(|mark| mark.chars().enumerate().all(|(index, c)| rest.get(index) == Some(&c)));
    match mark {
        Some(mark) => Ok((Kind::Mark, mark.len(), mark.to_string())),
        None => Err(Mistake::new(place, format!("`{first}` has no meaning here"))),
    }
}

fn is_name_start(rest: &[char], at: usize) -> bool {
    let follows = |c: &char| c.is_ascii_alphabetic() || *c == '_';
    match rest.get(at) {
        // A `$` alone ends an expectation.
        Some('$') => rest.get(at + 1).is_some_and(follows),
        other => other.is_some_and(follows),
    }
}

fn name_length(rest: &[char]) -> usize {
    let mut at = 1;
    loop {
        match rest.get(at) {
            Some(c) if c.is_ascii_alphanumeric() || *c == '_' || *c == '$' => at += 1,
            Some('.') if is_name_start(rest, at + 1) => at += 2,
            Some('[') => match index_length(&rest[at..]) {
                Some(length) => at += length,
                None => return at,
            },
            _ => return at,
        }
    }
}

/// The length of `[3]` or `[7:4]`.
fn index_length(rest: &[char]) -> Option<usize> {
    let end = rest.iter().position(|c| *c == ']')?;
    let inside = &rest[1..end];
    let plain = !inside.is_empty() && inside.iter().all(|c| c.is_ascii_digit() || *c == ':');
    plain.then_some(end + 1)
}

fn number_length(rest: &[char]) -> usize {
    let mut at = 1;
    loop {
        match rest.get(at) {
            Some(c) if c.is_ascii_alphanumeric() || *c == '*' || *c == '_' => at += 1,
            Some('.') if rest.get(at + 1).is_some_and(char::is_ascii_digit) => at += 2,
            _ => return at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(line: &str) -> Vec<String> {
        let tokens = tokens(line, 1).expect("the line is well formed");
        tokens.into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn names_and_numbers_keep_together() {
        assert_eq!(texts("add t hdr.s[1].x:0x0a** # why"), ["add", "t", "hdr.s[1].x", ":", "0x0a**"]);
        assert_eq!(texts("extra$0.h:0b1*"), ["extra$0.h", ":", "0b1*"]);
        assert_eq!(texts("h.f[3:0]:1 \"a b\":2"), ["h.f[3:0]", ":", "1", "a b", ":", "2"]);
        assert_eq!(
            texts("k:1..5 0.5:4 a(b:1,c:2)=x"),
            ["k", ":", "1", "..", "5", "0.5", ":", "4", "a", "(", "b", ":", "1", ",", "c", ":", "2", ")", "=", "x"]
        );
        assert_eq!(texts("data.$valid$:1 v&&&0xf"), ["data.$valid$", ":", "1", "v", "&&&", "0xf"]);
    }

    #[test]
    fn what_has_no_meaning_is_named() {
        let mistake = tokens("add t k:1 ?", 7).expect_err("a question mark is not STF");
        assert_eq!(mistake.to_string(), "7:11: `?` has no meaning here");
        let mistake = tokens("add \"t k", 7).expect_err("the quote is open");
        assert_eq!(mistake.to_string(), "7:5: this name has no closing `\"`");
    }
}
