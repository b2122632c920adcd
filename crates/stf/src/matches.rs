//! Numbers and matches of STF, as values of the program.

use super::command::{Value, Word};
use super::{Mistake, address};
use hlir::{Match, MatchKind};
use num_bigint::BigUint;

/// A number as it was written: which of its bits are given, and how wide it was written.
struct Numeral {
    value: BigUint,
    /// Bits that no `*` matches; as wide as the text.
    mask: BigUint,
    /// Bits of the digits; nothing for decimal numbers.
    written: Option<u32>,
    /// Bits of the `*` at the end.
    tail: u32,
    /// Bits of the address that it is; nothing for other numbers.
    address: Option<u32>,
}

impl Numeral {
    fn parse(word: &Word) -> Result<Numeral, Mistake> {
        if word.text.contains([':', '.']) {
            return Numeral::address(word);
        }
        let text = word.text.replace('_', "");
        let (radix, digits) = match text.get(..2) {
            Some("0x" | "0X") => (16, &text[2..]),
            Some("0b" | "0B") => (2, &text[2..]),
            _ => (10, text.as_str()),
        };
        let mut numeral = Numeral { value: BigUint::ZERO, mask: BigUint::ZERO, written: None, tail: 0, address: None };
        if radix == 10 {
            let value = BigUint::parse_bytes(digits.as_bytes(), 10);
            numeral.value = value.ok_or_else(|| Mistake::new(word.place, format!("`{}` is no number", word.text)))?;
            return Ok(numeral);
        }
        let bits = if radix == 16 { 4 } else { 1 };
        // Files of entries have millions of numbers without `*`: those are read at once.
        if let Some(value) = BigUint::parse_bytes(digits.as_bytes(), radix) {
            let written = digits.len() as u32 * bits;
            let mask = (BigUint::from(1u8) << written) - 1u8;
            return Ok(Numeral { value, mask, written: Some(written), tail: 0, address: None });
        }
        let ones = BigUint::from(radix - 1);
        for digit in digits.chars() {
            numeral.value <<= bits;
            numeral.mask <<= bits;
            if digit == '*' {
                numeral.tail += bits;
                continue;
            }
            numeral.tail = 0;
            let wrong = || Mistake::new(word.place, format!("`{digit}` is no digit of `{}`", word.text));
            numeral.value |= BigUint::from(digit.to_digit(radix).ok_or_else(wrong)?);
            numeral.mask |= &ones;
        }
        if digits.is_empty() {
            return Err(Mistake::new(word.place, format!("`{}` has no digits", word.text)));
        }
        numeral.written = Some(digits.chars().count() as u32 * bits);
        Ok(numeral)
    }

    /// Of an address every bit is written.
    fn address(word: &Word) -> Result<Numeral, Mistake> {
        let found = address::number(&word.text);
        let (value, bits) =
            found.ok_or_else(|| Mistake::new(word.place, format!("`{}` is no number and no address", word.text)))?;
        let mask = (BigUint::from(1u8) << bits) - 1u8;
        Ok(Numeral { value, mask, written: Some(bits), tail: 0, address: Some(bits) })
    }

    /// Where the position of bits counts, an address and its key have to be equally wide.
    fn check_address(&self, word: &Word, width: u32, what: &str) -> Result<(), Mistake> {
        match self.address.filter(|bits| *bits != width) {
            Some(bits) => {
                let message = format!("`{}` is an address of {bits} bits, {what} is {width} bits wide", word.text);
                Err(Mistake::new(word.place, message))
            }
            None => Ok(()),
        }
    }

    fn has_wildcards(&self) -> bool {
        self.written.is_some_and(|written| self.mask.count_ones() < u64::from(written))
    }
}

/// A plain number of up to `width` bits; `what` is what it is for.
pub fn number(word: &Word, width: u32, what: &str) -> Result<BigUint, Mistake> {
    let numeral = Numeral::parse(word)?;
    if numeral.has_wildcards() {
        return Err(Mistake::new(word.place, format!("{what} takes a number without `*`")));
    }
    fitting(word, numeral.value, width, what)
}

fn fitting(word: &Word, value: BigUint, width: u32, what: &str) -> Result<BigUint, Mistake> {
    if value.bits() > u64::from(width) {
        let message = format!("{} does not fit {what}, which is {width} bits wide", word.text);
        return Err(Mistake::new(word.place, message));
    }
    Ok(value)
}

/// An address that is wider or narrower than its place is a mistake; `what` is that place.
pub fn check_address(word: &Word, width: u32, what: &str) -> Result<(), Mistake> {
    let is_other = |(_, bits): &(BigUint, u32)| *bits != width;
    let Some((_, bits)) = address::number(&word.text).filter(is_other) else { return Ok(()) };
    let kind = |bits: u32| match bits {
        32 => Some(("an IPv4 address", "10.0.0.1")),
        48 => Some(("an Ethernet address", "00:11:22:33:44:55")),
        128 => Some(("an IPv6 address", "2001:db8::1")),
        _ => None,
    };
    let (found, _) = kind(bits).unwrap_or(("an address", ""));
    let hint = match kind(width) {
        Some((wanted, example)) => format!("write {wanted}, such as {example}"),
        None => "write a number".to_string(),
    };
    let message = format!("`{}` is {found}, but {what} is {width} bits wide: {hint}", word.text);
    Err(Mistake::new(word.place, message))
}

/// A plain number of up to 32 bits.
pub fn small(word: &Word, what: &str) -> Result<u32, Mistake> {
    let value = number(word, 32, what)?;
    Ok(u32::try_from(value).expect("the number was found to have 32 bits at most"))
}

/// A plain number of up to 64 bits.
pub fn index(word: &Word, what: &str) -> Result<u64, Mistake> {
    let value = number(word, 64, what)?;
    Ok(u64::try_from(value).expect("the number was found to have 64 bits at most"))
}

/// What `value` matches of a key called `name`. Of bits that are written and do not count the user is warned.
pub fn match_of(
    value: &Value,
    kind: MatchKind,
    width: u32,
    name: &str,
    warnings: &mut Vec<Mistake>,
) -> Result<Match, Mistake> {
    let key = format!("key `{name}`");
    match value {
        Value::One(word) => one(word, kind, width, &key),
        Value::Prefix(word, length) => {
            let prefix = small(length, "a prefix length")?;
            if prefix > width {
                let message = format!("prefix /{prefix} is longer than {key}, which is {width} bits wide");
                return Err(Mistake::new(length.place, message));
            }
            let value = placed_number(word, width, &key)?;
            let found = prefix_match(&value, prefix, kind, width).ok_or_else(|| wrong_kind(word, kind, &key))?;
            warnings.extend(host_bits(word, &value, prefix, width));
            Ok(found)
        }
        Value::Masked(value, mask) => match kind {
            MatchKind::Ternary => {
                let (word, mask) = (value, placed_number(mask, width, &key)?);
                let value = placed_number(word, width, &key)?;
                if &value & &mask != value {
                    let message =
                        format!("`{}` has bits that its mask {mask:#x} leaves out: they do not count", word.text);
                    warnings.push(Mistake::new(word.place, message));
                }
                Ok(Match::Ternary { value, mask })
            }
            // BMv2 has no optional keys: scripts write them as ternary ones.
            MatchKind::Optional => {
                let ones = (BigUint::from(1u8) << width) - 1u8;
                match placed_number(mask, width, &key)? {
                    mask if mask == ones => Ok(Match::Exact(placed_number(value, width, &key)?)),
                    mask if mask == BigUint::ZERO => Ok(Match::Any),
                    _ => Err(wrong_kind(value, kind, &key)),
                }
            }
            MatchKind::Exact | MatchKind::Lpm | MatchKind::Range => Err(wrong_kind(value, kind, &key)),
        },
        Value::Range(low, high) => {
            if kind != MatchKind::Range {
                return Err(wrong_kind(low, kind, &key));
            }
            let (place, low, high) = (low.place, number(low, width, &key)?, number(high, width, &key)?);
            if low > high {
                return Err(Mistake::new(place, "the range ends before it begins"));
            }
            Ok(Match::Range { low, high })
        }
    }
}

/// A number whose highest bit is that of the key, so that an address has to be as wide as it.
fn placed_number(word: &Word, width: u32, key: &str) -> Result<BigUint, Mistake> {
    Numeral::parse(word)?.check_address(word, width, key)?;
    number(word, width, key)
}

/// Bits of a value that its prefix does not reach.
fn host_bits(word: &Word, value: &BigUint, prefix: u32, width: u32) -> Option<Mistake> {
    let beyond = value & ((BigUint::from(1u8) << (width - prefix)) - 1u8);
    (beyond != BigUint::ZERO).then(|| {
        let message = format!("`{}` has bits beyond its prefix /{prefix}: they do not count", word.text);
        Mistake::new(word.place, message)
    })
}

fn one(word: &Word, kind: MatchKind, width: u32, key: &str) -> Result<Match, Mistake> {
    let numeral = Numeral::parse(word)?;
    if kind == MatchKind::Ternary {
        return ternary(word, numeral, width, key);
    }
    if numeral.mask == BigUint::ZERO && numeral.has_wildcards() && kind != MatchKind::Exact {
        return Ok(Match::Any);
    }
    if kind == MatchKind::Lpm {
        numeral.check_address(word, width, key)?;
    }
    if kind == MatchKind::Lpm && numeral.has_wildcards() {
        let value = fitting(word, numeral.value, width, key)?;
        return Ok(Match::Lpm { value, prefix: width.saturating_sub(numeral.tail) });
    }
    if numeral.has_wildcards() {
        let message = format!("{key} is matched as {}, which takes no `*`", control::store::kind_name(kind));
        return Err(Mistake::new(word.place, message));
    }
    let value = fitting(word, numeral.value, width, key)?;
    Ok(match kind {
        MatchKind::Lpm => Match::Lpm { value, prefix: width },
        MatchKind::Range => Match::Range { low: value.clone(), high: value },
        MatchKind::Exact | MatchKind::Ternary | MatchKind::Optional => Match::Exact(value),
    })
}

/// Digits that are not written match anything.
fn ternary(word: &Word, numeral: Numeral, width: u32, key: &str) -> Result<Match, Mistake> {
    if numeral.written.is_none() {
        let message = format!("{key} is ternary: write it as 0x or 0b digits, or as VALUE&&&MASK");
        return Err(Mistake::new(word.place, message));
    }
    numeral.check_address(word, width, key)?;
    let value = fitting(word, numeral.value, width, key)?;
    let ones = (BigUint::from(1u8) << width) - 1u8;
    let mask = numeral.mask & ones;
    Ok(if mask == BigUint::ZERO { Match::Any } else { Match::Ternary { value, mask } })
}

fn prefix_match(value: &BigUint, prefix: u32, kind: MatchKind, width: u32) -> Option<Match> {
    let ones = (BigUint::from(1u8) << width) - 1u8;
    let mask = &ones - (&ones >> prefix);
    let value = value & &mask;
    match kind {
        MatchKind::Lpm => Some(Match::Lpm { value, prefix }),
        MatchKind::Ternary => Some(if prefix == 0 { Match::Any } else { Match::Ternary { value, mask } }),
        MatchKind::Exact | MatchKind::Range | MatchKind::Optional => None,
    }
}

fn wrong_kind(word: &Word, kind: MatchKind, key: &str) -> Mistake {
    let takes = match kind {
        MatchKind::Exact => "exact: it takes one value",
        MatchKind::Lpm => "lpm: it takes VALUE/LENGTH, or digits that end in `*`",
        MatchKind::Ternary => "ternary: it takes VALUE&&&MASK, VALUE/LENGTH, or digits with `*`",
        MatchKind::Range => "range: it takes LOW..HIGH",
        MatchKind::Optional => "optional: it takes one value, or is left out",
    };
    Mistake::new(word.place, format!("{key} is {takes}"))
}

/// What a key that is left out matches.
pub fn omitted(kind: MatchKind) -> Match {
    match kind {
        MatchKind::Exact => Match::Exact(BigUint::ZERO),
        MatchKind::Lpm | MatchKind::Ternary | MatchKind::Range | MatchKind::Optional => Match::Any,
    }
}

#[cfg(test)]
mod tests {
    use super::super::Place;
    use super::*;

    fn word(text: &str) -> Word {
        Word { text: text.to_string(), place: Place { line: 1, column: 9 } }
    }

    fn found(text: &str, kind: MatchKind, width: u32) -> Match {
        match_of(&Value::One(word(text)), kind, width, "k", &mut Vec::new()).expect("the value is well formed")
    }

    fn big(value: u64) -> BigUint {
        BigUint::from(value)
    }

    #[test]
    fn stars_at_the_end_make_a_prefix() {
        assert_eq!(found("0xc0a8****", MatchKind::Lpm, 32), Match::Lpm { value: big(0xc0a8_0000), prefix: 16 });
        assert_eq!(found("0x0a010065", MatchKind::Lpm, 32), Match::Lpm { value: big(0x0a01_0065), prefix: 32 });
        assert_eq!(found("0b1010*****", MatchKind::Lpm, 11), Match::Lpm { value: big(0b1_0100_0000), prefix: 6 });
        assert_eq!(found("0x0**", MatchKind::Lpm, 9), Match::Lpm { value: big(0), prefix: 1 });
        assert_eq!(found("0x***", MatchKind::Lpm, 9), Match::Any);
    }

    #[test]
    fn ternary_digits_that_are_not_written_match_anything() {
        assert_eq!(found("0x25**", MatchKind::Ternary, 16), Match::Ternary { value: big(0x2500), mask: big(0xff00) });
        assert_eq!(found("0x2", MatchKind::Ternary, 16), Match::Ternary { value: big(2), mask: big(0xf) });
        assert_eq!(found("0b0*1", MatchKind::Ternary, 3), Match::Ternary { value: big(1), mask: big(5) });
        assert_eq!(found("0x*1*", MatchKind::Ternary, 9), Match::Ternary { value: big(0x10), mask: big(0xf0) });
        assert_eq!(found("0b**", MatchKind::Ternary, 2), Match::Any);
    }

    #[test]
    fn other_kinds_take_plain_numbers() {
        assert_eq!(found("17", MatchKind::Exact, 8), Match::Exact(big(17)));
        assert_eq!(found("0b11", MatchKind::Optional, 8), Match::Exact(big(3)));
        assert_eq!(found("3", MatchKind::Range, 8), Match::Range { low: big(3), high: big(3) });
    }

    #[test]
    fn addresses_are_values() {
        assert_eq!(found("10.0.0.1", MatchKind::Lpm, 32), Match::Lpm { value: big(0x0a00_0001), prefix: 32 });
        assert_eq!(found("00:11:22:33:44:55", MatchKind::Exact, 48), Match::Exact(big(0x11_2233_4455)));
        let all = Match::Ternary { value: big(0x0a00_0001), mask: big(0xffff_ffff) };
        assert_eq!(found("10.0.0.1", MatchKind::Ternary, 32), all);
        let mut warnings = Vec::new();
        let prefix = Value::Prefix(word("10.0.0.1"), word("8"));
        let expected = Match::Lpm { value: big(0x0a00_0000), prefix: 8 };
        assert_eq!(match_of(&prefix, MatchKind::Lpm, 32, "k", &mut warnings), Ok(expected));
        let masked = Value::Masked(word("10.0.0.1"), word("255.0.0.0"));
        let expected = Match::Ternary { value: big(0x0a00_0001), mask: big(0xff00_0000) };
        assert_eq!(match_of(&masked, MatchKind::Ternary, 32, "k", &mut warnings), Ok(expected));
        let messages: Vec<&str> = warnings.iter().map(|warning| warning.message.as_str()).collect();
        let masked = "`10.0.0.1` has bits that its mask 0xff000000 leaves out: they do not count";
        assert_eq!(messages, ["`10.0.0.1` has bits beyond its prefix /8: they do not count", masked]);
        let wide = match_of(&prefix, MatchKind::Lpm, 48, "k", &mut warnings).expect_err("the key is wider");
        assert_eq!(wide.message, "`10.0.0.1` is an address of 32 bits, key `k` is 48 bits wide");
    }

    #[test]
    fn mistakes_say_what_is_taken() {
        let found = |value: Value, kind| match_of(&value, kind, 8, "k", &mut Vec::new());
        let mistake = |value, kind| found(value, kind).expect_err("it does not fit").message;
        let one = |text| Value::One(word(text));
        assert_eq!(mistake(one("256"), MatchKind::Exact), "256 does not fit key `k`, which is 8 bits wide");
        assert_eq!(mistake(one("0x1*"), MatchKind::Exact), "key `k` is matched as exact, which takes no `*`");
        let decimal = "key `k` is ternary: write it as 0x or 0b digits, or as VALUE&&&MASK";
        assert_eq!(mistake(one("3"), MatchKind::Ternary), decimal);
        assert_eq!(mistake(one("0xg"), MatchKind::Exact), "`g` is no digit of `0xg`");
        assert_eq!(mistake(one("7x"), MatchKind::Exact), "`7x` is no number");
        let range = Value::Range(word("5"), word("4"));
        assert_eq!(mistake(range.clone(), MatchKind::Range), "the range ends before it begins");
        assert_eq!(mistake(range, MatchKind::Exact), "key `k` is exact: it takes one value");
        let prefix = Value::Prefix(word("5"), word("9"));
        assert_eq!(mistake(prefix, MatchKind::Lpm), "prefix /9 is longer than key `k`, which is 8 bits wide");
    }
}
