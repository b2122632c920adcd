//! Values as people write them: numbers, addresses, keys of entries, data of actions.

use crate::config::{Action, Key, Table};
use crate::problem::{Outcome, Problem, input};
use bm_runtime::Binary;
use bm_runtime::standard::{MatchExact, MatchLpm, MatchParameter, MatchRange, MatchTernary, MatchType, MatchValid};
use num_bigint::BigUint;
use std::net::{Ipv4Addr, Ipv6Addr};

const NO_NUMBER: &str = "Invalid input, could not cast to integer, try in hex with 0x prefix";

/// A number in decimal, or with the prefix of another base.
pub fn number(text: &str) -> Option<BigUint> {
    let text = text.strip_prefix('+').unwrap_or(text).to_ascii_lowercase();
    let digits = |digits: &str, base| BigUint::parse_bytes(digits.replace('_', "").as_bytes(), base);
    if let Some(rest) = text.strip_prefix("0x") {
        return digits(rest, 16);
    }
    if let Some(rest) = text.strip_prefix("0b") {
        return digits(rest, 2);
    }
    if let Some(rest) = text.strip_prefix("0o") {
        return digits(rest, 8);
    }
    let is_ambiguous = text.len() > 1 && text.starts_with('0') && text.bytes().any(|digit| digit != b'0');
    if is_ambiguous { None } else { digits(&text, 10) }
}

/// A number in the bytes of its width.
fn bytes(value: &BigUint, width: u32) -> Result<Binary, String> {
    let length = width.div_ceil(8) as usize;
    let digits = if *value == BigUint::ZERO { Vec::new() } else { value.to_bytes_be() };
    if digits.len() > length {
        return Err("Parameter is too large".to_string());
    }
    let mut bytes = vec![0; length - digits.len()];
    bytes.extend(digits);
    Ok(Binary(bytes))
}

/// A value of so many bits: one of 32 may be an IPv4 address, one of 48 a MAC address, one of 128 an IPv6 address.
pub fn value(text: &str, width: u32) -> Result<Binary, String> {
    match width {
        32 if text.contains('.') => {
            let address: Option<Ipv4Addr> = text.parse().ok();
            address.map(|address| Binary(address.octets().to_vec())).ok_or("Invalid IPv4 address".to_string())
        }
        48 if text.contains(':') => {
            let octets: Option<Vec<u8>> = text.split(':').map(|octet| u8::from_str_radix(octet, 16).ok()).collect();
            octets.filter(|octets| octets.len() == 6).map(Binary).ok_or("Invalid MAC address".to_string())
        }
        128 if text.contains(':') => {
            let address: Option<Ipv6Addr> = text.parse().ok();
            address.map(|address| Binary(address.octets().to_vec())).ok_or("Invalid IPv6 address".to_string())
        }
        _ => bytes(&number(text).ok_or(NO_NUMBER)?, width),
    }
}

/// A member of a value set.
pub fn set_member(text: &str, width: u32) -> Outcome<Binary> {
    let Some(number) = number(text) else { return input(NO_NUMBER) };
    if number.bits() > u64::from(width) {
        return input(format!("Input is too large, it should fit within {width} bits"));
    }
    bytes(&number, width).map_err(Problem::Input)
}

/// The data of an action.
pub fn action_data(action: &Action, given: &[&str]) -> Outcome<Vec<Binary>> {
    if given.len() != action.parameters.len() {
        return input(format!("Action {} needs {} parameters", action.name, action.parameters.len()));
    }
    let values = given.iter().zip(&action.parameters).map(|(text, (_, width))| {
        value(text, *width).map_err(|why| Problem::RuntimeData(format!("Error while parsing {text} - {why}")))
    });
    values.collect()
}

/// The keys of an entry.
pub fn match_keys(table: &Table, given: &[&str]) -> Outcome<Vec<MatchParameter>> {
    if given.len() != table.keys.len() {
        return input(format!("Table {} needs {} key fields", table.name, table.keys.len()));
    }
    given.iter().zip(&table.keys).map(|(text, key)| match_key(text, key)).collect()
}

/// The two parts of a key that a sign separates; `what` are the parts.
fn parts<'t>(text: &'t str, kind: &str, sign: &str, what: &str) -> Outcome<(&'t str, &'t str)> {
    let mut parts = text.split(sign);
    match (parts.next(), parts.next(), parts.next()) {
        (Some(first), Some(second), None) => Ok((first, second)),
        _ => Err(Problem::MatchKey(format!("Invalid {kind} value {text}, use '{sign}' to separate {what}"))),
    }
}

fn match_key(text: &str, key: &Key) -> Outcome<MatchParameter> {
    let value = |text: &str| {
        value(text, key.width).map_err(|why| Problem::MatchKey(format!("Error while parsing {text} - {why}")))
    };
    let mut parameter = MatchParameter { kind: key.kind, ..MatchParameter::default() };
    match key.kind {
        MatchType::Exact => parameter.exact = Some(MatchExact { key: value(text)? }),
        MatchType::Lpm => {
            let (prefix, length) = parts(text, "LPM", "/", "prefix and length")?;
            let no_length = || Problem::MatchKey(format!("Invalid prefix length {length}"));
            let prefix_length = length.parse().map_err(|_| no_length())?;
            parameter.lpm = Some(MatchLpm { key: value(prefix)?, prefix_length });
        }
        MatchType::Ternary => {
            let (first, mask) = parts(text, "ternary", "&&&", "key and mask")?;
            parameter.ternary = Some(MatchTernary { key: value(first)?, mask: value(mask)? });
        }
        MatchType::Valid => {
            let is_valid = number(text).ok_or_else(|| Problem::MatchKey(format!("Error while parsing {text}")))?;
            parameter.valid = Some(MatchValid { key: is_valid != BigUint::ZERO });
        }
        MatchType::Range => {
            let (low, high) = parts(text, "range", "->", "range start and range end")?;
            let (start, end) = (value(low)?, value(high)?);
            if start.0 > end.0 {
                return Err(Problem::MatchKey(format!("start is less than end in expression {text}")));
            }
            parameter.range = Some(MatchRange { start, end });
        }
    }
    Ok(parameter)
}

/// Bytes as entries are reported when they are written.
pub fn with_colons(bytes: &Binary) -> String {
    bytes.0.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(":")
}

/// Bytes as entries are reported when they are read.
pub fn hexadecimal(bytes: &Binary) -> String {
    bytes.0.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// A key as it is reported when its entry is written.
pub fn written_key(key: &MatchParameter) -> String {
    key.kind.name().to_string() + "-" + &shown_key(key, with_colons)
}

/// What is matched, without the kind.
pub fn shown_key(key: &MatchParameter, bytes: fn(&Binary) -> String) -> String {
    let exact = key.exact.as_ref().map(|exact| bytes(&exact.key));
    let lpm = key.lpm.as_ref().map(|lpm| format!("{}/{}", bytes(&lpm.key), lpm.prefix_length));
    let ternary = key.ternary.as_ref().map(|ternary| format!("{} &&& {}", bytes(&ternary.key), bytes(&ternary.mask)));
    let range = key.range.as_ref().map(|range| format!("{} -> {}", bytes(&range.start), bytes(&range.end)));
    exact.or(lpm).or(ternary).or(range).unwrap_or_default()
}

/// A decimal number, as handles and indices are.
pub fn integer(text: &str, sentence: &str) -> Outcome<i32> {
    text.parse().or_else(|_| input(sentence))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_numbers_or_addresses_by_their_width() {
        let bytes = |text: &str, width| value(text, width).map(|bytes| hexadecimal(&bytes));
        assert_eq!(bytes("10.0.1.2", 32), Ok("0a000102".to_string()));
        assert_eq!(bytes("0x0A", 9), Ok("000a".to_string()));
        assert_eq!(bytes("08:00:00:00:01:11", 48), Ok("080000000111".to_string()));
        assert_eq!(bytes("fe80::1", 128), Ok("fe800000000000000000000000000001".to_string()));
        assert_eq!(bytes("256", 8), Err("Parameter is too large".to_string()));
        assert_eq!(bytes("10.0.1", 32), Err("Invalid IPv4 address".to_string()));
        assert_eq!(bytes("08:00", 48), Err("Invalid MAC address".to_string()));
        assert_eq!(bytes("x", 8), Err(NO_NUMBER.to_string()));
        assert_eq!(bytes("010", 8), Err(NO_NUMBER.to_string()), "which base it has is unknown");
        assert_eq!(bytes("0b101", 3), Ok("05".to_string()));
    }

    #[test]
    fn keys_have_the_signs_of_their_kinds() {
        let key = |text: &str, kind| {
            let key = Key { name: "k".to_string(), kind, width: 16 };
            match_key(text, &key).map(|key| written_key(&key)).map_err(|problem| problem.to_string())
        };
        assert_eq!(key("10", MatchType::Exact), Ok("EXACT-00:0a".to_string()));
        assert_eq!(key("256/8", MatchType::Lpm), Ok("LPM-01:00/8".to_string()));
        assert_eq!(key("1&&&0xff", MatchType::Ternary), Ok("TERNARY-00:01 &&& 00:ff".to_string()));
        assert_eq!(key("1->2", MatchType::Range), Ok("RANGE-00:01 -> 00:02".to_string()));
        let sentence = "Invalid match key: Invalid LPM value 10, use '/' to separate prefix and length";
        assert_eq!(key("10", MatchType::Lpm), Err(sentence.to_string()));
        let sentence = "Invalid match key: start is less than end in expression 3->2";
        assert_eq!(key("3->2", MatchType::Range), Err(sentence.to_string()));
    }
}
