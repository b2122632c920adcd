//! Splits a line of STF into names, numbers and marks.

use super::{Mistake, Place, address};

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
    /// Decimal, hexadecimal or binary, with `*` for any digit; also `0.5` and `10ms`, and the addresses `10.0.0.1`, `00:11:22:33:44:55`, `2001:db8::1`.
    Number,
    Mark,
}

/// Longer marks first.
const MARKS: [&str; 20] =
    ["&&&", "==", "!=", "<=", ">=", "..", ":", "/", "(", ")", ",", "=", "<", ">", "+", "$", "*", "-", "&", "|"];

/// Commands whose values are alone, after one name. The last two are those of `bacus ctl`.
const VALUE_COMMANDS: [&str; 4] = ["value_set", "register_write", "value-sets", "registers"];

/// The tokens of a line, up to its comment.
pub fn tokens(line: &str, number: u32) -> Result<Vec<Token>, Mistake> {
    let characters: Vec<char> = line.chars().collect();
    let command = line.split_whitespace().next().unwrap_or("").to_ascii_lowercase();
    let takes_values = VALUE_COMMANDS.contains(&command.as_str());
    let mut found: Vec<Token> = Vec::new();
    let mut at = 0;
    while at < characters.len() && characters[at] != '#' {
        if characters[at].is_whitespace() {
            at += 1;
            continue;
        }
        let place = Place { line: number, column: at as u32 + 1 };
        let rest = &characters[at..];
        let (kind, length, text) = match address_length(rest, &found, takes_values) {
            Some(length) => (Kind::Number, length, rest[..length].iter().collect()),
            None => token(rest, place)?,
        };
        found.push(Token { kind, text, place });
        at += length;
    }
    Ok(found)
}

/// The length of the address with colons at the front, if there is one where a value is allowed: one that begins with a letter is a name elsewhere.
fn address_length(rest: &[char], before: &[Token], takes_values: bool) -> Option<usize> {
    let length = address::colon_length(rest)?;
    if !rest[0].is_ascii_alphabetic() {
        return Some(length);
    }
    let last = before.last().filter(|last| last.kind == Kind::Mark);
    if takes_values && before.len() > 1 {
        return Some(length);
    }
    // `a:2001:db8::1` between parentheses: the parameter `a`, not an address.
    let opens = last?.text == "(" || last?.text == ",";
    let name = rest.iter().position(|c| *c == ':')?;
    let names_a_value = opens && address::colon_length(&rest[name + 1..]) == Some(length - name - 1);
    (!names_a_value).then_some(length)
}

/// The token at the front: its kind, how many characters it takes, and its text.
fn token(rest: &[char], place: Place) -> Result<(Kind, usize, String), Mistake> {
    let first = rest[0];
    if first == '"' {
        let (length, text) = unquoted(rest).ok_or_else(|| Mistake::new(place, "this name has no closing `\"`"))?;
        return Ok((Kind::Name, length, text));
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
        None => Err(Mistake::new(place, format!("unexpected `{first}`"))),
    }
}

/// A text between quotes: how many characters it takes with them, and what it is. A backslash makes a quote or a backslash a character of the text; `\n` ends
/// a line.
fn unquoted(rest: &[char]) -> Option<(usize, String)> {
    let (mut text, mut at) = (String::new(), 1);
    loop {
        match (rest.get(at)?, rest.get(at + 1)) {
            ('"', _) => return Some((at + 1, text)),
            ('\\', Some('n')) => text.push('\n'),
            ('\\', Some(next)) => text.push(*next),
            (plain, _) => {
                text.push(*plain);
                at += 1;
                continue;
            }
        }
        at += 2;
    }
}

/// A text as it is written between quotes.
pub fn quoted(text: &str) -> String {
    let escaped = text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n");
    format!("\"{escaped}\"")
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
    fn addresses_are_one_token_where_values_are() {
        assert_eq!(
            texts("add t k:10.0.0.0/8 f(10.0.0.1)"),
            ["add", "t", "k", ":", "10.0.0.0", "/", "8", "f", "(", "10.0.0.1", ")"]
        );
        assert_eq!(texts("k:10.0.0.1..10.0.0.9"), ["k", ":", "10.0.0.1", "..", "10.0.0.9"]);
        assert_eq!(texts("add t a:aa:bb:cc:dd:ee:ff"), ["add", "t", "a", ":", "aa:bb:cc:dd:ee:ff"]);
        assert_eq!(
            texts("add t a:00:11:22:33:44:55&&&ff:ff:ff:00:00:00"),
            ["add", "t", "a", ":", "00:11:22:33:44:55", "&&&", "ff:ff:ff:00:00:00"]
        );
        assert_eq!(
            texts("add t dad:2001:db8::/32 b:1"),
            ["add", "t", "dad", ":", "2001:db8::", "/", "32", "b", ":", "1"]
        );
        assert_eq!(
            texts("k:::1 f(::1,fe80::1,a:2001:db8::1)"),
            ["k", ":", "::1", "f", "(", "::1", ",", "fe80::1", ",", "a", ":", "2001:db8::1", ")"]
        );
        assert_eq!(texts("k:fe80::1..fe80::9"), ["k", ":", "fe80::1", "..", "fe80::9"]);
        assert_eq!(
            texts("value_set fe fe80::1 aa:bb:cc:dd:ee:ff"),
            ["value_set", "fe", "fe80::1", "aa:bb:cc:dd:ee:ff"]
        );
        assert_eq!(
            texts("meter_set_rates m 1 0.5:4 2:5"),
            ["meter_set_rates", "m", "1", "0.5", ":", "4", "2", ":", "5"]
        );
    }

    #[test]
    fn quoted_texts_are_read_as_they_were() {
        for text in ["br-lan", "a \"b\"", "back\\slash\\", "two\nlines", "# no comment", ""] {
            assert_eq!(texts(&format!("k:{} 1", quoted(text))), ["k", ":", text, "1"], "{}", quoted(text));
        }
    }

    #[test]
    fn what_has_no_meaning_is_named() {
        let mistake = tokens("add t k:1 ?", 7).expect_err("a question mark is not STF");
        assert_eq!(mistake.to_string(), "7:11: unexpected `?`");
        let mistake = tokens("add \"t k", 7).expect_err("the quote is open");
        assert_eq!(mistake.to_string(), "7:5: this name has no closing `\"`");
    }
}
