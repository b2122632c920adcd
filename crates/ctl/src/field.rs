//! Keys, parameters and metadata fields: how people write and read their values, and what those are in the protocol.
//!
//! Numbers, addresses, prefixes, masks and ranges are those of STF. Beside them `*` matches anything, and a plain number of a ternary key
//! means all its bits.

use crate::names::{self, PortName};
use control::message::runtime::{FieldMatch, field_match};
use field_match::FieldMatchType as Kind;
use hlir::{Match, MatchKind};
use num_bigint::BigUint;
use serde_json::Value as Json;
use std::net::{Ipv4Addr, Ipv6Addr};
use stf::command::{Value, Word};
use stf::{Line, Mistake, matches};

/// How a number is shown.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Look {
    Number,
    Hexadecimal,
    Ethernet,
    Ipv4,
    Ipv6,
    /// The controller has a text in place of the program's number.
    Text,
}

#[derive(Clone, Debug)]
pub struct Field<'i> {
    pub id: u32,
    pub name: &'i str,
    pub width: u32,
    pub kind: MatchKind,
    pub look: Look,
    /// Whose devices are names for their numbers.
    pub ports: &'i [PortName],
}

/// A value in a line of a command.
#[derive(Clone, Debug)]
pub enum Given {
    Any,
    Value(Value),
}

/// A value; words are values as well, of types that are texts for the controller.
pub fn given(line: &mut Line) -> Result<Given, Mistake> {
    if line.accept("*") {
        return Ok(Given::Any);
    }
    let first = word(line)?;
    if line.accept("/") {
        return Ok(Given::Value(Value::Prefix(first, line.number()?)));
    }
    if line.accept("&&&") || line.accept("&") {
        return Ok(Given::Value(Value::Masked(first, line.number()?)));
    }
    if line.accept("..") {
        return Ok(Given::Value(Value::Range(first, line.number()?)));
    }
    Ok(Given::Value(Value::One(first)))
}

/// A number or a text.
pub fn word(line: &mut Line) -> Result<Word, Mistake> {
    match line.next_name() {
        Some(_) => line.name("a value"),
        None if line.is_number() => line.number(),
        None => Err(line.expected("a value")),
    }
}

/// The look of a value: by its annotation, else by its width, and by its name where the width does not decide it.
pub fn look_of(name: &str, width: u32, kind: MatchKind, annotations: &[String]) -> Look {
    let format = annotations.iter().find(|annotation| annotation.starts_with("@format("));
    let known = [("MAC", Look::Ethernet), ("IPV4", Look::Ipv4), ("IPV6", Look::Ipv6), ("HEX", Look::Hexadecimal)];
    let named = format.and_then(|format| known.iter().find(|(word, _)| format.contains(word)));
    if let Some((_, look)) = named {
        return *look;
    }
    let name = name.to_ascii_lowercase();
    let mut words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let is_address = words.any(|word| {
        ["ip", "ipv4", "address", "gateway"].contains(&word) || word.ends_with("addr") || word.ends_with("hop")
    });
    match width {
        32 if kind == MatchKind::Lpm || is_address => Look::Ipv4,
        48 => Look::Ethernet,
        // EtherTypes.
        16 if name.ends_with("type") => Look::Hexadecimal,
        128 => Look::Ipv6,
        0..=64 => Look::Number,
        _ => Look::Hexadecimal,
    }
}

fn ones(width: u32) -> BigUint {
    (BigUint::from(1u8) << width) - 1u8
}

impl Field<'_> {
    /// The bytes of a value.
    pub fn encode(&self, word: &Word) -> Result<Vec<u8>, Mistake> {
        if self.look == Look::Text {
            return Ok(word.text.clone().into_bytes());
        }
        let (word, what) = (self.number_of(word)?, format!("`{}`", self.name));
        matches::check_address(&word, self.width, &what)?;
        Ok(matches::number(&word, self.width, &what)?.to_bytes_be())
    }

    /// A number as it was written, or that of the port whose device is named.
    fn number_of(&self, word: &Word) -> Result<Word, Mistake> {
        let is_number = word.text.starts_with(|c: char| c.is_ascii_digit()) || word.text.contains(':');
        match names::port_number(word, self.ports) {
            Some(number) => Ok(Word { text: number.to_string(), place: word.place }),
            None if is_number => Ok(word.clone()),
            None if self.name.to_ascii_lowercase().contains("port") => Err(names::unknown_port(word, self.ports)),
            None => Err(Mistake::new(word.place, format!("`{}` takes a number, `{}` is none", self.name, word.text))),
        }
    }

    /// None for what matches every value: the protocol leaves it out.
    pub fn encode_match(&self, given: &Given, warnings: &mut Vec<Mistake>) -> Result<Option<FieldMatch>, Mistake> {
        let Given::Value(value) = given else { return Ok(None) };
        let made = match (self.look, value) {
            (Look::Text, Value::One(word)) => {
                let value = word.text.clone().into_bytes();
                match self.kind == MatchKind::Optional {
                    true => Kind::Optional(field_match::Optional { value }),
                    false => Kind::Exact(field_match::Exact { value }),
                }
            }
            _ => match self.number_match(value, warnings)? {
                Some(made) => made,
                None => return Ok(None),
            },
        };
        Ok(Some(FieldMatch { field_id: self.id, field_match_type: Some(made) }))
    }

    fn number_match(&self, value: &Value, warnings: &mut Vec<Mistake>) -> Result<Option<Kind>, Mistake> {
        let what = format!("key `{}`", self.name);
        let number = |word: &Word| {
            let word = self.number_of(word)?;
            matches::check_address(&word, self.width, &what)?;
            Ok(word)
        };
        let value = &match value {
            Value::One(word) => Value::One(number(word)?),
            Value::Prefix(word, length) => Value::Prefix(number(word)?, length.clone()),
            Value::Masked(word, mask) => Value::Masked(number(word)?, number(mask)?),
            Value::Range(low, high) => Value::Range(number(low)?, number(high)?),
        };
        let found = match value {
            Value::One(word) if self.kind == MatchKind::Ternary && !word.text.contains('*') => {
                Match::Exact(matches::number(word, self.width, &what)?)
            }
            Value::One(_) | Value::Prefix(..) | Value::Masked(..) | Value::Range(..) => {
                matches::match_of(value, self.kind, self.width, self.name, warnings)?
            }
        };
        Ok(self.protocol_match(&found))
    }

    fn protocol_match(&self, found: &Match) -> Option<Kind> {
        let bytes = BigUint::to_bytes_be;
        let all = ones(self.width);
        Some(match (self.kind, found) {
            (_, Match::Any) => return None,
            (_, Match::Lpm { prefix: 0, .. }) => return None,
            (_, Match::Ternary { mask, .. }) if *mask == BigUint::ZERO => return None,
            (_, Match::Range { low, high }) if *low == BigUint::ZERO && *high == all => return None,
            (_, Match::Lpm { value, prefix }) => {
                Kind::Lpm(field_match::Lpm { value: bytes(value), prefix_len: *prefix as i32 })
            }
            (_, Match::Ternary { value, mask }) => {
                Kind::Ternary(field_match::Ternary { value: bytes(&(value & mask)), mask: bytes(mask) })
            }
            (_, Match::Range { low, high }) => Kind::Range(field_match::Range { low: bytes(low), high: bytes(high) }),
            (MatchKind::Exact, Match::Exact(value)) => Kind::Exact(field_match::Exact { value: bytes(value) }),
            (MatchKind::Optional, Match::Exact(value)) => Kind::Optional(field_match::Optional { value: bytes(value) }),
            (MatchKind::Lpm, Match::Exact(value)) => {
                Kind::Lpm(field_match::Lpm { value: bytes(value), prefix_len: self.width as i32 })
            }
            (MatchKind::Ternary, Match::Exact(value)) => {
                Kind::Ternary(field_match::Ternary { value: bytes(value), mask: bytes(&all) })
            }
            (MatchKind::Range, Match::Exact(value)) => {
                Kind::Range(field_match::Range { low: bytes(value), high: bytes(value) })
            }
        })
    }

    /// Whether an entry that matches this, or anything, matches a value.
    pub fn is_matched(&self, given: Option<&FieldMatch>, value: &[u8]) -> bool {
        let Some(kind) = given.and_then(|given| given.field_match_type.as_ref()) else { return true };
        let number = BigUint::from_bytes_be;
        let wanted = number(value);
        match kind {
            // Texts are compared as they are.
            Kind::Exact(field_match::Exact { value: found })
            | Kind::Optional(field_match::Optional { value: found }) => {
                if self.look == Look::Text {
                    found == value
                } else {
                    number(found) == wanted
                }
            }
            Kind::Lpm(lpm) => {
                let beyond = self.width.saturating_sub(lpm.prefix_len.unsigned_abs());
                number(&lpm.value) >> beyond == wanted >> beyond
            }
            Kind::Ternary(ternary) => wanted & number(&ternary.mask) == number(&ternary.value),
            Kind::Range(range) => number(&range.low) <= wanted && wanted <= number(&range.high),
            Kind::Other(_) => false,
        }
    }

    pub fn show(&self, bytes: &[u8]) -> String {
        show(bytes, self.look)
    }

    pub fn json(&self, bytes: &[u8]) -> Json {
        json(bytes, self.look)
    }

    /// What an entry matches, as JSON: a value by itself, anything else as the text that people write.
    pub fn json_match(&self, given: Option<&FieldMatch>) -> Json {
        match given.and_then(|given| given.field_match_type.as_ref()) {
            Some(Kind::Exact(field_match::Exact { value }) | Kind::Optional(field_match::Optional { value })) => {
                self.json(value)
            }
            Some(Kind::Ternary(ternary)) if self.is_whole(&ternary.mask) => self.json(&ternary.value),
            Some(Kind::Range(range)) if range.low == range.high => self.json(&range.low),
            Some(Kind::Lpm(_) | Kind::Ternary(_) | Kind::Range(_) | Kind::Other(_)) | None => {
                self.show_match(given).into()
            }
        }
    }

    fn is_whole(&self, mask: &[u8]) -> bool {
        BigUint::from_bytes_be(mask) == ones(self.width)
    }

    /// What an entry matches; `*` for a field that it leaves out.
    pub fn show_match(&self, given: Option<&FieldMatch>) -> String {
        let Some(kind) = given.and_then(|given| given.field_match_type.as_ref()) else { return "*".to_string() };
        match kind {
            Kind::Exact(exact) => self.show(&exact.value),
            Kind::Optional(optional) => self.show(&optional.value),
            Kind::Lpm(lpm) => format!("{}/{}", self.show(&lpm.value), lpm.prefix_len),
            Kind::Range(range) => match range.low == range.high {
                true => self.show(&range.low),
                false => format!("{}..{}", self.show(&range.low), self.show(&range.high)),
            },
            Kind::Ternary(ternary) if self.is_whole(&ternary.mask) => self.show(&ternary.value),
            Kind::Ternary(ternary) => {
                // Digits of a mask select the bits that count.
                let look = if self.look == Look::Number { Look::Hexadecimal } else { self.look };
                format!("{}&&&{}", show(&ternary.value, look), show(&ternary.mask, look))
            }
            Kind::Other(_) => "?".to_string(),
        }
    }
}

/// Bytes as people read them.
pub fn show(bytes: &[u8], look: Look) -> String {
    let number = BigUint::from_bytes_be(bytes);
    let low = || number.iter_u64_digits().next().unwrap_or(0);
    match look {
        Look::Number => number.to_string(),
        Look::Hexadecimal => format!("{number:#x}"),
        Look::Ethernet => {
            let bytes = low().to_be_bytes();
            bytes[2..].iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
        }
        Look::Ipv4 => Ipv4Addr::from_bits(low() as u32).to_string(),
        Look::Ipv6 => {
            let mut digits = number.iter_u64_digits();
            let (low, high) = (digits.next().unwrap_or(0), digits.next().unwrap_or(0));
            Ipv6Addr::from_bits(u128::from(high) << 64 | u128::from(low)).to_string()
        }
        Look::Text => {
            let text = String::from_utf8_lossy(bytes).into_owned();
            let is_plain = text.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
                && text.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
            if is_plain { text } else { stf::quoted(&text) }
        }
    }
}

/// Bytes as JSON has them: numbers of up to 64 bits as numbers, all else as texts.
pub fn json(bytes: &[u8], look: Look) -> Json {
    match look {
        Look::Number => {
            let number = BigUint::from_bytes_be(bytes);
            u64::try_from(&number).map_or_else(|_| number.to_string().into(), Json::from)
        }
        Look::Text => String::from_utf8_lossy(bytes).into(),
        Look::Hexadecimal | Look::Ethernet | Look::Ipv4 | Look::Ipv6 => show(bytes, look).into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(kind: MatchKind, width: u32) -> Field<'static> {
        Field { id: 1, name: "k", width, kind, look: look_of("k", width, kind, &[]), ports: &[] }
    }

    /// A value as it is shown after it was read.
    fn again(text: &str, kind: MatchKind, width: u32) -> String {
        again_in(&field(kind, width), text)
    }

    fn again_in(field: &Field, text: &str) -> String {
        let mut line = Line::behind(&format!("k:{text}"), 1, 2).expect("the line has tokens");
        let given = given(&mut line).expect("a value");
        line.finish().expect("the value is the whole line");
        let found = field.encode_match(&given, &mut Vec::new()).expect("the value fits");
        field.show_match(found.as_ref())
    }

    #[test]
    fn values_are_shown_as_they_are_written() {
        use MatchKind::{Exact, Lpm, Optional, Range, Ternary};
        for (text, kind, width) in [
            ("10.0.0.0/8", Lpm, 32),
            ("2001:db8::/32", Lpm, 128),
            ("00:11:22:33:44:55", Exact, 48),
            ("fe80::1", Exact, 128),
            ("7", Exact, 9),
            ("7", Ternary, 9),
            ("0x10&&&0xf0", Ternary, 9),
            ("*", Ternary, 9),
            ("1..5", Range, 16),
            ("4", Range, 16),
            ("*", Optional, 16),
            ("3", Optional, 16),
        ] {
            assert_eq!(again(text, kind, width), text);
        }
        assert_eq!(again("0x2", Ternary, 16), "2");
        assert_eq!(again("0/0", Lpm, 32), "*");
        assert_eq!(again("0..65535", Range, 16), "*");
    }

    #[test]
    fn texts_are_shown_as_they_are_written() {
        let field = Field { look: Look::Text, ..field(MatchKind::Exact, 32) };
        let quoted =
            ["br-lan", "5", "a \\\"b\\\"", "back\\\\slash", "two\\nlines", ""].map(|text| format!("\"{text}\""));
        for text in quoted.iter().map(String::as_str).chain(["alpha"]) {
            assert_eq!(again_in(&field, text), text);
        }
    }

    #[test]
    fn addresses_of_32_bits_are_known_by_their_names() {
        assert_eq!(look_of("hdr.ipv4.src", 32, MatchKind::Exact, &[]), Look::Ipv4);
        assert_eq!(look_of("meta.next_hop", 32, MatchKind::Exact, &[]), Look::Ipv4);
        assert_eq!(look_of("hdr.tcp.sequence", 32, MatchKind::Exact, &[]), Look::Number);
        let annotation = ["@format(IPV4_ADDRESS)".to_string()];
        assert_eq!(look_of("x", 32, MatchKind::Exact, &annotation), Look::Ipv4);
    }
}
