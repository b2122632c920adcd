//! Values of literals: integers of any size and base, strings with their escapes.

use num_bigint::BigInt;

use crate::ast::{Integer, IntegerBase};

/// A number of this many digits has no use in a packet; reading it takes time that grows with the square of its length.
const LONGEST_LITERAL: usize = 20_000;

/// The value of `12`, `0xFF`, `8w0b1010_1010` or `16s5`; otherwise what is wrong with it.
pub fn integer(text: &str) -> Result<Integer, String> {
    if text.len() > LONGEST_LITERAL {
        return Err(format!("this number has {} characters, {LONGEST_LITERAL} are the most", text.len()));
    }
    let (width, signed, number) = match text.find(['w', 's']) {
        Some(at) => (Some(width(&text[..at])?), &text[at..=at] == "s", &text[at + 1..]),
        None => (None, false, text),
    };
    let (base, radix, digits) = match number.get(..2) {
        Some("0x" | "0X") => (IntegerBase::Hexadecimal, 16, &number[2..]),
        Some("0o" | "0O") => (IntegerBase::Octal, 8, &number[2..]),
        Some("0b" | "0B") => (IntegerBase::Binary, 2, &number[2..]),
        Some("0d" | "0D") => (IntegerBase::Decimal, 10, &number[2..]),
        Some(_) | None => (IntegerBase::Decimal, 10, number),
    };
    let digits: String = digits.chars().filter(|character| *character != '_').collect();
    if let Some(wrong) = digits.chars().find(|character| !character.is_digit(radix)) {
        return Err(format!("`{wrong}` is not a digit of a number in base {radix}"));
    }
    let value = BigInt::parse_bytes(digits.as_bytes(), radix).ok_or("this number has no digits")?;
    Ok(Integer { value, width, signed, base })
}

fn width(text: &str) -> Result<u32, String> {
    text.parse().map_err(|_| format!("`{text}` is not a width: it must be a decimal number, before `w` or `s`"))
}

/// The text of a string literal given with its quotes.
pub fn string(literal: &str) -> String {
    let inner = literal.strip_prefix('"').and_then(|rest| rest.strip_suffix('"')).unwrap_or(literal);
    let mut text = String::with_capacity(inner.len());
    let mut characters = inner.chars();
    while let Some(character) = characters.next() {
        if character != '\\' {
            text.push(character);
            continue;
        }
        match characters.next() {
            Some(quoted @ ('"' | '\\')) => text.push(quoted),
            Some('n') => text.push('\n'),
            Some('r') => text.push('\r'),
            Some('t') => text.push('\t'),
            // A backslash at the end of a line joins it with the next one.
            Some('\n') => {}
            Some(other) => text.extend(['\\', other]),
            None => text.push('\\'),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn integers_in_every_base_with_and_without_width() {
        let read = |text: &str| {
            let literal = integer(text).expect("a good literal");
            (literal.value.to_string(), literal.width, literal.signed)
        };
        assert_eq!(read("0"), ("0".into(), None, false));
        assert_eq!(read("0644"), ("644".into(), None, false));
        assert_eq!(read("32w255"), ("255".into(), Some(32), false));
        assert_eq!(read("8s0b1010_1010"), ("170".into(), Some(8), true));
        assert_eq!(read("0o17"), ("15".into(), None, false));
        assert_eq!(read("12w0d_9"), ("9".into(), Some(12), false));
        assert_eq!(read("0xFFFF_FFFF_FFFF_FFFF_FFFF"), ("1208925819614629174706175".into(), None, false));
    }

    #[test]
    fn bad_integers_say_why() {
        assert_eq!(integer("0b12").expect_err("bad"), "`2` is not a digit of a number in base 2");
        assert_eq!(integer("8w").expect_err("bad"), "this number has no digits");
        assert_eq!(integer("0x").expect_err("bad"), "this number has no digits");
        assert_eq!(integer("12ab").expect_err("bad"), "`a` is not a digit of a number in base 10");
        assert!(integer("99999999999w1").expect_err("bad").contains("is not a width"));
        assert!(integer(&"9".repeat(LONGEST_LITERAL + 1)).expect_err("bad").contains("are the most"));
    }

    #[test]
    fn strings_lose_their_escapes() {
        assert_eq!(string(r#""a \" b \\ c \n""#), "a \" b \\ c \n");
        assert_eq!(string("\"a\\\nb\""), "ab");
        assert_eq!(string(r#""\d""#), "\\d");
    }
}
