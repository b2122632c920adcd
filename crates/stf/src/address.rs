//! Addresses as values: `10.0.0.1`, `00:11:22:33:44:55`, `2001:db8::1`.

use num_bigint::BigUint;
use std::net::{Ipv4Addr, Ipv6Addr};

/// Characters of the longest address: an IPv6 address that ends as an IPv4 address.
const LONGEST: usize = "0000:0000:0000:0000:0000:ffff:255.255.255.255".len();
/// Of `..` between two addresses.
const RANGE_MARK: usize = 2;

/// What an address is as a number, and how many bits it has; nothing if the text is no address.
pub fn number(text: &str) -> Option<(BigUint, u32)> {
    if !text.contains(':') {
        return text.parse().ok().map(|address: Ipv4Addr| (BigUint::from(address.to_bits()), 32));
    }
    match hardware(text) {
        Some(number) => Some((BigUint::from(number), 48)),
        None => text.parse().ok().map(|address: Ipv6Addr| (BigUint::from(address.to_bits()), 128)),
    }
}

/// The number of an Ethernet address: six bytes, each of one or two digits.
fn hardware(text: &str) -> Option<u64> {
    let mut bytes = 0;
    let byte = |part: &str| {
        let is_plain = part.len() <= 2 && part.chars().all(|c| c.is_ascii_hexdigit());
        u64::from_str_radix(part, 16).ok().filter(|_| is_plain)
    };
    let number = text.split(':').try_fold(0, |number, part| {
        bytes += 1;
        Some(number << 8 | byte(part)?)
    });
    number.filter(|_| bytes == 6)
}

/// The length of the address with colons that the characters begin with, if they begin with one.
pub fn colon_length(rest: &[char]) -> Option<usize> {
    let may_belong = |c: &char| c.is_ascii_hexdigit() || *c == ':' || *c == '.';
    // Each token of a line asks, so the rest of a long line is not looked at.
    let rest = &rest[..rest.len().min(LONGEST + RANGE_MARK)];
    let run = rest.iter().position(|c| !may_belong(c)).unwrap_or(rest.len());
    let range = rest[..run].windows(2).position(|two| two == ['.', '.']).unwrap_or(run);
    let continues = |c: &char| c.is_ascii_alphanumeric() || *c == '_';
    if range == run && rest.get(run).is_some_and(continues) || !rest[..range].contains(&':') {
        return None;
    }
    let text: String = rest[..range].iter().collect();
    number(&text).map(|_| range)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Option<(BigUint, u32)> {
        number(text)
    }

    fn big(value: u128) -> BigUint {
        BigUint::from(value)
    }

    #[test]
    fn addresses_are_numbers_as_wide_as_they_are() {
        assert_eq!(found("10.0.0.1"), Some((big(0x0a00_0001), 32)));
        assert_eq!(found("00:11:22:33:44:55"), Some((big(0x11_2233_4455), 48)));
        assert_eq!(found("0:1:2:a:b:c"), Some((big(0x0001_020a_0b0c), 48)));
        assert_eq!(found("2001:db8::1"), Some((big(0x2001_0db8_0000_0000_0000_0000_0000_0001), 128)));
        assert_eq!(found("::ffff:10.0.0.1"), Some((big(0xffff_0a00_0001), 128)));
    }

    #[test]
    fn what_only_looks_like_one_is_none() {
        for text in [
            "10.0.0",
            "10.0.0.256",
            "10.0.0.1.2",
            "0.5",
            "1:2",
            "1:2:3:4:5",
            "100:2:3:4:5:6",
            "1::2::3",
            "+1:2:3:4:5:6",
        ] {
            assert_eq!(found(text), None, "{text}");
        }
    }

    /// The characters behind the longest address are not looked at, so a long line is read in linear time.
    #[test]
    fn an_address_is_found_before_what_cannot_belong_to_it() {
        let length = |text: &str| colon_length(&text.chars().collect::<Vec<char>>());
        let longest = "0000:0000:0000:0000:0000:ffff:255.255.255.255";
        assert_eq!(length(longest), Some(LONGEST));
        assert_eq!(length(&format!("{longest}..{longest}")), Some(LONGEST));
        assert_eq!(length(&format!("{longest} 1")), Some(LONGEST));
        for longer in [format!("{longest}5"), format!("{longest}.5"), format!("{longest}:5"), "a:".repeat(100_000)] {
            assert_eq!(length(&longer), None, "{longer}");
        }
    }
}
